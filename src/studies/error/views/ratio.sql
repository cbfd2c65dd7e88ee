-- Strategies against the baseline in the same setting, on the same head in the same trial (`contest`), and geometric
-- means of their ratios with t intervals (`ratio`): over all heads (stratum_id -1) where a scope has several strata, by
-- stratum, and by source and head, where the two are compared.
-- needs: scope variant
CREATE TEMP TABLE base AS
SELECT id, label FROM method WHERE spec =
    coalesce(:baseline, (SELECT strategy FROM variant WHERE NOT oracle ORDER BY id LIMIT 1));

CREATE TEMP VIEW contest AS
SELECT a AS strategy_id, p.* FROM pair AS p
WHERE question = 'strategy' AND b = (SELECT id FROM base) AND a <> (SELECT id FROM base);

CREATE TEMP TABLE ratio AS
WITH estimate AS (
    SELECT setting, strategy_id, CASE WHEN depth > 0 THEN stratum_id ELSE -1 END AS of_stratum,
           CASE WHEN depth > 1 THEN source_id END AS of_source, CASE WHEN depth > 1 THEN head_id END AS of_head,
           ratio_of(x, y, noise_x, noise_y, se_x, se_y, stratum_id, source_id, head_id, trial, draws) AS e,
           count(CASE WHEN depth < 2 AND (x IS NULL) <> (y IS NULL) THEN 1 END) AS missing
    FROM contest JOIN (SELECT 0 AS depth UNION ALL SELECT 1 UNION ALL SELECT 2) WHERE refusal IS NULL
    GROUP BY setting, strategy_id, depth, of_stratum, of_source, of_head),
estimate_in_scope AS (
    SELECT s.scope_id, s.landmarks, estimate.* FROM estimate JOIN setting AS s ON s.setting_id = setting),
scope_of_strata AS (
    SELECT scope_id FROM estimate_in_scope WHERE of_stratum >= 0 AND heads(e) > 0
    GROUP BY scope_id HAVING count(DISTINCT of_stratum) > 1)
SELECT scope_id, landmarks, strategy_id, of_stratum AS stratum_id, of_source AS source_id, of_head AS head_id,
       ratio(e) AS ratio, sources(e) AS sources, heads(e) AS heads, missing, ratio_low(e) AS low, ratio_high(e) AS high
FROM estimate_in_scope
WHERE abs(center(e)) < 9e999 AND (of_stratum >= 0 OR scope_id IN (SELECT scope_id FROM scope_of_strata));
