-- A family of layers is what stays the same while n grows: where the data come from, heads, dimensions, mask, caches. A
-- cell is what one line is of: a family, threads, n and an attention, with medians over layers, sources and trials, of
-- rows that are ok. Families and cells are numbered by the position of their first row.
CREATE TEMP TABLE laid_out AS
    SELECT run.*, CASE WHEN model IS NULL THEN coalesce(
               (SELECT rest_label FROM option WHERE kind = 'problem' AND option.id = problem_id AND size
                ORDER BY place LIMIT 1), problem_label) ELSE stratum.label END
           || ', ' || heads || CASE heads WHEN 1 THEN ' head' ELSE ' heads' END
           || CASE WHEN key_heads < heads THEN ', ' || CAST(key_heads AS INTEGER) || ' of K and V' ELSE '' END
           || ', d = ' || d || CASE WHEN dv <> d THEN ', dv = ' || CAST(dv AS INTEGER) ELSE '' END
           || CASE WHEN causal > 0 THEN ', causal' ELSE '' END
           || CASE cold WHEN 'true' THEN ', cold caches' ELSE '' END AS layers,
           threads || CASE threads WHEN 1 THEN ' thread' ELSE ' threads' END AS team
    FROM run JOIN stratum ON stratum.id = stratum_id;

CREATE TEMP TABLE pass AS
SELECT *, min(position) OVER (PARTITION BY layers) AS family_id,
       min(position) OVER (PARTITION BY layers, threads, n, attention_id) AS cell_id
FROM laid_out WHERE status = 'ok';

CREATE TEMP TABLE cell AS
SELECT cell_id, family_id, layers, threads, team, n, attention_id, attention, attention_label,
       count(*) AS rows, median(latency_s) AS latency_s,
       CASE WHEN count(*) > 1 OR count(latency_low_s) THEN min(coalesce(latency_low_s, latency_s)) END AS low_s,
       CASE WHEN count(*) > 1 OR count(latency_low_s) THEN max(coalesce(latency_high_s, latency_s)) END AS high_s,
       median(amortized_s) AS amortized_s, median(fresh_s) AS fresh_s, median(first_s) AS first_s,
       median(workspace_bytes) AS workspace_bytes, median(peak_bytes) AS peak_bytes,
       median(output_error) AS output_error, median_low(output_error, source_id) AS error_low,
       median_high(output_error, source_id) AS error_high,
       count(DISTINCT CASE WHEN output_error IS NOT NULL THEN source_id END) AS sources, median(baseline_mean)
           AS baseline_mean, median(landmarks) AS landmarks
FROM pass GROUP BY cell_id;
CREATE UNIQUE INDEX cells ON cell (family_id, threads, n, attention_id);

-- Those that figures against n show.
CREATE TEMP TABLE growing AS
SELECT family_id FROM cell GROUP BY family_id, threads HAVING count(DISTINCT n) > 1;

-- Exact attentions, which speed-ups are over.
CREATE TEMP TABLE exact AS
SELECT id AS attention_id, label FROM component
WHERE kind = 'attention' AND exact AND id IN (SELECT attention_id FROM key);

-- What would be cells, had the attention not refused these layers.
CREATE TEMP TABLE refused AS
SELECT coalesce((SELECT min(family_id) FROM cell WHERE cell.layers = laid.layers), 1e9) AS family_id, layers, threads,
       n, attention_id, attention_label, reason
FROM laid_out AS laid
WHERE status = 'skipped' AND NOT EXISTS (SELECT 1 FROM cell WHERE cell.layers = laid.layers AND
      cell.threads = laid.threads AND cell.n = laid.n AND cell.attention_id = laid.attention_id)
GROUP BY layers, threads, n, attention_id, attention_label, reason;
