-- The exponent of a power law, metric = c at^value, in each group of rows: the slope of the mean logarithms over
-- trials, on the logarithm of the column, by least squares. Where a metric is 0, and its logarithm infinite, so is the
-- slope, whatever its sign.
WITH per_value AS (
    SELECT stratum_id, source_id, head_id, group_id, at, mean(ln(x)) AS y, max(noise) AS noise
    FROM claim_point GROUP BY group_id, at),
per_group AS (
    SELECT stratum_id AS stratum, source_id AS source, head_id AS head, group_id, count(*) AS points,
           max(noise) AS noise, count(y) AS found, max(abs(y)) AS most,
           slope(CASE WHEN y IS NOT NULL THEN ln(at) END, y) AS slope
    FROM per_value GROUP BY group_id)
SELECT stratum, source, head, group_id,
       CASE WHEN found > 1 THEN CASE WHEN most = 9e999 THEN 9e999 ELSE slope END END AS value
FROM per_group WHERE found > 1 OR (points > 1 AND NOT noise);
