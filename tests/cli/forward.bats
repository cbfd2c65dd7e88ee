# SPDX-License-Identifier: GPL-3.0-or-later
# The forward study: layers of heads, times and memory that agree with each other, outputs against NumPy's, one worker
# alone, and what becomes of what fails.

load helpers

DATA=experiments/data
MINILM=$DATA/minilm_us-constitution_n512_L3.safetensors
SMOLLM=$DATA/smollm2_opticks_n1024_L15.safetensors

forward() { # MORE-LINES
    cat >"$WORK/f.yaml" <<YAML
study: forward
problems: ["gaussian(n=[60, 130], d=8)"]
heads: [1, 3]
attentions: [naive, streamed, "nystrom(landmarks=[4, 16])", "gpa(landmarks=4, refresh=10)"]
threads: [1, 2]
trials: 2
rounds: 2
plots: []
$1
YAML
}

# has_rows COUNT FOLDER: whether the store of a run has so many.
has_rows() {
    /usr/bin/python3 -c 'import sqlite3, sys
store = sqlite3.connect("file:" + sys.argv[2] + "/results.sqlite?mode=ro", uri=True)
sys.exit(store.execute("SELECT count(*) FROM results").fetchone()[0] < int(sys.argv[1]))' "$@" 2>/dev/null
}

# One run that several tests read, $BATS_FILE_TMPDIR/whole: layers of two sizes with one and two threads, and one head. What it
# said is in whole.txt. Most of its time goes into the product of matrices that every unit, a layer in a trial, is timed beside.
setup_file() {
    setup
    cat >"$BATS_FILE_TMPDIR/f.yaml" <<YAML
study: forward
attentions: [naive, streamed, "nystrom(landmarks=[4, 16])", "gpa(landmarks=4, refresh=10)"]
trials: 3
rounds: 2
plots: [latency, memory, speedup, front, parts]
claims: [{says: nystrom is faster, compare: {attention: ["nystrom(landmarks=4)", naive], metric: latency_s, where: {heads: 3}}, expect: {ratio: [null, 1]}},
         {says: outputs are exact, measure: {metric: output_error, where: {attention: naive}}, expect: {value: [null, 1e-5]}}]
blocks:
  - {problems: "gaussian(n=[60, 130], d=8)", heads: 3, threads: [1, 2]}
  - {problems: "gaussian(n=60, d=8)", heads: 1, threads: 1, trials: 1}
YAML
    "$NYSBENCH" run "$BATS_FILE_TMPDIR/f.yaml" -j 3 -o "$BATS_FILE_TMPDIR/whole" >"$BATS_FILE_TMPDIR/whole.txt" 2>&1 ||
        { cat "$BATS_FILE_TMPDIR/whole.txt" >&2; return 1; }
    teardown
}

# What identifies the rows, and what does not depend on the clock.
timeless_rows() {
    /usr/bin/python3 - "$1" <<'PY'
import csv, sys
keep = ("problem head heads attention threads trial status landmarks dv key_heads causal flops_formula "
        "workspace_formula_bytes output_error cosine mse max_error error_p99 rowsum_deviation seed").split()
for row in csv.DictReader(open(sys.argv[1], newline="")):
    if row["n"] == "60" and row["trial"] == "0": # the others may not have been run
        print([row[k] for k in keep])
PY
}

@test "one worker, whatever --jobs says; the same rows after a kill, and in parts" {
    undrawn
    forward
    run "$NYSBENCH" plan "$WORK/f.yaml" --jobs 8
    expect_status 0
    expect "with 1 worker"
    expect "exclusive: times are measured, so one worker runs, whatever --jobs says"
    expect "methods: 10 (attentions 5, threads 2)"
    expect "gaussian(n=130, d=8) head 0, heads 3: n = 130, d = 8, new data in each trial"
    local run=$BATS_FILE_TMPDIR/f.yaml first='n=60, trial=0'
    output=$(cat "$BATS_FILE_TMPDIR/whole.txt")
    expect "--jobs 3: the forward study measures times, which others disturb: one worker starts"
    expect "rows: 65, 65 ok"
    expect "Time and error by attention, on the same heads in the same trials"
    expect "$BATS_FILE_TMPDIR/whole: rows.csv, "
    run "$NYSBENCH" run "$run" -q -j 0 -o "$WORK/r" --only "$first, attention=nystrom, heads=3"
    expect_status 0
    expect "rows: 4, 4 ok"
    "$NYSBENCH" run "$run" -q --set trials=1000 -o "$WORK/r" --only n=60 >"$WORK/out" 2>&1 &
    until_true has_rows 5 "$WORK/r"
    kill -KILL $!
    expect_end $! 137
    run "$NYSBENCH" run "$BATS_FILE_TMPDIR/whole/resolved.yaml" -q -j 1 -o "$WORK/r" --only "$first"
    expect_status 0
    timeless_rows "$BATS_FILE_TMPDIR/whole/rows.csv" >"$WORK/whole.txt"
    [ "$(wc -l <"$WORK/whole.txt")" -eq 15 ]
    timeless_rows "$WORK/r/rows.csv" | diff "$WORK/whole.txt" -
}

