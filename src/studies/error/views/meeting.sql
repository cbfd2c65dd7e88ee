-- Strategies against each other, by source. `meeting` has two strategies in each source where both have a result: sign
-- is that of the mean over heads of the mean over trials of log(a's error / b's). refused: only one of them has looked
-- at rows of S that both are judged on.
-- needs: rival
CREATE TEMP TABLE facing (setting_id INTEGER, a_id INTEGER, b_id INTEGER, PRIMARY KEY (setting_id, a_id, b_id))
WITHOUT ROWID;
INSERT INTO facing
WITH one AS (SELECT DISTINCT setting_id, strategy_id FROM rival)
SELECT setting_id, a.strategy_id, b.strategy_id
FROM one AS a JOIN one AS b USING (setting_id) WHERE a.strategy_id < b.strategy_id ORDER BY 1, 2, 3;

CREATE TEMP TABLE meeting AS
WITH head AS (
    SELECT f.setting_id, a_id, b_id, a.stratum_id, a.source_id,
           mean(log_ratio(a.error, b.error, a.noise, b.noise)) AS x, max(a.seen <> b.seen) AS apart
    FROM facing AS f CROSS JOIN rival AS a ON a.setting_id = f.setting_id AND a.strategy_id = a_id
    CROSS JOIN rival AS b ON b.setting_id = f.setting_id AND b.strategy_id = b_id AND b.source_id = a.source_id
        AND b.head_id = a.head_id AND b.trial = a.trial
    WHERE a.error IS NOT NULL AND b.error IS NOT NULL
    GROUP BY f.setting_id, a_id, b_id, a.source_id, a.head_id),
one AS (
    SELECT setting_id, a_id, b_id, stratum_id, source_id, mean(x) AS x,
           max(max(apart)) OVER (PARTITION BY setting_id, a_id, b_id) AS refused
    FROM head GROUP BY setting_id, a_id, b_id, source_id)
SELECT setting_id, stratum_id, source_id, a_id, b_id, coalesce((x > 0) - (x < 0), 0) AS sign, refused FROM one
UNION ALL
SELECT setting_id, stratum_id, source_id, b_id, a_id, coalesce((x < 0) - (x > 0), 0), refused FROM one;
CREATE INDEX meetings ON meeting (setting_id, a_id, b_id);
