-- Estimates of the pairs of a view (estimates.h), whose columns before those of a pair are {groups}.

-- name: columns
SELECT name FROM pragma_table_info(:view, 'temp') ORDER BY cid;

-- name: make
CREATE TEMP TABLE {estimates} AS
WITH per_group AS MATERIALIZED (
    SELECT {groups:@, }estimate(x, y, noise_x, noise_y, se_x, se_y, stratum_id, source_id, head_id, trial, draws) AS e
    FROM temp.{pairs} GROUP BY {first}{others:, @})
SELECT {groups:@, }estimate_ratio(e) AS ratio, estimate_low(e) AS low, estimate_high(e) AS high,
       estimate_sources(e) AS sources, estimate_heads(e) AS heads, estimate_missing(e) AS missing,
       estimate_verdict(e, sum(estimate_tested(e)) OVER (), (SELECT text FROM unfinished)) AS verdict
FROM per_group;
