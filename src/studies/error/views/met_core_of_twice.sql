-- The same with twice the landmarks, of cores that are no oracles, where there are several.
-- needs: met_core
CREATE TEMP VIEW met_core_of_twice AS
SELECT 1 FROM unrefused_row AS a JOIN unrefused_row AS b
    USING (head_id, trial, kernel_id, strategy_id, pairing_id, factors_id, rows_id, engine_id, precision_id)
WHERE b.landmarks = 2 * a.landmarks AND NOT a.oracle AND NOT b.oracle AND (SELECT count(*) FROM core) > 1;
