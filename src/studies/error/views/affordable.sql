-- The cells with a result of at most half of exact attention's flops, which is the most that `budget` asks for.
-- They come in the order of `member`, so that whether there is one is known when the first has been found.
-- needs: cell
CREATE TEMP VIEW affordable AS
SELECT m.panel_id, core_id, landmarks, variant_id FROM member AS m CROSS JOIN panel ON panel.id = m.panel_id
GROUP BY m.panel_id, core_id, landmarks, variant_id
HAVING median(flops / (4.0 * n * n * d)) <= 0.5 AND count(error) > 0;
