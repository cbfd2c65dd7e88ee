-- Geometric means, with t intervals, of the ratios of cores to the first one: over all heads, and by source and head.
-- Scopes differ in all but landmarks and the core, and are known by the number of their first row.
-- needs: core_contest estimates:core_contest_in_setting
CREATE TEMP TABLE by_core AS
WITH setting_size AS (
    SELECT g.setting, max(k.landmarks) AS landmarks FROM agreed AS g JOIN key AS k ON k.id = g.id
    WHERE question = 'core' GROUP BY g.setting)
SELECT scope_id, core_id, landmarks, of_source AS source_id, of_head AS head_id, ratio, sources, heads,
       missing, low, high
FROM core_contest_in_setting_estimate JOIN setting_size USING (setting) WHERE ratio > 0 AND ratio < 9e999;

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
