#!/usr/bin/env bash
# What a user waits for: rows a second of the card's cells on synthetic heads of
# growing n, beside the rate of a plain matrix product in the same minute, since
# machines differ and are shared. From the repository's root.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gemm() {
    OPENBLAS_NUM_THREADS=1 /usr/bin/python3 - <<'PY'
import numpy, time
a = numpy.random.default_rng(1).standard_normal((1024, 1024))
times = []
for _ in range(5):
    start = time.perf_counter()
    a @ a
    times.append(time.perf_counter() - start)
print(f"{2 * 1024**3 / min(times) / 1e9:.1f}")
PY
}
printf '%6s %6s %10s %12s %10s\n' n rows seconds rows/second GF/s
for n in 256 512 1024; do
    rate=$(gemm)
    start=$(date +%s.%N)
    ./nysbench run experiments/01-error-vs-landmarks.yaml -q --out "$work/$n" --set "problems=gaussian(n=$n, d=64)" --set trials=1 --set plots=[] >/dev/null
    end=$(date +%s.%N)
    awk -v n="$n" -v rate="$rate" -v s="$start" -v e="$end" 'BEGIN { printf "%6d %6d %10.2f %12.1f %10s\n", n, 64, e - s, 64 / (e - s), rate }'
done
