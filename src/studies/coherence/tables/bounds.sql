-- summary: what Lemma 1 and Theorems 1 and 2 on block-coherence say, beside what is measured
-- reference: On the geometric selection of landmarks for low-rank self-attention approximation, 2025, OpenReview OdKBFAmCYX (Lemma 1, Theorems 1 and 2)
-- file: bounds.csv
-- needs: theorems
SELECT model, layer, n, side, clusters, tau, partition, sources, rows, sizes, mean_rank, least_rank, lemma, proof,
       at_centroids, at_random, of_maxima, bound, broken, best_rank2, error_geometric2, bound_geometric,
       geometric_below_1, geometric_broken, error_uniform2, bound_uniform, uniform_below_1, uniform_broken
FROM part JOIN theorems USING (part_id) ORDER BY part_id;

-- heading: Lemma 1 and Theorem 1: leverage
-- above: Lemma 1: % of the rows that meet its conditions on sizes and local ranks (the mean, as stated; the least, as
--   the proof has it), and its inequalities (4) and (9). Theorem 1: leverage at the centroids, at as many random
--   tokens, of each cluster's largest, and the bound from these; % of the rows that break it. Medians.
-- labels: 3
-- format: tau: %.4g
-- format: at centroids: %.2g
-- format: at random: %.2g
-- format: of maxima: %.2g
-- format: bound: %.2g
SELECT items AS _part, about AS _about, clusters AS k, tau, partition_label AS partition, rows, 100 * sizes AS sizes,
       100 * mean_rank AS "mean rank", 100 * least_rank AS "least rank", 100 * lemma AS "(4)", 100 * proof AS "(9)",
       at_centroids AS "at centroids", at_random AS "at random", of_maxima AS "of maxima", bound,
       100 * broken AS broken
FROM part JOIN data USING (data_id) JOIN theorems USING (part_id) ORDER BY data_id, part_id;

-- heading: Theorem 2: squared relative errors of QQ' at rank k
-- above: From the tokens at the centroids, and from uniform ones, with their bounds; % of the rows in which a bound is
--   below 1, the error of 0, and that break it. Medians.
-- labels: 3
-- format: tau: %.4g
-- format: best rank k: %.2g
-- format: at centroids: %.2g
-- format: at random: %.2g
-- format: bound: %.2g
SELECT items AS _part, about AS _about, clusters AS k, tau, partition_label AS partition, rows,
       best_rank2 AS "best rank k", error_geometric2 AS "at centroids", bound_geometric AS bound,
       100 * geometric_below_1 AS "below 1", 100 * geometric_broken AS broken, error_uniform2 AS "at random",
       bound_uniform AS bound, 100 * uniform_below_1 AS "below 1", 100 * uniform_broken AS broken
FROM part JOIN data USING (data_id) JOIN theorems USING (part_id) ORDER BY data_id, part_id;
