-- The rows as keys.c reads them, in the order of the plan.

-- name: rows
SELECT rowid, position, head, trial, n, d, status, {model}, {layer}, {source}{texts:, @}{narrow:, @}{numbers:, @}
FROM {rows}
WHERE position IS NOT NULL{of_chosen} ORDER BY position;

-- Those that are there, where some are left out.
-- name: of_chosen
 AND rowid IN (SELECT id FROM temp.kept_rows)

-- A row of trial 0 that is its line's only one stands for all trials, unless it draws: data, landmarks, a core.
-- name: stand_for_all
UPDATE key SET last_trial = 2147483647 WHERE id = :id;

-- Where some rows are left out, each stands for what it did among all.
-- name: stand_as_before
UPDATE key SET last_trial = (SELECT last_trial FROM kept_rows WHERE kept_rows.id = key.id);
