# SPDX-License-Identifier: GPL-3.0-or-later
# Runs: outcomes, files, going on after a kill, and exit statuses.

load helpers

setup_file() {
    build_plugin tests/cli/plugins/naps.c "$BATS_FILE_TMPDIR/naps.so"
}

# A run of one worker that sleeps for so long that it cannot end before the test ends it.
long=(experiments/00-smoke.yaml --plugin "$BATS_FILE_TMPDIR/naps.so" --set trials=400 \
    --set "problems=gaussian(n=60, d=16)"
    --set "strategies=[uniform, naps(ms=40)]" --set plots=[] -q)

@test "the smoke experiment: every file, every row, exit status 0" {
    run "$NYSBENCH" run experiments/00-smoke.yaml --out "$WORK/r"
    expect_status 0
    expect_rows "$WORK/r" "140 ok, 44 skipped"
    reasons "$WORK/r"
    for f in rows.csv results.sqlite resolved.yaml manifest.json plots/error.csv plots/error_svd_rcond_1e-15.svg \
        plots/error_svd_rcond_1e-15.png \
        plots/error_iterative.svg plots/svd_vs_iterative_iterative.png; do
        [ -s "$WORK/r/$f" ] || { echo "$f is missing"; return 1; }
    done
    [ "$(wc -l <"$WORK/r/rows.csv")" -eq 185 ]
    [ -z "$(find "$WORK/r" -name '*.tmp')" ]
}

@test "the CSV begins with the documented columns, and has no zero for what was not measured" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set metrics=[error] -o "$WORK/r"
    [ "$(head -1 "$WORK/r/rows.csv")" = "experiment,problem,head,kernel,trial,n,d,model,layer,source,strategy,\
landmarks,pairing,factors,core,rows,engine,precision,status,reason,error,error_se,error_subspace,error_core,\
error_unseen,error_unseen_subspace,error_unseen_core,floor_rank,floor_accuracy,baseline_mean,output_error,\
output_error_se,spectral_error,spectral_accuracy,cosine,mse,entropy_difference,rowsum_deviation,negative_fraction,\
negative_mass,core_residual,core_cutoff,landmark_rank,landmark_condition,select_s,core_s,forward_s,exact_s,flops,\
error_noise,error_subspace_noise,seed,problem_label,kernel_label,strategy_label,core_label" ]
    py check_header "$WORK/r/rows.csv"
}

@test "more metrics on the same store measure again, the same metrics do not" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set metrics=[error] -o "$WORK/r"
    expect_plan 'rows=184 done=184 to_run=0' experiments/00-smoke.yaml --set metrics=[error] -o "$WORK/r"
    expect_plan 'rows=184 done=0 to_run=184' experiments/00-smoke.yaml -o "$WORK/r"
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] -o "$WORK/r"
    expect_plan 'rows=184 done=184 to_run=0' experiments/00-smoke.yaml -o "$WORK/r"
    expect_plan 'rows=184 done=184 to_run=0' experiments/00-smoke.yaml --set metrics=[error] -o "$WORK/r"
}

@test "killed half way, the same command goes on to the same CSV" {
    "$NYSBENCH" run "${long[@]}" -j 16 --set trials=12 -o "$WORK/whole"
    for moment in 0.3 0.6 0.9; do
        "$NYSBENCH" run "${long[@]}" -j 1 --set trials=12 -o "$WORK/cut" >/dev/null 2>&1 3>&- &
        pid=$!
        sleep "$moment"
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    of_json 'assert x[0]["rows"] == 192, x' "$NYSBENCH" run --dry-run "${long[@]}" -j 1 --set trials=12 -o "$WORK/cut"
    "$NYSBENCH" run "${long[@]}" -j 16 --set trials=12 -o "$WORK/cut"
    timeless "$WORK/whole/rows.csv" >"$WORK/whole.txt"
    timeless "$WORK/cut/rows.csv" >"$WORK/cut.txt"
    cmp "$WORK/whole.txt" "$WORK/cut.txt"
}

# rows_are STATUS RUN: whether the store has such rows already.
rows_are() {
    "$NYSBENCH" export "$2" 2>/dev/null | grep -q ",$1,"
}

@test "the kill test does cut a run" {
    "$NYSBENCH" run "${long[@]}" -j 1 -o "$WORK/cut" >/dev/null 2>&1 &
    pid=$!
    until_true rows_are ok "$WORK/cut"
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || true
    of_json 'assert x[0]["done"] > 0 and x[0]["to_run"] > 0, x' \
        "$NYSBENCH" run --dry-run "${long[@]}" -j 1 -o "$WORK/cut"
}

