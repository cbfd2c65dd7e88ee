-- How strategies stand in a setting: in each stratum and, where it has several, over all (stratum_id -1), where more
-- than one has rows.
-- needs: setting
CREATE TEMP TABLE result_in AS
SELECT setting_id, scope_id, landmarks, stratum_id, source_id, value AS strategy_id, max(x IS NOT NULL) AS ok
FROM side JOIN setting ON setting_id = setting WHERE question = 'strategy' GROUP BY setting_id, value, source_id;

CREATE TEMP TABLE standing AS
WITH per_stratum AS (
    SELECT setting_id, scope_id, landmarks, -1 AS stratum_id FROM result_in GROUP BY setting_id
    HAVING min(stratum_id) < max(stratum_id) AND min(strategy_id) < max(strategy_id)
    UNION ALL
    SELECT setting_id, scope_id, landmarks, stratum_id FROM result_in GROUP BY setting_id, stratum_id
    HAVING min(strategy_id) < max(strategy_id))
SELECT row_number() OVER (ORDER BY setting_id, stratum_id) AS id, per_stratum.* FROM per_stratum;
