# SPDX-License-Identifier: GPL-3.0-or-later
# Surroundings that are odd, short of something, or hang: what can be done is done, what cannot is told,
# and none of it becomes a row.

load helpers

# experiment STRATEGIES: the config, some rows.
experiment() {
    cat >"$WORK/c.yaml" <<EOF
problems: gaussian(n=40, d=4)
strategies: [$1]
cores: [svd, iterative]
landmarks: [3, 8]
trials: 3
metrics: [error]
plots: [${2:-}]
EOF
}

@test "memory that is limited, but enough" {
    if sanitized; then skip "the sanitizers need more address space than any limit allows"; fi
    experiment uniform
    OPENBLAS_NUM_THREADS=1 run bash -c 'ulimit -v 4000000 && exec timeout 60 "$@"' bash \
        "$NYSBENCH" run "$WORK/c.yaml" -q -j 2 -o "$WORK/r"
    expect_status 0
}

@test "too little memory for OpenBLAS: told at once, by all that compute; the others work" {
    if sanitized; then skip "the sanitizers need more address space than any limit allows"; fi
    echo 'int main(void) { return 0; }' >"$WORK/nothing.c" # but OpenBLAS's own start, which in 0.3.29 never ends
    cc "$WORK/nothing.c" -Wl,--no-as-needed -lopenblas -o "$WORK/nothing"
    OPENBLAS_NUM_THREADS=1 run bash -c "ulimit -v 120000 && exec timeout 20 '$WORK/nothing'"
    [ "$status" -ne 124 ] || skip "this OpenBLAS waits for memory before a program's main"
    expect_status 0
    experiment uniform
    local head=experiments/data/vit_astronaut_n257_L6.safetensors:1
    short() { # LIMIT COMMAND...; OpenBLAS takes a second to find out
        run bash -c 'ulimit $1 && shift && exec timeout 60 "$@"' - "$1" "$NYSBENCH" "${@:2}"
        if [ "$status" -ne 0 ]; then # a BLAS with smaller buffers has enough
            expect_status 2
            expect "nysbench: error: "
            expect "(ulimit -v, "
        fi
    }
    short "-v 120000" run "$WORK/c.yaml" -q -o "$WORK/r"
    short "-d 80000" plan "$WORK/c.yaml" -o "$WORK/r"
    short "-v 120000" measure --head "$head" --strategy uniform -m 4
    [ ! -e "$WORK/r" ]
    for limit in "-v 120000" "-d 80000"; do
        run bash -c "ulimit $limit && exec timeout 60 '$NYSBENCH' list"
        expect_status 0
    done
}

@test "a command that puts a pipe where its standard error was" {
    experiment "uniform, 'command(run=\"sh -c \\\"rm stderr.txt; mkfifo stderr.txt; exit 3\\\"\")'"
    run timeout 60 "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 1
    expect_rows "$WORK/r" "12 ok, 12 failed"
}

# fake_gnuplot SCRIPT: after it has told its version.
fake_gnuplot() {
    mkdir -p "$WORK/bin"
    printf '#!/bin/sh\n[ "$1" = --version ] && exec echo gnuplot 6\n%s\n' "$1" >"$WORK/bin/gnuplot"
    chmod +x "$WORK/bin/gnuplot"
}

@test "gnuplot that hangs is ended, with all that it has started, and told; so is one that says nothing of itself" {
    fake_gnuplot 'sleep 44.87 & sleep 44.87'
    experiment uniform error
    NYSBENCH_PLOT_TIMEOUT=0.5 PATH="$WORK/bin:$PATH" run timeout 60 "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 1
    expect_rows "$WORK/r" "12 ok"
    expect "$WORK/r/plots/error_svd.gp"
    output=$(grep '^nysbench: ' <<<"$output") tell nysbench run
    run pgrep -fx 'sleep 44.87'
    [ "$status" -eq 1 ]
    printf '#!/bin/sh\nexec sleep 44.87\n' >"$WORK/bin/gnuplot"
    NYSBENCH_PLOT_TIMEOUT=0.5 PATH="$WORK/bin:$PATH" run timeout 60 "$NYSBENCH" plot "$WORK/r"
    expect_status 0
    output=$(grep '^nysbench: ' <<<"$output") tell nysbench plot
    NYSBENCH_PLOT_TIMEOUT=2m told plot "$WORK/r"
    expect_status 1
}

