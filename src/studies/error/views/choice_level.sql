-- A level is the choices of landmarks of one panel that have as many. dense: m is a sixteenth of n or more.
CREATE TEMP TABLE choice_level AS
SELECT row_number() OVER (ORDER BY panel_id, landmarks, dense) AS id, panel_id, landmarks, dense
FROM (SELECT DISTINCT panel_id, landmarks, 16 * landmarks >= n AS dense FROM key WHERE opens);
CREATE UNIQUE INDEX choice_levels ON choice_level (panel_id, landmarks, dense);

-- Levels by what they have in common: all, those with so many landmarks, of one panel, with m below n/16 or not.
CREATE TEMP TABLE scope AS
SELECT 0 AS place, 0 AS number, 'all' AS name, '' AS value, id AS level_id FROM choice_level
UNION ALL SELECT 1, landmarks, 'landmarks', landmarks, id FROM choice_level
UNION ALL SELECT 2, panel_id, 'problem', title, l.id FROM choice_level AS l JOIN panel ON panel.id = panel_id
UNION ALL SELECT 3, dense, '16m/n', CASE WHEN dense THEN '1 or more' ELSE 'below 1' END, id FROM choice_level;
