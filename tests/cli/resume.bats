# SPDX-License-Identifier: GPL-3.0-or-later
# Going on from what is there: other builds, failures again, signals, full disks,
# read-only and damaged stores, two runs at once.

load helpers

setup_file() {
    build_plugin tests/cli/plugins/naps.c "$BATS_FILE_TMPDIR/naps.so"
}

small=(experiments/00-smoke.yaml -q --set plots=[] --set "metrics=[error]" --set "problems=gaussian(n=20, d=4)")

# The same program under another identity: what stands behind the end of an executable is not run.
other_build() {
    cp "$(realpath "$NYSBENCH")" "$WORK/other"
    printf x >>"$WORK/other"
}

# Every file of the run with what it holds.
state() {
    find "$WORK/r" -type f -exec sha256sum {} + | sort -k 2
}

expect_unchanged() {
    diff <(echo "$before") <(state)
}

# The manifests as "ROWS UNUSED, ..." in the order in which they came.
manifests() {
    of_json 'print(", ".join("%d %d" % (m["rows"], m["rows_unused"]) for m in x))' "$NYSBENCH" info "$WORK/r"
}

# What an integrity check of SQLite itself, by another program, says.
sound() {
    [ "$(in_store "$WORK/r" "PRAGMA integrity_check")" = ok ]
}

@test "another build is refused, with both executables; --mixed goes on, and every output tells of it" {
    "$NYSBENCH" run "${small[@]}" -o "$WORK/r"
    other_build
    before=$(state)
    ours=$(sha256sum <"$(realpath "$NYSBENCH")" | cut -c 1-12)
    theirs=$(sha256sum <"$WORK/other" | cut -c 1-12)
    run "$WORK/other" run "${small[@]}" --set trials=3 -o "$WORK/r"
    expect_status 2
    expect " $ours "
    expect " $theirs "
    tell nysbench run
    expect_unchanged
    local planned=()
    for word in "${small[@]}"; do [ "$word" = -q ] || planned+=("$word"); done
    run "$WORK/other" plan "${planned[@]}" --set trials=3 -o "$WORK/r"
    unwrap
    output=$(grep 'another build' <<<"$output") tell nysbench plan
    run "$NYSBENCH" plan "${planned[@]}" --set trials=3 -o "$WORK/r"
    output=$(grep 'another build' <<<"$output") tell nysbench plan
    # Nothing is to run: nothing can mix.
    run "$WORK/other" run "${small[@]}" -o "$WORK/r"
    expect_status 0
    "$WORK/other" run "${small[@]}" --set trials=3 -o "$WORK/r" --mixed >"$WORK/out"
    "$NYSBENCH" run experiments/00-smoke.yaml --set plots=[] --set "metrics=[error]" \
        --set "problems=gaussian(n=20, d=4)" --set trials=3 -o "$WORK/r" >"$WORK/out"
    output=$(grep '2 builds' "$WORK/out") tell nysbench run
    [ "$(manifests)" = "64 0, 32 0" ]
    expect_builds "$WORK/r" executable "64 $ours, 32 $theirs"
    "$NYSBENCH" export "$WORK/r" >"$WORK/x.csv" 2>"$WORK/told"
    output=$(cat "$WORK/told") tell nysbench export
    cmp "$WORK/x.csv" "$WORK/r/rows.csv"
    warned plot "$WORK/r" error
    warned sql "$WORK/r" "SELECT count(*) FROM run"
    warned claims "$WORK/r"
}

@test "the rows of one build are no mixture, and are told nothing of" {
    "$NYSBENCH" run "${small[@]}" -o "$WORK/r"
    "$NYSBENCH" run "${small[@]}" --set trials=3 -o "$WORK/r"
    [ "$(manifests)" = "64 0, 32 0" ]
    warned export "$WORK/r" --format json
    run "$NYSBENCH" info "$WORK/r"
    output=$(grep 'builds' <<<"$output") tell nysbench info "$WORK/r"
}

