-- The cores of which core_above.sql has a count above 0, where there are several.
CREATE TEMP VIEW measured_core AS
WITH measured AS (
    SELECT DISTINCT core_id FROM run
    WHERE status = 'ok' AND NOT is_noise(error_subspace, coalesce(error_subspace_noise, 1e-12)))
SELECT core_id FROM measured WHERE (SELECT count(*) FROM measured) > 1;
