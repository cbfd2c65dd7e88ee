-- Entrants against each other on the same landmarks: a question of the relation of pairs (pairs.sql) whose sides are
-- made of those of cores. Of several cores an entrant has the least error; the best core of F X B has the subspace
-- part, and has looked at all of S. Two are not compared where a core of the one and one of the other are not: in all
-- settings of a scope if that is for the rows of S that they have looked at, as tables pool a scope.
-- needs: pairs:core entrant choice_level above_best_core
INSERT INTO side
SELECT 'entrant', same, trial, entrant_id, s.id, setting, scope, stratum_id, source_id, head_id, draws, skipped,
       untimed, seen, exact, disturbed, x, noise, se
FROM side AS s CROSS JOIN entrant_core ON core_id = value CROSS JOIN entrant ON entrant.id = entrant_id
WHERE question = 'core' AND x IS NOT NULL AND part = 0 AND usual;

INSERT INTO side
WITH least AS (
    SELECT entrant.id AS entrant_id, same, trial, min(at_least_noise(x, noise)) AS least
    FROM entrant CROSS JOIN side CROSS JOIN entrant_core ON entrant_id = entrant.id AND core_id = value
    WHERE question = 'core' AND x IS NOT NULL AND part > 0 GROUP BY entrant.id, same, trial),
first AS (
    SELECT entrant_id, same, trial, (
               SELECT value FROM side AS s CROSS JOIN entrant_core AS c ON c.core_id = value
               WHERE question = 'core' AND s.same = l.same AND s.trial = l.trial AND c.entrant_id = l.entrant_id
                   AND at_least_noise(x, noise) = least
               ORDER BY value LIMIT 1) AS value
    FROM least AS l)
SELECT 'entrant', same, trial, entrant_id, s.id, setting, scope, stratum_id, source_id, head_id, draws, skipped,
       untimed, seen, exact, disturbed, x, noise, se
FROM first CROSS JOIN side AS s USING (same, trial, value) WHERE question = 'core';

INSERT INTO side
WITH first AS (
    SELECT same, trial, min(value) AS value FROM side WHERE question = 'core' AND x IS NOT NULL GROUP BY same, trial)
SELECT 'entrant', same, s.trial, (SELECT id FROM entrant WHERE part = 3), s.id, setting, scope, s.stratum_id,
       s.source_id, s.head_id, s.draws, 0, 0, 1, exact, disturbed, error_subspace, subspace_noise, NULL
FROM first CROSS JOIN side AS s USING (same, trial, value) CROSS JOIN above_best_core AS r ON r.id = s.id
WHERE question = 'core' AND error_subspace IS NOT NULL;

INSERT OR IGNORE INTO not_compared
WITH of_scope AS MATERIALIZED (SELECT DISTINCT scope, setting FROM agreed WHERE question = 'core'),
refused AS MATERIALIZED (
    SELECT setting, scope, a, b, refusal FROM not_compared WHERE question = 'core' AND refusal <> 'rows_seen'
    UNION ALL
    SELECT setting, scope, a, b, 'rows_seen' FROM not_pooled CROSS JOIN of_scope USING (scope)
    WHERE question = 'core')
SELECT DISTINCT 'entrant', setting, x.entrant_id, y.entrant_id, scope, refusal
FROM refused CROSS JOIN entrant_core AS x ON x.core_id = a CROSS JOIN entrant_core AS y ON y.core_id = b;

INSERT OR IGNORE INTO not_compared
WITH of_scope AS MATERIALIZED (SELECT DISTINCT scope, setting FROM agreed WHERE question = 'core'),
unseeing AS MATERIALIZED (
    SELECT DISTINCT scope, value FROM side WHERE question = 'core' AND x IS NOT NULL AND NOT seen),
refused AS (
    SELECT DISTINCT setting, scope, entrant_id, entrant.id AS best_id
    FROM unseeing JOIN of_scope USING (scope) JOIN entrant_core ON core_id = value JOIN entrant ON part = 3)
SELECT 'entrant', setting, entrant_id, best_id, scope, 'rows_seen' FROM refused
UNION ALL SELECT 'entrant', setting, best_id, entrant_id, scope, 'rows_seen' FROM refused;

CREATE TEMP TABLE level_of (same INTEGER PRIMARY KEY, level_id INTEGER);
INSERT INTO level_of
SELECT DISTINCT same, l.id FROM agreed AS g CROSS JOIN key AS k ON k.id = g.id CROSS JOIN choice_level AS l
    ON l.panel_id = k.panel_id AND l.landmarks = k.landmarks AND l.dense = (16 * k.landmarks >= k.n)
WHERE question = 'core' ORDER BY same;

CREATE TEMP VIEW duel AS
SELECT a AS a_id, b AS b_id, level_id, ratio FROM pair CROSS JOIN level_of USING (same)
WHERE question = 'entrant' AND a <> b AND refusal IS NULL AND ratio < 9e999;