@test "another build does not measure over rows for a new metric; --fresh sets them aside" {
    "$NYSBENCH" run "${small[@]}" -o "$WORK/r"
    other_build
    before=$(state)
    run "$WORK/other" run "${small[@]}" --set metrics=output_error -o "$WORK/r"
    expect_status 2
    tell nysbench run --set metrics=output_error
    expect_unchanged
    run "$WORK/other" run "${small[@]}" --set metrics=output_error -o "$WORK/r" --fresh
    expect_status 0
    [ "$(manifests)" = "64 0" ]
    [ "$(ls "$WORK/r" | grep -c 'results.sqlite.*old')" -eq 1 ]
}

@test "--retry runs again what failed so, and nothing else" {
    cat >"$WORK/mine.sh" <<SH
[ -e "$WORK/ready" ] && . "$PWD/tests/cli/plugins/first.sh"
SH
    config <<Y
seed: 2 # three rows diverge
problems: gaussian(n=[40, 50], d=4, scale=20)
strategies: [uniform, 'command(run="sh $WORK/mine.sh", deterministic=true)']
factors: cur
cores: svd
landmarks: 1
trials: 20
metrics: [error]
plots: []
Y
    sed 's/, .command.*/]/' "$WORK/c.yaml" >"$WORK/uniform.yaml"
    run "$NYSBENCH" run "$WORK/uniform.yaml" -q -o "$WORK/r"
    expect_status 1
    expect_rows "$WORK/r" "37 ok, 3 diverged"
    sed -i 's/trials: 20/trials: 1/' "$WORK/c.yaml"
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 1
    failed() { [ "$(grep -c ',failed,' "$WORK/r/rows.csv")" -eq "${1:-2}" ]; }
    failed
    touch "$WORK/ready"
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    failed
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" --retry timeout,crashed
    failed
    [ "$(manifests)" = "2 38, 2 0" ]
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" --retry crashed --retry failed
    failed 0
    [ "$(manifests)" = "2 38, 0 0, 2 0" ]
    timeless "$WORK/r/rows.csv" >"$WORK/retried.txt"
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/whole" || [ $? -eq 1 ]
    timeless "$WORK/whole/rows.csv" >"$WORK/whole.txt"
    cmp "$WORK/whole.txt" "$WORK/retried.txt"
    # What diverged diverges again, under a manifest of its own.
    run "$NYSBENCH" run "$WORK/uniform.yaml" -q -o "$WORK/r" --retry diverged
    expect_rows "$WORK/r" "37 ok, 3 diverged"
    [ "$(manifests)" = "37 0, 0 0, 0 2, 3 0" ]
}

@test "--retry with --only runs of these what ended so; the others keep their results" {
    config <<Y
problems: gaussian(n=40, d=4)
strategies: [uniform, 'command(run="false")', 'command(run="false x")']
cores: svd
landmarks: [4, 8]
trials: 1
metrics: [error]
plots: []
Y
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_rows "$WORK/r" "2 ok, 4 failed"
    cp "$WORK/r/rows.csv" "$WORK/before.csv"
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" --retry timeout --only 'landmarks=8, strategy=command'
    cmp "$WORK/before.csv" "$WORK/r/rows.csv"
    [ "$(manifests)" = "6 0" ]
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" --retry failed --only landmarks=8
    expect_status 1
    output=$(grep '^rows: ' <<<"$output") tell nysbench run --retry failed --only landmarks=8
    [ "$(manifests)" = "4 0, 2 0" ]
    [ "$(timeless "$WORK/r/rows.csv")" = "$(timeless "$WORK/before.csv")" ]
}

@test "--retry of what is no failure is refused, with what is allowed" {
    for word in ok skipped planned none "failed,ok" ""; do
        told run "${small[@]}" -o "$WORK/r" --retry "$word"
        expect_status 2
        [ ! -e "$WORK/r" ]
    done
}

