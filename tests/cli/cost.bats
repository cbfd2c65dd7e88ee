# SPDX-License-Identifier: GPL-3.0-or-later
# What plan and run predict, what rows say of their cost, and how to repeat what went wrong.

load helpers

setup_file() {
    counted
    "${NYSBENCH:-$PWD/nysbench}" run "$BATS_FILE_TMPDIR/counted.yaml" -q -j 1 -o "$BATS_FILE_TMPDIR/counted" >/dev/null
}

# Strategies of which some are counted, under factors and cores of which some have a cost: counted.yaml, its rows in
# counted.
counted() {
    cat >"$BATS_FILE_TMPDIR/counted.yaml" <<Y
problems: ["gaussian(n=60, d=4)", "clusters(n=45, d=3)"]
kernels: [softmax, exp]
strategies: [uniform, segment_means, farthest_point, dsquared, leverage(of=points),
             "kmeans(init=random, iterations=1)", leverage, 'command(run="sh tests/cli/plugins/first.sh")']
factors: [nystromformer, cur, nocore]
cores: [iterative(steps=6), svd, fitted(rows=16), newton_schulz]
landmarks: [4, 8, 16]
trials: 2
metrics: error
plots: []
Y
}

# A run of 40 rows of which some diverge.
diverging() {
    config <<'Y'
problems: gaussian(n=40, d=4, scale=20)
strategies: [uniform, segment_means]
factors: cur
cores: svd
landmarks: 1
trials: 20
engine: direct
plots: []
Y
}

@test "plan: what is new, done, failed before; time and memory; nothing is written" {
    diverging
    run "$NYSBENCH" plan "$WORK/c.yaml" -o "$WORK/r" --jobs 1
    expect_status 0
    output=$(grep -E '^(time|memory): ' <<<"$output") tell nysbench plan
    expect_plan 'rows=40 done=0 to_run=40' "$WORK/c.yaml" -o "$WORK/r"
    [ ! -e "$WORK/r" ]
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 1
    expect_rows "$WORK/r" "16 ok, 20 skipped, 4 diverged"
    expect_plan 'rows=42 done=40 to_run=2 failed_before=4' "$WORK/c.yaml" -o "$WORK/r" --set trials=21
    expect_plan 'rows=40 done=40 to_run=0 failed_before=4 high_s=0.0' "$WORK/c.yaml" -o "$WORK/r"
}

@test "plan predicts time from the rows that the folder has, if this kind of CPU measured them" {
    printf '#!/bin/sh\nsleep 0.5\nexit 1\n' >"$WORK/slow" # its rows fail, but not at once
    chmod +x "$WORK/slow"
    cat >"$WORK/c.yaml" <<Y
problems: gaussian(n=40, d=4)
strategies: ['command(run="$WORK/slow")']
landmarks: 4
cores: svd
metrics: error
trials: 2
plots: []
Y
    # what the rows of the folder do not tell is predicted from multiplications, and this strategy has few
    of_json 'assert x[0]["workers"] == 1 and x[0]["low_s"] < 0.7, x' \
        "$NYSBENCH" plan "$WORK/c.yaml" -o "$WORK/r" --jobs 1
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" --jobs 1
    expect_rows "$WORK/r" "2 failed"
    expect_plan 'rows=4 to_run=2 workers=1' "$WORK/c.yaml" -o "$WORK/r" --jobs 1 --set trials=4
    # two rows have slept for a second, so will two more; 1.4 is the range's margin
    of_json 'assert x[0]["low_s"] > 0.7, x' "$NYSBENCH" plan "$WORK/c.yaml" -o "$WORK/r" --jobs 1 --set trials=4
    # another kind of CPU
    py set_rate "$WORK/r/results.sqlite" "1e3 another-CPU"
    of_json 'assert x[0]["to_run"] == 2 and x[0]["low_s"] < 0.7, x' \
        "$NYSBENCH" plan "$WORK/c.yaml" -o "$WORK/r" --jobs 1 --set trials=4
    py set_rate "$WORK/r/results.sqlite" "fast"
    told plan "$WORK/c.yaml" -o "$WORK/r" --jobs 1 --set trials=4
}

# The error of $output, without the times and the number of workers, which are the machine's.
predicted() {
    grep '^nysbench: error' <<<"$output" | sed -E 's/predicted to take .* with [0-9]+ workers?/predicted to take ... /'
}

