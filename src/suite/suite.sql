-- The rows of the suite's runs, as results read them.

-- name: errors
SELECT problem, attention, status, reason, output_error, baseline_mean FROM run ORDER BY position;

-- name: times
SELECT problem, attention, status, reason, amortized_s, output_error, load, device FROM run ORDER BY position;

-- name: damage
SELECT source, status, reason, {damage} FROM run ORDER BY position;
