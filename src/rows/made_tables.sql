-- Temporary tables that are made of rows (made_tables.h).

-- name: drop
DROP TABLE IF EXISTS temp.{table};

-- name: table
DROP TABLE IF EXISTS temp.{table};
CREATE TEMP TABLE {table} ({columns});

-- name: keyed_table
DROP TABLE IF EXISTS temp.{table};
CREATE TEMP TABLE {table} ({columns}) WITHOUT ROWID;

-- name: insert
INSERT INTO temp.{table} VALUES ({values})

-- name: chosen
DROP TABLE IF EXISTS temp.{table};
CREATE TEMP TABLE {table} (id INTEGER PRIMARY KEY, last_trial INTEGER);
INSERT INTO {table} SELECT id, last_trial FROM run WHERE {where} ORDER BY id;

-- name: any
SELECT 1 FROM temp.{table} LIMIT 1;
