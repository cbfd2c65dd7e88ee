-- Spearman's rank correlation of two metrics, means over trials, in each group of rows, over the values of a column: of
-- three or more that have both. A group that has fewer rows from the start has no value and lacks none.
WITH per_value AS (
    SELECT stratum_id, source_id, head_id, group_id, at, mean(CASE series WHEN 1 THEN x END) AS x,
           mean(CASE series WHEN 2 THEN x END) AS y, min(series) < max(series) AS both, max(noise) AS noise
    FROM claim_point GROUP BY group_id, at),
per_group AS (
    SELECT stratum_id AS stratum, source_id AS source, head_id AS head, group_id, max(noise) AS noise,
           CASE WHEN count(CASE WHEN y IS NOT NULL THEN x END) > 2
                THEN spearman(CASE WHEN y IS NOT NULL THEN x END, y) END AS value
    FROM per_value GROUP BY group_id HAVING count(CASE WHEN both THEN 1 END) > 2)
SELECT stratum, source, head, group_id, value FROM per_group WHERE value IS NOT NULL OR NOT noise;
