-- What a scope is called: name and stem (of a figure: the core in any case) have what scopes differ in. items: name, a
-- line each.
-- needs: setting
CREATE TEMP TABLE scope_name AS
WITH kind AS (
    SELECT 'core' AS kind, 1 AS place UNION ALL SELECT 'kernel', 2 UNION ALL SELECT 'pairing', 3
    UNION ALL SELECT 'factors', 4 UNION ALL SELECT 'rows', 5 UNION ALL SELECT 'engine', 6
    UNION ALL SELECT 'precision', 7 UNION ALL SELECT 'input', 8),
scope AS (SELECT DISTINCT scope_id FROM setting),
part AS (
    SELECT scope_id, kind, place, CASE kind WHEN 'input' THEN coalesce((
               SELECT input FROM component AS p WHERE p.kind = 'problem' AND p.id = k.problem_id), '-')
           ELSE (SELECT label FROM component AS c WHERE c.kind = kind.kind AND c.id = CASE kind.kind
               WHEN 'kernel' THEN k.kernel_id WHEN 'pairing' THEN k.pairing_id WHEN 'factors' THEN k.factors_id
               WHEN 'core' THEN k.core_id WHEN 'rows' THEN k.rows_id WHEN 'engine' THEN k.engine_id
               ELSE k.precision_id END) END AS label
    FROM scope JOIN key AS k ON k.number = scope_id JOIN kind),
compared_part AS (
    SELECT *, min(label) OVER (PARTITION BY kind) <> max(label) OVER (PARTITION BY kind) AS apart FROM part),
joined_part AS (
    SELECT scope_id, place, group_concat(CASE WHEN apart THEN kind || ' ' || label END, ', ') OVER by_place AS name,
           group_concat(CASE WHEN apart THEN kind || ' ' || label END, char(10)) OVER by_place AS items,
           group_concat(CASE WHEN NOT apart AND label <> '-' THEN kind || ' ' || label END, ', ')
               OVER by_place AS constant,
           group_concat(CASE WHEN apart OR kind = 'core' THEN label END, ', ') OVER by_place AS stem
    FROM compared_part WINDOW by_place AS (PARTITION BY scope_id ORDER BY place)),
over_strata AS (
    SELECT scope AS scope_id, CASE WHEN max(drawn) = 0 THEN 'all models' WHEN min(drawn) THEN 'all problems'
           ELSE 'all models and problems' END AS all_strata
    FROM agreed AS g JOIN key ON key.id = g.id JOIN stratum ON stratum.id = stratum_id
    WHERE question = 'strategy' GROUP BY scope)
SELECT scope_id, coalesce(name, '') AS name, coalesce(items, '') AS items, coalesce(constant, '') AS constant, stem,
       all_strata
FROM joined_part JOIN over_strata USING (scope_id) WHERE place = 8;

CREATE TEMP VIEW method AS
SELECT id, spec, label || CASE WHEN oracle THEN ', oracle' ELSE '' END AS label FROM component WHERE kind = 'strategy';
