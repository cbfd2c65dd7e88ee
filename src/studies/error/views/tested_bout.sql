-- The pairs of the strategies of a bout that differ by the sign test, corrected for the standing (bout.sql): that makes
-- the star of `wins`, which asks their estimate only whether there is a verdict at all.
-- needs: bout
CREATE TEMP VIEW tested_bout AS -- a pair's values have no affinity: + leaves none to what its index is asked by
SELECT standing_id, o.a_id, o.b_id,
       x, y, noise_x, noise_y, se_x, se_y, p.stratum_id, source_id, p.head_id, trial, draws
FROM bout AS o JOIN standing AS s ON s.id = standing_id
CROSS JOIN agreed AS g ON g.question = 'strategy' AND g.value = +o.a_id AND g.setting = s.setting_id
CROSS JOIN pair AS p ON p.question = g.question AND p.same = g.same AND p.a = +o.a_id AND p.b = +o.b_id
    AND s.stratum_id IN (-1, p.stratum_id)
WHERE holm_p <= 0.05 AND o.a_id < o.b_id;
