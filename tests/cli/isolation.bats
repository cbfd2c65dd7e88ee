# SPDX-License-Identifier: GPL-3.0-or-later
# Strategies and cores that harm whoever runs them: their own rows say so, all other
# rows are the same bits as in a run without them, and no process is left.

load helpers

setup_file() {
    local program=${NYSBENCH:-$PWD/nysbench}
    local plugin
    for plugin in villains meddlers curt; do
        build_plugin tests/cli/plugins/$plugin.c "$BATS_FILE_TMPDIR/$plugin.so"
    done
    experiment "uniform, kmeans, farthest_point" "svd, iterative" >"$BATS_FILE_TMPDIR/good.yaml"
    "$program" run "$BATS_FILE_TMPDIR/good.yaml" -q -j 0 -o "$BATS_FILE_TMPDIR/good" >/dev/null
}

# experiment STRATEGIES CORES: the config
experiment() {
    cat <<EOF
problems: gaussian(n=60, d=4)
strategies: [$1]
cores: [$2]
factors: [nystromformer, cur]
landmarks: [3, 16]
trials: 1
plots: []
EOF
}

# with VILLAIN [OPTION...]: a run with it among the good ones, into $WORK/r.
with() {
    experiment "uniform, $1, kmeans, farthest_point" "svd, iterative" >"$WORK/c.yaml"
    run "$NYSBENCH" run "$WORK/c.yaml" -q --plugin "$BATS_FILE_TMPDIR/villains.so" --fresh -o "$WORK/r" "${@:2}"
}

# expect_ends STATUS COUNT: that many rows of the last run have the status and a reason, which is golden; all rows of
# the run without villains are there, the same but for times, and nobody is left.
expect_ends() {
    output=$(py check_rows "$BATS_FILE_TMPDIR/good/rows.csv" "$WORK/r/rows.csv" "$@")
    [ "$2" -eq 0 ] || status=0 tell reasons
    nobody_left
}

# The last command ended by a segmentation fault, which a sanitizer turns into status 1.
expect_fault() {
    if sanitized; then expect_status 1; else expect_status 139; fi
}

nobody_left() {
    run pgrep -f "$WORK/r"
    [ "$status" -eq 1 ] || { echo "left: $output"; return 1; }
}

@test "crashes: by signal, by exit, with orphans; one m behaves, the other's rows say how it ended" {
    with "segfault(from=3)" -j 2 # a child has no handlers, nor the sanitizers'
    expect_status 1
    output=$(grep -o -e "--only '.*" <<<"$output") tell nysbench run
    expect_rows "$WORK/r" "24 ok, 4 skipped, 4 crashed"
    expect_ends crashed 4
    with "aborts(from=3)" -j 1
    expect_status 1
    expect_ends crashed 4
    with leave -j 2
    expect_status 1
    expect_ends crashed 8
    with orphans -j 2
    expect_status 1
    expect_ends crashed 8
    run pgrep -f '^sleep 41[.]3$'
    [ "$status" -eq 1 ]
}

@test "a call that looks as if it was killed from outside is tried once more" {
    with killed -j 2
    expect_status 1
    expect_ends crashed 8
}

@test "what kills or spoils its own process harms nobody, and it has picked" {
    for villain in spoil $(sanitized || echo hoard); do # a sanitized one has no limit of memory
        with "$villain(from=3)" --memory 400M -j 2
        expect_status 0
        expect_ends ok 0
    done
}

@test "a call shares no memory that it can write with its worker, with other workers or with their parent" {
    with "scribble(from=3)" -j 3
    expect_status 0
    expect_ends ok 0
}

@test "whatever a component from outside changes, no other row changes: 51 acts" {
    # Eight in a run; with ACTS_A_RUN=1 each alone, in larger runs.
    py run_acts "$NYSBENCH" "$WORK" "$BATS_FILE_TMPDIR/meddlers.so" "${ACTS_A_RUN:-8}"
}

