# SPDX-License-Identifier: GPL-3.0-or-later
# The numbers of README.md, docs/results.md, docs/suite.md, docs/paper.md and its appendices are of results/published.

load helpers

# check_numbers [FOLDER]: what is in no published file, a line each.
check_numbers() {
    /usr/bin/python3 tests/published/numbers.py "${1:-.}"
}

@test "the documents' numbers are in results/published; what is looked for does not shrink unnoticed" {
    run check_numbers --strength
    expect_status 0 # and no mistake is told before
    output=$(sed 's/[0-9][0-9]*/#/g' <<<"${lines[0]}") tell numbers.py --strength
    read -r count chance <<<"$(grep -oE '[0-9]+' <<<"${lines[0]}" | xargs)"
    [ "$count" -ge 3900 ]
    [ "${chance%% *}" -le 20 ] # of numbers with another last digit, some row has these by chance
    [ "$(grep '^docs/.*#.* = ' results/published/LIST | grep -vc ' = definitions$')" -eq 3 ]
}

# A copy of what is checked, to break.
copy_texts() {
    mkdir -p "$WORK/docs" "$WORK/results/published"
    cp README.md "$WORK"
    cp docs/{results,paper,appendix,profile,engine,intervals,suite}.md "$WORK/docs"
    cp results/published/{LIST,*.csv} "$WORK/results/published"
}

@test "a number that is in no row of its published files is named, with its place" {
    copy_texts
    sed -i 's/heads is 0\.028/heads is 0.0277/' "$WORK/README.md"
    sed -i 's/| 0\.72 \[0\.69, 0\.75\] |/| 0.73 [0.69, 0.75] |/' "$WORK/docs/appendix.md"
    run check_numbers "$WORK"
    expect_status 1
    expect "README.md#what-has-been-found: '0.0277, 0.012, 0.066'"
    expect "docs/appendix.md#how-surely: '0.73, 0.69, 0.75'"
}

@test "a row is told from another one by the headings of a table" {
    copy_texts # the numbers of k-means at m = 8 in the row of farthest_point are there, but not in its row
    sed -i 's/^| `farthest_point` | 1\.04 \[0\.98, 1\.10\]/| `farthest_point` | 0.72 [0.69, 0.75]/' \
        "$WORK/docs/appendix.md"
    run check_numbers "$WORK"
    expect_status 1
    expect "docs/appendix.md#how-surely: '0.72, 0.69, 0.75' (\`farthest_point\` | 0.72 [0.69, 0.75] *)"
    [ "${#lines[@]}" -eq 1 ]
}

@test "a text without a published file, a given number that is not there and a file that is missing are named" {
    copy_texts
    printf '\n## Another finding\n\nIt is 0.123 of that.\n' >>"$WORK/docs/paper.md"
    sed -i 's/^    0\.03 -- /    0.03 77 -- /' "$WORK/results/published/LIST"
    rm "$WORK/results/published/sources.csv"
    run check_numbers "$WORK"
    expect_status 1
    output=$(grep -E 'no CSV|not there' <<<"$output") tell numbers.py
}

@test "every file of results/published is in its LIST, and the other way round" {
    diff <(sed -n 's/^\[\([a-z].*\.[a-z]*\)\]$/\1/p' results/published/LIST | sort) \
        <(cd results/published && ls | grep -v LIST | sort)
}

# A small run of each study, WORK/STUDY, measured in full; claims go into WORK/STUDY.yaml by `py add_claims`.
run_studies() {
    local study effect="live_model(run=\"/usr/bin/python3 $WORK/stub_model.py\", layers=all, source=0)"
    cp tests/support/stub_model.py "$WORK"
    printf '%s\n' "problems: gaussian(n=20, d=4)" "strategies: uniform" "landmarks: 4" "cores: svd" >"$WORK/error.yaml"
    printf '%s\n' "study: forward" "problems: gaussian(n=20, d=4)" "attentions: streamed" >"$WORK/forward.yaml"
    printf '%s\n' "study: effect" "problems: ['$effect']" "attentions: streamed" >"$WORK/effect.yaml"
    printf '%s\n' "study: coherence" "problems: gaussian(n=20, d=4)" "clusters: 2" "partitions: kmeans" \
        >"$WORK/coherence.yaml"
    "$@"
    for study in error forward effect coherence; do
        run "$NYSBENCH" run "$WORK/$study.yaml" -q --set trials=1 --set plots=[] --set metrics=all -o "$WORK/$study"
        expect_status 0
    done
}

@test "what LIST asks of runs is SQL that the program has" {
    run_studies
    py check_queries "$NYSBENCH" "$WORK"
}

@test "what the experiments' claims measure is there: their queries are SQL that the program has" {
    run_studies py add_claims "$WORK"
    py check_claims "$NYSBENCH" "$WORK"
}

@test "what LIST says is checked" {
    copy_texts
    cat >>"$WORK/results/published/LIST" <<'EOF'
[more.csv]
run = 99-nothing
command = compare {run}
EOF
    run check_numbers "$WORK"
    expect_status 1
    tell numbers.py
}

