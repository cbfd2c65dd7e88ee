-- The cells with a result of at most half of exact attention's flops, which is the most that `budget` asks for.
-- needs: variant
CREATE TEMP VIEW affordable AS
SELECT r.panel_id, core_id, landmarks, variant_id
FROM run AS r JOIN variant_of USING (line_id) JOIN panel ON panel.id = r.panel_id
GROUP BY r.panel_id, core_id, landmarks, variant_id
HAVING median(flops / (4.0 * panel.n * panel.n * panel.d)) <= 0.5 AND count(CASE WHEN status = 'ok' THEN error END) > 0;
