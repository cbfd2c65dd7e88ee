-- A core each of the rows, in the order in which these name them (place). A sweep is cores that are one but for one
-- option, three or more; of several such options it is the one that most share. Of a core in a sweep: the option, its
-- value there (x), and what the cores share (sweep); leader_id: of its cores the one of default options, or the first.
CREATE TEMP TABLE swept AS
WITH used_core AS (
    SELECT core_id AS id, row_number() OVER (ORDER BY min(position)) - 1 AS place FROM key GROUP BY core_id),
setting AS (
    SELECT o.id, o.key, o.number, o.rest_label, o.place, count(*) OVER (PARTITION BY o.key, o.rest) AS cores
    FROM used_core JOIN option AS o ON o.kind = 'core' AND o.id = used_core.id WHERE o.number IS NOT NULL),
ranked AS (
    SELECT *, row_number() OVER (PARTITION BY id ORDER BY cores DESC, place) AS rank FROM setting WHERE cores > 2)
SELECT used_core.*, spec, r.key AS option, r.number AS x, r.rest_label AS sweep,
       CASE WHEN r.id IS NULL THEN used_core.id ELSE first_value(used_core.id) OVER (
           PARTITION BY r.id IS NULL, r.key, r.rest_label ORDER BY NOT plain, used_core.place) END AS leader_id,
       CASE WHEN r.id IS NULL THEN used_core.place ELSE
           min(used_core.place) OVER (PARTITION BY r.id IS NULL, r.key, r.rest_label) END AS first
FROM used_core JOIN component AS c ON c.kind = 'core' AND c.id = used_core.id
LEFT JOIN ranked AS r ON r.id = used_core.id AND r.rank = 1;
