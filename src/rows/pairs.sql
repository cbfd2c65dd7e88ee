-- The pairs of rows that a question (:question) is about, of its rows in the view `question_row` and their lines in
-- `question_line`. Both views are of the question's columns. `pair`, `met_on` and `not_pooled` are views too, and the
-- others are tables.
--
--   agreed   each line of rows, by what it agrees in with others: setting (all but what is compared and the data),
--            scope (a setting without its landmarks, or without what is pooled) and same (setting, head and build) are
--            known by the number of their first row
--   side     each row in a pair; one that stands for several trials (key.last_trial) is there for each that others of
--            its scope have on its head, so that what is pooled with it has as many
--   pair     two sides, a and b, of one trial that are the same but for what is compared; x, y: their results, NULL
--            where there is none; untimed: its row is well and has no time; noise, ratio: as the estimator takes them
--            (functions.h); refusal: why the two are not compared in this setting, or NULL; never 'build', since rows
--            of two builds are no pair
--   not_compared
--            two values, either way round, that are not compared in a setting that both have rows in. refusal says in
--            what else they differ there: 'rows_seen', of a pair with two results only one has looked at rows of S that
--            both are judged on; 'build', on no head of the setting have both rows of one build, which for times is one
--            call of a program. Two values without any pair are in the view {refused}, with what they differ in
--   met_on   where there are several builds: whether two values, either way round, have rows of one build on a head
--            that both have rows on
--   not_pooled
--            two values that are not compared in a setting for 'rows_seen', and so are not over its scope; 'build' is
--            of its setting alone

-- Which program has measured rows.
-- name: programs
CREATE TEMP TABLE build (manifest INTEGER PRIMARY KEY, build INTEGER);
INSERT INTO build
SELECT id, dense_rank() OVER (ORDER BY first) - 1
FROM (SELECT id, min(id) OVER (PARTITION BY executable, coalesce(json_extract(text, '$.arithmetic'),
          'arithmetic unknown')) AS first
      FROM main.manifests);

-- In which call of a program.
-- name: calls
CREATE TEMP TABLE build (manifest INTEGER PRIMARY KEY, build INTEGER);
INSERT INTO build SELECT id, dense_rank() OVER (ORDER BY id) - 1 FROM main.manifests;

-- name: several_builds
SELECT count(DISTINCT build) > 1 FROM build;

-- name: any_input
SELECT 1 FROM component WHERE input IS NOT NULL LIMIT 1;

-- The rows of {from}, key or run, that a question is about.
-- name: all_rows
{from}

-- name: chosen_rows
temp.{among} AS chosen CROSS JOIN {from} ON {from}.id = chosen.id

-- Each with its build, and how its files are read.
-- name: rows
SELECT {from}.*, 0 AS build, (SELECT input FROM component WHERE kind = 'problem' AND id = {from}.problem_id) AS input_id
FROM {rows}

-- name: rows_of_builds
SELECT {from}.*, coalesce(b.build, 0) AS build,
       (SELECT input FROM component WHERE kind = 'problem' AND id = {from}.problem_id) AS input_id
FROM {rows} JOIN main.results AS signed ON signed.rowid = {from}.id LEFT JOIN build AS b ON b.manifest = signed.manifest

-- The lines that a question is about, each with its first row; those of all rows are in `key`.
-- name: all_lines
SELECT line_id, 0 AS build, number, id FROM key WHERE opens

-- name: lines
SELECT line_id, build, min(number) AS number, id FROM ({keys}) GROUP BY line_id, build

-- scope: a text that is the same where all values are that rows of a setting agree in; a NULL is a value of its own.
-- seen: whether a value that is judged on rows of S that its method may have looked at is another than one that is not.
-- name: views
DROP VIEW IF EXISTS temp.question_line;
DROP VIEW IF EXISTS temp.question_row;
CREATE TEMP VIEW question_line AS {lines};
CREATE TEMP VIEW question_row AS
SELECT id, line_id, trial, status, stratum_id, source_id, head_id, draws, build, {value} AS value,
       ''{scope: || quote(@) || ' '} AS scope, ''{pooled: || quote(@) || ' '} AS pooled, {x} AS x, {noise} AS noise,
       {se} AS se, coalesce({unseen} <> {x}, 1) AS seen, {untimed} AS untimed, coalesce({exact}, 0) AS exact,
       coalesce({disturbed}, 0) AS disturbed
