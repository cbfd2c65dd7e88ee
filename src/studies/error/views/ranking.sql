-- Strategies of a standing that are ranked, over the sources in which all of them meet: `ranking` has mean ranks, and
-- the letters of the groups, which are the largest whose ranks differ by no more than the critical difference. `test`
-- has the tests of ranks, or why there are none: too few sources, or what speaks against a verdict of compare too
-- (rows/estimates.h).
-- needs: contender estimates:contender_pair
CREATE TEMP TABLE score ( -- met: how many others it meets in a source; score: 2 for each better one, 1 for an equal
    standing_id INTEGER, source_id INTEGER, strategy_id INTEGER, met INTEGER, score INTEGER,
    PRIMARY KEY (standing_id, source_id, strategy_id)) WITHOUT ROWID;
INSERT INTO score
SELECT a.standing_id, m.source_id, a.strategy_id, count(*),
       2 * count(CASE WHEN sign > 0 THEN 1 END) + count(CASE WHEN sign = 0 THEN 1 END)
FROM contender AS a JOIN contender AS b ON b.standing_id = a.standing_id AND b.strategy_id <> a.strategy_id
JOIN standing AS s ON s.id = a.standing_id
JOIN meeting AS m ON m.setting_id = s.setting_id AND m.a_id = a.strategy_id AND m.b_id = b.strategy_id
    AND s.stratum_id IN (-1, m.stratum_id)
WHERE a.ranked AND b.ranked GROUP BY a.standing_id, m.source_id, a.strategy_id;

CREATE TEMP TABLE placed AS -- mid-ranks in the sources in which all meet
WITH standing_size AS (
    SELECT standing_id, count(CASE WHEN ranked THEN 1 END) AS ranked FROM contender GROUP BY standing_id)
SELECT a.standing_id, a.source_id, a.strategy_id, count(CASE WHEN b.score < a.score THEN 1 END) +
           (count(CASE WHEN b.score = a.score THEN 1 END) + 1) / 2.0 AS rank
FROM score AS a CROSS JOIN score AS b USING (standing_id, source_id) JOIN standing_size USING (standing_id)
GROUP BY a.standing_id, a.source_id, a.strategy_id HAVING count(CASE WHEN b.met = ranked - 1 THEN 1 END) = ranked;

CREATE TEMP TABLE missed AS -- the sources that are left out
SELECT standing_id, stratum_id, source_id, stratum.label || ': ' || source.name AS source
FROM (SELECT standing_id, source_id FROM entered EXCEPT SELECT standing_id, source_id FROM placed)
JOIN source ON source.id = source_id JOIN stratum ON stratum.id = stratum_id;

CREATE TEMP TABLE unsure AS -- why the tests say nothing, where that holds for two that are ranked
SELECT standing_id, min(untested) AS why
FROM contender_pair_estimate AS e JOIN contender AS a USING (standing_id) JOIN contender AS b USING (standing_id)
WHERE a.strategy_id = a_id AND b.strategy_id = b_id AND a.ranked AND b.ranked GROUP BY standing_id;

CREATE TEMP TABLE test AS
WITH per_standing AS (
    SELECT standing_id, count(CASE WHEN ranked THEN 1 END) AS ranked, max(planned) AS planned
    FROM contender GROUP BY standing_id),
placed_if_sure AS (
    SELECT placed.*, why, CASE WHEN why IS NULL THEN rank END AS sure_rank
    FROM placed LEFT JOIN unsure USING (standing_id)),
standing_test AS (
    SELECT standing_id, count(DISTINCT source_id) AS sources, why,
           friedman_chi2(sure_rank, source_id, strategy_id) AS chi2,
           friedman_p(sure_rank, source_id, strategy_id) AS chi2_p,
           friedman_f(sure_rank, source_id, strategy_id) AS f, friedman_f_p(sure_rank, source_id, strategy_id) AS f_p,
           friedman_w(sure_rank, source_id, strategy_id) AS w
    FROM placed_if_sure GROUP BY standing_id),
missed_list AS (
    SELECT standing_id, row_number() OVER (PARTITION BY standing_id ORDER BY source_id DESC) AS place,
           group_concat(source, ' | ') OVER (PARTITION BY standing_id ORDER BY source_id) AS left_out
    FROM missed)
SELECT per_standing.*, coalesce(sources, 0) AS sources, chi2, chi2_p, f, f_p, w,
       CASE WHEN why IS NULL THEN nemenyi(sources, ranked) END AS critical_difference,
       coalesce(left_out, '') AS left_out,
       CASE WHEN ranked = 0 THEN 'no method has a result' WHEN ranked = 1 THEN 'only one method has a result'
            WHEN sources IS NULL THEN 'in no source all methods have a result'
            WHEN sources < least_sources() THEN sources || CASE WHEN sources > 1 THEN ' sources' ELSE ' source' END ||
                ', fewer than ' || least_sources()
            ELSE why END AS untested
FROM per_standing LEFT JOIN standing_test USING (standing_id)
LEFT JOIN missed_list ON missed_list.standing_id = per_standing.standing_id AND place = 1;

CREATE TEMP TABLE ranked AS -- by place
SELECT standing_id, strategy_id, rank, row_number() OVER (PARTITION BY standing_id ORDER BY rank, strategy_id) AS place
FROM (SELECT standing_id, strategy_id, mean(rank) AS rank FROM placed GROUP BY standing_id, strategy_id);
CREATE UNIQUE INDEX places ON ranked (standing_id, place);

CREATE TEMP TABLE equals AS -- the groups, from one place to another
WITH per_first AS (
    SELECT a.standing_id, a.place AS first, max(b.place) AS last
    FROM ranked AS a JOIN test AS t USING (standing_id) JOIN ranked AS b ON b.standing_id = a.standing_id
        AND b.place >= a.place AND b.rank - a.rank <= critical_difference
    GROUP BY a.standing_id, a.place),
group_of_places AS (
    SELECT *, coalesce(max(last) OVER (PARTITION BY standing_id ORDER BY first ROWS BETWEEN UNBOUNDED PRECEDING AND
               1 PRECEDING), 0) AS before
    FROM per_first)
SELECT standing_id, first, last, row_number() OVER (PARTITION BY standing_id ORDER BY first) - 1 AS number
FROM group_of_places WHERE last > before;

CREATE TEMP TABLE ranking AS
WITH per_strategy AS (
    SELECT r.*, min(number) AS low, max(number) AS high
    FROM ranked AS r LEFT JOIN equals AS e ON e.standing_id = r.standing_id AND place BETWEEN first AND last
    GROUP BY r.standing_id, r.strategy_id),
lettered AS (
    SELECT *, CASE WHEN low < 26 THEN char(97 + low) ELSE char(96 + low / 26, 97 + low % 26) END AS a,
           CASE WHEN high < 26 THEN char(97 + high) ELSE char(96 + high / 26, 97 + high % 26) END AS b
    FROM per_strategy)
SELECT standing_id, strategy_id, rank, place, CASE WHEN low IS NULL THEN '' WHEN low = high THEN a
           WHEN high = low + 1 AND high < 26 THEN a || b ELSE a || '-' || b END AS groups
FROM lettered;
CREATE UNIQUE INDEX rankings ON ranking (standing_id, strategy_id);
