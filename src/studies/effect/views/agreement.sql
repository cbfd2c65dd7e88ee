-- Spearman's correlation of what is measured of the heads (predictor) with what becomes of the model (effect), over
-- attentions from landmarks within each source, and its mean over sources: for each model, layers, n and number of
-- landmarks (a part), by core and over all cores. Each attention counts with its mean over trials. Only rows that have
-- all predictors that any of the part's rows has, so that these are compared on the same ones.
CREATE TEMP TABLE member AS
WITH grouped AS (
    SELECT *, core AS cores FROM run WHERE status = 'ok' AND core IS NOT NULL
    UNION ALL SELECT *, 'all' FROM run WHERE status = 'ok')
SELECT id, source_id, attention_id, core, cores,
       min(position) OVER (PARTITION BY stratum_id, layer, n, landmarks, cores)
       + CASE cores WHEN 'all' THEN (SELECT max(position) + 1 FROM key) ELSE 0 END AS part_id -- the last ones
FROM grouped;

CREATE TEMP TABLE part AS
SELECT part_id, cores AS core, stratum.name AS model, stratum.label AS label, layer AS layers, n, landmarks
FROM (SELECT part_id, cores, min(id) AS id FROM member GROUP BY part_id) JOIN run USING (id)
JOIN stratum ON stratum.id = stratum_id;

CREATE TEMP TABLE agreement AS
WITH predictor (predictor_place, predictor) AS (
    VALUES (1, 'error'), (2, 'error_subspace'), (3, 'error_core'), (4, 'output_error'), (5, 'layer_error')),
predicting AS (
    SELECT part_id, id, source_id, attention_id, member.core, predictor_place, predictor, x,
           count(*) OVER (PARTITION BY part_id, id) AS known
    FROM member JOIN measured USING (id) JOIN predictor ON predictor = measure
    WHERE x IS NOT NULL),
wanted AS (SELECT part_id, count(DISTINCT predictor) AS known FROM predicting GROUP BY part_id),
attention AS (
    SELECT p.part_id, source_id, attention_id, predictor_place, predictor, e.place AS effect_place, e.measure AS effect,
           mean(p.x) AS x, mean(e.x) AS y
    FROM predicting AS p JOIN wanted USING (part_id, known) JOIN measured AS e USING (id)
    WHERE e.measure IN ('model_error', 'embedding_distance', 'rank_agreement', 'top10_overlap', 'perplexity_ratio',
                        'kl') AND e.x IS NOT NULL AND core IS NOT NULL
    GROUP BY p.part_id, source_id, attention_id, predictor, e.measure),
source AS (
    SELECT part_id, source_id, predictor_place, predictor, effect_place, effect, count(*) AS attentions,
           center(spearman(x, y)) AS correlation
    FROM attention GROUP BY part_id, source_id, predictor, effect HAVING count(*) >= 3)
SELECT part_id, effect_place, effect, predictor_place, predictor, count(*) AS sources, max(attentions) AS attentions,
       mean_of(correlation, source_id) AS over_sources
FROM source WHERE correlation IS NOT NULL GROUP BY part_id, predictor, effect;
