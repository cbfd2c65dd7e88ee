-- The parts of a claim's rows (claims.c), by the values that they have in the columns of its `each`.

-- name: label
SELECT {label} FROM run WHERE id IN (SELECT id FROM temp.{rows}) ORDER BY number LIMIT 1;

-- name: parts
DROP TABLE IF EXISTS temp.claim_part;
CREATE TEMP TABLE claim_part (part INTEGER, id INTEGER, PRIMARY KEY (part, id)) WITHOUT ROWID;
INSERT INTO claim_part
SELECT dense_rank() OVER (ORDER BY first) - 1, id
FROM (SELECT id, min(number) OVER (PARTITION BY 0{keys}) AS first FROM run WHERE id IN (SELECT id FROM temp.{rows}));

-- name: count_parts
SELECT coalesce(max(part) + 1, 0) FROM claim_part;

-- name: take_part
DROP TABLE IF EXISTS temp.{rows};
CREATE TEMP TABLE {rows} (id INTEGER PRIMARY KEY);
INSERT INTO {rows} SELECT id FROM claim_part WHERE part = :part;
