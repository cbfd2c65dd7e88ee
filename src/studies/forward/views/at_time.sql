-- What is best at equal time: of each family of layers, threads and n, and each share of the time of the fastest exact
-- attention beside it, the method of least error, a geometric mean over its rows, among those that are as fast; the best
-- of all other attentions that are; and how many times its error is that of the first, with an interval over sources.
-- needs: speedup
CREATE TEMP TABLE at_time AS
WITH budget AS (SELECT column1 AS fraction FROM (VALUES (50), (25), (15), (8), (3))),
fastest AS (
    SELECT family_id, threads, n, attention_id AS exact_id, min(amortized_s) FROM cell
    WHERE attention_id IN (SELECT attention_id FROM exact) GROUP BY family_id, threads, n),
method AS (
    SELECT pass.family_id, pass.threads, pass.n, cell_id, exact_id, component.name, times,
           geomean(output_error) AS error
    FROM pass JOIN component ON component.kind = 'attention' AND component.id = attention_id
    JOIN fastest ON fastest.family_id = pass.family_id AND fastest.threads = pass.threads AND fastest.n = pass.n
    JOIN speedup USING (cell_id, exact_id)
    WHERE NOT component.exact AND NOT component.oracle AND output_error < 9e999 GROUP BY cell_id),
best AS ( -- of each attention
    SELECT *, row_number() OVER (PARTITION BY family_id, threads, n, fraction ORDER BY error, cell_id) AS place
    FROM (SELECT *, row_number() OVER (PARTITION BY family_id, threads, n, fraction, name ORDER BY error, cell_id) AS own
          FROM method JOIN budget ON times >= fraction)
    WHERE own = 1),
duel AS (
    SELECT f.*, s.cell_id AS second_cell_id, s.times AS second_times, s.error AS second_error
    FROM best AS f LEFT JOIN best AS s ON s.place = 2 AND s.family_id = f.family_id AND s.threads = f.threads
        AND s.n = f.n AND s.fraction = f.fraction
    WHERE f.place = 1),
met AS (
    SELECT duel.cell_id, second_cell_id, ratio_of(s.output_error, f.output_error, 0, 0, 0, 0, f.stratum_id, f.source_id,
                                                  f.head_id, f.trial, f.draws OR s.draws) AS e
    FROM (SELECT DISTINCT cell_id, second_cell_id FROM duel WHERE second_cell_id IS NOT NULL) AS duel
    JOIN pass AS f ON f.cell_id = duel.cell_id
    JOIN pass AS s ON s.cell_id = second_cell_id AND s.head_id = f.head_id AND s.heads = f.heads
        AND s.trial = f.trial AND s.cold_id = f.cold_id AND s.quality_id = f.quality_id
        AND s.quality_rows_id = f.quality_rows_id
    GROUP BY duel.cell_id, second_cell_id)
SELECT duel.family_id, duel.threads, duel.n, exact_id, fraction, cell_id, times, error, second_cell_id, second_times,
       second_error, ratio(e) AS ratio, sources(e) AS sources, CASE WHEN sources(e) >= 6 THEN exp(finite(low(e))) END AS low,
       CASE WHEN sources(e) >= 6 THEN exp(finite(high(e))) END AS high
FROM duel LEFT JOIN met USING (cell_id, second_cell_id);
