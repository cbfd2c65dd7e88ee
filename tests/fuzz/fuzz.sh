#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Fuzzes each parser for so many seconds, two at a time, and says how far it came:
# tests/fuzz/fuzz.sh SECONDS [HARNESS]... . Begins with the kept inputs and writes into
# build/fuzz; what breaks a harness stays there, as crash-*, leak-*, oom-* or timeout-*.
# With KEEP=1, the inputs that together reach all that was reached replace the kept ones.
set -u
cd "$(dirname "$0")/../.."
seconds=$1
shift
[ "$#" -gt 0 ] || set -- config spec npy safetensors
export OPENBLAS_NUM_THREADS=1 ASAN_OPTIONS=quarantine_size_mb=8:detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1

# Names that chance would take long to find, as libFuzzer reads them.
words() {
    { ./nysbench list | awk '/^ /{print $1}'
      ./nysbench list | awk '/^ /{print $1}' | while read -r name; do
          ./nysbench describe "$name" | awk '/^ /{print $1 "="}'
      done
      printf '%s\n' name: question: seed: trials: landmarks: plugins: problems: kernels: strategies: baseline: \
          pairing: factors: cores: \
          metrics: rows: engine: precision: plots: blocks: exclude: zip: ' step ' '..' '2^' 'sample(' descr \
          fortran_order shape True False '<f8' '>f2' '|u1' __metadata__ dtype \
          data_offsets causal F16 BF16 F32 F64 I64; } | grep -v '["\\]' | sort -u | sed 's/.*/"&"/'
}

fuzz() { # HARNESS
    local name=$1 work=build/fuzz/$1 code
    mkdir -p "$work/corpus"
    "build/fuzz/tests/fuzz_$name" "$work/corpus" "tests/fuzz/corpus/$name" -dict=build/fuzz/words \
        -max_total_time="$seconds" -rss_limit_mb=256 \
        -timeout=25 -max_len=4096 -artifact_prefix="$work/" -print_final_stats=1 >"$work/log" 2>&1
    code=$?
    awk -v name="$name" -v code="$code" \
        '/ cov: /{for (i = 1; i < NF; i++) {if ($i == "cov:") edges = $(i + 1); if ($i == "corp:") inputs = $(i + 1)}}
        /number_of_executed_units/{n = $2} /peak_rss_mb/{peak = $2}
        END {printf "%s: %d executions, %d edges, %s inputs, peak %d MB, exit status %d\n",
            name, n, edges, inputs, peak, code}' "$work/log"
    [ "$code" -eq 0 ] || { tail -40 "$work/log"; return 1; }
    [ "${KEEP:-0}" = 1 ] || return 0
    rm -rf "$work/kept"
    mkdir "$work/kept"
    "build/fuzz/tests/fuzz_$name" -set_cover_merge=1 "$work/kept" "$work/corpus" \
        "tests/fuzz/corpus/$name" >"$work/merge.log" 2>&1 || { tail -20 "$work/merge.log"; return 1; }
    rm -rf "tests/fuzz/corpus/$name"
    cp -r "$work/kept" "tests/fuzz/corpus/$name"
}

mkdir -p build/fuzz
words >build/fuzz/words
bad=0 running=0
for name in "$@"; do
    if [ "$running" -eq 2 ]; then wait -n || bad=1; running=1; fi
    fuzz "$name" &
    running=$((running + 1))
done
while [ "$running" -gt 0 ]; do wait -n || bad=1; running=$((running - 1)); done
exit "$bad"
