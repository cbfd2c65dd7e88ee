#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs the tests of all runners, each of which speaks TAP, and sums them up. What failed is printed again before the
# last line. A runner that ends badly without a failed test counts as one failure.
#
# From the repository's root, where `make test` has built what they need:
#     tests/run.sh [--help | PART...]   without a PART: those of `make test`
#     tests/run.sh --list [PART]...     the runners, one a line: part, name, command, separated by tabs; $WORK is a
#                                       folder
#
#   tree        checks of the sources alone
#   unit        unit tests: under ASan and UBSan, but for those that compare bits or time
#   conformance every component on a few heads
#   fuzz        the inputs that fuzzing has found
#   cli         the program; bad input and configs under ASan and UBSan
#   oracle      the same numbers from SciPy, scikit-learn and mpmath
#   python      the Python package, from a wheel
# and for tests/long.sh:
#   conformance_all  every component on all heads
#   plain       the unit tests of the build without sanitizers
#   asan_cli    all files of the part cli under ASan and UBSan
#   browser     what the program writes for a browser
#   kernels     all unit tests and most of the part cli under the other kernels of OpenBLAS
set -u
cd "$(dirname "$0")/.."
cpus=$(nproc)

# These compare the bits of the code that is shipped, or times, or wait for processes.
plain_unit="test_attentions test_blas test_prediction test_engine test_linalg test_stripe test_sweep test_together \
    test_workers"
asan_cli="bad_input config"
# Files that mostly wait for processes or for a clock: they run beside the others.
waiting="endings isolation progress resume surroundings workers test_server test_workers"
# The longest first, so that no CPU waits for another at the end.
longest="plugins forward cost together effect report test_engine test_convergence run paths"

# names FOLDER SUFFIX: the stems of its files, the longest to run first.
names() {
    local name all
    all=" $(cd "$1" && ls ./*"$2" | sed "s|^./||; s|$2$||" | tr '\n' ' ')"
    for name in $longest; do [[ $all != *" $name "* ]] || echo "$name"; done
    for name in $all; do [[ " $longest " == *" $name "* ]] || echo "$name"; done
}

# say PART NAME COMMAND: a runner.
say() { printf '%s\t%s\t%s\n' "$1" "$2" "$3"; }

asan_options="ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1"
unit_options="CMOCKA_MESSAGE_OUTPUT=TAP OPENBLAS_NUM_THREADS=1" # as workers have

unit() { # PART BUILD LABEL NAME
    case $2 in
    */asan) say "$1" "$3$4" "$asan_options $unit_options $2/tests/$4" ;;
    *) say "$1" "$3$4" "$unit_options $2/tests/$4" ;;
    esac
}

cli() { # PART LABEL NAME [VARIABLE=VALUE...]
    say "$1" "$2$3.bats" "${4:-NYSBENCH=\$PWD/nysbench} bats --tap tests/cli/$3.bats"
}

# OpenBLAS's kernels that this CPU runs, but those in use, which the other parts have.
other_kernels() {
    local used
    used=$(./nysbench info | sed -n 's/^blas_kernels  *//p')
    (NYSBENCH=$PWD/nysbench && . tests/cli/helpers.bash && kernels_here) | grep -vx "$used"
}

