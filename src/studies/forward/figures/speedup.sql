-- summary: how many times faster than each exact attention, against n
-- reference: Xiong et al., Nystromformer, AAAI 2021 (Table 2)
-- needs: speedup curve
-- script: curves.gp
-- title: speed-up, {figure}: median over layers and trials
-- data: count x median p10 p90
-- set: x_scale 2
-- set: level_text 1: equally fast
-- set: columns_wanted {_columns}
-- set: x_name n, tokens
-- set: y_name times faster, above 1, or slower, below
SELECT team AS figure, 'over ' || exact.label || ': ' || layers AS panel, attention_label AS series, 1 AS count,
       1.0 * n AS x, times AS median, times AS p10, times AS p90, NULL AS median_low, NULL AS median_high,
       'curve' AS _style, look AS _look, cell.attention_id AS _order,
       (SELECT count(*) FROM exact) AS _columns
FROM cell JOIN speedup USING (cell_id) JOIN exact ON exact.attention_id = exact_id
JOIN curve ON curve.attention_id = cell.attention_id
WHERE family_id IN growing AND cell.attention_id <> exact_id AND times IS NOT NULL
ORDER BY threads, family_id, exact_id, cell.attention_id, n;
