-- What a forward pass of one head takes with each core, but for the strategy: multiplications, of_exact of exact
-- attention's 2 n^2 d, and median seconds of X (core_s) and of exact attention (exact_s), by size and m. The order is
-- that of the run: size, then landmarks, then place.
-- needs: cell
CREATE TEMP TABLE cost AS
SELECT *, multiplications / (2.0 * n * n * d) AS of_exact, min(place) OVER (PARTITION BY n, d) AS size
FROM (SELECT n, d, landmarks, core_id, multiplications(spec, n, d, landmarks) AS multiplications,
             median(core_s) AS core_s, median(exact_s) AS exact_s, min(position) AS place
      FROM member JOIN panel ON panel.id = panel_id JOIN component AS c ON c.kind = 'core' AND c.id = core_id
      JOIN variant ON variant.id = variant_id WHERE factors <> 'kernel_ridge'
      GROUP BY n, d, landmarks, core_id);
