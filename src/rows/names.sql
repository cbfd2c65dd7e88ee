-- How files are read says nothing where a stratum has them read in one way.
-- name: one_input
UPDATE component SET input = NULL WHERE input IS NOT NULL AND NOT EXISTS (
    SELECT 1
    FROM (SELECT DISTINCT stratum_id, problem_id FROM key)
    JOIN component AS c ON c.kind = 'problem' AND c.id = problem_id
    GROUP BY stratum_id HAVING min(c.input) < max(c.input));
