# SPDX-License-Identifier: GPL-3.0-or-later
# What a run starts ends with it, however it ends, and takes its temporary folders along, or the next run does; and
# nothing else goes with them. Where the run is killed, what its programs have started themselves may stay.

load helpers

setup_file() {
    build_plugin tests/cli/plugins/strays.c "$BATS_FILE_TMPDIR/strays.so"
    for plugin in naps villains; do build_plugin tests/cli/plugins/$plugin.c "$BATS_FILE_TMPDIR/$plugin.so"; done
}

# experiment STRATEGY: the config; where it is a command, quoted for YAML.
experiment() {
    cat >"$WORK/c.yaml" <<EOF
problems: gaussian(n=20, d=2)
strategies: [uniform, '$1']
cores: svd
landmarks: 3
trials: 1
metrics: error
plots: []
EOF
    mkdir -p "$WORK/tmp"
}

# A program that leaves a daemon without parent, group, session and files behind, and says so in $WORK/there.
make_daemon() {
    cat >"$WORK/daemon.sh" <<EOF
setsid sh -c 'trap "" HUP TERM; sleep 43.21 & exec sleep 43.21' </dev/null >/dev/null 2>&1 &
touch '$WORK/there'
$1
EOF
}

# The tests themselves may have been started by nohup, whose meaning the program keeps.
in_background() {
    TMPDIR=$WORK/tmp setsid env --default-signal=HUP "$NYSBENCH" "$@" \
        --plugin "$BATS_FILE_TMPDIR/strays.so" >"$WORK/log" 2>&1 3>&- &
    pid=$!
}

daemons() {
    pgrep -fx 'sleep 43.21' >/dev/null
}

nothing_left() {
    ! daemons && [ -z "$(ls -A "$WORK/tmp")" ] && ! pgrep -f "$WORK" >/dev/null
}

children_of() {
    cat "/proc/$1/task/$1/children" 2>/dev/null
}

@test "a plug-in's daemon ends with its worker, where the run ends well" {
    experiment daemon
    TMPDIR=$WORK/tmp run "$NYSBENCH" run "$WORK/c.yaml" -q --plugin "$BATS_FILE_TMPDIR/strays.so" -o "$WORK/r"
    expect_status 0
    nothing_left
}

@test "a daemon of a command too, in a run, in select, with and without workers" {
    make_daemon "exit 3"
    experiment "command(run=\"sh $WORK/daemon.sh\")"
    for jobs in 2 0; do
        TMPDIR=$WORK/tmp run "$NYSBENCH" run "$WORK/c.yaml" -q -j $jobs --fresh -o "$WORK/r"
        expect_rows "$WORK/r" "1 ok, 1 failed"
        nothing_left
    done
    TMPDIR=$WORK/tmp run "$NYSBENCH" select --head experiments/data/vit_astronaut_n257_L6.safetensors:1 \
        --strategy "command(run=\"sh $WORK/daemon.sh\")" -m 4 -o "$WORK/p.npy"
    expect_status 1
    nothing_left
}

@test "SIGTERM, SIGHUP, SIGQUIT, SIGINT to the run; daemons, commands and folders go" {
    make_daemon "sleep 43.21"
    for signal in TERM HUP QUIT INT; do
        for strategy in daemon_and_wait "command(run=\"sh $WORK/daemon.sh\")"; do
            experiment "$strategy"
            rm -rf "$WORK/r" "$WORK/there"
            in_background run "$WORK/c.yaml" -q -j 2 -o "$WORK/r"
            until_true daemons
            kill -$signal "$pid"
            status=0
            wait "$pid" || status=$?
            expect_status 130
            until_true nothing_left
        done
    done
}

# A worker may just be between two units.
kill_workers() {
    kill -KILL $(children_of "$pid") 2>/dev/null
}

@test "SIGKILL to the run's workers: what they have started goes, and others go on" {
    make_daemon "sleep 43.21"
    experiment "command(run=\"sh $WORK/daemon.sh\")"
    in_background run "$WORK/c.yaml" -q -j 2 -o "$WORK/r"
    until_true daemons
    until_true kill_workers
    until_true daemons
    kill -TERM "$pid"
    expect_end "$pid" 130
    until_true nothing_left
}

descendants_of() {
    for child in $(children_of "$1"); do
        echo "$child"
        descendants_of "$child"
    done
}

# The run, a worker, and what that waits for.
three_generations() {
    all=($pid $(descendants_of "$pid"))
    [ "${#all[@]}" -ge 3 ]
}

all_gone() {
    for one in "${all[@]}"; do
        if read -r _ _ state _ 2>/dev/null <"/proc/$one/stat" && [ "$state" != Z ]; then return 1; fi
    done
}

