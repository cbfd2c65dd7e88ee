-- `bout` has each strategy of a standing against another: on how many sources its error is below, above or equal, or
-- why the two are not compared.
-- needs: contender
CREATE TEMP TABLE bout AS
SELECT a.standing_id, a.strategy_id AS a_id, b.strategy_id AS b_id, max(n.refusal) AS refusal,
       count(CASE WHEN sign < 0 THEN 1 END) AS below, count(CASE WHEN sign > 0 THEN 1 END) AS above,
       count(CASE WHEN sign = 0 THEN 1 END) AS equal
FROM contender AS a JOIN contender AS b ON b.standing_id = a.standing_id AND b.strategy_id <> a.strategy_id
JOIN standing AS s ON s.id = a.standing_id
LEFT JOIN not_compared AS n ON n.question = 'strategy' AND n.setting = s.setting_id AND n.a = a.strategy_id
    AND n.b = b.strategy_id
LEFT JOIN meeting AS m ON m.setting_id = s.setting_id AND m.a_id = a.strategy_id AND m.b_id = b.strategy_id
    AND s.stratum_id IN (-1, m.stratum_id)
GROUP BY a.standing_id, a.strategy_id, b.strategy_id;