@test "run --dry-run is plan, with all options of run; it writes nothing" {
    diverging
    for command in plan "run --dry-run"; do
        "$NYSBENCH" $command "$WORK/c.yaml" -o "$WORK/r" --jobs 1 | grep -v '^time: ' >"$WORK/${command%% *}.txt"
        of_json 'del x[0]["low_s"], x[0]["high_s"]; print(x)' "$NYSBENCH" $command "$WORK/c.yaml" -o "$WORK/r" \
            --jobs 1 >"$WORK/${command%% *}.json"
    done
    cmp "$WORK/plan.txt" "$WORK/run.txt"
    cmp "$WORK/plan.json" "$WORK/run.json"
    run "$NYSBENCH" run --dry-run "$WORK/c.yaml" -o "$WORK/r" --jobs 2 --memory 4G --timeout 5 --blas-threads 1 \
        --mixed -q
    expect_status 0
    [ ! -e "$WORK/r" ]
    for command in plan "run --dry-run"; do
        run "$NYSBENCH" $command "$WORK/c.yaml" --max-hours 0.000001 --set trials=1000 --jobs 1
        output=$(predicted) tell nysbench $command "$WORK/c.yaml" --max-hours 0.000001
        expect_status 2
    done
    warned run --dry-run "$WORK/c.yaml" --memory 1K
    expect_status 2
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 1
    of_json 'assert (x[0]["rows"], x[0]["done"], x[0]["to_run"]) == (40, 40, 4), x' \
        "$NYSBENCH" run --dry-run "$WORK/c.yaml" -o "$WORK/r" --retry diverged
    run "$NYSBENCH" run --dry-run "$WORK/c.yaml" -o "$WORK/r" --only status=x
    expect_status 2
    of_json 'assert (x[0]["rows"], x[0]["done"], x[0]["to_run"]) == (40, 0, 40), x' \
        "$NYSBENCH" run --dry-run "$WORK/c.yaml" -o "$WORK/r" --fresh
    told run "$WORK/c.yaml" -o "$WORK/r" --format json
    expect_status 2
}

@test "plan --format json has the axes, the sources by model, the data and the rows by rule" {
    config <<'Y'
problems: ["gaussian(n=24, d=3)", "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, max_n=30)"]
strategies: [uniform, segment_means]
landmarks: [2, 3, 4]
cores: svd
trials: 7
exclude:
  - {strategy: uniform, landmarks: 4}
  - {strategy: kmeans}
plots: []
Y
    of_json '
x = x[0]
assert x["axes"] == {"strategies": 2, "pairing": 1, "landmarks": 3, "factors": 1, "cores": 1}, x
assert [(s["sources"], s["enough"]) for s in x["sources"]] == [(7, True), (1, False)], x
assert [(r["line"], r["rows"]) for r in x["excluded_by"]] == [(7, x["excluded"]), (8, 0)] and x["excluded"] > 0, x
drawn, file = x["data"]
assert (drawn["heads"], drawn["n"], drawn["random"], drawn["kernel"]) == ([0, 0], 24, True, "softmax"), x
assert (file["heads"], file["n"], file["d"], file["skipped"]) == ([0, 2], 30, 64, None), x' \
        "$NYSBENCH" plan "$WORK/c.yaml"
    of_json 'assert x[0]["axes"] is x[0]["sources"] is x[0]["data"] is None, x' \
        "$NYSBENCH" plan "$WORK/c.yaml" --shard 1/2
}

@test "--max-hours: what is predicted to take longer is not run" {
    run "$NYSBENCH" plan experiments/00-smoke.yaml --set "problems=gaussian(n=30000, d=64)" --set trials=100 \
        --max-hours 0.01 -o "$WORK/r"
    expect_status 2
    output=$(grep '^experiment ' <<<"$output"; predicted) tell nysbench plan --max-hours 0.01
    run "$NYSBENCH" run experiments/00-smoke.yaml --set "problems=gaussian(n=30000, d=64)" --set trials=100 \
        --max-hours 0.01 -q -o "$WORK/r"
    expect_status 2
    output=$(predicted) tell nysbench run --max-hours 0.01
    [ ! -e "$WORK/r" ]
    diverging
    run "$NYSBENCH" run "$WORK/c.yaml" --set 'problems=gaussian(n=40, d=4)' --max-hours 100 -q -o "$WORK/r"
    expect_status 0
    expect_rows "$WORK/r" "20 ok, 20 skipped"
}