@test "figures are drawn --jobs at a time; what gnuplot says comes in their order, and the first that fails is told" {
    # The first waits for the end of the second, twenty seconds at most.
    fake_gnuplot \
        'for i in $(seq 200); do [ "$2" = error_svd.gp ] && ! grep -q error_iterative '"$WORK"'/log && sleep 0.1; done
echo "$2" >>'"$WORK"'/log
echo "says $2" >&2
exit 3'
    experiment uniform error
    touch "$WORK/log"
    PATH="$WORK/bin:$PATH" told run "$WORK/c.yaml" -q -j 2 -o "$WORK/r"
    expect_status 1
    diff - "$WORK/log" <<<$'error_iterative.gp\nerror_svd.gp'
    fake_gnuplot 'echo "begins $2" >>'"$WORK"'/log; sleep 0.3; echo "ends $2" >>'"$WORK"'/log'
    rm "$WORK/log"
    PATH="$WORK/bin:$PATH" "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 -o "$WORK/r"
    diff - "$WORK/log" <<<$'begins error_svd.gp\nends error_svd.gp\nbegins error_iterative.gp\nends error_iterative.gp'
}

@test "a program that is killed while figures are drawn leaves no gnuplot" {
    experiment uniform error
    "$NYSBENCH" run "$WORK/c.yaml" -q --set plots=[] -o "$WORK/r"
    fake_gnuplot 'echo >>'"$WORK"'/began; exec sleep 44.86'
    for signal in 15 9; do
        rm -f "$WORK/began"
        PATH="$WORK/bin:$PATH" "$NYSBENCH" plot "$WORK/r" error >"$WORK/log" 2>&1 3>&- &
        pid=$!
        until_true test -s "$WORK/began"
        kill -$signal "$pid"
        expect_end "$pid" $((128 + signal))
        until_true eval '! pgrep -fx "sleep 44.86" >"$WORK/left"'
    done
}

@test "what a user has in ~/.gnuplot, in a configuration of fonts and in the environment is no part of a figure" {
    experiment uniform error
    "$NYSBENCH" run "$WORK/c.yaml" -q --set 'cores=[svd]' -o "$WORK/r"
    mkdir -p "$WORK/home/fontconfig" "$WORK/home/.config/fontconfig" "$WORK/before"
    mv "$WORK/r/plots"/error_svd.{svg,png} "$WORK/before"
    printf 'set linetype 1 lc rgb "red" lw 9\nset decimalsign ","\n' >"$WORK/home/.gnuplot"
    cat >"$WORK/home/fonts.conf" <<'EOF'
<fontconfig><include>/etc/fonts/fonts.conf</include><match target="font"><edit name="matrix" mode="assign">
<matrix><double>2</double><double>0</double><double>0</double><double>2</double></matrix></edit></match></fontconfig>
EOF
    cp "$WORK/home/fonts.conf" "$WORK/home/fontconfig"
    cp "$WORK/home/fonts.conf" "$WORK/home/.config/fontconfig"
    for variables in "HOME=$WORK/home GNUTERM=qt LC_ALL=C" "XDG_CONFIG_HOME=$WORK/home GNUTERM=nosuch LC_ALL=nosuch" \
        "FONTCONFIG_FILE=$WORK/home/fonts.conf"; do
        run env -u LANG $variables "$NYSBENCH" plot "$WORK/r" error
        expect_status 0
        [[ $output != *warning* ]] || { echo "$variables: $output"; return 1; }
        for format in svg png; do cmp "$WORK/before/error_svd.$format" "$WORK/r/plots/error_svd.$format"; done
        rm "$WORK/r/plots"/error_svd.{svg,png}
    done
}

# Reads the store, and keeps it until that program ends.
hold() {
    rm -f "$WORK/held"
    /usr/bin/python3 -SE "$(py_file)" hold_store "$WORK/r/results.sqlite" >"$WORK/held" 3>&- &
    reader=$!
    until_true grep -q held "$WORK/held"
}

@test "somebody who reads the store for long is waited for, with a warning; a signal ends the wait" {
    experiment uniform
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    hold
    timeout 200 "$NYSBENCH" run "$WORK/c.yaml" -q --set trials=5 -o "$WORK/r" >"$WORK/log" 2>&1 3>&- &
    pid=$!
    until_true grep -qF "nysbench: warning: $WORK/r/results.sqlite: " "$WORK/log"
    sleep "${HOLD_S:-1}"
    kill "$reader"
    expect_end "$reader" 143
    expect_end "$pid" 0
    output=$(sed -E 's/for [0-9]+ s/for # s/' "$WORK/log" | uniq) # which it says every minute
    status=0 tell nysbench run
    hold
    "$NYSBENCH" run "$WORK/c.yaml" -q --set trials=7 -o "$WORK/r" >"$WORK/log" 2>&1 3>&- &
    pid=$!
    sleep 1
    kill -TERM "$pid"
    until_true eval "! kill -0 $pid"
    expect_end "$pid" 143 # nothing runs yet, so nothing is caught
    kill "$reader"
    expect_end "$reader" 143
    run "$NYSBENCH" run "$WORK/c.yaml" -q --set trials=7 -o "$WORK/r"
    expect_rows "$WORK/r" "28 ok"
}

