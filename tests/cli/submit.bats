# SPDX-License-Identifier: GPL-3.0-or-later
# What is sent to Slurm, with a sbatch of the test's own, and what status says of shards.
# tests/cluster/ has the same with a real one.

load helpers

setup() {
    NYSBENCH=${NYSBENCH:-$PWD/nysbench}
    WORK=$(mktemp -d)
    mkdir "$WORK/bin" "$WORK/calls"
    # Keeps each word of a call in calls/JOB and answers with the number, the first being 101.
    cat >"$WORK/bin/sbatch" <<SH
#!/bin/bash
job=\$((101 + \$(ls "$WORK/calls" | wc -l)))
printf '%s\n' "\$@" >"$WORK/calls/\$job"
echo \$job\$(cat "$WORK/cluster" 2>/dev/null)
SH
    chmod +x "$WORK/bin/sbatch"
    PATH=$WORK/bin:$PATH
    cat >"$WORK/e.yaml" <<'Y'
name: little
problems: ["gaussian(n=[30, 65], d=8)", "clusters(n=64, d=8, count=4)"]
strategies: [uniform, kmeans]
landmarks: [4, 8]
cores: [svd, iterative]
trials: 2
metrics: [error]
plots: []
Y
}

# The states of the shards of $WORK/r, in their order, as status tells them: states 'done, running' COMMAND-BEFORE...
states() {
    of_json "found = ', '.join(s['state'] for s in x)
assert found == '$1', found" "${@:2}" "$NYSBENCH" status "$WORK/r"
}

# Runs the tasks of array job $1 that are named, as Slurm would, with the current folder elsewhere.
tasks() {
    local job=$1 script
    shift
    script=$(tail -n 1 "$WORK/calls/$job")
    for i in "$@"; do (cd / && SLURM_ARRAY_TASK_ID=$i sh "$script" >"$(dirname "$script")/shard-$i.log" 2>&1); done
}

merge_job() {
    (cd / && sh "$(tail -n 1 "$WORK/calls/$1")")
}

@test "submit sends an array and a merge that waits for it, and says which" {
    run "$NYSBENCH" submit "$WORK/e.yaml" --jobs 3 --minutes 20 -o "$WORK/r"
    expect_status 0
    [ "$(ls "$WORK/calls")" = $'101\n102' ]
    [ "$(cat "$WORK/calls/101")" = \
        "$(printf '%s\n' --parsable --job-name=shards-little --time=20 --output=shard-%a.log \
        "--chdir=$WORK/r/submissions/1" --array=1-3 "$WORK/r/submissions/1/shards.sh")" ]
    [ "$(cat "$WORK/calls/102")" = "$(printf '%s\n' --parsable --job-name=merge-little --time=20 --output=merge.log \
        "--chdir=$WORK/r/submissions/1" --dependency=afterany:101 "$WORK/r/submissions/1/merge.sh")" ]
}

@test "the jobs give the rows of one run" {
    "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/whole" >/dev/null
    "$NYSBENCH" submit "$WORK/e.yaml" --jobs 3 -o "$WORK/r" >/dev/null
    tasks 101 1 2 3
    run merge_job 102
    expect_status 0
    expect_rows "$WORK/r" "48 ok"
    timeless "$WORK/whole/rows.csv" >"$WORK/one.txt"
    timeless "$WORK/r/rows.csv" | cmp - "$WORK/one.txt"
}

@test "the config is frozen when it is submitted" {
    "$NYSBENCH" submit "$WORK/e.yaml" --jobs 2 --set seed=7 -o "$WORK/r" >/dev/null
    "$NYSBENCH" run "$WORK/e.yaml" -q --set seed=7 -o "$WORK/whole" >/dev/null
    echo "problems: [" >"$WORK/e.yaml"
    tasks 101 1 2
    run merge_job 102
    expect_status 0
    timeless "$WORK/whole/rows.csv" >"$WORK/one.txt"
    timeless "$WORK/r/rows.csv" | cmp - "$WORK/one.txt"
}

@test "unfinished shards are sent again, the others are not" {
    "$NYSBENCH" submit "$WORK/e.yaml" --jobs 4 -o "$WORK/r" >/dev/null
    tasks 101 1 4
    states "done, not begun, not begun, done"
    run "$NYSBENCH" submit "$WORK/e.yaml" --jobs 4 -o "$WORK/r"
    expect_status 0
    grep -qx -e --array=2-3 "$WORK/calls/103"
    grep -qx -e --dependency=afterany:103 "$WORK/calls/104"
    tasks 103 2 3
    states "done, done, done, done"
    of_json 'assert [sum(s[name] for s in x) for name in ("rows", "done", "failed")] == [48, 48, 0], x' \
        "$NYSBENCH" status "$WORK/r"
    run "$NYSBENCH" submit "$WORK/e.yaml" --jobs 4 -o "$WORK/r"
    expect_status 0
    [ "$(ls "$WORK/calls" | wc -l)" -eq 4 ]
    run merge_job 104
    expect_status 0
}

