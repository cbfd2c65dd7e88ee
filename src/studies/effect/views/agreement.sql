-- Spearman's correlation of what is measured of the heads (predictor) with what becomes of the model (effect), over
-- attentions from landmarks within each source, and its mean over sources: for each model, layers, n and number of
-- landmarks (a part), by core and over all cores. Each attention counts with its mean over trials. Only rows that have
-- all predictors that any of the part's rows has, so that these are compared on the same ones.
-- needs: measured
CREATE TEMP VIEW predictor (place, name, label) AS
VALUES (1, 'error', 'error'), (2, 'error_subspace', 'subspace'), (3, 'error_core', 'core part'),
       (4, 'output_error', 'output'), (5, 'layer_error', 'layer error');

CREATE TEMP TABLE member AS
WITH row_of_cores AS (
    SELECT *, core AS cores FROM run WHERE status = 'ok' AND core IS NOT NULL
    UNION ALL SELECT *, 'all' FROM run WHERE status = 'ok')
SELECT id, source_id, attention_id, core, cores,
       (SELECT count(x) FROM measured AS m JOIN predictor ON name = measure WHERE m.id = row_of_cores.id) AS known,
       min(position) OVER (PARTITION BY stratum_id, layer, n, landmarks, cores)
       + CASE cores WHEN 'all' THEN (SELECT max(position) + 1 FROM key) ELSE 0 END AS part_id -- the last ones
FROM row_of_cores;

CREATE TEMP TABLE part AS
SELECT part_id, cores AS core, stratum.name AS model, stratum.label AS label, layer AS layers, n, landmarks, known
FROM (SELECT part_id, cores, min(id) AS id, count(DISTINCT name) AS known
      FROM member LEFT JOIN (
          SELECT id, name FROM measured JOIN predictor ON name = measure WHERE x IS NOT NULL) USING (id)
              GROUP BY part_id)
JOIN run USING (id) JOIN stratum ON stratum.id = stratum_id;

CREATE TEMP TABLE agreement AS
WITH predicting AS (
    SELECT part_id, source_id, attention_id, e.place AS effect_place, e.measure AS effect, mean(e.x) AS y,
           predictor.place AS predictor_place, predictor.name AS predictor, mean(m.x) AS x
    FROM member JOIN part USING (part_id, known) JOIN measured AS e USING (id) JOIN measured AS m USING (id)
    JOIN predictor ON predictor.name = m.measure
    WHERE e.measure IN ('model_error', 'embedding_distance', 'rank_agreement', 'top10_overlap', 'perplexity_ratio',
        'kl', 'task_error') AND e.x IS NOT NULL AND member.core IS NOT NULL
    GROUP BY part_id, source_id, attention_id, e.place, predictor.place),
source AS (
    SELECT part_id, source_id, predictor_place, predictor, effect_place, effect, count(*) AS attentions,
           spearman(x, y) AS correlation
    FROM predicting WHERE x IS NOT NULL GROUP BY part_id, source_id, predictor_place, effect_place
    HAVING count(*) >= 3)
SELECT part_id, effect_place, effect, predictor_place, predictor, count(*) AS sources, max(attentions) AS attentions,
       mean_of_sources(correlation, source_id) AS correlation, mean_low(correlation, source_id) AS low,
       mean_high(correlation, source_id) AS high
FROM source WHERE correlation IS NOT NULL GROUP BY part_id, predictor_place, effect_place;
