-- How far entrants are above the best core of F X B, by choice of landmarks: the least of an entrant's cores.
-- needs: entrant choice
CREATE TEMP TABLE entry (entrant_id INTEGER, level_id INTEGER, choice_id INTEGER, above REAL, unseen REAL,
                         PRIMARY KEY (entrant_id, level_id, choice_id)) WITHOUT ROWID;
INSERT INTO entry
SELECT entrant_id, level_id, choice_id, min(above), CASE WHEN NOT oracle THEN min(unseen) END
FROM outcome JOIN entrant_core USING (core_id) JOIN entrant ON entrant.id = entrant_id
GROUP BY entrant_id, level_id, choice_id;
