-- What is best at equal time: of each family of layers, threads and n, and each share of the time of the fastest exact
-- attention beside it, the method of least error among those that are as fast, and the best of all other attentions
-- that are. Both are chosen for each source by the geometric mean of errors on all other sources, and judged on that
-- source. Named are those that are chosen for most sources; error and ratio are of what each source's others have
-- chosen.
-- needs: speedup
CREATE TEMP TABLE at_time AS
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
    GROUP BY result.cell_id, result.source_id),
best AS ( -- of each attention, for each source
    SELECT *, row_number() OVER (PARTITION BY family_id, threads, n, fraction, source_id ORDER BY others, cell_id)
        AS place
    FROM (SELECT *, row_number() OVER (
              PARTITION BY family_id, threads, n, fraction, source_id, name ORDER BY others, cell_id) AS own
          FROM method JOIN outside_error USING (cell_id) JOIN budget ON times >= fraction)
    WHERE own = 1),
duel AS ( -- for each source
    SELECT f.*, s.cell_id AS second_cell_id, s.errors AS second_errors
    FROM best AS f LEFT JOIN best AS s ON s.place = 2 AND s.family_id = f.family_id AND s.threads = f.threads
        AND s.n = f.n AND s.fraction = f.fraction AND s.source_id = f.source_id
    WHERE f.place = 1),
vote AS (
    SELECT *, row_number() OVER (PARTITION BY family_id, threads, n, fraction, place ORDER BY chosen DESC, cell_id)
        AS rank
    FROM (SELECT family_id, threads, n, fraction, place, cell_id, times, count(*) AS chosen
          FROM best WHERE place <= 2 GROUP BY family_id, threads, n, fraction, place, cell_id)),
duel_ratio AS (
    SELECT duel.family_id, duel.threads, duel.n, fraction,
           ratio_of(s.output_error, f.output_error, 0, 0, 0, 0, f.stratum_id, f.source_id, f.head_id, f.trial,
                    f.draws OR s.draws) AS e
    FROM duel JOIN pass AS f ON f.cell_id = duel.cell_id AND f.source_id = duel.source_id
    JOIN pass AS s ON s.cell_id = second_cell_id AND s.head_id = f.head_id AND s.heads = f.heads
        AND s.trial = f.trial AND s.cold_id = f.cold_id AND s.quality_id = f.quality_id
        AND s.quality_rows_id = f.quality_rows_id
    GROUP BY duel.family_id, duel.threads, duel.n, fraction),
judged_duel AS (
    SELECT family_id, threads, n, exact_id, fraction, count(*) AS judges, geomean(errors) AS error,
           geomean(second_errors) AS second_error
    FROM duel GROUP BY family_id, threads, n, fraction)
SELECT j.*, f.cell_id, f.times, f.chosen, s.cell_id AS second_cell_id, s.times AS second_times,
       s.chosen AS second_chosen, ratio(e) AS ratio, sources(e) AS sources,
       ratio_low(e) AS low, ratio_high(e) AS high
FROM judged_duel AS j JOIN vote AS f USING (family_id, threads, n, fraction)
LEFT JOIN vote AS s ON s.family_id = j.family_id AND s.threads = j.threads AND s.n = j.n AND s.fraction = j.fraction
    AND s.place = 2 AND s.rank = 1
LEFT JOIN duel_ratio AS d ON d.family_id = j.family_id AND d.threads = j.threads AND d.n = j.n
    AND d.fraction = j.fraction
WHERE f.place = 1 AND f.rank = 1;
