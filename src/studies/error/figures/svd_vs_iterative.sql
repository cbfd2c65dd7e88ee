-- summary: error with each core over the error with the first, same landmarks
-- reference: none: medians of ratios
-- compares: core
-- needs: core_ratio drawn_variant
-- script: curves.gp
-- title: error with {core_name} / error with {_first}{_usual}
-- data: count landmarks median _low _high
-- most: 12 core_forest
-- ticks: landmarks
-- bars: median
-- set: x_name landmarks m
-- set: level_text 1: equal error; below: {core_name} is closer
-- set: y_name ratio of errors, same landmarks
SELECT core.place + 1 AS core, panel_id + 1 AS panel, variant_id + 1 AS series, landmarks, count, median, p10, p90,
       core.full AS core_name, panel.title AS panel_name, v.label AS series_name, core.label AS _figure,
       panel.title AS _panel, v.label AS _series, 'curve' AS _style, v.look AS _look, variant_id AS _order,
       coalesce(low, median) AS _low, coalesce(high, median) AS _high, first.full AS _first,
       coalesce('; pairing ' || v.usual || ' unless another is named', '') AS _usual
FROM core_ratio JOIN core ON core.id = core_id JOIN drawn_variant AS v ON v.id = variant_id
    JOIN panel ON panel.id = panel_id
JOIN core AS first ON first.place = 0
ORDER BY panel_id, variant_id, core.place, landmarks;

SELECT note FROM core_left_out ORDER BY core_id;
