-- How far each row's error is above the subspace part, which is the best core's on the same landmarks, as a share of
-- that; NULL where it is not known, or rounding noise. choice_id: rows of the same landmarks, one for each core.
-- keeps_rows: then the error is of no F X B, and may be below the best core's.
-- needs: cell core
CREATE TEMP TABLE above AS
SELECT m.id, m.position, m.panel_id, m.variant_id, m.core_id, m.landmarks, r.stratum_id, m.source_id, m.head_id,
       m.trial, r.draws, m.error, m.noise, r.error_noise, r.error_se,
       dense_rank() OVER (ORDER BY k.head_id, k.kernel_id, m.landmarks, m.trial, k.strategy_id, k.pairing_id,
                          k.factors_id) AS choice_id,
       m.above,
       r.status = 'ok' AND r.error_core IS NULL AND r.error_subspace IS NOT NULL AS keeps_rows,
       r.status = 'ok' AS ok, r.n, r.error_subspace, r.core_cutoff, r.core_residual, r.rowsum_deviation,
       r.landmark_condition
FROM member AS m JOIN key AS k USING (id) JOIN run AS r USING (id);
