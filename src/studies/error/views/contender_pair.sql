-- The pairs of any two strategies of a standing, where they are compared.
-- needs: contender
CREATE TEMP VIEW contender_pair AS -- a pair's values have no affinity: + leaves none to what its index is asked by
SELECT a.standing_id, a.strategy_id AS a_id, b.strategy_id AS b_id,
       x, y, noise_x, noise_y, se_x, se_y, p.stratum_id, source_id, p.head_id, trial, draws
FROM contender AS a CROSS JOIN contender AS b ON b.standing_id = a.standing_id AND b.strategy_id > a.strategy_id
CROSS JOIN standing AS s ON s.id = a.standing_id
CROSS JOIN agreed AS g ON g.question = 'strategy' AND g.value = +a.strategy_id AND g.setting = s.setting_id
CROSS JOIN pair AS p ON p.question = g.question AND p.same = g.same AND p.a = +a.strategy_id
    AND p.b = +b.strategy_id AND s.stratum_id IN (-1, p.stratum_id)
WHERE p.refusal IS NULL;
