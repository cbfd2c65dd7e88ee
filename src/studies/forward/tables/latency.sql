-- summary: time, memory and output error by layers, threads, n and attention
-- reference: none: medians over rounds, layers and trials
-- place: 1
-- file: latency.csv
-- needs: speedup refused:attention
-- heading: Time and memory of a pass over all heads
-- labels: 4
-- format: ms: %.4g
-- format: error: %.2g
-- cell: error: ({_trivial: %.2g})
-- cell: interval: {interval: %.3g} to {_high_ms: %.3g} | -
-- cell: workspace: {_workspace_mb: %.3g} MB | {workspace: %.3g} kB | -
-- cell: peak: {_peak_mb: %.3g} MB | {peak: %.3g} kB | -
-- paragraph: In the table:
-- word: ms: median over rounds, then over layers and trials
-- word: interval: the ends of all their 95 % intervals, or of the times where there are fewer than 6 rounds
-- word: fresh: a pass that chooses the landmarks that others keep
-- word: first: the first pass, with cold caches
-- word: error: of the outputs, against double precision; in brackets where it is not below that of the mean of V
-- word: front at n: yes: nothing of the same layers, threads and n is both as fast and as good
-- word: x NAME: times faster than that attention beside it in the same rounds
SELECT layers, threads, n, attention, rows, latency_s, low_s AS latency_low_s, high_s AS latency_high_s, first_s,
       fresh_s, amortized_s, workspace_bytes, peak_bytes, output_error,
       error_low AS output_error_low, error_high AS output_error_high, sources,
       coalesce(best, 0) AS front,
       'speedup_over_' || exact.label AS _across, times AS _cell
FROM cell LEFT JOIN front USING (cell_id) LEFT JOIN exact
LEFT JOIN speedup ON speedup.cell_id = cell.cell_id AND exact_id = exact.attention_id
ORDER BY family_id, threads, n, cell.attention_id, exact.attention_id;

WITH entry AS (
    SELECT cell_id, family_id, layers, threads, n, attention_id, attention_label FROM cell
    UNION ALL SELECT DISTINCT NULL, family_id, layers, threads, n, attention_id, attention_label FROM refused)
SELECT entry.layers, entry.threads, entry.n, entry.attention_label AS attention, 1e3 * latency_s AS ms,
       1e3 * low_s AS interval, 1e3 * high_s AS _high_ms,
       CASE WHEN fresh_s > latency_s THEN 1e3 * fresh_s END AS "fresh ms", 1e3 * first_s AS "first ms",
       workspace_bytes / 1e3 AS workspace, CASE WHEN workspace_bytes >= 1e6 THEN workspace_bytes / 1e6 END
           AS _workspace_mb,
       peak_bytes / 1e3 AS peak, CASE WHEN peak_bytes >= 1e6 THEN peak_bytes / 1e6 END AS _peak_mb,
       output_error AS error, CASE WHEN output_error >= baseline_mean THEN output_error END AS _trivial,
       CASE WHEN amortized_s IS NOT NULL THEN CASE best WHEN 1 THEN 'yes' WHEN 0 THEN 'no' ELSE '-' END END
           AS "front at n",
       'x ' || exact.label AS _across, times AS _cell
FROM entry LEFT JOIN cell USING (cell_id) LEFT JOIN front USING (cell_id) LEFT JOIN exact
LEFT JOIN speedup ON speedup.cell_id = entry.cell_id AND exact_id = exact.attention_id
WHERE EXISTS (SELECT 1 FROM cell WHERE latency_s IS NOT NULL)
ORDER BY entry.family_id, entry.threads, entry.n, entry.attention_id, exact.attention_id;

-- heading: Errors of the outputs of a pass over all heads
-- labels: 4
-- format: error: %.2g
-- cell: error: ({_trivial: %.2g})
-- paragraph: In the table:
-- word: error: of the outputs, against double precision; in brackets where it is not below that of the mean of V
-- note: -: no row has a result
WITH entry AS (
    SELECT cell_id, family_id, layers, threads, n, attention_id, attention_label FROM cell
    UNION ALL SELECT DISTINCT NULL, family_id, layers, threads, n, attention_id, attention_label FROM refused)
SELECT entry.layers, entry.threads, entry.n, entry.attention_label AS attention,
       output_error AS error, CASE WHEN output_error >= baseline_mean THEN output_error END AS _trivial, cell.sources
FROM entry LEFT JOIN cell USING (cell_id)
WHERE NOT EXISTS (SELECT 1 FROM cell WHERE latency_s IS NOT NULL)
ORDER BY entry.family_id, entry.threads, entry.n, entry.attention_id;

SELECT 'Front and x take amortized_s, which has its share of fresh passes.' AS remark
WHERE EXISTS (SELECT 1 FROM cell WHERE latency_s IS NOT NULL);

SELECT 'Not compared with ' || exact.label || ': ' || listed(c.label, c.id) || ': '
       || refusal_told(refusal, 'it', exact.label) || '.' AS item
FROM refused_attention JOIN exact ON attention_id = b JOIN component AS c ON c.kind = 'attention' AND c.id = a
WHERE refusal LIKE '%build' AND a IN (SELECT attention_id FROM cell WHERE amortized_s IS NOT NULL)
GROUP BY b, refusal ORDER BY b, refusal;

SELECT 'Refused: ' || listed(attention_label, attention_id) || ': ' || reason || '.' AS item
FROM (SELECT DISTINCT attention_id, attention_label, reason FROM refused
      WHERE attention_id IN (SELECT attention_id FROM cell))
GROUP BY reason ORDER BY min(attention_id), reason;
