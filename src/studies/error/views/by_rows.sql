-- Cores by problem and by the rows of S that they look at: over the best core's error, on all rows and on the others
-- (each row of the run once), and on how many choices of landmarks they are below what may be had instead: the first
-- core of the run, and (kept) the core that is made of it and keeps as many rows of S exactly.
-- needs: pairs:core core choice
CREATE TEMP VIEW by_rows AS
WITH row_option AS (SELECT id, value AS rows FROM option WHERE kind = 'core' AND key = 'rows'),
keeping_core AS (
    SELECT mine.id AS core_id, min(other.place) AS place
    FROM core AS first JOIN option AS part ON part.kind = 'core' AND part.value = first.spec
    JOIN core AS other ON other.id = part.id AND other.place > 0 JOIN row_option AS theirs ON theirs.id = other.id
    JOIN row_option AS mine ON mine.rows = theirs.rows AND mine.id <> other.id
    WHERE first.place = 0 GROUP BY mine.id),
shown AS MATERIALIZED (
    SELECT id FROM core WHERE option IS NULL OR plain OR id IN (SELECT id FROM row_option)),
not_met AS MATERIALIZED (SELECT scope, a, b FROM not_pooled WHERE question = 'core'),
lesser AS MATERIALIZED (
    SELECT k.panel_id, a AS core_id, b AS over_id, count(CASE WHEN ratio < 1 THEN 1 END) || ' of ' || count(*) AS text
    FROM pair AS p CROSS JOIN key AS k ON k.id = a_id
    WHERE question = 'core' AND a IN (SELECT id FROM shown) AND a <> b AND b IN (SELECT id FROM core WHERE place IN (
            SELECT place FROM keeping_core UNION SELECT 0))
        AND refusal IS NULL AND ratio < 9e999
        AND NOT EXISTS (SELECT 1 FROM not_met AS n WHERE n.scope = p.scope AND n.a = p.a AND n.b = p.b)
    GROUP BY k.panel_id, a, b),
core_on_panel AS (
    SELECT panel_id, core_id, count(above) AS rows, median(1 + above) AS error, median(1 + unseen) AS unseen
    FROM taken GROUP BY panel_id, core_id HAVING count(above) > 0)
SELECT l.*, c.place, beside_first.text AS below_first, beside_kept.text AS below_kept
FROM core_on_panel AS l JOIN core AS c ON c.id = l.core_id LEFT JOIN keeping_core AS k ON k.core_id = c.id
LEFT JOIN core AS first ON first.place = 0 LEFT JOIN core AS kept ON kept.place = k.place
LEFT JOIN lesser AS beside_first ON beside_first.panel_id = l.panel_id AND beside_first.core_id = c.id
    AND beside_first.over_id = first.id
LEFT JOIN lesser AS beside_kept ON beside_kept.panel_id = l.panel_id AND beside_kept.core_id = c.id
    AND beside_kept.over_id = kept.id
WHERE c.id IN (SELECT id FROM shown) AND EXISTS (SELECT 1 FROM core WHERE option = 'rows');
