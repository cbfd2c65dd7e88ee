-- A comparison, of the tables that compare_print.c makes; parameters and words are of its terms. `rows` answers
-- programs. For people, `page` has one table of three: all that is known, a line each, or a setting across.

-- The facts of each setting: whether it varies, whether it is an integer, and its greatest label.
-- name: setting_facts
SELECT {facts} NULL FROM compared;

-- name: facts
count(DISTINCT quote({value})) > 1, max(typeof({value})) = 'integer', coalesce(max({label}) || '', ''),

-- Pieces of one setting: its value and its label as a column, and both its name and label in a list.
-- name: column
 {value} AS {head},

-- name: named
{text} || {label} || ', ' ||

-- The lines that are shown.
-- name: shown
DROP TABLE IF EXISTS temp.shown;
CREATE TEMP TABLE shown AS
WITH known AS (
    SELECT *, NOT :full AND line IN (SELECT min(line) FROM compared GROUP BY metric, value, base
                                     HAVING min(verdict = 'refused')) AS whole
    FROM compared),
placed AS (
    SELECT *, CASE WHEN whole THEN '' ELSE rtrim({band} '', ', ') END AS band,
           CASE WHEN NOT whole THEN {along} END AS along
    FROM known WHERE (stratum < 0 OR :by_model) AND (:full OR verdict <> 'refused' OR whole)),
narrowed AS (
    SELECT *, min(line) OVER (PARTITION BY whole, band) AS place,
           NOT :difference AND abs(ratio - 1) < 0.01 AND joint_high - joint_low < 0.01 AS narrow
    FROM placed),
marked AS (
    SELECT *, CASE WHEN heads_differ IS NOT NULL OR (disturbed AND verdict NOT IN ('none', 'refused', 'exact')) THEN '!'
                   ELSE '' END AS mark,
           row_number() OVER (ORDER BY whole, place, along, line) AS at,
           CASE WHEN narrow THEN shown('%.4f', ratio) ELSE numeral(ratio) END AS value_text,
           '[' || CASE WHEN narrow THEN bound('%.4f', joint_low) || ', ' || bound('%.4f', joint_high)
                       ELSE bound('%.3g', joint_low) || ', ' || bound('%.3g', joint_high) END || ']' AS interval
    FROM narrowed)
SELECT *, rtrim(CASE WHEN verdict = 'refused' THEN 'refused, see below' WHEN why = :not_timed THEN why
                     ELSE verdict END || ' ' || mark) AS found
FROM marked;
DROP TABLE IF EXISTS temp.together;
CREATE TEMP TABLE together AS
SELECT CASE WHEN max(family) > 1 THEN ' for all ' ||
           CASE WHEN min(family) < max(family) THEN min(family) || ' to ' ELSE '' END || max(family) || ' verdicts' ||
           CASE WHEN count(DISTINCT stratum) > 1 THEN ' of a model' ELSE '' END || ' together' ELSE '' END AS text
FROM shown WHERE family > 0;

-- name: counts
SELECT count(*), count(low), count(nullif(verdict, 'none')) FROM shown;

-- name: rows
SELECT method, baseline, :by AS "by", metric, model, {values} {pool_column:'all' AS @,} ratio AS {scale}, low, high,
       joint_low, joint_high, family, bootstrap_low, bootstrap_high, median, hodges_lehmann, hodges_lehmann_low,
       hodges_lehmann_high, CASE WHEN :is_more THEN 1 - below_share ELSE below_share END AS wins,
       CASE WHEN :is_more THEN 1 - below_high ELSE below_low END AS wins_low,
       CASE WHEN :is_more THEN 1 - below_low ELSE below_high END AS wins_high,
       sources_below, sources_above, sources_equal, sources, heads, pairs, ties, noise, disturbed, exact,
           exact_baseline, missing,
       missing_baseline, skipped, skipped_baseline, neither, infinite, icc, design_effect, effective, sd, se, se_trials,
       trials, df, t_p, wilcoxon_w, wilcoxon_p, sign_p,
       CAST(more_sources AS INTEGER) AS more_sources, verdict, why, heads_differ, far_trial
