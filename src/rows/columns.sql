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

-- name: next_key
, {key}

-- The cells of columns, a comma behind each.
-- name: cell
run.{column}, {label},

-- How the files of a row are read; NULL where none are.
-- name: input_cell
(SELECT input FROM component WHERE kind = 'problem' AND id = run.problem_id),
coalesce((SELECT input FROM component WHERE kind = 'problem' AND id = run.problem_id), '-'),

-- Whether other work disturbed a row's time: never, or that of other workers of its run.
-- name: never
0

-- name: other_workers
id IN (SELECT r.rowid FROM main.results AS r WHERE r.manifest IN (
    SELECT m.id FROM main.manifests AS m WHERE json_extract(m.text, '$.jobs') > 1))

-- name: component_values
SELECT spec, id FROM component WHERE kind = :kind ORDER BY id;

-- name: component_values_among
WITH chosen_row AS MATERIALIZED (SELECT {key} AS v, number FROM run WHERE true{among})
SELECT (SELECT spec FROM component WHERE kind = :kind AND id = v), v FROM chosen_row GROUP BY v ORDER BY min(number);

-- name: values_among
WITH chosen_row AS MATERIALIZED (SELECT {key} AS v, number FROM run WHERE true{among})
SELECT v, v FROM chosen_row GROUP BY v ORDER BY min(number);

-- The rows of a table.
-- name: is_among
 AND id IN (SELECT id FROM temp.{among})

-- The first row of each line, which has all values of an identity but the trial.
-- name: opens
 AND opens
