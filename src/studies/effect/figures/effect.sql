-- summary: the effect on the model against errors of attention, each attention a point
-- reference: none: medians over sources and trials
-- is: standard
-- script: curves.gp
-- title: effect on the model against {figure}
-- data: count x median p10 p90
-- set: x_scale 10
-- set: x_name {_x_name}
-- set: y_name error of the model's output (model_error)
WITH kind AS ( -- attentions of one colour: those of a strategy, or of a name
    SELECT attention_id, coalesce(strategy, substr(attention, 1, instr(attention || '(', '(') - 1)) AS series
    FROM run GROUP BY attention_id),
coloured AS (SELECT *, min(attention_id) OVER (PARTITION BY series) AS first FROM kind),
numbered AS (SELECT *, dense_rank() OVER (ORDER BY first) - 1 AS look FROM coloured),
point AS (
    SELECT measured.place, measure AS figure, stratum_id, layer, n, look, series, attention_id, count(*) AS count,
           median(x) AS x, median(model_error) AS median, quantile(model_error, 0.1) AS p10,
           quantile(model_error, 0.9) AS p90, over_sources(model_error, run.id) AS interval,
           min(min(position)) OVER (PARTITION BY stratum_id, layer, n) AS first
    FROM run JOIN measured USING (id) JOIN numbered USING (attention_id)
    WHERE measure IN ('error', 'error_subspace', 'output_error') AND status = 'ok' AND finite(x) IS NOT NULL
        AND model_error IS NOT NULL
    GROUP BY measured.place, stratum_id, layer, n, attention_id)
SELECT figure, stratum.label || ', layers: ' || coalesce(layer, '?')
       || CASE WHEN (SELECT count(DISTINCT n) FROM run) > 1 THEN ', n = ' || n ELSE '' END AS panel, series, count, x,
       median, p10, p90, low(interval) AS median_low, high(interval) AS median_high, 'cloud' AS _style,
       look AS _look, look AS _order,
       CASE figure WHEN 'error' THEN 'relative error of S (error)'
                   WHEN 'error_subspace' THEN 'the least error that any X reaches (error_subspace)'
                   ELSE 'relative error of the heads'' outputs (output_error)' END AS _x_name
FROM point JOIN stratum ON stratum.id = stratum_id ORDER BY place, point.first, look, x, attention_id;