FROM compared ORDER BY line;

-- name: page
SELECT :metric || ' by ' || :by || ', ' || :over || ' that of ' ||
       CASE WHEN :all_pairs THEN 'another' ELSE baseline_label END || ', on the same head in the same trial' || :more ||
       :pooled AS "heading 2"
FROM compared WHERE line = 0 AND NOT :two;

SELECT 'Time and error by ' || :by || ', on the same heads in the same trials' || :pooled AS "heading 2" WHERE :two;

SELECT nullif(rtrim({constant} '', ', '), '') AS above FROM compared WHERE line = 0;

SELECT 'CONFOUNDED: they may differ in ' || :confounded || ' too' AS above WHERE :confounded <> '';

SELECT 'Exploratory (' || :by_hand || '): the verdicts hold together for the lines shown, not for all that was looked '
    || 'at.' AS above
WHERE :by_hand <> '';

SELECT 'No verdict' || CASE WHEN count(*) = lines THEN '' ELSE ' in ' || count(*) || ' of ' || lines ||
       CASE WHEN :two THEN ' comparisons' ELSE ' lines' END END || ': ' || why || '.' AS above
FROM shown, (SELECT count(*) AS lines FROM shown) WHERE NOT :full AND verdict = 'none'
    AND (found = 'none' OR :across OR NOT :verdicts) GROUP BY why ORDER BY min(at);

-- labels: {label_count}
{formats}-- format: {column}: %s
-- format: baseline: %s
-- format: model: %s
-- format: interval: %s
-- format: alone: %s
-- format: bootstrap: %s
-- format: p, ranks: %.2g
-- format: p, t: %.2g
-- format: ICC: %.2f
-- format: effective: %.1f
-- format: missing: %s
SELECT {labels} method_label AS {by}, {baseline:baseline_label AS @,} model_label AS model, value_text AS {scale},
       coalesce(interval, '-') AS interval,
       coalesce('[' || bound('%.3g', low) || ', ' || bound('%.3g', high) || ']', '-') AS alone,
       coalesce('[' || bound('%.3g', bootstrap_low) || ', ' || bound('%.3g', bootstrap_high) || ']', '-') AS bootstrap,
       numeral(median) AS median,
       CASE WHEN :is_more THEN sources_above ELSE sources_below END || '/' || (sources_below + sources_above) AS wins,
       wilcoxon_p AS "p, ranks", t_p AS "p, t", sources, heads, nullif(trials, 0) AS trials, icc AS ICC, effective,
       CASE WHEN missing OR missing_baseline THEN missing || '|' || missing_baseline ELSE '-' END AS missing,
       CASE WHEN verdict = 'refused' THEN 'refused, see below' WHEN why IS NOT NULL THEN verdict || ': ' || why
            WHEN verdict = 'undecided' AND more_sources IS NOT NULL THEN 'undecided, about ' ||
                CAST(more_sources AS INTEGER) || ' more source' || CASE more_sources WHEN 1 THEN '' ELSE 's' END
            ELSE verdict END || CASE WHEN heads_differ IS NULL THEN '' ELSE '; heads differ' END ||
            CASE WHEN disturbed THEN '; times disturbed' ELSE '' END AS verdict
FROM shown WHERE :full ORDER BY line;

-- labels: {label_count}
-- format: {column}: %s
-- format: baseline: %s
-- format: model: %s
-- format: interval: %s
-- format: verdict: %s
SELECT band AS "_band setting", method_label AS {by}, {baseline:baseline_label AS @,} {model:model_label AS @,}
       {along_column:along AS @,} value_text AS {scale}, {interval:coalesce(interval, '-') AS @,}
       {verdict:found AS @,} sources
FROM shown WHERE NOT :full AND NOT :across AND NOT :two ORDER BY at;

