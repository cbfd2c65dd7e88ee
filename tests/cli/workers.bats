# SPDX-License-Identifier: GPL-3.0-or-later
# Worker processes: the same rows whatever their number, and what is left when one
# of them, or all, are ended.

load helpers

setup_file() {
    build_plugin tests/cli/plugins/naps.c "$BATS_FILE_TMPDIR/naps.so"
}

# Two rows a trial, each trial a unit of its own. With 1800 trials a run sleeps so long that it cannot end before the
# test ends it, whatever the machine; the same rows are then a part of a run with 8.
config=(experiments/00-smoke.yaml --plugin "$BATS_FILE_TMPDIR/naps.so" --set "problems=gaussian(n=200, d=16)"
    --set "strategies=[uniform, naps(ms=40)]" --set landmarks=8 --set factors=cur --set cores=svd \
        --set "metrics=[error]" --set "plots=[]")
long=("${config[@]}" --set trials=1800)
short=("${config[@]}" --set trials=8)

# The children of process $1 that run the same program and have not ended.
workers_of() {
    local child pid name state mine rest
    read -r pid mine rest 2>/dev/null <"/proc/$1/stat" || return 0
    for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
        { read -r pid name state rest <"/proc/$child/stat"; } 2>/dev/null || continue
        [ "$name" != "$mine" ] || [ "$state" = Z ] || echo "$pid"
    done
}

alive() {
    local pid name state rest
    { read -r pid name state rest <"/proc/$1/stat"; } 2>/dev/null && [ "$state" != Z ]
}

two_workers() {
    workers=($(workers_of "$pid"))
    [ "${#workers[@]}" -eq 2 ]
}

all_gone() {
    local pid
    for pid in "${workers[@]}"; do if alive "$pid"; then return 1; fi; done
}

more_rows_than() {
    rows=$("$NYSBENCH" export "$WORK/r" 2>/dev/null | grep -c ',ok,')
    [ "$rows" -gt "$1" ]
}

# A long run into $WORK/r with two workers that have got somewhere.
start_long() {
    setsid "$NYSBENCH" run "${long[@]}" -q -j 2 -o "$WORK/r" >"$WORK/log" 2>&1 3>&- &
    pid=$!
    until_true two_workers
    until_true more_rows_than 0
    until_true two_workers # what began beside them has its own name by now
}

await_status() {
    status=0
    wait "$pid" || status=$?
    output=$(cat "$WORK/log")
    expect_status "$1"
}

# Going on gives the rows of a run that was never ended.
expect_to_go_on() {
    "$NYSBENCH" run "${short[@]}" -q -j 1 -o "$WORK/whole"
    "$NYSBENCH" run "${short[@]}" -q -j 2 -o "$WORK/r"
    timeless "$WORK/whole/rows.csv" >"$WORK/whole.txt"
    timeless "$WORK/r/rows.csv" >"$WORK/cut.txt"
    cmp "$WORK/whole.txt" "$WORK/cut.txt"
    [ "$(grep -c "'ok'" "$WORK/whole.txt")" -eq 16 ]
}

@test "the smoke experiment: the same bits with no worker, with 1, 2 and 4" {
    for jobs in 0 1 2 4; do
        "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --jobs "$jobs" -o "$WORK/$jobs"
        timeless "$WORK/$jobs/rows.csv" >"$WORK/$jobs.txt"
        cmp "$WORK/0.txt" "$WORK/$jobs.txt"
        grep -q "\"jobs\": $jobs,\$" "$WORK/$jobs/manifest.json"
        grep -q '"blas_threads": 1,$' "$WORK/$jobs/manifest.json"
    done
    [ "$(wc -l <"$WORK/1.txt")" -eq 184 ]
}

@test "many scenes, random and from a file, with skipped and diverged rows: the same bits, more workers than work too" {
    config <<'Y'
seed: 2 # three rows diverge
problems:
  - gaussian(n=[40, 50], d=4, scale=20)
  - heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=[0, 2])
  - gaussian(n=6, d=3)
strategies: [uniform, segment_means]
factors: [nystromformer, cur]
cores: [svd, iterative]
landmarks: [1, 7]
trials: 20
metrics: [error]
plots: []
Y
    for jobs in 1 2 4 40; do
        "$NYSBENCH" run "$WORK/c.yaml" -q -j "$jobs" -o "$WORK/$jobs" || [ $? -eq 1 ]
        timeless "$WORK/$jobs/rows.csv" >"$WORK/$jobs.txt"
        cmp "$WORK/1.txt" "$WORK/$jobs.txt"
    done
    for status in ok skipped diverged; do grep -q "'$status'" "$WORK/1.txt"; done
    [ -z "$(grep "'planned'" "$WORK/1.txt")" ]
}

