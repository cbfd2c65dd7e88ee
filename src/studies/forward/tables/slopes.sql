-- summary: how time and memory grow with n: the exponent, with t intervals
-- reference: none: least squares on logarithms
-- place: 2
-- file: slopes.csv
-- needs: growth
-- heading: Growth: the exponent of n in time and memory, with 95 % t intervals
-- labels: 3
-- cell: time: {time: %.2f} ({_time_low: %.2f} to {_time_high: %.2f}) | {time: %.2f} | -
-- cell: workspace: {workspace: %.2f} ({_workspace_low: %.2f} to {_workspace_high: %.2f}) | {workspace: %.2f} | -
-- cell: peak: {peak: %.2f} ({_peak_low: %.2f} to {_peak_high: %.2f}) | {peak: %.2f} | -
-- holds: Least squares on logarithms of the medians at each n; the intervals are those of points that scatter about a
--   line, and these bend.
SELECT layers, threads, attention, n_from, n_to, n_count, time AS time_slope, time_low, time_high,
       workspace AS workspace_slope, workspace_low, workspace_high, peak AS peak_slope, peak_low, peak_high
FROM growth ORDER BY family_id, threads, attention_id;

SELECT layers, threads, attention_label AS attention, n_from AS "from n", n_to AS "to n", n_count AS n,
       time, time_low AS _time_low, time_high AS _time_high, workspace,
       workspace_low AS _workspace_low, workspace_high AS _workspace_high, peak,
       peak_low AS _peak_low, peak_high AS _peak_high
FROM growth ORDER BY family_id, threads, attention_id;
