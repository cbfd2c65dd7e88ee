-- summary: error against effective cut-off of the cores, at one m
-- reference: none: medians over heads and trials
-- is: of_one_m
-- compares: core
-- needs: above
-- script: curves.gp
-- title: error against cut-off: {figure}, m = {_m}
-- data: count x median p10 p90
-- bars: spread
-- set: x_scale 10
-- set: x_name singular value of A, relative to the largest, that the core inverts by half
-- set: y_name relative error  |S - FXB|_F / |S|_F
WITH core_cut AS ( -- what cores do in any row
    SELECT core_id, min(CASE WHEN core_cutoff < 9e999 AND NOT keeps_rows THEN position END) AS cuts,
           max(ok AND (core_cutoff IS NULL OR core_cutoff >= 9e999 OR keeps_rows)) AS does_not
    FROM above GROUP BY core_id),
drawn_core AS (
    SELECT c.*, cuts, does_not, CASE WHEN sweep IS NOT NULL THEN min(cuts) OVER (PARTITION BY sweep, option) END
        AS first,
           cuts IS NOT NULL AND (sweep IS NULL OR plain) AS marked, does_not AND sweep IS NULL AND NOT oracle AS leveled
    FROM core AS c JOIN core_cut ON core_id = c.id),
-- Where factors have no middle, no core of a variant has a cut-off, and it has no figure.
shown_row AS (
    SELECT * FROM above WHERE landmarks = :m AND ok AND variant_id IN
        (SELECT variant_id FROM above WHERE core_cutoff < 9e999)),
drawn_error AS (
    SELECT variant_id, panel_id, s.core_id AS key, s.id, core_cutoff AS x, s.error AS y, sweep AS series, 'curve'
        AS style,
           look, first AS line
    FROM shown_row AS s JOIN drawn_core AS w ON w.id = s.core_id WHERE first IS NOT NULL
    UNION ALL
    SELECT variant_id, panel_id, s.core_id, s.id, core_cutoff, s.error, w.full, 'mark', look, 1000000 + 2 * place
    FROM shown_row AS s JOIN drawn_core AS w ON w.id = s.core_id WHERE marked
    UNION ALL
    SELECT variant_id, panel_id, 0, s.id, 1.0, s.error, w.label, 'level', look, 1000001 + 2 * place
    FROM shown_row AS s JOIN drawn_core AS w ON w.id = s.core_id WHERE leveled
    UNION ALL
    SELECT variant_id, panel_id, 0, id, 1.0, error_subspace, 'subspace part: the best core', 'level', NULL, 9000000
    FROM shown_row)
SELECT v.label AS figure, panel.title AS panel, series, count(*) AS count, median(x) AS x, median(y) AS median,
       quantile(y, 0.1) AS p10, quantile(y, 0.9) AS p90, median_low(y, e.id) AS median_low,
       median_high(y, e.id) AS median_high, style AS _style, e.look AS _look, line AS _order, :m AS _m
FROM drawn_error AS e JOIN variant AS v ON v.id = variant_id JOIN panel ON panel.id = panel_id
WHERE x < 9e999 AND y < 9e999 GROUP BY variant_id, panel_id, line, key
ORDER BY variant_id, panel_id, line, median(x), key;