@test "what is published of the suite is what its results say; a result of another list, or none, is refused" {
    local part
    for part in numbers curves ranks; do
        diff <(/usr/bin/python3 tests/bench/suite_figure.py $part) "results/published/suite_$part.csv"
    done
    [ "$(/usr/bin/python3 tests/bench/suite_figure.py figure | head -c 4 | tail -c 3)" = PNG ]
    cp results/suite/tova.json "$WORK"
    run /usr/bin/python3 tests/bench/suite_figure.py figure "$WORK"
    expect_status 1
    output=$(cut -d , -f 1 <<<"$output") tell suite_figure.py figure "$WORK"
    grep -v wildcat results/published/suite_heads.csv >"$WORK/heads.csv"
    run /usr/bin/python3 tests/bench/suite_figure.py figure "$WORK/heads.csv"
    expect_status 1
    tell suite_figure.py figure "$WORK/heads.csv"
    sed -i 's/"list_sha256": "./"list_sha256": "z/' "$WORK/tova.json"
    run /usr/bin/python3 tests/bench/suite_figure.py numbers "$WORK"
    expect_status 1
    output=$(sed -E "s/[0-9a-z]{64}/#/g" <<<"$output") tell suite_figure.py numbers "$WORK"
}

@test "what is told of the replication is what its files say; numbers are within, agree or have changed" {
    diff <(/usr/bin/python3 tests/bench/replication.py rows) results/published/replication.csv
    diff <(/usr/bin/python3 tests/bench/replication.py counts) results/published/replication_counts.csv
    # 100 in [80, 125] is a factor of 1.25 wide each way: together with 1.25 of its own a ratio may differ
    # by exp(ln 1.25 * sqrt(2)), 1.371; a share of 0.5 +- 0.1 with +- 0.1 of its own by 0.141.
    printf '%s\n' method,ratio,low,high a,100,80,125 b,100,80,125 c,100,80,125 d,100,80,125 e,5,4,6 >"$WORK/x.csv"
    printf '%s\n' method,ratio,low,high,sources a,124,99.2,155,7 b,136,108.8,170,7 c,138,110.4,172.5,7 f,1,1,1,7 \
        d,136,108.8,170,7 >"$WORK/replicated_x.csv"
    printf '%s\n' attention,task_error,low,high 'streamed,0,0,0' g,0.5,0.4,0.6 h,0,-0.1,0.1 >"$WORK/y.csv"
    printf '%s\n' attention,task_error,low,high 'streamed,0,0,0' g,0.63,0.53,0.73 h,0.15,0.05,0.25 \
        >"$WORK/replicated_y.csv"
    echo method,ratio,low,high >"$WORK/replicated_alone.csv"
    run /usr/bin/python3 tests/bench/replication.py rows "$WORK"
    expect_status 0
    expect "x.csv,,,,,,,,,,,,,a,,,100,80,125,124,99.2,155,7,within"
    expect "x.csv,,,,,,,,,,,,,b,,,100,80,125,136,108.8,170,7,agrees"
    expect "x.csv,,,,,,,,,,,,,c,,,100,80,125,138,110.4,172.5,7,changed"
    expect "y.csv,,,,,,,,,,,,,,g,,0.5,0.4,0.6,0.63,0.53,0.73,,agrees"
    expect "y.csv,,,,,,,,,,,,,,h,,0,-0.1,0.1,0.15,0.05,0.25,,changed"
    [ "${#lines[@]}" -eq 6 ] # d repeats b's numbers, e and f stand in one file alone
    run /usr/bin/python3 tests/bench/replication.py counts "$WORK"
    expect "all,5,1,2,2"
}

# publish [ARGUMENT]...: make publish's script in a tree of its own, whose LIST the test writes.
publish() {
    mkdir -p "$WORK/tests/published" "$WORK/results/published"
    cp tests/published/*.py "$WORK/tests/published"
    ln -sfn "$PWD/experiments" "$WORK/experiments"
    ln -sfn "$NYSBENCH" "$WORK/nysbench"
    PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$WORK/tests/published/publish.py" "$@"
}

@test "publish makes what its list has, once, and goes on where it was stopped" {
    mkdir -p "$WORK/results/published"
    cat >"$WORK/results/published/LIST" <<'EOF'
[run smoke]
command = run experiments/00-smoke.yaml --set plots=[]

[below.csv]
run = smoke
command = table {run} errors
columns = core
count = median < baseline_mean

[medians.csv]
run = smoke
command = table {run} errors
rows = landmarks=4 & iterative(
columns = label, core, percent=100*median

[seconds.csv]
script = printf 'a,b\n1,2\n3,4\n'
columns = b, sum=a+b
times = yes

[no.csv]
run = nothing
command = table {run} errors
columns = core

[run nothing]
command = run experiments/99-nothing.yaml
needs = a file that is not there
EOF
    run publish
    expect_status 1 # all but one are made
    output=$(grep -E '^publish|up to date|published/' <<<"$output") tell publish.py
    [ "$(cat "$WORK/results/published/seconds.csv")" = $'b,sum\n2,3\n4,7' ]
    grep -q '^"iterative(steps=6.*",[0-9]*,[0-9]*$' "$WORK/results/published/below.csv"
    [ "$(head -1 "$WORK/results/published/medians.csv")" = label,core,percent ]
    [ -z "$(grep -v "iterative\|label" "$WORK/results/published/medians.csv")" ]
    run publish --check "$WORK/results"
    expect_status 0
    tell publish.py --check "$WORK/results"
    sed -i '2s/,[^,]*$/,12.5/' "$WORK/results/published/medians.csv"
    sed -i '$d' "$WORK/results/published/below.csv"
    run publish --check "$WORK/results"
    expect_status 1
    tell publish.py --check "$WORK/results"
    sed -i '2s/^"uniform/"optimized(steps=1)/' "$WORK/results/published/medians.csv" # a line without an interval
    run publish --check "$WORK/results"
    expect_status 1
    tell publish.py --check "$WORK/results"
    rm "$WORK/results/published/below.csv"
    run publish # the others are not made again
    expect_status 1
    expect "results/published/below.csv"
    [[ "$output" != *"results/published/medians.csv"* ]]
    run publish nowhere.csv
    expect_status 1
    tell publish.py nowhere.csv
}
