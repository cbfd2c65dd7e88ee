-- Each core that is no oracle against those with twice the landmarks, of the same strategy on the same head in the same
-- trial: pairs of rows that may differ in landmarks too, where all of the two cores are compared.
-- needs: pairs:core,landmarks entrant
CREATE TEMP VIEW duel_of_twice AS -- + as in duel.sql
SELECT k.landmarks, x.entrant_id AS a_id, y.entrant_id AS b_id, ratio
FROM (SELECT DISTINCT same, trial FROM side WHERE question = 'core, any landmarks') AS g
CROSS JOIN entrant AS a CROSS JOIN entrant_core AS x ON x.entrant_id = a.id
CROSS JOIN entrant AS b CROSS JOIN entrant_core AS y ON y.entrant_id = b.id
CROSS JOIN pair AS p ON p.question = 'core, any landmarks' AND p.same = g.same AND p.trial = g.trial
    AND p.a = +x.core_id AND p.b = +y.core_id
CROSS JOIN key AS k ON k.id = a_id CROSS JOIN key AS l ON l.id = b_id
WHERE a.usual AND NOT a.oracle AND b.usual AND NOT b.oracle AND l.landmarks = 2 * k.landmarks AND refusal IS NULL
    AND ratio < 9e999;
