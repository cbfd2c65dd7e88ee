-- How many times faster a cell is than an exact attention beside it, in the same rounds: the median of its rows. Times
-- have no rounding noise, so ratios are plain.
-- needs: cell
CREATE TEMP TABLE speedup AS
SELECT a.cell_id, b.attention_id AS exact_id, median(b.amortized_s / a.amortized_s) AS times
FROM pass AS a JOIN pass AS b USING (problem_id, head, heads, threads, trial, cold_id, quality_id, quality_rows_id)
WHERE b.attention_id IN (SELECT attention_id FROM exact)
GROUP BY a.cell_id, b.attention_id;

-- Whether nothing of the same family, threads and n is at least as fast and as good, and better in one of both. Exact
-- outputs in single precision differ by rounding alone: errors below 1e-5 are the same.
CREATE TEMP TABLE front AS
WITH point AS (
    SELECT cell_id, family_id, threads, n, amortized_s AS s, max(output_error, 1e-5) AS error
    FROM cell WHERE output_error IS NOT NULL AND amortized_s IS NOT NULL)
SELECT cell_id FROM point AS a
WHERE NOT EXISTS (
    SELECT 1 FROM point AS b
    WHERE b.family_id = a.family_id AND b.threads = a.threads AND b.n = a.n AND b.s <= a.s AND b.error <= a.error
        AND (b.s < a.s OR b.error < a.error));
