-- The cores of which core_above.sql has a count above 0, where there are several.
-- needs: above_best
CREATE TEMP VIEW measured_core AS SELECT core_id FROM above_best WHERE (SELECT count(*) FROM above_best) > 1;
