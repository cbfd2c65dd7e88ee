# SPDX-License-Identifier: GPL-3.0-or-later
# What a run says of its strategies: the comparison with a baseline, and the pictures
# of their landmarks, each against NumPy's own computation from the run's files.

load helpers

small() { # OPTIONS...
    "$NYSBENCH" run experiments/00-smoke.yaml --set plots=[] --set metrics=[error] --set factors=nystromformer \
        --set 'problems=["clusters(n=64, d=8, count=4)", "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors)"]' -o "$WORK/r" "$@"
}

@test "the table of shares holds the paired ratios and the shares of the gap that the rows give" {
    run small --set 'strategies=[leverage, uniform, segment_means, kmeans]' --set pairing=joint --set trials=3
    expect_status 0
    [ ! -e "$WORK/r/shares.csv" ]
    "$NYSBENCH" table "$WORK/r" shares | grep -q "^Relative to uniform$" # the first that is no oracle
    "$NYSBENCH" table "$WORK/r" shares --format csv >"$WORK/r/shares.csv"
    /usr/bin/python3 - "$WORK/r" <<'PY'
import csv, sys
import numpy as np
rows = [r for r in csv.DictReader(open(sys.argv[1] + "/rows.csv", newline="")) if r["status"] == "ok"]
key = lambda r: (r["problem"], r["core"], r["landmarks"])
def cell(k, strategy, column):
    out = {}
    for r in rows:
        if key(r) == k and r["strategy"] == strategy:
            out.setdefault(r["head"], {})[r["trial"]] = float(r[column])
    return out
def values(c):
    return [x for trials in c.values() for x in trials.values()]
def ratio(a, b):
    out = []
    for head in a:
        for t in set(a[head]) | set(b[head]):
            at = lambda x: x[head][t] if len(x[head]) > 1 else list(x[head].values())[0]
            out.append(at(a) / at(b))
    return np.median(out), len(out)
def share_of(relative, best):
    share = np.log(relative) / np.log(best)
    return share if best < 0.99 and share >= -1 else np.nan
strategies = sorted({r["strategy"] for r in rows})
seen, pooled = {}, 0
for r in csv.DictReader(open(sys.argv[1] + "/shares.csv", newline="")):
    if r["panel"] == "all":
        mine = np.array(seen[r["strategy"], r["core"]])
        assert np.isclose(np.median(mine[:, 0]), float(r["error_relative"]), rtol=1e-12)
        assert np.isclose(float(r["error_share"] or "nan"), share_of(*np.median(mine, axis=0)), rtol=1e-9, atol=1e-12, equal_nan=True)
        pooled += 1
        continue
    k = r["problem"], r["core"], r["landmarks"]
    for name, column in (("error", "error"), ("subspace", "error_subspace")):
        a, b = cell(k, r["strategy"], column), cell(k, next(s for s in strategies if s.startswith("uniform(")), column)
        expected, count = ratio(a, b)
        best = min(ratio(cell(k, s, column), b)[0] for s in strategies)
        assert np.isclose(float(r[name]), np.median(values(a)), rtol=1e-12) and np.isclose(float(r[name + "_relative"]), expected, rtol=1e-12)
        assert r["pairing"] == r["baseline_pairing"] == "joint" and r["noise"] == "0"
        share = share_of(expected, best)
        assert np.isclose(float(r[name + "_share"] or "nan"), share, rtol=1e-9, atol=1e-12, equal_nan=True), (r, share)
        if name == "error":
            assert int(r["count"]) == count
            seen.setdefault((r["strategy"], r["core"]), []).append([expected, best])
assert pooled == 8
PY
}

