# SPDX-License-Identifier: GPL-3.0-or-later
# nysbench sql: what views hold, and functions against Python's own statistics on rows.csv.

load helpers

measured() { # OPTIONS...
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set metrics=error --set factors=nystromformer \
        --set trials=3 -o "$WORK/r" "$@"
}

@test "the view run has the rows and columns of rows.csv, and labels" {
    measured --set seed=5000000000 # more than an int holds
    "$NYSBENCH" sql "$WORK/r" 'SELECT * FROM run ORDER BY position' --format csv >"$WORK/view"
    py check_view "$WORK/r/rows.csv" "$WORK/view"
}

@test "titles of panels that would be the same have those facts of their files that differ" {
    local file=experiments/data/panel/vit
    local files="${file}_camera_n257_L6.safetensors, ${file}_grass_n257_L6.safetensors"
    measured --set trials=1 --set cores=iterative --set strategies=uniform \
        --set "problems=heads(file=[$files], head=0, max_n=[32, 64])"
    "$NYSBENCH" sql "$WORK/r" 'SELECT title FROM panel ORDER BY id' --format csv |
        diff - <(printf '%s\n' title '"ViT-S/14 layer 6, 2 sources, n = 32, max_n = 32"' \
            '"ViT-S/14 layer 6, 2 sources, n = 64, max_n = 64"')
}

# Linear interpolation as NumPy has it; order statistics of the sources' medians, of which the outermost two leave
# 2 * 2^-n outside; tolerance: sums of a hundred numbers in another order.
@test "aggregates are those that Python computes" {
    measured --only problem=gaussian --set trials=9
    "$NYSBENCH" sql "$WORK/r" "SELECT strategy, core, landmarks, median(error) AS median, quantile(error, 0.1) AS p10,
        mean(error) AS mean, sd(error) AS sd, geomean(error) AS geomean,
        count(DISTINCT source_id) AS sources,
        median_low(error, source_id) AS low, median_high(error, source_id) AS high
        FROM run WHERE status = 'ok' AND NOT alone GROUP BY 1, 2, 3 ORDER BY 1, 2, 3" --format csv >"$WORK/cells"
    py check_aggregates "$WORK/r/rows.csv" "$WORK/cells"
}

@test "a list of lists has the quantiles of all their values" {
    measured --only problem=gaussian
    run "$NYSBENCH" sql "$WORK/r" \
        "WITH one AS (SELECT list(error) AS x, count(error) AS n FROM run GROUP BY strategy_id, core_id)
        SELECT (SELECT median(error) FROM run) = (SELECT median(x) FROM one) AS medians,
            (SELECT quantile(error, 0.9) FROM run) = (SELECT quantile(x, 0.9) FROM one) AS quantiles,
            (SELECT count(error) FROM run) - (SELECT size(list(x)) FROM one) AS missing, count(*) > 3 AS several,
            size((SELECT list(error) FROM run WHERE 0)) AS none FROM one" -f csv
    expect_status 0
    [ "${lines[1]}" = "1,1,0,1,0" ]
    told sql "$WORK/r" "SELECT median(x'00') FROM run"
    expect_status 2
}

# A sweep has three settings of one option or more; a core in two sweeps is in the larger one.
@test "cores and their sweeps are a view" {
    local two='"svd(rcond=[0.1, 0.2])", best, "svd(rcond=0.3)", "svd(rcond=0.1, rank=3)", gcv'
    measured --only problem=gaussian --set trials=1 --set landmarks=4 --set strategies=uniform \
        --set "cores=[$two, \"svd(rcond=0.1, rank=2)\", \"svd(rcond=0.4)\"]"
    run "$NYSBENCH" sql "$WORK/r" "SELECT label, option, x, sweep, look FROM core ORDER BY place" -f csv
    expect_status 0
    diff - <(printf '%s\n' "$output") <<'END'
label,option,x,sweep,look
svd(rcond=0.1),rcond,0.10000000000000001,svd,0
svd(rcond=0.2),rcond,0.20000000000000001,svd,0
best,,,,1
svd(rcond=0.3),rcond,0.29999999999999999,svd,0
"svd(rcond=0.1, rank=3)",,,,2
gcv,,,,3
"svd(rcond=0.1, rank=2)",,,,4
svd(rcond=0.4),rcond,0.40000000000000002,svd,0
END
    run "$NYSBENCH" sql "$WORK/r" "SELECT key, value, number, rest_label FROM option JOIN core USING (id)
        WHERE kind = 'core' AND label = 'svd(rcond=0.1, rank=3)' OR kind = 'core' AND label = 'svd(rcond=0.2)'
        ORDER BY core.place DESC, option.place" -f csv
    [ "${lines[2]}" = 'rank,3,3,svd(rcond=0.1)' ]
    [ "${lines[4]}" = 'rank,all,,svd(rcond=0.2)' ] # a word is no number
}

