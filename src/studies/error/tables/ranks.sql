-- summary: mean rank of each strategy over sources, with the tests of Friedman and Nemenyi
-- reference: J. Demsar, Statistical comparisons of classifiers over multiple data sets, J. Mach. Learn. Res. 7, 2006
-- reference: M. Friedman, The use of ranks to avoid the assumption of normality, J. Am. Stat. Assoc. 32, 1937
-- needs: ranking
-- exists: standing
-- heading: Mean rank of each strategy by error, over sources
-- labels: 1
-- shared: {_constant}
-- holds: Mean ranks over sources. In a source, rank 1 is the least error of a block, and equal ones share their ranks;
--   a method has the mean over heads of the mean logarithm over trials.{_pooled}
-- remark: {_letters}
-- remark: {_caveat}
SELECT kernel, landmarks, pairing, factors, core, rows, engine, precision, input, model, m.spec AS method, m.label,
       rank, coalesce(groups, '') AS groups, missing, refusal_told(refusal, 'this one', 'the first') AS refusal,
       t.ranked, sources, t.planned - sources AS left_out, left_out AS left_out_sources, chi2, chi2_p, f, f_p, w,
       critical_difference, untested
FROM contender AS c JOIN titled USING (standing_id) JOIN test AS t USING (standing_id)
JOIN method AS m ON m.id = strategy_id LEFT JOIN ranking USING (standing_id, strategy_id)
ORDER BY standing_id, strategy_id;

WITH column AS ( -- of a block; tested, shown: one of its columns is
    SELECT *, max(chi2 IS NOT NULL) OVER (PARTITION BY scope_id, stratum_id) AS tested,
           max(sources > 0) OVER (PARTITION BY scope_id, stratum_id) AS shown,
           count(*) OVER (PARTITION BY scope_id, stratum_id) AS columns
    FROM titled JOIN test USING (standing_id)),
mean_rank AS (
    SELECT scope_id, stratum_id, strategy_id, mean(rank) AS rank
    FROM contender JOIN column USING (standing_id) LEFT JOIN ranking USING (standing_id, strategy_id)
    GROUP BY scope_id, stratum_id, strategy_id),
rank_cell AS (
    SELECT standing_id, m.rank IS NULL AS part, coalesce(m.rank, strategy_id) AS place, strategy_id, label,
           r.rank AS cell, '%.2f' AS format, CASE groups WHEN '' THEN '' ELSE ' ' || groups END AS mark
    FROM contender JOIN column USING (standing_id) JOIN mean_rank AS m USING (scope_id, stratum_id, strategy_id)
    JOIN method ON method.id = strategy_id LEFT JOIN ranking AS r USING (standing_id, strategy_id)
    UNION ALL
    SELECT standing_id, 2, 0, 0, 'sources',
           CASE WHEN sources < planned THEN sources || ' of ' || planned ELSE sources END, NULL, NULL
    FROM column
    UNION ALL SELECT standing_id, 3, 1, 0, 'Friedman''s chi2', chi2, '%.3g', NULL FROM column WHERE tested
    UNION ALL SELECT standing_id, 3, 2, 0, 'its p', chi2_p, '%.2g', NULL FROM column WHERE tested
    UNION ALL SELECT standing_id, 3, 3, 0, 'Iman-Davenport''s F', CASE WHEN f = 9e999 THEN 'infinite' ELSE f END,
           '%.3g', NULL
    FROM column WHERE tested
    UNION ALL SELECT standing_id, 3, 4, 0, 'its p', f_p, '%.2g', NULL FROM column WHERE tested
    UNION ALL SELECT standing_id, 3, 5, 0, 'Kendall''s W', w, '%.2f', NULL FROM column WHERE tested
    UNION ALL SELECT standing_id, 3, 6, 0, 'critical difference', critical_difference, '%.2f', NULL
    FROM column WHERE tested),