# A run that sleeps in each trial, of two rows, and cannot end before the test ends it.
long=(experiments/00-smoke.yaml --plugin "$BATS_FILE_TMPDIR/naps.so" --set "problems=gaussian(n=200, d=16)"
    --set "strategies=[uniform, naps(ms=40)]" --set landmarks=8 --set factors=cur --set cores=svd \
        --set "metrics=[error]" --set "plots=[]")

count_done() {
    rows=$(of_json 'print(x[0]["done"])' "$NYSBENCH" plan "${long[@]}" --set trials=1800 -o "$WORK/r")
}

got_somewhere() {
    [ "$("$NYSBENCH" export "$WORK/r" 2>/dev/null | grep -c ',ok,')" -gt 3 ]
}

@test "SIGTERM: 130 within seconds, every finished row in the store and in the CSV, and the same command goes on" {
    "$NYSBENCH" run "${long[@]}" --set trials=1800 -q -j 2 -o "$WORK/r" >"$WORK/log" 2>&1 3>&- &
    pid=$!
    until_true got_somewhere
    kill -TERM "$pid"
    status=0
    wait "$pid" || status=$?
    output=$(cat "$WORK/log")
    expect_status 130
    output=$(grep '^nysbench: ' <<<"$output") tell nysbench run
    count_done
    [ "$(wc -l <"$WORK/r/rows.csv")" -eq 3601 ]
    [ "$(grep -c ',ok,' "$WORK/r/rows.csv")" -eq "$rows" ]
    sound
    trials=$((rows / 2 + 2))
    "$NYSBENCH" run "${long[@]}" --set trials=$trials -q -j 2 -o "$WORK/r"
    "$NYSBENCH" run "${long[@]}" --set trials=$trials -q -j 1 -o "$WORK/whole"
    timeless "$WORK/r/rows.csv" >"$WORK/cut.txt"
    timeless "$WORK/whole/rows.csv" >"$WORK/whole.txt"
    cmp "$WORK/whole.txt" "$WORK/cut.txt"
}

@test "killed at four random moments: the store is sound each time, the rows are those of a whole run" {
    local i
    for i in 1 2 3 4; do
        "$NYSBENCH" run "${long[@]}" --set trials=1800 -q -j 2 -o "$WORK/r" >/dev/null 2>&1 3>&- &
        pid=$!
        [ "$i" -gt 1 ] || until_true got_somewhere
        sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
        kill -KILL "$pid"
        wait "$pid" 2>/dev/null || true
        sound
    done
    count_done
    "$NYSBENCH" run "${long[@]}" --set trials=$((rows / 2 + 2)) -q -o "$WORK/r"
    "$NYSBENCH" run "${long[@]}" --set trials=$((rows / 2 + 2)) -q -o "$WORK/whole"
    timeless "$WORK/r/rows.csv" >"$WORK/cut.txt"
    timeless "$WORK/whole/rows.csv" >"$WORK/whole.txt"
    cmp "$WORK/whole.txt" "$WORK/cut.txt"
}

@test "a disk that is full, as a limit of a file's size: an error, finished rows stay, the same command goes on" {
    big=("${small[@]}" --set trials=40)
    "$NYSBENCH" run "${small[@]}" -o "$WORK/r"
    timeless "$WORK/r/rows.csv" >"$WORK/before.txt"
    (ulimit -f 120 && "$NYSBENCH" run "${big[@]}" -o "$WORK/r") >"$WORK/log" 2>&1 && status=0 || status=$?
    output=$(cat "$WORK/log")
    expect_status 1
    expect "nysbench: error: $WORK/r/results.sqlite: "
    sound
    run bash -c 'ulimit -f 20; exec "$@"' - "$NYSBENCH" run "${big[@]}" -o "$WORK/new"
    expect_status 1
    expect "$WORK/new/results.sqlite"
    told select --head experiments/data/vit_astronaut_n257_L6.safetensors:0 --strategy uniform -m 4 \
        -o /dev/full
    expect_status 1
    "$NYSBENCH" run "${small[@]}" -o "$WORK/r"
    timeless "$WORK/r/rows.csv" | cmp - "$WORK/before.txt"
    [[ "$(manifests)" == "64 0"* ]]
    "$NYSBENCH" run "${big[@]}" -o "$WORK/r"
    "$NYSBENCH" run "${big[@]}" -o "$WORK/whole"
    cmp <(timeless "$WORK/r/rows.csv") <(timeless "$WORK/whole/rows.csv")
}

