-- summary: errors in single over errors in double precision, against the condition of A
-- reference: none: medians over heads and trials
-- needs: pairs:core core
-- script: curves.gp
-- title: single against double precision
-- data: count x median median median
-- set: x_scale 10
-- set: x_name condition of A
-- set: y_name |ratio of errors - 1|  (at least 1e-9)
--
-- A plain ratio: what single precision rounds away is shown, and would be a tie in pair_ratio. Each row counts once.
WITH gap AS MATERIALIZED (
    SELECT c.full, c.own_look, c.place, r.panel_id, r.position, r.landmark_condition AS condition,
           max(1e-9, abs(p.x / p.y - 1)) AS gap
    FROM core AS c CROSS JOIN pair AS p ON p.question = 'core' AND p.a = +c.id AND p.b = +c.in_double
    CROSS JOIN run AS r ON r.id = p.a_id AND r.trial = p.trial
    WHERE p.refusal IS NULL AND p.x IS NOT NULL AND p.y IS NOT NULL AND NOT p.noise AND r.landmark_condition < 9e999)
SELECT '' AS figure, panel.title AS panel, gap.full AS series, 1 AS count, condition AS x, gap AS median, gap AS p10,
       gap AS p90, NULL AS median_low, NULL AS median_high, 'cloud' AS _style, own_look AS _look, place AS _order
FROM gap JOIN panel ON panel.id = panel_id ORDER BY panel_id, place, condition, position;
