-- labels: 1
-- format: said in: %s
WITH part AS (
    SELECT DISTINCT claim, group_concat(coalesce(name || ': ', '') || quantity || ' ' || found, '; ') OVER (
        PARTITION BY claim ORDER BY number ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS found
    FROM told WHERE row = 'part' OR (row = 'claim' AND parts = 0))
SELECT says AS claim, source AS "said in", quantity || ' ' || expected AS expected, part.found, units,
       CASE WHEN finite(slack) IS NULL THEN '' ELSE numeral(slack) END AS slack,
       marked || CASE note WHEN '' THEN '' ELSE ': ' || coalesce(name || ': ', '') || note END AS verdict
FROM told JOIN part USING (claim) WHERE row = 'claim' AND untested IS NULL ORDER BY number;

SELECT 'Not tested:' AS paragraph FROM told WHERE row = 'claim' AND verdict = 'untested' LIMIT 1;

SELECT says || CASE source WHEN '' THEN '' ELSE ' (' || source || ')' END || ': ' || untested AS item
FROM told WHERE row = 'claim' AND untested IS NOT NULL ORDER BY number;
