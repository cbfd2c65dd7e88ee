-- A cell is what one table's entry is of: a panel, a variant, a core and a number of landmarks. `member` says of each row
-- which cell it is of.
-- needs: variant
CREATE TEMP TABLE member (
    panel_id INTEGER, core_id INTEGER, landmarks INTEGER, variant_id INTEGER, head_id INTEGER, trial INTEGER, id INTEGER,
    position INTEGER, source_id INTEGER, stratum_id INTEGER, alone INTEGER, draws INTEGER, error REAL, noise INTEGER,
    error_noise REAL, error_se REAL, seen INTEGER, subspace REAL, subspace_noise REAL, select_s REAL, core_s REAL,
    exact_s REAL, flops REAL, floor_rank REAL, baseline_mean REAL, PRIMARY KEY (panel_id, core_id, landmarks, variant_id, head_id, trial, id)
) WITHOUT ROWID;
INSERT INTO member
SELECT r.panel_id, r.core_id, r.landmarks, v.id, r.head_id, r.trial, r.id, r.position, r.source_id, r.stratum_id, r.alone,
       r.draws, CASE WHEN r.status = 'ok' THEN r.error END,
       CASE WHEN r.status = 'ok' THEN NOT coalesce(r.error > r.error_noise, 0) END, r.error_noise, r.error_se,
       r.error_unseen IS NOT r.error, CASE WHEN r.status = 'ok' THEN r.error_subspace END,
       coalesce(r.error_subspace_noise, 1e-12),
       CASE WHEN r.status = 'ok' THEN r.select_s END, r.core_s, r.exact_s, r.flops, r.floor_rank, r.baseline_mean
FROM run AS r JOIN component AS c ON c.kind = 'kernel' AND c.id = r.kernel_id
JOIN variant AS v ON v.strategy_id = r.strategy_id AND v.factors_id = r.factors_id
    AND CASE WHEN c.one_set THEN v.leads ELSE v.pairing_id = r.pairing_id END
ORDER BY 1, 2, 3, 4, 5, 6, 7;

-- Members of two cells (a, b) that differ in the variant alone, on the same head in the same trial; what has trial 0
-- alone stands for every trial of the other. apart: one alone has looked at rows of S that both are judged on.
CREATE TEMP TABLE line (panel_id INTEGER, core_id INTEGER, landmarks INTEGER, variant_id INTEGER, head_id INTEGER,
                        alone INTEGER, PRIMARY KEY (panel_id, core_id, landmarks, variant_id, head_id)) WITHOUT ROWID;
INSERT INTO line
SELECT panel_id, core_id, landmarks, variant_id, head_id, max(trial) = 0 FROM member GROUP BY 1, 2, 3, 4, 5;
CREATE TEMP VIEW met AS
SELECT a.panel_id, a.core_id, a.landmarks, a.variant_id AS a_id, l.variant_id AS b_id, a.error AS x, b.error AS y,
       a.error_noise AS noise_x, b.error_noise AS noise_y, a.error_se AS se_x, b.error_se AS se_y,
       a.noise AND b.noise AS noise, a.subspace AS sub_x, b.subspace AS sub_y,
       a.subspace <= a.subspace_noise AND b.subspace <= b.subspace_noise AS sub_noise, a.stratum_id, a.source_id, a.head_id,
       max(a.trial, b.trial) AS trial, a.draws OR b.draws AS draws,
       a.error IS NOT NULL AND b.error IS NOT NULL AND a.seen <> b.seen AS apart
FROM member AS a JOIN line AS l ON l.panel_id = a.panel_id AND l.core_id = a.core_id AND l.landmarks = a.landmarks
    AND l.head_id = a.head_id
JOIN member AS b ON b.panel_id = a.panel_id AND b.core_id = a.core_id AND b.landmarks = a.landmarks
    AND b.variant_id = l.variant_id AND b.head_id = a.head_id
    AND b.trial BETWEEN CASE WHEN a.alone OR l.alone THEN 0 ELSE a.trial END
        AND CASE WHEN l.alone THEN 0 WHEN a.alone THEN 1e9 ELSE a.trial END;

CREATE TEMP TABLE cell AS
SELECT panel_id, core_id, variant_id, landmarks, count(*) AS planned, count(error) AS count, median(error) AS median,
       quantile(error, 0.1) AS p10, quantile(error, 0.9) AS p90, count(CASE WHEN noise THEN 1 END) AS noise,
       median(subspace) AS subspace, median(select_s) AS select_s, over_sources(error, source_id) AS over_sources
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
       over_sources(floor_rank, source_id) AS floor_over, over_sources(baseline_mean, source_id) AS baseline_over
FROM instance GROUP BY panel_id, landmarks;
