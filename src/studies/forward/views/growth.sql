-- How time and memory of an attention grow with n: lines through logarithms of the cells' medians.
-- needs: cell
CREATE TEMP TABLE growth AS
SELECT family_id, layers, threads, attention_id, attention, attention_label, min(n) AS n_from, max(n) AS n_to,
       count(*) AS n_count, slope(ln(n), CASE WHEN amortized_s > 0 THEN ln(amortized_s) END) AS time,
       slope(ln(n), CASE WHEN workspace_bytes > 0 THEN ln(workspace_bytes) END) AS workspace,
       slope(ln(n), CASE WHEN peak_bytes > 0 THEN ln(peak_bytes) END) AS peak
FROM cell GROUP BY family_id, threads, attention_id HAVING count(*) > 1;
