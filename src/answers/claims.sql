-- The parts of a claim's rows (claims.c), by the values that they have in the columns of its `each`.

-- name: label
SELECT {label} FROM run WHERE {part} ORDER BY number LIMIT 1;

-- name: parts
DROP TABLE IF EXISTS temp.claim_part;
CREATE TEMP TABLE claim_part (part INTEGER, id INTEGER, PRIMARY KEY (part, id)) WITHOUT ROWID;
INSERT INTO claim_part
SELECT dense_rank() OVER (ORDER BY first) - 1, id
FROM (SELECT id, min(number) OVER (PARTITION BY {keys}) AS first FROM run WHERE {among});

-- name: count_parts
SELECT coalesce(max(part) + 1, 0) FROM claim_part;

-- A condition on rows.
-- name: is_of_part
id IN (SELECT id FROM claim_part WHERE part = {part})
