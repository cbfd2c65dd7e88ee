-- What a relation is opened with, and its views (open.c, views.c).

-- What was made of other rows, or by another relation of the same store: all but that, its own view, which rows are
-- there and, where :some are left out, looks.
-- name: drops
SELECT 'DROP ' || type || ' temp.' || name FROM temp.sqlite_schema
WHERE type IN ('table', 'view') AND name NOT IN ('results', 'gathered', 'kept_rows')
    AND NOT (:some AND name GLOB 'look_*')
ORDER BY name;

-- KiB. What is made of rows may be larger than memory: it is in a file.
-- name: cache
PRAGMA query_only = 0;
PRAGMA temp_store = FILE;
PRAGMA cache_size = -65536;
PRAGMA temp.cache_size = -327680;

-- The rows of several runs.
-- name: gathered
CREATE TEMP TABLE gathered (run, position, {columns});

-- name: stored
SELECT position, {columns} FROM results WHERE position IS NOT NULL ORDER BY position;

-- name: gathered_index
CREATE INDEX gathered_positions ON gathered (position);

-- name: views
SELECT s.name AS view, count(*) AS columns, group_concat(c.name, ', ') AS names
FROM temp.sqlite_schema AS s JOIN pragma_table_info(s.name, 'temp') AS c
WHERE s.type IN ('table', 'view') AND s.name NOT IN ('results', 'gathered') GROUP BY s.name
ORDER BY s.name <> 'run', s.name;

-- What others are compared with: the wanted one of the rows' values or, where they lack it, the first.
-- name: baseline
SELECT spec FROM component WHERE kind = :kind ORDER BY spec IS NOT :wanted, coalesce(oracle, 0), id LIMIT 1;
