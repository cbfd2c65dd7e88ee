-- What tables compare on the same landmarks: each core; the best setting of each component that is swept, but over the
-- rows that it looks at, of which the most are the best; the best of all that act on each singular value of A alone,
-- where there are several such components; and the best core of F X B. oracle: looks at all of S, or is the best of
-- several by the errors that are compared; usual: no setting of a sweep but the standard one.
-- needs: core
CREATE TEMP TABLE entrant (id INTEGER PRIMARY KEY, part INTEGER, place INTEGER, name TEXT, label TEXT, core TEXT,
                           oracle INTEGER, usual INTEGER, number INTEGER);
INSERT INTO entrant
WITH kind AS (
    SELECT name, min(place) AS place, count(*) AS cores, max(coalesce(option <> 'rows', 0)) AS swept
    FROM core WHERE name IS NOT NULL GROUP BY name),
candidate AS (
    SELECT 0 AS part, place, NULL AS name, core.full AS label, spec AS core, oracle, option IS NULL OR plain AS usual
    FROM core
    UNION ALL SELECT 1, place, name, 'best ' || name || ' of ' || cores || ' (oracle)', NULL, 1, 1
    FROM kind WHERE swept
    UNION ALL SELECT 2, 0, NULL, 'best cut-off of ' || count(*) || ' (oracle)', NULL, 1, 1
    FROM core JOIN kind USING (name) WHERE filter HAVING count(DISTINCT name) > 1 AND max(swept)
    UNION ALL SELECT 3, 0, NULL, 'the best core of F X B', NULL, 1, 1)
SELECT row_number() OVER (ORDER BY part, place) AS id, part, place, name, label, coalesce(core, label) AS core, oracle,
       usual, row_number() OVER (PARTITION BY usual ORDER BY part, place) AS number
FROM candidate ORDER BY 1;

-- The cores of each, but for the best core of F X B.
CREATE TEMP TABLE entrant_core (entrant_id INTEGER, core_id INTEGER, PRIMARY KEY (core_id, entrant_id)) WITHOUT ROWID;
INSERT INTO entrant_core
SELECT e.id, c.id
FROM entrant AS e JOIN core AS c
    ON e.part = 0 AND c.place = e.place OR e.part = 1 AND c.name = e.name OR e.part = 2 AND c.filter;
