-- What is best at equal time: of each family of layers, threads and n, and each share of the time of the fastest exact
-- attention beside it, the method of least error among those that are as fast, and the best of all other attentions
-- that are. Both are chosen for each source by the geometric mean of errors on all other sources, and judged on that
-- source. Named are those that are chosen for most sources; error and ratio are of what each source's others have
-- chosen.
-- needs: duel_at_time estimates:duel_of_passes
CREATE TEMP TABLE at_time AS
WITH vote AS (
    SELECT *, row_number() OVER (PARTITION BY family_id, threads, n, fraction, place ORDER BY chosen DESC, cell_id)
        AS rank
    FROM (SELECT family_id, threads, n, fraction, place, cell_id, times, count(*) AS chosen
          FROM best_at_time WHERE place <= 2 GROUP BY family_id, threads, n, fraction, place, cell_id)),
judged_duel AS (
    SELECT family_id, threads, n, exact_id, fraction, count(*) AS judges, geomean(errors) AS error,
           geomean(second_errors) AS second_error
    FROM duel_at_time GROUP BY family_id, threads, n, fraction)
SELECT j.*, f.cell_id, f.times, f.chosen, s.cell_id AS second_cell_id, s.times AS second_times,
       s.chosen AS second_chosen, ratio, d.sources, low, high
FROM judged_duel AS j JOIN vote AS f USING (family_id, threads, n, fraction)
LEFT JOIN vote AS s ON s.family_id = j.family_id AND s.threads = j.threads AND s.n = j.n AND s.fraction = j.fraction
    AND s.place = 2 AND s.rank = 1
LEFT JOIN duel_of_passes_estimate AS d ON d.family_id = j.family_id AND d.threads = j.threads AND d.n = j.n
    AND d.fraction = j.fraction
WHERE f.place = 1 AND f.rank = 1;
