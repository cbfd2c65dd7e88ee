# SPDX-License-Identifier: GPL-3.0-or-later
# nysbench board: the facts of the page, and what it refuses. How the page behaves is tests/browser/board.py's.

load helpers

board() {
    run "$NYSBENCH" board "$@"
}

@test "every method of the results has its place, by number, and what it is" {
    board results/suite/*.json -o "$WORK/board.html"
    expect_status 0
    [ "$output" = "$WORK/board.html" ]
    py check_board "$WORK/board.html" results/suite/*.json
}

@test "the board has all attentions and strategies of the program, but for those that the manual excepts" {
    local form
    "$NYSBENCH" list --format json >"$WORK/components.json"
    for form in suite suite-whole; do
        py check_all_there "$WORK/components.json" docs/suite.md results/$form/*.json
    done
}

@test "more than forty entries are below a megabyte, and the page loads nothing" {
    local files=(results/suite/*.json)
    [ ${#files[@]} -ge 40 ]
    "$NYSBENCH" board "${files[@]}" -o - >"$WORK/board.html"
    [ "$(stat -c %s "$WORK/board.html")" -lt 1000000 ]
    run grep -oE '(src|href)="[^#][^"]*"|url\(|@import' "$WORK/board.html"
    [ -z "$output" ]
}

@test "damage and times have their columns, and a method without a count has a place below all others" {
    local tiny=tests/support/suite/tiny.json
    local program="/usr/bin/python3 $PWD/tests/support/tiny_model.py $(readlink -f "$NYSBENCH")"
    export NYSBENCH_PYTHON=/usr/bin/python3
    "$NYSBENCH" suite --list $tiny kmeans streamingllm --damage "$program" --timed --out "$WORK"
    "$NYSBENCH" suite --list $tiny uniform --out "$WORK"
    "$NYSBENCH" suite --list $tiny tests/support/suite/functions.py:no_cost --timed --out "$WORK"
    board --list $tiny "$WORK"/{kmeans,streamingllm,uniform}.json -o "$WORK/board.html"
    expect_status 0
    py check_board "$WORK/board.html" "$WORK"/{kmeans,streamingllm,uniform}.json
    board --list $tiny "$WORK"/{no_cost,kmeans,uniform}.json -o "$WORK/board.html"
    expect_status 0
    py check_uncounted "$WORK/board.html" no_cost "$WORK/no_cost.json"
}

@test "the results of the whole form have a board too, without their heads" {
    board --list experiments/suite/whole.json results/suite-whole/*.json -o "$WORK/board.html"
    expect_status 0
    py check_board "$WORK/board.html" results/suite-whole/*.json
    [ "$(stat -c %s "$WORK/board.html")" -lt 1000000 ]
}

@test "any order of the files gives the same page" {
    "$NYSBENCH" board results/suite/kmeans.json results/suite/tova.json results/suite/tome.json -o - >"$WORK/a.html"
    "$NYSBENCH" board results/suite/tome.json results/suite/tova.json results/suite/kmeans.json -o - >"$WORK/b.html"
    py check_board "$WORK/b.html" results/suite/kmeans.json results/suite/tova.json results/suite/tome.json
    cmp <(grep '^<tbody\|^<tr' "$WORK/a.html") <(grep '^<tbody\|^<tr' "$WORK/b.html")
}

@test "entries are marked that were tuned on test sources, read exact outputs, or have told multiplications" {
    py change results/suite/kmeans.json "$WORK/test.json" tuned '"test"'
    py change results/suite/tome.json "$WORK/oracle.json" oracle true
    py change results/suite/wildcat.json "$WORK/told.json" counted false
    board "$WORK/test.json" "$WORK/oracle.json" "$WORK/told.json" results/suite/gpa.json -o "$WORK/board.html"
    expect_status 0
    py_tells print_warnings "$WORK/board.html" kmeans tome wildcat gpa
}

@test "what is no result, or says other numbers than its errors, is refused by its name" {
    local words
    py halve_one results/suite/kmeans.json "$WORK/one.json"
    py without_one results/suite/kmeans.json "$WORK/less.json"
    py of_version results/suite/kmeans.json "$WORK/old.json" 0.0
    echo '{"suite": "1.0"}' >"$WORK/none.json"
    cp results/suite/kmeans.json "$WORK/again.json"
    while read -r words; do
        # shellcheck disable=SC2086
        board results/suite/tome.json $words -o "$WORK/board.html"
        [ "$status" -eq 2 ] || { echo "$words: exit status $status: $output"; return 1; }
        output=$(sed 's/it says [0-9][0-9.e+-]*, and its errors give [0-9.e+-]*/it says #, and its errors give #/' \
            <<<"$output") tell nysbench board results/suite/tome.json $words
        [ ! -e "$WORK/board.html" ] || { echo "$words: a board was written"; return 1; }
    done <<EOF
$WORK/one.json
$WORK/less.json
$WORK/old.json
$WORK/none.json
$WORK/no.json
$WORK/again.json results/suite/kmeans.json
--list tests/support/suite/tiny.json
EOF
    told board -o "$WORK/board.html"
    expect_status 2
    told board results/suite/tome.json -o "$WORK/board.txt"
    expect_status 2
}