@test "SIGINT ends with 130 and keeps what is done" {
    "$NYSBENCH" run "${long[@]}" -j 1 -o "$WORK/r" >"$WORK/log" 2>&1 &
    pid=$!
    until_true rows_are planned "$WORK/r"
    kill -INT "$pid" || kill -TERM "$pid"
    status=0
    wait "$pid" || status=$?
    output=$(cat "$WORK/log")
    expect_status 130
    grep -q planned "$WORK/log"
    [ "$(wc -l <"$WORK/r/rows.csv")" -eq 6401 ]
}

@test "a random strategy's rows do not change when another is added, and a changed config keeps what is done" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set strategies=leverage -o "$WORK/a"
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set 'strategies=[kmeans, leverage]' -o "$WORK/b"
    timeless "$WORK/a/rows.csv" | grep leverage >"$WORK/a.txt"
    timeless "$WORK/b/rows.csv" | grep leverage >"$WORK/b.txt"
    cmp "$WORK/a.txt" "$WORK/b.txt"
    expect_plan 'rows=96 done=48 to_run=48' experiments/00-smoke.yaml --set 'strategies=[kmeans, leverage]' -o "$WORK/a"
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set strategies=kmeans -o "$WORK/a"
    [ "$(grep -c leverage "$WORK/a/rows.csv")" -eq 0 ]
    expect_plan 'rows=96 done=96 to_run=0' experiments/00-smoke.yaml --set 'strategies=[kmeans, leverage]' -o "$WORK/a"
}

@test "--fresh keeps the old store aside" {
    small=(--set plots=[] --set problems=gaussian\(n=20\) -q -o "$WORK/r")
    "$NYSBENCH" run experiments/00-smoke.yaml "${small[@]}"
    "$NYSBENCH" run experiments/00-smoke.yaml "${small[@]}" --fresh
    [ "$(ls "$WORK/r" | grep -c 'results.sqlite.*old')" -eq 1 ]
}

@test "more landmarks than tokens are skipped with the reason" {
    run "$NYSBENCH" run experiments/00-smoke.yaml --set problems=gaussian\(n=6\) --set plots=[] -q -o "$WORK/r"
    expect_status 0
    reasons "$WORK/r"
}

@test "where every row is skipped a warning says that nothing was measured, and most often why" {
    config <<'Y'
problems: heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=0, causal=true)
strategies: [segment_means, kmeans]
landmarks: [8, 300, 400]
cores: svd
trials: 2
plots: []
Y
    told run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 0
    warned run "$WORK/c.yaml" -q -o "$WORK/r" --set landmarks=8 --fresh
    expect_status 0
}

@test "a causal head: means and kernels of landmarks are skipped, cur with tokens is measured" {
    run "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] -o "$WORK/r" \
        --set "problems=heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=0, causal=true)"
    expect_status 0
    output=$(of_csv "$WORK/r/rows.csv" 'found = {(r["strategy"].split("(")[0], r["factors"], r["status"], r["reason"])
    for r in rows if r["landmarks"] == "8"}
print(*(": ".join(row) for row in sorted(found)), sep="\n")') tell cat "$WORK/r/rows.csv"
}

# Peaked attention: a 1 x 1 A may be 1e-200, and its inverse, squared, overflows
# where S - FXB is summed entry by entry.
@test "a core that diverges is a row without numbers, and the exit status says so" {
    config <<'Y'
problems: gaussian(n=40, d=4, scale=20)
strategies: uniform
factors: cur
cores: svd
landmarks: 1
trials: 20
engine: direct
plots: []
Y
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 1
    expect_rows "$WORK/r" "16 ok, 4 diverged"
    reasons "$WORK/r"
    [ "$(grep -cE ',diverged,[^,]*,{20}' "$WORK/r/rows.csv")" -eq 4 ]
}

