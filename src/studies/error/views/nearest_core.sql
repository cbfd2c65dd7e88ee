-- The nearest core of a number of landmarks (core_above.sql) against the next one, where its lead is tested: the pairs
-- of all settings with so many landmarks, unless the two are not compared in one of them.
-- needs: core_above pairs:core,all
CREATE TEMP VIEW nearest_core_refused AS
SELECT DISTINCT c.landmarks, c.core_id, c.next_id, n.refusal
FROM not_compared AS n CROSS JOIN key AS k ON k.number = n.setting
CROSS JOIN core_above AS c ON c.landmarks = k.landmarks AND c.core_id = n.a AND c.next_id = n.b
WHERE n.question = 'core, over all' AND nearness = 1 AND above < next;

CREATE TEMP VIEW nearest_core AS
WITH line AS MATERIALIZED (
    SELECT g.same, g.value AS core_id, k.landmarks FROM agreed AS g CROSS JOIN key AS k ON k.id = g.id
    WHERE question = 'core, over all')
SELECT c.landmarks, c.core_id, x, y, noise_x, noise_y, se_x, se_y, stratum_id, source_id, head_id, trial, draws
FROM core_above AS c CROSS JOIN line USING (landmarks, core_id)
CROSS JOIN pair AS p ON p.question = 'core, over all' AND p.a = c.core_id AND p.b = c.next_id AND p.same = line.same
WHERE nearness = 1 AND above < next
    AND (c.landmarks, c.core_id) NOT IN (SELECT landmarks, core_id FROM nearest_core_refused);
