# SPDX-License-Identifier: GPL-3.0-or-later
# What a run shows while it goes on. These tests wait nearly all of their time: strategies sleep, so that a run is long
# enough to be watched on any machine.

load helpers

setup_file() {
    build_plugin tests/cli/plugins/naps.c "$BATS_FILE_TMPDIR/naps.so"
}

# napping TRIALS: an experiment that sleeps for 25 ms in each trial.
napping() {
    config <<Y
problems: gaussian(n=40, d=4)
strategies: naps
cores: svd
landmarks: 4
trials: $1
metrics: error
plots: []
Y
}

nap() { # FOLDER OPTION...
    "$NYSBENCH" run "$WORK/c.yaml" -j 1 --plugin "$BATS_FILE_TMPDIR/naps.so" -o "$WORK/$1" "${@:2}"
}

# Standard error is a terminal for a program that pty.spawn starts.
on_terminal() { # PROGRAM WORD...
    TERM=xterm /usr/bin/python3 \
        -SEc 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$@"
}

nap_on_terminal() { # FOLDER OPTION...
    on_terminal "$NYSBENCH" run "$WORK/c.yaml" -j 1 --plugin "$BATS_FILE_TMPDIR/naps.so" -o "$WORK/$1" "${@:2}"
}

@test "progress in a log: a line each tenth at most, the last at 100 %; none with --quiet" {
    napping 60 # the rows are stored fifteen times
    nap r >/dev/null 2>"$WORK/log"
    [ "$(grep -c ' %, ' "$WORK/log")" -le 10 ]
    [ "$(grep -c ' %, ' "$WORK/log")" -ge 3 ]
    output=$(grep ' %, ' "$WORK/log" | sed -n '$s/^nysbench: //p') status=0 tell nysbench run
    nap r --set trials=2 --fresh -q >/dev/null 2>"$WORK/log"
    [ ! -s "$WORK/log" ]
}

@test "progress on a terminal: a bar; with NO_COLOR lines" {
    napping 2
    run nap_on_terminal r
    expect_status 0
    expect $'\e[K[##############################] 100 %, '
    NO_COLOR=1 run nap_on_terminal r --fresh
    expect_status 0
    [[ "$output" != *"[#"* ]]
    output=$(tr -d '\r' <<<"$output" | grep -o '100 %.*') tell NO_COLOR=1 nysbench run
}

# drawn_within WIDTH FILE: at least three drawings, whose bars are narrower. A drawing goes on from \r to \r, and the
# terminal adds the \r of a line's end.
drawn_within() {
    sed 's/\x1b\[[?0-9]*[A-Za-z]//g' "$2" | tr '\r' '\n' | grep ' %, ' |
        awk -v width="$1" 'length($0) >= width { print; bad = 1 } END { exit bad || NR < 3 }'
}

@test "progress fits into the terminal, whatever its width" {
    napping 50
    local width pids=()
    for width in 80 60 30; do
        COLUMNS=$width nap_on_terminal $width >"$WORK/$width.log" 2>&1 3>&- &
        pids+=($!)
    done
    # what the terminal says of itself counts without COLUMNS
    on_terminal sh -c 'stty cols 50 <&2; exec "$@"' sh "$NYSBENCH" run "$WORK/c.yaml" -j 1 \
        --plugin "$BATS_FILE_TMPDIR/naps.so" -o "$WORK/50" >"$WORK/50.log" 2>&1 3>&- &
    pids+=($!)
    for pid in "${pids[@]}"; do expect_end "$pid" 0; done
    for width in 80 60 50 30; do
        grep -q "100 %" "$WORK/$width.log"
        drawn_within $width "$WORK/$width.log"
    done
}

# slow N...: an experiment on as many tokens, of which each takes one of two workers 0.4 s at a strategy in each of
# TRIALS, by default two.
slow() {
    printf 'sleep 0.4\nexit 1\n' >"$WORK/slow.sh"
    config <<Y
problems: gaussian(n=[$(IFS=,; echo "$*")], d=4)
strategies: [uniform, 'command(run="sh $WORK/slow.sh")']
cores: svd
landmarks: 8
trials: ${TRIALS:-2}
plots: []
Y
}

# on_screen FOLDER OPTIONS... -- OPTIONS OF run...: see terminal.py.
on_screen() {
    local folder=$1 options=()
    shift
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    /usr/bin/python3 -SE tests/support/terminal.py "${options[@]}" -- "$NYSBENCH" run "$WORK/c.yaml" --jobs 2 \
        -o "$WORK/$folder" "$@"
}

