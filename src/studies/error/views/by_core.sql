-- Cores against the first one of the run on the same landmarks, and geometric means of their ratios with t intervals:
-- over all heads, and by source and head. Scopes differ in all but landmarks and the core, and are known by the number of
-- their first row. There is none where only one of the two has looked at rows of S that both are judged on (apart).
-- needs: core variant
CREATE TEMP TABLE judged (scope_id INTEGER, landmarks INTEGER, head_id INTEGER, core_id INTEGER, trial INTEGER, id INTEGER,
                          alone INTEGER, draws INTEGER, stratum_id INTEGER, source_id INTEGER, error REAL, noise REAL, se REAL,
                          seen INTEGER, PRIMARY KEY (scope_id, landmarks, head_id, core_id, trial, id)) WITHOUT ROWID;
INSERT INTO judged
WITH line AS (
    SELECT k.line_id, min(k.number) OVER (PARTITION BY k.kernel_id, k.strategy_id, k.pairing_id, k.factors_id, k.rows_id,
               k.engine_id, k.precision_id, p.input) AS scope_id
    FROM key AS k JOIN component AS p ON p.kind = 'problem' AND p.id = k.problem_id WHERE k.opens)
SELECT scope_id, landmarks, head_id, core_id, trial, k.id, alone, draws, stratum_id, source_id,
       CASE WHEN status = 'ok' THEN error END, error_noise, error_se, coalesce(error_unseen <> error, 1)
FROM key AS k JOIN line USING (line_id) ORDER BY 1, 2, 3, 4, 5, 6;

CREATE TEMP TABLE core_contest AS
SELECT a.scope_id, a.landmarks, a.core_id, a.stratum_id, CASE WHEN a.trial < b.trial THEN b.source_id ELSE a.source_id END
           AS source_id, a.head_id, max(a.trial, b.trial) AS trial, a.draws OR b.draws AS draws, a.error AS x, b.error AS y,
       a.noise AS noise_x, b.noise AS noise_y, a.se AS se_x, b.se AS se_y,
       a.error IS NOT NULL AND b.error IS NOT NULL AND a.seen <> b.seen AS apart
FROM core AS first JOIN judged AS a ON a.core_id <> first.id
CROSS JOIN judged AS b ON b.scope_id = a.scope_id AND b.landmarks = a.landmarks AND b.head_id = a.head_id
    AND b.core_id = first.id AND (b.trial = a.trial OR a.alone OR b.alone)
WHERE first.place = 0;

CREATE TEMP TABLE by_core AS
WITH refused AS (SELECT DISTINCT scope_id, core_id FROM core_contest WHERE apart),
one AS (
    SELECT scope_id, core_id, landmarks, CASE WHEN each THEN source_id END AS of_source, CASE WHEN each THEN head_id END
               AS of_head,
           ratio_of(x, y, noise_x, noise_y, se_x, se_y, stratum_id, source_id, head_id, trial, draws) AS e,
           count(CASE WHEN (x IS NULL) <> (y IS NULL) THEN 1 END) AS missing
    FROM core_contest LEFT JOIN refused AS r USING (scope_id, core_id) JOIN (SELECT 0 AS each UNION ALL SELECT 1)
    WHERE r.core_id IS NULL GROUP BY scope_id, core_id, landmarks, each, of_source, of_head)
SELECT scope_id, core_id, landmarks, of_source AS source_id, of_head AS head_id, ratio(e) AS ratio, sources(e) AS sources,
       heads(e) AS heads, missing, CASE WHEN sources(e) >= 6 THEN exp(finite(low(e))) END AS low,
       CASE WHEN sources(e) >= 6 THEN exp(finite(high(e))) END AS high
FROM one WHERE abs(center(e)) < 9e999;

-- What a scope is called: its variant, and what else scopes differ in.
CREATE TEMP TABLE core_scope AS
SELECT scope_id, v.label || CASE WHEN min(k.kernel_id) OVER () < max(k.kernel_id) OVER () THEN ', ' || r.kernel_label ELSE '' END
       || CASE WHEN min(k.rows_id) OVER () < max(k.rows_id) OVER () THEN ', rows ' || r.rows ELSE '' END
       || CASE WHEN min(k.engine_id) OVER () < max(k.engine_id) OVER () THEN ', ' || r.engine ELSE '' END
       || CASE WHEN min(k.precision_id) OVER () < max(k.precision_id) OVER () THEN ', ' || r.precision ELSE '' END
       || coalesce(', ' || p.input, '') AS name
FROM (SELECT DISTINCT scope_id FROM judged) JOIN key AS k ON k.number = scope_id JOIN run AS r ON r.id = k.id
JOIN component AS p ON p.kind = 'problem' AND p.id = k.problem_id
JOIN component AS kernel ON kernel.kind = 'kernel' AND kernel.id = k.kernel_id
JOIN variant AS v ON v.strategy_id = k.strategy_id AND v.factors_id = k.factors_id
    AND CASE WHEN kernel.one_set THEN v.leads ELSE v.pairing_id = k.pairing_id END;
