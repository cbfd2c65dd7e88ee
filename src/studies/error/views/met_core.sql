-- Two cores with results on the same landmarks, in a run in which no comparison is refused: of one call of the program,
-- without a core that has looked at rows of S. Tables of pairs have rows then, and no pairs are made to know that.
-- needs: core
CREATE TEMP VIEW unrefused_row AS
SELECT k.*, core.oracle FROM key AS k JOIN core ON core.id = core_id
WHERE status = 'ok' AND error > 0 AND NOT is_noise(error, error_noise) AND (option IS NULL OR plain)
    AND (SELECT count(*) FROM main.manifests) = 1
    AND NOT EXISTS (SELECT 1 FROM key WHERE status = 'ok' AND error_unseen IS NOT error);

CREATE TEMP VIEW met_core AS
SELECT 1 FROM unrefused_row AS a JOIN unrefused_row AS b
    USING (head_id, trial, landmarks, kernel_id, strategy_id, pairing_id, factors_id, rows_id, engine_id, precision_id)
WHERE a.core_id <> b.core_id;
