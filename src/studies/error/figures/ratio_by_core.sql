-- summary: each core's error over the first core's against landmarks, with intervals over sources
-- reference: none: geometric means, and Student's t intervals over sources
-- compares: core
-- needs: by_core
-- script: ratio.gp
-- title: error / error with {_base} on the same landmarks (less is better)
-- data: panel series _of_head landmarks ratio _low _high
-- ticks: landmarks
-- bars: mean
-- most: 12 cores
-- set: x_name landmarks m
-- set: y_name error / error with {_figure}
-- set: level_text 1: {_base}
-- set: dot_text a head, geometric mean over trials
SELECT s.name AS panel, core.full AS series, landmarks, ratio, low, high, sources, heads, missing
FROM by_core JOIN core_scope AS s USING (scope_id) JOIN core ON core.id = core_id
WHERE head_id IS NULL AND (option IS NULL OR plain) ORDER BY scope_id, core.place, landmarks;

WITH shown AS (
    SELECT b.*, core.full AS label, place, look, max(sources) OVER scopes AS most, min(sources) OVER scopes AS few,
           max(heads) OVER scopes AS most_heads
    FROM by_core AS b JOIN core ON core.id = core_id WHERE option IS NULL OR plain
    WINDOW scopes AS (PARTITION BY scope_id, head_id IS NULL)),
panel AS (
    SELECT scope_id, s.name || ' (' ||
           CASE WHEN min(few) < max(most) THEN min(few) || ' to ' ELSE '' END || max(most) ||
           CASE max(most) WHEN 1 THEN ' source, ' ELSE ' sources, ' END || max(most_heads) ||
           CASE max(most_heads) WHEN 1 THEN ' head' ELSE ' heads' END ||
           CASE WHEN max(most) < 6 THEN ': too few for intervals)' ELSE ')' END AS title
    FROM shown JOIN core_scope AS s USING (scope_id) WHERE head_id IS NULL GROUP BY scope_id)
SELECT first.label AS _figure, title AS _panel, shown.label AS _series, shown.place AS _order, shown.look AS _look,
       head_id IS NOT NULL AS _of_head, landmarks, ratio, coalesce(low, ratio) AS _low, coalesce(high, ratio) AS _high,
       first.full AS _base
FROM shown JOIN panel USING (scope_id) JOIN core AS first ON first.place = 0
ORDER BY scope_id, shown.place, _of_head, landmarks, source_id, head_id;

SELECT core.full || ' is left out with ' || listed(s.name, scope_id) || ': ' ||
       refusal_told(refusal, 'it', first.full) AS note
FROM core AS first JOIN (SELECT DISTINCT a, b, scope AS scope_id, refusal FROM not_compared WHERE question = 'core')
    ON b = first.id
JOIN core_scope AS s USING (scope_id) JOIN core ON core.id = a
WHERE first.place = 0 GROUP BY a, refusal ORDER BY core.place;
