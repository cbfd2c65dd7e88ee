-- What a comparison asks of the rows beside its pairs (compare.h).

-- The values that have a result that is more than rounding.
-- name: measured
SELECT DISTINCT {by} FROM run WHERE status = 'ok' AND {metric} IS NOT NULL AND NOT coalesce({exact}, 0);

-- name: without_result
SELECT {by} FROM run GROUP BY 1 HAVING count({metric}) = 0;

-- name: any_result
SELECT 1 FROM run WHERE {metric} IS NOT NULL LIMIT 1;

-- By setting, the number of the pooled one that it is of.
-- name: wholes
SELECT dense_rank() OVER (ORDER BY min(scope)) - 1 FROM agreed WHERE question = :question GROUP BY setting
ORDER BY setting;