@test "the baseline is one of the strategies" {
    run small --set 'strategies=[uniform, segment_means, kmeans(restarts=2)]' --set 'baseline=kmeans(restarts=2)'
    expect_status 0
    "$NYSBENCH" table "$WORK/r" shares | grep -qxF "Relative to kmeans(restarts=2)"
    grep -q '^baseline: "kmeans(init=plusplus, metric=euclidean, restarts=2' "$WORK/r/resolved.yaml"
    run small --set 'strategies=[uniform, segment_means]' --set baseline=kmeans
    expect_status 2
    expect "baseline: expected one of the strategies, found 'kmeans'"
    run small --set 'strategies=[uniform, kmeans(restarts=2), kmeans(restarts=3)]' --set 'baseline=kmeans(restarts=3)'
    expect_status 0
    "$NYSBENCH" table "$WORK/r" shares | grep -qxF "Relative to kmeans(restarts=3)"
    run small --set 'strategies=[uniform, kmeans(restarts=2)]' --set baseline=kmeans
    expect_status 2
    expect "baseline: expected one of the strategies, found 'kmeans'; did you mean 'kmeans(restarts=2)'?"
    run small --set 'strategies=[uniform, segment_means]' --set baseline=unifrom
    expect_status 2
    expect "did you mean 'uniform'"
}

