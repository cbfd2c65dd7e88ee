# SPDX-License-Identifier: GPL-3.0-or-later
# The forward study: layers of heads, times and memory that agree with each other, outputs against NumPy's, one worker
# alone, and what becomes of what fails.

load helpers

DATA=experiments/data
MINILM=$DATA/minilm_us-constitution_n512_L3.safetensors
SMOLLM=$DATA/smollm2_opticks_n1024_L15.safetensors

forward() { # MORE-LINES
    cat >"$WORK/f.yaml" <<YAML
study: forward
problems: ["gaussian(n=[60, 130], d=8)"]
heads: [1, 3]
attentions: [naive, streamed, "nystrom(landmarks=[4, 16])", "gpa(landmarks=4, refresh=10)"]
threads: [1, 2]
trials: 2
rounds: 2
plots: []
$1
YAML
}

# has_rows COUNT FOLDER: whether the store of a run has so many.
has_rows() {
    py has_rows "$@" 2>/dev/null
}

# One run that several tests read, $BATS_FILE_TMPDIR/whole: layers of two sizes with one and two threads, and one head.
# What it said is in whole.txt. Most of its time goes into the product of matrices that every unit, a layer in a trial,
# is timed beside.
setup_file() {
    setup
    cat >"$BATS_FILE_TMPDIR/f.yaml" <<YAML
study: forward
attentions: [naive, streamed, "nystrom(landmarks=[4, 16])", "gpa(landmarks=4, refresh=10)"]
trials: 3
rounds: 2
plots: [latency, memory, speedup, front, parts]
claims: [{says: nystrom is faster,
          compare: {attention: ["nystrom(landmarks=4)", naive], metric: latency_s, where: {heads: 3}},
          expect: {ratio: [null, 1]}},
         {says: outputs are exact, measure: {metric: output_error, where: {attention: naive}},
          expect: {value: [null, 1e-5]}}]
blocks:
  - {problems: "gaussian(n=[60, 130], d=8)", heads: 3, threads: [1, 2]}
  - {problems: "gaussian(n=60, d=8)", heads: 1, threads: 1, trials: 1}
YAML
    "$NYSBENCH" run "$BATS_FILE_TMPDIR/f.yaml" -j 3 -o "$BATS_FILE_TMPDIR/whole" >"$BATS_FILE_TMPDIR/whole.txt" 2>&1 ||
        { cat "$BATS_FILE_TMPDIR/whole.txt" >&2; return 1; }
    teardown
}

# What identifies the rows, and what does not depend on the clock.
timeless_rows() {
    py print_timeless_rows "$1"
}

@test "a run whose attentions are exact but for one shows errors, and asks for no figure of times" {
    config <<'Y'
study: forward
timed: false
problems: ["gaussian(n=32, d=4)"]
attentions: [streamed, "nystrom(landmarks=8)"]
Y
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/r"
    expect_status 0
    output=$(grep -E '^nysbench: |over [0-9]+ source|^Below' <<<"$output") tell nysbench run
    of_json 'assert all(r["latency_s"] is None and r["output_error"] > 0 for r in x), x' \
        "$NYSBENCH" table "$WORK/r" latency
    told compare "$WORK/r"
    expect_status 0
    warned run "$WORK/c.yaml" -o "$WORK/r" --set 'plots=latency'
}

@test "where nothing is timed, the first table has errors and no columns of times" {
    config <<'Y'
study: forward
timed: false
trials: 1
problems: ["gaussian(n=32, d=4)"]
attentions: [streamed]
Y
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/r"
    expect_status 0
    [[ $output != *" ms "* && $output != *amortized_s* ]]
    output=$(grep -E '^(Time|Errors) ' <<<"$output") tell nysbench run
    [ ! -e "$WORK/r/parts.csv" ]
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/timed" --set timed=true --set rounds=1
    expect_status 0
    of_json 'assert all(r["latency_s"] > 0 for r in x), x' "$NYSBENCH" table "$WORK/timed" latency
    output=$(grep -E '^(Time|Errors) ' <<<"$output") tell nysbench run --set timed=true
}

@test "nothing is divided by an exact attention's error, even if all others have failed" {
    config <<'Y'
study: forward
timed: false
trials: 1
problems: ["gaussian(n=32, d=4)"]
attentions: [streamed, 'command(run="false")']
Y
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/r"
    expect_status 1
    output=$(grep -E 'divided by|^NO RESULT' <<<"$output") tell nysbench run "$WORK/c.yaml"
}

