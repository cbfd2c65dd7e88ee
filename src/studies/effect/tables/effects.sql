-- summary: what replaced attention does to a model, by model, layers and attention
-- reference: none: medians over sources and trials
-- place: 1
-- file: effects.csv
-- needs: replaced
-- heading: What replaced attention does to the model: medians over sources and trials
-- labels: 5
-- holds: model error: of the last hidden states; embedding: 1 - cosine; rank, top 10: of the corpus; perpl.: over the
--   exact one; task: share that is wrong; layer error: of the layers' outputs within the changed pass. Of the heads of
--   the exact pass: error of S, the least that any X reaches (subspace), error of the outputs.
SELECT model, layers, n, attention, landmarks, rows, model_error, embedding_distance, rank_agreement, top10_overlap,
       perplexity_ratio, kl, task_error, layer_error, error, error_subspace, output_error
FROM replaced ORDER BY first;

SELECT label AS model, coalesce(layers, '') AS layers, n, attention_label AS attention, landmarks AS m, rows,
       model_error AS "model error", embedding_distance AS embedding, rank_agreement AS rank,
       top10_overlap AS "top 10", perplexity_ratio AS "perpl.", kl AS KL, task_error AS task,
       layer_error AS "layer error", error, error_subspace AS subspace, output_error AS output
FROM replaced ORDER BY first;
