#!/usr/bin/env bash
# The tests that take minutes: thirty kills at random moments, then shards under Slurm
# and GNU parallel (Debian: slurm-wlm, munge, parallel), then both engines on every head
# that is given, then fuzzing: tests/long.sh [FOLDER OF .safetensors FILES]
set -u
cd "$(dirname "$0")/.."
. tests/cli/helpers.bash # timeless
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 passed=0
check() { # NAME COMMAND...
    local name=$1
    shift
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "failed: $name"; fi
}

options=(experiments/00-smoke.yaml -q --set trials=60 --set "problems=gaussian(n=300, d=16)" --set plots=[])
./nysbench run "${options[@]}" -o "$work/whole" >/dev/null
for _ in $(seq 30); do
    ./nysbench run "${options[@]}" -o "$work/cut" >/dev/null 2>&1 &
    sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
    kill -KILL $! 2>/dev/null
    wait $! 2>/dev/null
done
./nysbench run "${options[@]}" -o "$work/cut" >/dev/null
timeless "$work/whole/rows.csv" >"$work/whole.txt"
timeless "$work/cut/rows.csv" >"$work/cut.txt"
check "the rows after 30 kills" cmp "$work/whole.txt" "$work/cut.txt"

# All unit and most command-line tests under every kernel of OpenBLAS that this CPU runs.
check "every kernel" env KERNEL_UNIT="$(cd build/tests && ls test_* | grep -v '\.d$')" KERNEL_CLI="run isolation select workers cores kernels sweeps" \
    tests/run.sh kernels

# Shards under Slurm and under GNU parallel; where one is not there bats says so.
for file in tests/cluster/*.bats; do
    check "$file" bats "$file"
done

# The engines on one head file: the same errors but for what both estimate as their rounding.
agree() { # FILE
    local engine
    for engine in streamed direct; do
        ./nysbench run experiments/00-smoke.yaml -q --fresh -o "$work/$engine" --set trials=1 --set landmarks=[1,16,64] \
            --set "problems=heads(file=$1)" --set metrics=output_error --set plots=[] --set "engine=$engine" >/dev/null || return 1
    done
    /usr/bin/python3 - "$work" <<'PY'
import csv, sys
streamed, direct = (list(csv.DictReader(open(f"{sys.argv[1]}/{engine}/rows.csv", newline=""))) for engine in ("streamed", "direct"))
assert len(streamed) == len(direct) > 0
for s, d in zip(streamed, direct):
    assert s["status"] == d["status"] in ("ok", "skipped"), (s, d)
    for column in ("error", "error_subspace", "output_error") if s["status"] == "ok" else ():
        a, b, noise = float(s[column]), float(d[column]), 100 * (float(s["error_noise"]) + float(d["error_noise"]))
        assert abs(a - b) <= 1e-11 * b + noise * (1 + (b > 1) * b) + 1e-14, (column, s, d)
PY
}

for file in "${1:-/nonexistent}"/*.safetensors; do
    [ -e "$file" ] || continue
    check "$file" agree "$file"
done
# Ten minutes for each parser, two at a time.
if command -v clang >/dev/null; then check "fuzzing" make -s fuzz FUZZ_SECONDS="${FUZZ_SECONDS:-600}"; else echo "fuzzing: skipped, clang is not installed"; fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
