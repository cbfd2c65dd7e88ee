-- What tables compare on the same landmarks: each core; the best setting of each component that is swept, but over the
-- rows that it looks at, of which the most are the best; the best of all that act on each singular value of A alone,
-- where there are several such components; and the best core of F X B. oracle: looks at all of S, or is the best of
-- several by the errors that are compared; usual: no setting of a sweep but the standard one. `entry` has the least
-- values of an entrant's cores by choice of landmarks.
-- needs: core choice
CREATE TEMP TABLE entrant AS
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
FROM candidate;

CREATE UNIQUE INDEX entrants ON entrant (id);

CREATE TEMP TABLE entry (entrant_id INTEGER, level_id INTEGER, choice_id INTEGER, error REAL, above REAL, unseen REAL,
                         PRIMARY KEY (entrant_id, level_id, choice_id)) WITHOUT ROWID;
INSERT INTO entry
WITH entrant_core AS MATERIALIZED (
    SELECT e.id AS entrant_id, e.oracle, c.id AS core_id FROM entrant AS e JOIN core AS c
        ON e.part = 0 AND c.place = e.place OR e.part = 1 AND c.name = e.name OR e.part = 2 AND c.filter)
SELECT entrant_id, level_id, choice_id, min(error), min(above), CASE WHEN NOT oracle THEN min(unseen) END
FROM outcome JOIN entrant_core USING (core_id) GROUP BY entrant_id, level_id, choice_id;
-- The subspace part, which is the best core's error, belongs to the landmarks: the row of any core has it.
INSERT INTO entry
SELECT (SELECT id FROM entrant WHERE part = 3), level_id, choice_id, subspace, NULL, NULL
FROM (SELECT level_id, choice_id, subspace, min(c.place) FROM outcome JOIN core AS c ON c.id = core_id
      WHERE above IS NOT NULL GROUP BY level_id, choice_id);