# Of the rows themselves, one core alone stands for all trials: pairs counts it in each.
@test "choices of landmarks are those of rows.csv, what is the same in all trials in each" {
    measured --set problems='["heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=0, max_n=48)"]' \
        --set trials=3 --set strategies='[segment_means, uniform]' --set landmarks='[4, 8]' \
        --set cores='[iterative, "fitted(rows=8)"]'
    "$NYSBENCH" sql "$WORK/r" \
        "SELECT c.landmarks, c.trial, core.spec AS core, o.above FROM choice AS c JOIN outcome AS o
        ON o.choice_id = c.id JOIN core ON core.id = o.core_id ORDER BY 1, 2, 3, 4" -f csv >"$WORK/choices"
    py check_choices "$WORK/r/rows.csv" "$WORK/choices"
}

# Means 1, 2, 3 of three sources: se 1 / sqrt(3) with 2 degrees of freedom, 4.302652729911275 (Student's quantile at
# 0.975). A line through (0, 1), (1, 3), (2, 4), (3, 8): slope 2.2, residuals 0.3, 0.1, -1.1, 0.7. Logarithms that
# cross between 2 and 8 at 4. Where values are infinite, quantiles beside them and means are as they are defined.
@test "means of sources, correlations, slopes and crossings are those of textbooks, also of infinite values" {
    measured --only problem=gaussian --set trials=1
    ask() { "$NYSBENCH" sql "$WORK/r" "$1" --format csv | tail -n 1; }
    close() { py check_close "$@"; }
    close "$(ask "WITH v (x, s) AS (VALUES (0.5, 1), (1.5, 1), (1.5, 2), (2.5, 2), (2.5, 3), (3.5, 3), (NULL, 4))
        SELECT mean_of_sources(x, s), mean_low(x, s), mean_high(x, s) FROM v")" \
        "2,$(/usr/bin/python3 -c 'print(2 - 4.302652729911275 / 3**0.5, 2 + 4.302652729911275 / 3**0.5, sep=",")')"
    close "$(ask "WITH v (x, y) AS (VALUES (0, 1), (1, 3), (2, 4), (3, 8), (NULL, 1), (7, NULL))
        SELECT slope(x, y), slope_low(x, y), spearman(x, y), spearman(-x, y) FROM v")" \
        "2.2,$(/usr/bin/python3 -c 'print(2.2 - 4.302652729911275 * (1.8 / 2 / 5)**0.5)'),1,-1"
    close "$(ask \
        "WITH v (x, a, b) AS (VALUES (8, 1, 2), (1, 4, 1), (2, 2, 1)) SELECT crossing(x, a, b), crossing(x, b, a),
        crossing(x, a, 9) FROM v")" "4,,1"
    close "$(ask \
        "WITH v (x) AS (VALUES (1), (2), (4), (9e999)) SELECT median(x), quantile(x, 1 / 3.0), quantile(x, 0.7),
        mean(x), mean(-x), mean(finite(x)), count(finite(x)) FROM v")" \
        "3,2,inf,inf,-inf,$(/usr/bin/python3 -c 'print(7 / 3)'),3"
    close "$(ask "WITH v (x) AS (VALUES (1), (2), (9e999)) SELECT median(x), quantile(x, 0) FROM v")" "2,1"
    close "$(ask "WITH v (x) AS (VALUES (1), (2), (9e999)), l AS (SELECT list(x) AS xs FROM v)
        SELECT size(xs), size(finite(xs)), mean(xs), mean(finite(xs)), sd(finite(xs)) FROM l")" \
        "3,2,inf,1.5,$(/usr/bin/python3 -c 'print(0.5**0.5)')"
}