-- labels: {two_labels}
-- format: {column}: %s
-- format: model: %s
-- format: error: %.2g
WITH entrant AS (SELECT value, setting, stratum, model_label, min(at) AS at FROM (
        SELECT value, setting, stratum, model_label, at FROM shown UNION ALL
        SELECT base, setting, stratum, model_label, at FROM shown) GROUP BY value, setting, stratum),
point AS (
    SELECT value, setting, part.stratum, geomean({error}) AS error, min(coalesce({exact_row}, 0)) AS exact
    FROM (SELECT DISTINCT line_id, code.at AS value, dense_rank() OVER (ORDER BY {joined}) - 1 AS setting
          FROM agreed JOIN (SELECT value, dense_rank() OVER (ORDER BY min(number)) - 1 AS at FROM agreed
                            WHERE question = :question GROUP BY value) AS code USING (value)
          WHERE question = :question) JOIN run USING (line_id)
    JOIN (SELECT DISTINCT stratum FROM shown) AS part ON part.stratum < 0 OR part.stratum = run.stratum_id
    WHERE :two AND status = 'ok' AND {error} IS NOT NULL AND ({where}) GROUP BY value, setting, part.stratum),
placed AS (
    SELECT entrant.*, point.error, t.value_text AS time, t.ratio AS x,
           t.found, coalesce(e.found, CASE WHEN point.exact THEN 'exact' END) AS error_found,
           CASE WHEN point.exact THEN 0.0 ELSE e.ratio END AS y
    FROM entrant LEFT JOIN point USING (value, setting, stratum)
    LEFT JOIN shown AS t ON t.value = entrant.value AND t.setting = entrant.setting AND t.stratum = entrant.stratum
        AND t.metric = :metric
    LEFT JOIN shown AS e ON e.value = entrant.value AND e.setting = entrant.setting AND e.stratum = entrant.stratum
        AND e.metric = :error),
based AS (
    SELECT placed.*, value IN (SELECT base FROM shown WHERE metric = :metric) AS of_time,
           value IN (SELECT base FROM shown WHERE metric = :error) AS of_error FROM placed),
spot AS (
    SELECT *, CASE WHEN of_time THEN 1.0 ELSE x END AS at_x, CASE WHEN of_error AND y IS NULL THEN 1.0 ELSE y END
        AS at_y
    FROM based)
SELECT (SELECT rtrim({name} '', ', ') FROM shown WHERE shown.setting = a.setting LIMIT 1) AS "_band setting",
       (SELECT label FROM beside WHERE kind = 'value' AND code = a.value) AS {by}, {model:model_label AS @,}
       CASE WHEN of_time THEN '1' ELSE coalesce(time, '-') END AS time,
       {verdict:CASE WHEN of_time THEN 'baseline' ELSE coalesce(found, '-') END AS @,} error,
       {verdict:CASE WHEN of_error THEN 'baseline' ELSE coalesce(error_found, '-') END AS @,}
       CASE WHEN at_x IS NULL OR at_y IS NULL THEN '-'
            WHEN EXISTS (SELECT 1 FROM spot AS b WHERE b.setting = a.setting AND b.stratum = a.stratum
                         AND b.at_x <= a.at_x AND b.at_y <= a.at_y AND (b.at_x < a.at_x OR b.at_y < a.at_y)) THEN 'no'
                             ELSE 'yes' END AS "on the front"
FROM spot AS a WHERE :two ORDER BY min(at) OVER (PARTITION BY setting), stratum, value;

-- labels: {label_count}
-- format: {along_directive}: %s
-- format: baseline: %s
-- format: model: %s
SELECT band AS "_band setting", method_label AS {along}, {baseline:baseline_label AS @,} {model:model_label AS @,}
       coalesce(along, every) AS _across,
       marked(value_text, CASE WHEN verdict = 'refused' OR ratio IS NULL THEN '' ELSE
           CASE verdict WHEN 'better' THEN '*' WHEN 'worse' THEN 'x' WHEN 'equivalent' THEN '=' WHEN 'none' THEN
               CASE WHEN :verdicts THEN '?' ELSE '' END ELSE '' END || mark END) AS _cell
