-- summary: each strategy's error over the baseline's, by problem and pooled
-- reference: S. Lewis and M. Clarke, Forest plots: trying to see the wood and the trees, BMJ 322, 2001
-- place: 3
-- is: whole
-- needs: share core
-- script: forest.gp
-- title: error relative to {_baseline}, {_core}
-- data: panel series _ratio _subspace _fixed
-- arrays: _gap _select _oracle
-- set: subtitle medians over m, heads and trials of the ratio in the same trial{_usual}
-- set: x_name error / the baseline's
-- set: heading_1 share of gap
-- set: heading_2 to select
WITH ranked AS (
    SELECT *, row_number() OVER (PARTITION BY core_id ORDER BY ratio IS NULL, ratio, variant_id) AS rank,
           count(*) OVER (PARTITION BY core_id) AS lines
    FROM share WHERE panel_id IS NULL AND count > 0),
line AS (
    SELECT r.*, v.label || CASE WHEN fixed THEN '' ELSE ' against ' || b.pairing END AS label, v.oracle, v.usual,
           b.name AS baseline, CASE WHEN select_s >= 1 THEN 1 WHEN select_s >= 1e-3 THEN 1e3 ELSE 1e6 END AS per
    FROM ranked AS r JOIN variant AS v ON v.id = variant_id JOIN variant AS b ON b.id = base_id WHERE lines > 1),
point AS (
    SELECT core_id, variant_id, NULL AS panel_id, ratio, sub_ratio FROM line
    UNION ALL
    SELECT l.core_id, l.variant_id, panel.id, median(v.ratio), NULL
    FROM line AS l CROSS JOIN panel LEFT JOIN versus AS v ON v.panel_id = panel.id AND v.core_id = l.core_id
        AND v.variant_id = l.variant_id AND v.fixed = l.fixed
    GROUP BY 1, 2, 3)
SELECT core.brief AS figure, line.label AS strategy, coalesce(panel.title, 'all') AS panel,
       CASE WHEN fixed THEN 'true' ELSE 'false' END AS pairing_held_fixed, point.ratio,
       point.sub_ratio AS subspace_ratio, line.label AS _series, -rank AS _order, CASE WHEN point.ratio > 0 THEN point.ratio END AS _ratio,
       coalesce(point.sub_ratio, 0) AS _subspace, fixed AS _fixed, line.oracle AS _oracle,
       coalesce(shown('%.2f', share), '') AS _gap,
       coalesce(shown(CASE WHEN select_s * per >= 9.95 THEN '%.0f' ELSE '%.1f' END, select_s * per)
           || CASE per WHEN 1 THEN ' s' WHEN 1e3 THEN ' ms' ELSE ' ' || char(181) || 's' END, '') AS _select,
       baseline AS _baseline, core.label AS _core,
       coalesce('; pairing ' || usual || ' unless another is named', '') AS _usual
FROM point JOIN line USING (core_id, variant_id) JOIN core ON core.id = core_id
LEFT JOIN panel ON panel.id = point.panel_id
ORDER BY core.place, rank, point.panel_id;
