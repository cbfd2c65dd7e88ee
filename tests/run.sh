#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs all tests of all runners, each of which speaks TAP, and sums them up, what
# failed once more before. A runner that ends badly without a failed test counts
# as one. From the repository's root: tests/run.sh [tree|unit|fuzz|cli|browser|oracle|python|asan|asan_rest|kernels]...
set -u
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cpus=$(nproc) number=0

# run_one FOLDER NAME COMMAND...: prints the failures, counts the rest.
run_one() {
    local folder=$1 name=$2 started=$SECONDS ok bad skip code
    shift 2
    "$@" >"$folder/out" 2>"$folder/err"
    code=$?
    skip=$(grep -cE '^(not )?ok .*# *[Ss][Kk][Ii][Pp]' "$folder/out") # cmocka's begin with "not"
    ok=$(grep -E '^ok ' "$folder/out" | grep -cvE '# *[Ss][Kk][Ii][Pp]')
    bad=$(grep -E '^not ok ' "$folder/out" | grep -cvE '# *[Ss][Kk][Ii][Pp]')
    {
        if [ "$bad" -gt 0 ] || [ "$code" -ne 0 ]; then
            [ "$bad" -gt 0 ] || { bad=1; echo "$name: exit status $code"; }
            grep -vE '# *[Ss][Kk][Ii][Pp]' "$folder/out" | sed -n '/^not ok/,/^ok/p' | grep -v '^ok' | head -100
            tail -50 "$folder/err"
        elif [ "$((ok + skip))" -eq 0 ]; then
            echo "$name: ran no test"
            bad=1
        fi
        echo "$name: $ok passed, $bad failed, $skip skipped, $((SECONDS - started)) s"
    } >"$folder/report"
    echo "$ok $bad $skip" >"$folder/counts"
    cat "$folder/report"
}

# tally NAME COMMAND...: as many at a time as there are CPUs.
tally() {
    while [ "$(jobs -rp | wc -l)" -ge "$cpus" ]; do wait -n; done
    number=$((number + 1))
    mkdir "$work/$number"
    run_one "$work/$number" "$@" &
}

# without "WORD..." WORD...: the others, but for those.
without() {
    local not=" $1 " word
    shift
    for word; do [[ $not == *" $word "* ]] || echo "$word"; done
}

# longest_first "WORD..." WORD...: so that no CPU waits for another at the end.
longest_first() {
    echo "$1"
    without "$@"
}

unit_tests=$(longest_first "test_conformance test_engine test_convergence test_workers" \
    $(cd tests/conformance && ls test_*.c | sed 's/\.c$//') $(cd tests/unit && ls test_*.c | sed 's/\.c$//'))
cli_tests=$(longest_first "plugins.bats forward.bats surroundings.bats isolation.bats cost.bats together.bats serve.bats effect.bats" \
    $(cd tests/cli && ls *.bats))

# Checks of the sources alone.
tree() {
    tally architecture tests/architecture.py
    tally mutants tests/mutants/mutants.py check
}

unit() { # FOLDER LABEL TEST...; with one BLAS thread, as workers have
    local folder=$1 label=$2 test
    shift 2
    for test; do CMOCKA_MESSAGE_OUTPUT=TAP OPENBLAS_NUM_THREADS=1 tally "$label$test" "$folder/tests/$test"; done
}

# What fuzzing has found: every kept input once more.
fuzz() { # FOLDER LABEL
    local name
    for name in config spec npy safetensors; do
        tally "$2fuzz $name" "$1/tests/fuzz_$name" tests/fuzz/corpus/"$name"/*
    done
}

cli() { # PROGRAM LABEL FILE...
    local program=$1 label=$2 file
    shift 2
    for file; do NYSBENCH=$program tally "$label$file" bats --tap "tests/cli/$file"; done
}

# What the program writes for a browser, in one.
browser() {
    tally "browser report.py" /usr/bin/python3 tests/browser/report.py ./nysbench "$work/browser"
}

oracle() { # each NAME.py with the program and a new folder
    local script
    for script in tests/oracle/*.py; do
        tally "oracle $(basename "$script")" env OPENBLAS_NUM_THREADS=1 /usr/bin/python3 "$script" ./nysbench "$work/$(basename "$script" .py)"
    done
}

# The Python package, from a wheel, with the kernels of OpenBLAS that the program has: the same bits.
python() {
    local script used
    if ! tests/python.sh "$work/python" >"$work/wheel" 2>&1; then
        tally "python wheel" sh -c 'cat "$1" >&2; false' sh "$work/wheel"
        return
    fi
    used=$(./nysbench info | sed -n 's/^blas_kernels  *//p')
    for script in tests/python/test_*.py; do
        tally "python $(basename "$script")" env OPENBLAS_CORETYPE="$used" "$work/python/bin/python" "$script"
    done
}