@test "paths with blanks, commas and UTF-8" {
    mkdir "$WORK/ein Pfad, ü"
    cp experiments/data/vit_astronaut_n257_L6.safetensors "$WORK/ein Pfad, ü/my head.safetensors"
    config <<Y
problems: 'heads(file="$WORK/ein Pfad, ü/my head.safetensors", head=1)'
strategies: uniform
cores: [svd, iterative]
landmarks: [4, 8]
trials: 1
Y
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/ein Pfad, ü/Ergebnis"
    expect_status 0
    of_csv "$WORK/ein Pfad, ü/Ergebnis/rows.csv" \
        'assert {r["problem_label"] for r in rows} == {"heads(file=\"my head.safetensors\")"}'
    [ -s "$WORK/ein Pfad, ü/Ergebnis/plots/error_svd.png" ]
    run "$NYSBENCH" run "$WORK/ein Pfad, ü/Ergebnis/resolved.yaml" -o "$WORK/ein Pfad, ü/Ergebnis"
    expect_rows "$WORK/ein Pfad, ü/Ergebnis" "4 ok"
}

@test "an output folder that cannot be written" {
    touch "$WORK/file"
    told run experiments/00-smoke.yaml -o "$WORK/file/r"
    expect_status 2
    told run experiments/00-smoke.yaml -o "$WORK/file"
    expect_status 2
    mkdir "$WORK/locked"
    chmod 500 "$WORK/locked"
    if [ "$(id -u)" != 0 ]; then
        told run experiments/00-smoke.yaml -o "$WORK/locked"
        expect_status 2
    fi
}

@test "a store that is none" {
    mkdir "$WORK/r"
    echo "this is not a database, though it is long enough to look at" | tee "$WORK/text" >"$WORK/r/results.sqlite"
    run "$NYSBENCH" run experiments/00-smoke.yaml -o "$WORK/r"
    expect_status 2
    expect "$WORK/r/results.sqlite: "
    cmp "$WORK/text" "$WORK/r/results.sqlite"
}

@test "without gnuplot: said once, before the run, and how to get it; plot draws later; exit status 0" {
    mkdir "$WORK/bin"
    PATH="$WORK/bin" run "$NYSBENCH" run experiments/00-smoke.yaml -o "$WORK/r" --set plots=error
    expect_status 0
    output=${lines[0]} tell nysbench run experiments/00-smoke.yaml
    [ "$(grep -c gnuplot <<<"$output")" -eq 1 ]
    [ -s "$WORK/r/plots/error.csv" ]
    [ -s "$WORK/r/plots/error_svd_rcond_1e-15.gp" ]
    [ ! -e "$WORK/r/plots/error_svd_rcond_1e-15.svg" ]
    PATH="$WORK/bin" run "$NYSBENCH" plot "$WORK/r"
    expect_status 0
    [ "$(grep -c gnuplot <<<"$output")" -eq 1 ]
    [ ! -e "$WORK/r/plots/error_svd_rcond_1e-15.svg" ]
    PATH="$WORK/bin" run "$NYSBENCH" report "$WORK/r"
    expect_status 0
    output=$(grep '^nysbench: ' <<<"$output") tell nysbench report "$WORK/r"
    output=$(grep -o 'Figures are missing: [^<]*' "$WORK/r/report.html") tell nysbench report "$WORK/r"
    "$NYSBENCH" plot "$WORK/r" error >/dev/null
    [ -s "$WORK/r/plots/error_svd_rcond_1e-15.svg" ]
    run "$NYSBENCH" report "$WORK/r"
    [[ "$output" != *gnuplot* ]]
    output=$(grep -o 'Figures are missing: [^<]*' "$WORK/r/report.html") tell nysbench report "$WORK/r"
}

@test "without gnuplot, demo ends well, and tells of no figures" {
    mkdir "$WORK/bin"
    PATH="$WORK/bin" run "$NYSBENCH" demo --out "$WORK/demo"
    expect_status 0
    [ "$(grep -c gnuplot <<<"$output")" -eq 1 ]
    output=$(grep -i figure <<<"$output") tell nysbench demo --out "$WORK/demo"
    of_json 'assert [c["verdict"] for c in x] == ["reproduced"]' "$NYSBENCH" claims "$WORK/demo/results"
}

@test "a file name that gnuplot could take for a command is only a name" {
    save_head "$WORK/x\`touch PWNED\`'y" qk 20,3
    config <<Y
problems: "heads(file=\"$WORK/x\`touch PWNED\`'y\")"
strategies: uniform
cores: [svd, iterative]
landmarks: [2, 4]
trials: 2
Y
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/r"
    expect_status 0
    [ -s "$WORK/r/plots/error_svd.png" ]
    [ -z "$(find "$WORK" . -name PWNED)" ]
}

