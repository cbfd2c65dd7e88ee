-- What Lemma 1 and Theorems 1 and 2 say of each part: shares of its rows, and medians.
-- needs: part
CREATE TEMP TABLE theorems AS
SELECT part_id, mean(lemma1_sizes) AS sizes, mean(lemma1_mean_rank) AS mean_rank,
       mean(lemma1_least_rank) AS least_rank, mean(lemma1) AS lemma, mean(lemma1_proof) AS proof,
       median(leverage_at_centroids) AS at_centroids, median(leverage_at_random) AS at_random,
       median(leverage_of_maxima) AS of_maxima, median(bound_leverage) AS bound,
       1.0 * count(CASE WHEN leverage_at_centroids < bound_leverage THEN 1 END) / count(*) AS broken,
       median(best_rank2) AS best_rank2, median(error_geometric2) AS error_geometric2,
       median(bound_geometric) AS bound_geometric,
       1.0 * count(CASE WHEN bound_geometric < 1 THEN 1 END) / count(*) AS geometric_below_1,
       1.0 * count(CASE WHEN bound_geometric < error_geometric2 THEN 1 END) / count(*) AS geometric_broken,
       median(error_uniform2) AS error_uniform2, median(bound_uniform) AS bound_uniform,
       1.0 * count(CASE WHEN bound_uniform < 1 THEN 1 END) / count(*) AS uniform_below_1,
       1.0 * count(CASE WHEN bound_uniform < error_uniform2 THEN 1 END) / count(*) AS uniform_broken
FROM member JOIN run USING (id) GROUP BY part_id;