@test "nothing left to do needs no worker" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] -j 2 -o "$WORK/r"
    run "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] -j 2 -o "$WORK/r"
    expect_status 0
    expect_rows "$WORK/r" "140 ok, 44 skipped"
}

@test "wrong numbers of workers and threads are refused" {
    for wrong in -1 x 1025 2x 1.5 99999999999999999999 ""; do
        told run experiments/00-smoke.yaml --jobs "$wrong" -o "$WORK/r"
        expect_status 2
        run "$NYSBENCH" run experiments/00-smoke.yaml --blas-threads "$wrong" -o "$WORK/r"
        expect_status 2
        output=$(sed -E 's/from 1 to [0-9]+/from 1 to #/' <<<"$output") # the build's most
        tell nysbench run experiments/00-smoke.yaml --blas-threads "$wrong"
    done
    [ ! -e "$WORK/r" ]
}

@test "a worker that is killed costs nothing: it is told, and another takes up its work" {
    start_long
    kill -KILL "${workers[0]}"
    until_true test ! -e "/proc/${workers[0]}"
    until_true two_workers
    until_true more_rows_than "$rows"
    kill -TERM "$pid"
    await_status 130
    output=$(grep -E '^(nysbench: warning|rows:)' <<<"$output" |
        sed -E 's/trial .* was killed/trial ... was killed/; s/(another continues|its rows were).*/.../
            s/[0-9]+ (ok|planned)/# \1/g') \
        tell nysbench run # what it did, and whether it had all of its rows, is chance
    of_csv "$WORK/r/rows.csv" 'assert len(rows) == 3600 and {r["status"] for r in rows} == {"ok", "planned"}'
    all_gone
    expect_to_go_on
}

@test "a run that is killed takes its workers along, and goes on to the same rows" {
    start_long
    kill -KILL "$pid"
    await_status 137
    more_rows_than 0
    until_true all_gone
    expect_to_go_on
}

# The next waits for nothing: the lock of the first went with it.
@test "a run that is killed can be started again at once" {
    for i in 1 2 3; do
        start_long
        kill -KILL "$pid"
        await_status 137
    done
    expect_to_go_on
}

@test "one worker is a process of its own too" {
    setsid "$NYSBENCH" run "${long[@]}" -q -j 1 -o "$WORK/r" >"$WORK/log" 2>&1 3>&- &
    pid=$!
    until_true more_rows_than 0
    workers=($(workers_of "$pid"))
    [ "${#workers[@]}" -eq 1 ]
    kill -KILL "${workers[0]}"
    until_true more_rows_than "$rows"
    kill -TERM "$pid"
    await_status 130
}

# A terminal sends the signal to the whole group.
@test "Ctrl-C ends the workers, keeps what is done, and the same command goes on" {
    start_long
    kill -INT -- "-$pid"
    await_status 130
    all_gone
    grep -q ',ok,' "$WORK/r/rows.csv"
    grep -q ',planned,' "$WORK/r/rows.csv"
    expect_to_go_on
}

@test "SIGTERM to the run alone does so too" {
    start_long
    kill -TERM "$pid"
    await_status 130
    all_gone
    grep -q ',ok,' "$WORK/r/rows.csv"
    grep -q ',planned,' "$WORK/r/rows.csv"
    expect_to_go_on
}

@test "BLAS threads: one job, a warning, the manifest, numbers that agree" {
    config=(experiments/00-smoke.yaml --set "problems=gaussian(n=500, d=16)" --set strategies=uniform --set landmarks=8
        --set factors=cur --set "metrics=[error]" --set "plots=[]")
    warned run "${config[@]}" --set trials=1 --blas-threads 2 -q -o "$WORK/r"
    expect_status 0
    grep -q '"jobs": 1,$' "$WORK/r/manifest.json"
    grep -q '"blas_threads": 2,$' "$WORK/r/manifest.json"
    OPENBLAS_NUM_THREADS=2 "$NYSBENCH" run "${config[@]}" --set trials=1 -q -j 2 -o "$WORK/one"
    grep -q '"blas_threads": 1,$' "$WORK/one/manifest.json"
    py check_threads "$WORK/r/rows.csv" "$WORK/one/rows.csv"
}
