-- Spearman's correlation of what is measured of the heads (predictor) with what becomes of the model (effect), over
-- attentions from landmarks within each source, and its mean over sources: for each model, layers, n and number of
-- landmarks (a part), by core and over all cores. Each attention counts with its mean over trials. Only rows that have
-- all predictors that any of the part's rows has, so that these are compared on the same ones.
CREATE TEMP TABLE member AS
WITH grouped AS (
    SELECT *, core AS cores FROM run WHERE status = 'ok' AND core IS NOT NULL
    UNION ALL SELECT *, 'all' FROM run WHERE status = 'ok')
SELECT id, source_id, attention_id, core, cores, error, error_subspace, error_core, output_error, layer_error,
       (error IS NOT NULL) + (error_subspace IS NOT NULL) + (error_core IS NOT NULL) + (output_error IS NOT NULL)
       + (layer_error IS NOT NULL) AS known,
       min(position) OVER (PARTITION BY stratum_id, layer, n, landmarks, cores)
       + CASE cores WHEN 'all' THEN (SELECT max(position) + 1 FROM key) ELSE 0 END AS part_id -- the last ones
FROM grouped;

CREATE TEMP TABLE part AS
SELECT part_id, cores AS core, stratum.name AS model, stratum.label AS label, layer AS layers, n, landmarks, known
FROM (SELECT part_id, cores, min(id) AS id, max(error IS NOT NULL) + max(error_subspace IS NOT NULL)
             + max(error_core IS NOT NULL) + max(output_error IS NOT NULL) + max(layer_error IS NOT NULL) AS known
      FROM member GROUP BY part_id)
JOIN run USING (id) JOIN stratum ON stratum.id = stratum_id;

CREATE TEMP TABLE agreement AS
WITH predictor (predictor_place, predictor) AS (
    VALUES (1, 'error'), (2, 'error_subspace'), (3, 'error_core'), (4, 'output_error'), (5, 'layer_error')),
attention AS (
    SELECT part_id, source_id, attention_id, place AS effect_place, measure AS effect, mean(x) AS y,
           mean(error) AS error, mean(error_subspace) AS error_subspace, mean(error_core) AS error_core,
           mean(output_error) AS output_error, mean(layer_error) AS layer_error
    FROM member JOIN part USING (part_id, known) JOIN measured USING (id)
    WHERE measure IN ('model_error', 'embedding_distance', 'rank_agreement', 'top10_overlap', 'perplexity_ratio', 'kl')
        AND x IS NOT NULL AND member.core IS NOT NULL
    GROUP BY part_id, source_id, attention_id, place),
predicting AS (
    SELECT *, CASE predictor WHEN 'error' THEN error WHEN 'error_subspace' THEN error_subspace
                             WHEN 'error_core' THEN error_core WHEN 'output_error' THEN output_error
                             ELSE layer_error END AS x
    FROM attention JOIN predictor),
source AS (
    SELECT part_id, source_id, predictor_place, predictor, effect_place, effect, count(*) AS attentions,
           center(spearman(x, y)) AS correlation
    FROM predicting WHERE x IS NOT NULL GROUP BY part_id, source_id, predictor_place, effect_place
    HAVING count(*) >= 3)
SELECT part_id, effect_place, effect, predictor_place, predictor, count(*) AS sources, max(attentions) AS attentions,
       mean_of(correlation, source_id) AS over_sources
FROM source WHERE correlation IS NOT NULL GROUP BY part_id, predictor_place, effect_place;
