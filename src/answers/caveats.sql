-- What a reader of the run should know before its numbers: each statement answers with one sentence, or with none.
-- caveats.c says which of the study's columns a statement needs.

-- name: unfinished
SELECT 'The run is not finished: ' || count(CASE WHEN status = 'planned' THEN 1 END) || ' of ' || count(*) ||
       ' rows have not been measured yet.'
FROM key HAVING count(CASE WHEN status = 'planned' THEN 1 END) > 0;

-- name: wrong
WITH wrong AS (
    SELECT status, count(*) AS rows, min(position) AS first FROM key WHERE status NOT IN ('ok', 'skipped', 'planned')
    GROUP BY status)
SELECT (SELECT count(*) FROM key WHERE status IN (SELECT status FROM wrong)) || ' of ' || (SELECT count(*) FROM key) ||
       ' rows went wrong (' || listed(rows || ' ' || status, status) || ') and count in no median and no ratio.'
FROM wrong HAVING count(*) > 0;

-- name: no_memory_left
SELECT count(*) || ' rows ran out of memory, of which each worker had a share: ' || field('retry', 'failed') ||
       ' with fewer workers (' || field('jobs', NULL) || ') or more memory (' || field('memory', NULL) ||
       ') may measure them.'
FROM run WHERE status NOT IN ('ok', 'skipped') AND instr(reason, :enomem) HAVING count(*) > 0;

-- name: few_sources
WITH small_stratum AS (
    SELECT stratum.id, stratum.label, count(*) AS sources
    FROM source JOIN stratum ON stratum.id = stratum_id GROUP BY stratum.id
    HAVING count(*) < least_sources())
SELECT 'Few sources (texts, images, or draws of generated data), and no verdict about others from fewer than ' ||
       least_sources() || ': ' ||
       listed(sources || ' of ' || label, id) || '.'
FROM small_stratum HAVING count(*) > 0;

-- name: few_trials
WITH trials_of_method AS (SELECT max(trial) + 1 AS trials FROM scored WHERE draws GROUP BY method)
SELECT 'Few trials: ' || min(trials) || '. In a trial strategies draw the same for all sources, so more sources do ' ||
       'not make up for few trials' ||
       CASE WHEN min(trials) < 3 THEN ', and comparisons have no verdict.' ELSE ': intervals are wide.' END
FROM trials_of_method HAVING min(trials) < 5;

-- All methods of a head in a trial are ranked, which no pair of rows says. So the contest of a row is found here:
-- what it agrees in with others, but for its method.
-- name: oracle_leads
WITH line AS (SELECT line_id, dense_rank() OVER (ORDER BY head_id{others:, @}) AS contest FROM key WHERE opens),
entry AS MATERIALIZED (
    SELECT contest, trial, last_trial, method, x AS result FROM scored JOIN line USING (line_id)
    WHERE status = 'ok' AND NOT is_noise(x, noise)
        AND (SELECT max(oracle) FROM component WHERE kind = :by)),
per_trial AS (
    SELECT contest, trial, method, result FROM entry
    UNION ALL SELECT contest, i.trial, method, result
    FROM entry CROSS JOIN (SELECT DISTINCT contest, trial FROM entry) AS i USING (contest)
    WHERE entry.trial < last_trial AND i.trial > entry.trial AND i.trial <= last_trial),
ranked AS ( -- next: the method behind it
    SELECT method, row_number() OVER of AS place, lead(method) OVER of AS next
    FROM per_trial WINDOW of AS (PARTITION BY contest, trial ORDER BY result, method)),
leader AS (
    SELECT method, count(*) AS leads FROM ranked WHERE place = 1 AND next IS NOT NULL GROUP BY method
    ORDER BY leads DESC, method LIMIT 1)
SELECT 'An oracle is in the lead: ' || label || ', oracle has the least ' || :metric || ' most often, in ' ||
       leads || ' of ' || (SELECT count(*) FROM ranked WHERE place = 1 AND next IS NOT NULL) ||
       ' comparisons. It looks at what it is to approximate, and so says what is possible, not what to use.'
FROM leader JOIN component ON kind = :by AND id = method WHERE oracle;

