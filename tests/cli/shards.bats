# SPDX-License-Identifier: GPL-3.0-or-later
# Parts of a run, in several processes that know nothing of each other, and what unites them.

load helpers

small=(experiments/00-smoke.yaml -q --set 'problems=["gaussian(n=[30, 65], d=8)", "clusters(n=64, d=8, count=4)"]' \
    --set "metrics=[error]"
    --set "plots=[]" --set "strategies=[uniform, kmeans]")

# A whole run and the two halves of it, for all tests that begin with them.
setup_file() {
    NYSBENCH=${NYSBENCH:-$PWD/nysbench}
    "$NYSBENCH" run "${small[@]}" -o "$BATS_FILE_TMPDIR/whole" >/dev/null
    shards "$BATS_FILE_TMPDIR/r" 2 1 2
}

take() { # whole | r
    cp -r "$BATS_FILE_TMPDIR/$1" "$WORK/$1"
}

shards() { # RUN N I...: these shards of N
    local run=$1 n=$2 i
    shift 2
    for i in "$@"; do "$NYSBENCH" run "${small[@]}" -o "$run" --shard "$i/$n" >/dev/null; done
}

same_rows() { # RUN RUN
    timeless "$1/rows.csv" >"$WORK/one.txt"
    timeless "$2/rows.csv" >"$WORK/two.txt"
    [ "$(wc -l <"$WORK/one.txt")" -gt 30 ]
    cmp "$WORK/one.txt" "$WORK/two.txt"
}

# Changes the store of a run behind the program's back.
sql() { # RUN STATEMENT
    py change_store "$1/results.sqlite" "$2"
}

one_row="rowid = (SELECT min(rowid) FROM results WHERE status = 'ok')"

@test "the shards' rows, merged, are those of one run, byte for byte but for times" {
    take whole
    shards "$WORK/r" 4 3 1 4 2
    run "$NYSBENCH" merge "$WORK/r"
    expect_status 0
    of_json 'assert {r["sources"] for r in x if r["model"] == "all" and r["ratio"]} == {6}, x' \
        "$NYSBENCH" compare "$WORK/r"
    expect_rows "$WORK/r" "72 ok, 24 skipped"
    same_rows "$WORK/whole" "$WORK/r"
    cmp "$WORK/whole/resolved.yaml" "$WORK/r/resolved.yaml"
    [ "$(cat "$WORK"/r/shards/*/rows.csv | grep -vc ^experiment)" -eq 96 ]
    for i in 1 2 3 4; do [ "$(wc -l <"$WORK/r/shards/$i-of-4/rows.csv")" -gt 10 ]; done
}

@test "a merged folder is a run like any other" {
    undrawn
    small+=(--set "plots=[error]")
    shards "$WORK/r" 2 1 2
    [ ! -e "$WORK/r/shards/1-of-2/plots" ] # a part has no figures
    "$NYSBENCH" merge "$WORK/r" -q >/dev/null
    for f in rows.csv results.sqlite resolved.yaml manifest.json plots/error.csv; do [ -s "$WORK/r/$f" ]; done
    run "$NYSBENCH" plot "$WORK/r" error
    expect_status 0
    "$NYSBENCH" export "$WORK/r" | cmp - "$WORK/r/rows.csv"
    expect_plan 'rows=96 done=96 to_run=0' "$WORK/r/resolved.yaml" -o "$WORK/r"
    run "$NYSBENCH" run "$WORK/r/resolved.yaml" -q -o "$WORK/r"
    expect_status 0
    expect_rows "$WORK/r" "72 ok, 24 skipped"
}

@test "a merged run's rows are signed as they were where they were measured" {
    take r
    "$NYSBENCH" merge "$WORK/r" -q >/dev/null
    "$NYSBENCH" merge "$WORK/r" -q >/dev/null
    for i in 1 2; do "$NYSBENCH" info "$WORK/r/shards/$i-of-2" --json >"$WORK/$i.json"; done
    "$NYSBENCH" info "$WORK/r" --json >"$WORK/both.json"
    py check_signatures "$WORK"
}

@test "what is no shard is refused, and what is allowed is told" {
    for bad in 0/2 3/2 1 1/0 -1/2 x/y 1/2/3 1/1000000; do
        told run "${small[@]}" -o "$WORK/r" --shard "$bad"
        expect_status 2
        [ ! -e "$WORK/r" ]
    done
}

@test "a shard is repeated alone, and goes on where it is" {
    shards "$WORK/r" 3 2
    timeless "$WORK/r/shards/2-of-3/rows.csv" >"$WORK/before.txt"
    expect_plan 'to_run=0' "${small[@]:0:1}" "${small[@]:2}" -o "$WORK/r" --shard 2/3
    rm -r "$WORK/r/shards/2-of-3"
    shards "$WORK/r" 3 2
    timeless "$WORK/r/shards/2-of-3/rows.csv" | cmp - "$WORK/before.txt"
}

