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
SELECT layers, threads, attention, n_from, n_to, n_count, center(time) AS time_slope, low(time) AS time_low,
       high(time) AS time_high, center(workspace) AS workspace_slope, low(workspace) AS workspace_low,
       high(workspace) AS workspace_high, center(peak) AS peak_slope, low(peak) AS peak_low, high(peak) AS peak_high
FROM growth ORDER BY family_id, threads, attention_id;

SELECT layers, threads, attention_label AS attention, n_from AS "from n", n_to AS "to n", n_count AS n,
       center(time) AS time, low(time) AS _time_low, high(time) AS _time_high, center(workspace) AS workspace,
       low(workspace) AS _workspace_low, high(workspace) AS _workspace_high, center(peak) AS peak,
       low(peak) AS _peak_low, high(peak) AS _peak_high
FROM growth ORDER BY family_id, threads, attention_id;
