-- Strategies against the baseline in the same setting, on the same head in the same trial, where the two are compared:
-- the pairs are there over all heads (of_stratum -1), by stratum, and by source and head.
-- needs: scope variant
CREATE TEMP TABLE base AS
SELECT id, label FROM method WHERE spec = :baseline;

CREATE TEMP VIEW contest AS
SELECT setting, a AS strategy_id, depth, CASE WHEN depth > 0 THEN stratum_id ELSE -1 END AS of_stratum,
       CASE WHEN depth > 1 THEN source_id END AS of_source, CASE WHEN depth > 1 THEN head_id END AS of_head,
       x, y, noise_x, noise_y, se_x, se_y, stratum_id, source_id, head_id, trial, draws
FROM pair JOIN (SELECT 0 AS depth UNION ALL SELECT 1 UNION ALL SELECT 2)
WHERE question = 'strategy' AND b = (SELECT id FROM base) AND a <> (SELECT id FROM base) AND refusal IS NULL;
