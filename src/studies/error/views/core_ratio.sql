-- The error with each core over the error with the first core, on the same landmarks: medians over heads and trials.
-- needs: above
CREATE TEMP VIEW core_pair AS
SELECT a.*, b.error AS first_error, b.error_noise AS first_noise, b.error_se AS first_se,
       CASE WHEN NOT (a.noise AND b.noise) THEN a.error / b.error END AS ratio
FROM core AS first JOIN above AS a ON a.core_id <> first.id
LEFT JOIN above AS b ON b.choice_id = a.choice_id AND b.core_id = first.id WHERE first.place = 0;

CREATE TEMP TABLE core_ratio AS
SELECT panel_id, variant_id, core_id, landmarks, count(ratio) AS count, median(ratio) AS median,
       quantile(ratio, 0.1) AS p10, quantile(ratio, 0.9) AS p90, over_sources(ratio, source_id) AS interval
FROM core_pair GROUP BY panel_id, variant_id, core_id, landmarks;