@test "the columns of a row agree with each other" {
    forward "seconds: 0.02"
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r" --set rounds=auto --set trials=1 --set 'problems="gaussian(n=60, d=8)"'
    expect_status 0
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/cold" --set cold=true --set quality=false --set trials=1 --set heads=3 --set threads=1 \
        --set 'problems="gaussian(n=60, d=8)"'
    expect_status 0
    /usr/bin/python3 - "$WORK/r/rows.csv" "$WORK/cold/rows.csv" "$BATS_FILE_TMPDIR/whole/rows.csv" <<'PY'
import csv, math, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
assert len(rows) == 20 and all(int(r["repeats"]) >= 6 for r in rows)
rows += csv.DictReader(open(sys.argv[3], newline=""))
for r in rows:
    f = lambda k: float(r[k])
    close = lambda a, b: abs(a - b) <= 1e-12 * abs(b)
    name = r["attention"].split("(")[0]
    assert r["status"] == "ok" and f("latency_s") > 0, r
    assert close(f("tokens_per_s"), f("n") / f("latency_s")), r
    assert close(f("gflops_per_s"), 1e-9 * f("flops") / f("latency_s")), r
    assert close(f("gemm_share"), f("gflops_per_s") / f("gemm_gflops_per_s")), r
    parts = sum(f(k) for k in ("select_s", "core_s", "b_s", "f_s", "output_s"))
    assert 0 < parts <= f("latency_s") * (1 + 1e-9), r
    assert f("latency_min_s") <= f("latency_p10_s") <= f("latency_s") <= f("latency_p90_s"), r
    assert int(r["repeats"]) < 6 or f("latency_low_s") <= f("latency_s") <= f("latency_high_s"), r
    assert int(r["keeps"]) == (10 if name == "gpa" else 1), r
    assert close(f("amortized_s"), (f("fresh_s") + (f("keeps") - 1) * f("latency_s")) / f("keeps")), r
    assert name == "gpa" or r["fresh_s"] == r["latency_s"], r
    heads, n, d, landmarks = (int(r[k]) for k in ("heads", "n", "d", "landmarks"))
    assert landmarks == (0 if name in ("naive", "streamed") else 16 if "landmarks=16" in r["attention"] else 4), r
    if name in ("naive", "streamed"):
        assert r["workspace_bytes"] == r["workspace_formula_bytes"] and r["flops"] == r["flops_formula"], r
        assert f("flops") == 4 * heads * n * n * d and f("output_error") < 1e-5, r
    if name == "naive":
        assert f("workspace_bytes") == 4 * heads * n * n, r
    assert f("peak_bytes") > 4 * heads * n * d, r
    assert r["dv"] == r["d"] and r["key_heads"] == r["heads"] and r["causal"] == "0", r
    assert 0 <= f("output_error") and -1 <= f("cosine") <= 1 + 1e-9 and f("max_error") ** 2 >= f("mse"), r
    assert f("load") >= 0 and (f("load") > 0.2) == ("other programs used" in r["reason"]), r
cold = list(csv.DictReader(open(sys.argv[2], newline="")))
assert len(cold) == 5 and all(r["cold"] == "true" and r["quality"] == "false" and r["batch"] == "1" for r in cold)
assert all(r["output_error"] == r["rowsum_deviation"] == "" and float(r["latency_s"]) > 0 for r in cold)
# Threads change no bit of the outputs.
by = {}
for r in rows:
    key = tuple(r[k] for k in ("problem", "heads", "attention", "trial"))
    by.setdefault(key, set()).add((r["output_error"], r["max_error"], r["rowsum_deviation"]))
assert all(len(v) == 1 for v in by.values())
PY
}

@test "outputs are those of nysbench forward, and their errors NumPy's" {
    forward
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r" --set "problems=heads(file=$MINILM)" --set heads=0 --set threads=1 --set quality_rows=all \
        --set draws=shared # as `forward` draws
    expect_status 0
    expect "10 ok"
    for trial in 0 1; do
        for spec in naive "nystrom(landmarks=16)" "gpa(landmarks=4, refresh=10)"; do
            "$NYSBENCH" forward --head $MINILM --attention "$spec" --trial $trial -o "$WORK/$trial-${spec%%(*}.npy" >"$WORK/out"
        done
    done
    /usr/bin/python3 - "$WORK" $MINILM <<'PY'
import csv, json, struct, sys
import numpy as np
work, path = sys.argv[1:]
raw = open(path, "rb").read()
size, = struct.unpack("<Q", raw[:8])
header = json.loads(raw[8:8 + size])
types = {"F32": np.float32, "F16": np.float16, "F64": np.float64}
def tensor(name):
    t = header[name]
    a, b = t["data_offsets"]
    if t["dtype"] == "BF16":
        x = (np.frombuffer(raw[8 + size + a:8 + size + b], np.uint16).astype(np.uint32) << 16).view(np.float32)
    else:
        x = np.frombuffer(raw[8 + size + a:8 + size + b], types[t["dtype"]])
    return x.reshape(t["shape"]).astype(np.float32).astype(np.float64)
q, k, v = tensor("q"), tensor("k"), tensor("v")
s = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
s = np.exp(s - s.max(-1, keepdims=True))
exact = s / s.sum(-1, keepdims=True) @ v
rows = [r for r in csv.DictReader(open(f"{work}/r/rows.csv", newline=""))]
seen = 0
for r in rows:
    name = r["attention"].split("(")[0]
    if name == "streamed" or (name == "nystrom" and "landmarks=16" not in r["attention"]):
        continue
    out = np.load(f"{work}/{r['trial']}-{name}.npy").astype(np.float64)
    want = {"output_error": np.linalg.norm(out - exact) / np.linalg.norm(exact), "mse": ((out - exact) ** 2).mean(),
            "max_error": abs(out - exact).max(),
            "error_p99": np.quantile(np.linalg.norm(out - exact, axis=-1) / np.linalg.norm(exact, axis=-1), 0.99),
            "cosine": ((out * exact).sum(-1) / np.linalg.norm(out, axis=-1) / np.linalg.norm(exact, axis=-1)).mean()}
    for column, value in want.items():
        assert abs(float(r[column]) - value) <= 1e-8 * max(1, abs(value)), (r["attention"], column, r[column], value)
    assert r["head"] == "0" and int(r["heads"]) == len(q), r
    seen += 1
assert seen == 6, seen
PY
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/s" --set "problems=heads(file=$MINILM)" --set heads=0 --set threads=1 --set quality_rows=100 --set trials=1
    expect_status 0
    /usr/bin/python3 - "$WORK/r/rows.csv" "$WORK/s/rows.csv" <<'PY'
import csv, sys
whole, some = ({(r["attention"], r["trial"]): float(r["output_error"]) for r in csv.DictReader(open(p, newline=""))} for p in sys.argv[1:])
for key, error in some.items():
    assert error != whole[key] and abs(error / whole[key] - 1) < 0.3, (key, error, whole[key])
PY
}

