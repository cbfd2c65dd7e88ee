#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs all tests of all runners, each of which speaks TAP, and sums them up. A
# runner that ends badly without a failed test counts as one. From the
# repository's root: tests/run.sh [tree|unit|fuzz|cli|browser|oracle|python|asan|kernels]...
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

# Checks of the sources alone.
tree() {
    tally architecture tests/architecture.py
}

unit() { # FOLDER LABEL; conformance and engine, the longest, first; with one BLAS thread, as workers have
    local test
    for test in "$1"/tests/test_{c,e}* "$1"/tests/test_[!ce]*; do
        case $test in *.d) continue ;; esac
        CMOCKA_MESSAGE_OUTPUT=TAP OPENBLAS_NUM_THREADS=1 tally "$2$(basename "$test")" "$test"
    done
}

# What fuzzing has found: every kept input once more.
fuzz() { # FOLDER LABEL
    local name
    for name in config spec npy safetensors; do
        tally "$2fuzz $name" "$1/tests/fuzz_$name" tests/fuzz/corpus/"$name"/*
    done
}

cli() { # PROGRAM LABEL
    local file
    for file in tests/cli/*.bats; do NYSBENCH=$1 tally "$2$(basename "$file")" bats --tap "$file"; done
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

# Leaks are looked for too; gnuplot and shells that the tests start are not sanitized.
asan() {
    export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1
    unit build/asan "asan "
    fuzz build/asan "asan "
    cli "$PWD/build/asan/nysbench" "asan "
}

# What depends on the last bits, under each of OpenBLAS's kernels that this CPU runs but those in use, which the other
# parts have; a row's independence of its company is tested under all of them by tests/cli/together.bats.
kernels() {
    local NYSBENCH=$PWD/nysbench used name test
    used=$("$NYSBENCH" info | sed -n 's/^blas_kernels  *//p')
    for name in $(. tests/cli/helpers.bash && kernels_here); do
        [ "$name" != "$used" ] || continue
        for test in ${KERNEL_UNIT:-test_together test_engine test_linalg test_cores test_sweep test_kernels}; do
            CMOCKA_MESSAGE_OUTPUT=TAP tally "$name $test" env OPENBLAS_CORETYPE="$name" OPENBLAS_NUM_THREADS=1 "build/tests/$test"
        done
        for test in ${KERNEL_CLI:-select}; do
            NYSBENCH=$NYSBENCH tally "$name $test.bats" env OPENBLAS_CORETYPE="$name" bats --tap "tests/cli/$test.bats"
        done
    done
}

for part in "${@:-all}"; do
    case $part in
    tree) tree ;;
    unit) unit build "" ;;
    fuzz) fuzz build "" ;;
    cli) cli "$PWD/nysbench" "" ;;
    browser) browser ;;
    oracle) oracle ;;
    python) python ;;
    asan) asan ;;
    kernels) kernels ;;
    all) tree; unit build ""; fuzz build ""; oracle; python; browser; cli "$PWD/nysbench" ""; kernels; asan ;;
    *) echo "tests/run.sh: no part '$part'; allowed: tree, unit, fuzz, cli, browser, oracle, python, asan, kernels" >&2; exit 2 ;;
    esac
done
wait
[ "$(cat "$work"/*/counts | wc -l)" -eq "$number" ] || { echo "tests/run.sh: a runner was lost" >&2; exit 1; }
read -r passed failed skipped <<<"$(cat "$work"/*/counts | awk '{ p += $1; f += $2; s += $3 } END { print p, f, s }')"
summary="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || summary="$summary, $skipped skipped"
echo "$summary"
[ "$failed" -eq 0 ]
