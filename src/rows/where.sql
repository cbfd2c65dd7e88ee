-- The rows that conditions choose (where.c).

-- The values that each condition means.
-- name: wanted
CREATE TEMP TABLE wanted (condition TEXT, value);

-- name: is_wanted
 AND {key} IN (SELECT value FROM wanted WHERE condition = {condition})

-- name: rows
DROP TABLE IF EXISTS temp.{table};
CREATE TEMP TABLE {table} (id INTEGER PRIMARY KEY, last_trial INTEGER);
INSERT INTO {table} SELECT id, last_trial FROM run WHERE true{conditions} ORDER BY id;