@test "closed streams: nothing is written where it does not belong" {
    experiment "uniform, 'command(run=\"sh -c \\\"echo out; echo err >&2; exit 3\\\"\")'"
    "$NYSBENCH" run "$WORK/c.yaml" -j 2 -o "$WORK/whole" >/dev/null 2>&1 && status=0 || status=$?
    [ "$status" -eq 1 ] # the command's rows
    "$NYSBENCH" run "$WORK/c.yaml" -j 2 -o "$WORK/r" <&- >&- 2>&- && status=0 || status=$?
    [ "$status" -eq 1 ]
    [ ! -s "$WORK/r/.lock" ]
    cmp <(timeless "$WORK/whole/rows.csv") <(timeless "$WORK/r/rows.csv")
    run "$NYSBENCH" export "$WORK/r" --format json
    expect_status 0
    for closed in "<&-" ">&-" "2>&-"; do
        eval "'$NYSBENCH' run '$WORK/c.yaml' -j 2 --fresh -o '$WORK/r' $closed" >"$WORK/log" 2>&1 && status=0 ||
            status=$?
        [ "$status" -eq 1 ]
        [ ! -s "$WORK/r/.lock" ]
        cmp <(timeless "$WORK/whole/rows.csv") <(timeless "$WORK/r/rows.csv")
    done
}

@test "nobody reads the progress, or the output: the rows are finished" {
    experiment uniform
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/whole" >/dev/null
    py check_unread "$NYSBENCH" "$WORK"
    cmp <(timeless "$WORK/whole/rows.csv") <(timeless "$WORK/r/rows.csv")
    cmp <(timeless "$WORK/whole/rows.csv") <(timeless "$WORK/s/rows.csv")
    "$NYSBENCH" export "$WORK/r" 2>"$WORK/told" | head -1 >/dev/null
    [ ! -s "$WORK/told" ]
}

@test "a journal that a killed run left, where one may not write: told, and to be read where one may" {
    experiment uniform
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    py leave_journal "$WORK/r/results.sqlite"
    [ -s "$WORK/r/results.sqlite-journal" ]
    cp "$(realpath "$NYSBENCH")" "$WORK/nysbench"
    chmod 755 "$WORK" "$WORK/nysbench"
    chmod 555 "$WORK/r"
    cd "$WORK"
    as_user test -x "$WORK/nysbench" || skip "the folder for temporary files cannot be reached by another user"
    run as_user ./nysbench export r
    expect_status 1
    tell nysbench export r
    cp -r r mine
    chmod -R 777 mine
    run as_user ./nysbench export mine
    expect_status 0
    [ "$(grep -c ',ok,' <<<"$output")" -eq 12 ]
}

@test "no folder for temporary files, or a full one: the run ends and says so; with one it goes on, no row failed" {
    experiment "uniform, 'command(run=\"sh tests/cli/plugins/first.sh\")'"
    TMPDIR=$WORK/nosuch told run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 1
    [ "$("$NYSBENCH" export "$WORK/r" | grep -c ',failed,')" -eq 0 ]
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 0
    expect_rows "$WORK/r" "24 ok"
    experiment uniform
    local core="cores=command(run=\"sh -c 'cp A.npy X.npy'\", deterministic=true)"
    TMPDIR=$WORK/nosuch told run "$WORK/c.yaml" -q -o "$WORK/s" --set "$core"
    expect_status 1
    [ "$("$NYSBENCH" export "$WORK/s" | grep -c ',failed,')" -eq 0 ]
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/s" --set "$core"
    expect_status 0
    expect_rows "$WORK/s" "6 ok"
}

@test "a full file system for temporary files; a command that fills it itself has failed" {
    [ "$(id -u)" = 0 ] || skip "only root can mount a tmpfs"
    mkdir "$WORK/tmp"
    mount -t tmpfs -o size=64k none "$WORK/tmp" || skip "no tmpfs can be mounted here"
    experiment "uniform, 'command(run=\"sh tests/cli/plugins/first.sh\")'"
    cat /dev/zero >"$WORK/tmp/full" 2>/dev/null || true
    TMPDIR=$WORK/tmp "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >"$WORK/log" 2>&1 && status=0 || status=$?
    output=$(cat "$WORK/log")
    rm "$WORK/tmp/full"
    experiment "uniform, 'command(run=\"sh -c \\\"cat /dev/zero >x\\\"\")'"
    TMPDIR=$WORK/tmp "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 -o "$WORK/filled" >"$WORK/filled.log" 2>&1 && filled=0 ||
        filled=$?
    umount "$WORK/tmp"
    expect_status 1
    output=$(grep -o ' No space .*' <<<"$output") tell nysbench run
    [ "$("$NYSBENCH" export "$WORK/r" | grep -c ',failed,')" -eq 0 ]
    [ "$filled" -eq 1 ]
    expect_rows "$WORK/filled" "12 ok, 12 failed"
}

