-- summary: shares of a pass as stacked bars, a bar for each attention
-- reference: none: medians over layers and trials
-- needs: share
-- script: bars.gp
-- title: what a pass spends its time on, {figure}
-- data: _number begin_percent end_percent _ms
-- set: x_name % of the pass with the median time
WITH edge AS (
    SELECT cell_id, 1 AS number, 'landmarks' AS part, 0.0 AS low, 100 * landmarks AS high FROM share UNION ALL
    SELECT cell_id, 2, 'core A, X', 100 * landmarks, 100 * landmarks + 100 * core FROM share UNION ALL
    SELECT cell_id, 3, 'keys B V', 100 * landmarks + 100 * core, 100 * landmarks + 100 * core + 100 * b FROM share
    UNION ALL
    SELECT cell_id, 4, 'queries F', 100 * landmarks + 100 * core + 100 * b,
           100 * landmarks + 100 * core + 100 * b + 100 * f FROM share UNION ALL
    SELECT cell_id, 5, 'output', 100 * landmarks + 100 * core + 100 * b + 100 * f,
           100 * landmarks + 100 * core + 100 * b + 100 * f + 100 * output FROM share UNION ALL
    SELECT cell_id, 6, 'rest', 100 * landmarks + 100 * core + 100 * b + 100 * f + 100 * output, 100.0 FROM share),
largest AS (SELECT *, max(n) OVER (PARTITION BY family_id, threads) AS most FROM cell)
SELECT team AS figure, layers || ', n = ' || n AS panel, attention, latency_s, part, min(low, 100.0) AS begin_percent,
       min(high, 100.0) AS end_percent, number AS _number, 1e3 * latency_s AS _ms, attention_label AS _series,
       attention_id AS _order
FROM largest JOIN edge USING (cell_id) WHERE n = most ORDER BY threads, family_id, attention_id, number;