FROM (SELECT *, min(at) OVER (PARTITION BY whole, place, value, base, stratum) AS begin FROM shown)
LEFT JOIN (SELECT DISTINCT along AS every FROM shown WHERE NOT whole) ON whole
WHERE :across ORDER BY begin, at, every;

SELECT CASE WHEN :two THEN 'Less is better.' ELSE :Below || ' ' || :none || ' is better.' END ||
       CASE WHEN most = 0 THEN '' ELSE ' Each ' || :scale || ' is the ' || :geometric || 'mean over ' ||
           CASE WHEN least = most THEN '' ELSE least || ' to ' END || most || ' source' ||
       CASE WHEN least = 1 AND most = 1 THEN '' ELSE 's' END || ' (texts, images or generated data)' || :models ||
       coalesce(', with n = ' || shortest || CASE WHEN shortest < longest THEN ' to ' || longest ELSE '' END, '') ||
       coalesce(' and ' || trials || CASE trials WHEN 1 THEN ' trial' ELSE ' trials' END, '') || '.' END ||
       CASE WHEN lost = 0 THEN '' ELSE ' In ' || lost || ' pairs one of the two has no result; these ' ||
           :missing || '.' END ||
       CASE WHEN exact = 0 THEN '' ELSE ' In ' || exact ||
           ' pairs one of the two is exact but for rounding; these do not count.' END
       AS holds
FROM (SELECT coalesce(min(nullif(sources, 0)), 0) AS least, max(sources) AS most,
             coalesce(sum(missing + missing_baseline) FILTER (WHERE NOT untimed OR sources), 0) AS lost,
             coalesce(sum(max(exact, exact_baseline)) FILTER (WHERE pairs > 0), 0) AS exact
      FROM shown),
     (SELECT min(n) AS shortest, max(n) AS longest, max(trials) AS trials FROM panel)
WHERE most > 0 OR lost > 0;

SELECT 'REFUSED: ' || listed(method_label, line) || ': ' || why || '.' AS remark
FROM (SELECT why, method_label, min(line) AS line FROM compared WHERE verdict = 'refused' GROUP BY why, value)
GROUP BY why ORDER BY min(line);

SELECT text AS remark FROM without WHERE kind = :by;

SELECT label || CASE kind WHEN 'value' THEN ': ' || count || ' rows have no row of the baseline to be compared with.'
                ELSE ': no pair has a result.' END AS remark
FROM beside WHERE CASE kind
    WHEN 'value' THEN count > 0 AND NOT :all_pairs AND code NOT IN (SELECT value FROM compared
        WHERE verdict = 'refused')
    ELSE count = 0 AND NOT EXISTS (SELECT 1 FROM compared WHERE verdict = 'refused') END
ORDER BY code;

SELECT 'WARNING: ' || :disturber || ' ran while ' || disturbed || ' of ' || rows || ' rows were timed (' ||
       :disturber_hint || ').' ||
       CASE WHEN EXISTS (SELECT 1 FROM shown WHERE disturbed AND mark <> '') THEN
            ' A verdict marked ! may be due to them.' ELSE '' END AS remark
FROM (SELECT count(*) AS rows, count(CASE WHEN {disturbed} THEN 1 END) AS disturbed FROM run
      WHERE :timed AND status = 'ok' AND {metric} IS NOT NULL AND ({where})) WHERE disturbed > 0;

WITH conflicts AS (
    SELECT *, row_number() OVER (ORDER BY line) AS place, count(*) OVER () - most AS more
    FROM compared, (SELECT CASE WHEN :full THEN 6 ELSE 1 END AS most) WHERE heads_differ IS NOT NULL)
