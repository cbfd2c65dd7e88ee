-- How time and memory of an attention grow with n: lines through logarithms of the cells' medians.
-- needs: cell
CREATE TEMP TABLE growth AS
SELECT family_id, layers, threads, attention_id, attention, attention_label, min(n) AS n_from, max(n) AS n_to,
       count(*) AS n_count, slope(ln_n, ln_s) AS time, slope_low(ln_n, ln_s) AS time_low,
       slope_high(ln_n, ln_s) AS time_high, slope(ln_n, ln_workspace) AS workspace,
       slope_low(ln_n, ln_workspace) AS workspace_low, slope_high(ln_n, ln_workspace) AS workspace_high,
       slope(ln_n, ln_peak) AS peak, slope_low(ln_n, ln_peak) AS peak_low, slope_high(ln_n, ln_peak) AS peak_high
FROM (SELECT *, ln(n) AS ln_n, CASE WHEN amortized_s > 0 THEN ln(amortized_s) END AS ln_s,
             CASE WHEN workspace_bytes > 0 THEN ln(workspace_bytes) END AS ln_workspace,
             CASE WHEN peak_bytes > 0 THEN ln(peak_bytes) END AS ln_peak
      FROM cell) GROUP BY family_id, threads, attention_id HAVING count(*) > 1;