-- name: noise
SELECT count(CASE WHEN is_noise(x, noise) THEN 1 END) || ' of ' || count(*) || ' values of ' || :metric ||
       ' are not above their rounding noise (column ' || :noise || '): they say that it is small, and nothing about ' ||
       'which is smaller.'
FROM scored WHERE status = 'ok' AND x IS NOT NULL HAVING count(CASE WHEN is_noise(x, noise) THEN 1 END) > 0;

-- In how many rows a method is no better than equal weights, and in how many places mostly so: on a head of a model
-- (head_conflict.sql), which others may hide, or in a layer where the study's rows are of whole layers.
-- name: beside_equal
CREATE TEMP TABLE beside_equal AS
WITH result AS MATERIALIZED (
    SELECT {by_id} AS id, stratum_id, place.id AS place, {error} >= {trivial} AS worse
    FROM run JOIN place USING (head_id) WHERE status = 'ok' AND {error} IS NOT NULL),
per_place AS (
    SELECT id, count(*) AS results, count(CASE WHEN worse THEN 1 END) AS worse FROM result
    GROUP BY id, stratum_id, place)
SELECT id, count(*) AS places, count(CASE WHEN 2 * worse > results THEN 1 END) AS worse_places,
       sum(results) AS results, sum(worse) AS worse
FROM per_place GROUP BY id;

-- Of a comparison too, whose warning goes on with :mostly in small letters.
-- name: trivial
SELECT :mostly || ' no better than equal weights for all tokens (column ' || :trivial || '): ' ||
       listed(label || CASE WHEN oracle THEN ', oracle' ELSE '' END || ' (' ||
              CASE WHEN places = 1 THEN worse || ' of ' || results || ' rows'
                  ELSE 'on ' || worse_places || ' of ' || places || ' ' || :places END || ')',
              id) || '.'
FROM beside_equal JOIN component USING (id) WHERE kind = :by AND worse_places > 0 HAVING count(*) > 0;

-- name: warnings
SELECT rows || ' of ' || (SELECT count(*) FROM key) || ' rows came with a warning; the first: ' || reason || '.'
FROM (SELECT count(*) AS rows, min(run.position), reason FROM run JOIN scored USING (id)
      WHERE run.status = 'ok' AND reason <> '' AND is_noise(x, noise) IS NOT TRUE)
WHERE rows > 0;

-- name: no_memory_told
SELECT (count(*) - count({memory})) || ' of ' || count(*) || ' rows have no ' || :memory ||
       ': the system did not tell what memory they took.'
FROM run WHERE status = 'ok' HAVING count({memory}) < count(*);

-- name: memory_short
WITH machine AS (
    SELECT min(CAST(json_extract(text, '$.memory_mib') AS REAL)) AS mib FROM main.manifests
    WHERE id IN (SELECT manifest FROM main.results WHERE position IS NOT NULL)),
most AS (SELECT max({memory}) / 1048576.0 AS mib FROM run WHERE status = 'ok')
SELECT 'Memory was short: a row took up to ' || CAST(round(most.mib) AS INTEGER) || ' MiB (column ' || :memory ||
       ') of the ' || CAST(round(machine.mib) AS INTEGER) || ' MiB that the machine has, so that times may have ' ||
       'pages in them that were written out and read again.'
FROM most JOIN machine WHERE most.mib > 0.5 * machine.mib;

-- name: machines
WITH machine AS (
    SELECT coalesce(json_extract(text, '$.host'), '') || ' (' || coalesce(json_extract(text, '$.cpu'), '') || ')'
        AS name,
           min(id) AS first
    FROM main.manifests WHERE id IN (SELECT manifest FROM main.results WHERE position IS NOT NULL) GROUP BY 1)
SELECT 'The rows were measured on ' || count(*) || ' machines: ' || listed(name, first) || '.'
FROM machine HAVING count(*) > 1;

-- name: calls
SELECT 'The times were taken in ' || count(*) ||
       ' calls of the program, between which the machine may have changed its pace.'
FROM main.manifests WHERE :exclusive AND id IN (SELECT manifest FROM main.results WHERE position IS NOT NULL)
HAVING count(*) > 1;
