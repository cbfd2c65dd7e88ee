-- What `versus` has, and with panel_id NULL medians of it over panels and landmarks, of cells with the pairing held
-- fixed where there are such; count: of cells.
--
-- share: of the gap between the baseline (0) and the best (1), on the scale of ratios, ln(ratio) / ln(best). It is
-- known where there is a gap, of 1 % or more, and where the variant is not further above the baseline than the best is
-- below it (-1).
--
-- not_faced: variants that are not compared in `refused` of their `cells`, and why; a cell is not where none of its
-- heads is.
-- needs: versus
CREATE TEMP VIEW not_faced AS
WITH opposed_head AS (
    SELECT o.panel_id, o.core_id, o.landmarks, o.variant_id,
           coalesce(n.refusal, CASE WHEN NOT met THEN 'build' END) AS refusal
    FROM opposed AS o LEFT JOIN not_compared AS n ON n.question = o.question AND n.setting = o.setting AND n.a = o.a
        AND n.b = o.b
    LEFT JOIN met_on AS m ON m.question = o.question AND m.setting = o.setting AND m.head_id = o.head_id AND m.a = o.a
        AND m.b = o.b),
in_cell AS (
    SELECT variant_id, CASE WHEN count(refusal) = count(*) THEN min(refusal) END AS refusal
    FROM opposed_head GROUP BY panel_id, core_id, landmarks, variant_id),
per_variant AS (
    SELECT variant_id, refusal, count(*) AS refused, cells
    FROM in_cell JOIN (SELECT variant_id, count(*) AS cells FROM in_cell GROUP BY variant_id) USING (variant_id)
    WHERE refusal IS NOT NULL GROUP BY variant_id, refusal)
SELECT variant_id, label, refused, cells, refusal_told(refusal, 'it', 'the baseline') AS reason
FROM per_variant JOIN variant ON id = variant_id;

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