SELECT CASE WHEN place <= most THEN 'remark' ELSE 'paragraph' END AS kind,
       'WARNING: heads differ' || CASE WHEN place <= most
       THEN ': ' || CASE WHEN :two THEN metric || ' of ' ELSE '' END || {name} method_label ||
           CASE WHEN :all_pairs THEN ' over ' || baseline_label ELSE '' END ||
           CASE WHEN stratum < 0 THEN '' ELSE ', ' || model_label END || ': ' || heads_differ || '.'
       ELSE ' in ' || more || ' more line' || CASE more WHEN 1 THEN '' ELSE 's' END ||
           '; ' || field('where', 'head=0') || ' has one head alone.' END AS text
FROM conflicts WHERE place <= most + 1 ORDER BY place;

WITH far AS (
    SELECT *, row_number() OVER (ORDER BY line) AS place, count(*) OVER () - most AS more
    FROM compared, (SELECT CASE WHEN :full THEN 6 ELSE 1 END AS most) WHERE far_trial IS NOT NULL)
SELECT CASE WHEN place <= most
       THEN 'WARNING: a trial is far from the others: ' || CASE WHEN :two THEN metric || ' of ' ELSE '' END || {name}
           method_label ||
           CASE WHEN :all_pairs THEN ' over ' || baseline_label ELSE '' END ||
           CASE WHEN stratum < 0 THEN '' ELSE ', ' || model_label END || ': ' || far_trial || '.'
       ELSE 'WARNING: a trial is far from the others in ' || more || ' more line' || CASE more WHEN 1 THEN '' ELSE 's'
           END
           || '.' END ||
       CASE WHEN place = min(most + 1, most + more) THEN ' Such luck is rare; only more trials tell how rare.'
       ELSE '' END AS remark
FROM far WHERE place <= most + 1 ORDER BY place;

SELECT 'WARNING: ' || CASE WHEN :two THEN metric || ' of ' ELSE '' END || {name} method_label ||
       CASE WHEN :all_pairs THEN ' over ' || baseline_label ELSE '' END ||
       CASE WHEN stratum < 0 THEN '' ELSE ', ' || model_label END ||
       ': the effect changes sign with ' || :pool || ', over which it is pooled: ' || change || '.' AS remark
FROM compared WHERE change IS NOT NULL ORDER BY line;

WITH result AS MATERIALIZED (
    SELECT {by_id} AS id, {error} >= {trivial} AS worse FROM run
    WHERE :judged AND status = 'ok' AND {error} IS NOT NULL AND ({where}))
SELECT 'WARNING: mostly no better than equal weights for all tokens (column ' || :trivial || '): ' ||
       listed(label || ' (' || worse || ' of ' || results || ' rows)', id) || '.' AS remark
FROM (SELECT id, count(*) AS results, count(CASE WHEN worse THEN 1 END) AS worse FROM result GROUP BY id)
JOIN component USING (id) WHERE kind = :by AND 2 * worse > results HAVING count(*) > 0;

WITH joint AS (
    SELECT text, 'the ' || CASE WHEN :across OR :two THEN :percent || ' interval' || text ELSE 'interval' END
        AS interval
    FROM together),
seen AS (
    SELECT verdict AS word FROM shown WHERE ratio IS NOT NULL OR verdict = 'exact' UNION
    SELECT 'conflict' FROM shown WHERE heads_differ IS NOT NULL UNION SELECT 'one line'
        WHERE :two UNION SELECT 'interval' WHERE :intervals AND NOT :two),
