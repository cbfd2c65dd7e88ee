# SPDX-License-Identifier: GPL-3.0-or-later
# Shards under GNU parallel, which knows nothing of this program.

load ../cli/helpers

@test "parallel nysbench run EXP --shard {}/4 ::: 1 2 3 4, and a merge" {
    command -v parallel >/dev/null || skip "parallel is not installed"
    export HOME=$WORK
    "$NYSBENCH" run experiments/00-smoke.yaml -q -o "$WORK/whole" >/dev/null
    parallel -j 2 "$NYSBENCH" run experiments/00-smoke.yaml -q -o "$WORK/r" --jobs 1 --shard {}/4 ::: 1 2 3 4 >/dev/null
    run "$NYSBENCH" merge "$WORK/r" -q
    expect_status 0
    expect_rows "$WORK/r" "140 ok, 44 skipped"
    timeless "$WORK/whole/rows.csv" >"$WORK/one.txt"
    timeless "$WORK/r/rows.csv" | cmp - "$WORK/one.txt"
}

@test "all shards of all numbers at once into one folder" {
    command -v parallel >/dev/null || skip "parallel is not installed"
    export HOME=$WORK
    parallel -j 6 "$NYSBENCH" run experiments/00-smoke.yaml -q -o "$WORK/r" --jobs 1 --set "plots=[]" --shard {} \
        ::: 1/2 2/2 1/3 2/3 3/3 >/dev/null
    run "$NYSBENCH" merge "$WORK/r" -q
    expect_status 0
    expect_rows "$WORK/r" "140 ok, 44 skipped"
}
