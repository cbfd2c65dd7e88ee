-- The cores that the table of costs has (cost.sql): none of a sweep but the standard one, and no oracle.
-- needs: core
CREATE TEMP VIEW priced_core AS
SELECT DISTINCT core_id FROM key JOIN core ON core.id = core_id
JOIN component AS f ON f.kind = 'factors' AND f.id = factors_id
WHERE opens AND f.spec <> 'kernel_ridge' AND (option IS NULL OR core.plain) AND NOT core.oracle;
