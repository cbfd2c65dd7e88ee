-- summary: median error by problem, core, strategy and number of landmarks
-- reference: none: medians over heads and trials
-- place: 1
-- needs: cell
-- exists: key
SELECT panel.title AS panel, panel.problem, panel.kernel, v.label, v.strategy, v.pairing, v.factors, core.spec AS core,
       landmarks, planned, count, median, p10, p90, floor_rank AS best_rank_m, baseline_mean,
       (SELECT count(DISTINCT source_id) FROM member AS m WHERE m.panel_id = cell.panel_id AND m.core_id = cell.core_id
            AND m.landmarks = cell.landmarks AND m.variant_id = cell.variant_id AND error IS NOT NULL) AS sources,
       low AS median_low, high AS median_high
FROM cell JOIN level USING (panel_id, landmarks) JOIN panel ON panel.id = panel_id
JOIN variant AS v ON v.id = variant_id JOIN component AS core ON core.kind = 'core' AND core.id = core_id
ORDER BY panel_id, core_id, variant_id, landmarks;

-- heading: Median relative error |S - FXB|_F / |S|_F over heads and trials
-- format: _cell: brief
-- formula: |S - FXB|_F / |S|_F
-- paragraph: In the tables:
-- note: *: better than the next of its column, core, pairing and factors, by the verdict of 'nysbench compare',
--   corrected for all that may have a star here. It takes 6 sources or more: each input of a file is one; where data
--   are drawn, each trial is one
-- note: [ ]: 95 % interval of the median over sources, by order statistics of the sources' own medians over heads and
--   trials. It takes 6 sources or more
-- note: ~: not above its rounding noise
-- note: ( ): not below the constant matrix {_constant}
-- note: !: some rows are missing
-- note: -: all of them are: skipped, failed or not run
-- needs: ranked_cell estimates:first_against_next
WITH measured AS (SELECT DISTINCT panel_id FROM cell WHERE count > 0),
shown_cell AS (
    SELECT r.panel_id, r.core_id, r.variant_id, r.landmarks, core.full AS band, v.label,
           CASE WHEN count > 0 AND NOT coalesce(median < baseline_mean, 0) THEN '(' ELSE '' END AS before, median AS x,
           CASE WHEN count > 0 AND NOT coalesce(median < baseline_mean, 0) THEN ')' ELSE '' END
           || CASE WHEN verdict = 'better' THEN '*' WHEN 2 * noise >= count AND count > 0 THEN '~' ELSE '' END
           || CASE WHEN count > 0 AND count < planned THEN '!' ELSE '' END AS mark, r.low, r.high
    FROM ranked_cell AS r LEFT JOIN first_against_next_estimate USING (panel_id, core_id, landmarks, variant_id)
    JOIN component AS core ON core.kind = 'core' AND core.id = r.core_id JOIN variant AS v ON v.id = r.variant_id
    UNION ALL
    SELECT panel_id, 1000000, 0, landmarks, '', 'best rank m', '', floor_rank, '', floor_low, floor_high FROM level
    UNION ALL
    SELECT panel_id, 1000001, 0, landmarks, '', 'constant ' || constant, '', baseline_mean, '', baseline_low,
           baseline_high
    FROM level)
SELECT panel.items AS _part, 'n = ' || n || ', d = ' || d || ', sources: ' || sources || ', heads: ' || heads ||
       ', trials: ' || trials || CASE WHEN kernel.low_rank AND EXISTS (
           SELECT 1 FROM level WHERE level.panel_id = panel.id AND level.landmarks >= d)
       THEN '. S has rank d = ' || d || ': from m = d on, X = A+ leaves no error, by construction' ELSE '' END
       || CASE WHEN panel_id IN measured THEN '' ELSE '. No results: every row was skipped, failed or not run' END
       AS _about, band AS "_band core", shown_cell.label AS landmarks,
       CASE WHEN panel_id IN measured THEN landmarks END AS _across, x AS _cell, before AS _before, mark AS _mark,
       low AS _low, high AS _high, (SELECT constant FROM level) AS _constant
FROM shown_cell JOIN panel ON panel.id = panel_id
JOIN component AS kernel ON kernel.kind = 'kernel' AND kernel.id = panel.kernel_id
ORDER BY panel_id, core_id, variant_id, landmarks;

SELECT 'The pairing is ' || usual || ' unless a line names another.' AS note FROM variant
    WHERE usual IS NOT NULL LIMIT 1;

SELECT 'Over all tables:' AS paragraph;

SELECT core.full || ': ' || count(CASE WHEN median < baseline_mean THEN 1 END) || ' of ' || count(median) ||
       ' medians are below the constant matrix ' || max(constant) || '.' AS item
FROM cell JOIN level USING (panel_id, landmarks) JOIN component AS core ON core.kind = 'core' AND core.id = core_id
GROUP BY core_id HAVING count(median) > 0 ORDER BY core_id;
