-- Strategies against the baseline in the same setting, on the same head in the same trial (`contest`), and geometric
-- means of their ratios with t intervals (`ratio`): over all heads (stratum_id -1) where a scope has several strata, by
-- stratum, and by source and head. There is none where only one of the two has looked at rows of S that both are judged
-- on (apart).
-- needs: rival variant
CREATE TEMP TABLE base AS
SELECT id, label FROM method WHERE spec =
    coalesce(:baseline, (SELECT strategy FROM variant WHERE NOT oracle ORDER BY id LIMIT 1));

CREATE TEMP TABLE contest AS
SELECT a.setting_id, a.scope_id, a.landmarks, a.strategy_id, a.stratum_id, a.source_id, a.head_id, a.trial,
       a.draws OR b.draws AS draws, a.error AS x, b.error AS y, a.noise AS noise_x, b.noise AS noise_y, a.se AS se_x,
       b.se AS se_y, a.error IS NOT NULL AND b.error IS NOT NULL AND a.seen <> b.seen AS apart
FROM base CROSS JOIN rival AS a CROSS JOIN rival AS b ON b.setting_id = a.setting_id AND b.strategy_id = base.id
    AND b.source_id = a.source_id AND b.head_id = a.head_id AND b.trial = a.trial
WHERE a.strategy_id <> base.id;

CREATE TEMP TABLE ratio AS
WITH refused AS (SELECT DISTINCT setting_id, strategy_id FROM contest WHERE apart),
allowed AS (
    SELECT c.* FROM contest AS c LEFT JOIN refused AS r USING (setting_id, strategy_id) WHERE r.setting_id IS NULL),
one AS (
    SELECT scope_id, landmarks, strategy_id, -1 AS stratum_id, NULL AS source_id, NULL AS head_id,
           ratio_of(x, y, noise_x, noise_y, se_x, se_y, stratum_id, source_id, head_id, trial, draws) AS e,
           count(CASE WHEN (x IS NULL) <> (y IS NULL) THEN 1 END) AS missing
    FROM allowed GROUP BY setting_id, strategy_id
    UNION ALL
    SELECT scope_id, landmarks, strategy_id, stratum_id, NULL, NULL,
           ratio_of(x, y, noise_x, noise_y, se_x, se_y, stratum_id, source_id, head_id, trial, draws),
           count(CASE WHEN (x IS NULL) <> (y IS NULL) THEN 1 END)
    FROM allowed GROUP BY setting_id, strategy_id, stratum_id
    UNION ALL
    SELECT scope_id, landmarks, strategy_id, stratum_id, source_id, head_id,
           ratio_of(x, y, noise_x, noise_y, se_x, se_y, stratum_id, source_id, head_id, trial, draws), 0
    FROM allowed GROUP BY setting_id, strategy_id, source_id, head_id),
several AS (
    SELECT scope_id FROM one WHERE stratum_id >= 0 AND heads(e) > 0
    GROUP BY scope_id HAVING count(DISTINCT stratum_id) > 1)
SELECT scope_id, landmarks, strategy_id, stratum_id, source_id, head_id, ratio(e) AS ratio, sources(e) AS sources,
       heads(e) AS heads, missing, CASE WHEN sources(e) >= 6 THEN exp(finite(low(e))) END AS low,
       CASE WHEN sources(e) >= 6 THEN exp(finite(high(e))) END AS high
FROM one WHERE abs(center(e)) < 9e999 AND (stratum_id >= 0 OR scope_id IN (SELECT scope_id FROM several));
