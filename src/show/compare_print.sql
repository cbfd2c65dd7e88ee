-- What is told beside a comparison (compare_print.c): of the rows themselves, of the sides of its pairs, and the mean
-- error that stands beside a time.

-- name: data
SELECT min(n), max(n), max(trials) FROM panel;

-- name: draws
SELECT EXISTS (SELECT 1 FROM key WHERE draws);

-- name: without
SELECT text FROM without WHERE kind = :by;

-- name: disturbed
SELECT count(DISTINCT id), count(DISTINCT CASE WHEN disturbed THEN id END) FROM side
WHERE question = :question AND x IS NOT NULL;

-- Of each value, setting and stratum, and over strata (-1), the geometric mean of an error, and whether all are exact:
-- what stands beside a time where both are shown together.
-- name: errors
WITH code AS (SELECT value, dense_rank() OVER (ORDER BY min(number)) - 1 AS code FROM agreed
              WHERE question = :question GROUP BY value),
numbered AS (SELECT setting, dense_rank() OVER (ORDER BY CASE WHEN :pooled THEN scope ELSE setting END) - 1 AS number
             FROM agreed WHERE question = :question GROUP BY setting),
result AS (SELECT DISTINCT id, code, number, stratum_id, x, exact
           FROM side JOIN code USING (value) JOIN numbered USING (setting) WHERE question = :question AND x IS NOT NULL)
SELECT code, number, part.id, geomean(x), min(exact)
FROM result JOIN (SELECT -1 AS id UNION ALL SELECT id FROM stratum WHERE :by_model) AS part
    ON part.id IN (-1, stratum_id)
GROUP BY code, number, part.id;
