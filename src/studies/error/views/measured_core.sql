-- The rows of cores of which core_above.sql has a count above 0, but for those of one such core: where there are
-- several, the first of them is soon found.
-- needs: above_best_core
CREATE TEMP VIEW measured_core AS
SELECT core_id FROM above_best_core
WHERE above IS NOT NULL AND core_id <> (SELECT core_id FROM above_best_core WHERE above IS NOT NULL LIMIT 1);
