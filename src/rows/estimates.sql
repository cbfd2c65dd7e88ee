-- Estimates of the pairs of a view (estimates.h), whose columns before those of a pair are {groups}.

-- name: columns
SELECT name FROM pragma_table_info(:view, 'temp') ORDER BY cid;

-- name: pairs
SELECT * FROM temp.{view} ORDER BY {groups:@, }NULL;
