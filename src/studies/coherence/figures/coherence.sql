-- summary: block-coherence over coherence by partition, against k and against tau
-- reference: On the geometric selection of landmarks for low-rank self-attention approximation, 2025, OpenReview OdKBFAmCYX (Table 1)
-- is: standard
-- needs: part look
-- script: curves.gp
-- title: block-coherence over coherence by {figure}; else k = {_k}, tau = {_tau: %g}
-- data: count x median p10 p90
-- ticks: x
-- bars: spread
-- set: level_text 1: blocks as coherent as the whole
-- set: x_name {_x_name}
-- set: y_name mu_block / mu, clusters of rank 0 left out
WITH row AS (
    SELECT id, part_id, clusters, tau, partition_id, mu_block_finite / mu AS y FROM member JOIN run USING (id)),
usual AS ( -- those that most rows have
    SELECT (SELECT clusters FROM row GROUP BY clusters ORDER BY count(*) DESC, min(part_id) LIMIT 1) AS k,
           (SELECT tau FROM row GROUP BY tau ORDER BY count(*) DESC, min(part_id) LIMIT 1) AS t),
drawn_ratio AS (
    SELECT 0 AS place, 'partitions' AS figure, 'partitions, in the order of the legend' AS x_name, part_id,
           1.0 + partition_id AS x, row.id, y FROM row JOIN usual WHERE clusters = k AND tau = t
    UNION ALL
    SELECT 1, 'clusters', 'k, the number of clusters', part_id, 1.0 * clusters, row.id, y FROM row JOIN usual
    WHERE tau = t AND (SELECT count(DISTINCT clusters) FROM row) > 1
    UNION ALL
    SELECT 2, 'tau', 'tau, the threshold of local ranks', part_id, tau, row.id, y FROM row JOIN usual
    WHERE clusters = k AND (SELECT count(DISTINCT tau) FROM row) > 1)
SELECT figure, data.panel, partition_label AS series, count(*) AS count, x, median(y) AS median,
       quantile(y, 0.1) AS p10, quantile(y, 0.9) AS p90, median_low(y, drawn_ratio.id) AS median_low,
       median_high(y, drawn_ratio.id) AS median_high, 'curve' AS _style, look AS _look, partition_id AS _order,
       x_name AS _x_name, k AS _k, t AS _tau
FROM drawn_ratio JOIN part USING (part_id) JOIN data USING (data_id) JOIN look_partition AS l ON l.spec = partition
JOIN usual
WHERE y IS NOT NULL GROUP BY place, data_id, partition_id, x ORDER BY place, data_id, partition_id, x;
