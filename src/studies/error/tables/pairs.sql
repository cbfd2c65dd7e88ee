-- summary: cores against each other on the same landmarks: where one is below the other
-- reference: none: shares and ratios on the same landmarks
-- needs: duel
-- suffices: met_core
-- heading: On how many % of the choices of landmarks the core of a line is below that of a column
-- format: _cell: %.0f
-- holds: Errors on the same landmarks in the same trial; a row that stands for all trials counts in each. Of a core
--   with several settings (oracle) the best for each choice is taken, by the errors that are compared. Two errors that
--   differ by no more than rounding are equal; two that are rounding noise are left out. As CSV: the ratios too,
--   also by m, by problem, and where m is a sixteenth of n or more.
WITH per_level AS (
    SELECT a_id, b_id, level_id, list(ratio) AS ratio, list(CASE WHEN ratio < 1 THEN 1 END) AS below
    FROM duel WHERE (SELECT count(*) FROM core) > 1 GROUP BY a_id, b_id, level_id)
SELECT s.name AS by, s.value, a.core, b.core AS "over", size(list(ratio)) AS choices, median(ratio) AS ratio,
       quantile(ratio, 0.1) AS p10, quantile(ratio, 0.9) AS p90, 1.0 * size(list(below)) / size(list(ratio)) AS below
FROM per_level JOIN scope AS s USING (level_id) JOIN entrant AS a ON a.id = a_id JOIN entrant AS b ON b.id = b_id
GROUP BY s.place, s.number, a_id, b_id ORDER BY s.place, s.number, a_id, b_id;

WITH share AS (
    SELECT a_id, b_id, 1.0 * count(CASE WHEN ratio < 1 THEN 1 END) / count(*) AS below
    FROM duel GROUP BY a_id, b_id)
SELECT a.number AS "", a.label AS "error of", b.number AS _across, 100 * below AS _cell
FROM entrant AS a JOIN entrant AS b LEFT JOIN share ON a_id = a.id AND b_id = b.id
WHERE a.usual AND b.usual ORDER BY a.id, b.id;

SELECT DISTINCT 'Not compared: ' || refusal_told(refusal, 'one core', 'the other core') || '; ' ||
    field('confounded', refusal) || ' compares them anyway.' AS paragraph
FROM not_compared JOIN entrant AS a ON a.id = a JOIN entrant AS b ON b.id = b
WHERE question = 'entrant' AND a.usual AND b.usual AND (SELECT count(*) FROM core) > 1 ORDER BY refusal;
