-- The error with each core over the error with the first core, on the same landmarks: medians over heads and trials.
-- needs: core_contest
CREATE TEMP TABLE core_ratio AS
SELECT panel_id, variant_id, core_id, landmarks, count(ratio) AS count, median(ratio) AS median,
       quantile(ratio, 0.1) AS p10, quantile(ratio, 0.9) AS p90, median_low(ratio, source_id) AS low,
       median_high(ratio, source_id) AS high
FROM core_contest GROUP BY panel_id, variant_id, core_id, landmarks;
