-- How strategies stand in a setting: in each stratum and, where it has several, over all (stratum_id -1), where more
-- than one has rows.
-- needs: setting
CREATE TEMP TABLE result_in (
    setting_id INTEGER, strategy_id INTEGER, source_id INTEGER, stratum_id INTEGER, ok INTEGER,
    PRIMARY KEY (setting_id, strategy_id, source_id)) WITHOUT ROWID;
INSERT INTO result_in
SELECT setting, value, source_id, stratum_id, max(x IS NOT NULL) FROM side WHERE question = 'strategy'
GROUP BY setting, value, source_id;

CREATE TEMP TABLE standing AS
WITH per_stratum AS (
    SELECT setting_id, -1 AS stratum_id FROM result_in GROUP BY setting_id
    HAVING min(stratum_id) < max(stratum_id) AND min(strategy_id) < max(strategy_id)
    UNION ALL
    SELECT setting_id, stratum_id FROM result_in GROUP BY setting_id, stratum_id
    HAVING min(strategy_id) < max(strategy_id))
SELECT row_number() OVER (ORDER BY setting_id, stratum_id) AS id, setting_id, scope_id, landmarks, stratum_id
FROM per_stratum JOIN setting USING (setting_id);