@test "one worker, whatever --jobs says; the same rows after a kill, and in parts" {
    undrawn
    forward
    expect_plan 'workers=1 methods=10 scenes=4' "$WORK/f.yaml" --jobs 8
    local run=$BATS_FILE_TMPDIR/f.yaml first='n=60, trial=0'
    output=$(grep '^nysbench: .*--jobs' "$BATS_FILE_TMPDIR/whole.txt") status=0 tell nysbench run --jobs 3
    grep -q '"jobs": 1,$' "$BATS_FILE_TMPDIR/whole/manifest.json"
    expect_rows "$BATS_FILE_TMPDIR/whole" "65 ok"
    of_csv "$BATS_FILE_TMPDIR/whole/rows.csv" 'assert {(r["n"], r["d"], r["head"], r["heads"]) for r in rows} == {
    ("60", "8", "0", "1"), ("60", "8", "0", "3"), ("130", "8", "0", "3")}'
    run "$NYSBENCH" run "$run" -q -j 0 -o "$WORK/r" --only "$first, attention=nystrom, heads=3"
    expect_status 0
    expect_rows "$WORK/r" "4 ok, 61 planned"
    "$NYSBENCH" run "$run" -q --set trials=1000 -o "$WORK/r" --only n=60 >"$WORK/out" 2>&1 &
    until_true has_rows 5 "$WORK/r"
    kill -KILL $!
    expect_end $! 137
    run "$NYSBENCH" run "$BATS_FILE_TMPDIR/whole/resolved.yaml" -q -j 1 -o "$WORK/r" --only "$first"
    expect_status 0
    timeless_rows "$BATS_FILE_TMPDIR/whole/rows.csv" >"$WORK/whole.txt"
    [ "$(wc -l <"$WORK/whole.txt")" -eq 15 ]
    timeless_rows "$WORK/r/rows.csv" | diff "$WORK/whole.txt" -
}

@test "the columns of a row agree with each other" {
    forward "seconds: 0.02"
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r" --set rounds=auto --set trials=1 \
        --set 'problems="gaussian(n=60, d=8)"'
    expect_status 0
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/cold" --set cold=true --set quality=false --set trials=1 \
        --set heads=3 --set threads=1 \
        --set 'problems="gaussian(n=60, d=8)"'
    expect_status 0
    py check_columns "$WORK/r/rows.csv" "$WORK/cold/rows.csv" "$BATS_FILE_TMPDIR/whole/rows.csv"
}

@test "outputs are those of nysbench forward, and their errors NumPy's" {
    forward
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r" --set "problems=heads(file=$MINILM)" --set heads=0 \
        --set threads=1 --set quality_rows=all \
        --set draws=shared # as `forward` draws
    expect_status 0
    expect_rows "$WORK/r" "10 ok"
    for trial in 0 1; do
        for spec in naive "nystrom(landmarks=16)" "gpa(landmarks=4, refresh=10)"; do
            "$NYSBENCH" forward --head $MINILM --attention "$spec" --trial $trial \
                -o "$WORK/$trial-${spec%%(*}.npy" >"$WORK/out"
        done
    done
    py check_outputs "$WORK" $MINILM
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/s" --set "problems=heads(file=$MINILM)" --set heads=0 \
        --set threads=1 --set quality_rows=100 --set trials=1
    expect_status 0
    py check_same_errors "$WORK/r/rows.csv" "$WORK/s/rows.csv"
}

