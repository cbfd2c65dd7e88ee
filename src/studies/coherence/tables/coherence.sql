-- summary: coherence and block-coherence by model, layer, k, tau and partition
-- reference: On the geometric selection of landmarks for low-rank self-attention approximation, 2025, OpenReview OdKBFAmCYX (Table 1)
-- place: 1
-- file: coherence.csv
-- needs: part measured
-- heading: Coherence and block-coherence: mean +- standard deviation, medians and quantiles over heads and trials
-- labels: 3
-- format: tau: %.4g
-- cell: mu: {mu: %.3g} +- {_mu_sd: %.2g} | {mu: %.3g} | -
-- cell: mu_block, finite: {mu_block, finite: %.3g} +- {_block_sd: %.2g} | {mu_block, finite: %.3g} | -
-- cell: 10 to 90 %: {10 to 90 %: %.3g} to {_p90: %.2g} | -
-- cell: reduction %: {reduction %: %.3g} +- {_reduction_sd: %.2g} | {reduction %: %.3g} | -
-- holds: mu is at most n/k. mu_block, finite: without clusters of local rank 0. Its median, its quantiles and
--   alpha/mu, the median of mu_block / mu, count such rows as infinite; reduction, 1 - mu_block / mu, leaves them out.
--   What clusters have that know nothing of the points is no sign of clusters in them.
WITH per_measure AS (
    SELECT part.rowid AS line, part_id, place, list(x) AS xs, mean_low(x, source_id) AS low,
           mean_high(x, source_id) AS high
    FROM part CROSS JOIN measure CROSS JOIN member USING (part_id) JOIN measured USING (id, place)
    GROUP BY line, place)
SELECT model, layer, n, side, clusters, tau, partition, sources, rows, name AS measure, size(xs) AS "values",
       size(xs) - size(finite(xs)) AS infinite, mean(xs) AS mean, sd(finite(xs)) AS sd, low,
       high, median(xs) AS median, quantile(xs, 0.1) AS p10, quantile(xs, 0.9) AS p90
FROM per_measure JOIN part USING (part_id) JOIN measure USING (place)
GROUP BY line, place ORDER BY line, place;

WITH spread AS (
    SELECT part_id, mean(mu) AS mu, sd(mu) AS mu_sd, median(mu) AS mu_median, mean(mu_block_finite) AS block,
           sd(mu_block_finite) AS block_sd, median(mu_block) AS block_median, quantile(mu_block, 0.1) AS p10,
           quantile(mu_block, 0.9) AS p90,
           100.0 * (count(mu_block) - count(finite(mu_block))) / count(mu_block) AS infinite,
           median(alpha_over_mu) AS ratio, 100 * mean(finite(reduction)) AS reduction,
           100 * sd(finite(reduction)) AS reduction_sd
    FROM member JOIN run USING (id) GROUP BY part_id)
SELECT items AS _part, about AS _about, clusters AS k, tau, partition_label AS partition, rows,
       mu, mu_median AS median, block AS "mu_block, finite", block_median AS median, p10 AS "10 to 90 %",
       infinite AS "% infinite", ratio AS "alpha/mu", reduction AS "reduction %", p90 AS _p90,
       CASE WHEN mu_sd < 1e-9 * mu THEN 0 ELSE mu_sd END AS _mu_sd, -- a spread that is rounding is 0
       CASE WHEN block_sd < 1e-9 * block THEN 0 ELSE block_sd END AS _block_sd,
       CASE WHEN reduction_sd < 1e-9 * abs(reduction) THEN 0 ELSE reduction_sd END AS _reduction_sd
FROM part JOIN data USING (data_id) JOIN spread USING (part_id)
ORDER BY data_id, part_id;
