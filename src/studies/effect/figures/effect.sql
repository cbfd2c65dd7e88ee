-- summary: the effect on the model against errors of attention, each attention a point; of more than ten methods, eight
--   are named
-- reference: none: medians over sources and trials
-- is: standard
-- needs: series look measured
-- script: curves.gp
-- title: effect on the model against {figure}
-- data: count x median p10 p90
-- set: x_scale 10
-- set: x_name {_x_name}
-- set: y_name error of the model's output (model_error)
WITH median_effect AS (
    SELECT measured.place, measure AS figure, stratum_id, layer, n, look, series, attention_id, count(*) AS count,
           median(x) AS x, median(model_error) AS median, quantile(model_error, 0.1) AS p10,
           quantile(model_error, 0.9) AS p90, median_low(model_error, run.id) AS low,
           median_high(model_error, run.id) AS high,
           min(min(position)) OVER (PARTITION BY stratum_id, layer, n) AS first
    FROM run JOIN measured USING (id) JOIN series USING (attention_id) JOIN look_series USING (series)
    WHERE measure IN ('error', 'error_subspace', 'output_error') AND status = 'ok' AND finite(x) IS NOT NULL
        AND model_error IS NOT NULL
    GROUP BY measured.place, stratum_id, layer, n, attention_id),
best AS (
    SELECT figure, series, percent_rank() OVER (PARTITION BY figure, stratum_id, layer, n ORDER BY min(median)) AS place
    FROM median_effect GROUP BY figure, stratum_id, layer, n, series),
standing AS ( -- by the mean place of their best points in the panels
    SELECT figure, series, row_number() OVER (PARTITION BY figure ORDER BY mean(place), series) AS place,
           count(*) OVER (PARTITION BY figure) AS methods
    FROM best GROUP BY figure, series),
shown AS (
    SELECT figure, series, methods <= 10 OR place <= 8 AS named, (methods - 8) || ' others' AS others FROM standing)
SELECT figure, stratum.label || ', layers: ' || coalesce(layer, '?')
       || CASE WHEN (SELECT count(DISTINCT n) FROM run) > 1 THEN ', n = ' || n ELSE '' END AS panel, series, count, x,
       median, p10, p90, low AS median_low, high AS median_high,
       CASE WHEN named THEN series ELSE others END AS _series, CASE WHEN named THEN 'cloud' ELSE 'grey' END AS _style,
       CASE WHEN named THEN look END AS _look, CASE WHEN named THEN look ELSE -1 END AS _order,
       CASE figure WHEN 'error' THEN 'relative error of S (error)'
                   WHEN 'error_subspace' THEN 'the least error that any X reaches (error_subspace)'
                   ELSE 'relative error of the heads'' outputs (output_error)' END AS _x_name
FROM median_effect JOIN shown USING (figure, series) JOIN stratum ON stratum.id = stratum_id
ORDER BY place, median_effect.first, named, look, x, attention_id;