@test "layers: inputs of a file, shared keys, one head, too few heads, drawn heads" {
    py write_heads "$WORK"
    forward
    local only="--set threads=1 --set trials=1 --set attentions=[naive,streamed]"
    expect_plan 'scenes=4' "$WORK/f.yaml" $only --set "problems=heads(file=$WORK/batch)" --set heads=[0,2]
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r" $only \
        --set "problems=[heads(file=$WORK/batch), \"heads(file=$WORK/batch, head=5)\"]" --set heads=[0,2,3,4,5]
    expect_status 0
    expect_rows "$WORK/r" "14 ok, 12 skipped"
    reasons "$WORK/r"
    of_csv "$WORK/r/rows.csv" 'assert ("4", "4", "20", "8") in {(r["head"], r["heads"], r["n"], r["d"]) for r in rows}'
    py check_layers "$WORK/r/rows.csv"
    told run "$WORK/f.yaml" -q -o "$WORK/bare-run" --set "problems=heads(file=$WORK/bare)"
    expect_status 2
    told run "$WORK/f.yaml" -q -o "$WORK/queries" \
        --set "problems=heads(file=$DATA/queries/vit_L6_q8.safetensors)"
    expect_status 2
    # Of drawn heads the first is that of one head alone, so the error of one of three differs from it.
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/drawn" --set threads=1 --set trials=1 \
        --set 'attentions=nystrom(landmarks=4)' --set 'problems="gaussian(n=60, d=8)"'
    expect_status 0
    py check_drawn_heads "$WORK/drawn/rows.csv"
}

@test "under a mask, attentions without a causal form are skipped; causal=false removes it" {
    forward
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r" --set "problems=\"heads(file=$SMOLLM, max_n=200)\"" \
        --set heads=0 --set trials=1 --set threads=1
    expect_status 0
    expect_rows "$WORK/r" "2 ok, 3 skipped"
    reasons "$WORK/r"
    warned plan "$WORK/f.yaml" --set "problems=heads(file=$SMOLLM)" --set 'attentions=[nystrom, gpa]'
    expect_status 0
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/n" \
        --set "problems=\"heads(file=$SMOLLM, max_n=200, causal=false)\"" --set heads=0 --set trials=1 --set threads=1
    expect_status 0
    expect_rows "$WORK/n" "5 ok"
    run "$NYSBENCH" plan "$WORK/f.yaml" --set threads=200
    output=$(grep '^nysbench: ' <<<"$output" | sed 's/ and .*CPUs/ and # CPUs/') tell nysbench plan --set threads=200
}

# The study error has it in double precision from F X B, this one in single from passes with the identity beside V.
@test "error is that of the study error, only where metrics names it, and not of what chooses by all of V" {
    forward
    local causal="heads(file=$SMOLLM, max_n=300, head=2)" free="heads(file=$SMOLLM, max_n=300, head=2, causal=false)"
    local of="strategy=uniform(strided=true), landmarks=20"
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r" --set trials=1 --set threads=1 --set heads=1 \
        --set 'metrics=[all, error]' \
        --set "problems=[\"$causal\", \"$free\"]" \
        --set "attentions=[streamed, \"nystrom($of, factors=cur, core=best)\", \"nystrom($of, core=svd)\", skip]"
    expect_status 0
    expect_rows "$WORK/r" "6 ok, 2 skipped"
    cat >"$WORK/e.yaml" <<YAML
problems: ["$causal", "$free"]
strategies: uniform(strided=true)
landmarks: 20
factors: [cur, nystromformer]
cores: [best, svd]
YAML
    run "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/e"
    expect_status 0
    py_tells check_errors "$WORK/r/rows.csv" "$WORK/e/rows.csv"
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/n" --set trials=1 --set threads=1 --set heads=1 \
        --set "problems=\"$free\"" \
        --set attentions=naive
    expect_status 0
    of_csv "$WORK/n/rows.csv" 'r, = rows; assert r["error"] == "" and r["output_error"]'
    told plan "$WORK/f.yaml" --set quality=false --set metrics=error
    expect_status 2
}

@test "what is wrong in the file is said with its line" {
    local key value
    while IFS='|' read -r key value; do
        forward
        sed -i "/^$key:/d" "$WORK/f.yaml"
        echo "$key: $value" >>"$WORK/f.yaml"
        told plan "$WORK/f.yaml"
        expect_status 2
        expect "$WORK/f.yaml:$(grep -n "^$key:" "$WORK/f.yaml" | cut -d: -f1):"
    done <<'CASES'
attentions|[naiv]
attentions|nystrom(landmarks=0)
heads|-1
threads|0
seconds|-1
rounds|0
quality|maybe
cold|2
quality_rows|none
kernels|softmax
plots|error
CASES
    forward
    sed -i '/^attentions:/d' "$WORK/f.yaml"
    told plan "$WORK/f.yaml"
    expect_status 2
}

@test "the figure front has intervals over sources; at_time names what is best at equal time, and how surely" {
    cat >"$WORK/f.yaml" <<'Y'
study: forward
problems: ["heads(file=experiments/data/panel/minilm_*.safetensors)"]
attentions: [streamed, "nystrom(landmarks=[4, 16])", longformer(window=8), "skeinformer(columns=16)", performer]
trials: 1
rounds: 1
plots: [front]
Y
    "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r" >/dev/null
    py fix_times "$WORK" # times that are the same everywhere
    "$NYSBENCH" export "$WORK/r" >"$WORK/rows.csv"
    "$NYSBENCH" plot "$WORK/r" front >/dev/null
    "$NYSBENCH" table "$WORK/r" at_time --format csv >"$WORK/at_time.csv"
    "$NYSBENCH" table "$WORK/r" at_time >"$WORK/at_time.txt"
    quoted '^  all-MiniLM.* 1/50 .*' "$WORK/at_time.txt" # with no second
    py check_front "$WORK"
}

@test "tables, figures, comparisons and claims are made of its rows" {
    cp -r "$BATS_FILE_TMPDIR/whole" "$WORK/r"
    for figure in latency_1_thread latency_2_threads memory_workspace_with_1_thread memory_resident_set_with_2_threads \
        speedup_1_thread front_2_threads parts_1_thread; do
        [ -s "$WORK/r/plots/$figure.png" ] || { ls "$WORK/r/plots"; return 1; }
    done
    for table in latency slopes crossovers parts; do
        of_json 'assert any("gaussian" in str(value) for row in x for value in row.values()), x' \
            "$NYSBENCH" table "$WORK/r" $table
    done
    run "$NYSBENCH" table "$WORK/r" latency # the mean of V has an error of 1
    output=$(sed -nE 's/^ .* (streamed|gpa\(.*=10\)) .* (\(?)[0-9.e-]+(\)?) +(yes|no) .*/\1 \2#\3/p' <<<"$output" |
        sort -u) \
        tell nysbench table "$WORK/r" latency
    "$NYSBENCH" table "$WORK/r" latency --format csv >"$WORK/latency.csv"
    cmp "$WORK/latency.csv" "$WORK/r/latency.csv"
    "$NYSBENCH" compare "$WORK/r" --metric latency_s --format json >"$WORK/compare.json"
    "$NYSBENCH" compare "$WORK/r" --by threads --metric latency_s --format csv >"$WORK/threads.csv"
    of_json 'assert [c["says"] for c in x] == ["nystrom is faster", "outputs are exact"], x' \
        "$NYSBENCH" claims "$WORK/r" # NOLINT(wording): the config's
    py check_answers "$WORK"
    run "$NYSBENCH" table "$WORK/r" coherence
    expect_status 2
}

# eight FOLDER OPTIONS...: eight trials of drawn data, which are eight sources.
eight() {
    cat >"$WORK/eight.yaml" <<'YAML'
study: forward
problems: "gaussian(n=[60, 130], d=8)"
heads: 1
attentions: [naive, streamed, "nystrom(landmarks=[4, 16])", "gpa(landmarks=4)"]
trials: 8
rounds: 1
plots: []
YAML
    "$NYSBENCH" run "$WORK/eight.yaml" -o "$@"
}

# loaded FOLDER LOAD: as if other programs had used so many CPUs while its rows of trial 2 were timed, and none
# otherwise; times that no load moves.
loaded() {
    py set_load "$@"
}

@test "run and compare show time and error side by side, a line for each attention, and the front" {
    eight "$WORK/r" --set heads=[1,2] >"$WORK/run.txt"
    loaded "$WORK/r" 0
    "$NYSBENCH" compare "$WORK/r" >"$WORK/compare.txt"
    "$NYSBENCH" compare "$WORK/r" --format json >"$WORK/both.json"
    "$NYSBENCH" compare "$WORK/r" --metric latency_s --format json >"$WORK/time.json"
    "$NYSBENCH" compare "$WORK/r" --metric output_error --format json >"$WORK/error.json"
    "$NYSBENCH" run "$WORK/eight.yaml" -o "$WORK/r" --set heads=[1,2] >"$WORK/again.txt" # with nothing left to do
    py_tells check_side_by_side "$WORK"
    # Where no row has a time, or errors were not wanted, the other is compared alone.
    local compared='assert {(r["metric"], r["baseline"].split("(")[0]) for r in x} == {'
    eight "$WORK/untimed" -q --set timed=false
    of_json "$compared(\"output_error\", \"nystrom\")}, x" "$NYSBENCH" compare "$WORK/untimed"
    eight "$WORK/bare" -q --set quality=false --set trials=1
    of_json "$compared(\"latency_s\", \"naive\")}, x" "$NYSBENCH" compare "$WORK/bare"
}

# What $output says of what ran beside the rows is golden, and the lines that are marked: disturbances COMMAND...
disturbances() {
    unwrap
    output=$(grep -E 'ran while|!' <<<"$output") tell nysbench "$@"
}

@test "a verdict on times that other programs or workers disturbed is marked, and a sentence says so" {
    eight "$WORK/r" -q --set rounds=2 >"$WORK/out"
    loaded "$WORK/r" 0.1
    run "$NYSBENCH" compare "$WORK/r"
    expect_status 0
    disturbances compare "$WORK/r"
    loaded "$WORK/r" 0.5
    of_json 'assert all(
    r["disturbed"] == (r["metric"] == "latency_s") * (2 if r["model"] == "all" else 1) for r in x), x' \
        "$NYSBENCH" compare "$WORK/r"
    run "$NYSBENCH" compare "$WORK/r" --metric latency_s --margin 1000
    disturbances compare "$WORK/r" --metric latency_s --margin 1000
    run "$NYSBENCH" compare "$WORK/r" --metric latency_s --margin 1000 --full
    output=$(grep -oE '; times .*' <<<"$output" | sort | uniq -c) tell nysbench compare "$WORK/r" --full
    run "$NYSBENCH" compare "$WORK/r" --metric output_error
    disturbances compare "$WORK/r" --metric output_error
    run "$NYSBENCH" run "$WORK/eight.yaml" -o "$WORK/r" --set rounds=2
    disturbances run "$WORK/eight.yaml" -o "$WORK/r" --set rounds=2
    for jobs in 1 2; do
        "$NYSBENCH" run experiments/00-smoke.yaml -q -j $jobs --set plots=[] --set metrics=error \
            --set factors=nystromformer \
            --set 'problems=gaussian(n=40, d=4)' --set strategies=[uniform,kmeans] --set trials=8 \
            --set cores=iterative \
            --set landmarks=4 -o "$WORK/$jobs" >"$WORK/out"
        in_store "$WORK/$jobs" "UPDATE results SET select_s = iif(strategy LIKE 'kmeans%', 20 + trial, 10)"
        run "$NYSBENCH" compare "$WORK/$jobs" --metric select_s --margin 1000
        disturbances compare "$WORK/$jobs" --metric select_s --margin 1000
    done
    run "$NYSBENCH" compare "$WORK/2"
    disturbances compare "$WORK/2"
}

@test "a claim on times that other programs or workers disturbed is marked, and its line says who did" {
    cat >"$WORK/c.yaml" <<'Y'
study: forward
problems: "gaussian(n=60, d=8)"
attentions: [naive, "nystrom(landmarks=4)"]
trials: 8
rounds: 1
plots: []
claims:
  - {id: pairs, says: a, compare: {attention: ["nystrom(landmarks=4)", naive], metric: latency_s},
     expect: {ratio: [1e-9, 1e9]}}
  - {id: median, says: b, measure: {metric: latency_s, statistic: median}, expect: {value: [0, 1e9]}}
  - {id: parts, says: c, measure: {metric: latency_s}, expect: {value: [-1e9, 1e9]}, each: attention}
  - {id: outputs, says: d, measure: {metric: output_error}, expect: {value: [0, 1e9]}}
Y
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/c" >"$WORK/out"
    loaded "$WORK/c" 0.1
    of_json 'assert [c["disturbed"] for c in x] == [0] * 4, x' "$NYSBENCH" claims "$WORK/c"
    loaded "$WORK/c" 0.5
    "$NYSBENCH" claims "$WORK/c" --format markdown >"$WORK/out" # golden.bats has it as a text
    "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/c" >>"$WORK/out"
    quoted '.* reproduced !.*' "$WORK/out"
    of_json 'assert [(c["verdict"], c["disturbed"]) for c in x] == [("reproduced", n) for n in (1, 2, 2, 0)], x
assert [p["disturbed"] for p in x[2]["parts"]] == [1, 1], x[2]' "$NYSBENCH" claims "$WORK/c"
    cat >"$WORK/s.yaml" <<'Y'
problems: "gaussian(n=40, d=4)"
strategies: [uniform, kmeans]
landmarks: 4
cores: [svd]
trials: 8
metrics: error
plots: []
claims:
  - {id: pick, says: p, compare: {strategy: [kmeans, uniform], metric: select_s}, expect: {ratio: [1e-9, 1e9]}}
Y
    for jobs in 1 2; do
        "$NYSBENCH" run "$WORK/s.yaml" -q -j $jobs -o "$WORK/s$jobs" >"$WORK/out"
        run "$NYSBENCH" claims "$WORK/s$jobs"
        output=$(tr -s ' \n' ' ' <<<"$output")
        output=$(grep -oE 'reproduced !|[a-z ]+ disturbed [^;]*' <<<"$output") tell nysbench claims "$WORK/s$jobs"
    done
}

@test "a run counts the workers that it starts, not those that it may: one that has one unit left disturbs nobody" {
    config=(experiments/00-smoke.yaml -q --set plots=[] --set metrics=error --set factors=nystromformer
        --set cores=iterative
        --set 'problems=gaussian(n=40, d=4)' --set strategies=[uniform,kmeans] --set landmarks=4 -o "$WORK/w")
    "$NYSBENCH" run "${config[@]}" -j 1 --set trials=7 >"$WORK/out"
    "$NYSBENCH" run "${config[@]}" -j 2 --set trials=8 >"$WORK/out"
    grep -q '"jobs": 1,$' "$WORK/w/manifest.json"
    of_json 'assert [line["disturbed"] for line in x] == [0], x' "$NYSBENCH" compare "$WORK/w" --metric select_s
    run "$NYSBENCH" compare "$WORK/w" --metric select_s --margin 1000
    disturbances compare "$WORK/w" --metric select_s --margin 1000
}

@test "errors are compared with the first attention that is not exact, and those that are show it" {
    cat >"$WORK/e.yaml" <<'Y'
study: forward
problems: ["gaussian(n=[40, 60], d=8)"]
attentions: [naive, streamed, "longformer(window=128)", "nystrom(landmarks=[4, 12])", "longformer(window=80)"]
trials: 6
rounds: 1
metrics: [error]
plots: []
Y
    "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/e"
    for metric in output_error error mse max_error error_p99 rowsum_deviation; do
        "$NYSBENCH" compare "$WORK/e" --metric $metric --format json >"$WORK/$metric.json"
    done
    "$NYSBENCH" compare "$WORK/e" --metric latency_s --format json >"$WORK/latency_s.json"
    "$NYSBENCH" compare "$WORK/e" --metric output_error --baseline streamed --format json >"$WORK/explicit.json"
    py_tells check_baselines "$WORK"
}

@test "an attention that fails costs its own rows alone" {
    build_plugin tests/cli/plugins/fragile.c "$WORK/fragile.so"
    forward "plugins: [$WORK/fragile.so]"
    local how='fragile, fragile(ends=aborts), "fragile(ends=aborts, from=2)", fragile(ends=fails),
        "fragile(ends=fails, from=3)", fragile(ends=nans), fragile(ends=refuses), fragile(ends=moves), fragile(keep=50)'
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r" --set "attentions=[naive, $how]" --set trials=1 --set heads=1 \
        --set threads=1 --set 'problems="gaussian(n=60, d=8)"' --set rounds=5
    expect_status 1
    py_tells check_failures "$WORK/r/rows.csv"
}

@test "an attention that refuses some layers has a line in the table of times, and its reason below" {
    config <<'Y'
study: forward
problems: ["gaussian(n=64, d=8)",
           "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, max_n=64, causal=true)"]
attentions: [streamed, "nystrom(landmarks=8)"]
heads: 2
rounds: 1
trials: 1
plots: []
Y
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    run "$NYSBENCH" table "$WORK/r" latency
    expect_status 0
    output=$(grep '^  ViT.* nystrom' <<<"$output") tell nysbench table "$WORK/r" latency
    of_csv "$WORK/r/rows.csv" '(r,) = [r for r in rows if r["status"] == "skipped"]
assert r["attention"].startswith("nystrom("), r'
    reasons "$WORK/r"
    of_json 'assert [r["layers"][0] + r["attention"][0] for r in x] == ["gs", "gn", "Vs"], x' \
        "$NYSBENCH" table "$WORK/r" latency # those with times
}

# A program as an attention: exact outputs, with what its arguments say it reports.
program() {
    cp "$REPOSITORY/tests/cli/plugins/exact.py" "$WORK/mine.py"
}

# mine WORDS OPTIONS: the spec of that program, which answers with its words NAME=VALUE.
mine() {
    printf '%s' "command(run=\"/usr/bin/python3 $WORK/mine.py $1\", $2)"
}

own_columns() {
    py print_own_columns "$1" "${@:2}"
}

@test "a program is an attention: its outputs, its clock and its device" {
    program
    cat >"$WORK/f.yaml" <<YAML
study: forward
problems: ["gaussian(n=40, d=8)"]
heads: 3
trials: 1
rounds: 2
plots: []
attentions:
  - streamed
  - '$(mine '' 'label=alone')'
  - '$(mine '' 'label=kept, serve=true')'
  - '$(mine 'seconds=0.125 device=abacus,float3' 'label=own')'
  - '$(mine seconds=0.25 'label=served, serve=true, timed=own')'
  - '$(mine '' 'label=silent, timed=own')'
  - '$(mine seconds=1 'label=untimed, timed=false')'
YAML
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r"
    expect_status 0
    expect_rows "$WORK/r" "7 ok"
    own_columns "$WORK/r/rows.csv" attention_label clock device latency_s | sort | diff - <(cat <<'TXT'
alone call  yes True
kept call  yes True
own own abacus,float3 yes True
served own  yes True
silent none  no True
streamed pass  yes True
untimed none  no True
TXT
)
    [ "$(of_csv "$WORK/r/rows.csv" 'print(*(r["latency_s"] for r in rows if r["clock"] == "own"))')" = "0.125 0.25" ]
}

@test "timed: false measures outputs alone, with all workers; its rows are measured again for their times" {
    program
    forward "timed: false"
    local cpus
    cpus=$(of_json 'print(x["cpus_usable"])' "$NYSBENCH" info)
    expect_plan "workers=$((cpus < 2 ? 1 : 2))" "$WORK/f.yaml" --jobs 2
    [ "$("$NYSBENCH" plan "$WORK/f.yaml" --jobs 2 | grep -c exclusive)" -eq 0 ]
    run "$NYSBENCH" run "$WORK/f.yaml" -q -j 2 -o "$WORK/r" --set heads=3 --set threads=1
    expect_status 0
    expect_rows "$WORK/r" "20 ok"
    own_columns "$WORK/r/rows.csv" clock latency_s load | sort -u |
        diff - <(printf 'none no no False\nnone no no True\n')
    run "$NYSBENCH" sql "$WORK/r" -f csv \
        "SELECT count(*) AS naive FROM run WHERE attention_label = 'naive' AND flops = 2 * 2 * heads * n * n * d"
    expect_status 0
    [ "${lines[1]}" = 4 ]
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r" --set heads=3 --set threads=1 --set timed=true
    expect_status 0
    own_columns "$WORK/r/rows.csv" clock latency_s load | sort -u |
        diff - <(printf 'pass yes yes False\npass yes yes True\n')
    told plan "$WORK/f.yaml" --set quality=false
    expect_status 2
}

@test "an attention that is not timed among others that are says so where times are compared, and is on no front" {
    program
    cat >"$WORK/f.yaml" <<YAML
study: forward
problems: ["gaussian(n=40, d=8)"]
trials: 6
rounds: 1
plots: []
attentions: [naive, "nystrom(landmarks=4)", '$(mine '' 'label=mine, serve=true, timed=false')']
YAML
    "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r" >"$WORK/out"
    for options in "" "--metric latency_s" "--metric peak_bytes"; do
        # shellcheck disable=SC2086 # two words
        run "$NYSBENCH" compare "$WORK/r" $options
        expect_status 0
        # shellcheck disable=SC2086 # two words
        output=$(grep -E '^  mine |^No |no pair|no result' <<<"$output") tell nysbench compare "$WORK/r" $options
    done
    "$NYSBENCH" compare "$WORK/r" --baseline mine --format json >"$WORK/of_mine.json"
    "$NYSBENCH" compare "$WORK/r" --format json >"$WORK/both.json"
    "$NYSBENCH" table "$WORK/r" latency --format csv >"$WORK/latency.csv"
    "$NYSBENCH" plot "$WORK/r" front 2>"$WORK/notes" >/dev/null
    output=$(cat "$WORK/notes") tell nysbench plot "$WORK/r" front
    py_tells check_untimed "$WORK" "$WORK/r/plots/front.csv"
}

@test "times of another build have no speed-up, no crossover and no place on a front, as compare refuses them" {
    cat >"$WORK/f.yaml" <<'YAML'
study: forward
problems: ["gaussian(n=[40, 80], d=8)"]
rounds: 1
plots: []
attentions: [naive, "nystrom(landmarks=4)", "nystrom(landmarks=8)"]
YAML
    "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r" >"$WORK/out"
    # times that no load of the machine moves: landmarks are slower than naive at 40 tokens, faster at 80
    in_store "$WORK/r" "UPDATE results SET latency_s = 1e-6 * iif(attention = 'naive', n * n / 40.0,
        n + iif(attention LIKE '%landmarks=8,%', 10, 5)); UPDATE results SET amortized_s = latency_s"
    with() { # values of the attention with 4 landmarks: with TABLE COLUMN
        "$NYSBENCH" table "$WORK/r" "$1" --format csv 2>/dev/null >"$WORK/t.csv"
        of_csv "$WORK/t.csv" "print(sum(r['$2'] not in ('', '0') for r in rows if 'landmarks=4,' in r['attention']))"
    }
    [ "$(with latency speedup_over_naive) $(with crossovers n_from)" = "2 1" ]
    in_store "$WORK/r" "INSERT INTO manifests SELECT id + 1, build, 'another', text FROM manifests;
        UPDATE results SET manifest = manifest + 1 WHERE attention LIKE '%landmarks=4,%'"
    [ "$(with latency speedup_over_naive) $(with latency front) $(with crossovers n_from)" = "0 0 0" ]
    [ "$(of_json 'print(*(line["verdict"] for line in x if "=4," in line["method"]))' \
        "$NYSBENCH" compare "$WORK/r" --metric latency_s)" = refused ]
    run "$NYSBENCH" table "$WORK/r" latency
    output=$(grep 'Not compared' <<<"$output") tell nysbench table latency
}

