-- summary: shares of a pass: landmarks, core, what is made of the keys and of the queries
-- reference: none: medians over layers and trials
-- file: parts.csv
-- needs: share
-- heading: What a pass spends its time on, of its median
-- labels: 4
-- format: ms: %.4g
-- format: landmarks %: %.0f
-- format: core %: %.0f
-- format: B %: %.0f
-- format: F %: %.0f
-- format: output %: %.0f
-- format: rest %: %.0f
SELECT layers, threads, n, attention, latency_s, share.landmarks, core, b, f, output, rest
FROM cell JOIN share USING (cell_id) ORDER BY family_id, threads, n, attention_id;

SELECT layers, threads, n, attention_label AS attention, 1e3 * latency_s AS ms,
       100 * share.landmarks AS "landmarks %", 100 * core AS "core %", 100 * b AS "B %", 100 * f AS "F %",
       100 * output AS "output %", 100 * rest AS "rest %"
FROM cell JOIN share USING (cell_id) ORDER BY family_id, threads, n, attention_id;