@test "a disk that is full, as a small tmpfs: an error, and with more room the same command goes on" {
    [ "$(id -u)" = 0 ] || skip "only root can mount a tmpfs"
    mkdir "$WORK/r"
    mount -t tmpfs -o size=400k none "$WORK/r" || skip "no tmpfs can be mounted here"
    cat /dev/zero >"$WORK/r/full" 2>/dev/null || true
    "$NYSBENCH" run "${small[@]}" -o "$WORK/r" >"$WORK/log" 2>&1 && early=0 || early=$?
    rm "$WORK/r/full"
    status=0
    "$NYSBENCH" run "${small[@]}" --set trials=80 -o "$WORK/r" >"$WORK/log" 2>&1 || status=$?
    output=$(cat "$WORK/log")
    mount -o remount,size=50m "$WORK/r"
    "$NYSBENCH" run "${small[@]}" --set trials=80 -o "$WORK/r" >"$WORK/again" 2>&1
    sound && cp "$WORK/r/rows.csv" "$WORK/rows.csv" && umount "$WORK/r" || { umount "$WORK/r"; false; }
    expect_status 1
    output=$(grep -o '[a-z ]*disk is full.*' <<<"$output") tell nysbench run
    [ "$early" -eq 1 ]
    "$NYSBENCH" run "${small[@]}" --set trials=80 -o "$WORK/whole"
    cmp <(timeless "$WORK/rows.csv") <(timeless "$WORK/whole/rows.csv")
}

@test "a store that was not finished being made when its run was killed is no hindrance" {
    mkdir "$WORK/r"
    : >"$WORK/r/results.sqlite"
    run "$NYSBENCH" run "${small[@]}" -o "$WORK/r"
    expect_status 0
    expect_rows "$WORK/r" "48 ok, 16 skipped"
    rm "$WORK/r/results.sqlite"
    py forget_experiment "$WORK/r/results.sqlite"
    [ -s "$WORK/r/results.sqlite" ]
    [ -s "$WORK/r/results.sqlite-journal" ]
    run "$NYSBENCH" run "${small[@]}" -o "$WORK/r"
    expect_status 0
    expect_rows "$WORK/r" "48 ok, 16 skipped"
}

@test "a journal of a killed run with nothing to roll back goes with the next run, even if that has nothing to do" {
    "$NYSBENCH" run "${small[@]}" -o "$WORK/r"
    "$NYSBENCH" export "$WORK/r" >"$WORK/before.csv"
    head -c 512 /dev/zero >"$WORK/r/results.sqlite-journal" # as SQLite makes it, before it writes to the store
    run "$NYSBENCH" run "${small[@]}" -o "$WORK/r"
    expect_status 0
    [ ! -e "$WORK/r/results.sqlite-journal" ]
    "$NYSBENCH" export "$WORK/r" | cmp - "$WORK/before.csv"
}