@test "what is wrong with a program's answer is the reason of its rows; a mask needs causal=true" {
    program
    save_head "$WORK/h" qkv 2,40,8
    cat >"$WORK/f.yaml" <<YAML
study: forward
problems: ["heads(file=$WORK/h, causal=true)"]
trials: 1
plots: []
timed: false
attentions:
  - '$(mine '' 'label=masked, causal=true')'
  - '$(mine '' 'label=open')'
  - '$(mine few 'label=few, causal=true')'
  - '$(mine seconds=long 'label=long, causal=true')'
  - '$(mine device=[1] 'label=device, causal=true')'
  - 'command(run="true", label=nothing, causal=true)'
YAML
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r"
    expect_status 1
    output=$(of_csv "$WORK/r/rows.csv" '[print(r["attention_label"], r["status"], r["reason"]) for r in rows]')
    tell nysbench run "$WORK/f.yaml"
    told run "$WORK/f.yaml" -q -o "$WORK/r" --set 'attentions="command(run=\"no-such-program\")"'
    expect_status 2
}

@test "run names the files that are there, and writes no empty table" {
    config <<'Y'
study: forward
problems: gaussian(n=32, d=4)
attentions: [naive, streamed]
trials: 1
heads: 1
plots: latency # which one n does not make
Y
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/r"
    expect_status 0
    files=$(sed -n "s|^$WORK/r: ||p" <<<"$output" | sed 's/ ([^)]*)//; s/, /\n/g; s|/$||' | sort)
    [ "$files" = "$(ls "$WORK/r" | sort)" ] || { echo "$files"; ls "$WORK/r"; return 1; }
    [ -s "$WORK/r/latency.csv" ]
    [ ! -e "$WORK/r/crossovers.csv" ] # one n has none
    echo old >"$WORK/r/crossovers.csv"
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >/dev/null
    [ ! -e "$WORK/r/crossovers.csv" ]
}
