-- summary: error against landmarks, a figure for each core
-- reference: none: medians, and their 95 % intervals over sources, by order statistics
-- place: 2
-- is: standard
-- needs: cell core drawn_variant
-- script: curves.gp
-- title: {core_name}, median over heads and trials{_usual}
-- data: count landmarks median _low _high
-- most: 12 forest
-- ticks: landmarks
-- bars: median
-- set: x_name landmarks m
-- set: y_name relative error  |S - FXB|_F / |S|_F
WITH drawn_median AS (
    SELECT core.place + 1 AS core, panel_id, variant_id + 1 AS series, landmarks, count, median, p10, p90,
           core.full AS core_name, core.label, v.label AS series_name, low, high, 'curve' AS style,
           v.look, variant_id AS line
    FROM cell JOIN core ON core.id = core_id JOIN drawn_variant AS v ON v.id = variant_id
    UNION ALL
    SELECT 0, panel_id, 0, landmarks, floor_count, floor_rank, floor_p10, floor_p90, NULL, NULL, 'best rank m',
           floor_low, floor_high, 'line', NULL, 1000000 FROM level
    UNION ALL
    SELECT 0, panel_id, -1, landmarks, baseline_count, baseline_mean, baseline_p10, baseline_p90, NULL, NULL,
           'constant ' || constant, baseline_low, baseline_high, 'faint', NULL, 1000001 FROM level)
SELECT core, panel_id + 1 AS panel, d.series, landmarks, d.count, median, p10, p90, core_name,
       panel.title AS panel_name, series_name, label AS _figure, panel.title AS _panel,
       series_name || CASE style WHEN 'line' THEN ' (median)' ELSE '' END AS _series, style AS _style, d.look AS _look,
       line AS _order, coalesce(low, median) AS _low, coalesce(high, median) AS _high,
       coalesce('; pairing ' || (SELECT usual FROM variant) || ' unless another is named', '') AS _usual
FROM drawn_median AS d JOIN panel ON panel.id = panel_id
ORDER BY d.series <= 0, d.series * (d.series <= 0) DESC, panel_id, line, core, landmarks;