@test "without a worker plug-ins run unisolated, which is told once; BLAS threads and plug-ins do not go together" {
    experiment "uniform, rounds_up(from=3), kmeans" "svd" >"$WORK/c.yaml"
    run "$NYSBENCH" run "$WORK/c.yaml" -q -j 0 --plugin "$BATS_FILE_TMPDIR/meddlers.so" -o "$WORK/r"
    expect_status 0
    output=$(grep '^nysbench: ' <<<"$output") tell nysbench run -j 0
    run "$NYSBENCH" run "$WORK/c.yaml" -q -j 0 -o "$WORK/s" --set strategies=uniform
    [[ $output != *warning* ]]
    told run "$WORK/c.yaml" -q --blas-threads 2 --plugin "$BATS_FILE_TMPDIR/meddlers.so" -o "$WORK/t"
    expect_status 2
    [ ! -e "$WORK/t" ]
}

@test "what a call has computed from S for itself is computed once more, for all later calls" {
    with asks -j 1 --set "landmarks=[2, 3, 5, 8, 16]"
    expect_status 0
    [ "$(grep -c "computed" <<<"$output")" -eq 1 ]
    [ "$(grep -c "found" <<<"$output")" -eq 4 ]
}

@test "hanging: SIGTERM, then SIGKILL; the row tells which" {
    with "hang(from=3), deaf(from=3)" --timeout 1.5 -j 2
    expect_status 1
    expect " --timeout 1.5 --only '"
    expect_rows "$WORK/r" "28 ok, 4 skipped, 8 timeout"
    expect_ends timeout 8
    [ "$(grep -c "SIGTERM" "$WORK/r/rows.csv")" -eq 4 ]
    # with the limit, without which it would not end
    run eval "$(grep -m 1 -- "--only.*strategy=hang" "$WORK/r/failures.txt") -q"
    expect_status 1
}

@test "the channel of a pick closed, or filled with noise" {
    with "closes(from=3)" -j 2
    expect_status 1
    expect_ends crashed 4
    with "babble(from=3)" -j 2
    expect_status 1
    expect_ends crashed 4
}

@test "memory: allocating without end fails" {
    if sanitized; then skip "the sanitizers need more address space than any limit allows"; fi
    with allocate --memory 200M -j 2
    expect_status 1
    expect_ends failed 8
}

@test "nonsense: repeated tokens, NaN in the points" {
    with repeat -j 2
    expect_status 1
    expect_ends failed 8
    with nan_points -j 2
    expect_status 1
    expect_ends failed 8
}

@test "an error without a message: the reason names the component" {
    local head=experiments/data/vit_astronaut_n257_L6.safetensors:0
    experiment "uniform, curt(fails=true)" "svd, curt_core(fails=true)" >"$WORK/c.yaml"
    run "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 --plugin "$BATS_FILE_TMPDIR/curt.so" -o "$WORK/r"
    expect_status 1
    expect_rows "$WORK/r" "4 ok, 12 failed"
    reasons "$WORK/r"
    warned select --head "$head" --plugin "$BATS_FILE_TMPDIR/curt.so" --strategy "curt(fails=true)" -m 3 \
        -o "$WORK/k.npy"
    expect_status 1
    warned forward --head "$head" --plugin "$BATS_FILE_TMPDIR/curt.so" \
        --attention "curt_attention(fails=true)" -o "$WORK/o.npy"
    expect_status 1
}

# How often a command has said what the plug-in prints.
said() {
    grep -cx "a word in between" "$WORK/said" # NOLINT(wording): the plug-in's
}

