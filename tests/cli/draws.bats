# SPDX-License-Identifier: GPL-3.0-or-later
# The key `draws`: each source draws with a seed of its own, or all share the random numbers of a trial.

load helpers

PANEL=experiments/data/panel/minilm
FIRST=${PANEL}_kjv-jonah_n256_L3.safetensors
SECOND=${PANEL}_opticks-b_n256_L3.safetensors

experiment() { # "draws" line, problems
    config <<Y
name: e
trials: 2
landmarks: 8
problems: [${2:-'heads(file=$FIRST, head=0)', 'heads(file=$SECOND, head=0)'}]
strategies: [uniform, segment_means]
cores: svd
metrics: error
plots: []
$1
Y
}

go() { "$NYSBENCH" run "$WORK/c.yaml" --quiet --jobs 1 --out "$WORK/$1"; }

# The errors of a run's uniform tokens: "SOURCE TRIAL ERROR", sorted.
errors() {
    "$NYSBENCH" sql "$WORK/$1" "SELECT source, trial, error FROM run WHERE strategy_label = 'uniform' ORDER BY 1, 2" \
        --format csv
}

# Writes which tokens uniform selects: pick OUT.npy FILE TRIAL [OPTION]...
pick() { "$NYSBENCH" select --head "$2:0" -s uniform -m 8 --trial "$3" -o "$1" "${@:4}" >/dev/null; }

@test "sources draw by themselves, wherever they stand; shared draws are those of before" {
    pick "$WORK/1.npy" "$FIRST" 1
    pick "$WORK/2.npy" "$SECOND" 1
    ! cmp -s "$WORK/1.npy" "$WORK/2.npy" || return 1
    pick "$WORK/1.npy" "$FIRST" 1 --draws shared
    pick "$WORK/2.npy" "$SECOND" 1 --draws shared
    cmp "$WORK/1.npy" "$WORK/2.npy"
    experiment ""
    go apart
    grep -qx "draws: source" "$WORK/apart/resolved.yaml"
    experiment "" "'heads(file=$SECOND, head=0)', 'heads(file=${PANEL}_austen*, head=0)', 'heads(file=$FIRST, head=0)'"
    go other
    [ "$(errors apart | tail -n +2)" = "$(errors other | tail -n +2 | grep -v -i austen)" ]
    experiment "draws: shared"
    go shared
    # with both sources: the numbers of a program that had no other draws
    diff <(printf '%s\n' 0,0.788359 0,1.067805 1,0.862800 1,1.401843) \
        <(errors shared | grep -oE '[01],[0-9]\.[0-9]{6}' | sort)
}

@test "select and measure reproduce the rows of a run with either" {
    local draws row
    for draws in source shared; do
        experiment "draws: $draws"
        go $draws
        row=$("$NYSBENCH" measure --head "$SECOND:0" -s uniform -m 8 --trial 1 -c svd --metrics error --draws $draws \
            --json |
            facts of 'print(repr(x["error"]))')
        "$NYSBENCH" sql "$WORK/$draws" "SELECT error FROM run WHERE source LIKE '%pticks%' AND trial = 1" \
            --format json | grep -F -- "$row"
    done
    told measure --head "$SECOND:0" -s uniform -m 8 --draws both
    expect_status 2
}

@test "a folder from before the key has shared draws: it goes on with them, and is not mixed with others" {
    local before
    experiment "draws: shared"
    go r
    in_store "$WORK/r" "DELETE FROM meta WHERE key = 'draws'"
    sed -i '/^draws:/d' "$WORK/r/resolved.yaml"
    before=$(errors r)
    experiment ""
    for command in run plan; do
        told $command "$WORK/c.yaml" --out "$WORK/r"
        expect_status 2
    done
    [ "$before" = "$(errors r)" ]
    experiment "draws: shared"
    run "$NYSBENCH" run "$WORK/c.yaml" --set trials=3 --out "$WORK/r"
    expect_status 0
    expect_rows "$WORK/r" "8 ok"
    [ "$before" = "$(errors r | grep -v ',2,')" ]
    experiment ""
    "$NYSBENCH" run "$WORK/c.yaml" --fresh --quiet --out "$WORK/r"
    [ "$before" != "$(errors r)" ]
    experiment "draws: both"
    told run "$WORK/c.yaml" --out "$WORK/x"
    expect_status 2
}

@test "with shared draws more trials are asked for; with draws by source the spread of sources covers the luck" {
    local minilm="heads(file=${PANEL}_*, head=0)"
    experiment "draws: shared" "'$minilm'"
    go shared
    no_verdicts "$WORK/shared"
    "$NYSBENCH" report "$WORK/shared"
    quoted 'In a trial [^<]*' "$WORK/shared/report.html"
    experiment "" "'$minilm'"
    go apart
    no_verdicts "$WORK/apart"
    of_json 'assert (0, 2, 7) in {(r["se_trials"], r["trials"], r["df"]) for r in x}, x' \
        "$NYSBENCH" compare "$WORK/apart"
    "$NYSBENCH" report "$WORK/apart"
    [ -s "$WORK/apart/report.html" ]
    quoted 'In a trial [^<]*' "$WORK/apart/report.html"
    diff <(printf '%s\n' "$WORK/apart,0" "$WORK/shared,1") <("$NYSBENCH" sql "$WORK/shared" "$WORK/apart" \
        "SELECT run, max(draws) FROM run GROUP BY run ORDER BY run" --format csv | tail -n 2)
}
