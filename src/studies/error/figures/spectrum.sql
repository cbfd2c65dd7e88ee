-- summary: singular values of A and what a core makes of them; picks the landmarks again
-- reference: none: the filter factors of P. C. Hansen, Rank-Deficient and Discrete Ill-Posed Problems, SIAM 1998
-- is: of_one_m again
-- prepare: spectrum
-- needs: drawn_variant
-- script: curves.gp
-- title: singular values of A, and what is left of them by {figure}, m = {_m}, trial 0
-- data: count x median p10 p90
-- bars: spread
-- set: x_name number of the singular value
-- set: y_name singular value / largest; dashed: filter
-- set: shadow filter factor: 1 inverted, 0 left out
WITH drawn_value AS (
    SELECT *, rowid AS id, 2 * way AS line, '' AS what, 'curve' AS style, value AS y FROM spectrum
    UNION ALL SELECT *, rowid, 2 * way + 1, ': filter', 'shadow', filter FROM spectrum),
-- Under a kernel of one set of points the pairing says nothing.
look AS (
    SELECT way, coalesce(max(CASE WHEN v.pairing = w.pairing THEN v.id END), min(v.id)) AS id
    FROM (SELECT DISTINCT way, strategy, pairing, factors FROM spectrum) AS w
    JOIN variant AS v ON v.strategy = w.strategy AND v.factors = w.factors GROUP BY way)
SELECT core_name AS figure, panel_name AS panel, label || what AS series, count(*) AS count, 1.0 * number AS x,
       median(y) AS median, quantile(y, 0.1) AS p10, quantile(y, 0.9) AS p90,
       median_low(y, d.id) AS median_low, median_high(y, d.id) AS median_high, style AS _style,
       v.look AS _look, line AS _order, :m AS _m
FROM drawn_value AS d JOIN look ON look.way = line / 2 JOIN drawn_variant AS v ON v.id = look.id
WHERE abs(y) < 9e999 GROUP BY d.core, panel_name, line, number
ORDER BY d.core, (SELECT min(rowid) FROM spectrum AS s WHERE s.panel_name = d.panel_name), line, number;
