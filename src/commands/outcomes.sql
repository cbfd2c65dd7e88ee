-- How the rows of a run ended (outcomes.c): all, or where :some are asked for, those in the table `asked`.

-- name: asked
CREATE TEMP TABLE asked (position INTEGER PRIMARY KEY);

-- name: failures
SELECT count(*) FROM key WHERE status NOT IN ('ok', 'skipped')
    AND (NOT :some OR position IN (SELECT position FROM asked));

-- What went wrong, in groups of one status and reason, the largest first; nth: in its group.
-- name: wrong
SELECT status, coalesce(reason, 'no reason is known'), count, position, nth,
       dense_rank() OVER (ORDER BY count DESC, status, coalesce(reason, ''))
FROM (SELECT status, reason, position, count(*) OVER same AS count, row_number() OVER (same ORDER BY position) AS nth
      FROM run WHERE status NOT IN ('ok', 'skipped', 'planned')
          AND (NOT :some OR position IN (SELECT position FROM asked))
      WINDOW same AS (PARTITION BY status, coalesce(reason, '')))
ORDER BY 6, position;

-- name: counts
SELECT status, count(*) FROM key WHERE (NOT :some OR position IN (SELECT position FROM asked)) GROUP BY status;

-- name: skipped
SELECT count(*), coalesce(reason, '') FROM run
WHERE status = 'skipped' AND (NOT :some OR position IN (SELECT position FROM asked))
GROUP BY 2 ORDER BY 1 DESC, 2;
