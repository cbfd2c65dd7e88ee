-- summary: whether errors of attention put attentions in the order of their effects on the model
-- reference: Spearman, The proof and measurement of association between two things, 1904
-- place: 2
-- file: predictors.csv
-- needs: agreement
-- heading: Does what is measured of the heads predict the effect?
-- labels: 6
-- cell: _cell: {_cell: %.2f} [{_low: %.2f}, {_high: %.2f}] | {_cell: %.2f} | -
-- shared: Spearman's correlation over attentions from landmarks within each source, mean over sources [95 % interval]
-- holds: rank_agreement and top10_overlap fall where errors grow. core = all: those of different cores together, of
--   which one may be worse than another whatever the landmarks are.
SELECT model, layers, n, landmarks, core, effect, predictor, sources, attentions, correlation,
       max(-1.0, low) AS low, min(1.0, high) AS high
FROM agreement JOIN part USING (part_id) ORDER BY part_id, effect_place, predictor_place;

WITH part_effect AS (
    SELECT part_id, effect, effect_place, max(sources) AS sources, max(attentions) AS attentions FROM agreement
    GROUP BY part_id, effect)
SELECT part.label AS model, coalesce(layers, '') AS layers, n, landmarks AS m, core, e.effect, e.sources, e.attentions,
       predictor.label AS _across, correlation AS _cell, max(-1.0, low) AS _low, min(1.0, high) AS _high
FROM part_effect AS e JOIN part USING (part_id) JOIN predictor
LEFT JOIN agreement AS a ON a.part_id = e.part_id AND a.effect = e.effect AND a.predictor = predictor.name
ORDER BY e.part_id, e.effect_place, predictor.place;