@test "SIGKILL to the run, its workers or all: what they started ends at once, and the next run removes the folders" {
    experiment uniform
    cp "$WORK/c.yaml" "$WORK/next.yaml"
    echo 'exec sleep 43.21' >"$WORK/waits.sh"
    printf '%s\n' 'echo "{\"ready\": 1}"' 'exec sleep 43.21' >"$WORK/serves.sh"
    for strategy in hang "command(run=\"sh $WORK/waits.sh\")" "command(run=\"sh $WORK/serves.sh\", serve=true)"; do
        for whom in run workers all; do
            experiment "$strategy"
            rm -rf "$WORK/r"
            in_background run "$WORK/c.yaml" -q -j 1 --plugin "$BATS_FILE_TMPDIR/villains.so" -o "$WORK/r"
            until_true three_generations
            case $whom in
            run) kill -KILL "$pid" ;;
            workers) kill -KILL "$pid" $(children_of "$pid") ;;
            all) kill -KILL "${all[@]}" ;;
            esac
            expect_end "$pid" 137
            until_true all_gone
        done
    done
    [ -n "$(ls -A "$WORK/tmp")" ]
    TMPDIR=$WORK/tmp "$NYSBENCH" run "$WORK/next.yaml" -q -o "$WORK/s"
    nothing_left
}

@test "select that is killed takes its program along" {
    echo 'exec sleep 43.21' >"$WORK/waits.sh"
    mkdir "$WORK/tmp"
    TMPDIR=$WORK/tmp "$NYSBENCH" select --head experiments/data/vit_astronaut_n257_L6.safetensors:1 \
        --strategy "command(run=\"sh $WORK/waits.sh\")" -m 4 \
        -o "$WORK/p.npy" >"$WORK/log" 2>&1 3>&- &
    pid=$!
    until_true eval 'all=($(children_of "$pid")) && [ ${#all[@]} -gt 0 ]'
    kill -KILL "$pid"
    expect_end "$pid" 137
    until_true all_gone
}

# A run that sleeps in each trial, longer in all than the test waits for.
long=(experiments/00-smoke.yaml -q --plugin "$BATS_FILE_TMPDIR/naps.so" --set "problems=gaussian(n=200, d=16)" \
    --set "strategies=[uniform, naps(ms=40)]"
    --set landmarks=8 --set factors=cur --set cores=svd --set "metrics=[error]" --set "plots=[]" --set trials=1800 -j 2)

stored() {
    [ "$("$NYSBENCH" export "$1" 2>/dev/null | grep -c ',ok,')" -gt 2 ]
}

@test "SIGHUP, SIGQUIT and a terminal that is closed: as SIGTERM; nohup keeps its meaning" {
    for signal in HUP QUIT; do
        setsid env --default-signal=HUP "$NYSBENCH" run "${long[@]}" -o "$WORK/$signal" >"$WORK/log" 2>&1 3>&- &
        pid=$!
        until_true stored "$WORK/$signal"
        kill -$signal "$pid"
        expect_end "$pid" 130
        output=$(cat "$WORK/log")
        output=$(grep '^nysbench: ' <<<"$output") tell SIG$signal nysbench run
        grep -q ',ok,' "$WORK/$signal/rows.csv"
    done
    nohup "$NYSBENCH" run "${long[@]}" -o "$WORK/n" >"$WORK/log" 2>&1 3>&- &
    pid=$!
    until_true test -s "$WORK/n/manifest.json"
    kill -HUP "$pid"
    sleep 0.5
    kill -0 "$pid"
    kill -TERM "$pid"
    expect_end "$pid" 130
    py close_terminal "$NYSBENCH" "$WORK/t" "${long[@]}"
    grep -q ',ok,' "$WORK/t/rows.csv"
    run pgrep -f "$WORK"
    [ "$status" -eq 1 ]
}

# As runs in other PID namespaces may own them: all numbers that a process can have soon.
@test "folders of others stay, whatever number is in their name" {
    experiment 'command(run="false")'
    local last
    read -r last _ < <(sh -c 'echo $$')
    for number in $(seq "$last" $((last + 3000))); do echo "$WORK/tmp/nysbench-$number-abcdef"; done | xargs mkdir
    find "$WORK/tmp" | sort >"$WORK/before"
    TMPDIR=$WORK/tmp run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_rows "$WORK/r" "1 ok, 1 failed"
    find "$WORK/tmp" | sort | cmp - "$WORK/before"
}

@test "a folder that became a link, a deep tree and one without permissions: gone, and nothing beyond" {
    mkdir "$WORK/victim"
    echo precious >"$WORK/victim/file"
    cat >"$WORK/link.sh" <<EOF
here=\$PWD
cd /
rm -rf "\$here"
ln -s '$WORK/victim' "\$here"
EOF
    cat >"$WORK/inner.sh" <<EOF
ln -s '$WORK/victim' inner
ln '$WORK/victim/file' hard
mkdir closed closed/in
touch closed/in/x
chmod 000 closed/in closed
/usr/bin/python3 '$(py_file)' dig 3000
EOF
    for script in link inner; do
        experiment "command(run=\"sh $WORK/$script.sh\")"
        TMPDIR=$WORK/tmp run "$NYSBENCH" run "$WORK/c.yaml" -q --fresh -o "$WORK/r"
        expect_rows "$WORK/r" "1 ok, 1 failed"
        [ "$(cat "$WORK/victim/file")" = precious ]
        [ -z "$(ls -A "$WORK/tmp")" ]
    done
}
