-- summary: whether errors of attention put attentions in the order of their effects on the model
-- reference: Spearman, The proof and measurement of association between two things, 1904
-- place: 2
-- file: predictors.csv
-- needs: agreement
-- heading: Does what is measured of the heads predict the effect?
-- labels: 6
-- shared: Spearman's correlation over attentions from landmarks within each source, mean over sources [95 % interval]
-- holds: rank_agreement and top10_overlap fall where errors grow. core = all: those of different cores together, of
--   which one may be worse than another whatever the landmarks are.
SELECT model, layers, n, landmarks, core, effect, predictor, sources, attentions, center(over_sources) AS correlation,
       max(-1.0, low(over_sources)) AS low, min(1.0, high(over_sources)) AS high
FROM agreement JOIN part USING (part_id) ORDER BY part_id, effect_place, predictor_place;

WITH said AS (
    SELECT *, shown('%.2f', center(over_sources)) || coalesce(' [' || shown('%.2f', max(-1.0, low(over_sources)))
           || ', ' || shown('%.2f', min(1.0, high(over_sources))) || ']', '') AS text
    FROM agreement)
SELECT label AS model, coalesce(layers, '') AS layers, n, landmarks AS m, core, effect, max(sources) AS sources,
       max(attentions) AS attentions, coalesce(max(CASE predictor WHEN 'error' THEN text END), '-') AS error,
       coalesce(max(CASE predictor WHEN 'error_subspace' THEN text END), '-') AS subspace,
       coalesce(max(CASE predictor WHEN 'error_core' THEN text END), '-') AS "core part",
       coalesce(max(CASE predictor WHEN 'output_error' THEN text END), '-') AS output,
       coalesce(max(CASE predictor WHEN 'layer_error' THEN text END), '-') AS "layer error"
FROM said JOIN part USING (part_id) GROUP BY part_id, effect ORDER BY part_id, effect_place;
