-- The rows by what strategies are compared in: a setting is known by the number of its first row, and so is a scope, in
-- which settings differ in landmarks alone. A row that stands for all trials is there for each.
CREATE TEMP TABLE setting_of AS -- by line
WITH first AS (SELECT line_id, id, min(number) FROM key GROUP BY line_id)
SELECT k.line_id, k.landmarks,
       min(k.number) OVER (PARTITION BY k.kernel_id, k.pairing_id, k.factors_id, k.core_id, k.rows_id, k.engine_id,
           k.precision_id, p.input, k.landmarks) AS setting_id,
       min(k.number) OVER (PARTITION BY k.kernel_id, k.pairing_id, k.factors_id, k.core_id, k.rows_id, k.engine_id,
           k.precision_id, p.input) AS scope_id
FROM first JOIN key AS k ON k.id = first.id
JOIN component AS p ON p.kind = 'problem' AND p.id = k.problem_id;
CREATE UNIQUE INDEX settings_of ON setting_of (line_id);

CREATE TEMP TABLE rival (
    setting_id INTEGER, strategy_id INTEGER, source_id INTEGER, head_id INTEGER, trial INTEGER, id INTEGER,
    scope_id INTEGER, landmarks INTEGER, stratum_id INTEGER, alone INTEGER, draws INTEGER, error REAL, noise REAL,
    se REAL, seen INTEGER, PRIMARY KEY (setting_id, strategy_id, source_id, head_id, trial, id)) WITHOUT ROWID;
INSERT INTO rival
WITH one AS MATERIALIZED (
    SELECT setting_id, strategy_id, source_id, head_id, trial, id, scope_id, s.landmarks, stratum_id, alone, draws,
           CASE WHEN status = 'ok' THEN error END AS error, error_noise, error_se, coalesce(error_unseen <> error, 1) AS seen
    FROM key CROSS JOIN setting_of AS s USING (line_id)),
later AS (
    SELECT setting_id, head_id, trial, source_id
    FROM one WHERE trial > 0 AND (setting_id, head_id) IN (SELECT setting_id, head_id FROM one WHERE alone)
    GROUP BY setting_id, head_id, trial)
SELECT * FROM one
UNION ALL
SELECT setting_id, strategy_id, later.source_id, head_id, later.trial, id, scope_id, landmarks, stratum_id, alone, draws,
       error, error_noise, error_se, seen
FROM one JOIN later USING (setting_id, head_id) WHERE alone
ORDER BY 1, 2, 3, 4, 5, 6;

-- What a scope is called: name and stem (of a figure: the core in any case) have what scopes differ in.
CREATE TEMP TABLE scope_name AS
WITH kind AS (
    SELECT 'core' AS kind, 1 AS place UNION ALL SELECT 'kernel', 2 UNION ALL SELECT 'pairing', 3
    UNION ALL SELECT 'factors', 4 UNION ALL SELECT 'rows', 5 UNION ALL SELECT 'engine', 6 UNION ALL SELECT 'precision', 7
    UNION ALL SELECT 'input', 8),
scope AS (SELECT DISTINCT scope_id FROM rival),
part AS (
    SELECT scope_id, kind, place, CASE kind WHEN 'input' THEN coalesce((
               SELECT input FROM component AS p WHERE p.kind = 'problem' AND p.id = k.problem_id), '-')
           ELSE (SELECT label FROM component AS c WHERE c.kind = kind.kind AND c.id = CASE kind.kind
               WHEN 'kernel' THEN k.kernel_id WHEN 'pairing' THEN k.pairing_id WHEN 'factors' THEN k.factors_id
               WHEN 'core' THEN k.core_id WHEN 'rows' THEN k.rows_id WHEN 'engine' THEN k.engine_id
               ELSE k.precision_id END) END AS label
    FROM scope JOIN key AS k ON k.number = scope_id JOIN kind),
compared AS (
    SELECT *, min(label) OVER (PARTITION BY kind) <> max(label) OVER (PARTITION BY kind) AS apart FROM part),
joined AS (
    SELECT scope_id, place, group_concat(CASE WHEN apart THEN kind || ' ' || label END, ', ') OVER by_place AS name,
           group_concat(CASE WHEN NOT apart AND label <> '-' THEN kind || ' ' || label END, ', ')
               OVER by_place AS constant,
           group_concat(CASE WHEN apart OR kind = 'core' THEN label END, ', ') OVER by_place AS stem
    FROM compared WINDOW by_place AS (PARTITION BY scope_id ORDER BY place)),
over_strata AS (
    SELECT scope_id, CASE WHEN max(drawn) = 0 THEN 'all models' WHEN min(drawn) THEN 'all problems'
           ELSE 'all models and problems' END AS all_strata
    FROM rival JOIN stratum ON stratum.id = stratum_id GROUP BY scope_id)
SELECT scope_id, coalesce(name, '') AS name, coalesce(constant, '') AS constant, stem, all_strata
FROM joined JOIN over_strata USING (scope_id) WHERE place = 8;

CREATE TEMP VIEW method AS
SELECT id, spec, label || CASE WHEN oracle THEN ', oracle' ELSE '' END AS label FROM component WHERE kind = 'strategy';