# Under the sanitizers a part of the tests takes most of the time: asan_rest is for tests/long.sh. What reads what others
# wrote, keeps rows and talks to processes is in asan.
asan_unit_rest="test_conformance test_convergence test_engine"
asan_cli="bad_input.bats config.bats run.bats resume.bats shards.bats select.bats"

# sanitized COMMAND...: leaks are looked for too; gnuplot and shells that the tests start are not sanitized.
sanitized() {
    ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1 "$@"
}

asan() {
    sanitized cli "$PWD/build/asan/nysbench" "asan " $asan_cli
    sanitized unit build/asan "asan " $(without "$asan_unit_rest" $unit_tests)
    sanitized fuzz build/asan "asan "
}

asan_rest() {
    sanitized unit build/asan "asan " $asan_unit_rest
    sanitized cli "$PWD/build/asan/nysbench" "asan " $(without "$asan_cli" $cli_tests)
}

# OpenBLAS's kernels that this CPU runs, but those in use, which the other parts have.
kernels_other() {
    local used
    used=$(./nysbench info | sed -n 's/^blas_kernels  *//p')
    (NYSBENCH=$PWD/nysbench && . tests/cli/helpers.bash && kernels_here) | grep -vx "$used"
}

# What depends on the last bits, under these kernels; a row's independence of its company is tested under all of them by
# tests/cli/together.bats.
kernels() { # NAME...
    local name test
    for name; do
        for test in ${KERNEL_UNIT:-test_together test_engine test_linalg test_cores test_sweep test_kernels}; do
            CMOCKA_MESSAGE_OUTPUT=TAP tally "$name $test" env OPENBLAS_CORETYPE="$name" OPENBLAS_NUM_THREADS=1 "build/tests/$test"
        done
        for test in ${KERNEL_CLI:-select}; do
            NYSBENCH=$PWD/nysbench tally "$name $test.bats" env OPENBLAS_CORETYPE="$name" bats --tap "tests/cli/$test.bats"
        done
    done
}

for part in "${@:-all}"; do
    case $part in
    tree) tree ;;
    unit) unit build "" $unit_tests ;;
    fuzz) fuzz build "" ;;
    cli) cli "$PWD/nysbench" "" $cli_tests ;;
    browser) browser ;;
    oracle) oracle ;;
    python) python ;;
    asan) asan ;;
    asan_rest) asan_rest ;;
    kernels) kernels $(kernels_other) ;;
    all)
        cli "$PWD/nysbench" "" $cli_tests
        unit build "" $unit_tests
        asan
        oracle
        python
        kernels $(kernels_other | head -1)
        browser
        fuzz build ""
        tree
        ;;
    *) echo "tests/run.sh: no part '$part'; allowed: tree, unit, fuzz, cli, browser, oracle, python, asan, asan_rest, kernels" >&2; exit 2 ;;
    esac
done
wait
[ "$(cat "$work"/*/counts | wc -l)" -eq "$number" ] || { echo "tests/run.sh: a runner was lost" >&2; exit 1; }
read -r passed failed skipped <<<"$(cat "$work"/*/counts | awk '{ p += $1; f += $2; s += $3 } END { print p, f, s }')"
for failure in $(grep -lvE '^[0-9]+ 0 ' "$work"/*/counts); do
    echo
    grep '^not ok' "${failure%counts}report"
    tail -20 "${failure%counts}report" | grep -v '^not ok'
done
summary="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || summary="$summary, $skipped skipped"
echo "$summary"
[ "$failed" -eq 0 ]
