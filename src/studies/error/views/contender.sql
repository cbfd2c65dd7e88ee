-- `contender` has each strategy that is planned in a standing, where each source counts as one (missing: in how many of
-- them it has no result). Strategies with results are ranked (ranking.sql), but for those that are not compared with
-- the first (refusal).
-- needs: standing meeting scope
CREATE TEMP TABLE entered ( -- the sources of a standing by strategy
    standing_id INTEGER, strategy_id INTEGER, source_id INTEGER, ok INTEGER,
    PRIMARY KEY (standing_id, strategy_id, source_id)) WITHOUT ROWID;
INSERT INTO entered
SELECT s.id, strategy_id, source_id, ok
FROM standing AS s CROSS JOIN result_in AS e ON e.setting_id = s.setting_id AND s.stratum_id IN (-1, e.stratum_id)
ORDER BY 1, 2, 3;

CREATE TEMP TABLE contender AS
WITH per_standing AS (
    SELECT standing_id, count(DISTINCT source_id) AS planned FROM entered GROUP BY standing_id),
per_strategy AS (
    SELECT standing_id, strategy_id, planned, planned - count(CASE WHEN ok THEN 1 END) AS missing
    FROM entered CROSS JOIN per_standing USING (standing_id) GROUP BY standing_id, strategy_id),
beside_first AS (
    SELECT *, min(CASE WHEN missing < planned THEN strategy_id END) OVER (PARTITION BY standing_id) AS first_id
    FROM per_strategy),
judged_strategy AS (
    SELECT beside_first.*, refusal
    FROM beside_first JOIN standing AS s ON s.id = standing_id
    LEFT JOIN not_compared AS n ON n.question = 'strategy' AND n.setting = s.setting_id AND n.a = strategy_id
        AND n.b = first_id)
SELECT *, missing < planned AND refusal IS NULL AS ranked FROM judged_strategy;
CREATE UNIQUE INDEX contenders ON contender (standing_id, strategy_id);

-- A standing as tables name it, with the columns of its setting.
CREATE TEMP TABLE titled AS
SELECT s.id AS standing_id, s.setting_id, s.scope_id, s.stratum_id, s.landmarks, n.name AS scope,
       n.items AS scope_items, n.constant, n.stem,
       coalesce(stratum.label, n.all_strata) AS title, coalesce(stratum.name, 'all') AS model,
       max(s.stratum_id < 0) OVER (PARTITION BY s.scope_id) AS several,
       CASE WHEN min(s.stratum_id) OVER () < 0 THEN 1 END AS pooled,
       r.kernel, r.pairing, r.factors, r.core, r.rows, r.engine, r.precision, p.input
FROM standing AS s JOIN scope_name AS n USING (scope_id) JOIN key ON key.number = s.setting_id
JOIN run AS r ON r.id = key.id JOIN component AS p ON p.kind = 'problem' AND p.id = key.problem_id
LEFT JOIN stratum ON stratum.id = s.stratum_id;
CREATE UNIQUE INDEX titles ON titled (standing_id);