@test "what a component prints goes to standard error: answers on standard output stay whole" {
    local head=experiments/data/vit_astronaut_n257_L6.safetensors:0
    "$NYSBENCH" select --head "$head" --plugin "$BATS_FILE_TMPDIR/curt.so" --strategy curt -m 3 \
        -o - >"$WORK/k.npy" 2>"$WORK/said"
    [ "$(said)" -ge 1 ]
    "$NYSBENCH" measure --head "$head" --plugin "$BATS_FILE_TMPDIR/curt.so" --strategy curt -m 3 --core curt_core \
        --json >"$WORK/row.json" 2>"$WORK/said"
    [ "$(said)" -eq 2 ]
    "$NYSBENCH" forward --head "$head" --plugin "$BATS_FILE_TMPDIR/curt.so" --attention curt_attention \
        -o - >"$WORK/o.npy" 2>"$WORK/said"
    [ "$(said)" -ge 1 ]
    py check_json "$WORK"
    experiment "uniform, curt" "svd" >"$WORK/c.yaml"
    "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 --plugin "$BATS_FILE_TMPDIR/curt.so" -o "$WORK/r" >"$WORK/out" 2>"$WORK/said"
    [ "$(cat "$WORK/out")" = "rows: 8, 8 ok" ]
    [ "$(said)" -ge 1 ]
    "$NYSBENCH" run "$WORK/c.yaml" -q -j 0 --fresh --plugin "$BATS_FILE_TMPDIR/curt.so" \
        -o "$WORK/r" >"$WORK/out" 2>"$WORK/said"
    [ "$(cat "$WORK/out")" = "rows: 8, 8 ok" ]
    [ "$(said)" -ge 1 ]
    "$NYSBENCH" export "$WORK/r" --landmarks "$WORK/picks" \
        --plugin "$BATS_FILE_TMPDIR/curt.so" >"$WORK/out" 2>"$WORK/said"
    [ "$(wc -l <"$WORK/out")" -eq 1 ]
    [ "$(said)" -ge 1 ]
    # nobody who reads it is no failure of the command; and it is there if the program ends then
    "$NYSBENCH" select --head "$head" --plugin "$BATS_FILE_TMPDIR/curt.so" --strategy curt -m 3 \
        -o - >"$WORK/k2.npy" 2>/dev/full
    cmp "$WORK/k.npy" "$WORK/k2.npy"
    run "$NYSBENCH" select --head "$head" --plugin "$BATS_FILE_TMPDIR/curt.so" --strategy "curt(leaves=true)" -m 3 \
        -o "$WORK/k.npy"
    expect_status 1
    output=$(LC_ALL=C sort <<<"$output") tell nysbench select --strategy "curt(leaves=true)"
    experiment "curt(leaves=true)" "svd" >"$WORK/c.yaml"
    warned run "$WORK/c.yaml" -q -j 1 --plugin "$BATS_FILE_TMPDIR/curt.so" -o "$WORK/s"
    expect_status 1
    warned run "$WORK/c.yaml" -q -j 0 --plugin "$BATS_FILE_TMPDIR/curt.so" -o "$WORK/t"
    expect_status 1
}

@test "a core that crashes costs its own rows; so do several villains at once, whatever the number of workers" {
    experiment "uniform, kmeans, farthest_point" "svd, core_crash, iterative" >"$WORK/c.yaml"
    run "$NYSBENCH" run "$WORK/c.yaml" -q -j 2 --plugin "$BATS_FILE_TMPDIR/villains.so" -o "$WORK/r"
    expect_status 1
    expect_ends crashed 5
    experiment "aborts, uniform, leave, kmeans, spoil, farthest_point, babble" \
        "svd, core_crash, iterative" >"$WORK/c.yaml"
    sed -i -e 's/trials: 1/trials: 2/; s/, cur//' \
        -e "s|^problems: .*|problems: [\"gaussian(n=60, d=4)\", \"heads(file=$ASTRONAUT, head=0)\"]|" "$WORK/c.yaml"
    for jobs in 1 2 4; do
        run "$NYSBENCH" run "$WORK/c.yaml" -q -j "$jobs" --fresh --plugin "$BATS_FILE_TMPDIR/villains.so" -o "$WORK/r"
        expect_status 1
        timeless "$WORK/r/rows.csv" >"$WORK/$jobs.txt"
        cmp "$WORK/1.txt" "$WORK/$jobs.txt"
    done
    [ "$(grep -c "'planned'" "$WORK/1.txt")" -eq 0 ]
    nobody_left
}

@test "a command ends with its worker, and takes its folder along" {
    mkdir "$WORK/tmp"
    TMPDIR=$WORK/tmp with "'command(run=\"sh -c \\\"sleep 42.7 & exec sleep 42.7\\\"\")'" --timeout 1.5 -j 1
    expect_status 1
    expect_ends timeout 8
    run pgrep -f '^sleep 42[.]7$'
    [ "$status" -eq 1 ]
    [ -z "$(ls -A "$WORK/tmp")" ]
}