@test "layers: inputs of a file, shared keys, one head, too few heads, drawn heads" {
    /usr/bin/python3 - "$WORK" <<'PY'
import numpy as np, os, sys
work = sys.argv[1]
rng = np.random.default_rng(1)
os.mkdir(f"{work}/batch")
for name, heads, d in (("q", 4, 8), ("k", 2, 8), ("v", 2, 6)):
    np.save(f"{work}/batch/{name}.npy", rng.normal(size=(2, heads, 20, d)).astype(np.float32))
os.mkdir(f"{work}/bare")
for name in "qk": np.save(f"{work}/bare/{name}.npy", rng.normal(size=(2, 20, 8)).astype(np.float32))
PY
    forward
    local only="--set threads=1 --set trials=1 --set attentions=[naive,streamed]"
    run "$NYSBENCH" plan "$WORK/f.yaml" $only --set "problems=heads(file=$WORK/batch)" --set heads=[0,2]
    expect_status 0
    expect "scenes: 4"
    expect "batch) head 4, heads 4: n = 20, d = 8"
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r" $only --set "problems=[heads(file=$WORK/batch), \"heads(file=$WORK/batch, head=5)\"]" --set heads=[0,2,3,4,5]
    expect_status 0
    expect "rows: 26, 14 ok, 12 skipped"
    expect "the input has fewer heads than that"
    /usr/bin/python3 - "$WORK/r/rows.csv" <<'PY'
import csv, sys
all_rows = list(csv.DictReader(open(sys.argv[1], newline="")))
rows = [r for r in all_rows if r["head"] != "5"]
assert len(rows) == 16 and {r["head"] for r in rows} == {"0", "4"}
for r in rows:
    assert (r["status"] == "skipped") == (r["heads"] == "5"), r
    if r["status"] == "ok":
        assert r["dv"] == "6" and r["key_heads"] == {"2": "1", "3": "3", "4": "2"}[r["heads"]], r
        assert float(r["output_error"]) < 1e-5, r
one = [r for r in all_rows if r["head"] == "5"]
assert len(one) == 10 and sum(r["status"] == "ok" for r in one) == 2
assert all((r["status"] == "ok") == (r["heads"] == "1") for r in one), one
PY
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/bare-run" --set "problems=heads(file=$WORK/bare)"
    expect_status 2
    expect "bare has no values (it has q, k); attention needs q, k and v"
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/queries" --set "problems=heads(file=$DATA/queries/vit_L6_q8.safetensors)"
    expect_status 2
    expect "attention needs q, k and v"
    # Of drawn heads the first is that of one head alone, so the error of one of three differs from it.
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/drawn" --set threads=1 --set trials=1 --set 'attentions=nystrom(landmarks=4)' --set 'problems="gaussian(n=60, d=8)"'
    expect_status 0
    /usr/bin/python3 - "$WORK/drawn/rows.csv" <<'PY'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
errors = {r["heads"]: r["output_error"] for r in rows}
assert len(rows) == len(errors) == 2 and len(set(errors.values())) == 2, errors
PY
}

@test "under a mask, attentions without a causal form are skipped; causal=false removes it" {
    forward
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r" --set "problems=\"heads(file=$SMOLLM, max_n=200)\"" --set heads=0 --set trials=1 --set threads=1
    expect_status 0
    expect "rows: 5, 2 ok, 3 skipped"
    expect "it has no causal form"
    run "$NYSBENCH" plan "$WORK/f.yaml" --set "problems=heads(file=$SMOLLM)" --set 'attentions=[nystrom, gpa]'
    expect_status 0
    expect "rows will be skipped: no attention has a form for these layers"
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/n" --set "problems=\"heads(file=$SMOLLM, max_n=200, causal=false)\"" --set heads=0 --set trials=1 --set threads=1
    expect_status 0
    expect "rows: 5, 5 ok"
    run "$NYSBENCH" plan "$WORK/f.yaml" --set threads=200
    expect "threads: 200, and "
}

# The study error has it in double precision from F X B, this one in single from passes with the identity beside V.
@test "error is that of the study error, only where metrics names it, and not of what chooses by all of V" {
    forward
    local causal="heads(file=$SMOLLM, max_n=300, head=2)" free="heads(file=$SMOLLM, max_n=300, head=2, causal=false)"
    local of="strategy=uniform(strided=true), landmarks=20"
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r" --set trials=1 --set threads=1 --set heads=1 --set 'metrics=[all, error]' \
        --set "problems=[\"$causal\", \"$free\"]" \
        --set "attentions=[streamed, \"nystrom($of, factors=cur, core=best)\", \"nystrom($of, core=svd)\", skip]"
    expect_status 0
    expect "rows: 8, 6 ok, 2 skipped"
    cat >"$WORK/e.yaml" <<YAML
problems: ["$causal", "$free"]
strategies: uniform(strided=true)
landmarks: 20
factors: [cur, nystromformer]
cores: [best, svd]
YAML
    run "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/e"
    expect_status 0
    /usr/bin/python3 - "$WORK/r/rows.csv" "$WORK/e/rows.csv" <<'PY'
import csv, sys
forward, error = ([r for r in csv.DictReader(open(p, newline="")) if r["status"] == "ok"] for p in sys.argv[1:])
want = {(r["problem"], r["factors"], r["core"].split("(")[0]): float(r["error"]) for r in error}
seen = 0
for r in forward:
    name = r["attention"].split("(")[0]
    if name == "skip":
        assert r["error"] == "" and "error is empty: with columns" in r["reason"] and r["output_error"], r
    elif name == "streamed":
        assert float(r["error"]) < 1e-5, r
    else:
        factors, core = (("cur", "best") if "factors=cur" in r["attention"] else ("nystromformer", "svd"))
        assert abs(float(r["error"]) / want[r["problem"], factors, core] - 1) < 1e-5, (r, want)
        seen += 1
assert seen == 3, seen
PY
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/n" --set trials=1 --set threads=1 --set heads=1 --set "problems=\"$free\"" \
        --set attentions=naive
    expect_status 0
    /usr/bin/python3 -c 'import csv, sys; r, = csv.DictReader(open(sys.argv[1], newline="")); assert r["error"] == "" and r["output_error"]' \
        "$WORK/n/rows.csv"
    run "$NYSBENCH" plan "$WORK/f.yaml" --set quality=false --set metrics=error
    expect_status 2
    expect "metrics: error needs quality: true"
}

@test "what is wrong in the file is said with its line" {
    local key value text
    while IFS='|' read -r key value text; do
        forward
        sed -i "/^$key:/d" "$WORK/f.yaml"
        echo "$key: $value" >>"$WORK/f.yaml"
        run "$NYSBENCH" plan "$WORK/f.yaml"
        expect_status 2
        expect "$WORK/f.yaml:$(grep -n "^$key:" "$WORK/f.yaml" | cut -d: -f1):"
        expect "$text"
    done <<'CASES'
attentions|[naiv]|no attention 'naiv'; did you mean 'naive'?
attentions|nystrom(landmarks=0)|landmarks
heads|-1|heads
threads|0|threads
seconds|-1|seconds
rounds|0|rounds
quality|maybe|quality
cold|2|cold
quality_rows|none|quality_rows
kernels|softmax|kernels
plots|error|error
CASES
    forward
    sed -i '/^attentions:/d' "$WORK/f.yaml"
    run "$NYSBENCH" plan "$WORK/f.yaml"
    expect_status 2
    expect "attentions"
}

@test "the figure front has intervals over sources; at_time names what is best at equal time, and how surely" {
    cat >"$WORK/f.yaml" <<'Y'
study: forward
problems: ["heads(file=experiments/data/panel/minilm_*.safetensors)"]
attentions: [streamed, "nystrom(landmarks=[4, 16])", longformer(window=8), "skeinformer(columns=16)", performer]
trials: 1
rounds: 1
plots: [front]
Y
    "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r" >/dev/null
    /usr/bin/python3 - "$WORK" <<'PY' # times that are the same everywhere
import sqlite3, sys
times = {"streamed": 1, "nystrom(strategy=segment_means, landmarks=4,": 1 / 60, "nystrom(strategy=segment_means, landmarks=16,": 1 / 14,
         "longformer": 1 / 30, "skeinformer": 1 / 5, "performer": 1 / 2}
store = sqlite3.connect(f"{sys.argv[1]}/r/results.sqlite")
for attention, s in times.items():
    assert store.execute("UPDATE results SET amortized_s = ? WHERE attention LIKE ?", (s, attention + "%")).rowcount == 8
store.commit()
PY
    "$NYSBENCH" plot "$WORK/r" front >/dev/null
    "$NYSBENCH" table "$WORK/r" at_time --format csv >"$WORK/at_time.csv"
    "$NYSBENCH" table "$WORK/r" at_time >"$WORK/at_time.txt"
    grep -qE "^  all-MiniLM.* 1 +256  1/50 +nystrom\(landmarks=4\) +60 .* - +- +- +- +-$" "$WORK/at_time.txt"
    /usr/bin/python3 - "$WORK" <<'PY'
import csv, math, sys
from scipy import stats
work = sys.argv[1]
read = lambda name: list(csv.DictReader(open(f"{work}/{name}", newline="")))
error = {}
for r in read("r/rows.csv"):
    error.setdefault(r["attention_label"], {})[r["source"]] = float(r["output_error"] or "nan")
assert {len(e) for e in error.values()} == {8}
geomean = lambda name: math.exp(sum(map(math.log, error[name].values())) / 8)
times = {"nystrom(landmarks=4)": 60, "nystrom(landmarks=16)": 14, "longformer(window=8)": 30, "skeinformer(columns=16)": 5}
lines = {round(1 / float(t["at_most"])): t for t in read("at_time.csv")}
assert list(lines) == [50, 25, 15, 8, 3]  # performer is too slow for all
for fraction, t in lines.items():
    fast = sorted((n for n, x in times.items() if x >= fraction), key=geomean)
    others = [n for n in fast if n.split("(")[0] != fast[0].split("(")[0]]
    assert t["attention"].startswith(fast[0].split("(")[0]) and math.isclose(float(t["error"]), geomean(fast[0]), rel_tol=1e-9), t
    assert math.isclose(float(t["times"]), times[fast[0]], rel_tol=1e-9), t
    if not others:
        assert t["second"] == t["ratio"] == t["ratio_low"] == "", t
        continue
    logs = [math.log(error[others[0]][s] / error[fast[0]][s]) for s in error[fast[0]]]
    mean, half = sum(logs) / 8, stats.t.ppf(0.975, 7) * stats.sem(logs)
    got = [float(t[k]) for k in ("second_error", "second_times", "ratio", "ratio_low", "ratio_high", "sources")]
    want = [geomean(others[0]), times[others[0]], *map(math.exp, (mean, mean - half, mean + half)), 8]
    assert all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(got, want)), (t, want)  # sums of eight
points = [p for p in read("r/plots/front.csv") if p["series"] not in ("streamed", "on the front")]
assert len(points) == 5
for p in points:
    middle = lambda e: sum(sorted(e.values())[3:5]) / 2
    mine = [e for e in error.values() if math.isclose(middle(e), float(p["median"]), rel_tol=1e-9)]
    assert len(mine) == 1 and p["sources"] == "8" and p["panel"].endswith(", 8 sources"), p
    # of eight, the least and the largest are the ends: the next ones cover at 0.93 alone
    assert (float(p["median_low"]), float(p["median_high"])) == (min(mine[0].values()), max(mine[0].values())), p
PY
}

@test "tables, figures, comparisons and claims are made of its rows" {
    cp -r "$BATS_FILE_TMPDIR/whole" "$WORK/r"
    for figure in latency_1_thread latency_2_threads memory_workspace_with_1_thread memory_resident_set_with_2_threads speedup_1_thread front_2_threads parts_1_thread; do
        [ -s "$WORK/r/plots/$figure.png" ] || { ls "$WORK/r/plots"; return 1; }
    done
    for table in latency slopes crossovers parts; do
        run "$NYSBENCH" table "$WORK/r" $table
        expect_status 0
        expect "gaussian"
    done
    run "$NYSBENCH" table "$WORK/r" latency
    grep -qE "gpa\(landmarks=4, refresh=10\) .* \(1\.1\) " <<<"$output" # the mean of V has 1
    ! grep -E "streamed .* \([0-9.]+\) " <<<"$output"
    "$NYSBENCH" table "$WORK/r" latency --format csv >"$WORK/latency.csv"
    cmp "$WORK/latency.csv" "$WORK/r/latency.csv"
    "$NYSBENCH" compare "$WORK/r" --metric latency_s --format json >"$WORK/compare.json"
    "$NYSBENCH" compare "$WORK/r" --by threads --metric latency_s --format csv >"$WORK/threads.csv"
    run "$NYSBENCH" claims "$WORK/r"
    expect_status 0
    expect "outputs are exact"
    /usr/bin/python3 - "$WORK" <<'PY'
import csv, json, math, statistics, sys
work = sys.argv[1]
rows = list(csv.DictReader(open(f"{work}/r/rows.csv", newline="")))
time = {tuple(r[k] for k in ("problem", "heads", "threads", "trial", "attention")): r for r in rows}
compared = json.load(open(f"{work}/compare.json"))
assert {x["setting_heads"] for x in compared} == {1, 3} and {x["threads"] for x in compared} == {1, 2}
assert {x["baseline"] for x in compared} == {"naive"}
for x in compared:
    if x["model"] == "all" or x["setting_heads"] != 3: continue
    logs = [math.log(float(r["latency_s"]) / float(time[key[:4] + ("naive",)]["latency_s"])) for key, r in time.items()
            if r["attention"] == x["method"] and r["heads"] == "3" and int(r["threads"]) == x["threads"]
            and r["problem"].startswith(x["model"].split(",")[0].rstrip(")"))]
    assert abs(statistics.mean(logs) - math.log(x["ratio"])) < 1e-9, x
table = list(csv.DictReader(open(f"{work}/latency.csv", newline="")))
assert len(table) == 2 * 2 * 5 + 5
for t in table:
    heads = "3" if "3 heads" in t["layers"] else "1"
    mine = [r for r in rows if r["heads"] == heads and r["n"] == t["n"] and r["threads"] == t["threads"] and r["attention"] == t["attention"]]
    assert len(mine) == int(heads) == int(t["rows"])  # 3 trials of 3 heads, one of one
    assert math.isclose(float(t["latency_s"]), statistics.median(float(r["latency_s"]) for r in mine))
    over = statistics.median(float(time[tuple(r[k] for k in ("problem", "heads", "threads", "trial")) + ("naive",)]["amortized_s"])
                             / float(r["amortized_s"]) for r in mine)
    assert math.isclose(float(t["speedup_over_naive"]), over), t
slopes = list(csv.DictReader(open(f"{work}/r/slopes.csv", newline="")))
naive = [s for s in slopes if s["attention"] == "naive"]
assert len(naive) == 2 and all(abs(float(s["workspace_slope"]) - 2) < 1e-9 for s in naive)
PY
    run "$NYSBENCH" table "$WORK/r" coherence
    expect_status 2
}

# eight FOLDER OPTIONS...: eight trials of drawn data, which are eight sources.
eight() {
    cat >"$WORK/eight.yaml" <<'YAML'
study: forward
problems: "gaussian(n=[60, 130], d=8)"
heads: 1
attentions: [naive, streamed, "nystrom(landmarks=[4, 16])", "gpa(landmarks=4)"]
trials: 8
rounds: 1
plots: []
YAML
    "$NYSBENCH" run "$WORK/eight.yaml" -o "$@"
}

# loaded FOLDER LOAD: as if other programs had used so many CPUs while its rows of trial 2 were timed, and none otherwise.
loaded() {
    /usr/bin/python3 - "$@" <<'PY'
import sqlite3, sys
with sqlite3.connect(f"{sys.argv[1]}/results.sqlite") as store:
    store.execute("UPDATE results SET load = CASE trial WHEN 2 THEN ? ELSE 0 END, reason = ''", [float(sys.argv[2])])
PY
}

@test "run and compare show time and error side by side, a line for each attention, and the front" {
    eight "$WORK/r" --set heads=[1,2] >"$WORK/run.txt"
    loaded "$WORK/r" 0
    "$NYSBENCH" compare "$WORK/r" >"$WORK/compare.txt"
    "$NYSBENCH" compare "$WORK/r" --format json >"$WORK/both.json"
    "$NYSBENCH" compare "$WORK/r" --metric latency_s --format json >"$WORK/time.json"
    "$NYSBENCH" compare "$WORK/r" --metric output_error --format json >"$WORK/error.json"
    "$NYSBENCH" run "$WORK/eight.yaml" -o "$WORK/r" --set heads=[1,2] >"$WORK/again.txt" # with nothing left to do
    /usr/bin/python3 - "$WORK" <<'PY'
import csv, json, math, re, sys
work = sys.argv[1]
read = lambda name: json.load(open(f"{work}/{name}.json"))
time, error = ({(x["setting_heads"], x["method"]): x for x in read(name) if x["model"] == "all"} for name in ("time", "error"))
assert read("both") == read("time") + read("error")
rows = list(csv.DictReader(open(f"{work}/r/rows.csv", newline="")))
text = open(f"{work}/compare.txt").read()
assert "Time and error by attention" in text and text[text.index("Time and error"):] in open(f"{work}/again.txt").read()
assert "Time and error by attention" in open(f"{work}/run.txt").read()
assert "time: latency_s, divided by that of naive" in re.sub(r"\s+", " ", text), text
assert "that of nystrom(landmarks=4" in re.sub(r"\s+", " ", text), text
labels = {r["attention_label"]: r["attention"] for r in rows}
heads, seen = None, {}
for line in text.splitlines():
    heads = int(line.split()[-1]) if re.fullmatch(r"\s+heads \d", line) else heads
    label = next((l for l in sorted(labels, key=len, reverse=True) if line.strip().startswith(l + " ")), None)
    if heads and label:
        seen[heads, labels[label]] = line.strip()[len(label):].split()
assert len(seen) == 10, (text, seen)
points = {}
for (heads, attention), words in seen.items():
    of_time, of_error = time.get((heads, attention)), error.get((heads, attention))
    errors = [float(r["output_error"]) for r in rows if r["attention"] == attention and r["heads"] == str(heads)]
    assert float(words[0]) == float("%.3g" % of_time["ratio"] if of_time else 1), (words, of_time)
    assert words[1] == (of_time["verdict"] if of_time else "baseline"), (words, of_time)
    assert abs(float(words[2]) / math.exp(sum(map(math.log, errors)) / len(errors)) - 1) < 0.06, (words, errors)
    assert words[3] == (of_error["verdict"] if of_error else "baseline"), (words, of_error)
    exact = max(errors) < 1e-5
    assert exact == (attention.split("(")[0] in ("naive", "streamed")), attention
    points[heads, attention] = of_time["ratio"] if of_time else 1, 0 if exact else of_error["ratio"] if of_error else 1, words[4]
for (heads, attention), (x, y, front) in points.items():
    worse = any(h == heads and a <= x and b <= y and (a, b) != (x, y) for (h, _), (a, b, _) in points.items())
    assert front == ("no" if worse else "yes"), (attention, points)
assert {"exact", "worse", "better"} & {x["verdict"] for x in error.values()} > {"exact"}, error
PY
    run "$NYSBENCH" compare "$WORK/r" --full
    expect "latency_s by attention, divided by that of naive"
    expect "output_error by attention, divided by that of nystrom"
    # Where no row has a time, or errors were not wanted, the other is compared alone.
    run eight "$WORK/untimed" --set timed=false
    expect "output_error by attention, divided by that of nystrom"
    run eight "$WORK/bare" --set quality=false --set trials=1
    expect "latency_s by attention, divided by that of naive"
}

@test "a verdict on times that other programs or workers disturbed is marked, and a sentence says so" {
    eight "$WORK/r" -q --set rounds=2 >"$WORK/out"
    loaded "$WORK/r" 0.1
    run "$NYSBENCH" compare "$WORK/r"
    expect_status 0
    [ "$(grep -cE 'ran while|!' <<<"$output")" -eq 0 ]
    loaded "$WORK/r" 0.5
    "$NYSBENCH" compare "$WORK/r" --format json | /usr/bin/python3 -c '
import json, sys
for x in json.load(sys.stdin):
    assert x["disturbed"] == (x["metric"] == "latency_s") * (2 if x["model"] == "all" else 1), x'
    run "$NYSBENCH" compare "$WORK/r" --metric latency_s --margin 1000
    [ "$(grep -cE ' (better|worse|equivalent) !' <<<"$output")" -eq 4 ]
    expect "WARNING: other programs ran while 10 of 80 rows were timed (column load)."
    run "$NYSBENCH" compare "$WORK/r" --metric latency_s --margin 1000 --full
    [ "$(grep -cE '(better|worse|equivalent); times disturbed' <<<"$output")" -eq 4 ]
    run "$NYSBENCH" compare "$WORK/r" --metric output_error
    [ "$(grep -cE 'ran while|!' <<<"$output")" -eq 0 ]
    run "$NYSBENCH" run "$WORK/eight.yaml" -o "$WORK/r" --set rounds=2
    unwrap
    expect "WARNING: other programs ran while 10 of 80 rows were timed (column load)."
    for jobs in 1 2; do
        "$NYSBENCH" run experiments/00-smoke.yaml -q -j $jobs --set plots=[] --set metrics=error --set factors=nystromformer \
            --set 'problems=gaussian(n=40, d=4)' --set strategies=[uniform,kmeans] --set trials=8 --set cores=iterative \
            --set landmarks=4 -o "$WORK/$jobs" >"$WORK/out"
        run "$NYSBENCH" compare "$WORK/$jobs" --metric select_s --margin 1000
        [ "$(grep -cE ' (better|worse|equivalent) !' <<<"$output")" -eq $((jobs - 1)) ]
        unwrap
        [ "$(grep -cF 'WARNING: other workers ran while 16 of 16 rows were timed (--jobs 1 avoids them).' <<<"$output")" -eq $((jobs - 1)) ]
    done
    run "$NYSBENCH" compare "$WORK/2"
    [ "$(grep -cE 'ran while|!' <<<"$output")" -eq 0 ]
}

@test "errors are compared with the first attention that is not exact, and those that are show it" {
    cat >"$WORK/e.yaml" <<'Y'
study: forward
problems: ["gaussian(n=[40, 60], d=8)"]
attentions: [naive, streamed, "longformer(window=128)", "nystrom(landmarks=[4, 12])", "longformer(window=80)"]
trials: 6
rounds: 1
metrics: [error]
plots: []
Y
    "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/e"
    for metric in output_error error mse max_error error_p99 rowsum_deviation; do
        "$NYSBENCH" compare "$WORK/e" --metric $metric --format json >"$WORK/$metric.json"
    done
    "$NYSBENCH" compare "$WORK/e" --metric latency_s --format json >"$WORK/latency_s.json"
    "$NYSBENCH" compare "$WORK/e" --metric output_error --baseline streamed --format json >"$WORK/explicit.json"
    /usr/bin/python3 -SE - "$WORK" <<'PY'
import json, math, sys
lines = {name: {x["method"].split(",")[0]: x for x in json.load(open(f"{sys.argv[1]}/{name}.json")) if x["model"] == "all"}
         for name in ("output_error", "error", "mse", "max_error", "error_p99", "rowsum_deviation", "latency_s", "explicit")}
for name, of in lines.items():
    assert {x["baseline"].split(",")[0] for x in of.values()} == {{"latency_s": "naive", "explicit": "streamed(tile=128)"}.get(
        name, "nystrom(strategy=segment_means")}, name
    for method in ("naive", "streamed(tile=128)", "longformer(window=128") if name not in ("latency_s", "explicit") else ():
        x = of[method]
        assert (x["verdict"], x["ratio"], x["pairs"], x["exact"]) == ("exact", None, 0, 12), (name, x)
    assert name == "latency_s" or all(x["exact"] == 6 for m, x in of.items() if m.startswith("longformer(window=80")), name
assert lines["output_error"]["nystrom(strategy=segment_means"]["verdict"] in ("better", "worse", "undecided", "equivalent")
explicit = lines["explicit"]
assert (explicit["naive"]["verdict"], explicit["nystrom(strategy=segment_means"]["verdict"]) == ("exact", "none"), explicit
assert explicit["nystrom(strategy=segment_means"]["why"].startswith("the baseline is exact"), explicit
PY
    run "$NYSBENCH" compare "$WORK/e" --metric output_error
    expect "exact: has no output_error but rounding"
    expect "In 6 pairs one of the two is exact"
}

@test "an attention that fails costs its own rows alone" {
    build_plugin tests/cli/plugins/fragile.c "$WORK/fragile.so"
    forward "plugins: [$WORK/fragile.so]"
    local how='"fragile", "fragile(ends=aborts)", "fragile(ends=aborts, from=2)", "fragile(ends=fails)", "fragile(ends=fails, from=3)", "fragile(ends=nans)", "fragile(ends=refuses)", "fragile(ends=moves)", "fragile(keep=50)"'
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r" --set "attentions=[naive, $how]" --set trials=1 --set heads=1 --set threads=1 --set 'problems="gaussian(n=60, d=8)"' --set rounds=5
    expect_status 1
    /usr/bin/python3 - "$WORK/r/rows.csv" <<'PY'
import csv, sys
rows = {r["attention"]: r for r in csv.DictReader(open(sys.argv[1], newline=""))}
of = lambda ends, first=0, keep=1: rows[f"fragile(ends={ends}, from={first}, keep={keep})"]
assert rows["naive"]["status"] == of("never")["status"] == "ok"
assert of("never", keep=50)["status"] == "ok" and float(of("never", keep=50)["fresh_s"]) > 3 * float(of("never", keep=50)["latency_s"])
assert of("aborts")["status"] == "crashed" and "in a process of its own: killed by signal 6" in of("aborts")["reason"]
assert of("aborts", 2)["status"] == "crashed" and "the timed pass was killed by signal 6" in of("aborts", 2)["reason"], of("aborts", 2)
assert of("fails")["status"] == "failed" and "the pass with index 0 failed" in of("fails")["reason"]
assert of("fails", 3)["status"] == "failed" and "the pass with index 3 failed" in of("fails", 3)["reason"]
assert of("moves")["status"] == "ok", of("moves") # it has written to Q, in a worker that has no other row
assert float(rows["naive"]["output_error"]) < 1e-5, rows["naive"]["output_error"]
assert of("nans")["status"] == "diverged" and of("nans")["reason"].startswith("fragile(ends=nans): outputs are not finite: head 0, token ")
assert of("refuses")["status"] == "skipped" and of("refuses")["reason"] == "it does not like these points"
assert all(r["latency_s"] == "" for r in rows.values() if r["status"] != "ok")
PY
}

@test "an attention that refuses some layers has a line in the table of times, and its reason below" {
    config <<'Y'
study: forward
problems: ["gaussian(n=64, d=8)", "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, max_n=64, causal=true)"]
attentions: [streamed, "nystrom(landmarks=8)"]
heads: 2
rounds: 1
trials: 1
plots: []
Y
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    run "$NYSBENCH" table "$WORK/r" latency
    expect_status 0
    [ "$(grep -cE '^  (gaussian|ViT-S/14).* (streamed|nystrom)' <<<"$output")" -eq 4 ]
    grep -qE '^  ViT-S/14, 2 heads, d = 64, causal +[0-9]+ +64 +nystrom\(landmarks=8\)( +-)+$' <<<"$output"
    expect "Refused: nystrom(landmarks=8): it has no causal form"
    [ "$("$NYSBENCH" table "$WORK/r" latency --format csv | wc -l)" -eq 4 ] # a heading and the times
}

# A program as an attention: exact outputs, with what its arguments say it reports.
program() {
    cat >"$WORK/mine.py" <<'PY'
import json, sys
import numpy as np

def attend(folder, request):
    q, k, v = (np.load(f"{folder}/{name}.npy") for name in "qkv")
    k, v = (np.repeat(x, len(q) // len(x), 0) for x in (k, v))
    scores = np.exp(q @ k.transpose(0, 2, 1) * request["scale"])
    scores = np.tril(scores) if request["causal"] else scores
    np.save(f"{folder}/out.npy", (scores / scores.sum(-1, keepdims=True) @ v)[: None if "few" not in sys.argv else 1])

def value_of(text):
    try:
        return json.loads(text)
    except ValueError:
        return text

said = {name: value_of(text) for name, _, text in (word.partition("=") for word in sys.argv[1:] if "=" in word)}
if len(sys.argv) > 1 and sys.argv[-1].startswith("/"):
    attend(sys.argv[-1], json.load(open(sys.argv[-1] + "/request.json")))
    if said:
        json.dump(said, open(sys.argv[-1] + "/answer.json", "w"))
else:
    print('{"ready": 1}', flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        attend(request["folder"], request)
        print(json.dumps({"done": "attention", **said}), flush=True)
PY
}

# mine WORDS OPTIONS: the spec of that program, which answers with its words NAME=VALUE.
mine() {
    printf '%s' "command(run=\"/usr/bin/python3 $WORK/mine.py $1\", $2)"
}

own_columns() {
    /usr/bin/python3 - "$1" "${@:2}" <<'PY'
import csv, sys
for row in csv.DictReader(open(sys.argv[1], newline="")):
    value = lambda name: ("yes" if row[name] else "no") if name.endswith("_s") or name == "load" else row[name]
    print(*(value(name) for name in sys.argv[2:]), float(row["output_error"] or "nan") < 1e-6)
PY
}

@test "a program is an attention: its outputs, its clock and its device" {
    program
    cat >"$WORK/f.yaml" <<YAML
study: forward
problems: ["gaussian(n=40, d=8)"]
heads: 3
trials: 1
rounds: 2
plots: []
attentions:
  - streamed
  - '$(mine '' 'label=alone')'
  - '$(mine '' 'label=kept, serve=true')'
  - '$(mine 'seconds=0.125 device=abacus,float3' 'label=own')'
  - '$(mine seconds=0.25 'label=served, serve=true, timed=own')'
  - '$(mine '' 'label=silent, timed=own')'
  - '$(mine seconds=1 'label=untimed, timed=false')'
YAML
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r"
    expect_status 0
    expect "rows: 7, 7 ok"
    own_columns "$WORK/r/rows.csv" attention_label clock device latency_s | sort | diff - <(cat <<'TXT'
alone call  yes True
kept call  yes True
own own abacus,float3 yes True
served own  yes True
silent none  no True
streamed pass  yes True
untimed none  no True
TXT
)
    [ "$(/usr/bin/python3 -c 'import csv, sys; print(*(r["latency_s"] for r in csv.DictReader(open(sys.argv[1])) if r["clock"] == "own"))' "$WORK/r/rows.csv")" = "0.125 0.25" ]
}

@test "timed: false measures outputs alone, with all workers; its rows are measured again for their times" {
    program
    forward "timed: false"
    run "$NYSBENCH" plan "$WORK/f.yaml" --jobs 2
    expect_status 0
    expect "with 2 workers"
    [[ $output != *exclusive* ]]
    run "$NYSBENCH" run "$WORK/f.yaml" -q -j 2 -o "$WORK/r" --set heads=3 --set threads=1
    expect_status 0
    expect "rows: 20, 20 ok"
    own_columns "$WORK/r/rows.csv" clock latency_s load | sort -u | diff - <(printf 'none no no False\nnone no no True\n')
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r" --set heads=3 --set threads=1 --set timed=true
    expect_status 0
    own_columns "$WORK/r/rows.csv" clock latency_s load | sort -u | diff - <(printf 'pass yes yes False\npass yes yes True\n')
    run "$NYSBENCH" plan "$WORK/f.yaml" --set quality=false
    expect_status 2
    expect "timed: false and quality: false: nothing is left to measure"
}

@test "what is wrong with a program's answer is the reason of its rows; a mask needs causal=true" {
    program
    mkdir "$WORK/h"
    /usr/bin/python3 -c 'import numpy as np, sys
for name, x in zip("qkv", np.random.default_rng(1).standard_normal((3, 2, 40, 8))): np.save(f"{sys.argv[1]}/{name}.npy", x)' "$WORK/h"
    cat >"$WORK/f.yaml" <<YAML
study: forward
problems: ["heads(file=$WORK/h, causal=true)"]
trials: 1
plots: []
timed: false
attentions:
  - '$(mine '' 'label=masked, causal=true')'
  - '$(mine '' 'label=open')'
  - '$(mine few 'label=few, causal=true')'
  - '$(mine seconds=long 'label=long, causal=true')'
  - '$(mine device=[1] 'label=device, causal=true')'
  - 'command(run="true", label=nothing, causal=true)'
YAML
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r"
    expect_status 1
    output=$(/usr/bin/python3 -c 'import csv, sys; [print(r["attention_label"], r["status"], r["reason"]) for r in csv.DictReader(open(sys.argv[1]))]' "$WORK/r/rows.csv")
    expect "masked ok"
    expect "open skipped the layer is causal: causal=true says that the program keeps to the mask"
    expect "out.npy: float32 of shape (1, 40, 8); allowed are floats of shape (2, 40, 8): heads, tokens, dv"
    expect "answered with seconds \"long\"; allowed are seconds, 0 or more"
    expect "answered with device [1]; allowed is a text of at most 80 bytes, in one line"
    expect "true: left no out.npy"
    run "$NYSBENCH" run "$WORK/f.yaml" -q -o "$WORK/r" --set 'attentions="command(run=\"no-such-program\")"'
    expect_status 2
    expect "there is no program 'no-such-program' in PATH"
}

@test "run names the files that are there, and writes no empty table" {
    config <<'Y'
study: forward
problems: gaussian(n=32, d=4)
attentions: [naive, streamed]
trials: 1
heads: 1
plots: latency # which one n does not make
Y
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/r"
    expect_status 0
    files=$(sed -n "s|^$WORK/r: ||p" <<<"$output" | sed 's/ ([^)]*)//; s/, /\n/g; s|/$||' | sort)
    [ "$files" = "$(ls "$WORK/r" | sort)" ] || { echo "$files"; ls "$WORK/r"; return 1; }
    expect "latency.csv"
    [ -s "$WORK/r/latency.csv" ]
    [ ! -e "$WORK/r/crossovers.csv" ] # one n has none
    echo old >"$WORK/r/crossovers.csv"
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >/dev/null
    [ ! -e "$WORK/r/crossovers.csv" ]
}