@test "a read-only store or folder: run names it and changes nothing, the others read it" {
    "$NYSBENCH" run "${small[@]}" -o "$WORK/r"
    cp "$(realpath "$NYSBENCH")" "$WORK/nysbench"
    cp experiments/00-smoke.yaml "$WORK/e.yaml"
    chmod 755 "$WORK" "$WORK/nysbench"
    cd "$WORK"
    mine=(e.yaml "${small[@]:1}")
    as_user test -x "$WORK/nysbench" || skip "the folder for temporary files cannot be reached by another user"
    chmod 777 "$WORK/r" && chmod 666 "$WORK/r/.lock" && chmod 444 "$WORK/r/results.sqlite"
    before=$(state)
    run as_user ./nysbench run "${mine[@]}" --set trials=3 -o "$WORK/r"
    expect_status 2
    tell nysbench run
    expect_unchanged
    chmod 555 "$WORK/r"
    run as_user ./nysbench run "${mine[@]}" --set trials=3 -o "$WORK/r"
    expect_status 2
    tell nysbench run
    for command in "plan e.yaml --set problems=gaussian(n=20) -o" export info; do
        run as_user ./nysbench $command "$WORK/r"
        expect_status 0
    done
    expect_unchanged
}

@test "a store of another version is refused by all that read it, and stays as it is" {
    "$NYSBENCH" run "${small[@]}" -o "$WORK/r"
    in_store "$WORK/r" "PRAGMA user_version = 3"
    before=$(state)
    for command in "run ${small[0]} -o" "plan ${small[0]} -o" export info plot; do
        told $command "$WORK/r"
        [ "$status" -eq 2 ] || expect_status 1
    done
    expect_unchanged
}

# A store cut off, with a page overwritten at each place in turn, with a page of zeros, or no store at all.
@test "a damaged store is told, not used, not changed; --fresh puts it aside" {
    "$NYSBENCH" run "${small[@]}" -o "$WORK/r"
    cp "$WORK/r/results.sqlite" "$WORK/good"
    py damage_store "$WORK"
    for bad in "$WORK"/bad.*; do
        cp "$bad" "$WORK/r/results.sqlite"
        before=$(state)
        for command in "run ${small[0]} -q --set plots=[] -o" export; do
            run "$NYSBENCH" $command "$WORK/r"
            echo "$bad: $output"
            [ "$status" -eq 2 ] || expect_status 1
            expect "nysbench: error: $WORK/r/results.sqlite: "
        done
        expect_unchanged
    done
    run "$NYSBENCH" run "${small[@]}" -o "$WORK/r" --fresh
    expect_status 0
    cmp "$bad" "$WORK"/r/results.sqlite.*.old
    cmp <(timeless "$WORK/r/rows.csv") <("$NYSBENCH" run "${small[@]}" \
        -o "$WORK/whole" >/dev/null; timeless "$WORK/whole/rows.csv")
}

@test "two runs on one folder: the second is refused, --fresh too, and on another machine too" {
    "$NYSBENCH" run "${small[@]}" -o "$WORK/r"
    before=$(state)
    for held in r r/.lock; do
        flock --exclusive "$WORK/$held" sleep 60 3>&- &
        pid=$!
        until_true eval "! flock --nonblock '$WORK/$held' true"
        for how in "" --fresh; do
            run timeout 20 "$NYSBENCH" run "${small[@]}" --set trials=3 -o "$WORK/r" $how
            expect_status 2
            tell nysbench run $how
        done
        # flock passes its lock on to sleep.
        kill $(cat "/proc/$pid/task/$pid/children") "$pid"
        wait "$pid" 2>/dev/null || true
    done
    expect_unchanged
    "$NYSBENCH" run "${small[@]}" --set trials=3 -o "$WORK/r"
}

@test "a file system without locks is told, and nothing is written" {
    ! sanitized || skip "the sanitizer does not bear another library before it"
    cat >"$WORK/nolocks.c" <<'C'
#include <errno.h>
int flock(int file, int operation);
int flock(int file, int operation) { (void)file, (void)operation; errno = ENOLCK; return -1; }
C
    cc -shared -fPIC "$WORK/nolocks.c" -o "$WORK/nolocks.so"
    LD_PRELOAD="$WORK/nolocks.so" told run "${small[@]}" -o "$WORK/r"
    expect_status 2
    [ -z "$(ls "$WORK/r")" ]
}

