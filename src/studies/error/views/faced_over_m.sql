-- The pairs with the baseline's that a mean over m is of: over all panels, and by panel; and of the subspace part, over
-- all.
-- needs: versus
CREATE TEMP VIEW faced_over_m AS
SELECT core_id, variant_id, fixed, CASE WHEN each THEN panel_id END AS of_panel,
       x, y, noise_x, noise_y, se_x, se_y, stratum_id, source_id, head_id, trial, draws
FROM met JOIN (SELECT 0 AS each UNION ALL SELECT 1)
WHERE refusal IS NULL AND (question, scope, a, b) NOT IN (SELECT * FROM not_pooled);

CREATE TEMP VIEW faced_subspace AS
SELECT core_id, variant_id, fixed, sub_x AS x, sub_y AS y, sub_noise_x AS noise_x, sub_noise_y AS noise_y,
       NULL AS se_x, NULL AS se_y, stratum_id, source_id, head_id, trial, draws
FROM faced WHERE (question, scope, a, b) NOT IN (SELECT * FROM not_pooled);
