-- summary: error with each core over the error with the first, same landmarks
-- reference: none: medians of ratios
-- compares: core
-- needs: above
-- script: curves.gp
-- title: error with {core_name} / error with {_first}{_usual}
-- data: count landmarks median _low _high
-- set: ticks 1
-- set: level 1
-- set: intervals 1
-- set: x_name landmarks m
-- set: level_text 1: both as close; below: {core_name} is closer
-- set: y_name ratio of errors, same landmarks
WITH first AS (SELECT id, label FROM core WHERE place = 0),
ratio AS (
    SELECT a.*, CASE WHEN NOT (a.noise AND b.noise) THEN a.error / b.error END AS ratio
    FROM above AS a LEFT JOIN above AS b ON b.choice_id = a.choice_id AND b.core_id = (SELECT id FROM first)
    WHERE a.core_id <> (SELECT id FROM first)),
point AS (
    SELECT panel_id, variant_id, core_id, landmarks, count(ratio) AS count, median(ratio) AS median,
           quantile(ratio, 0.1) AS p10, quantile(ratio, 0.9) AS p90, over_sources(ratio, source_id) AS interval
    FROM ratio GROUP BY panel_id, variant_id, core_id, landmarks)
SELECT core.place + 1 AS core, panel_id + 1 AS panel, variant_id + 1 AS series, landmarks, count, median, p10, p90,
       core.label AS core_name, panel.title AS panel_name, v.label AS series_name, core.brief AS _figure,
       panel.title AS _panel, v.label AS _series, 'curve' AS _style, variant_id AS _look, variant_id AS _order,
       coalesce(low(interval), median) AS _low, coalesce(high(interval), median) AS _high, first.label AS _first,
       coalesce('; pairing ' || v.usual || ' unless another is named', '') AS _usual
FROM point JOIN core ON core.id = core_id JOIN variant AS v ON v.id = variant_id JOIN panel ON panel.id = panel_id
JOIN first
ORDER BY panel_id, variant_id, core.place, landmarks;
