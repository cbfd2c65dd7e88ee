-- summary: error with each core over the error with the first, same landmarks, by problem and pooled
-- reference: none: medians of ratios
-- is: again whole
-- compares: core
-- needs: core_ratio
-- script: forest.gp
-- title: error with {_core} / error with {_first}
-- data: panel series _ratio _subspace _fixed
-- arrays: _oracle
-- set: subtitle medians over m, heads and trials of the ratio on the same landmarks{_usual}
-- set: x_name ratio of errors, same landmarks
-- set: heading_1
-- set: heading_2
WITH pooled AS (
    SELECT core_id, variant_id, median(median) AS ratio FROM core_ratio WHERE median IS NOT NULL
    GROUP BY core_id, variant_id),
ranked AS (
    SELECT *, row_number() OVER (PARTITION BY core_id ORDER BY ratio, variant_id) AS rank,
           count(*) OVER (PARTITION BY core_id) AS lines
    FROM pooled),
point AS (
    SELECT core_id, variant_id, NULL AS panel_id, ratio, rank FROM ranked WHERE lines > 1
    UNION ALL
    SELECT l.core_id, l.variant_id, panel.id, median(c.median), rank
    FROM ranked AS l CROSS JOIN panel LEFT JOIN core_ratio AS c ON c.panel_id = panel.id AND c.core_id = l.core_id
        AND c.variant_id = l.variant_id
    WHERE lines > 1 GROUP BY 1, 2, 3)
SELECT core.brief AS figure, v.label AS strategy, coalesce(panel.title, 'all') AS panel,
       'true' AS pairing_held_fixed, ratio, NULL AS subspace_ratio, v.label AS _series, -rank AS _order,
       CASE WHEN ratio > 0 THEN ratio END AS _ratio, 0 AS _subspace, 1 AS _fixed, v.oracle AS _oracle, core.label AS _core, first.label AS _first,
       coalesce('; pairing ' || usual || ' unless another is named', '') AS _usual
FROM point JOIN core ON core.id = core_id JOIN variant AS v ON v.id = variant_id JOIN core AS first ON first.place = 0
LEFT JOIN panel ON panel.id = panel_id
ORDER BY core.place, rank, panel_id;
