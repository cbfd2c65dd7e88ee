-- summary: from which n on an attention is faster than another one
-- reference: none: interpolation on logarithms
-- place: 3
-- file: crossovers.csv
-- needs: crossover
-- heading: Where one attention overtakes another one
-- labels: 4
-- holds: Lines between the medians at two neighbouring n, both axes logarithmic: from that n on it is faster, up to the
--   last.
SELECT layers, threads, spec AS attention, of_spec AS baseline, n_from, n_to, n_crossing, first AS speedup_first,
       last AS speedup_last
FROM crossover ORDER BY family_id, threads, a_id, b_id;

SELECT layers, threads, label AS attention, of_label AS "faster than", n_from AS "from n", n_to AS "to n",
       CASE WHEN n_crossing IS NULL THEN 'not up to ' || n_to
            WHEN n_crossing = n_from THEN 'always, from ' || n_from
            ELSE 'from ' || CAST(round(n_crossing) AS INTEGER) END AS "at n", first AS "x at first", last AS "x at last"
FROM crossover ORDER BY family_id, threads, a_id, b_id;
