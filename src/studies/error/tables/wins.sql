-- summary: strategies against each other: on how many sources one has the lesser error
-- reference: none: counts of sources
-- needs: bout
-- exists: standing
SELECT kernel, landmarks, pairing, factors, core, rows, engine, precision, input, model, a.spec AS method, a.label,
       b.spec AS "over", b.label AS over_label, below, above, equal, below + above + equal AS sources,
       1.0 * below / nullif(below + above + equal, 0) AS share,
       refusal_told(refusal, 'this one', 'the other') AS refusal
FROM bout JOIN titled AS t USING (standing_id) JOIN method AS a ON a.id = a_id JOIN method AS b ON b.id = b_id
ORDER BY standing_id, a_id, b_id;

-- heading: On how many sources one strategy has less error than another
-- labels: 2
-- shared: {_constant}
-- holds: a/b: on a of b sources, the line's method has less error than the column's; in a source, a method has the mean
--   over heads of the mean logarithm over trials. What is equal up to rounding is not less.{_pooled}
-- note: *: the line's method is better than the column's, by the verdict of 'nysbench compare' on the ratio of their
--   errors, corrected for all that may have a star here
-- needs: bout estimates:contender_pair
WITH standing_size AS (SELECT standing_id, max(below + above + equal) AS most FROM bout GROUP BY standing_id),
without_verdict AS ( -- and why its pair of the most sources has none
    SELECT standing_id, why, max(sources) FROM contender_pair_estimate GROUP BY standing_id
    HAVING count(why) = count(*)),
sentence AS (
    SELECT standing_id, -1 AS place, -1 AS other, 'no two methods have a result' AS text
    FROM standing_size WHERE most = 0
    UNION ALL
    SELECT standing_id, -1, -1, 'no verdict: ' || why FROM without_verdict JOIN standing_size USING (standing_id)
    WHERE most > 0
    UNION ALL
    SELECT standing_id, strategy_id, -1, label || ' has no result'
    FROM contender JOIN standing_size USING (standing_id) JOIN method AS a ON a.id = strategy_id
    WHERE missing = planned AND most > 0
    UNION ALL
    SELECT standing_id, a_id, b_id, a.label || ' against ' || b.label || ': ' || refusal_told(refusal, 'it', b.label)
    FROM bout JOIN method AS a ON a.id = a_id JOIN method AS b ON b.id = b_id WHERE refusal IS NOT NULL
        AND b_id < a_id),
standing_notes AS (
    SELECT standing_id, row_number() OVER (PARTITION BY standing_id ORDER BY place DESC, other DESC) AS last,
           group_concat(text, char(10)) OVER (PARTITION BY standing_id ORDER BY place, other) AS notes
    FROM sentence),
member AS (
    SELECT standing_id, strategy_id, label, row_number() OVER (PARTITION BY standing_id ORDER BY strategy_id) AS number
    FROM contender JOIN method ON method.id = strategy_id)
SELECT a.number AS "", a.label AS strategy, CASE WHEN most > 0 THEN b.number END AS _across,
       NULL AS _cell, CASE WHEN below + above + equal > 0 THEN below || '/' || (below + above + equal) END AS _before,
       CASE verdict WHEN CASE WHEN a.strategy_id < b.strategy_id THEN 'better' ELSE 'worse' END THEN '*' END AS _mark,
       scope_items AS _part, title || ', landmarks ' || landmarks AS _about, notes AS _note, constant AS _constant,
       CASE WHEN pooled THEN ' "all" pools the sources.' ELSE '' END AS _pooled
FROM member AS a JOIN member AS b USING (standing_id) JOIN standing_size USING (standing_id)
JOIN titled USING (standing_id)
LEFT JOIN bout ON bout.standing_id = a.standing_id AND bout.a_id = a.strategy_id AND bout.b_id = b.strategy_id
LEFT JOIN contender_pair_estimate AS e ON e.standing_id = a.standing_id AND e.a_id = min(a.strategy_id, b.strategy_id)
    AND e.b_id = max(a.strategy_id, b.strategy_id)
LEFT JOIN standing_notes ON standing_notes.standing_id = a.standing_id AND last = 1
ORDER BY scope_id, stratum_id, landmarks, a.number, b.number;
