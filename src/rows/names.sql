-- The components of the rows, and their options (names.c); rows/open.h says what the columns hold.

-- name: component
CREATE TEMP TABLE component (
    kind TEXT, spec TEXT, label TEXT, full TEXT, name TEXT, id INTEGER, kind_place INTEGER, first_row INTEGER,
    has_result INTEGER, oracle INTEGER, random INTEGER, filter INTEGER, exact INTEGER, plain INTEGER, one_set INTEGER,
    low_rank INTEGER, stochastic INTEGER, input TEXT, PRIMARY KEY (kind, id)) WITHOUT ROWID;

-- name: option
CREATE TEMP TABLE option (
    kind TEXT, key TEXT, value TEXT, rest TEXT, rest_label TEXT, id INTEGER, place INTEGER, number REAL, size INTEGER,
    PRIMARY KEY (kind, id, place)) WITHOUT ROWID;

-- How files are read says nothing where a stratum has them read in one way.
-- name: one_input
UPDATE component SET input = NULL WHERE input IS NOT NULL AND NOT EXISTS (
    SELECT 1
    FROM (SELECT DISTINCT stratum_id, problem_id FROM key)
    JOIN component AS c ON c.kind = 'problem' AND c.id = problem_id
    GROUP BY stratum_id HAVING min(c.input) < max(c.input));
