-- What the parts of a pass have of its time: medians of the cell's rows that are timed.
-- needs: cell
CREATE TEMP TABLE share AS
WITH part AS (
    SELECT cell_id, median(select_s / latency_s) AS landmarks, median(core_s / latency_s) AS core,
           median(b_s / latency_s) AS b, median(f_s / latency_s) AS f, median(output_s / latency_s) AS output
    FROM pass WHERE latency_s IS NOT NULL GROUP BY cell_id)
SELECT *, coalesce(max(0.0, 1 - landmarks - core - b - f - output), 0.0) AS rest FROM part;
