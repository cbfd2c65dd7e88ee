-- Temporary tables that are made of rows (made_tables.h).

-- name: drop
DROP TABLE IF EXISTS temp.{table};

-- name: columns
SELECT * FROM temp.{table};

-- A row has a parameter for each column, those behind the first of which are the others.
-- name: insert
INSERT INTO temp.{table} VALUES (?{others:, ?});

-- name: any
SELECT 1 FROM temp.{table} LIMIT 1;
