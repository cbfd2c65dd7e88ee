-- summary: error with each core over the error with the first, same landmarks, by problem and pooled
-- reference: none: geometric means, and Student's t intervals over sources
-- is: again whole
-- compares: core
-- needs: core_contest estimates:core_contest_over_m
-- script: forest.gp
-- title: error with {_core} / error with {_first}
-- data: panel series _ratio _subspace _fixed _low _high
-- bars: mean
-- arrays: _oracle
-- set: subtitle geometric means over m, heads and trials of the ratio on the same landmarks{_usual}
-- set: x_name ratio of errors, same landmarks
-- set: level_text 1: {_first}
-- set: heading_1
-- set: heading_2
WITH ranked AS (
    SELECT core_id, variant_id, row_number() OVER (PARTITION BY core_id ORDER BY ratio, variant_id) AS rank,
           count(*) OVER (PARTITION BY core_id) AS lines
    FROM core_contest_over_m_estimate WHERE of_panel IS NULL AND ratio > 0 AND ratio < 9e999),
panel_ratio AS (
    SELECT r.core_id, r.variant_id, panel.id AS panel_id, rank, ratio, low, high
    FROM ranked AS r JOIN (SELECT id FROM panel UNION ALL SELECT NULL) AS panel
    LEFT JOIN core_contest_over_m_estimate AS e ON e.core_id = r.core_id AND e.variant_id = r.variant_id
        AND e.of_panel IS panel.id
    WHERE lines > 1)
SELECT core.label AS figure, v.label AS strategy, coalesce(panel.title, 'all') AS panel,
       'true' AS pairing_held_fixed, ratio, low, high, NULL AS subspace_ratio,
       v.label AS _series, -rank AS _order, CASE WHEN ratio > 0 AND ratio < 9e999 THEN ratio END AS _ratio,
       0 AS _subspace, 1 AS _fixed, CASE WHEN panel_id IS NULL THEN coalesce(low, 0) ELSE 0 END AS _low,
       CASE WHEN panel_id IS NULL THEN coalesce(high, 0) ELSE 0 END AS _high, v.oracle AS _oracle,
       core.full AS _core, first.full AS _first,
       coalesce('; pairing ' || usual || ' unless another is named', '') AS _usual
FROM panel_ratio JOIN core ON core.id = core_id JOIN variant AS v ON v.id = variant_id
JOIN core AS first ON first.place = 0 LEFT JOIN panel ON panel.id = panel_id
ORDER BY core.place, rank, panel_id;

SELECT note FROM core_left_out ORDER BY core_id;