@test "--max-hours that is no time" {
    local hours command
    for hours in nan -nan 0 -1 inf x 1h ''; do
        for command in plan run; do
            told $command experiments/00-smoke.yaml --max-hours "$hours" -o "$WORK/r"
            expect_status 2
        done
    done
    [ ! -e "$WORK/r" ]
}

@test "the summary gives for each failure a command that repeats it alone" {
    local command before
    mkdir "$WORK/it's a place"
    cat >"$WORK/fails.c" <<'C'
#include "strategy.h"
static const char *const references[] = {"none: made to fail", NULL};
static const nb_option options[] = {NB_OPTION_END};
static nb_status pick(const nb_points *points, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    (void)points, (void)o, (void)picks;
    NB_FAIL(ctx, NB_ENUMERIC, "no luck with %d", m % 2);
}
const nb_strategy nb_strategy_fails = {
    .component = {"fails", "fails", references, options, 0}, .pairing = NB_INDEPENDENT, .pick = pick};
NB_PLUGIN({"strategy", &nb_strategy_fails.component});
C
    build_plugin "$WORK/fails.c" "$WORK/it's a place/fails.so"
    diverging
    run "$NYSBENCH" run "$WORK/c.yaml" --plugin "$WORK/it's a place/fails.so" --set 'strategies=[fails, uniform]' \
        --set 'problems=gaussian(n=40, d=4)' --set trials=2 --set 'landmarks=[1, 2, 3]' --set factors=nystromformer \
        -o "$WORK/it's a place/r" -q
    expect_status 1
    output=$(grep -E '^nysbench: | --only ' <<<"$output") tell nysbench run # three of the first four
    [ "$(grep -c -- --only "$WORK/it's a place/r/failures.txt")" -eq 6 ]
    cp "$WORK/it's a place/r/rows.csv" "$WORK/before.csv"
    while read -r command; do
        run bash -c "$command -q"
        expect_status 1
        expect ": no luck with " # NOLINT(wording): the plug-in's words
        [ "$(grep -c -- --only <<<"$output")" -eq 1 ]
        grep -qF -- "$command" <<<"$output"
    done < <(grep -- --only "$WORK/it's a place/r/failures.txt" | sed -n '1p;4p;6p')
    [ "$(grep -c -- --only "$WORK/it's a place/r/failures.txt")" -eq 6 ]
    [ "$(timeless "$WORK/it's a place/r/rows.csv")" = "$(timeless "$WORK/before.csv")" ]
}

@test "failures by the hundred: each reason once, a few commands, the rest in a file that goes when all is well" {
    diverging
    run "$NYSBENCH" run "$WORK/c.yaml" --set trials=150 -q -o "$WORK/r"
    expect_status 1
    local diverged
    diverged=$(grep -c ',diverged,' "$WORK/r/rows.csv")
    [ "$diverged" -gt 15 ]
    [ "$(wc -l <<<"$output")" -lt 14 ]
    [ "$(grep -c -- --only "$WORK/r/failures.txt")" -eq "$diverged" ]
    "$NYSBENCH" run "$WORK/c.yaml" --set strategies=segment_means -q -o "$WORK/r"
    [ ! -e "$WORK/r/failures.txt" ]
}

@test "--only repeats the rows that it means, done or not, and no others" {
    config <<Y
problems: gaussian(n=40, d=4)
strategies: [uniform, 'command(run="sh $WORK/pick.sh")']
cores: [svd, iterative]
landmarks: [4, 8]
trials: 2
plots: []
Y
    printf 'echo "$2" >>"%s/log"\nexit 7\n' "$WORK" >"$WORK/pick.sh"
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_rows "$WORK/r" "8 ok, 8 failed"
    rm "$WORK/log"
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_rows "$WORK/r" "8 ok, 8 failed"
    [ ! -e "$WORK/log" ]
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" --only 'strategy=command, landmarks=8, trial=1'
    expect_status 1
    output=$(grep '^rows: ' <<<"$output") tell nysbench run --only 'strategy=command, landmarks=8, trial=1'
    [ -s "$WORK/log" ]
    rm "$WORK/log"
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/r" --only 'strategy=uniform'
    expect_status 0
    expect_rows "$WORK/r" "8 ok, 8 failed"
    [ ! -e "$WORK/log" ]
    [ "$(grep -c ',failed,' "$WORK/r/rows.csv")" -eq 8 ]
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/new" --only 'core=svd, strategy=uniform'
    expect_status 0
    expect_rows "$WORK/new" "4 ok, 12 planned"
    [ "$(grep -c ',planned,' "$WORK/new/rows.csv")" -eq 12 ]
}

@test "--only that means nothing" {
    told run experiments/00-smoke.yaml -o "$WORK/r" --only 'strateg=uniform'
    expect_status 2
    told run experiments/00-smoke.yaml -o "$WORK/r" --only 'strategy=rplu'
    expect_status 2
    told run experiments/00-smoke.yaml -o "$WORK/r" --shard 1/100 --only 'trial=77'
    expect_status 2
    told run experiments/00-smoke.yaml -o "$WORK/r" --only 'landmarks=4' --fresh
    expect_status 2
    [ ! -e "$WORK/r" ]
}

@test "the prediction's error is told" {
    run "$NYSBENCH" run experiments/00-smoke.yaml --set 'problems=gaussian(n=900, d=16)' --set plots=[] -j 1 \
        -o "$WORK/r"
    expect_status 0
    output=$(grep '^time: ' <<<"$output") tell nysbench run
}

@test "the time that is told at the end is that of the whole command, figures too" {
    mkdir "$WORK/bin"
    printf '#!/bin/sh\n[ "$1" = --version ] || sleep 1\nexec %s "$@"\n' "$(command -v gnuplot)" >"$WORK/bin/gnuplot"
    chmod +x "$WORK/bin/gnuplot"
    PATH="$WORK/bin:$PATH" run "$NYSBENCH" run experiments/00-smoke.yaml --set 'problems=gaussian(n=20, d=3)' \
        --set trials=1 --set plots=error -o "$WORK/r"
    expect_status 0
    awk '$1 == "time:" { found = $2 >= $7 + 0.8 } END { exit !found }' <<<"$output" # time: A s; the rows took B s
}

@test "flops: of strategies, cores and factors from n, d and m alone; the time of a forward pass beside them" {
    py check_flops "$BATS_FILE_TMPDIR/counted/rows.csv"
}

@test "flops are the same whatever else is measured: workers, parts of a run, one m alone" {
    counts() { # RUN OPTION...
        run "$NYSBENCH" run "$BATS_FILE_TMPDIR/counted.yaml" -q -o "$WORK/$1" "${@:2}"
        expect_status 0
    }
    counts two -j 2
    counts parts --only landmarks=16
    counts parts --only "strategy=dsquared, landmarks=4"
    counts parts
    counts alone --set landmarks=8
    cp -r "$BATS_FILE_TMPDIR/counted" "$WORK/one"
    py check_same_flops "$WORK"
}

@test "figure and table of the cost: medians of what the rows say, only where there is a count, in the order of m" {
    "$NYSBENCH" run "$BATS_FILE_TMPDIR/counted.yaml" -q -j 1 -o "$WORK/r" --set kernels=softmax \
        --set 'cores=[iterative, newton_schulz, best]' \
        --set 'landmarks=[16, 4, 8]' --set factors=nystromformer --set 'problems=gaussian(n=200, d=6)' \
        --set trials=3 >/dev/null
    run "$NYSBENCH" plot "$WORK/r" cost
    expect_status 0
    # newton_schulz has no count, and the oracle is in none
    [ "$(find "$WORK/r/plots" -name 'cost_*.png' | wc -l)" -eq 3 ]
    ls "$WORK/r/plots/cost_flops_with_iterative.png" "$WORK/r/plots/cost_time_with_iterative.svg" \
        "$WORK/r/plots/cost_time_with_newton_schulz.png"
    # The large point of a curve is the third, of the largest m.
    quoted "^title = .*|not drawn: [^']*|m = [^']*|large point: [^']*" \
        "$WORK"/r/plots/cost_{flops,time}_with_iterative.gp
    py check_axis "$WORK/r/plots/cost_flops_with_iterative.svg"
    "$NYSBENCH" table "$WORK/r" at_cost --format csv >"$WORK/at_cost.csv"
    "$NYSBENCH" table "$WORK/r" at_cost >"$WORK/at_cost"
    quoted '^  uniform .*' "$WORK/at_cost"
    py check_medians "$WORK"
}
