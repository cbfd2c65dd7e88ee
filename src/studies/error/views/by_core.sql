-- Geometric means, with t intervals, of the ratios of cores to the first one: over all heads, and by source and head.
-- Scopes differ in all but landmarks and the core, and are known by the number of their first row.
-- needs: core_contest
CREATE TEMP TABLE by_core AS
WITH estimate AS (
    SELECT scope AS scope_id, setting, core_id, CASE WHEN each THEN source_id END AS of_source,
           CASE WHEN each THEN head_id END AS of_head,
           ratio_of(x, y, noise_x, noise_y, se_x, se_y, stratum_id, source_id, head_id, trial, draws) AS e,
           count(CASE WHEN (x IS NULL) <> (y IS NULL) THEN 1 END) AS missing
    FROM core_contest JOIN (SELECT 0 AS each UNION ALL SELECT 1)
    GROUP BY setting, core_id, each, of_source, of_head),
setting_size AS (
    SELECT g.setting, max(k.landmarks) AS landmarks FROM agreed AS g JOIN key AS k ON k.id = g.id
    WHERE question = 'core' GROUP BY g.setting)
SELECT scope_id, core_id, landmarks, of_source AS source_id, of_head AS head_id, ratio(e) AS ratio,
       sources(e) AS sources, heads(e) AS heads, missing, ratio_low(e) AS low, ratio_high(e) AS high
FROM estimate JOIN setting_size USING (setting) WHERE abs(center(e)) < 9e999;

-- What a scope is called: its variant, and what else scopes differ in.
CREATE TEMP TABLE core_scope AS
SELECT scope_id, v.label
       || CASE WHEN min(k.kernel_id) OVER () < max(k.kernel_id) OVER () THEN ', ' || r.kernel_label ELSE '' END
       || CASE WHEN min(k.rows_id) OVER () < max(k.rows_id) OVER () THEN ', rows ' || r.rows ELSE '' END
       || CASE WHEN min(k.engine_id) OVER () < max(k.engine_id) OVER () THEN ', ' || r.engine ELSE '' END
       || CASE WHEN min(k.precision_id) OVER () < max(k.precision_id) OVER () THEN ', ' || r.precision ELSE '' END
       || coalesce(', ' || p.input, '') AS name
FROM (SELECT DISTINCT scope AS scope_id FROM agreed WHERE question = 'core')
JOIN key AS k ON k.number = scope_id JOIN run AS r ON r.id = k.id
JOIN component AS p ON p.kind = 'problem' AND p.id = k.problem_id
JOIN variant_of AS o ON o.line_id = k.line_id JOIN variant AS v ON v.id = variant_id;
