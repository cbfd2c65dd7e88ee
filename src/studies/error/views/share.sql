-- What `versus` has, and with panel_id NULL medians of it over panels and landmarks, of cells with the pairing held
-- fixed where there are such; count: of cells.
--
-- share: of the gap between the baseline (0) and the best (1), on the scale of ratios, ln(ratio) / ln(best). It is
-- known where there is a gap, of 1 % or more, and where the variant is not further above the baseline than the best is
-- below it (-1).
-- needs: versus
CREATE TEMP VIEW not_faced AS -- why a variant is not compared in a setting, or in a cell, a part of it
WITH in_setting AS (
    SELECT variant_id, refusal FROM opposed JOIN not_compared USING (question, setting, a, b)),
in_cell AS (
    SELECT s.variant_id, 'build' AS refusal
    FROM versus AS s JOIN cell AS c USING (panel_id, core_id, landmarks, variant_id)
    JOIN cell AS b ON b.panel_id = s.panel_id AND b.core_id = s.core_id AND b.landmarks = s.landmarks
        AND b.variant_id = base_id
    WHERE s.count + s.noise = 0 AND c.count > 0 AND b.count > 0 AND s.variant_id NOT IN (
        SELECT variant_id FROM in_setting) AND (
        SELECT count(DISTINCT build) > 1 FROM agreed WHERE question = 'strategy'))
SELECT DISTINCT variant_id, label, refusal_told(refusal, 'it', 'the baseline') AS reason
FROM (SELECT * FROM in_setting UNION ALL SELECT * FROM in_cell) JOIN variant ON id = variant_id;

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