known (place, word, mark, across, note) AS (VALUES
    (0, 'one line', 'time:', NULL, :metric || ', divided by that of ' || (SELECT baseline_label FROM compared
        WHERE metric = :metric)),
    (0.1, 'one line', 'error:', NULL, :error || ', geometric mean; the verdict is of its ratio to that of ' ||
        (SELECT baseline_label FROM compared WHERE metric = :error)),
    (0.2, 'one line', 'on the front:', NULL, 'none is both as fast and as good'),
    (1, 'interval', 'interval:', NULL, :percent || (SELECT text FROM joint) || ', over sources and trials'),
    (2, 'better', 'better:', '*', (SELECT interval FROM joint) || ' is ' || :better || ' ' || :none),
    (3, 'worse', 'worse:', 'x', (SELECT interval FROM joint) || ' is ' || :worse || ' ' || :none),
    (4, 'equivalent', 'equivalent:', '=', (SELECT interval FROM joint) || ' holds ' || :none || ' and is within ' ||
        :margin),
    (5, 'none', NULL, CASE WHEN :verdicts THEN '?' END, 'no verdict, see above'),
    (6, 'undecided', 'undecided:', NULL, (SELECT interval FROM joint) || ' holds ' || :none || ' and is not within ' ||
        :margin),
    (7, 'exact', 'exact:', NULL, 'has no ' || :error || ' but rounding, so that no ratio means anything'),
    (8, 'conflict', '!', '!', 'surely better on one head of a model, surely worse on another'))
SELECT CASE WHEN :across AND place BETWEEN 2 AND 4 THEN mark || ' ' ELSE '' END || note AS note,
       CASE WHEN :across THEN across ELSE mark END AS mark
FROM known JOIN seen USING (word) WHERE NOT :full AND CASE WHEN :across THEN across ELSE mark END IS NOT NULL
ORDER BY place;

SELECT CASE WHEN :two THEN call('compare') || ' ' || field('metric', :metric) ||
           ', or ' || :error || ', has ratios and intervals, ' || field('full', 'True') || ' all numbers.'
       ELSE call('compare') || ' ' || field('full', 'True') || ' has ' || CASE WHEN :across THEN 'intervals and '
           ELSE '' END || 'all numbers' || :by_model || '.' END
       AS paragraph WHERE NOT :full;

SELECT 'With one trial, or none that all sources have, the intervals do not cover the luck of the draws.' AS remark
FROM compared WHERE :full AND sources > 0 AND trials < 2 AND shares_trials AND EXISTS (SELECT 1 FROM key
    WHERE draws) LIMIT 1;

SELECT 'With fewer than 20 sources the bootstrap interval is too short: one of 95 % covers 84 to 92 %.' AS remark
FROM compared WHERE :full AND finite(bootstrap_low) IS NOT NULL AND sources < 20 LIMIT 1;

SELECT 'In the table:' AS paragraph WHERE :full;

WITH known (place, mark, note) AS (VALUES
    (1, :scale || ':', :geometric || 'mean over sources; a source has the mean over its heads of their means over '
        || 'trials. In lines "all", models count the same'),
    (1.5, 'interval:', :percent || ' t interval' || (SELECT text FROM together) || ', over sources and trials'),
    (2, 'alone:', 'the same of each line alone'),
    (3, 'bootstrap:', 'BCa interval over sources'),
    (4, 'wins:', 'sources with ' || :less || ' than the baseline, of those that differ'),
    (5, 'p:', 'of Wilcoxon''s signed ranks, and of the t test'),
    (7, 'ICC:', 'how alike the heads of a source are (0: not at all; below: sources are more alike)'),
    (8, 'effective:', 'how many independent heads they are worth'),
    (9, 'missing:', 'pairs without a result of the method | of the baseline, which ' || :missing))
SELECT note, mark FROM known WHERE :full ORDER BY place;

SELECT 'Verdicts:' AS paragraph WHERE :full;

WITH known (place, mark, note) AS (VALUES
    (1, 'better, worse:', 'the interval excludes ' || :none),
    (2, 'equivalent:', 'neither, and the interval is within ' || :margin),
    (3, 'undecided:', 'none of these'),
    (4, 'none:', :least || ', or infinite ratios'),
    (5, 'exact:', 'all rows are exact but for rounding, so that no ratio means anything'),
    (6, 'heads differ:', 'on one head of the model it is surely less than the baseline, on another surely more: the '
        || 'verdict is of their mean'))
SELECT note, mark FROM known WHERE :full ORDER BY place;