@test "the view of ratios has what compare says" {
    measured --only problem=gaussian --set trials=7 --set landmarks=16 --set cores=iterative \
        --set strategies='[uniform, kmeans]'
    "$NYSBENCH" compare "$WORK/r" --baseline uniform --format csv >"$WORK/compare"
    "$NYSBENCH" sql "$WORK/r" "SELECT ratio, low, high FROM ratio WHERE head_id IS NULL" --format csv >"$WORK/sql"
    py check_ratios "$WORK/compare" "$WORK/sql"
}

@test "queries read, one at a time, also beside who writes" {
    measured --only problem=gaussian
    before=$(sha256sum <"$WORK/r/results.sqlite")
    for query in 'DELETE FROM run' 'UPDATE main.results SET error = 0' 'DROP TABLE main.results' \
        'PRAGMA user_version = 1' \
        "ATTACH '$WORK/other' AS other" 'CREATE TABLE x (y)' 'SELECT 1; SELECT 2' 'SELECT nothing FROM run' \
        '/* nothing */ '; do
        run "$NYSBENCH" sql "$WORK/r" "$query"
        expect_status 2
        [[ "${lines[0]}" == "nysbench: error: SQL"* ]] || { echo "$query: $output"; return 1; } # the rest is SQLite's
    done
    [ "$before" = "$(sha256sum <"$WORK/r/results.sqlite")" ]
    py check_reading "$NYSBENCH" "$WORK/r"
}

@test "a word that is no folder is no query either" {
    measured --only problem=gaussian
    for word in SELECT 1 '' "$WORK/nowhere"; do
        told sql "$WORK/r" "$word"
        expect_status 2
    done
    told sql "$WORK/r" "$WORK"
    expect_status 2
}

@test "runs of one study are asked together, of two not" {
    measured --only problem=gaussian
    mv "$WORK/r" "$WORK/one"
    measured --only problem=gaussian --set seed=5
    run "$NYSBENCH" sql "$WORK/one" "$WORK/r" \
        'SELECT run, count(*) AS rows, count(DISTINCT seed) AS seeds FROM run GROUP BY run ORDER BY run' -f csv
    expect_status 0
    [ "${lines[1]%%,*}" = "$WORK/one" ] && [ "${lines[2]%%,*}" = "$WORK/r" ]
    [ "${lines[1]#*,}" = "${lines[2]#*,}" ] && [ "${lines[1]##*,}" -eq 1 ]
    "$NYSBENCH" run experiments/10-coherence.yaml -q --set plots=[] --set trials=1 -o "$WORK/c" \
        --only problem=gaussian >/dev/null
    told sql "$WORK/one" "$WORK/c" 'SELECT 1 FROM run'
    expect_status 2
}

# SQLite's sum depends on the order of rows and on its version, but of counts, and its log is base 10.
@test "files of SQL leave sums, means and logarithms to the program" {
    run bash -c "grep -hv '^--\|-- counts$' src/studies/*/*/*.sql | grep -niE '\\b(sum|avg|total|log|log10)\\('"
    expect_status 1
    for file in src/studies/*/tables/*.sql; do # and say in which order they answer
        py check_file "$file"
    done
}

@test "the queries of docs/figures.md have answers" {
    measured
    py check_manual "$NYSBENCH" "$WORK/r"
}

@test "a million rows as CSV or JSON: each is written as it comes; two statements write none" {
    measured --set trials=1 >/dev/null
    local million="WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1000000)
        SELECT x, 'a text of ' || x AS text FROM n"
    if ! sanitized; then
        for format in csv json; do
            OPENBLAS_NUM_THREADS=1 run bash -c 'ulimit -v 350000 && "$0" sql "$1" "$2" --format "$3" >"$4"' \
                "$NYSBENCH" "$WORK/r" "$million" "$format" "$WORK/out"
            expect_status 0
            [ "$(grep -c "a text of" "$WORK/out")" -eq 1000000 ] # NOLINT(wording): the query's
        done
        py check_last "$WORK/out"
    fi
    told sql "$WORK/r" "SELECT 0 AS x; SELECT 1" --format csv
    expect_status 2
}