lost_source AS ( -- of a stratum that is left out as a whole its number of sources
    SELECT standing_id, CASE WHEN whole THEN label || ': all ' || count(*) ELSE source END AS name,
           min(source_id) AS place, whole
    FROM (SELECT m.*, s.stratum_id < 0 AND (standing_id, m.stratum_id) NOT IN (
              SELECT standing_id, stratum_id FROM placed JOIN source ON source.id = source_id) AS whole
          FROM missed AS m JOIN standing AS s ON s.id = standing_id) JOIN stratum ON stratum.id = stratum_id
    GROUP BY standing_id, CASE WHEN whole THEN -1 - stratum_id ELSE source_id END),
losing_methods AS (
    SELECT standing_id, listed(CASE WHEN missing > 0 THEN label || ' in ' || missing END, strategy_id) AS names
    FROM contender JOIN method ON method.id = strategy_id
    GROUP BY standing_id HAVING min(missing) < max(missing)),
sentence AS (
    SELECT standing_id, 1 AS kind, 0 AS place, 'left out, since a method has no result there: ' ||
           listed(name, place - 1e9 * whole) || coalesce('; without a result: ' || names, '') AS text
    FROM lost_source JOIN column USING (standing_id) LEFT JOIN losing_methods USING (standing_id)
    WHERE shown AND ranked > 1 GROUP BY standing_id
    UNION ALL
    SELECT standing_id, 2, strategy_id, method.label || CASE WHEN missing = c.planned THEN ' has no result' ELSE
           ' is not compared with ' || first.label || ': ' || refusal_told(refusal, 'it', first.label) END
    FROM contender AS c JOIN column USING (standing_id) JOIN method ON method.id = strategy_id
    LEFT JOIN method AS first ON first.id = first_id
    WHERE shown AND column.ranked > 0 AND NOT c.ranked
    UNION ALL
    SELECT standing_id, 3, 0, 'no test: ' || untested FROM column WHERE untested IS NOT NULL),
told_sentence AS ( -- once, where it is the same in all columns
    SELECT *, count(*) OVER (PARTITION BY scope_id, stratum_id, kind, place, text) AS times,
           row_number() OVER (PARTITION BY scope_id, stratum_id, kind, place, text ORDER BY landmarks) AS time
    FROM sentence JOIN column USING (standing_id)),
block_notes AS (
    SELECT scope_id, stratum_id, row_number() OVER (PARTITION BY scope_id, stratum_id ORDER BY kind DESC, place DESC,
               landmarks DESC) AS last,
           group_concat(CASE WHEN times = columns THEN '' ELSE 'landmarks ' || landmarks || ': ' END || text, char(10))
               OVER (PARTITION BY scope_id, stratum_id ORDER BY kind, place, landmarks) AS notes
    FROM told_sentence WHERE times < columns OR time = 1)
SELECT label AS landmarks, CASE WHEN shown THEN landmarks END AS _across, cell AS _cell, format AS _format,
       mark AS _mark, scope_items AS _part, title AS _about, notes AS _note, constant AS _constant,
       CASE WHEN pooled THEN
           ' Blocks of all models or problems pool their sources, so one with more of them counts more.'
           ELSE '' END AS _pooled,
       CASE WHEN any THEN
           'Methods differ by more than the critical difference of Nemenyi''s test at 0.05 if they have no ' ||
           'letter in common. Where Friedman''s p is above 0.05, the letters say nothing.' ELSE '' END AS _letters,
       CASE WHEN any AND EXISTS (SELECT 1 FROM key WHERE draws)
           THEN 'The tests do not cover the luck of a trial''s draws, which is the same for all sources; the ' ||
           'intervals of ''nysbench compare'' do.' ELSE '' END AS _caveat
FROM rank_cell JOIN column USING (standing_id) JOIN (SELECT max(tested) AS any FROM column)
LEFT JOIN block_notes AS n ON n.scope_id = column.scope_id AND n.stratum_id = column.stratum_id AND last = 1
ORDER BY column.scope_id, column.stratum_id, part, place, strategy_id, landmarks;
