-- What a method reaches within a share of exact attention's flops: of each panel, core and variant with a count of
-- flops, the number of landmarks of least median error; none of the last three columns where none is that cheap.
-- needs: cell
CREATE TEMP VIEW budget AS
WITH cost AS (
    SELECT m.panel_id, core_id, landmarks, variant_id, median(flops / (4.0 * n * n * d)) AS of_exact
    FROM member AS m JOIN panel ON panel.id = m.panel_id GROUP BY m.panel_id, core_id, landmarks, variant_id),
ranked AS (
    SELECT panel_id, core_id, variant_id, at_most, landmarks, of_exact, count, median,
           of_exact <= at_most AND median IS NOT NULL AS within, row_number() OVER (
               PARTITION BY panel_id, core_id, variant_id, at_most
               ORDER BY of_exact > at_most, median IS NULL, median, landmarks) AS place
    FROM cost JOIN cell USING (panel_id, core_id, variant_id, landmarks)
    JOIN (SELECT column1 AS at_most FROM (VALUES (0.05), (0.1), (0.2), (0.5))) WHERE of_exact IS NOT NULL)
SELECT panel_id, core_id, variant_id, at_most, CASE WHEN within THEN landmarks END AS landmarks,
       CASE WHEN within THEN of_exact END AS of_exact, count, CASE WHEN within THEN median END AS median
FROM ranked WHERE place = 1;
