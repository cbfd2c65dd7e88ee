-- A variant is one way to pick landmarks and to form factors. Under a kernel of one set of points the pairing says
-- nothing: its rows belong to the variant of their strategy and factors that comes first. look: the number of its colour,
-- point and dash, from 0: of a strategy's first variant the strategy's place in the run, of the next ones 1000 more each;
-- behind the fourth, numbers that no strategy has.
CREATE TEMP TABLE way AS
SELECT strategy_id, factors_id, CASE WHEN one_set THEN NULL ELSE pairing_id END AS pairing_id, min(position) AS first
FROM key JOIN panel ON panel.id = panel_id JOIN component AS c ON c.kind = 'kernel' AND c.id = key.kernel_id
WHERE opens GROUP BY 1, 2, 3;

CREATE TEMP TABLE variant AS
WITH ranked AS (
    SELECT *, row_number() OVER (PARTITION BY strategy_id, factors_id ORDER BY pairing_id IS NULL, first) AS place,
           max(CASE WHEN pairing_id IS NULL THEN first END) OVER (PARTITION BY strategy_id, factors_id) AS without
    FROM way),
per_way AS (
    SELECT row_number() OVER (ORDER BY CASE WHEN place = 1 THEN min(first, coalesce(without, first)) ELSE first END) - 1
           AS id, strategy_id, factors_id, pairing_id, place = 1 AS leads
    FROM ranked WHERE pairing_id IS NOT NULL OR place = 1),
usual AS ( -- the pairing of most; where all have one, there is none
    SELECT pairing_id AS usual_id FROM per_way WHERE pairing_id IS NOT NULL AND
        (SELECT count(DISTINCT pairing_id) FROM per_way) > 1
    GROUP BY pairing_id ORDER BY count(*) DESC, min(id) LIMIT 1),
led AS (
    SELECT id, strategy_id, min(id) OVER (PARTITION BY strategy_id) AS leader, row_number() OVER (
               PARTITION BY strategy_id ORDER BY pairing_id IS NOT NULL AND pairing_id <> usual_id, id) - 1 AS nth
    FROM per_way LEFT JOIN usual),
looked AS (
    SELECT id, CASE WHEN nth < 4 THEN 1000 * nth + dense_rank() OVER (ORDER BY leader) - 1
               ELSE (SELECT count(DISTINCT strategy_id) FROM per_way) + count(CASE WHEN nth >= 4 THEN 1 END) OVER (ORDER BY id) - 1
               END AS look
    FROM led)
SELECT per_way.*, look, s.spec AS strategy, p.spec AS pairing, f.spec AS factors, s.label AS name, s.oracle,
       (SELECT spec FROM component WHERE kind = 'pairing' AND id = usual_id) AS usual,
       s.label || CASE WHEN s.oracle THEN ', oracle' ELSE '' END
       || CASE WHEN usual_id IS NOT NULL AND pairing_id IS NOT NULL AND (pairing_id <> usual_id OR EXISTS (
            SELECT 1 FROM per_way AS o WHERE o.strategy_id = per_way.strategy_id AND o.pairing_id <> per_way.pairing_id))
          THEN ', ' || p.spec
          WHEN EXISTS (SELECT 1 FROM per_way AS o WHERE o.strategy_id = per_way.strategy_id AND o.pairing_id <> per_way.pairing_id)
          THEN ', ' || p.spec ELSE '' END
       || CASE WHEN EXISTS (SELECT 1 FROM per_way AS o WHERE o.factors_id <> per_way.factors_id) THEN ', ' || f.spec ELSE '' END
       AS label
FROM per_way JOIN looked USING (id) LEFT JOIN usual LEFT JOIN component AS s ON s.kind = 'strategy' AND s.id = strategy_id
LEFT JOIN component AS p ON p.kind = 'pairing' AND p.id = pairing_id
LEFT JOIN component AS f ON f.kind = 'factors' AND f.id = factors_id
ORDER BY per_way.id;
CREATE INDEX variants ON variant (strategy_id, factors_id, pairing_id);
