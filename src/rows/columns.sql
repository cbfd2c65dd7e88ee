-- What stands for a column of the view `run` in a statement (columns.h), and its values.

-- name: key
{column}

-- name: text_key
coalesce({column}, '')

-- name: component_label
(SELECT label || CASE WHEN oracle AND kind = 'strategy' THEN ', oracle' ELSE '' END FROM component
 WHERE kind = {kind} AND id = run.{id})

-- name: real_label
printf('%.4g', run.{column})

-- name: label
CAST(run.{column} AS TEXT)

-- name: cell
run.{column}, {label}

-- How the files of a row of {rows} are read; NULL where none are.
-- name: input
(SELECT input FROM component WHERE kind = 'problem' AND id = {rows}.problem_id)

-- name: input_cell
{input}, coalesce({input}, '-')

-- name: other_workers
id IN (SELECT r.rowid FROM main.results AS r WHERE r.manifest IN (
    SELECT m.id FROM main.manifests AS m WHERE json_extract(m.text, '$.jobs') > 1))

-- name: component_values
SELECT spec, quote(id) FROM component WHERE kind = :kind ORDER BY id;

-- name: component_values_among
WITH chosen_row AS MATERIALIZED (SELECT {key} AS v, number FROM run WHERE {among})
SELECT (SELECT spec FROM component WHERE kind = :kind AND id = v), quote(v) FROM chosen_row GROUP BY v
ORDER BY min(number);

-- name: values_among
WITH chosen_row AS MATERIALIZED (SELECT {key} AS v, number FROM run WHERE {among})
SELECT v, quote(v) FROM chosen_row GROUP BY v ORDER BY min(number);
