-- summary: time of a pass against n, a curve for each attention
-- reference: Xiong et al., Nystromformer, AAAI 2021 (Table 2)
-- is: standard
-- needs: cell curve
-- script: curves.gp
-- title: time of a pass over all heads, {figure}
-- data: count x median p10 p90
-- bars: spread
-- set: x_scale 2
-- set: powers 1
-- set: x_name n, tokens
-- set: y_name milliseconds (amortized_s)
SELECT team AS figure, layers AS panel, attention_label AS series, count(*) AS count, 1.0 * n AS x,
       median(1e3 * amortized_s) AS median, quantile(1e3 * amortized_s, 0.1) AS p10,
       quantile(1e3 * amortized_s, 0.9) AS p90, median_low(1e3 * amortized_s, id) AS median_low,
       median_high(1e3 * amortized_s, id) AS median_high, 'curve' AS _style, look AS _look,
       attention_id AS _order
FROM pass JOIN curve USING (attention_id) WHERE amortized_s IS NOT NULL AND family_id IN growing
GROUP BY threads, family_id, attention_id, n
ORDER BY threads, family_id, attention_id, n;