FROM ({rows}) AS asked;

-- Two values, either way round, of which pairs are not compared, or that have none in any setting: then refusal says in
-- what else the first row of a differs from that row of b on its head that is most like it, 'pairing and build'; '':
-- there is no such row.
-- name: refused
DROP VIEW IF EXISTS temp.{refused};
CREATE TEMP VIEW {refused} AS
WITH line AS NOT MATERIALIZED (SELECT * FROM agreed WHERE question = {question}),
first AS (SELECT value, id, head_id, build, min(number) AS number FROM line GROUP BY value)
SELECT DISTINCT a, b, refusal FROM not_compared WHERE question = {question} AND refusal = 'rows_seen'
UNION ALL
SELECT x.value AS a, z.value AS b, coalesce((
           SELECT substr(names, length(' and ') + 1)
           FROM (SELECT ''{differs} || CASE WHEN x.build <> y.build THEN ' and build' ELSE '' END AS names, y.number,
                        (x.build <> y.build){keys: + (p.@ IS NOT q.@)} AS differences
                 FROM line AS y CROSS JOIN run AS p ON p.id = x.id CROSS JOIN run AS q ON q.id = y.id
                 WHERE y.value = z.value AND y.head_id = x.head_id)
           ORDER BY differences, number LIMIT 1), '') AS refusal
FROM first AS x CROSS JOIN first AS z ON z.value <> x.value
WHERE NOT EXISTS (SELECT 1 FROM line AS p CROSS JOIN line AS q ON q.same = p.same
                  WHERE p.value = x.value AND q.value = z.value);

-- name: differs
 || CASE WHEN p.{name} IS NOT q.{name} THEN ' and ' || {text} ELSE '' END

-- A time is missing; memory may be missing in a row that is timed, {usual}.
-- name: untimed
status = 'ok' AND {metric} IS NULL AND {usual} IS NULL

