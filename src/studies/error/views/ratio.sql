-- Geometric means of the ratios of strategies to the baseline, with t intervals: over all heads (stratum_id -1) where a
-- scope has several strata, by stratum, and by source and head.
-- needs: estimates:contest
CREATE TEMP TABLE ratio AS
WITH scope_of_strata AS (
    SELECT scope_id FROM contest_estimate JOIN setting ON setting_id = setting
    WHERE of_stratum >= 0 AND heads > 0
    GROUP BY scope_id HAVING count(DISTINCT of_stratum) > 1)
SELECT scope_id, landmarks, strategy_id, of_stratum AS stratum_id, of_source AS source_id, of_head AS head_id, ratio,
       sources, heads, CASE WHEN depth < 2 THEN missing ELSE 0 END AS missing, low, high
FROM contest_estimate JOIN setting ON setting_id = setting
WHERE ratio > 0 AND ratio < 9e999 AND (of_stratum >= 0 OR scope_id IN (SELECT scope_id FROM scope_of_strata));