@test "a store of the version before, which names no study, is read and continued" {
    run "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] -o "$WORK/r" --set trials=1
    expect_status 0
    cp "$WORK/r/rows.csv" "$WORK/before.csv"
    in_store "$WORK/r" "DELETE FROM meta WHERE key = 'study'; PRAGMA user_version = 5"
    "$NYSBENCH" export "$WORK/r" >"$WORK/rows.csv"
    cmp "$WORK/rows.csv" "$WORK/before.csv"
    run "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] -o "$WORK/r" --set trials=2
    expect_status 0
    run "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] -o "$WORK/new" --set trials=2
    expect_status 0
    diff <(timeless "$WORK/r/rows.csv") <(timeless "$WORK/new/rows.csv")
}

# As version 6 had it: without flops and forward_s, in the table and in the view of it; or without the columns named.
make_old() { # FOLDER [COLUMN]...
    py make_old "$1/results.sqlite" "${@:2}"
}

version_of() {
    in_store "$1" "PRAGMA user_version"
}

@test "a store that lacks one column gets it when it is continued" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] -o "$WORK/r" --set trials=1 >/dev/null
    make_old "$WORK/r" flops
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] -o "$WORK/r" --set trials=2 >/dev/null
    [ "$(version_of "$WORK/r")" = 9 ]
    py check_column "$WORK/r/rows.csv"
}

@test "a store that lacks columns is read with them empty, and gets them when it is continued" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] -o "$WORK/r" --set trials=1 >/dev/null
    cp "$WORK/r/rows.csv" "$WORK/before.csv"
    make_old "$WORK/r"
    cp "$WORK/r/results.sqlite" "$WORK/old.sqlite"
    "$NYSBENCH" export "$WORK/r" >"$WORK/rows.csv"
    expect_plan 'rows=96 done=96 to_run=0' experiments/00-smoke.yaml -o "$WORK/r" --set trials=1
    "$NYSBENCH" table "$WORK/r" errors >/dev/null
    cmp "$WORK/r/results.sqlite" "$WORK/old.sqlite" # readers leave it as it is
    py check_empty_columns "$WORK/before.csv" "$WORK/rows.csv"
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] -o "$WORK/r" --set trials=2 >/dev/null
    [ "$(version_of "$WORK/r")" = 9 ]
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] -o "$WORK/new" --set trials=2 >/dev/null
    py check_new_columns "$WORK/r/rows.csv" "$WORK/new/rows.csv"
    [ "$(in_store "$WORK/r" "SELECT count(flops) FROM run")" -gt 20 ]
}

@test "a store that lacks columns and may not be continued stays as it was" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] -o "$WORK/r" --set trials=1 >/dev/null
    make_old "$WORK/r"
    in_store "$WORK/r" "UPDATE manifests SET executable = 'other'"
    cp "$WORK/r/results.sqlite" "$WORK/old.sqlite"
    told run experiments/00-smoke.yaml -q --set plots=[] -o "$WORK/r" --set trials=2
    expect_status 2
    cmp "$WORK/r/results.sqlite" "$WORK/old.sqlite"
    [ "$(version_of "$WORK/r")" = 6 ]
}

@test "a store whose rows somebody has given no status, or one that there is not" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] -o "$WORK/r" --set trials=1 >/dev/null
    for given in NULL "'done'"; do
        in_store "$WORK/r" "UPDATE results SET status = $given WHERE rowid = 1"
        for command in "status $WORK/r" "merge $WORK/m $WORK/r" \
            "run experiments/00-smoke.yaml -q --set plots=[] --set trials=1 -o $WORK/r"; do
            told $command
            expect_status 2
        done
    done
}
