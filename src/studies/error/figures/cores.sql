-- summary: how far each core is above the best one, against landmarks
-- reference: none: medians over heads and trials
-- compares: core
-- needs: above
-- script: curves.gp
-- title: cores above the best core: {figure}
-- data: count x median _low _high
-- ticks: x
-- bars: median
-- set: x_name landmarks m
-- set: y_name error / best core's - 1  (0.1: 10 %)
WITH sweep AS ( -- the best core is what they are compared with; the most rows are the best; single lies upon double
    SELECT sweep, option, look, min(place) AS first FROM core WHERE sweep IS NOT NULL AND option <> 'rows'
    GROUP BY sweep, option HAVING max(in_double) IS NULL),
excess AS ( -- less than 1e-8 has been rounded away
    SELECT *, max(1e-8, above) AS y FROM above WHERE above IS NOT NULL AND NOT keeps_rows),
drawn_excess AS (
    SELECT variant_id, panel_id, landmarks, e.source_id, y, c.full AS series, 'curve' AS style, c.look, place AS line
    FROM excess AS e JOIN core AS c ON c.id = core_id WHERE NOT oracle AND (sweep IS NULL OR plain)
    UNION ALL
    SELECT variant_id, panel_id, landmarks, source_id, min(y), 'best ' || option || ' of ' || sweep || ' (oracle)',
           'dashed', sweep.look, 1000000 + first
    FROM excess AS e JOIN core AS c ON c.id = core_id JOIN sweep USING (sweep, option)
    GROUP BY choice_id, sweep, option)
SELECT v.label AS figure, panel.title AS panel, series, count(*) AS count, 1.0 * landmarks AS x, median(y) AS median,
       quantile(y, 0.1) AS p10, quantile(y, 0.9) AS p90, median_low(y, source_id) AS median_low,
       median_high(y, source_id) AS median_high, coalesce(median_low(y, source_id), median(y)) AS _low,
       coalesce(median_high(y, source_id), median(y)) AS _high, style AS _style, e.look AS _look, line AS _order
FROM drawn_excess AS e JOIN variant AS v ON v.id = variant_id JOIN panel ON panel.id = panel_id
GROUP BY variant_id, panel_id, line, landmarks ORDER BY variant_id, panel_id, line, landmarks;
