-- Strategies against each other, by source. `rival` has the rows by what strategies are compared in: a setting is known
-- by the number of its first row, and so is a scope, in which settings differ in landmarks alone; a row that stands for
-- all trials is there for each. `meeting` has two strategies in each source where both have a result: sign is that of
-- the mean over heads of the mean over trials of log(a's error / b's). refused: only one of them has looked at rows of
-- S that both are judged on.
CREATE TEMP TABLE setting_of AS -- by line
WITH first AS (SELECT line_id, id, min(number) FROM key GROUP BY line_id)
SELECT k.line_id, r.landmarks,
       min(k.number) OVER (PARTITION BY k.kernel_id, k.pairing_id, k.factors_id, k.core_id, k.rows_id, k.engine_id,
           k.precision_id, p.input, r.landmarks) AS setting_id,
       min(k.number) OVER (PARTITION BY k.kernel_id, k.pairing_id, k.factors_id, k.core_id, k.rows_id, k.engine_id,
           k.precision_id, p.input) AS scope_id
FROM first JOIN key AS k ON k.id = first.id JOIN run AS r ON r.id = k.id
JOIN component AS p ON p.kind = 'problem' AND p.id = k.problem_id;
CREATE UNIQUE INDEX settings_of ON setting_of (line_id);

CREATE TEMP TABLE rival AS
WITH one AS MATERIALIZED (
    SELECT setting_id, scope_id, s.landmarks, k.stratum_id, k.source_id, k.head_id, k.strategy_id, k.trial, k.alone,
           CASE WHEN r.status = 'ok' THEN r.error END AS error, r.error_noise AS noise,
           coalesce(r.error_unseen <> r.error, 1) AS seen
    FROM key AS k CROSS JOIN setting_of AS s ON s.line_id = k.line_id JOIN run AS r ON r.id = k.id),
later AS (SELECT setting_id, head_id, trial, source_id FROM one WHERE trial > 0 GROUP BY setting_id, head_id, trial)
SELECT * FROM one
UNION ALL
SELECT setting_id, scope_id, landmarks, stratum_id, later.source_id, head_id, strategy_id, later.trial, 1, error, noise,
       seen
FROM one JOIN later USING (setting_id, head_id) WHERE alone;
CREATE INDEX rivals ON rival (setting_id, head_id, trial, strategy_id);

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