@test "a shard that a person runs is not sent either, and is finished work" {
    "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r" --shard 2/3 >/dev/null
    states "not begun, done, not begun"
    mkdir -p "$WORK/r/shards/3-of-3"
    cp "$WORK/r/shards/2-of-3/results.sqlite" "$WORK/r/shards/3-of-3/"
    states "not begun, done, running" flock "$WORK/r/shards/3-of-3"
    flock "$WORK/r/shards/3-of-3" "$NYSBENCH" submit "$WORK/e.yaml" --jobs 3 -o "$WORK/r" >/dev/null
    grep -qx -e --array=1 "$WORK/calls/101"
}

@test "failed rows are counted, and the shard is done" {
    "$NYSBENCH" submit "$WORK/e.yaml" --jobs 2 -o "$WORK/r" >/dev/null
    tasks 101 1 2
    py fail_rows "$WORK/r/shards/2-of-2/results.sqlite"
    told status "$WORK/r"
    expect_status 1
}

@test "options for sbatch come behind --, after those that they may replace, and before ours" {
    run "$NYSBENCH" submit "$WORK/e.yaml" --jobs 2 -o "$WORK/r" -- --partition=long --time=7 \
        --cpus-per-task=4 "--comment=two words"
    expect_status 0
    grep -qx -e "--comment=two words" "$WORK/calls/101"
    [ "$(grep -n -e '--time=' "$WORK/calls/101" | tail -n 1)" = 5:--time=7 ]
    grep -qx -e --partition=long "$WORK/calls/102"
}

@test "--dry-run prints all and writes nothing" {
    run "$NYSBENCH" submit "$WORK/e.yaml" --jobs 2 -o "$WORK/r" --dry-run -- "--comment=two words"
    expect_status 0
    expect "sbatch --parsable --job-name=shards-little"
    expect "'--comment=two words'"
    expect "--array=1-2 $WORK/r/submissions/1/shards.sh"
    expect "--shard \"\$SLURM_ARRAY_TASK_ID/2\" --jobs \"\${SLURM_CPUS_PER_TASK:-1}\""
    expect "merge $WORK/r --shards 2"
    [ ! -e "$WORK/r" ]
    [ -z "$(ls "$WORK/calls")" ]
    run "$NYSBENCH" submit "$WORK/e.yaml" --jobs 2 -o "$WORK/r" --dry-run --timeout 60 --memory 2G
    expect " --timeout 60 --memory 2G --shard \"\$SLURM_ARRAY_TASK_ID/2\""
    told submit "$WORK/e.yaml" --jobs 2 -o "$WORK/r" --dry-run --memory much
    expect_status 2
}

@test "a task has as many workers as Slurm gives it CPUs" {
    "$NYSBENCH" submit "$WORK/e.yaml" --jobs 1 -o "$WORK/r" >/dev/null
    SLURM_CPUS_PER_TASK=2 tasks 101 1
    grep -q '"jobs": 2' "$WORK/r/shards/1-of-1/manifest.json"
}

@test "folders with spaces, quotes, percents and UTF-8" {
    mkdir "$WORK/it's 50%a \"größer\""
    cd "$WORK/it's 50%a \"größer\""
    "$NYSBENCH" submit "$WORK/e.yaml" --jobs 2 -o 'a $(touch pwned) `run`' >/dev/null
    tasks 101 1 2
    run merge_job 102
    expect_status 0
    expect_rows 'a $(touch pwned) `run`' "48 ok"
    [ "$(ls)" = 'a $(touch pwned) `run`' ]
    run "$NYSBENCH" status 'a $(touch pwned) `run`'
    expect_status 0
    cd "$BATS_TEST_DIRNAME/../.."
}

@test "without sbatch: said" {
    rm "$WORK/bin/sbatch"
    ln -s /usr/bin/dirname "$WORK/bin/"
    PATH=$WORK/bin run "$NYSBENCH" submit "$WORK/e.yaml" --jobs 2 -o "$WORK/r"
    expect_status 2
    tell nysbench submit "$WORK/e.yaml"
}

