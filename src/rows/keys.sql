-- The rows as keys.c reads them, in the order of the plan.

-- name: rows
SELECT rowid, position, head, trial, n, d, status, {model}, {layer}, {source}{texts:, @}{narrow:, @}{numbers:, @}
FROM {rows}
WHERE position IS NOT NULL{of_chosen} ORDER BY position;

-- Those that are there, where some are left out.
-- name: of_chosen
 AND rowid IN (SELECT id FROM temp.kept_rows)

-- name: mark_alone
UPDATE key SET alone = 1 WHERE id = :id;
