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
    SELECT scope_id, landmarks, strategy_id, CASE WHEN depth > 0 THEN stratum_id ELSE -1 END AS of_stratum,
           CASE WHEN depth > 1 THEN source_id END AS of_source, CASE WHEN depth > 1 THEN head_id END AS of_head,
           ratio_of(x, y, noise_x, noise_y, se_x, se_y, stratum_id, source_id, head_id, trial, draws) AS e,
           count(CASE WHEN depth < 2 AND (x IS NULL) <> (y IS NULL) THEN 1 END) AS missing
    FROM allowed JOIN (SELECT 0 AS depth UNION ALL SELECT 1 UNION ALL SELECT 2)
    GROUP BY setting_id, strategy_id, depth, of_stratum, of_source, of_head),
several AS (
    SELECT scope_id FROM one WHERE of_stratum >= 0 AND heads(e) > 0
    GROUP BY scope_id HAVING count(DISTINCT of_stratum) > 1)
SELECT scope_id, landmarks, strategy_id, of_stratum AS stratum_id, of_source AS source_id, of_head AS head_id,
       ratio(e) AS ratio, sources(e) AS sources, heads(e) AS heads, missing,
       CASE WHEN sources(e) >= 6 THEN exp(finite(low(e))) END AS low,
       CASE WHEN sources(e) >= 6 THEN exp(finite(high(e))) END AS high
FROM one WHERE abs(center(e)) < 9e999 AND (of_stratum >= 0 OR scope_id IN (SELECT scope_id FROM several));