-- name: tables
CREATE TEMP TABLE IF NOT EXISTS agreed (
    question TEXT, line_id INTEGER, build INTEGER, id INTEGER, number INTEGER, value, setting INTEGER, scope INTEGER,
    head_id INTEGER, same INTEGER, PRIMARY KEY (question, line_id, build)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS agreeing ON agreed (question, value, same);

CREATE TEMP TABLE IF NOT EXISTS side (
    question TEXT, same INTEGER, trial INTEGER, value, id INTEGER, setting INTEGER, scope INTEGER, stratum_id INTEGER,
    source_id INTEGER, head_id INTEGER, draws INTEGER, skipped INTEGER, untimed INTEGER, seen INTEGER,
    exact INTEGER, disturbed INTEGER, x REAL, noise REAL, se REAL,
    PRIMARY KEY (question, same, trial, value, id)) WITHOUT ROWID;

CREATE TEMP TABLE IF NOT EXISTS not_compared (
    question TEXT, setting INTEGER, a, b, scope INTEGER, refusal TEXT, PRIMARY KEY (question, setting, a, b))
    WITHOUT ROWID;

CREATE TEMP VIEW IF NOT EXISTS met_on AS
SELECT a.question, a.setting, a.scope, a.head_id, a.value AS a, b.value AS b, max(a.same = b.same) AS met
FROM agreed AS a JOIN agreed AS b ON b.question = a.question AND b.setting = a.setting AND b.head_id = a.head_id
WHERE a.value <> b.value AND (SELECT max(build) FROM agreed) > 0
GROUP BY a.question, a.setting, a.head_id, a.value, b.value;

CREATE TEMP VIEW IF NOT EXISTS not_pooled AS
SELECT DISTINCT question, scope, a, b FROM not_compared WHERE refusal = 'rows_seen';

CREATE TEMP VIEW IF NOT EXISTS pair AS
SELECT a.question, a.value AS a, b.value AS b, a.setting, a.scope, a.stratum_id, a.source_id, a.head_id, a.trial,
       a.same, a.id AS a_id, b.id AS b_id, a.x, b.x AS y, a.noise AS noise_x, b.noise AS noise_y,
       a.se AS se_x, b.se AS se_y,
       a.draws OR b.draws AS draws, a.skipped AS skipped_x, b.skipped AS skipped_y, a.untimed AS untimed_x,
       b.untimed AS untimed_y, a.exact AS exact_x, b.exact AS exact_y, a.disturbed OR b.disturbed AS disturbed,
       (SELECT refusal FROM not_compared AS n WHERE n.question = a.question AND n.setting = a.setting
            AND n.a = a.value AND n.b = b.value) AS refusal,
       pair_noise(a.x, b.x, a.noise, b.noise) AS noise, pair_ratio(a.x, b.x, a.noise, b.noise) AS ratio
FROM side AS a CROSS JOIN side AS b ON b.question = a.question AND b.same = a.same AND b.trial = a.trial;

-- name: make
DELETE FROM agreed WHERE question = :question;
DELETE FROM side WHERE question = :question;
DELETE FROM not_compared WHERE question = :question;

INSERT INTO agreed
WITH line AS MATERIALIZED (
    SELECT q.line_id, q.build, q.id, q.number, value, head_id, scope, pooled
    FROM question_line AS q CROSS JOIN question_row AS r ON r.id = q.id),
setting AS MATERIALIZED (SELECT scope, pooled, min(number) AS setting FROM line GROUP BY scope, pooled),
scope AS MATERIALIZED (SELECT scope, min(setting) AS first FROM setting GROUP BY scope),
comparable AS MATERIALIZED ( -- lines of a setting, a head and a build
    SELECT setting, head_id, build, min(number) AS same
    FROM line CROSS JOIN setting USING (scope, pooled) GROUP BY setting, head_id, build)
SELECT :question, line_id, build, id, number, value, setting, scope.first, head_id, same
FROM line CROSS JOIN setting USING (scope, pooled) CROSS JOIN scope USING (scope)
CROSS JOIN comparable USING (setting, head_id, build);

INSERT INTO side
SELECT :question, g.same, trial, g.value, r.id, g.setting, g.scope, stratum_id, source_id, r.head_id, draws,
       status = 'skipped', untimed, seen, exact, disturbed, CASE WHEN status = 'ok' THEN x END, noise, se
FROM question_row AS r CROSS JOIN agreed AS g ON g.question = :question AND g.line_id = r.line_id AND g.build = r.build
ORDER BY 2, 3, 4, 5;

INSERT INTO side
WITH lasting AS MATERIALIZED (
    SELECT g.same, k.trial, g.value, g.id, last_trial FROM agreed AS g CROSS JOIN key AS k ON k.id = g.id
    WHERE g.question = :question AND k.trial < k.last_trial),
later_trial AS MATERIALIZED (
    SELECT scope, head_id, trial, source_id FROM side
    WHERE question = :question AND trial > 0 AND EXISTS (SELECT 1 FROM lasting) GROUP BY scope, head_id, trial)
SELECT l.question, l.same, t.trial, l.value, l.id, l.setting, l.scope, l.stratum_id, t.source_id, l.head_id,
       l.draws, l.skipped, l.untimed, l.seen, l.exact, l.disturbed, l.x, l.noise, l.se
FROM lasting CROSS JOIN side AS l USING (same, trial, value, id)
CROSS JOIN later_trial AS t ON t.scope = l.scope AND t.head_id = l.head_id AND t.trial > l.trial
    AND t.trial <= last_trial
WHERE l.question = :question;

INSERT INTO not_compared
WITH uneven_setting AS (
    SELECT DISTINCT setting FROM side
    WHERE question = :question AND x IS NOT NULL AND seen
        AND setting IN (SELECT setting FROM side WHERE question = :question AND x IS NOT NULL AND NOT seen)),
looked AS MATERIALIZED (
    SELECT same, trial, value, setting, scope, max(seen) AS some, min(seen) AS every FROM side
    WHERE question = :question AND setting IN uneven_setting AND x IS NOT NULL GROUP BY same, trial, value),
uneven_pair AS MATERIALIZED (
    SELECT DISTINCT a.setting, a.value AS a, b.value AS b, a.scope
    FROM looked AS a CROSS JOIN looked AS b ON b.same = a.same AND b.trial = a.trial WHERE a.some AND NOT b.every)
SELECT :question, setting, a, b, scope, 'rows_seen' FROM uneven_pair
UNION SELECT :question, setting, b, a, scope, 'rows_seen' FROM uneven_pair;

-- name: make_of_builds
INSERT INTO not_compared
SELECT question, setting, a, b, scope, 'build' FROM met_on WHERE question = :question
GROUP BY setting, a, b HAVING NOT max(met);
