-- Each core's pairs with the first core of the run, on the same landmarks. There are none where only one of the two has
-- looked at rows of S that both are judged on (core_refused).
-- needs: pairs:core core variant
CREATE TEMP VIEW core_against AS
SELECT a AS core_id, p.* FROM pair AS p
WHERE question = 'core' AND b = (SELECT id FROM core WHERE place = 0) AND a <> (SELECT id FROM core WHERE place = 0);

CREATE TEMP TABLE core_refused AS SELECT DISTINCT scope, setting, core_id FROM core_against WHERE apart;

CREATE TEMP VIEW core_contest AS
SELECT k.panel_id, v.variant_id, k.landmarks, c.*
FROM core_against AS c CROSS JOIN key AS k ON k.id = c.a_id CROSS JOIN variant_of AS v ON v.line_id = k.line_id
LEFT JOIN core_refused AS r ON r.setting = c.setting AND r.core_id = c.core_id WHERE r.setting IS NULL;

CREATE TEMP VIEW core_left_out AS -- why, somewhere
WITH first AS (SELECT id, core.full AS label FROM core WHERE place = 0)
SELECT core_id, core.full || ' is left out: it or ' || first.label ||
       ', but not both, has looked at rows of S that both are judged on' AS note
FROM (SELECT DISTINCT core_id FROM core_refused) JOIN core ON core.id = core_id JOIN first
UNION ALL
SELECT core.id, core.full || ' is left out: its rows and those of ' || first.label || ' are of different builds'
FROM core JOIN first ON first.id <> core.id
WHERE NOT EXISTS (SELECT 1 FROM agreed AS a JOIN agreed AS b USING (question, build)
                  WHERE question = 'core' AND a.value = core.id AND b.value = first.id);
