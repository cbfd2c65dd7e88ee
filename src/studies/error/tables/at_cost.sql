-- summary: the least error that each strategy reaches for a share of exact attention's flops
-- reference: none: medians over heads and trials
-- needs: budget
-- exists: affordable
-- heading: The least median error of a forward pass of at most that share of exact attention's flops
-- labels: 1
-- paragraph: In the tables:
-- note: -: no number of landmarks in the run is that cheap
SELECT panel.title AS panel, panel.problem, panel.kernel, v.label, v.strategy, v.pairing, v.factors, core.spec AS core,
       at_most, landmarks, of_exact, count, median
FROM budget JOIN panel ON panel.id = panel_id JOIN variant AS v ON v.id = variant_id
JOIN component AS core ON core.kind = 'core' AND core.id = core_id
WHERE landmarks IS NOT NULL ORDER BY panel_id, core_id, variant_id, at_most;

WITH budget_line AS (
    SELECT panel_id, core_id, variant_id, max(CASE WHEN at_most = 0.05 THEN median END) AS e5,
           max(CASE WHEN at_most = 0.05 THEN landmarks END) AS m5, max(CASE WHEN at_most = 0.1 THEN median END) AS e10,
           max(CASE WHEN at_most = 0.1 THEN landmarks END) AS m10, max(CASE WHEN at_most = 0.2 THEN median END) AS e20,
           max(CASE WHEN at_most = 0.2 THEN landmarks END) AS m20, max(CASE WHEN at_most = 0.5 THEN median END) AS e50,
           max(CASE WHEN at_most = 0.5 THEN landmarks END) AS m50
    FROM budget GROUP BY panel_id, core_id, variant_id)
SELECT panel.items AS _part, 'n = ' || n || ', d = ' || d || ', ' || core.full AS _about, v.label AS strategy,
       e5 AS "at 5 %", m5 AS m, e10 AS "10 %", m10 AS m, e20 AS "20 %", m20 AS m, e50 AS "50 %", m50 AS m
FROM budget_line JOIN panel ON panel.id = panel_id JOIN variant AS v ON v.id = variant_id
JOIN component AS core ON core.kind = 'core' AND core.id = core_id
ORDER BY panel_id, core_id, variant_id;

SELECT 'Strategies and cores without a count have no line.' AS remark;