@test "more shards than work: some are empty, and nothing is missing" {
    take whole
    shards "$WORK/r" 9 1 2 3 4 5 6 7 8 9
    [ "$(wc -l <"$WORK/r/shards/9-of-9/rows.csv")" -eq 1 ]
    run "$NYSBENCH" merge "$WORK/r" -q
    expect_status 0
    same_rows "$WORK/whole" "$WORK/r"
}

@test "holes are listed by shard, with the command that fills them; a shard that is run later is merged later" {
    take whole
    shards "$WORK/my run" 4 1 3
    told merge "$WORK/my run" -q
    expect_status 1
    grep -q ',planned,' "$WORK/my run/rows.csv"
    mkdir "$WORK/my run/shards/2-of-4" # and now it has begun
    ! flock "$WORK/my run/shards/2-of-4" "$NYSBENCH" merge "$WORK/my run" -q 2>"$WORK/log"
    output=$(cat "$WORK/log") tell flock "$WORK/my run/shards/2-of-4" nysbench merge "$WORK/my run" -q
    for i in 2 4; do
        command=$(sed -n "s|.*missing: shard $i/4: .*; \(.* run .*\)|\1|p" <<<"$output")
        eval "$command -q" >/dev/null
    done
    output=$("$NYSBENCH" status "$WORK/my run" | grep -F "$WORK/my run: ") status=0 tell nysbench status "$WORK/my run"
    run "$NYSBENCH" merge "$WORK/my run" -q
    expect_status 0
    same_rows "$WORK/whole" "$WORK/my run"
    cp "$WORK/my run/rows.csv" "$WORK/once.csv"
    run "$NYSBENCH" merge "$WORK/my run" -q
    expect_status 0
    cmp "$WORK/once.csv" "$WORK/my run/rows.csv"
}

@test "a shard that was killed before it had a config, or before it was signed, is one that has nothing yet" {
    shards "$WORK/r" 3 1 2 3
    local folder=$WORK/r/shards/2-of-3
    rm "$folder"/{manifest.json,rows.csv}
    in_store "$folder" "DELETE FROM meta WHERE key = 'shard'; UPDATE results SET status = 'planned', manifest = NULL"
    warned merge "$WORK/r"
    expect_status 1
    rm "$folder/resolved.yaml"
    warned merge "$WORK/r"
    expect_status 1
}

@test "holes of runs that are no shards are named by their rows" {
    take whole
    sql "$WORK/whole" "UPDATE results SET status = 'planned' WHERE $one_row"
    told merge "$WORK/out" "$WORK/whole" -q
    expect_status 1
}

@test "shards from several places, and of different numbers, are merged by name" {
    take whole
    shards "$WORK/héré" 2 1
    shards "$WORK/the re" 3 1 2 3
    run "$NYSBENCH" merge "$WORK/out" "$WORK/héré/shards/1-of-2" "$WORK/the re/shards/"*
    expect_status 0
    same_rows "$WORK/whole" "$WORK/out"
    [ ! -e "$WORK/out/shards" ]
}

@test "of OUT's own shards --shards takes those of one number" {
    take r
    shards "$WORK/r" 3 1
    told merge "$WORK/r" --shards 3 -q
    expect_status 1
    told merge "$WORK/r" --shards 4 -q
    expect_status 2
    run "$NYSBENCH" merge "$WORK/r" --shards 2 "$WORK/r/shards/1-of-2"
    expect_status 2
}

@test "two results of one row: refused, with the row, both values and both runs; nothing is written" {
    take whole
    take r
    sql "$WORK/whole" "UPDATE results SET error = 0.123456 WHERE $one_row"
    told merge "$WORK/out" "$WORK/r/shards/"* "$WORK/whole"
    expect_status 2
    expect "0.123456"
    [ ! -e "$WORK/out" ]
}

@test "times may differ" {
    take whole
    take r
    sql "$WORK/whole" "UPDATE results SET select_s = 1000, core_s = 2000 WHERE $one_row"
    run "$NYSBENCH" merge "$WORK/out" "$WORK/r/shards/"* "$WORK/whole" -q
    expect_status 0
}

@test "a result that OUT has and the runs have otherwise is a conflict; a failure that OUT has gives way" {
    take r
    "$NYSBENCH" merge "$WORK/r" -q >/dev/null
    cp "$WORK/r/rows.csv" "$WORK/before.csv"
    sql "$WORK/r" "UPDATE results SET status = 'failed', reason = 'lightning', error = NULL WHERE $one_row"
    warned merge "$WORK/r" -q
    expect_status 0
    cmp "$WORK/before.csv" "$WORK/r/rows.csv"
    sql "$WORK/r" "UPDATE results SET error = 0.5 WHERE $one_row"
    "$NYSBENCH" export "$WORK/r" >"$WORK/kept.csv"
    told merge "$WORK/r" -q
    expect_status 2
    "$NYSBENCH" export "$WORK/r" | cmp - "$WORK/kept.csv"
}

