-- A core each of the rows, in the order in which these name them (place). A sweep is cores that are one but for one
-- option, three or more; of several such options it is the one that most share. Of a core in a sweep: the option, its
-- value there (x), and what the cores share (sweep). look numbers the sweeps and the cores that are in none.
-- in_double: the core that is the same but for its precision.
CREATE TEMP TABLE core AS
WITH used AS (SELECT core_id AS id, row_number() OVER (ORDER BY min(position)) - 1 AS place FROM key GROUP BY core_id),
setting AS (
    SELECT o.id, o.key, o.number, o.rest_label, o.place, count(*) OVER (PARTITION BY o.key, o.rest) AS cores
    FROM used JOIN option AS o ON o.kind = 'core' AND o.id = used.id WHERE o.number IS NOT NULL),
ranked AS (
    SELECT *, row_number() OVER (PARTITION BY id ORDER BY cores DESC, place) AS rank FROM setting WHERE cores > 2),
swept AS (
    SELECT used.*, r.key AS option, r.number AS x, r.rest_label AS sweep,
           CASE WHEN r.id IS NULL THEN used.place ELSE
               min(used.place) OVER (PARTITION BY r.id IS NULL, r.key, r.rest_label) END AS first
    FROM used LEFT JOIN ranked AS r ON r.id = used.id AND r.rank = 1)
SELECT s.id, s.place, c.spec, c.full AS label, c.label AS brief, c.name, c.plain, c.oracle, c.random, c.filter, s.option,
       s.x, s.sweep, dense_rank() OVER (ORDER BY s.first) - 1 AS look,
       (SELECT o.id FROM option AS o JOIN option AS own ON own.kind = 'core' AND own.id = s.id AND own.key = o.key
            AND own.rest = o.rest JOIN used ON used.id = o.id
        WHERE o.kind = 'core' AND o.key = 'precision' AND o.value = 'double' AND o.id <> s.id) AS in_double
FROM swept AS s JOIN component AS c ON c.kind = 'core' AND c.id = s.id ORDER BY s.place;
CREATE UNIQUE INDEX cores ON core (id);