runners() { # PART
    local name kernel asan="$asan_options NYSBENCH=\$PWD/build/asan/nysbench"
    case $1 in
    tree)
        say tree architecture tests/checks/architecture.py
        say tree protocol tests/checks/protocol.py
        say tree mutants "tests/mutants/mutants.py check"
        ;;
    unit)
        for name in $(names tests/unit .c); do
            case " $plain_unit " in
            *" $name "*) unit unit build "" "$name" ;;
            *) unit unit build/asan "asan " "$name" ;;
            esac
        done
        ;;
    conformance)
        for name in strategy kernel core attention problem partition study; do
            say conformance "conformance $name" "$unit_options build/tests/test_conformance $name"
        done
        ;;
    fuzz)
        for name in config spec npy safetensors; do
            say fuzz "asan fuzz $name" "$asan_options build/asan/tests/fuzz_$name tests/fuzz/corpus/$name/*"
        done
        ;;
    cli)
        for name in $(names tests/cli .bats); do
            case " $asan_cli " in *" $name "*) cli cli "asan " "$name" "$asan" ;; *) cli cli "" "$name" ;; esac
        done
        ;;
    oracle)
        for name in $(names tests/oracle .py); do
            say oracle "oracle $name.py" \
                "OPENBLAS_NUM_THREADS=1 /usr/bin/python3 tests/oracle/$name.py ./nysbench \"\$WORK/$name\""
        done
        ;;
    python)
        for name in $(names tests/python .py); do
            case $name in test_*) say python "python $name.py" "tests/python.sh $name" ;; esac
        done
        ;;
    conformance_all)
        for name in strategy kernel core attention problem partition; do
            say conformance_all "conformance all $name" "$unit_options build/tests/test_conformance all $name"
        done
        ;;
    plain) for name in $(names tests/unit .c); do unit plain build "" "$name"; done ;;
    asan_cli) for name in $(names tests/cli .bats); do cli asan_cli "asan " "$name" "$asan"; done ;;
    browser)
        for name in report board; do
            say browser "browser $name.py" "/usr/bin/python3 tests/browser/$name.py ./nysbench \"\$WORK/$name\""
        done
        ;;
    kernels)
        for kernel in $(other_kernels); do
            for name in $(names tests/unit .c); do
                say kernels "$kernel $name" "OPENBLAS_CORETYPE=$kernel $unit_options build/tests/$name"
            done
            for name in run isolation select workers cores kernels sweeps; do
                cli kernels "$kernel " "$name" "OPENBLAS_CORETYPE=$kernel NYSBENCH=\$PWD/nysbench"
            done
        done
        ;;
    *) return 2 ;;
    esac
}

# Runs one line of the list: prints the failures, counts the rest.
run_one() {
    local name command folder started=$SECONDS ok bad skip code cpu
    IFS=$'\t' read -r _ name command <<<"$1"
    folder=$(mktemp -d -p "$WORK")
    (eval "$command") >"$folder/out" 2>"$folder/err" </dev/null
    code=$?
    times >"$folder/times"
    cpu=$(tail -1 "$folder/times" | tr 'ms' '  ' | awk '{ printf "%.1f", 60 * $1 + $2 + 60 * $3 + $4 }')
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
        echo "$name: $ok passed, $bad failed, $skip skipped, $((SECONDS - started)) s, CPU $cpu s"
    } >"$folder/report"
    echo "$ok $bad $skip" >"$folder/counts"
    cat "$folder/report"
}

if [ "${1:-}" = --help ]; then
    sed -n '3,/^set/{/^set/!s/^# \{0,1\}//p}' "$0"
    exit 0
fi
if [ "${1:-}" = --one ]; then
    run_one "$2"
    exit 0
fi
list=
[ "${1:-}" != --list ] || { list=yes; shift; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for part in "${@:-cli unit conformance oracle python fuzz tree}"; do
    for word in $part; do
        runners "$word" >>"$work/runners" || {
            echo "tests/run.sh: no part '$word'; its first lines say which there are" >&2
            exit 2
        }
    done
done
if [ "$list" ]; then
    cat "$work/runners"
    exit 0
fi

# What make install installs, once for all files that need it.
if grep -q '^cli' "$work/runners"; then
    export INSTALLED_TREE=$work/installed
    make -s install DESTDIR="$INSTALLED_TREE" PREFIX=/usr >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
fi

# pool WAITS: as many runners at a time as there are CPUs, of those that wait or of the others.
pool() {
    awk -F'\t' -v waits="$1" -v names=" $waiting " '{ n = $2; sub(/^.* /, "", n); sub(/[.][a-z]*$/, "", n) }
        (index(names, " " n " ") > 0) == waits' "$work/runners" |
        WORK=$work xargs -r -d '\n' -n 1 -P "$cpus" tests/run.sh --one
}
pool 1 &
pool 0
wait
[ "$(cat "$work"/*/counts | wc -l)" -eq "$(wc -l <"$work/runners")" ] ||
    { echo "tests/run.sh: a runner was lost" >&2; exit 1; }
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
