-- summary: output error against time, a curve over the number of landmarks for each attention
-- reference: none: medians over layers and trials, and their 95 % intervals over sources, by order statistics
-- needs: speedup curve
-- script: curves.gp
-- title: output error against time, {figure}: medians, curves over the number of landmarks
-- data: count x median _low _high
-- bars: median
-- set: x_scale 10
-- set: end_text large point: largest m
-- set: x_name milliseconds of a pass over all heads (amortized_s)
-- set: y_name relative error of the outputs
WITH shown AS ( -- an exact one is a line upright
    SELECT cell.*, exact, label, number, look_of_curve, 1e3 * amortized_s AS x,
           CASE WHEN exact THEN 1.0 ELSE output_error END AS y
    FROM cell JOIN curve USING (attention_id)
    WHERE amortized_s IS NOT NULL AND EXISTS (
        SELECT 1 FROM cell AS o JOIN curve USING (attention_id)
        WHERE o.family_id = cell.family_id AND o.n = cell.n AND NOT exact AND o.output_error IS NOT NULL)),
drawn_median AS (
    SELECT threads, team, family_id, n, layers, number, label, landmarks AS place, count(*) AS count, median(x) AS x,
           median(y) AS y, CASE WHEN NOT exact THEN min(error_low) END AS low,
           CASE WHEN NOT exact THEN max(error_high) END AS high, max(sources) AS sources,
           CASE WHEN exact THEN 'upright' ELSE 'curve' END AS style, look_of_curve AS look
    FROM shown WHERE y < 9e999 GROUP BY threads, family_id, n, number, landmarks
    UNION ALL
    SELECT threads, team, family_id, n, layers, 1000000, 'front at n', attention_id, 1, x, y, NULL, NULL, sources,
           'ring', NULL
    FROM shown JOIN front USING (cell_id) WHERE best AND NOT exact AND y < 9e999)
SELECT team AS figure, layers || ', n = ' || n || ', ' || max(sources) OVER (PARTITION BY threads, family_id, n)
           || CASE max(sources) OVER (PARTITION BY threads, family_id, n) WHEN 1 THEN ' source' ELSE ' sources' END
           AS panel, label AS series, count, x, y AS median, y AS p10, y AS p90, low AS median_low, high AS median_high,
       sources, style AS _style, look AS _look, number AS _order, coalesce(low, y) AS _low, coalesce(high, y) AS _high
FROM drawn_median ORDER BY threads, family_id, n, number, place;

SELECT listed(attention_label, attention_id) || ': left out, not timed' AS note FROM (
    SELECT attention_id, attention_label FROM cell GROUP BY attention_id HAVING count(amortized_s) = 0)
WHERE EXISTS (SELECT 1 FROM cell WHERE amortized_s IS NOT NULL) HAVING count(*) > 0;