@test "data of another size in the same file are measured anew" {
    save() { save_head "$WORK/h" qk "$1,3"; }
    config <<Y
problems: heads(file=$WORK/h)
strategies: uniform
cores: svd
landmarks: 4
trials: 2
plots: []
Y
    save 30
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    save 40
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >/dev/null
    [ -z "$(grep ',30,3,uniform' "$WORK/r/rows.csv")" ]
    [ "$(grep -c ',40,3,[^,]*,[^,]*,[^,]*,uniform(.*,ok,' "$WORK/r/rows.csv")" -eq 2 ]
}

@test "rows that are planned again have no numbers until they are measured" {
    "$NYSBENCH" run "${long[@]}" -j 16 --set trials=80 --set metrics=[error] -o "$WORK/r"
    "$NYSBENCH" run "${long[@]}" -j 1 -o "$WORK/r" >/dev/null 2>&1 &
    pid=$!
    until_true rows_are planned "$WORK/r"
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || true
    "$NYSBENCH" export "$WORK/r" >"$WORK/x.csv"
    grep -q ',planned,' "$WORK/x.csv"
    [ "$(grep ',planned,' "$WORK/x.csv" | grep -vcE ',planned,,{19,},')" -eq 0 ]
}

@test "a second run into the same folder is refused at once" {
    "$NYSBENCH" run "${long[@]}" -j 1 -o "$WORK/r" >/dev/null 2>&1 &
    pid=$!
    until_true rows_are planned "$WORK/r"
    run timeout 60 "$NYSBENCH" run experiments/00-smoke.yaml -q -o "$WORK/r"
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || true
    expect_status 2
    tell nysbench run
}

@test "a failing gnuplot does not take the table away" {
    mkdir "$WORK/bin"
    printf '#!/bin/sh\n[ "$1" = --version ]\n' >"$WORK/bin/gnuplot"
    chmod +x "$WORK/bin/gnuplot"
    PATH="$WORK/bin:$PATH" run "$NYSBENCH" run experiments/00-smoke.yaml -o "$WORK/r"
    expect "uniform"
    output=$(grep '^nysbench: error' <<<"$output") tell nysbench run
    expect_status 1
    expect_rows "$WORK/r" "140 ok, 44 skipped"
}

@test "a question with control characters survives in the resolved config" {
    printf '%s\n' 'question: "a\rb\x01\tc"' 'problems: gaussian(n=9, d=2)' 'strategies: uniform' 'cores: svd' \
        'landmarks: 2' 'plots: []' | config
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    run "$NYSBENCH" export "$WORK/r" --landmarks "$WORK/l"
    expect_status 0
    [ -s "$WORK/l/index.csv" ]
}

# The columns that say how a row was measured are part of what it is, so the
# engines' rows stand side by side in the store.
@test "the engines agree, and each measures its own rows" {
    local how
    for how in engine=streamed engine=direct precision=mixed; do
        "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set metrics=output_error --set "$how" -o "$WORK/r"
        cp "$WORK/r/rows.csv" "$WORK/$how.csv"
    done
    py check_engines "$WORK"
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set metrics=output_error -o "$WORK/r"
    cmp "$WORK/r/rows.csv" "$WORK/engine=streamed.csv"
}

@test "sampled rows: estimates with standard errors, nothing that needs all of S, the same again" {
    "$NYSBENCH" run experiments/00-smoke.yaml --set rows="sample(40)" -q -o "$WORK/r"
    of_json 'assert "gaussian(n=65, d=8), rows: sample(40)" in {r["panel"] for r in x}, x' \
        "$NYSBENCH" table "$WORK/r" errors
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set rows="sample(40)" --jobs 1 -o "$WORK/again"
    [ "$(timeless "$WORK/r/rows.csv")" = "$(timeless "$WORK/again/rows.csv")" ]
    py check_sampled "$WORK/r/rows.csv"
}

@test "the store's view run has the rows of rows.csv: same columns, same order, but for labels, also after other rows" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] -o "$WORK/r"
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set 'strategies=[kmeans, uniform]' \
        --set landmarks=[8,4] -o "$WORK/r"
    py check_view "$WORK/r"
}

# pandas reads a large file in pieces, and a text column that is empty in one of them as numbers there.
@test "rows.csv: the manual's line for pandas names the texts that may be empty, and leaves a source named NA one" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] -o "$WORK/r"
    py check_texts "$WORK/r"
}
