-- What a query of a claim reads (claim_measure.h), of the rows that it is about:
--
--   claim_choice   a row each: id, stratum_id, source_id, head_id, trial, draws; group_id, which rows share that differ
--                  in nothing but the trial and the column `over`; at, that column (of components, their number);
--                  last_trial, as of `key`; x1, x2: the metrics, NULL where there is no result or it is left out as
--                  rounding noise (noise1, noise2): for logarithms, ranks and slopes, while in a mean it counts;
--                  disturbed1, disturbed2: other work disturbed the time
--   claim_value    a row for each metric of it: series, 1 or 2, x, noise, disturbed
--   claim_point    claim_value, and
--   claim_row      `run` with group_id, at, x and y, both without what stands for the trial in claim_without alone, if
--                  any
--
-- Rows are grouped here and not by pairs.sql: a group has any number of rows, in any column `over`, of one or two
-- metrics; what it may differ in beside these is said by `confounded`, as of pairs.

-- name: tables
DROP TABLE IF EXISTS temp.claim_without;
CREATE TEMP TABLE claim_without (trial INTEGER);

DROP TABLE IF EXISTS temp.claim_choice;
CREATE TEMP TABLE claim_choice AS
SELECT * FROM (
    SELECT id, trial, last_trial, stratum_id, source_id, head_id, draws, {at} AS at,
           CAST(min(number) OVER (PARTITION BY head_id, source_id{group_keys:, @}{build}) AS INTEGER) AS group_id,
           {series1}, {series2}
    FROM run WHERE id IN (SELECT id FROM temp.{rows}))
WHERE in1 OR in2;

DROP TABLE IF EXISTS temp.claim_value;
CREATE TEMP TABLE claim_value AS
SELECT group_id, at, trial, last_trial, 1 AS series, id, stratum_id, source_id, head_id, x1 AS x, noise1 AS noise,
       disturbed1 AS disturbed FROM claim_choice WHERE in1
UNION ALL
SELECT group_id, at, trial, last_trial, 2, id, stratum_id, source_id, head_id, x2, noise2, disturbed2
FROM claim_choice WHERE in2;
CREATE INDEX claim_values ON claim_value (group_id, at, trial, last_trial, series, x, noise, stratum_id, source_id,
                                          head_id, id);

CREATE TEMP VIEW IF NOT EXISTS claim_point AS
SELECT group_id, at, series, id, stratum_id, source_id, head_id, trial, x, noise FROM claim_value
WHERE last_trial IS NOT (SELECT trial FROM claim_without);

CREATE TEMP VIEW IF NOT EXISTS claim_row AS
SELECT run.*, c.group_id, c.at, c.x1 AS x, c.x2 AS y FROM claim_choice AS c CROSS JOIN run ON run.id = c.id
WHERE c.last_trial IS NOT (SELECT trial FROM claim_without);

-- The columns of a metric in claim_choice, which is meant in {rows}.
-- name: series
id IN (SELECT id FROM temp.{rows}) AS {in},
           CASE WHEN status = 'ok' AND NOT is_noise({metric}, {noise}) THEN {metric} END AS {x},
           (status = 'ok' AND is_noise({metric}, {noise})) IS TRUE AS {is_noise},
           coalesce({is_disturbed}, 0) AS {disturbed}

-- Of a claim without a metric; of one without a second.
-- name: results
1 AS in1, CASE WHEN status = 'ok' THEN 1 END AS x1, 0 AS noise1, 0 AS disturbed1

-- name: no_series
0 AS in2, NULL AS x2, 0 AS noise2, 0 AS disturbed2

-- name: build
, (SELECT build FROM build JOIN main.results AS r USING (manifest) WHERE r.rowid = run.id)

-- The rows that have a result.
-- name: counts
SELECT count(x), count(CASE WHEN disturbed THEN x END), count(CASE WHEN noise THEN 1 END),
       count(CASE WHEN x IS NULL AND NOT noise THEN 1 END), min(CASE WHEN x < 0 THEN x END)
FROM claim_value;

-- In which trials there are rows of a group or a source.
-- name: trials
SELECT DISTINCT CASE WHEN :has_groups THEN group_id ELSE source_id END, trial FROM claim_choice
WHERE trial = last_trial
ORDER BY 1, 2;

-- name: leave_out
DELETE FROM claim_without;
INSERT INTO claim_without VALUES (:trial);

-- name: drawn
SELECT DISTINCT stratum_id FROM claim_choice WHERE draws;

-- name: strata
SELECT stratum_id FROM source ORDER BY id;
