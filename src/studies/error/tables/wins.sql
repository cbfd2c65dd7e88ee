-- summary: strategies against each other: on how many sources one has the lesser error
-- reference: S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Stat. 6, 1979
-- needs: bout
-- exists: standing
-- heading: On how many sources one strategy has less error than another
-- labels: 2
-- shared: {_constant}
-- holds: a/b: on a of b sources, the line's method has less error than the column's; in a source, a method has the mean
--   over heads of the mean logarithm over trials. What is equal up to rounding is not less.{_pooled}
-- remark: {_caveat}
-- note: *: p of the sign test, with Holm's correction over the matrix, is at most 0.05, where 'nysbench compare' may
--   have a verdict: of 6 sources, 3 trials of draws that sources share, and a run that is finished
SELECT kernel, landmarks, pairing, factors, core, rows, engine, precision, input, model, a.spec AS method, a.label,
       b.spec AS "over", b.label AS over_label, below, above, equal, below + above + equal AS sources,
       1.0 * below / nullif(below + above + equal, 0) AS share, sign_p, holm_p,
       refusal_told(refusal, 'this one', 'the other') AS refusal
FROM bout JOIN titled AS t USING (standing_id) JOIN method AS a ON a.id = a_id JOIN method AS b ON b.id = b_id
ORDER BY standing_id, a_id, b_id;

WITH size AS (SELECT standing_id, max(below + above + equal) AS most FROM bout GROUP BY standing_id),
sentence AS (
    SELECT standing_id, -1 AS place, -1 AS other,
           CASE most WHEN 0 THEN 'no two methods have a result'
               ELSE 'no test: fewer than ' || least_sources() || ' sources' END AS text
    FROM size WHERE most < least_sources()
    UNION ALL
    SELECT standing_id, strategy_id, -1, label || ' has no result'
    FROM contender JOIN size USING (standing_id) JOIN method AS a ON a.id = strategy_id
    WHERE missing = planned AND most > 0
    UNION ALL
    SELECT standing_id, a_id, b_id, a.label || ' against ' || b.label || ': ' || refusal_told(refusal, 'it', b.label)
    FROM bout JOIN method AS a ON a.id = a_id JOIN method AS b ON b.id = b_id WHERE refusal IS NOT NULL
        AND b_id < a_id),
noted AS (
    SELECT standing_id, row_number() OVER (PARTITION BY standing_id ORDER BY place DESC, other DESC) AS last,
           group_concat(text, char(10)) OVER (PARTITION BY standing_id ORDER BY place, other) AS notes
    FROM sentence),
apart AS (
    SELECT DISTINCT min(a_id, b_id) AS a_id, max(a_id, b_id) AS b_id FROM bout WHERE holm_p <= 0.05),
counted AS ( -- in each stratum, what a verdict on two is counted from
    SELECT setting_id, a_id, b_id, stratum_id, sum(common - noise) AS pairs, sum(missing) AS missing, -- counts
           sum(infinite) AS infinite, count(CASE WHEN common > noise THEN 1 END) AS sources, -- counts
           count(CASE WHEN common > noise AND draws THEN 1 END) AS drawn
    FROM encounter JOIN apart USING (a_id, b_id) GROUP BY 1, 2, 3, 4),
evidence AS ( -- there, and over all (-1)
    SELECT setting_id, a_id, b_id, stratum_id AS of_stratum, pairs, missing, infinite, sources, sources AS fewest, drawn
    FROM counted
    UNION ALL
    SELECT setting_id, a_id, b_id, -1, sum(pairs), sum(missing), sum(infinite), -- counts
           sum(sources), min(nullif(sources, 0)), -- counts
           sum(drawn) -- counts
    FROM counted GROUP BY setting_id, a_id, b_id),
drawn_in AS ( -- the trials of a source
    SELECT DISTINCT setting AS setting_id, a AS a_id, b AS b_id, stratum_id, trial, source_id
    FROM pair JOIN apart ON apart.a_id = a AND apart.b_id = b
    WHERE question = 'strategy' AND draws AND x IS NOT NULL AND y IS NOT NULL AND NOT noise),
shared AS (
    SELECT setting_id, a_id, b_id, CASE WHEN each THEN stratum_id ELSE -1 END AS of_stratum, trial, count(*) AS drawn
    FROM drawn_in JOIN (SELECT 0 AS each UNION ALL SELECT 1) GROUP BY setting_id, a_id, b_id, of_stratum, trial),
judged AS (
    SELECT e.setting_id, e.a_id, e.b_id, e.of_stratum, may_judge(pairs, missing, sources, infinite,
           CASE WHEN e.drawn > 0 THEN count(trial) ELSE -1 END, fewest > 1) AND NOT EXISTS (SELECT 1 FROM unfinished)
               AS known
    FROM evidence AS e LEFT JOIN shared USING (setting_id, a_id, b_id, of_stratum, drawn)
    GROUP BY e.setting_id, e.a_id, e.b_id, e.of_stratum),
member AS (
    SELECT standing_id, strategy_id, label, row_number() OVER (PARTITION BY standing_id ORDER BY strategy_id) AS number
    FROM contender JOIN method ON method.id = strategy_id)
SELECT a.number AS "", a.label AS strategy, CASE WHEN most > 0 THEN b.number END AS _across,
       CASE WHEN below + above + equal > 0 THEN marked(below || '/' || (below + above + equal), NULL, NULL,
           CASE WHEN holm_p <= 0.05 AND known THEN '*' ELSE '' END) END AS _cell,
       scope_items AS _part, title || ', landmarks ' || landmarks AS _about, notes AS _note, constant AS _constant,
       CASE WHEN pooled THEN ' "all" pools the sources.' ELSE '' END AS _pooled,
       CASE WHEN EXISTS (SELECT 1 FROM key WHERE draws)
           THEN 'The tests do not cover the luck of a trial''s draws, which is the same for all sources; the ' ||
           'intervals of ''nysbench compare'' do.' ELSE '' END AS _caveat
FROM member AS a JOIN member AS b USING (standing_id) JOIN size USING (standing_id) JOIN titled USING (standing_id)
LEFT JOIN bout ON bout.standing_id = a.standing_id AND bout.a_id = a.strategy_id AND bout.b_id = b.strategy_id
LEFT JOIN judged AS j ON j.setting_id = titled.setting_id AND j.of_stratum = titled.stratum_id
    AND j.a_id = min(a.strategy_id, b.strategy_id) AND j.b_id = max(a.strategy_id, b.strategy_id)
LEFT JOIN noted ON noted.standing_id = a.standing_id AND last = 1
ORDER BY scope_id, stratum_id, landmarks, a.number, b.number;