@test "a file system with room for a program's question but not for its answer: no row is failed" {
    [ "$(id -u)" = 0 ] || skip "only root can mount a tmpfs"
    mkdir "$WORK/tmp"
    mount -t tmpfs -o size=8k none "$WORK/tmp" || skip "no tmpfs can be mounted here"
    experiment "uniform, 'command(run=\"sh tests/cli/plugins/first.sh\")'"
    TMPDIR=$WORK/tmp "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 -o "$WORK/r" >"$WORK/log" 2>&1 && status=0 || status=$?
    output=$(cat "$WORK/log")
    umount "$WORK/tmp"
    expect_status 1
    output=$(grep '^nysbench: error' <<<"$output") tell nysbench run
    [ "$("$NYSBENCH" export "$WORK/r" | grep -c ',failed,')" -eq 0 ]
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 0
    expect_rows "$WORK/r" "24 ok"
}

@test "ps and top show workers, and so what they come from, by the program's name" {
    experiment "'command(run=\"sh -c \\\"cat /proc/\$PPID/comm >>$WORK/names; exit 3\\\"\")'"
    env -u OPENBLAS_NUM_THREADS -u OMP_NUM_THREADS "$NYSBENCH" run "$WORK/c.yaml" -q -j 2 \
        -o "$WORK/r" >/dev/null 2>&1 && status=0 || status=$?
    [ "$status" -eq 1 ] # the command's rows
    [ "$(sort -u "$WORK/names")" = "$(basename "$NYSBENCH")" ]
}

@test "no more processes: the run ends and says so, and no row is failed" {
    if sanitized; then skip "the sanitizer starts threads of its own"; fi
    [ "$(id -u)" = 0 ] || skip "this user has other processes, which come and go"
    AS_USER=61234 # who has none
    experiment "uniform, 'command(run=\"false\")'"
    cp "$(realpath "$NYSBENCH")" "$WORK/nysbench"
    mkdir "$WORK/here"
    chmod 755 "$WORK" "$WORK/nysbench"
    chmod 777 "$WORK/here"
    cd "$WORK"
    as_user test -x "$WORK/nysbench" || skip "the folder for temporary files cannot be reached by another user"
    mine=$(as_user sh -c 'ps -u $(id -u) -L -o pid= | wc -l') # with sh, ps and wc themselves
    for more in 0 1; do
        TMPDIR=$WORK/here OPENBLAS_NUM_THREADS=1 run as_user bash -c 'ulimit -u "$0" && exec "$@"' \
            $((mine - 2 + more)) ./nysbench run c.yaml -q -j 1 -o "here/r$more"
        [ "$status" -ne 0 ]
        # NOLINT(wording): which of the two is told is chance
        expect "a process cannot be started: Resource temporarily unavailable" || expect "exit status 126"
        [ ! -s "here/r$more/rows.csv" ]
        [ ! -s "here/r$more/results.sqlite" ] || [ "$("$NYSBENCH" export "here/r$more" | grep -c ',failed,')" -eq 0 ]
    done
}

@test "-ffast-math and its parts are refused, and the program's bytes do not tell where it was built" {
    printf '#include "base/ctx.h"\n' >"$WORK/x.c"
    cc -O2 -Isrc -c "$WORK/x.c" -o "$WORK/x.o"
    for flag in -ffast-math -Ofast -ffinite-math-only; do
        run cc $flag -Isrc -c "$WORK/x.c" -o "$WORK/x.o"
        [ "$status" -ne 0 ]
        expect "-ffast-math"
    done
    run grep -c "$PWD" "$(realpath "$NYSBENCH")"
    expect_status 1
}

@test "POSIXLY_CORRECT: options stand behind arguments all the same, and programs that are called still have it" {
    printf 'env >%q\nexit 3\n' "$WORK/environment" >"$WORK/program.sh"
    config <<Y
problems: gaussian(n=32, d=4)
strategies: [uniform, 'command(run="sh $WORK/program.sh")']
cores: svd
landmarks: 4
Y
    POSIXLY_CORRECT=1 told run "$WORK/c.yaml" --out "$WORK/r" -q
    expect_status 1 # the program's rows
    grep -qx POSIXLY_CORRECT=1 "$WORK/environment"
    POSIXLY_CORRECT=1 run "$NYSBENCH" status "$WORK/r" --format csv
    expect "run,done,"
}
