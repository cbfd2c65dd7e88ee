-- Temporary tables that are made of rows (made_tables.h).

-- name: drop
DROP TABLE IF EXISTS temp.{table};

-- A statement that adds a row to a table, with a parameter for each column.
-- name: insert_into
SELECT printf('INSERT INTO temp."%w" VALUES (%s)', :table, group_concat('?', ', '))
FROM pragma_table_info(:table, 'temp');

-- name: any
SELECT 1 FROM temp.{table} LIMIT 1;
