-- What a report asks of a run beside its tables (report.c); also the rows that went wrong, by status and reason, where
-- those that were skipped count too. What a run tells of them at its end is in commands/outcomes.sql.

-- How many rows there are, how they ended, and when the first was measured.
-- name: counts
SELECT count(*), count(CASE WHEN status = 'ok' THEN 1 END), count(CASE WHEN status = 'planned' THEN 1 END),
       count(CASE WHEN status NOT IN ('ok', 'skipped', 'planned') THEN 1 END),
       coalesce((SELECT substr(json_extract(text, '$.started'), 1, 10) FROM manifests
                 WHERE id = (SELECT min(manifest) FROM results WHERE position IS NOT NULL)), '')
FROM key;

-- The rows that went wrong by status and reason, with the labels of the first of each group.
-- name: wrong
-- labels: 1
SELECT g.status, g.count AS rows, coalesce(g.reason, 'no reason is known') AS reason,
       problem_label || ', head ' || head || ', trial ' || trial{axes} AS "the first"
FROM (SELECT status, reason, count(*) AS count, min(position) AS at FROM run WHERE status NOT IN ('ok', 'planned')
      GROUP BY status, reason) AS g
JOIN run ON run.position = g.at ORDER BY g.at;

-- name: component
 || ', ' || {label}

-- name: number
 || ', ' || {text} || ' ' || {column}

-- What the last call kept of the experiment.
-- name: config
SELECT json_extract(text, '$.config') FROM call WHERE back = 1;
