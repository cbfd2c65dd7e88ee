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

-- A statement that adds a row to a table, with a parameter for each column.
-- name: insert_into
SELECT printf('INSERT INTO temp."%w" VALUES (%s)', :table, group_concat('?', ', '))
FROM pragma_table_info(:table, 'temp');

-- name: any
SELECT 1 FROM temp.{table} LIMIT 1;
