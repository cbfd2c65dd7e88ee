-- Strategies against each other, by source. `meeting` has two strategies in each source where both have a result: sign
-- is that of the mean over heads of the mean over trials of log(a's error / b's). refused: only one of them has looked
-- at rows of S that both are judged on.
-- needs: rival
CREATE TEMP TABLE meeting AS
WITH head AS (
    SELECT a.setting_id, a.strategy_id AS a_id, b.strategy_id AS b_id, a.stratum_id, a.source_id,
           mean(log_ratio(a.error, b.error, a.noise, b.noise)) AS x, max(a.seen <> b.seen) AS apart
    FROM rival AS a CROSS JOIN rival AS b ON b.setting_id = a.setting_id AND b.head_id = a.head_id
        AND b.trial = a.trial AND b.strategy_id > a.strategy_id
    WHERE a.error IS NOT NULL AND b.error IS NOT NULL
    GROUP BY a.setting_id, a_id, b_id, a.source_id, a.head_id),
one AS (
    SELECT setting_id, a_id, b_id, stratum_id, source_id, mean(x) AS x,
           max(max(apart)) OVER (PARTITION BY setting_id, a_id, b_id) AS refused
    FROM head GROUP BY setting_id, a_id, b_id, source_id)
SELECT setting_id, stratum_id, source_id, a_id, b_id, coalesce((x > 0) - (x < 0), 0) AS sign, refused FROM one
UNION ALL
SELECT setting_id, stratum_id, source_id, b_id, a_id, coalesce((x < 0) - (x > 0), 0), refused FROM one;
CREATE INDEX meetings ON meeting (setting_id, a_id, b_id);
