-- summary: each core that is not an oracle against the others with twice the landmarks
-- reference: none: ratios of errors in the same trial
-- needs: duel_of_twice
-- suffices: met_core_of_twice
-- heading: Median ratio of the error of the line's core to that of the column's core with twice the landmarks
-- holds: Of the same strategy on the same head in the same trial; a row that stands for all trials counts in each. The
--   CSV also has quantiles 0.1 and 0.9, and the share of choices where the ratio is below 1.
SELECT a.core, landmarks, b.core AS "over", 2 * landmarks AS over_landmarks, count(*) AS choices,
       median(ratio) AS ratio, quantile(ratio, 0.1) AS p10, quantile(ratio, 0.9) AS p90,
       1.0 * count(CASE WHEN ratio < 1 THEN 1 END) / count(*) AS below
FROM duel_of_twice JOIN entrant AS a ON a.id = a_id JOIN entrant AS b ON b.id = b_id
WHERE (SELECT count(*) FROM core) > 1 GROUP BY landmarks, a_id, b_id ORDER BY landmarks, a_id, b_id;

WITH median_ratio AS MATERIALIZED (
    SELECT landmarks, a_id, b_id, median(ratio) AS ratio FROM duel_of_twice GROUP BY landmarks, a_id, b_id),
shown AS (SELECT *, row_number() OVER (ORDER BY id) AS column FROM entrant WHERE usual AND NOT oracle),
halved AS (SELECT DISTINCT landmarks FROM median_ratio)
SELECT 'm = ' || halved.landmarks || ', over m = ' || (2 * halved.landmarks) AS _part, a.column AS "", a.label AS core,
       b.column AS _across, ratio AS _cell, CASE WHEN ratio >= 9.995 THEN '%.0f' ELSE '%.2f' END AS _format
FROM halved JOIN shown AS a JOIN shown AS b
LEFT JOIN median_ratio AS k ON k.landmarks = halved.landmarks AND a_id = a.id AND b_id = b.id
ORDER BY halved.landmarks, a.id, b.id;

WITH shown AS (
    SELECT core_id FROM entrant_core JOIN entrant ON entrant.id = entrant_id WHERE usual AND NOT oracle AND part = 0)
SELECT DISTINCT 'Not compared: ' || refusal_told(refusal, 'one core', 'the other core') || '; ' ||
    field('confounded', refusal) || ' compares them anyway.' AS paragraph
FROM not_compared
WHERE question = 'core, any landmarks' AND a IN (SELECT core_id FROM shown) AND b IN (SELECT core_id FROM shown)
    AND (SELECT count(*) FROM core) > 1 ORDER BY refusal;
