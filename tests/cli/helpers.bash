# SPDX-License-Identifier: GPL-3.0-or-later
# What the command-line tests share. NYSBENCH is the program under test.

REPOSITORY=$PWD
ASTRONAUT=experiments/data/vit_astronaut_n257_L6.safetensors # 3 heads of a ViT

setup() {
    NYSBENCH=${NYSBENCH:-$PWD/nysbench}
    WORK=$(mktemp -d)
    unset COLUMNS # tables have any width, and --help the usual one
}

teardown() {
    local code=0
    golden || code=1
    rm -rf "$WORK"
    return "$code"
}

# Runs the program as `run` does. What it says is golden: the commands and outputs of a test are its section of
# tests/golden/messages/FILE.txt, which `tests/golden.sh --renew FILE` writes anew.
told() {
    run "$NYSBENCH" "$@"
    tell nysbench "$@"
}

# As told, of a command that answers: its messages alone are golden.
warned() {
    run "$NYSBENCH" "$@"
    output=$(grep '^nysbench: ' <<<"$output") tell nysbench "$@"
}

# What matches in files, each match a line, is golden: quoted PATTERN FILE...
quoted() {
    output=$(grep -ohE -- "$@") status=0 tell grep "$@"
}

# Why rows of a run have no result is golden, each reason once: reasons RUN
reasons() {
    output=$(of_csv "$1/rows.csv" 'print(*sorted({row["status"] + ": " + row["reason"] for row in rows
    if row["reason"] and row["status"] != "ok"}), sep="\n")') status=0 tell reasons "$1"
}

# Why lines of compare have no verdict is golden, and how many lines: no_verdicts RUN [OPTION of compare]...
no_verdicts() {
    output=$(of_json 'print(*sorted(line["why"] for line in x if line["why"]), sep="\n")' "$NYSBENCH" compare "$@" |
        grep . | uniq -c) status=0 tell no_verdicts "$@"
}

# Adds $output and $status, as `run` leaves them, to what is golden: tell WORD..., those of the command
tell() {
    local word
    {
        printf '$'
        for word in "$@"; do
            [[ "$word" =~ ^[A-Za-z0-9_./:=,%+-]+$ ]] || word=${word@Q}
            printf ' %s' "$word"
        done
        printf '\n'
        [ -z "$output" ] || printf '%s\n' "$output"
        [ "${status:-0}" -eq 0 ] || echo "exit status $status"
        echo
    } | sed -e "s|$(readlink -f "${NYSBENCH:-nysbench}")|nysbench|g; s|${NYSBENCH:-nysbench}|nysbench|g" \
        -e "s|$WORK|/WORK|g; s|$BATS_FILE_TMPDIR|/FILES|g; s|$REPOSITORY|/TREE|g" |
        sed -E -f "$REPOSITORY/tests/support/told.sed" >>"$BATS_TEST_TMPDIR/told"
}

# What `check`, which has just run, says of each check is golden; which allocation is the first to be missed depends on
# the libraries: tell_verdicts WORD..., those of the command
tell_verdicts() {
    output=$(grep -E '^(PASS|FAIL|SKIP) ' <<<"$output" |
        sed 's/allocation [0-9]* failed/allocation # failed/') tell "$@"
}

# Whether what a test has told, if it has come to its end and was not skipped, is what it told before.
golden() {
    local name file now=${BATS_TEST_TMPDIR:-}/told
    [ "${BATS_TEST_COMPLETED:-}" ] && [ -z "${BATS_TEST_SKIPPED:-}" ] || return 0
    name=$(basename "$BATS_TEST_FILENAME" .bats)
    file=$REPOSITORY/tests/golden/messages/$name.txt
    [ -e "$now" ] || now=/dev/null
    if [ "${GOLDEN:-}" = renew ]; then
        [ ! -e "$file" ] && [ "$now" = /dev/null ] ||
            "$REPOSITORY/tests/support/section.sh" put "$file" "$BATS_TEST_DESCRIPTION" "$now"
    elif [ -e "$file" ] || [ "$now" != /dev/null ]; then
        diff -u --label "${file#"$REPOSITORY"/}" --label now \
            <("$REPOSITORY/tests/support/section.sh" get "$file" "$BATS_TEST_DESCRIPTION") "$now" ||
            { echo "if that is meant, tests/golden.sh --renew $name, and commit what it writes"; return 1; }
    fi
}

# The Python of a test file: functions of a program of its own: py FUNCTION ARGUMENT...
py() {
    /usr/bin/python3 "$(py_file)" "$@" </dev/null
}

# What the Python of a test file prints is golden: py_tells FUNCTION ARGUMENT...
py_tells() {
    output=$(py "$@")
    status=0 tell py "$1"
}

py_file() {
    echo "$BATS_TEST_DIRNAME/../support/cli/for_$(basename "$BATS_TEST_FILENAME" .bats).py"
}

# What a command writes to a terminal of that width, with its status: on_terminal COLUMNS COMMAND...
on_terminal() {
    /usr/bin/python3 -SE "$BATS_TEST_DIRNAME/../support/on_terminal.py" "$@"
}

# The run's rows without the columns that hold times.
timeless() {
    /usr/bin/python3 -SE "$BATS_TEST_DIRNAME/../support/timeless.py" "$1"
}

# A config with one key replaced: config KEY 'LINE...' writes $WORK/c.yaml.
config() {
    cat >"$WORK/c.yaml"
}

expect_status() {
    [ "$status" -eq "$1" ] || { echo "exit status $status, expected $1; output:"; echo "$output"; return 1; }
}

