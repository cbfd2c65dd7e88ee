-- summary: singular values of A and what a core makes of them; picks the landmarks again
-- reference: none: the filter factors of P. C. Hansen, Rank-Deficient and Discrete Ill-Posed Problems, SIAM 1998
-- is: of_one_m again
-- prepare: spectrum
-- needs: variant
-- script: curves.gp
-- title: singular values of A, and what is left of them by {figure}, m = {_m}, trial 0
-- data: count x median p10 p90
-- set: x_name number of the singular value
-- set: y_name singular value / largest; dashed: filter
-- set: shadow filter factor: 1 inverted, 0 left out
WITH line AS (
    SELECT rowid AS id, core, panel, 2 * way AS line, number, '' AS what, 'curve' AS style, value AS y FROM spectrum
    UNION ALL SELECT rowid, core, panel, 2 * way + 1, number, ': filter', 'shadow', filter FROM spectrum),
point AS (
    SELECT core, panel, line, number, what, style, count(*) AS count, median(y) AS median, quantile(y, 0.1) AS p10,
           quantile(y, 0.9) AS p90, over_sources(y, id) AS interval
    FROM line WHERE abs(y) < 9e999 GROUP BY core, panel, line, number),
-- Under a kernel of one set of points the pairing says nothing.
look AS (
    SELECT way, coalesce(max(CASE WHEN v.pairing = w.pairing THEN v.id END), min(v.id)) AS id
    FROM (SELECT DISTINCT way, strategy, pairing, factors FROM spectrum) AS w
    JOIN variant AS v ON v.strategy = w.strategy AND v.factors = w.factors GROUP BY way)
SELECT core_name AS figure, panel_name AS panel, label || what AS series, count, 1.0 * number AS x, median, p10, p90,
       low(interval) AS median_low, high(interval) AS median_high, style AS _style, v.id AS _look,
       line AS _order, :m AS _m
FROM point JOIN look ON look.way = line / 2 JOIN variant AS v ON v.id = look.id
JOIN (SELECT DISTINCT core, core_name FROM spectrum) USING (core)
JOIN (SELECT DISTINCT panel, panel_name FROM spectrum) USING (panel)
ORDER BY point.core, point.panel, line, number;
