-- summary: how far each core is above the best one on the same landmarks, by number of landmarks
-- reference: none: the best core is the projection; see 'nysbench describe best'
-- place: 3
-- needs: core_above
-- exists: measured_core
-- flags: all_choices oracle
SELECT spec AS core, landmarks, count, complete AS all_choices, oracle, above, p10, p90, core_s
FROM core_above JOIN core ON core.id = core_id
WHERE (SELECT count(DISTINCT core_id) FROM core_above WHERE count > 0) > 1
ORDER BY place, landmarks;

-- heading: Cores, % above the best one on the same landmarks
-- holds: 100 (error / subspace part - 1): medians over problems, strategies with their pairing and factors, heads and
--   trials; core_s: median seconds at the core's largest m.
-- note: *: better than the next of its column, by the verdict of 'nysbench compare' on cores, corrected for all that
--   may have a star here; of cores that were measured on all choices of landmarks of the column, oracles aside. It
--   takes 6 sources or more: each input of a file is one; where data are drawn, each trial is one
-- note: !: not measured on all of them: not planned, skipped or missing
-- note: -: measured on none, or the subspace part is rounding noise
-- word: blank: not planned
-- needs: nearest_core estimates:nearest_core
WITH part AS (
    SELECT core_id, landmarks, 100 * above AS x,
           CASE WHEN above >= 1e3 THEN '%.0e' WHEN abs(100 * above) >= 9.95 THEN '%.0f' ELSE '%.1f' END AS format,
           CASE WHEN verdict = 'better' THEN '*' WHEN count > 0 AND NOT complete THEN '!' END AS mark
    FROM core_above LEFT JOIN nearest_core_estimate USING (landmarks, core_id)
    UNION ALL
    SELECT core_id, 'core_s', core_s, '%.2g', NULL FROM (
        SELECT *, row_number() OVER (PARTITION BY core_id ORDER BY count > 0 DESC, landmarks DESC) AS rank
            FROM core_above)
    WHERE rank = 1)
SELECT core.full AS landmarks, landmarks AS _across, part.x AS _cell, format AS _format, mark AS _mark
FROM part JOIN core ON core.id = core_id ORDER BY place, part.landmarks;

SELECT core.full || ' has no star: ' || refusal_told(refusal, 'it', next.full) AS note
FROM nearest_core_refused JOIN core ON core.id = core_id JOIN core AS next ON next.id = next_id
GROUP BY core_id, next_id, refusal ORDER BY core.place, next.place, refusal;

SELECT 'below 0: the core keeps rows of S exactly, so its result is not of the form F X B' AS note
FROM core_above WHERE 100 * above <= -0.05 LIMIT 1;

SELECT 'Exact attention on these heads, S V: multiplications, and median seconds on one CPU (column exact_s)'
       AS paragraph
FROM member WHERE exact_s IS NOT NULL LIMIT 1;

-- cell: item: n = {n}, d = {d}: 2 n^2 d = {products: %.2g}, {exact_s: %.2g} s
SELECT '' AS item, n, d, 2.0 * n * n * d AS products, median(exact_s) AS exact_s
FROM member JOIN panel ON panel.id = panel_id WHERE exact_s IS NOT NULL GROUP BY n, d ORDER BY min(position);
