-- The heads of a model (contrast.h), whichever source they are seen on: heads that have one layer and number.

-- name: places
CREATE TEMP TABLE place AS
WITH per_head AS (SELECT head_id, min(number) AS number, id FROM stretch GROUP BY head_id),
shared_problem AS (SELECT problem_id FROM stretch GROUP BY problem_id HAVING count(DISTINCT source_id) > 1),
named AS (
    SELECT per_head.head_id, per_head.number, model, layer,
           CASE WHEN problem_id IN (SELECT * FROM shared_problem)
               THEN dense_rank() OVER (PARTITION BY problem_id, source_id ORDER BY run.head) - 1
               ELSE run.head END AS head
    FROM per_head JOIN run ON run.id = per_head.id),
placed AS (SELECT *, min(number) OVER (PARTITION BY model, layer, head) AS first FROM named)
SELECT head_id, dense_rank() OVER (ORDER BY first) - 1 AS id, head, layer FROM placed ORDER BY head_id;

-- name: of_heads
SELECT id FROM place ORDER BY head_id;

-- name: items
SELECT head, layer FROM place GROUP BY id ORDER BY id;
