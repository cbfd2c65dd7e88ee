-- What commands ask of the rows of any run (run_facts.h).

-- It reads no more than it needs.
-- name: experiment
SELECT r.experiment FROM key JOIN {rows} AS r ON r.rowid = key.id WHERE number = 0;

-- name: unfinished
SELECT text FROM unfinished;

-- name: strata
SELECT name, label, drawn FROM stratum ORDER BY id;

-- name: seed
SELECT seed FROM run WHERE number = 0;

-- The numbers of landmarks up to one.
-- name: sizes
SELECT DISTINCT landmarks FROM key WHERE landmarks <= :most ORDER BY landmarks;

-- Why components of a method have no result, a paragraph each.
-- name: without
SELECT text AS paragraph FROM without;
