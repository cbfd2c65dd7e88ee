-- The numbers of colours, points and dashes, from 0 (plots/looks.gp), by specs: those of the whole run, whichever of
-- its rows are kept. A strategy's first way has the strategy's place in the run, the next ones 1000 more each; ways
-- behind the fourth have numbers that no strategy has. A core has its own, and a sweep that of its leader: first sweeps
-- and cores that are in none, then the others.
-- needs: way swept
CREATE TEMP TABLE look_way AS
WITH led AS (
    SELECT *, min(id) OVER (PARTITION BY strategy_id) AS leader, row_number() OVER (
               PARTITION BY strategy_id ORDER BY pairing_id IS NOT NULL AND pairing_id <> usual_id, id) - 1 AS nth
    FROM way)
SELECT strategy, factors, pairing, leads, CASE WHEN nth < 4 THEN 1000 * nth + dense_rank() OVER (ORDER BY leader) - 1
       ELSE (SELECT count(DISTINCT strategy_id) FROM way) + count(CASE WHEN nth >= 4 THEN 1 END) OVER (ORDER BY id) - 1
       END AS look
FROM led;

CREATE TEMP TABLE look_core AS
WITH numbered AS (
    SELECT *, row_number() OVER (ORDER BY id <> leader_id, CASE WHEN id = leader_id THEN first ELSE place END) - 1
        AS own
    FROM swept)
SELECT n.spec, n.own, n.option, leader.own AS look
FROM numbered AS n JOIN numbered AS leader ON leader.id = n.leader_id;
