-- summary: each strategy's error over the baseline's, by problem and pooled, with intervals over sources
-- reference: S. Lewis and M. Clarke, Forest plots: trying to see the wood and the trees, BMJ 322, 2001
-- place: 3
-- is: whole
-- needs: share core faced_over_m estimates:faced_over_m estimates:faced_subspace
-- script: forest.gp
-- title: error relative to {_baseline}, {_core}
-- data: panel series _ratio _subspace _fixed _low _high
-- bars: mean
-- cell: _gap: {_gap: %.2f}
-- cell: _select: {_whole: %.0f}{_unit} | {_select: %.1f}{_unit}
-- arrays: _gap _select _oracle
-- set: subtitle geometric means over m, heads and trials of the ratio in the same trial{_usual}
-- set: x_name error / the baseline's
-- set: level_text 1: {_baseline}
-- set: heading_1 share of gap
-- set: heading_2 to select
WITH ranked AS (
    SELECT s.*, row_number() OVER (PARTITION BY core_id ORDER BY e.ratio, variant_id) AS rank,
           count(*) OVER (PARTITION BY core_id) AS lines
    FROM share AS s JOIN faced_over_m_estimate AS e USING (core_id, variant_id, fixed)
    WHERE s.panel_id IS NULL AND of_panel IS NULL AND e.ratio > 0 AND e.ratio < 9e999),
shown_share AS (
    SELECT r.*, v.label || CASE WHEN fixed THEN '' ELSE ' against ' || b.pairing END AS label, v.oracle, v.usual,
           b.name AS baseline, CASE WHEN select_s >= 1 THEN 1 WHEN select_s >= 1e-3 THEN 1e3 ELSE 1e6 END AS per
    FROM ranked AS r JOIN variant AS v ON v.id = variant_id JOIN variant AS b ON b.id = base_id WHERE lines > 1),
panel_ratio AS (
    SELECT l.*, p.id AS of_panel, e.ratio AS mean, e.low, e.high, finite(sub.ratio) AS subspace_mean
    FROM shown_share AS l JOIN (SELECT id FROM panel UNION ALL SELECT NULL) AS p
    LEFT JOIN faced_over_m_estimate AS e ON e.core_id = l.core_id AND e.variant_id = l.variant_id
        AND e.fixed = l.fixed AND e.of_panel IS p.id
    LEFT JOIN faced_subspace_estimate AS sub ON p.id IS NULL AND sub.core_id = l.core_id
        AND sub.variant_id = l.variant_id AND sub.fixed = l.fixed)
SELECT core.label AS figure, panel_ratio.label AS strategy, coalesce(panel.title, 'all') AS panel,
       CASE WHEN fixed THEN 'true' ELSE 'false' END AS pairing_held_fixed, mean AS ratio,
       low, high, subspace_mean AS subspace_ratio, panel_ratio.label AS _series, -rank AS _order,
       CASE WHEN mean > 0 AND mean < 9e999 THEN mean END AS _ratio,
       coalesce(subspace_mean, 0) AS _subspace, fixed AS _fixed,
       CASE WHEN of_panel IS NULL THEN coalesce(low, 0) ELSE 0 END AS _low,
       CASE WHEN of_panel IS NULL THEN coalesce(high, 0) ELSE 0 END AS _high,
       panel_ratio.oracle AS _oracle, share AS _gap,
       select_s * per AS _select, CASE WHEN select_s * per >= 9.95 THEN select_s * per END AS _whole,
       CASE per WHEN 1 THEN ' s' WHEN 1e3 THEN ' ms' ELSE ' ' || char(181) || 's' END AS _unit,
       baseline AS _baseline, core.full AS _core,
       coalesce('; pairing ' || usual || ' unless another is named', '') AS _usual
FROM panel_ratio JOIN core ON core.id = core_id LEFT JOIN panel ON panel.id = of_panel
ORDER BY core.place, rank, of_panel;

SELECT label || CASE WHEN refused < cells THEN ' is left out in part: ' ELSE ' is left out: ' END || reason AS note
FROM not_faced ORDER BY variant_id, reason;
