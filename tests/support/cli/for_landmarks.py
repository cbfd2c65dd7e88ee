# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/landmarks.bats asks in Python: for_landmarks.py FUNCTION ARGUMENT..."""
import csv
import glob
import re
import sys


def check_shares(run):
    import numpy as np
    rows = [r for r in csv.DictReader(open(run + "/rows.csv", newline="")) if r["status"] == "ok"]
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
    for r in csv.DictReader(open(run + "/shares.csv", newline="")):
        if r["panel"] == "all":
            mine = np.array(seen[r["strategy"], r["core"]])
            assert np.isclose(np.median(mine[:, 0]), float(r["error_relative"]), rtol=1e-12)
            assert np.isclose(
                float(r["error_share"] or "nan"),
                share_of(*np.median(mine, axis=0)),
                rtol=1e-9,
                atol=1e-12,
                equal_nan=True,
            )
            pooled += 1
            continue
        k = r["problem"], r["core"], r["landmarks"]
        for name, column in (("error", "error"), ("subspace", "error_subspace")):
            a, b = cell(k, r["strategy"], column), cell(
                k, next(s for s in strategies if s.startswith("uniform(")), column
            )
            expected, count = ratio(a, b)
            best = min(ratio(cell(k, s, column), b)[0] for s in strategies)
            assert np.isclose(float(r[name]), np.median(values(a)), rtol=1e-12) and np.isclose(
                float(r[name + "_relative"]), expected, rtol=1e-12
            )
            assert r["pairing"] == r["baseline_pairing"] == "joint" and r["noise"] == "0"
            share = share_of(expected, best)
            assert np.isclose(float(r[name + "_share"] or "nan"), share, rtol=1e-9, atol=1e-12, equal_nan=True), (
                r,
                share,
            )
            if name == "error":
                assert int(r["count"]) == count
                seen.setdefault((r["strategy"], r["core"]), []).append([expected, best])
    assert pooled == 8


def check_places(work):
    import numpy as np
    index = [r for r in csv.DictReader(open(work + "/l/index.csv", newline="")) if r["landmarks"] == "8"]
    labels = {
        tuple(r[c] for c in r if "strategy" in c or "problem" in c)
        for r in csv.DictReader(open(work + "/r/rows.csv", newline=""))
    }
    assert {tuple(r[c] for c in r if "strategy" in c or "problem" in c) for r in index} == labels, labels
    names = ["uniform", "segment_means", "kmeans", "exchange", "optimized"]
    checked = 0
    for number, problem in ((1, "clusters"), (2, "heads")):
        stem = glob.glob(f"{work}/r/plots/landmarks_{number}_{problem}*_m8.gp")[0][:-3]
        lanes = list(csv.DictReader(open(stem + "_lanes.csv", newline="")))
        plane = np.array(
            [[float(x) for x in r.values()] for r in csv.DictReader(open(stem + "_plane.csv", newline=""))]
        )
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
                    there = sorted(
                        float(x["place"]) for x in lanes if x["lane"] == str(lane) and x["half"] in ("0", str(half))
                    )
                    assert there == sorted(load(r, f"{r['picks']}-{side}")), (name, side)
                    for token in there:
                        counts[half, token] = counts.get((half, token), 0) + 1
            mean = q.mean(axis=0)
            u, s, vt = np.linalg.svd(q - mean, full_matrices=False)
            expected, got = (points - mean) @ vt[:2].T, plane[plane[:, 0] == lane][:, 1:]
            for a in range(2):
                assert min(np.abs(got[:, a] - e * expected[:, a]).max() for e in (1, -1)) < 1e-6 * s[0], (
                    name,
                    a,
                )  # written with 9 digits
            checked += 1
        drawn = open(stem + ".gp").read()
        assert "'uniform'" in drawn and "'exchange, oracle, both'" in drawn, drawn  # NOLINT(wording): a label
        shared = {(int(x["half"]), float(x["place"])): int(x["strategies"]) for x in lanes if x["lane"] == "0"}
        assert shared == {k: c for k, c in counts.items() if c > 1}
        explained = float(re.search(r"explained_1 = (\S+)", open(stem + ".gp").read()).group(1))
        assert abs(explained - s[0] ** 2 / (s**2).sum()) < 1e-4
        e = np.exp((scores := q @ load(instance, "k").T / np.sqrt(q.shape[1])) - scores.max(axis=1, keepdims=True))
        received = [float(r["received"]) for r in csv.DictReader(open(stem + "_received.csv", newline=""))]
        assert np.allclose(
            received, (e / e.sum(axis=1, keepdims=True)).mean(axis=0), rtol=1e-8, atol=0
        )  # written with 9 digits
        sizes = [len(q) // 8 + (j >= 8 - len(q) % 8) for j in range(8)]
        ends = np.cumsum(sizes)
        assert [(float(x["place"]), float(x["first"]), float(x["last"])) for x in lanes if x["lane"] == "2"] == [
            (e - (k + 1) / 2, e - k, e - 1) for e, k in zip(ends, sizes)
        ]
    assert checked == 10


def check_failures(folder):
    import numpy as np
    index = list(csv.DictReader(open(folder + "/index.csv", newline="")))
    assert len(index) == 8 and {r["trial"] for r in index} == {"0", "1"}
    failed = [r for r in index if r["strategy"].startswith("command")]
    assert len(failed) == 4 and all(r["status"] == "failed" and r["picks"] == "" for r in failed)
    assert all('no, and "no" again' in r["reason"] for r in failed)  # NOLINT(wording): the test's program says it
    for r in index:
        if r["strategy"].startswith("uniform"):
            assert r["status"] == "ok" and r["reason"] == ""
            assert len(np.load(f"{folder}/instance-{r['instance']}/{r['picks']}-queries.npy")) == int(r["landmarks"])


globals()[sys.argv[1]](*sys.argv[2:])
