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

CREATE TEMP TABLE tested_lead ( -- in the order that estimates are made in
    panel_id INTEGER, core_id INTEGER, landmarks INTEGER, variant_id INTEGER, strategy_id INTEGER, next_id INTEGER,
    PRIMARY KEY (panel_id, core_id, landmarks, variant_id)) WITHOUT ROWID;
INSERT INTO tested_lead
SELECT panel_id, core_id, landmarks, variant_id, strategy_id, next_id FROM ranked_cell
WHERE place = 1 AND median < next AND low IS NOT NULL;

CREATE TEMP VIEW first_against_next AS -- a pair's values have no affinity: + leaves none to what its index is asked by
WITH line AS MATERIALIZED (SELECT * FROM cell_line WHERE question = 'strategy')
SELECT l.panel_id, l.core_id, l.landmarks, l.variant_id,
       x, y, noise_x, noise_y, se_x, se_y, stratum_id, source_id, p.head_id, trial, draws
FROM tested_lead AS l CROSS JOIN line USING (panel_id, core_id, landmarks, variant_id, strategy_id)
CROSS JOIN pair AS p ON p.question = 'strategy' AND p.same = line.same AND p.a = +l.strategy_id AND p.b = +l.next_id
WHERE refusal IS NULL;
