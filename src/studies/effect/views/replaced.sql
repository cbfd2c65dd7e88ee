-- What an attention does to a model in some of its layers: medians over sources and trials, of rows that are ok.
CREATE TEMP TABLE replaced AS
SELECT min(position) AS first, stratum.name AS model, stratum.label AS label, layer AS layers, n, attention,
       attention_label, landmarks, count(*) AS rows, median(model_error) AS model_error,
       median(embedding_distance) AS embedding_distance, median(rank_agreement) AS rank_agreement,
       median(top10_overlap) AS top10_overlap, median(perplexity_ratio) AS perplexity_ratio, median(kl) AS kl,
       median(task_error) AS task_error, median(layer_error) AS layer_error, median(error) AS error,
       median(error_subspace) AS error_subspace, median(output_error) AS output_error
FROM run JOIN stratum ON stratum.id = stratum_id WHERE status = 'ok' GROUP BY stratum_id, layer, n, attention_id;
