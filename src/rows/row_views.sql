-- The views of the rows of any study (row_views.h). Joins of `run` that a query does not look at cost nothing: they are
-- to one row each, and outer, which SQLite leaves out, but for a query that groups: that asks `key`, or a materialized
-- part of `run`.

-- name: run
CREATE TEMP VIEW run AS
SELECT {columns}{no_origins:NULL AS @, }{ids:k.@ AS @, }{labels}k.number AS number, k.position AS position, k.id AS id,
       head_id, panel_id, stratum_id, source_id, line_id, last_trial, last_trial > k.trial AS alone, draws, opens
FROM key AS k LEFT JOIN {stored} AS r ON r.rowid = k.id{joins};

-- Columns of whole numbers, and the study's metric with its noise and what else it is judged by (nb_is_in_key).
-- name: column_of_key
k.{column} AS {column},

-- name: column_of_rows
r.{column} AS {column},

-- name: no_column
NULL AS {column},

-- name: label
{component}.label AS {label},

-- name: join
 LEFT JOIN component AS {component} ON {component}.kind = {kind} AND {component}.id = k.{id}

-- name: measure
CREATE TEMP TABLE measure (place INTEGER PRIMARY KEY, name TEXT);

-- One column for all measures.
-- name: measured
CREATE TEMP VIEW measured AS
SELECT k.id AS id, name AS measure, place, CASE place{cases} END AS x
FROM key AS k JOIN {stored} AS r ON r.rowid = k.id JOIN measure;

-- name: measured_case
 WHEN {place} THEN r.{column}

-- The components of a method that have no result, where others of their kind have one, and why the first row has none.
-- name: without
CREATE TEMP VIEW without AS
SELECT kind, 'NO RESULT: ' || listed(c.label, c.id) || ' (' || k.status || coalesce(': ' || nullif({reason}, ''), '') ||
       ').' AS text
FROM component AS c JOIN key AS k ON k.number = c.first_row JOIN {stored} AS r ON r.rowid = k.id
WHERE NOT c.has_result AND kind IN (''{kinds:, @}) AND EXISTS (SELECT 1 FROM key WHERE status = 'ok')
GROUP BY kind_place, k.status, {reason} ORDER BY kind_place, min(c.id);

-- Rows with what methods of the study are compared by: `key` with the method, its result and the rounding noise of
-- that; NULL where the study has no such column.
-- name: scored
CREATE TEMP VIEW scored AS
SELECT key.*, {method} AS method, {metric} AS x, {noise} AS noise FROM key;

-- name: unfinished
CREATE TEMP TABLE unfinished AS
SELECT 'only ' || count(CASE WHEN status <> 'planned' THEN 1 END) || ' of ' || count(*) || ' rows have been run' AS text
FROM key HAVING count(CASE WHEN status = 'planned' THEN 1 END) > 0;
