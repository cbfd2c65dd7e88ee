-- Cores by problem and by the rows of S that they look at: over the best core's error, on all rows and on the others
-- (each row of the run once), and on how many choices of landmarks they are below what may be had instead: the first
-- core of the run, and (kept) the core that is made of it and keeps as many rows of S exactly.
-- needs: duel
CREATE TEMP VIEW by_rows AS
WITH row_option AS (SELECT id, value AS rows FROM option WHERE kind = 'core' AND key = 'rows'),
keeping_core AS (
    SELECT mine.id AS core_id, min(other.place) AS place
    FROM core AS first JOIN option AS part ON part.kind = 'core' AND part.value = first.spec
    JOIN core AS other ON other.id = part.id AND other.place > 0 JOIN row_option AS theirs ON theirs.id = other.id
    JOIN row_option AS mine ON mine.rows = theirs.rows AND mine.id <> other.id
    WHERE first.place = 0 GROUP BY mine.id),
lesser AS (
    SELECT s.number AS panel_id, a_id, b_id, count(CASE WHEN ratio < 1 THEN 1 END) || ' of ' || count(*) AS text
    FROM duel JOIN scope AS s ON s.place = 2 AND s.level_id = duel.level_id
    WHERE a_id <> b_id AND b_id IN (SELECT place + 1 FROM keeping_core UNION SELECT 1) GROUP BY s.number, a_id, b_id),
core_on_panel AS (
    SELECT panel_id, core_id, count(above) AS rows, median(1 + above) AS error, median(1 + unseen) AS unseen
    FROM taken GROUP BY panel_id, core_id HAVING count(above) > 0)
SELECT l.*, c.place, first.text AS below_first, same.text AS below_kept
FROM core_on_panel AS l JOIN core AS c ON c.id = l.core_id LEFT JOIN keeping_core AS k ON k.core_id = c.id
LEFT JOIN lesser AS first ON first.panel_id = l.panel_id AND first.a_id = c.place + 1 AND first.b_id = 1
LEFT JOIN lesser AS same ON same.panel_id = l.panel_id AND same.a_id = c.place + 1 AND same.b_id = k.place + 1
WHERE (c.option IS NULL OR c.plain OR c.id IN (SELECT id FROM row_option))
    AND EXISTS (SELECT 1 FROM core WHERE option = 'rows');
