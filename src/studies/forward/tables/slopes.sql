-- summary: how time and memory grow with n: the exponent, with t intervals
-- reference: none: least squares on logarithms
-- place: 2
-- file: slopes.csv
-- needs: growth
-- heading: Growth: the exponent of n in time and memory, with 95 % t intervals
-- labels: 3
-- holds: Least squares on logarithms of the medians at each n; the intervals are those of points that scatter about a
--   line, and these bend.
SELECT layers, threads, attention, n_from, n_to, n_count, center(time) AS time_slope, low(time) AS time_low,
       high(time) AS time_high, center(workspace) AS workspace_slope, low(workspace) AS workspace_low,
       high(workspace) AS workspace_high, center(peak) AS peak_slope, low(peak) AS peak_low, high(peak) AS peak_high
FROM growth ORDER BY family_id, threads, attention_id;

SELECT layers, threads, attention_label AS attention, n_from AS "from n", n_to AS "to n", n_count AS n,
       coalesce(shown('%.2f', center(time)) || coalesce(' (' || shown('%.2f', low(time)) || ' to '
                || shown('%.2f', high(time)) || ')', ''), '-') AS time,
       coalesce(shown('%.2f', center(workspace)) || coalesce(' (' || shown('%.2f', low(workspace)) || ' to '
                || shown('%.2f', high(workspace)) || ')', ''), '-') AS workspace,
       coalesce(shown('%.2f', center(peak)) || coalesce(' (' || shown('%.2f', low(peak)) || ' to '
                || shown('%.2f', high(peak)) || ')', ''), '-') AS peak
FROM growth ORDER BY family_id, threads, attention_id;
