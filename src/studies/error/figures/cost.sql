-- summary: error against flops, or time where one worker measured, of a forward pass, a curve over m for each strategy
-- reference: none: medians over heads and trials
-- needs: cell core drawn_variant
-- script: curves.gp
-- title: error against {figure}
-- data: count x median p10 p90
-- bars: spread
-- set: x_scale 10
-- set: end_text large point: largest m
-- set: x_name {_x_name}
-- set: y_name relative error  |S - FXB|_F / |S|_F
-- set: upright 1: exact attention
WITH shown_row AS ( -- a core that looks at all of S costs more than exact attention
    SELECT m.panel_id, m.core_id, m.variant_id, m.landmarks, m.id, r.error, r.baseline_mean,
           r.flops / (4.0 * r.n * r.n * r.d) AS flops, (r.select_s + r.core_s + r.forward_s) / r.exact_s AS time,
           s.manifest
    FROM member AS m JOIN core AS c ON c.id = m.core_id JOIN run AS r ON r.id = m.id
    JOIN main.results AS s ON s.rowid = m.id
    WHERE r.status = 'ok' AND NOT c.oracle),
range AS (
    SELECT min(landmarks) AS least, max(landmarks) AS most,
           max(id IN (SELECT id FROM shown_row WHERE flops IS NULL AND time IS NOT NULL)) AS uncounted FROM member),
priced_row AS (
    SELECT *, 0 AS by_time, flops AS x FROM shown_row WHERE flops IS NOT NULL
    UNION ALL SELECT *, 1, time FROM shown_row WHERE time IS NOT NULL AND manifest IN ( -- others disturb times
        SELECT id FROM main.manifests WHERE json_extract(text, '$.jobs') <= 1)),
drawn_median AS (
    SELECT core_id, by_time, panel_id, variant_id, landmarks, v.label AS series, 'curve' AS style, v.look,
           count(*) AS count, median(x) AS x, median(error) AS median, quantile(error, 0.1) AS p10,
           quantile(error, 0.9) AS p90, median_low(error, priced_row.id) AS low,
           median_high(error, priced_row.id) AS high
    FROM priced_row JOIN drawn_variant AS v ON v.id = variant_id WHERE error IS NOT NULL GROUP BY 1, 2, 3, 4, 5
    UNION ALL
    SELECT core_id, by_time, panel_id, 1000000, 0, 'constant ' || (SELECT constant FROM level), 'level', NULL,
        count(*), 1.0, median(baseline_mean),
           quantile(baseline_mean, 0.1), quantile(baseline_mean, 0.9), median_low(baseline_mean, id),
           median_high(baseline_mean, id)
    FROM priced_row WHERE baseline_mean IS NOT NULL GROUP BY 1, 2, 3)
SELECT CASE WHEN by_time THEN 'time' ELSE 'flops' END || ' with ' || core.label AS figure, panel.title AS panel, series,
       count, drawn_median.x AS x, median, p10, p90, low AS median_low, high AS median_high,
       CASE WHEN by_time THEN 'seconds of a forward pass / exact attention''s'
            ELSE 'flops of a forward pass / exact attention''s (4 n^2 d)' END || ', m = ' || least || ' to ' || most
       || CASE WHEN uncounted AND NOT by_time
          THEN '; not drawn: oracles, plug-ins and programs, whose flops are not counted' ELSE '' END AS _x_name,
       style AS _style, drawn_median.look AS _look, variant_id AS _order
FROM drawn_median JOIN core ON core.id = core_id JOIN panel ON panel.id = panel_id JOIN range
ORDER BY core.place, by_time, panel_id, variant_id, landmarks;
