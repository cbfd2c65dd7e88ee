-- The cores of rows whose error above the best core's is known (above.sql, choice.sql).
CREATE TEMP VIEW above_best AS
SELECT DISTINCT core_id FROM run
WHERE status = 'ok' AND error IS NOT NULL AND NOT is_noise(error_subspace, coalesce(error_subspace_noise, 1e-12));
