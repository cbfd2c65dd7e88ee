-- Of the pairs of a question (rows/pairs.sql): its values and settings, what each has, and the pairs with a baseline.

-- The first row of each value, or of each setting, which is a scope where it is :pooled: what is known of it in columns
-- {cells}, and what it is known by among pairs.
-- name: first_of_values
SELECT {cells} first.value, CASE WHEN :pooled THEN scope ELSE setting END
FROM (SELECT value, setting, scope, id, min(number) AS number FROM agreed WHERE question = :question GROUP BY value)
    AS first
CROSS JOIN run ON run.id = first.id ORDER BY first.number;

-- name: first_of_settings
SELECT {cells} first.known_by
FROM (SELECT CASE WHEN :pooled THEN scope ELSE setting END AS known_by, id, min(number) AS number FROM agreed
      WHERE question = :question GROUP BY 1) AS first
CROSS JOIN run ON run.id = first.id ORDER BY first.number;

-- name: several
SELECT 1 FROM side WHERE question = :question GROUP BY same, trial, value HAVING count(*) > 1 LIMIT 1;

-- name: row_counts
WITH counted AS (SELECT value, count(*) AS rows FROM side WHERE question = :question GROUP BY value)
SELECT rows
FROM (SELECT value, min(number) AS first FROM agreed WHERE question = :question GROUP BY value) JOIN counted
    USING (value)
ORDER BY first;

-- The pairs of the values from the :first on with a baseline, whose number is :baseline, and what it is known by :b.
-- name: pairs
WITH code AS MATERIALIZED (
    SELECT value, dense_rank() OVER (ORDER BY min(number)) - 1 AS code FROM agreed WHERE question = :question
    GROUP BY value)
SELECT code, CASE WHEN :pooled THEN scope ELSE setting END, refusal, stratum_id, source_id, head_id, trial, same,
       draws, skipped_x, skipped_y, untimed_x, untimed_y, exact_x, exact_y, disturbed, x, y, noise_x, noise_y, se_x,
       se_y
FROM pair JOIN code ON value = a
WHERE question = :question AND b = :b AND code >= :first AND code <> :baseline;

-- name: refusal
SELECT refusal FROM {refused} WHERE a = :a AND b = :b;
