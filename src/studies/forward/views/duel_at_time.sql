-- Attentions at equal time (at_time.sql), of each source: the best of each name, by the errors on all other sources,
-- and the pairs of the first and the second, where the two are compared (speedup.sql). The two differ from source to
-- source, so that no question of pairs.sql has them.
-- needs: speedup
CREATE TEMP TABLE best_at_time AS
WITH budget AS (SELECT column1 AS fraction FROM (VALUES (50), (25), (15), (8), (3))),
fastest AS (
    SELECT family_id, threads, n, attention_id AS exact_id, min(amortized_s) FROM cell
    WHERE attention_id IN (SELECT attention_id FROM exact) GROUP BY family_id, threads, n),
method AS (
    SELECT cell.family_id, cell.threads, cell.n, cell_id, exact_id, component.name, times
    FROM cell JOIN component ON component.kind = 'attention' AND component.id = attention_id
    JOIN fastest USING (family_id, threads, n) JOIN speedup USING (cell_id, exact_id)
    WHERE NOT component.exact AND NOT component.oracle),
result AS ( -- of each source
    SELECT cell_id, source_id, list(max(output_error, 1e-300)) AS errors
    FROM pass WHERE output_error < 9e999 GROUP BY cell_id, source_id),
outside_error AS (
    SELECT result.*, geomean(other.errors) AS others
    FROM result JOIN result AS other ON other.cell_id = result.cell_id AND other.source_id <> result.source_id
    GROUP BY result.cell_id, result.source_id)
SELECT *, row_number() OVER (PARTITION BY family_id, threads, n, fraction, source_id ORDER BY others, cell_id)
    AS place
FROM (SELECT *, row_number() OVER (
          PARTITION BY family_id, threads, n, fraction, source_id, name ORDER BY others, cell_id) AS own
      FROM method JOIN outside_error USING (cell_id) JOIN budget ON times >= fraction)
WHERE own = 1;

CREATE TEMP TABLE duel_at_time AS
SELECT f.*, s.cell_id AS second_cell_id, s.errors AS second_errors
FROM best_at_time AS f LEFT JOIN best_at_time AS s ON s.place = 2 AND s.family_id = f.family_id
    AND s.threads = f.threads AND s.n = f.n AND s.fraction = f.fraction AND s.source_id = f.source_id
WHERE f.place = 1;

CREATE TEMP VIEW duel_of_passes AS
SELECT duel.family_id, duel.threads, duel.n, fraction, s.output_error AS x, f.output_error AS y, 0 AS noise_x,
       0 AS noise_y, 0 AS se_x, 0 AS se_y, f.stratum_id, f.source_id, f.head_id, f.trial, f.draws OR s.draws AS draws
FROM duel_at_time AS duel JOIN pass AS f ON f.cell_id = duel.cell_id AND f.source_id = duel.source_id
JOIN pass AS s ON s.cell_id = second_cell_id AND s.head_id = f.head_id AND s.heads = f.heads
    AND s.trial = f.trial AND s.cold_id = f.cold_id AND s.quality_id = f.quality_id
    AND s.quality_rows_id = f.quality_rows_id
WHERE (duel.cell_id, second_cell_id) IN compared;
