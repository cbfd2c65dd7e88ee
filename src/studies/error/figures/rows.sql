-- summary: error of fits to exact rows of S against the number of rows
-- reference: none: medians over heads and trials
-- needs: above drawn_variant
-- script: curves.gp
-- title: error against exact rows: {figure}
-- data: count x median p10 p90
-- bars: spread
-- set: x_scale 2
-- set: level_text 1: the best core (subspace part)
-- set: x_name exact rows of S / landmarks m, all m together
-- set: y_name error / subspace part, same landmarks
WITH fitting_row AS ( -- without those that want more rows than there are
    SELECT c.sweep, c.place, a.panel_id, a.variant_id, c.x / a.landmarks AS x, 1 + a.above AS y, a.id
    FROM above AS a JOIN core AS c ON c.id = a.core_id
    WHERE c.option = 'rows' AND c.x <= a.n AND a.above IS NOT NULL)
SELECT sweep AS figure, panel.title AS panel, v.label AS series, count(*) AS count, x, median(y) AS median,
       quantile(y, 0.1) AS p10, quantile(y, 0.9) AS p90, median_low(y, fitting_row.id) AS median_low,
       median_high(y, fitting_row.id) AS median_high, 'curve' AS _style, v.look AS _look, variant_id AS _order
FROM fitting_row JOIN drawn_variant AS v ON v.id = variant_id JOIN panel ON panel.id = panel_id
GROUP BY sweep, panel_id, variant_id, x ORDER BY min(min(place)) OVER (PARTITION BY sweep), panel_id, variant_id, x;
