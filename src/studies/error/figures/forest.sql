-- summary: each strategy's error over the baseline's, by problem and pooled, with intervals over sources
-- reference: S. Lewis and M. Clarke, Forest plots: trying to see the wood and the trees, BMJ 322, 2001
-- place: 3
-- is: whole
-- needs: share core
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
WITH estimate AS (
    SELECT core_id, variant_id, fixed, CASE WHEN each THEN panel_id END AS panel_id,
           ratio_of(x, y, noise_x, noise_y, se_x, se_y, stratum_id, source_id, head_id, trial, draws) AS e,
           ratio_of(sub_x, sub_y, sub_noise_x, sub_noise_y, NULL, NULL, stratum_id, source_id, head_id, trial, draws)
               AS sub
    FROM faced JOIN (SELECT 0 AS each UNION ALL SELECT 1)
    WHERE (question, scope, a, b) NOT IN (SELECT * FROM not_pooled) GROUP BY 1, 2, 3, 4),
ranked AS (
    SELECT s.*, row_number() OVER (PARTITION BY core_id ORDER BY ratio(e), variant_id) AS rank,
           count(*) OVER (PARTITION BY core_id) AS lines
    FROM share AS s JOIN estimate USING (core_id, variant_id, fixed)
    WHERE s.panel_id IS NULL AND estimate.panel_id IS NULL AND abs(center(e)) < 9e999),
line AS (
    SELECT r.*, v.label || CASE WHEN fixed THEN '' ELSE ' against ' || b.pairing END AS label, v.oracle, v.usual,
           b.name AS baseline, CASE WHEN select_s >= 1 THEN 1 WHEN select_s >= 1e-3 THEN 1e3 ELSE 1e6 END AS per
    FROM ranked AS r JOIN variant AS v ON v.id = variant_id JOIN variant AS b ON b.id = base_id WHERE lines > 1),
point AS (
    SELECT l.*, p.id AS of_panel, e, CASE WHEN p.id IS NULL THEN sub END AS sub
    FROM line AS l JOIN (SELECT id FROM panel UNION ALL SELECT NULL) AS p
    LEFT JOIN estimate AS e ON e.core_id = l.core_id AND e.variant_id = l.variant_id AND e.fixed = l.fixed
        AND e.panel_id IS p.id)
SELECT core.label AS figure, point.label AS strategy, coalesce(panel.title, 'all') AS panel,
       CASE WHEN fixed THEN 'true' ELSE 'false' END AS pairing_held_fixed, ratio(e) AS ratio,
       ratio_low(e) AS low, ratio_high(e) AS high, finite(ratio(sub)) AS subspace_ratio,
       point.label AS _series, -rank AS _order, CASE WHEN abs(center(e)) < 9e999 THEN ratio(e) END AS _ratio,
       coalesce(finite(ratio(sub)), 0) AS _subspace, fixed AS _fixed,
       coalesce(CASE WHEN of_panel IS NULL THEN ratio_low(e) END, 0) AS _low,
       coalesce(CASE WHEN of_panel IS NULL THEN ratio_high(e) END, 0) AS _high,
       point.oracle AS _oracle, share AS _gap,
       select_s * per AS _select, CASE WHEN select_s * per >= 9.95 THEN select_s * per END AS _whole,
       CASE per WHEN 1 THEN ' s' WHEN 1e3 THEN ' ms' ELSE ' ' || char(181) || 's' END AS _unit,
       baseline AS _baseline, core.full AS _core,
       coalesce('; pairing ' || usual || ' unless another is named', '') AS _usual
FROM point JOIN core ON core.id = core_id LEFT JOIN panel ON panel.id = of_panel
ORDER BY core.place, rank, of_panel;

SELECT label || CASE WHEN refused < cells THEN ' is left out in part: ' ELSE ' is left out: ' END || reason AS note
FROM not_faced ORDER BY variant_id, reason;
