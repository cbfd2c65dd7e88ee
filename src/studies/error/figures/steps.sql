-- summary: error, residual and row sums against the number of steps, at one m
-- reference: none: medians over heads and trials
-- is: of_one_m
-- needs: above
-- script: curves.gp
-- title: error, residual and row sums against steps: {figure}, m = {_m}
-- data: count x median p10 p90
-- bars: spread
-- set: columns_wanted 3
-- set: x_name steps
-- set: y_name
WITH step AS (
    SELECT a.*, c.sweep, c.x, c.place, c.look FROM above AS a JOIN core AS c ON c.id = a.core_id
    WHERE c.option = 'steps' AND a.landmarks = :m AND ok),
measured AS (
    SELECT *, 0 AS part, 'error' AS measure, error AS y FROM step UNION ALL
    SELECT *, 1, '|I - AX|_F', core_residual FROM step UNION ALL
    SELECT *, 2, 'max |row sum - 1|', rowsum_deviation FROM step)
SELECT v.label AS figure, measure || ': ' || panel.title AS panel, sweep AS series, count(*) AS count, x,
       median(y) AS median, quantile(y, 0.1) AS p10, quantile(y, 0.9) AS p90,
       median_low(y, measured.id) AS median_low, median_high(y, measured.id) AS median_high,
       'curve' AS _style, measured.look AS _look, :m AS _m, min(min(place)) OVER (PARTITION BY sweep) AS _order
FROM measured JOIN variant AS v ON v.id = variant_id JOIN panel ON panel.id = panel_id
WHERE y < 9e999 GROUP BY variant_id, panel_id, part, sweep, x ORDER BY variant_id, panel_id, part, _order, x;