@test "memory: fewer workers where more do not fit, none where not one does; wrong sizes and times are told" {
    experiment "uniform" "svd" >"$WORK/c.yaml"
    told run "$WORK/c.yaml" -q --memory 1K -o "$WORK/r"
    expect_status 2
    [ ! -e "$WORK/r" ]
    experiment "uniform" "svd" | sed 's/n=60/n=1500/; s/trials: 1/trials: 3/' >"$WORK/big.yaml"
    told run "$WORK/big.yaml" -q --memory 1K -o "$WORK/r"
    memory=$(of_json 'print(x[0]["worker_bytes"] * 5 // 2048)' "$NYSBENCH" plan "$WORK/big.yaml" -o "$WORK/r")K
    run "$NYSBENCH" run "$WORK/big.yaml" -q --jobs 3 --memory "$memory" -o "$WORK/r" --timeout 20
    tell nysbench run big.yaml -q --jobs 3 --memory ENOUGH_FOR_TWO
    grep -q '"jobs": 2,$' "$WORK/r/manifest.json"
    run "$NYSBENCH" run "$WORK/big.yaml" --jobs 3 --memory "$memory" -o "$WORK/new" --max-hours 1e-6
    tell nysbench run big.yaml --jobs 3 --memory ENOUGH_FOR_TWO --max-hours 1e-6
    [ ! -e "$WORK/new" ]
    for wrong in 8 G 8X -1G 1e3M 8GB 0G "" nanG; do
        told run "$WORK/c.yaml" -q --memory "$wrong" -o "$WORK/s"
        expect_status 2
    done
    for wrong in 0 -1 x 1s ""; do
        told run "$WORK/c.yaml" -q --timeout "$wrong" -o "$WORK/s"
        expect_status 2
    done
    for limit in "--timeout=5" "--memory=8G"; do
        told run "$WORK/c.yaml" -q --jobs 0 "$limit" -o "$WORK/s"
        expect_status 2
    done
    [ ! -e "$WORK/s" ]
}

@test "a plug-in that ends select, measure or forward is named, and exit(0) is no success" {
    local head=$ASTRONAUT:1 plugin=$BATS_FILE_TMPDIR/villains.so villain command
    build_plugin tests/cli/plugins/fragile.c "$WORK/fragile.so"
    for villain in segfault recurse leave; do
        for command in "select -o $WORK/picks.npy" measure; do
            run bash -c 'ulimit -s 8192; exec "$@"' - "$NYSBENCH" $command --head $head --plugin "$plugin" \
                --strategy "$villain" -m 8
            if [ "$villain" = leave ]; then expect_status 1; else expect_fault; fi
            expect "$plugin: $villain "
            output=$(grep '^nysbench: ' <<<"$output") status=0 tell nysbench $command --strategy "$villain"
            sanitized || [ "$(wc -l <<<"$output")" -eq 1 ] # a sanitizer reports the crash too
        done
    done
    warned measure --head $head --plugin "$plugin" --strategy uniform -m 8 --core core_crash
    expect_status 134
    warned forward --head $head --plugin "$WORK/fragile.so" --attention "fragile(ends=aborts)" \
        -o "$WORK/out.npy"
    expect_status 134
    run "$NYSBENCH" forward --head $head --plugin "$WORK/fragile.so" --attention "fragile(ends=faults)" --threads 2 \
        -o "$WORK/out.npy"
    expect_fault
    output=$(grep '^nysbench: ' <<<"$output") status=0 tell nysbench forward --attention "fragile(ends=faults)"
    [ ! -e "$WORK/out.npy" ] && [ ! -e "$WORK/picks.npy" ]
}

@test "without a worker a pick that hangs ends with the run: some seconds after SIGTERM, at once at a second SIGINT" {
    experiment "hang(from=3)" "svd" >"$WORK/c.yaml"
    for signals in TERM "INT INT"; do
        setsid env --default-signal=INT "$NYSBENCH" run "$WORK/c.yaml" -q -j 0 \
            --plugin "$BATS_FILE_TMPDIR/villains.so" -o "$WORK/r" --fresh >"$WORK/log" 2>&1 3>&- &
        pid=$!
        until_true grep -q "with --jobs 0" "$WORK/log"
        until_true test -e "$WORK/r/manifest.json"
        for signal in $signals; do
            sleep 0.5
            kill "-$signal" "$pid" || [ "$signal" = INT ] # a busy machine takes so long that it has ended
        done
        expect_end "$pid" 130
        output=$(grep interrupted "$WORK/log") status=130 tell "$signals" nysbench run
    done
}
