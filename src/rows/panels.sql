-- The panels and their titles (panels.h): a title begins with the label of its one problem, or of several files with
-- the model and how many sources they are of. No two titles are the same: those facts of their data that differ among
-- such are added, but for the number of a kernel, whose label the title has. items: those of the title, a line each.

-- name: stratum
CREATE TEMP TABLE stratum (id INTEGER PRIMARY KEY, name TEXT, label TEXT, drawn INTEGER);

-- name: source
CREATE TEMP TABLE source (id INTEGER PRIMARY KEY, stratum_id INTEGER, name TEXT);

-- name: panels
CREATE TEMP TABLE panel AS
SELECT c.*, '' AS items, '' AS title, k.problem_id AS problem_id, k.stratum_id AS stratum_id,
       CASE WHEN problems = 1 THEN r.problem END AS problem, {model} AS model, {layer} AS layer, {rows} AS rows,
       r.n AS n, r.d AS d{scene:, r.@ AS @}{scene_ids:, k.@ AS @}
FROM (SELECT panel_id AS id, count(DISTINCT problem_id) AS problems, count(DISTINCT source_id) AS sources,
             count(DISTINCT head_id) AS heads, max(trial) + 1 AS trials, min(position) AS first
      FROM stretch GROUP BY panel_id) AS c
JOIN {stored} AS r ON r.position = c.first JOIN key AS k ON k.id = r.rowid ORDER BY c.first;
CREATE UNIQUE INDEX panels ON panel (id);

-- name: problems
SELECT id, problem_id FROM panel ORDER BY id;

-- Their problems' labels, and what their data are alike in.
-- name: named
CREATE TEMP TABLE named (id INTEGER PRIMARY KEY, label, alike);

-- name: begin_titles
UPDATE panel SET items = CASE WHEN problems = 1 THEN (SELECT label FROM named WHERE named.id = panel.id)
    ELSE (SELECT label FROM stratum WHERE id = stratum_id) || coalesce(' layer ' || layer, '') || char(10) ||
    sources || ' sources' END;

-- name: add_component
UPDATE panel SET items = items || char(10) || (SELECT label FROM component WHERE kind = :kind AND component.id = {id})
WHERE (SELECT count(DISTINCT {id}) FROM panel) > 1;

-- name: add_rows
UPDATE panel SET items = items || CASE WHEN rows <> 'all' THEN char(10) || 'rows: ' || rows ELSE '' END;

-- name: tell_apart
CREATE TEMP TABLE fact AS
SELECT n.id AS panel_id, f.key AS place, f.value AS text
FROM named AS n JOIN json_each('[' || replace(json_quote(alike), ', ', '","') || ']') AS f;
CREATE TEMP TABLE apart AS
SELECT DISTINCT f.* FROM panel AS p JOIN panel AS o ON o.items = p.items AND o.id <> p.id
JOIN fact AS f ON f.panel_id = p.id LEFT JOIN fact AS g ON g.panel_id = o.id AND g.place = f.place
WHERE g.text IS NOT f.text AND f.text GLOB '*[^0-9]*';
UPDATE panel SET items = items || coalesce((SELECT group_concat(char(10) || text, '')
    FROM (SELECT text FROM apart WHERE panel_id = panel.id ORDER BY place)), '');
DROP TABLE fact;
DROP TABLE apart;

-- name: end_titles
UPDATE panel SET title = replace(items, char(10), ', ');
DROP TABLE named;