@test "plot --landmarks: the places are the exported landmarks, the plane is NumPy's" {
    small -q --set 'strategies=[uniform, segment_means, kmeans, "exchange", "optimized(steps=2)"]' >/dev/null
    run "$NYSBENCH" plot "$WORK/r" --landmarks -m 8 -t 1 --side queries
    expect_status 0
    expect "landmarks: 2 figures in $WORK/r/plots"
    for f in "$WORK"/r/plots/landmarks_*_m8.gp; do [ -s "${f%.gp}.svg" ] && [ -s "${f%.gp}.png" ]; done
    "$NYSBENCH" export "$WORK/r" --landmarks "$WORK/l" >/dev/null
    /usr/bin/python3 - "$WORK" <<'PY'
import csv, glob, re, sys
import numpy as np
work = sys.argv[1]
index = [r for r in csv.DictReader(open(work + "/l/index.csv", newline="")) if r["landmarks"] == "8"]
labels = {tuple(r[c] for c in r if "strategy" in c or "problem" in c) for r in csv.DictReader(open(work + "/r/rows.csv", newline=""))}
assert {tuple(r[c] for c in r if "strategy" in c or "problem" in c) for r in index} == labels, labels
names = ["uniform", "segment_means", "kmeans", "exchange", "optimized"]
checked = 0
for number, problem in ((1, "clusters"), (2, "heads")):
    stem = glob.glob(f"{work}/r/plots/landmarks_{number}_{problem}*_m8.gp")[0][:-3]
    lanes = list(csv.DictReader(open(stem + "_lanes.csv", newline="")))
    plane = np.array([[float(x) for x in r.values()] for r in csv.DictReader(open(stem + "_plane.csv", newline=""))])
    mine = [r for r in index if r["problem"].startswith(problem) and r["head"] == "0"]
    load = lambda r, name: np.load(f"{work}/l/instance-{r['instance']}/{name}.npy")
    trial = lambda name: [r for r in mine if r["strategy"].startswith(name)][-1]  # trial 1, or the only one
    instance = [r for r in mine if r["trial"] == ("1" if problem == "clusters" else "0")][0]
    q, counts = load(instance, "q"), {}
    for lane, name in enumerate(names, 1):
        r = trial(name)
        picks = load(r, r["picks"] + "-queries")
        points = q[picks] if picks.ndim == 1 else picks
        if picks.ndim == 1:
            for half, side in ((1, "queries"), (2, "keys")):
                there = sorted(float(x["place"]) for x in lanes if x["lane"] == str(lane) and x["half"] in ("0", str(half)))
                assert there == sorted(load(r, f"{r['picks']}-{side}")), (name, side)
                for token in there:
                    counts[half, token] = counts.get((half, token), 0) + 1
        mean = q.mean(axis=0)
        u, s, vt = np.linalg.svd(q - mean, full_matrices=False)
        expected, got = (points - mean) @ vt[:2].T, plane[plane[:, 0] == lane][:, 1:]
        for a in range(2):
            assert min(np.abs(got[:, a] - e * expected[:, a]).max() for e in (1, -1)) < 1e-6 * s[0], (name, a)  # written with 9 digits
        checked += 1
    assert "'uniform'" in (drawn := open(stem + ".gp").read()) and "'exchange, oracle, both'" in drawn, drawn
    shared = {(int(x["half"]), float(x["place"])): int(x["strategies"]) for x in lanes if x["lane"] == "0"}
    assert shared == {k: c for k, c in counts.items() if c > 1}
    explained = float(re.search(r"explained_1 = (\S+)", open(stem + ".gp").read()).group(1))
    assert abs(explained - s[0] ** 2 / (s**2).sum()) < 1e-4
    e = np.exp((scores := q @ load(instance, "k").T / np.sqrt(q.shape[1])) - scores.max(axis=1, keepdims=True))
    received = [float(r["received"]) for r in csv.DictReader(open(stem + "_received.csv", newline=""))]
    assert np.allclose(received, (e / e.sum(axis=1, keepdims=True)).mean(axis=0), rtol=1e-8, atol=0)  # written with 9 digits
    sizes = [len(q) // 8 + (j >= 8 - len(q) % 8) for j in range(8)]
    ends = np.cumsum(sizes)
    assert [(float(x["place"]), float(x["first"]), float(x["last"])) for x in lanes if x["lane"] == "2"] == [(e - (k + 1) / 2, e - k, e - 1) for e, k in zip(ends, sizes)]
assert checked == 10
PY
}

@test "plot --landmarks: what the run does not have is refused" {
    small -q --set strategies=uniform >/dev/null
    run "$NYSBENCH" plot "$WORK/r" --landmarks --m 5
    expect_status 1
    expect "--m 5: the run has no such number of landmarks; it has "
    run "$NYSBENCH" plot "$WORK/r" --landmarks --trial 2
    expect_status 1
    expect "the run has the trials 0 to 1"
    run "$NYSBENCH" plot "$WORK/r" --landmarks --head 99
    expect_status 1
    expect "nothing to draw"
    run "$NYSBENCH" plot "$WORK/r" --m 4
    expect_status 2
    expect "is for --landmarks and the kinds cutoff"
    run "$NYSBENCH" plot "$WORK/r" --landmarks --side values
    expect_status 2
    run "$NYSBENCH" plot "$WORK/r" error --landmarks
    expect_status 2
}

@test "export --landmarks goes on where picks fail, and lists those with their reason" {
    cat >"$WORK/c.yaml" <<Y
problems: gaussian(n=20, d=3)
strategies: ["command(run=\"sh $WORK/pick.sh\")", uniform]
cores: svd
landmarks: [2, 4]
trials: 2
plots: []
Y
    printf '%s\n' 'echo "no, and \"no\" again" >&2; exit 3' >"$WORK/pick.sh"
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 1
    run "$NYSBENCH" export "$WORK/r" --programs --landmarks "$WORK/l"
    expect_status 1
    expect "$WORK/l: index.csv, and a folder"
    expect "nysbench: error: export: 4 choices of landmarks failed: $WORK/l/index.csv says why"
    /usr/bin/python3 - "$WORK/l" <<'PY'
import csv, sys
import numpy as np
index = list(csv.DictReader(open(sys.argv[1] + "/index.csv", newline="")))
assert len(index) == 8 and {r["trial"] for r in index} == {"0", "1"}
failed = [r for r in index if r["strategy"].startswith("command")]
assert all(r["status"] == "failed" and r["picks"] == "" and 'no, and "no" again' in r["reason"] for r in failed) and len(failed) == 4
for r in index:
    if r["strategy"].startswith("uniform"):
        assert r["status"] == "ok" and r["reason"] == ""
        assert len(np.load(f"{sys.argv[1]}/instance-{r['instance']}/{r['picks']}-queries.npy")) == int(r["landmarks"])
PY
}
