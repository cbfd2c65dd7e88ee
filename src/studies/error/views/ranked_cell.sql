-- Cells with their place among their peers: those of the same panel, core, number of landmarks, factors and pairing, by
-- median; and the pairs of each first with the next one, where a lead is tested.
-- needs: cell_line
CREATE TEMP TABLE ranked_cell AS
SELECT cell.*, baseline_mean, v.strategy_id, row_number() OVER peers AS place,
       lead(v.strategy_id) OVER peers AS next_id, lead(median) OVER peers AS next
FROM cell JOIN level USING (panel_id, landmarks) JOIN panel ON panel.id = panel_id
JOIN variant AS v ON v.id = variant_id
JOIN component AS kernel ON kernel.kind = 'kernel' AND kernel.id = panel.kernel_id
WINDOW peers AS (
    PARTITION BY panel_id, core_id, landmarks, v.factors_id, CASE WHEN kernel.one_set THEN NULL ELSE v.pairing_id END
    ORDER BY count = 0, median, variant_id);

CREATE TEMP VIEW first_against_next AS
WITH line AS MATERIALIZED (SELECT * FROM cell_line WHERE question = 'strategy')
SELECT r.panel_id, r.core_id, r.landmarks, r.variant_id,
       x, y, noise_x, noise_y, se_x, se_y, stratum_id, source_id, p.head_id, trial, draws
FROM ranked_cell AS r CROSS JOIN line USING (panel_id, core_id, landmarks, variant_id, strategy_id)
CROSS JOIN pair AS p ON p.question = 'strategy' AND p.a = r.strategy_id AND p.b = r.next_id AND p.same = line.same
WHERE place = 1 AND median < next AND low IS NOT NULL AND refusal IS NULL;
