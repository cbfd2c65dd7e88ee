-- Strategies against each other, either way round, in each source in which the two have results in common, where they
-- are compared: sign is that of the mean over heads of the mean over trials of log(a's error / b's).
-- needs: scope
CREATE TEMP TABLE meeting (
    setting_id INTEGER, stratum_id INTEGER, source_id INTEGER, a_id INTEGER, b_id INTEGER, sign INTEGER,
    PRIMARY KEY (setting_id, a_id, b_id, source_id)) WITHOUT ROWID;
INSERT INTO meeting
WITH per_head AS (
    SELECT setting, a, b, stratum_id, source_id, mean(ln(ratio)) AS value
    FROM pair WHERE question = 'strategy' AND a < b AND x IS NOT NULL AND y IS NOT NULL AND refusal IS NULL
    GROUP BY setting, a, b, source_id, head_id),
per_source AS (
    SELECT setting AS setting_id, stratum_id, source_id, a AS a_id, b AS b_id,
           coalesce((mean(value) > 0) - (mean(value) < 0), 0) AS sign
    FROM per_head GROUP BY setting, a, b, source_id)
SELECT * FROM per_source UNION ALL SELECT setting_id, stratum_id, source_id, b_id, a_id, -sign FROM per_source;
