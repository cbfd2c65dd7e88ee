-- How many times faster a cell is than an exact attention beside it, in the same rounds: the median of the pairs of its
-- rows. Times have no rounding noise, so ratios are plain.
-- needs: cell pairs:attention
CREATE TEMP TABLE speedup AS
SELECT a.cell_id, b.attention_id AS exact_id, median(b.amortized_s / a.amortized_s) AS times
FROM pair AS p JOIN pass AS a ON a.id = p.a_id JOIN pass AS b ON b.id = p.b_id AND b.trial = a.trial
WHERE question = 'attention' AND p.trial = a.trial AND refusal IS NULL
    AND b.attention_id IN (SELECT attention_id FROM exact)
GROUP BY a.cell_id, b.attention_id;

-- Cells with a row each that are compared: of the same layers, and of one call of the program, see pairs.sql.
CREATE TEMP TABLE compared AS
SELECT DISTINCT a.cell_id, b.cell_id AS other_id FROM pair AS p JOIN pass AS a ON a.id = p.a_id
JOIN pass AS b ON b.id = p.b_id
WHERE question = 'attention' AND refusal IS NULL;
CREATE UNIQUE INDEX comparisons ON compared (cell_id, other_id);

-- best: nothing of the same family, threads and n is at least as fast and as good, and better in one of both, by the
-- medians; of cells that are compared with the first one, the baseline where it is there. Exact outputs differ by
-- rounding alone: errors up to exact_output_error() are the same. `compare` asks another question, of ratios over all
-- layers.
CREATE TEMP TABLE front AS
WITH timed_cell AS (
    SELECT cell_id, family_id, threads, n, amortized_s AS s, max(output_error, exact_output_error()) AS error,
           first_value(cell_id) OVER (
               PARTITION BY family_id, threads, n ORDER BY attention IS NOT :baseline, attention_id) AS first_id
    FROM cell WHERE output_error IS NOT NULL AND amortized_s IS NOT NULL),
judged_cell AS (SELECT * FROM timed_cell WHERE (cell_id, first_id) IN compared)
SELECT cell_id, NOT EXISTS (
    SELECT 1 FROM judged_cell AS b
    WHERE b.first_id = a.first_id AND b.s <= a.s AND b.error <= a.error AND (b.s < a.s OR b.error < a.error)) AS best
FROM judged_cell AS a;
