-- Each variant against the baseline's on the same data, factors, core and landmarks, in the same pairing if the baseline
-- was planned in that one there (fixed), else in another. ratio: the median over heads and trials of error / baseline's
-- error; pairs that are rounding noise on both sides are counted (noise) and left out. best: the least ratio of those
-- that have the same baseline. The same of the subspace part. panel_id NULL: medians over panels and landmarks, of
-- cells with the pairing held fixed where there are such; count: of cells.
--
-- share: of the gap between the baseline (0) and the best (1), on the scale of ratios, ln(ratio) / ln(best). It is
-- known where there is a gap, of 1 % or more, and where the variant is not further above the baseline than the best is
-- below it (-1).
--
-- baseline_of: the baseline of each cell; faced: the pairs of rows that they are compared by.
-- needs: cell
CREATE TEMP TABLE baseline_of AS
WITH rival AS (
    SELECT * FROM variant WHERE strategy =
        coalesce(:baseline, (SELECT strategy FROM variant ORDER BY oracle, id LIMIT 1))),
against AS (
    SELECT c.panel_id, c.core_id, c.landmarks, c.variant_id, b.variant_id AS base_id,
           kernel.one_set OR coalesce(v.pairing_id = r.pairing_id, 1) AS fixed
    FROM cell AS c JOIN variant AS v ON v.id = c.variant_id JOIN rival AS r ON r.factors_id = v.factors_id
    JOIN cell AS b ON b.panel_id = c.panel_id AND b.core_id = c.core_id AND b.landmarks = c.landmarks
        AND b.variant_id = r.id
    JOIN panel ON panel.id = c.panel_id JOIN component AS kernel ON kernel.kind = 'kernel' AND kernel.id = kernel_id)
SELECT * FROM (SELECT *, row_number() OVER (
    PARTITION BY panel_id, core_id, landmarks, variant_id ORDER BY fixed DESC, base_id) AS place FROM against)
WHERE place = 1;

CREATE TEMP VIEW faced AS
SELECT n.panel_id, n.core_id, n.landmarks, n.variant_id, fixed, m.*,
       CASE WHEN m.noise THEN NULL WHEN y = 0 THEN 9e999 * x ELSE x / y END AS ratio,
       CASE WHEN m.sub_noise THEN NULL WHEN sub_y = 0 THEN 9e999 * sub_x ELSE sub_x / sub_y END AS sub_ratio
FROM baseline_of AS n JOIN met AS m ON m.panel_id = n.panel_id AND m.core_id = n.core_id AND m.landmarks = n.landmarks
    AND m.a_id = n.variant_id AND m.b_id = n.base_id;

CREATE TEMP TABLE versus AS
WITH compared AS (
    SELECT panel_id, core_id, landmarks, variant_id, count(ratio) AS count, count(CASE WHEN noise THEN 1 END) AS noise,
           median(ratio) AS ratio, count(sub_ratio) AS sub_count, count(CASE WHEN sub_noise THEN 1 END) AS sub_noise,
           median(sub_ratio) AS sub_ratio
    FROM faced GROUP BY panel_id, core_id, landmarks, variant_id)
SELECT c.panel_id, c.core_id, c.variant_id, c.landmarks, base_id, coalesce(fixed, 0) AS fixed,
       coalesce(r.count, 0) AS count, coalesce(r.noise, 0) AS noise, c.median AS error, ratio,
       CASE WHEN fixed AND ratio IS NOT NULL THEN min(ratio) OVER peers END AS best, coalesce(sub_count, 0) AS sub_count,
       coalesce(sub_noise, 0) AS sub_noise, c.subspace, sub_ratio,
       CASE WHEN fixed AND sub_ratio IS NOT NULL THEN min(sub_ratio) OVER peers END AS sub_best, c.select_s
FROM cell AS c LEFT JOIN baseline_of USING (panel_id, core_id, landmarks, variant_id)
LEFT JOIN compared AS r USING (panel_id, core_id, landmarks, variant_id)
WINDOW peers AS (PARTITION BY c.panel_id, c.core_id, c.landmarks, base_id, fixed);

CREATE TEMP VIEW share AS
WITH pooled AS (
    SELECT core_id, variant_id, min(base_id) AS base_id, fixed, count(ratio) AS count,
           count(CASE WHEN noise > 0 AND count = 0 THEN 1 END) AS noise, median(error) AS error, median(ratio) AS ratio,
           median(best) AS best, count(sub_ratio) AS sub_count,
           count(CASE WHEN sub_noise > 0 AND sub_count = 0 THEN 1 END) AS sub_noise, median(subspace) AS subspace,
           median(sub_ratio) AS sub_ratio, median(sub_best) AS sub_best, median(select_s) AS select_s
    FROM versus JOIN (SELECT core_id, variant_id, max(fixed) AS fixed FROM versus GROUP BY 1, 2)
        USING (core_id, variant_id, fixed)
    GROUP BY core_id, variant_id)
SELECT *, CASE WHEN best < 0.99 AND ln(ratio) / ln(best) BETWEEN -1 AND 1 THEN ln(ratio) / ln(best) + 0.0 END AS share,
       CASE WHEN sub_best < 0.99 AND ln(sub_ratio) / ln(sub_best) BETWEEN -1 AND 1
           THEN ln(sub_ratio) / ln(sub_best) + 0.0 END AS sub_share
FROM (SELECT panel_id, core_id, variant_id, landmarks, base_id, fixed, count, noise, error, ratio, best, sub_count,
             sub_noise, subspace, sub_ratio, sub_best, select_s FROM versus
      UNION ALL SELECT NULL, core_id, variant_id, NULL, base_id, fixed, count, noise, error, ratio, best, sub_count,
             sub_noise, subspace, sub_ratio, sub_best, select_s FROM pooled);