@test "a failure that was repeated in OUT, as failures.txt says, stays repaired when it is merged again" {
    take r
    "$NYSBENCH" merge "$WORK/r" -q >/dev/null
    cp "$WORK/r/rows.csv" "$WORK/before.csv"
    sql "$WORK/r/shards/2-of-2" "UPDATE results SET status = 'failed', reason = 'lightning', error = NULL
        WHERE rowid = (SELECT min(rowid) FROM results WHERE status = 'ok' AND strategy LIKE 'kmeans%')"
    rm "$WORK/r/results.sqlite"
    run "$NYSBENCH" merge "$WORK/r" -q
    expect_status 1
    eval "$(grep -- --only "$WORK/r/failures.txt") -q"
    warned merge "$WORK/r" -q
    expect_status 0
    [ ! -e "$WORK/r/failures.txt" ]
    cmp <(timeless "$WORK/before.csv") <(timeless "$WORK/r/rows.csv")
    run "$NYSBENCH" merge "$WORK/r" "$WORK/r" -q
    expect_status 0
}

@test "a row that failed in a shard is a failed row of the merged run" {
    take r
    sql "$WORK/r/shards/2-of-2" \
        "UPDATE results SET status = 'failed', reason = 'lightning', error = NULL WHERE $one_row"
    told merge "$WORK/r" -q
    expect_status 1
    of_csv "$WORK/r/rows.csv" 'assert {r["status"] for r in rows if r["reason"] == "lightning"} == {"failed"}'
}

@test "runs of different configs are refused, with what differs" {
    shards "$WORK/r" 2 1
    "$NYSBENCH" run "${small[@]}" --set trials=3 -o "$WORK/r" --shard 2/2 >/dev/null
    told merge "$WORK/r"
    expect_status 2
    [ ! -e "$WORK/r/results.sqlite" ]
    # A run of another config where the result would be is left alone.
    take whole
    "$NYSBENCH" run "${small[@]}" --set trials=3 -o "$WORK/other" >/dev/null
    cp "$WORK/whole/rows.csv" "$WORK/rows"
    told merge "$WORK/whole" "$WORK/other"
    expect_status 2
    "$NYSBENCH" export "$WORK/whole" | cmp - "$WORK/rows"
}

@test "runs of different builds are refused, with both, unless --mixed" {
    take r
    sql "$WORK/r/shards/2-of-2" "UPDATE manifests SET build = 'another', executable = '0123456789abcdef'"
    told merge "$WORK/r" -q
    expect_status 2
    expect " another (executable 0123456789ab;"
    [ ! -e "$WORK/r/results.sqlite" ]
    run "$NYSBENCH" merge "$WORK/r" -q --mixed
    expect_status 0
    rm -r "$WORK/r/shards/2-of-2" # the merged run remembers that its rows are mixed
    told merge "$WORK/r" -q
    expect_status 2
}

@test "shards that were measured on other data of the same name are refused, with the file" {
    cp experiments/data/vit_astronaut_n257_L6.safetensors "$WORK/h.safetensors"
    small+=(--set "problems=heads(file=$WORK/h.safetensors, head=[0, 1])")
    shards "$WORK/r" 2 1
    printf 'x' | dd of="$WORK/h.safetensors" bs=1 seek=100000 conv=notrunc status=none
    shards "$WORK/r" 2 2
    told merge "$WORK/r"
    expect_status 2
    [ ! -e "$WORK/r/results.sqlite" ]
}

@test "what is no run is not merged" {
    told merge "$WORK/r"
    expect_status 2
    mkdir -p "$WORK/r"
    told merge "$WORK/r"
    expect_status 2
    mkdir -p "$WORK/r/shards/1-of-2" "$WORK/r/shards/notes" # a shard that was killed at once
    run "$NYSBENCH" merge "$WORK/r"
    expect_status 2
    shards "$WORK/r" 2 2
    : >"$WORK/r/shards/1-of-2/results.sqlite"
    told merge "$WORK/r" -q
    expect_status 1
    told merge "$WORK/out" "$WORK/r/shards/2-of-2" "$WORK/nowhere"
    expect_status 2
    told merge
    expect_status 2
}

@test "a damaged shard is named, and nothing is written" {
    take r
    head -c 5000 /dev/urandom >"$WORK/r/shards/1-of-2/results.sqlite"
    run "$NYSBENCH" merge "$WORK/r"
    expect_status 2
    expect "$WORK/r/shards/1-of-2/results.sqlite: "
    [ ! -e "$WORK/r/results.sqlite" ]
}

@test "two at once: a merge waits for nobody and says who holds the folder" {
    take r
    status=0
    flock "$WORK/r" "$NYSBENCH" merge "$WORK/r" >"$WORK/log" 2>&1 || status=$?
    [ "$status" -eq 2 ]
    output=$(cat "$WORK/log") tell flock "$WORK/r" nysbench merge "$WORK/r"
}
