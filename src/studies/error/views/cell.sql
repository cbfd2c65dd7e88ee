-- A cell is what one table's entry is of: a panel, a variant, a core and a number of landmarks. `member` says of each
-- row which cell it is of.
-- needs: variant above_best_core
CREATE TEMP TABLE member (
    panel_id INTEGER, core_id INTEGER, landmarks INTEGER, variant_id INTEGER, head_id INTEGER, trial INTEGER,
    id INTEGER, position INTEGER, source_id INTEGER, error REAL, noise INTEGER, subspace REAL, subspace_noise REAL,
    above REAL, select_s REAL, core_s REAL, exact_s REAL, flops REAL, floor_rank REAL, baseline_mean REAL,
    PRIMARY KEY (panel_id, core_id, landmarks, variant_id, head_id, trial, id)
) WITHOUT ROWID;
INSERT INTO member
SELECT r.panel_id, r.core_id, r.landmarks, v.variant_id, r.head_id, r.trial, r.id, r.position, r.source_id,
       CASE WHEN r.status = 'ok' THEN r.error END,
       CASE WHEN r.status = 'ok' THEN is_noise(r.error, r.error_noise) END,
       CASE WHEN r.status = 'ok' THEN r.error_subspace END, r.subspace_noise, r.above,
       CASE WHEN r.status = 'ok' THEN r.select_s END, r.core_s, r.exact_s, r.flops, r.floor_rank, r.baseline_mean
FROM above_best_core AS r JOIN variant_of AS v USING (line_id)
ORDER BY 1, 2, 3, 4, 5, 6, 7;

CREATE TEMP TABLE cell AS
SELECT panel_id, core_id, variant_id, landmarks, count(*) AS planned, count(error) AS count, median(error) AS median,
       quantile(error, 0.1) AS p10, quantile(error, 0.9) AS p90, count(CASE WHEN noise THEN 1 END) AS noise,
       median(subspace) AS subspace, median(select_s) AS select_s, median_low(error, source_id) AS low,
       median_high(error, source_id) AS high
FROM member GROUP BY panel_id, core_id, landmarks, variant_id;

-- What does not depend on the method counts once for each head and trial. constant: the constant matrix.
CREATE TEMP TABLE level AS
WITH instance AS (
    SELECT panel_id, landmarks, head_id, trial, source_id, max(floor_rank) AS floor_rank,
           max(baseline_mean) AS baseline_mean
    FROM member GROUP BY panel_id, landmarks, head_id, trial)
SELECT panel_id, landmarks, CASE WHEN (SELECT min(stochastic) FROM component WHERE kind = 'kernel') THEN '1/n'
       ELSE 'mean(S)' END AS constant, count(floor_rank) AS floor_count, median(floor_rank) AS floor_rank,
       quantile(floor_rank, 0.1) AS floor_p10, quantile(floor_rank, 0.9) AS floor_p90,
       count(baseline_mean) AS baseline_count, median(baseline_mean) AS baseline_mean,
       quantile(baseline_mean, 0.1) AS baseline_p10, quantile(baseline_mean, 0.9) AS baseline_p90,
       median_low(floor_rank, source_id) AS floor_low, median_high(floor_rank, source_id) AS floor_high,
       median_low(baseline_mean, source_id) AS baseline_low, median_high(baseline_mean, source_id) AS baseline_high
FROM instance GROUP BY panel_id, landmarks;
