-- The cores of rows whose error above the best core's is known.
-- needs: above_best_core
CREATE TEMP VIEW above_best AS
SELECT DISTINCT core_id FROM above_best_core WHERE above IS NOT NULL;
