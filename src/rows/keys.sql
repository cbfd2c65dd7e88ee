-- The table `key`: C numbers the rows (keys.c), as those of the virtual table `numbered`, and the rest comes from the
-- stored rows, which C does not read: whole numbers, the status, and what methods are compared by (nb_is_in_key).

-- name: key
CREATE TEMP TABLE key (
    id INTEGER PRIMARY KEY, number INTEGER, position INTEGER, head_id INTEGER, panel_id INTEGER, stratum_id INTEGER,
    source_id INTEGER, line_id INTEGER, draws INTEGER, opens INTEGER, last_trial INTEGER, status TEXT
    {ids:, @ INTEGER}{whole:, @ INTEGER}{real:, @ REAL});

-- name: stretch
CREATE TEMP TABLE stretch (
    number INTEGER PRIMARY KEY, id INTEGER, position INTEGER, trial INTEGER, problem_id INTEGER, head_id INTEGER,
    panel_id INTEGER, source_id INTEGER);

-- name: numbered
CREATE TABLE numbered (id, number, head_id, panel_id, stratum_id, source_id, line_id, draws, opens{ids:, @});

-- What C numbers, in the order of the plan.
-- name: rows
SELECT rowid, position, head, trial, n, d, status IN ('ok', 'planned'), {model}, {layer}, {source}{texts:, @}
       {numbers:, @}
FROM {rows} WHERE position IS NOT NULL{of_chosen} ORDER BY position;

-- Those that are there, where some are left out.
-- name: of_chosen
 AND rowid IN (SELECT id FROM temp.kept_rows)

-- A row stands for its own trial, unless it is to stand for all.
-- name: add_keys
INSERT INTO key (id, number, position, head_id, panel_id, stratum_id, source_id, line_id, draws, opens, last_trial,
                 status{ids:, @}{stored:, @})
SELECT id, number, position, head_id, panel_id, stratum_id, source_id, line_id, draws, opens, trial, status{ids:, n.@}
       {stored:, @}
FROM numbered AS n CROSS JOIN {rows} AS r ON r.rowid = n.id;

-- A row of trial 0 that is its line's only one stands for all trials, unless it draws: data, landmarks, a core.
-- name: stand_for_all
UPDATE key SET last_trial = 2147483647 WHERE id = :id;

-- Where some rows are left out, each stands for what it did among all.
-- name: stand_as_before
UPDATE key SET last_trial = (SELECT last_trial FROM kept_rows WHERE kept_rows.id = key.id);
