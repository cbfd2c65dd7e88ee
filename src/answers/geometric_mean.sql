-- The mean logarithm of a metric in each group of rows that differ in the trial alone.
SELECT stratum_id AS stratum, source_id AS source, head_id AS head, group_id, mean(ln(x)) AS value
FROM claim_point GROUP BY group_id HAVING count(x) > 0 OR NOT max(noise);
