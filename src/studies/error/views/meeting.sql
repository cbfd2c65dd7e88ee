-- Strategies against each other, where they are compared. `encounter` has two in each source that both have rows in,
-- with what a verdict on them is counted from: pairs with two results (common; noise, infinite:
-- of these, neither is above its rounding noise, the ratio is 0 or infinite) and with one (missing). `meeting` has both
-- of them, either way, where they have results in common: sign is that of the mean over heads of the mean over trials
-- of log(a's error / b's).
-- needs: scope
CREATE TEMP TABLE encounter AS
WITH compared AS (
    SELECT *, ln(ratio) AS value, x IS NOT NULL AND y IS NOT NULL AS both, (x IS NULL) <> (y IS NULL) AS lacks
    FROM pair WHERE question = 'strategy' AND a < b AND refusal IS NULL),
per_head AS (
    SELECT setting, a, b, stratum_id, source_id, mean(value) AS x, max(draws) AS draws,
           sum(both) AS common, sum(noise) AS noise, -- counts
           sum(abs(value) = 9e999) AS infinite, sum(lacks) AS missing -- counts
    FROM compared GROUP BY setting, a, b, source_id, head_id)
SELECT setting AS setting_id, a AS a_id, b AS b_id, stratum_id, source_id, mean(x) AS x, max(draws) AS draws,
       sum(common) AS common, coalesce(sum(noise), 0) AS noise, -- counts
       coalesce(sum(infinite), 0) AS infinite, sum(missing) AS missing -- counts
FROM per_head GROUP BY setting, a, b, source_id;

CREATE TEMP TABLE meeting AS
SELECT setting_id, stratum_id, source_id, a_id, b_id, coalesce((x > 0) - (x < 0), 0) AS sign
FROM encounter WHERE common > 0
UNION ALL
SELECT setting_id, stratum_id, source_id, b_id, a_id, coalesce((x < 0) - (x > 0), 0)
FROM encounter WHERE common > 0;
CREATE INDEX meetings ON meeting (setting_id, a_id, b_id);