# The lines of $output as they were before a plan was wrapped.
unwrap() {
    output=$(sed -e ':more' -e 'N;s/\n    / /;t more' -e 'P;D' <<<"$output")
}

# Whether the program under test is built with the sanitizers.
sanitized() {
    grep -q __asan_init "$NYSBENCH"
}

# As a user to whom permissions and limits apply: root passes them by.
as_user() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid "${AS_USER:-65534}" --regid 65534 --clear-groups "$@"
    else
        "$@"
    fi
}

# What `make install` puts under /usr of the folder INSTALLED_TREE; tests/run.sh makes it once for all files.
installed() {
    export INSTALLED_TREE=${INSTALLED_TREE:-$BATS_FILE_TMPDIR/installed}
    [ -d "$INSTALLED_TREE/usr" ] || make -s install DESTDIR="$INSTALLED_TREE" PREFIX=/usr >/dev/null
}

# A plug-in from the source tree: build_plugin FILE.c FILE.so
build_plugin() {
    cc -std=c11 -D_GNU_SOURCE -I. -Isrc -Istrategies -Wall -Wextra -Wpedantic -Werror -shared -fPIC "$1" -o "$2"
}

# From here on gnuplot draws nothing: for tests that look at the data and scripts of figures alone.
undrawn() {
    mkdir "$WORK/undrawn"
    ln -s /bin/true "$WORK/undrawn/gnuplot"
    PATH="$WORK/undrawn:$PATH"
}

# Waits for a process in the background, which has to end so.
expect_end() { # PID STATUS
    status=0
    wait "$1" || status=$?
    [ "$status" -eq "$2" ] || { echo "exit status $status, expected $2"; return 1; }
}

# The words, with a blank between them, are somewhere in $output.
expect() {
    case "$output" in
    *"$*"*) ;;
    *) echo "expected: $*"; echo "output:"; echo "$output"; return 1 ;;
    esac
}

# These rows of a run ended so, in any order, and there are no others: expect_rows RUN '16 ok, 4 skipped'
expect_rows() {
    facts rows "$@"
}

# So many rows of a run are of the builds whose COLUMN of `info` begins so, and no others:
# expect_builds RUN COLUMN '64 BEGINNING, 32 ANOTHER'
expect_builds() {
    "$NYSBENCH" info "$1" --format json >"$WORK/info.json" || { echo "info ends with status $?"; return 1; }
    facts builds "$2" "$3" <"$WORK/info.json"
}

# A plan has these numbers, named as in its JSON: expect_plan 'rows=40 done=0 to_run=40' ARGUMENT... of plan
expect_plan() {
    "$NYSBENCH" plan "${@:2}" --format json >"$WORK/plan.json" || { echo "plan ends with status $?"; return 1; }
    facts numbers "$1" <"$WORK/plan.json"
}

# Asserts or prints something of `x`, what a command writes as JSON: of_json 'STATEMENT in Python' COMMAND...
of_json() {
    local file=${WORK:-$BATS_FILE_TMPDIR}/of.json # setup_file has no $WORK
    "${@:2}" --format json >"$file" || { echo "$2 ends with status $?"; return 1; }
    facts of "$1" <"$file"
}

facts() {
    /usr/bin/python3 -SE "$BATS_TEST_DIRNAME/../support/facts.py" "$@"
}

# Changes the store of a run by statements of SQL, or prints the rows that one answers: in_store RUN 'SQL'
in_store() {
    /usr/bin/python3 -SE "$BATS_TEST_DIRNAME/../support/store.py" "$1/results.sqlite" "$2"
}

# A head or layer of normal numbers, as a folder of .npy files: save_head FOLDER NAMES SHAPE [SEED [TYPE]], where NAMES
# are such as qkv, and SHAPE is such as 30,3.
save_head() {
    /usr/bin/python3 "$BATS_TEST_DIRNAME/../support/save_head.py" "$@"
}

# Asserts or prints something of `rows`, the lines of a CSV file as dictionaries: of_csv FILE.csv 'STATEMENT in Python'
of_csv() {
    /usr/bin/python3 -c "import csv, sys; rows = list(csv.DictReader(open(sys.argv[1], newline=''))); $2" "$1"
}

# Waits until a command succeeds, 20 s or UNTIL_S; a run that does not get there fails the test.
until_true() {
    local i
    for i in $(seq $((50 * ${UNTIL_S:-20}))); do
        if "$@"; then return 0; fi
        sleep 0.02
    done
    echo "in vain: $*"
    return 1
}

# The OpenBLAS kernels that this CPU can run, as OPENBLAS_CORETYPE names them. tests/run.sh asks too, without bats.
kernels_here() {
    local name
    for name in Nehalem Sandybridge Haswell Zen SkylakeX Cooperlake SapphireRapids; do
        if OPENBLAS_CORETYPE=$name "$NYSBENCH" info 2>/dev/null | grep -qx "blas_kernels  *$name"; then echo "$name"; fi
    done
}

# The components that the files of these folders are: a folder of cores has a core.c too, which is none.
components() {
    find "$@" -maxdepth 1 -name '*.c' -printf '%f\n' | sort |
        sed -E 's/\.c$//; /^(TEMPLATE|strategy|problem|kernel|core)$/d'
}

# described NAME: what describe says of it, on one line, as $output.
described() {
    run "$NYSBENCH" describe "$1"
    output=$(tr -s ' \n' ' ' <<<"$output")
}