# screen OPTIONS... -- OPTIONS OF run...: status and output as of `run`.
screen() {
    run on_screen r "$@"
}

# After the last "---" of the output: the screen in the end.
at_end() {
    awk '/^---$/ { text = ""; last = 1; next } last { text = text $0 "\n" } END { printf "%s", text }' <<<"$output"
}

@test "on a terminal, the bar is drawn a few times a second, also while no row is done" {
    slow 40 41 42 43 44 45
    screen --size 120x24 --drawn 1 show --drawn 1 show --drawn 1 show --log "$WORK/drawn" --
    expect_status 1
    grep -qE '^\[[#.]+\] [0-9]+ %, [0-9]+ of 12 .* (left|predicted)$' <<<"$output"
    [ "$(at_end | grep -c ' %, ')" -eq 1 ]
    output=$(at_end | grep ' %, ') tell nysbench run
    awk '{ if (NR > 1 && $1 - before < 0.15) near += 1; before = $1 } END { exit NR < 5 || 2 * near > NR }' \
        "$WORK/drawn"
}

# one_bar ACTIONS...: whatever another size does to lines, there is one bar after Ctrl-C, nothing below it, and above it
# what stood there.
one_bar() {
    local how pids=()
    TRIALS=9 slow 40 41 42 43 44 45 46 47
    for how in cuts rewraps breaks; do
        # its warnings are said
        "$NYSBENCH" run "$WORK/c.yaml" -q --only 'strategy=uniform, trial=0' -o "$WORK/$how" 2>/dev/null
        on_screen $how --size 90x20 --resized $how "$@" --drawn 2 "type=^C" -- >"$WORK/$how.log" 2>&1 3>&- &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do expect_end "$pid" 130; done
    for how in cuts rewraps breaks; do
        output=$(cat "$WORK/$how.log")
        echo "$how"
        [ "$(at_end | grep -c ' %, ')" -eq 1 ]
        at_end | grep -B 1 ' %, ' | head -1 | grep -qE '(worker|memory)$' # the line of the prediction, perhaps cut
        output=$(at_end | tail -3 | grep '^nysbench: ') status=130 tell nysbench run
    done
}

@test "Ctrl-C and another size of the terminal leave one bar, and nothing below" {
    one_bar --drawn 2 size=40x20 --drawn 2 size=120x20
    slow 40 41 42
    screen --size 30x3 --drawn 2 show --
    expect_status 1
    [ "$(at_end | grep -c '100 %')" -eq 1 ]
}

@test "a terminal that was narrow while nothing was drawn has one bar" {
    one_bar --drawn 2 stop --drawn 0 size=40x20 --drawn 0 size=120x20 --drawn 0 signal=18
}

@test "a bar that was drawn for a wider terminal is one line, and gone with the next" {
    one_bar --drawn 2 late=40x20 --drawn 2 late=120x20
}

@test "warnings while the bar is up stand above it as whole lines: a worker is killed, the store is held" {
    slow 40 41 42 43
    # the first ends its worker, the others wait until the store is held
    cat >"$WORK/slow.sh" <<SH
[ -s '$WORK/r/results.sqlite' ] && mkdir '$WORK/once' 2>/dev/null && kill -KILL \$PPID
[ ! -e '$WORK/once' ] || until [ -e '$WORK/held' ]; do sleep 0.02; done
exit 1
SH
    /usr/bin/python3 -SE "$(py_file)" hold_store "$WORK" 3>&- &
    local reader=$!
    screen --size 250x24 --seen "waiting for it" "touch=$WORK/told" --
    wait "$reader"
    expect_status 1
    [ "$(at_end | grep -c ' %, ')" -eq 1 ]
    output=$(at_end | grep -E '^nysbench: warning: .*(killed|held)| %, ' | sed 's/ at gaussian.*: the/ at ...: the/' |
        LC_ALL=C sort) tell nysbench run
}

@test "a dumb terminal gets lines" {
    slow 40 41 42 43
    SCREEN_TERM=dumb screen -- --set "strategies=[uniform]"
    expect_status 0
    ! at_end | grep -F '[#' || return 1
    output=$(at_end | tr -d '\r' | grep -o '100 %.*') tell SCREEN_TERM=dumb nysbench run
}
