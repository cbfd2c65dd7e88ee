-- summary: errors in single over errors in double precision, against the condition of A
-- reference: none: medians over heads and trials
-- needs: above
-- script: curves.gp
-- title: single against double precision
-- data: count x median median median
-- set: x_scale 10
-- set: x_name condition of A
-- set: y_name |ratio of errors - 1|  (at least 1e-9)
--
-- A plain ratio: what single precision rounds away is shown, and would be a tie in pair_ratio.
SELECT '' AS figure, panel.title AS panel, c.full AS series, 1 AS count, a.landmark_condition AS x,
       max(1e-9, abs(a.error / b.error - 1)) AS median, max(1e-9, abs(a.error / b.error - 1)) AS p10,
       max(1e-9, abs(a.error / b.error - 1)) AS p90, NULL AS median_low, NULL AS median_high, 'cloud' AS _style,
       c.own_look AS _look, c.place AS _order
FROM above AS a JOIN core AS c ON c.id = a.core_id JOIN above AS b ON b.choice_id = a.choice_id
    AND b.core_id = c.in_double
JOIN panel ON panel.id = a.panel_id
WHERE a.error IS NOT NULL AND b.error IS NOT NULL AND NOT (a.noise AND b.noise) AND a.landmark_condition < 9e999
ORDER BY a.panel_id, c.place, x, a.position;
