-- summary: each strategy against the baseline, by problem and pooled
-- reference: none: ratios of errors in the same trial, and shares of the gap on their scale
-- needs: share
-- exists: key
-- heading: Relative to {_baseline}
-- format: share: %.2f
-- format: select_s: %.1e
-- paragraph: In the table:
-- word: error: ratio to the baseline's error in the same trial, with the same pairing, factors, core and m
-- word: subspace: the same for the least error that any core reaches; both are medians, over problems and m, of the
--   medians over heads and trials
-- word: share: of the gap between the baseline (0) and the best strategy of each problem and m (1), ln(error) /
--   ln(best's); below 0: worse than the baseline
-- note: -: no result: skipped, failed or not run; or not compared, see below; or no share: the best is less than 1 %
--   below the baseline, or the strategy is further above it than the best is below it (-1)
-- note: ~: rounding noise on both sides; behind a number: for some problems and m
-- note: !: some are missing, or have the baseline only with another pairing
-- word: select_s: seconds
SELECT coalesce(panel.title, 'all') AS panel, panel.problem, panel.kernel, v.label, v.strategy, v.pairing,
       CASE WHEN fixed THEN v.pairing ELSE b.pairing END AS baseline_pairing, v.factors, core.spec AS core, landmarks,
       count, noise, error, finite(ratio) AS error_relative, share AS error_share, subspace,
       finite(sub_ratio) AS subspace_relative, sub_share AS subspace_share, select_s
FROM share JOIN variant AS v ON v.id = variant_id JOIN component AS core ON core.kind = 'core' AND core.id = core_id
LEFT JOIN variant AS b ON b.id = base_id LEFT JOIN panel ON panel.id = panel_id
ORDER BY variant_id, core_id, panel_id IS NULL, panel_id, landmarks;

WITH pooled_share AS (
    SELECT *, (SELECT count(*) FROM (SELECT DISTINCT panel_id, landmarks FROM cell WHERE core_id = share.core_id))
           AS planned
    FROM share WHERE panel_id IS NULL)
SELECT b.name AS _baseline, core.full AS "_band core",
       v.label || CASE WHEN fixed THEN '' ELSE ', baseline ' || b.pairing END AS strategy,
       ratio AS error, CASE WHEN ratio IS NULL AND noise > 0 THEN '~' END AS "_before error",
       CASE WHEN noise > 0 AND ratio IS NOT NULL THEN '~' ELSE '' END
       || CASE WHEN count + noise BETWEEN 1 AND planned - 1 THEN '!' ELSE '' END AS "_mark error", share,
       sub_ratio AS subspace, CASE WHEN sub_ratio IS NULL AND sub_noise > 0 THEN '~' END AS "_before subspace",
       sub_share AS share, select_s
FROM pooled_share JOIN variant AS v ON v.id = variant_id
JOIN component AS core ON core.kind = 'core' AND core.id = core_id JOIN variant AS b ON b.id = base_id
WHERE (SELECT count(DISTINCT variant_id) FROM pooled_share) > 1 ORDER BY core_id, variant_id;

SELECT 'Where a line names the pairing of the baseline, that was not run with the strategy''s: the ratio is the effect '
       || 'of strategy and pairing together, and there is no share.' AS remark
FROM share WHERE panel_id IS NULL AND NOT fixed AND (count > 0 OR noise > 0) LIMIT 1;

SELECT label || ' is not compared' || CASE WHEN refused < cells THEN ' for ' || refused || ' of its ' || cells ||
       ' problems, cores and m' ELSE '' END || ': ' || reason || '.' AS remark
FROM not_faced ORDER BY variant_id, reason;