@test "a sbatch that refuses, and one that says something else" {
    printf '#!/bin/bash\necho "sbatch: error: invalid partition" >&2\nexit 1\n' >"$WORK/bin/sbatch"
    told submit "$WORK/e.yaml" --jobs 2 -o "$WORK/r"
    expect_status 2
    told status "$WORK/r"
    expect_status 2
    printf '#!/bin/bash\necho "Submitted batch job 12"\n' >"$WORK/bin/sbatch"
    told submit "$WORK/e.yaml" --jobs 2 -o "$WORK/r"
    expect_status 2
}

@test "a site's sbatch that says more than the number: lines before and behind it" {
    mv "$WORK/bin/sbatch" "$WORK/bin/real"
    printf '%s\n' '#!/bin/bash' 'echo "sbatch: no partition given, using the default"' 'echo 7 tasks' \
        "$WORK/bin/real \"\$@\"" 'echo "sbatch: done"' >"$WORK/bin/sbatch"
    chmod +x "$WORK/bin/sbatch"
    run "$NYSBENCH" submit "$WORK/e.yaml" --jobs 2 -o "$WORK/r"
    expect_status 0
    grep -qx -e --dependency=afterany:101 "$WORK/calls/102"
    echo ';east' >"$WORK/cluster"
    "$NYSBENCH" submit "$WORK/e.yaml" --jobs 2 -o "$WORK/r" >/dev/null
    grep -qx -e --dependency=afterany:103 "$WORK/calls/104"
}

@test "shards that another build has begun are refused at once, unless mixed" {
    "$NYSBENCH" submit "$WORK/e.yaml" --jobs 2 -o "$WORK/r" >/dev/null
    tasks 101 1
    py change_build "$WORK/r/shards/1-of-2/results.sqlite"
    told submit "$WORK/e.yaml" --jobs 2 -o "$WORK/r"
    expect_status 2
    [ ! -e "$WORK/r/submissions/2" ]
    run "$NYSBENCH" submit "$WORK/e.yaml" --jobs 2 -o "$WORK/r" --mixed
    expect_status 0
    tasks 103 1 2
    merge_job 104
    [ "$(grep -c ',planned,' "$WORK/r/rows.csv")" -eq 0 ]
    grep -q -e '--mixed' "$WORK/r/submissions/2/merge.sh"
}

@test "a job of a federation, JOB;CLUSTER" {
    printf ';there' >"$WORK/cluster"
    run "$NYSBENCH" submit "$WORK/e.yaml" --jobs 2 -o "$WORK/r"
    expect_status 0
    grep -qx -e --dependency=afterany:101 "$WORK/calls/102"
}

@test "mistakes in the call" {
    told submit "$WORK/e.yaml"
    expect_status 2
    told submit "$WORK/e.yaml" --jobs 0
    expect_status 2
    run "$NYSBENCH" submit "$WORK/e.yaml" --jobs 2 --minutes soon
    expect_status 2
    expect "--minutes 'soon'"
    told submit --jobs 2 -- "$WORK/e.yaml"
    expect_status 2
    told status "$WORK/nowhere"
    expect_status 2
    [ -z "$(ls "$WORK/calls")" ]
}

@test "status of a run without shards" {
    "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r" >/dev/null
    states "done"
    of_json 'assert [(s["part"], s["rows"], s["done"], s["failed"]) for s in x] == [("run", 48, 48, 0)], x' \
        "$NYSBENCH" status "$WORK/r"
    states "running" flock "$WORK/r"
}

@test "a run that was ended before it had planned its rows is not done" {
    # A file of 150 KiB at most, as on a full disk: the database is made, its rows find no room.
    run bash -c 'ulimit -f 150; "$1" run "$2" --set landmarks=4..20 --set trials=100 -q -o "$3"' \
        - "$NYSBENCH" "$WORK/e.yaml" "$WORK/r"
    expect_status 1
    [ "$("$NYSBENCH" status "$WORK/r" --format csv | tail -n 1)" = "run,not begun,0,0,0" ] # NOLINT(wording): a state
    "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r" >/dev/null
    states "done"
}

@test "the job that merges loads the plug-ins of the config and starts its programs" {
    build_plugin tests/cli/plugins/curt.c "$WORK/curt.so"
    cd "$WORK"
    printf '%s\n' "plugins: curt.so" "problems: gaussian(n=20, d=3)" "strategies: [uniform, curt]" "cores: svd" \
        "landmarks: [3, 5]" "trials: 1" "plots: []" >p.yaml
    "$NYSBENCH" submit p.yaml --jobs 2 -o r >/dev/null
    tasks 101 1 2
    run merge_job 102
    expect_status 0
    expect_rows r "4 ok"
    grep -q -- "--shards 2 --programs" "$WORK/r/submissions/1/merge.sh"
}
