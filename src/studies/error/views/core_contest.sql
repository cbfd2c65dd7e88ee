-- Each core's pairs with the first core of the run, on the same landmarks, where the two are compared.
-- needs: refused:core core variant
CREATE TEMP VIEW core_contest AS
SELECT k.panel_id, v.variant_id, k.landmarks, a AS core_id, p.*
FROM pair AS p CROSS JOIN key AS k ON k.id = p.a_id CROSS JOIN variant_of AS v ON v.line_id = k.line_id
WHERE question = 'core' AND b = (SELECT id FROM core WHERE place = 0) AND a <> (SELECT id FROM core WHERE place = 0)
    AND refusal IS NULL;

CREATE TEMP VIEW core_contest_in_setting AS -- over all heads, and by source and head
SELECT scope AS scope_id, setting, core_id, each, CASE WHEN each THEN source_id END AS of_source,
       CASE WHEN each THEN head_id END AS of_head,
       x, y, noise_x, noise_y, se_x, se_y, stratum_id, source_id, head_id, trial, draws
FROM core_contest JOIN (SELECT 0 AS each UNION ALL SELECT 1);

CREATE TEMP VIEW core_contest_over_m AS -- over all panels, and by panel
SELECT core_id, variant_id, CASE WHEN each THEN panel_id END AS of_panel,
       x, y, noise_x, noise_y, se_x, se_y, stratum_id, source_id, head_id, trial, draws
FROM core_contest JOIN (SELECT 0 AS each UNION ALL SELECT 1)
WHERE (question, scope, a, b) NOT IN (SELECT * FROM not_pooled);

CREATE TEMP VIEW core_left_out AS -- why, somewhere
SELECT a AS core_id, core.full || ' is left out: ' || refusal_told(refusal, 'it', first.full) AS note
FROM core AS first JOIN refused_core ON b = first.id JOIN core ON core.id = a WHERE first.place = 0;
