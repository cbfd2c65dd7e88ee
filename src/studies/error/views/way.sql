-- A way is a strategy, a pairing and factors, in the order of their first rows. Under a kernel of one set of points the
-- pairing says nothing: its rows belong to the way of their strategy and factors that comes first (leads), which has no
-- pairing where there is none under another kernel. usual_id: the pairing of most ways; NULL where all have one.
CREATE TEMP TABLE way AS
WITH found_way AS (
    SELECT strategy_id, factors_id, CASE WHEN one_set THEN NULL ELSE pairing_id END AS pairing_id, min(position)
        AS first
    FROM key JOIN component AS c ON c.kind = 'kernel' AND c.id = key.kernel_id WHERE opens GROUP BY 1, 2, 3),
ranked_way AS (
    SELECT *, row_number() OVER (PARTITION BY strategy_id, factors_id ORDER BY pairing_id IS NULL, first) AS place,
           max(CASE WHEN pairing_id IS NULL THEN first END) OVER (PARTITION BY strategy_id, factors_id) AS without
    FROM found_way),
numbered_way AS (
    SELECT row_number() OVER (ORDER BY CASE WHEN place = 1 THEN min(first, coalesce(without, first)) ELSE first END) - 1
           AS id, strategy_id, factors_id, pairing_id, place = 1 AS leads
    FROM ranked_way WHERE pairing_id IS NOT NULL OR place = 1),
usual_pairing AS (
    SELECT pairing_id AS usual_id FROM numbered_way WHERE pairing_id IS NOT NULL AND
        (SELECT count(DISTINCT pairing_id) FROM numbered_way) > 1
    GROUP BY pairing_id ORDER BY count(*) DESC, min(id) LIMIT 1)
SELECT n.*, s.spec AS strategy, p.spec AS pairing, f.spec AS factors, usual_id
FROM numbered_way AS n LEFT JOIN usual_pairing LEFT JOIN component AS s ON s.kind = 'strategy' AND s.id = strategy_id
LEFT JOIN component AS p ON p.kind = 'pairing' AND p.id = pairing_id
LEFT JOIN component AS f ON f.kind = 'factors' AND f.id = factors_id;
