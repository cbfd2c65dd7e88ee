# SPDX-License-Identifier: GPL-3.0-or-later
# submit, status and merge with a real Slurm, which these tests start and stop. Where it cannot
# be started they are skipped, with the reason.

load ../cli/helpers
load slurm

setup_file() {
    export slurm_dir slurm_why
    CLUSTER=$(mktemp -d)
    export CLUSTER
    slurm_start "$CLUSTER" || true
}

teardown_file() {
    slurm_stop
    rm -rf "$CLUSTER"
}

setup() {
    [ -z "$slurm_why" ] || skip "$slurm_why"
    NYSBENCH=${NYSBENCH:-$PWD/nysbench}
    WORK=$(mktemp -d)
    cat >"$WORK/e.yaml" <<'Y'
name: little
problems: ["gaussian(n=[30, 65], d=8)", "clusters(n=64, d=8, count=4)"]
strategies: [uniform, kmeans]
landmarks: [4, 8]
cores: [svd, iterative]
trials: 2
metrics: [error]
plots: [error]
Y
}

# The states of the shards of $WORK/r, in their order: states STATE,...
states() {
    of_json "found = ','.join(s['state'] for s in x if s['part'] != 'run')
assert found == '$1', (found, x)" "$NYSBENCH" status "$WORK/r"
}

# Waits for a minute and more, as the machine may be busy.
await() {
    UNTIL_S=90 until_true "$@" || { squeue; return 1; }
}

queue_is_empty() {
    [ -z "$(squeue --noheader)" ]
}

whole() {
    "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/whole" "$@" >/dev/null
}

same_rows() {
    timeless "$WORK/whole/rows.csv" >"$WORK/one.txt"
    timeless "$WORK/r/rows.csv" | cmp - "$WORK/one.txt"
}

@test "an array, a merge and its figures" {
    whole
    run "$NYSBENCH" submit "$WORK/e.yaml" --jobs 3 --minutes 5 -o "$WORK/r"
    expect_status 0
    output=$(grep '^shards: 3' <<<"$output") tell nysbench submit --jobs 3
    await queue_is_empty
    states done,done,done
    of_json 'shards = [s for s in x if s["part"] != "run"]
assert [sum(s[name] for s in shards) for name in ("rows", "done", "failed")] == [48, 48, 0], x' \
        "$NYSBENCH" status "$WORK/r"
    expect_rows "$WORK/r" "48 ok"
    same_rows
    [ -s "$WORK/r/plots/error.csv" ]
    quoted '^error by .*' "$WORK/r/submissions/1/merge.log"
    grep -q "rows: " "$WORK/r/submissions/1/shard-2.log"
}

# jobs_of COMMAND...: what it prints of its jobs, in $array and $merge.
jobs_of() {
    "$@" >"$WORK/said"
    array=$(sed -n 's/^shards: job //p' "$WORK/said")
    merge=$(sed -n 's/^merge: job //p' "$WORK/said")
}

@test "it returns at once, and what is submitted is what was asked for then" {
    whole --set seed=7
    jobs_of "$NYSBENCH" submit "$WORK/e.yaml" --jobs 2 --set seed=7 -o "$WORK/r" -- --hold
    echo "nothing: here" >"$WORK/e.yaml"
    scontrol release "$array"
    scontrol release "$merge"
    await queue_is_empty
    same_rows
}

@test "what did not finish is sent again alone" {
    whole
    jobs_of "$NYSBENCH" submit "$WORK/e.yaml" --jobs 3 -o "$WORK/r" -- --hold
    scancel "${array}_2"
    scontrol release "$array"
    scontrol release "$merge"
    await queue_is_empty
    states "done,not begun,done" # NOLINT(wording): states
    grep -q " shard 2/3: " "$WORK/r/submissions/1/merge.log"
    run "$NYSBENCH" submit "$WORK/e.yaml" --jobs 3 -o "$WORK/r"
    output=$(grep '^shards: 3' <<<"$output") tell nysbench submit --jobs 3
    await queue_is_empty
    states done,done,done
    [ -e "$WORK/r/submissions/2/shard-2.log" ]
    [ "$(ls "$WORK/r/submissions/2" | grep -c shard-)" -eq 1 ]
    same_rows
}

shard_has_rows() { # of shard 1/1
    [[ "$("$NYSBENCH" status "$WORK/r")" =~ 1/1\ +running\ +[0-9]+\ +([0-9]+) ]] && [ "${BASH_REMATCH[1]}" -gt 0 ]
}

@test "a task that is killed half way keeps its rows, and goes on when it is sent again" {
    long=(--set "problems=gaussian(n=300, d=16)" --set trials=600 --set plots=[])
    whole "${long[@]}"
    jobs_of "$NYSBENCH" submit "$WORK/e.yaml" --jobs 1 "${long[@]}" -o "$WORK/r"
    await shard_has_rows
    scancel --signal=KILL --full "$array"
    await queue_is_empty
    run "$NYSBENCH" status "$WORK/r"
    [[ "$output" =~ 1/1\ +stopped\ +4800\ +([0-9]+) ]]
    [ "${BASH_REMATCH[1]}" -gt 0 ]
    [ "${BASH_REMATCH[1]}" -lt 4800 ]
    "$NYSBENCH" submit "$WORK/e.yaml" --jobs 1 "${long[@]}" -o "$WORK/r" >/dev/null
    await queue_is_empty
    states done
    same_rows
}

@test "options for sbatch are Slurm's to judge" {
    run "$NYSBENCH" submit "$WORK/e.yaml" --jobs 2 -o "$WORK/r" -- --partition=nowhere
    expect_status 2
    expect "invalid partition" # NOLINT(wording): Slurm's
    run "$NYSBENCH" submit "$WORK/e.yaml" --jobs 1 -o "$WORK/r" -- --cpus-per-task=1
    expect_status 0
    await queue_is_empty
    run "$NYSBENCH" status "$WORK/r"
    expect_status 0
}
