-- summary: workspace and resident set of a pass against n, a curve for each attention
-- reference: Xiong et al., Nystromformer, AAAI 2021 (Table 2)
-- needs: cell curve
-- script: curves.gp
-- title: memory of a pass over all heads: {figure}
-- data: count x median p10 p90
-- bars: spread
-- set: x_scale 2
-- set: powers 1
-- set: x_name n, tokens
-- set: y_name MB, without the points
WITH held_bytes AS (
    SELECT *, 0 AS part, 'workspace' AS measure, 1e-6 * workspace_bytes AS y FROM pass
    UNION ALL SELECT *, 1, 'resident set', 1e-6 * peak_bytes FROM pass)
SELECT measure || ' with ' || team AS figure, layers AS panel, attention_label AS series, count(*) AS count,
       1.0 * n AS x, median(y) AS median, quantile(y, 0.1) AS p10, quantile(y, 0.9) AS p90,
       median_low(y, id) AS median_low, median_high(y, id) AS median_high, 'curve' AS _style,
       look AS _look, attention_id AS _order
FROM held_bytes JOIN curve USING (attention_id) WHERE y IS NOT NULL AND family_id IN growing
GROUP BY threads, part, family_id, attention_id, n
ORDER BY threads, part, family_id, attention_id, n;
