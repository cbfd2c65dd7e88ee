-- summary: how far each core is above the best one, over all choices of landmarks, also on unseen rows
-- reference: none: the best core is the projection; see 'nysbench describe best'
-- needs: entry
-- exists: above_best
-- flags: oracle
-- heading: Cores, % above the best one, over {_choices} choices of landmarks, {_different} of them different
-- holds: 100 (error / subspace part - 1): median, and quantiles 0.1 and 0.9, over problems, strategies, m, heads and
--   trials.
-- format: median: %.1f
-- format: 10 %: %.1f
-- format: 90 %: %.1f
-- format: unseen: %.1f
-- word: unseen: on the rows of S that the core has not looked at, above the best core for these
-- word: oracle: of a core with several settings the best for each choice of landmarks is taken, by the errors that are
--   compared
-- word: below 0: rows of S are kept exactly
WITH per_level AS (
    SELECT entrant_id, level_id, list(above) AS above, list(unseen) AS unseen FROM entry GROUP BY entrant_id, level_id)
SELECT s.name AS by, s.value, e.core, e.oracle, size(list(above)) AS choices, median(above) AS above,
       quantile(above, 0.1) AS p10, quantile(above, 0.9) AS p90, size(list(unseen)) AS unseen_choices,
       median(unseen) AS unseen, quantile(unseen, 0.1) AS unseen_p10, quantile(unseen, 0.9) AS unseen_p90
FROM scope AS s JOIN per_level USING (level_id) JOIN entrant AS e ON e.id = entrant_id
WHERE e.part < 3 GROUP BY s.place, s.number, e.id HAVING count(above) > 0 ORDER BY s.place, s.number, e.id;

SELECT e.label AS core, count(above) AS choices, median(100 * above) AS median,
       quantile(100 * above, 0.1) AS "10 %", quantile(100 * above, 0.9) AS "90 %", median(100 * unseen) AS unseen,
       quantile(100 * unseen, 0.1) AS "10 %", quantile(100 * unseen, 0.9) AS "90 %",
       (SELECT count(*) FROM choice) AS _choices,
       (SELECT count(DISTINCT c.id) FROM choice AS c JOIN outcome AS o ON o.choice_id = c.id AND o.trial = c.trial
        JOIN core ON core.id = o.core_id WHERE o.ok AND NOT core.random) AS _different
FROM entrant AS e LEFT JOIN entry ON e.id = entrant_id WHERE e.part < 3 AND e.usual GROUP BY e.id ORDER BY e.id;

SELECT 'With ' || field('format', 'csv') ||
    ': every setting, also by m, by problem, and where m is a sixteenth of n or more.' AS paragraph
FROM entry JOIN entrant AS e ON e.id = entrant_id WHERE e.part < 3 AND e.usual AND above IS NOT NULL LIMIT 1;
