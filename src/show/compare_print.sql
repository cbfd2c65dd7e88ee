-- What is told beside a comparison of the rows themselves (compare_print.c).

-- name: data
SELECT min(n), max(n), max(trials) FROM panel;

-- name: draws
SELECT EXISTS (SELECT 1 FROM key WHERE draws);

-- name: without
SELECT text FROM without WHERE kind = :by;

-- name: disturbed
SELECT count(*), count(CASE WHEN {disturbed} THEN 1 END) FROM run
WHERE status = 'ok' AND {metric} IS NOT NULL AND ({where});

-- Of each value, setting and stratum, and over strata (-1), the geometric mean of an error, and whether all are exact.
-- name: errors
WITH code AS (SELECT value, dense_rank() OVER (ORDER BY min(number)) - 1 AS at FROM agreed WHERE question = :question
              GROUP BY value),
line AS (SELECT DISTINCT line_id, code.at AS value, dense_rank() OVER (ORDER BY {grouped}) - 1 AS setting
         FROM agreed JOIN code USING (value) WHERE question = :question)
SELECT value, setting, part.id, geomean({error}), min(coalesce({exact_row}, 0))
FROM line JOIN run USING (line_id)
JOIN (SELECT -1 AS id UNION ALL SELECT id FROM stratum WHERE :by_model) AS part ON part.id IN (-1, run.stratum_id)
WHERE status = 'ok' AND {error} IS NOT NULL AND ({where}) GROUP BY value, setting, part.id;

-- Methods of which most rows are no better than equal weights for all tokens.
-- name: trivial
WITH result AS MATERIALIZED (
    SELECT {by_id} AS id, {error} >= {trivial} AS worse FROM run
    WHERE status = 'ok' AND {error} IS NOT NULL AND ({where}))
SELECT listed(label || ' (' || worse || ' of ' || results || ' rows)', id)
FROM (SELECT id, count(*) AS results, count(CASE WHEN worse THEN 1 END) AS worse FROM result GROUP BY id)
JOIN component USING (id) WHERE kind = :by AND 2 * worse > results HAVING count(*) > 0;
