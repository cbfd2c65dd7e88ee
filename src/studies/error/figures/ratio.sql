-- summary: each strategy's error over the baseline's against landmarks, with intervals over sources
-- reference: none: geometric means, and Student's t intervals over sources
-- place: 1
-- needs: ratio refused:strategy drawn_variant
-- script: ratio.gp
-- title: error / error of {_base} (less is better), with {_figure}
-- data: panel series _of_head landmarks ratio _low _high
-- ticks: landmarks
-- bars: mean
-- most: 12 forest
-- set: x_name landmarks m
-- set: y_name error / error of {_base}
-- set: level_text 1: {_base}
-- set: dot_text a head, geometric mean over trials
SELECT stem AS figure, coalesce(stratum.label, all_strata) AS panel, method.label AS series, landmarks, ratio, low,
       high, sources, heads, missing
FROM ratio JOIN scope_name USING (scope_id) JOIN method ON method.id = strategy_id
LEFT JOIN stratum ON stratum.id = stratum_id
WHERE head_id IS NULL ORDER BY scope_id, stratum_id, strategy_id, landmarks;

WITH mean_ratio AS (
    SELECT *, min(sources) OVER panels AS few, max(sources) OVER panels AS most, min(heads) OVER panels AS few_heads,
           max(heads) OVER panels AS most_heads
    FROM ratio WHERE head_id IS NULL WINDOW panels AS (PARTITION BY scope_id, stratum_id)),
panel AS MATERIALIZED (
    SELECT scope_id, stratum_id, coalesce(stratum.label, all_strata) || ' ('
           || CASE WHEN few < most THEN few || ' to ' ELSE '' END || most || CASE WHEN most = 1 THEN ' source, ' ELSE
           ' sources, ' END || CASE WHEN few_heads < most_heads THEN few_heads || ' to ' ELSE '' END || most_heads
           || CASE WHEN most_heads = 1 THEN ' head' ELSE ' heads' END
           || CASE WHEN most < 6 THEN ': too few for intervals)' ELSE ')' END AS title
    FROM mean_ratio JOIN scope_name USING (scope_id) LEFT JOIN stratum ON stratum.id = stratum_id
    GROUP BY scope_id, stratum_id),
shown AS (
    SELECT scope_id, stratum_id, strategy_id, landmarks, NULL AS source_id, NULL AS head_id, ratio, low, high
    FROM mean_ratio
    UNION ALL
    SELECT h.scope_id, p.stratum_id, strategy_id, landmarks, source_id, head_id, ratio, NULL, NULL FROM ratio AS h
    JOIN panel AS p ON p.scope_id = h.scope_id AND p.stratum_id IN (-1, h.stratum_id)
    WHERE head_id IS NOT NULL),
look AS MATERIALIZED ( -- the variant of each
    SELECT c.scope_id, c.strategy_id, v.look
    FROM (SELECT DISTINCT scope_id, strategy_id FROM mean_ratio) AS c JOIN key ON key.number = c.scope_id
    JOIN component AS kernel ON kernel.kind = 'kernel' AND kernel.id = kernel_id
    JOIN drawn_variant AS v ON v.strategy_id = c.strategy_id AND v.factors_id = key.factors_id
    WHERE CASE WHEN one_set THEN leads ELSE v.pairing_id = key.pairing_id END)
SELECT stem AS _figure, panel.title AS _panel, method.label AS _series, strategy_id AS _order, look AS _look,
       head_id IS NOT NULL AS _of_head, landmarks, ratio, coalesce(low, ratio) AS _low, coalesce(high, ratio) AS _high,
       base.label AS _base
FROM shown JOIN base JOIN panel USING (scope_id, stratum_id) JOIN scope_name USING (scope_id)
JOIN method ON method.id = strategy_id JOIN look USING (scope_id, strategy_id)
ORDER BY scope_id, stratum_id, strategy_id, _of_head, landmarks, source_id, head_id;

SELECT m.label || ' is left out: ' || refusal_told(refusal, 'it', 'the baseline') AS note
FROM base JOIN refused_strategy ON b = base.id JOIN method AS m ON m.id = a
WHERE EXISTS (SELECT 1 FROM ratio) ORDER BY a;

SELECT label || ' is left out: no pair has a result' AS note FROM stratum
WHERE id NOT IN (SELECT stratum_id FROM ratio) AND EXISTS (SELECT 1 FROM ratio) ORDER BY id;
