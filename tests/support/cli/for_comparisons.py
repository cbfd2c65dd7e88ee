# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/comparisons.bats asks in Python: for_comparisons.py FUNCTION ARGUMENT..."""
import csv
import glob
import json
import os
import re
import sys


def check_pairings(run):
    import numpy as np
    rows = [r for r in csv.DictReader(open(run + "/rows.csv", newline="")) if r["status"] == "ok"]
    def errors(strategy, pairing, of):
        return {
            (r["head"], r["trial"]): float(r["error"])
            for r in rows
            if r["strategy"].startswith(strategy)
            and r["pairing"] == pairing
            and all(r[k] == of[k] for k in ("problem", "core", "landmarks"))
        }
    seen = 0
    for r in csv.DictReader(open(run + "/shares.csv", newline="")):
        if r["pairing"] == "both":
            assert r["baseline_pairing"] in ("joint", "independent") and r["error_relative"] and not r["error_share"], r
        else:
            assert r["baseline_pairing"] == r["pairing"], r
        if r["panel"] == "all" or not r["strategy"].startswith("kmeans") or r["problem"].startswith("heads"):
            continue
        mine, base = errors("kmeans", r["pairing"], r), errors("uniform", r["pairing"], r)
        assert len(mine) == 2 and np.isclose(
            float(r["error_relative"]), np.median([mine[k] / base[k] for k in mine]), rtol=1e-12
        )
        seen += 1
    assert seen == 2 * 2 * 2, seen


def check_lasting(work):
    import numpy as np
    logs = {}
    for r in csv.DictReader(open(f"{work}/r/rows.csv", newline="")):
        sign = 1 if r["core"].startswith("svd") else -1
        place = r["strategy"], r["source"], r["head"], int(r["trial"])
        logs[place] = logs.get(place, 0) + sign * np.log(float(r["error"]))
    sources, heads = sorted({p[1] for p in logs}), sorted({p[2] for p in logs})
    value = lambda strategy, source, head, trial: logs[strategy, source, head, trial if strategy[0] == "u" else 0]
    strategies = {p[0] for p in logs}
    assert len(strategies) == 2 and len(logs) == len(sources) * len(heads) * (5 + 1)
    by_source = np.array(
        [[np.mean([value(s, c, h, t) for s in strategies for h in heads]) for t in range(5)] for c in sources]
    )
    by_trial = by_source.mean(0)
    left = by_source - by_source.mean(1, keepdims=True) - by_trial + by_trial.mean()
    residual = (left**2).sum() / (len(sources) - 1) / 4 / len(sources) / 5
    [compared], [claim] = (json.load(open(f"{work}/{name}.json")) for name in ("compare", "claims"))
    # sums of 80 logarithms, in another order: some ulp
    assert np.isclose(compared["ratio"], np.exp(by_trial.mean()), rtol=1e-13)
    assert np.isclose(compared["se_trials"] ** 2, max(0, by_trial.var(ddof=1) / 5 - residual), rtol=1e-9)
    assert compared["se_trials"] > 0 and compared["trials"] == 5
    assert np.allclose([compared[k] for k in ("ratio", "low", "high")], [claim[k] for k in ("estimate", "low", "high")],
                       rtol=1e-13)


def check_noise(work):
    read = lambda name: list(csv.DictReader(open(f"{work}/r/{name}", newline="")))
    rows = read("rows.csv")
    assert all(r["status"] == "ok" for r in rows)
    key = lambda r: (r["strategy"], r["core"].split("(")[0], r["landmarks"])
    noise, error, ratios = {}, {}, 0
    for r in rows:
        noise.setdefault(key(r), {})[r["trial"]] = float(r["error"]) <= float(r["error_noise"])
        error.setdefault(key(r), []).append(float(r["error"]))
    assert sum(map(sum, (n.values() for n in noise.values()))) >= 12
    base = next(s for s, _, _ in noise if s.startswith("uniform"))
    for r in read("shares.csv"):
        if r["landmarks"]:
            k = key(r)
            both = sum(noise[k][t] and noise[base, k[1], k[2]][t] for t in "012")
            assert (int(r["noise"]), int(r["count"])) == (both, 3 - both), r
            assert (r["error_relative"] == "") == (both == 3), r
            ratios += both == 3
    assert ratios >= 4, ratios
    for r in read("plots/svd_vs_iterative.csv"):
        if int(r["series"]) > 0:
            s = next(s for s, _, _ in noise if s.split("(")[0] == r["series_name"])
            both = sum(noise[s, "svd", r["landmarks"]][t] and noise[s, "iterative", r["landmarks"]][t] for t in "012")
            assert int(r["count"]) == 3 - both, r
    # a mark for a median of noise, and a star only where one of two is none
    core = None
    for line in open(work + "/out"):
        if line.startswith(("  svd(", "  iterative(")):
            core = line.split("(")[0].strip()
        words = line.split()
        if core and line.startswith("    ") and len(words) == 4:
            s = next(s for s, _, _ in noise if s.split("(")[0] == words[0])
            for m, word in zip(("2", "8", "16"), words[1:]):
                noisy = {o: 2 * sum(noise[o, core, m].values()) >= 3 for o in {o for o, _, _ in noise}}
                assert word.endswith("~") <= noisy[s] and (word.endswith("*") or word.endswith("~") == noisy[s]), line
                assert not (word.endswith("*") and noisy[s] and sum(noisy.values()) > 1), line
        elif core and line.startswith("  best rank m"):  # NOLINT(wording): a label
            break
    else:
        raise AssertionError("no table")


def check_colours(plots):
    def array(text, name):
        inside = re.search(rf"^array {name}\[\d+\] = \[(.*)\]$", text, re.M).group(1)
        return re.findall(r"'([^']*)'", inside) if "'" in inside else [int(x) for x in inside.split(", ")]
    strategies, cores, kinds = {}, {}, set()
    for path in glob.glob(plots + "/*_*.gp"):
        text, kind = open(path).read(), os.path.basename(path).split("_")[0]
        assert text.startswith("# draws"), path
        labels = array(text, "lanes" if kind == "landmarks" else "series")
        looks = array(text, "looks") if re.search("^array looks", text, re.M) else list(range(1, len(labels) + 1))
        kinds.add(kind)
        for label, look in zip(labels, looks):
            label = label.replace(": filter", "")
            if kind in ("cores", "cutoff"):
                cores.setdefault(re.sub(r"^best \w+ of ", "", label).split("(")[0].strip(), set()).add(look)
            elif look:  # black: best rank m and the constant matrix
                strategies.setdefault(label, set()).add(look)
    assert kinds == {"error", "rows", "spectrum", "landmarks", "cores", "cutoff"}, kinds
    lanes = {"segment_means", "uniform", "kmeans"}  # one for both factors
    # cur takes tokens: means and free points are skipped
    assert set(strategies) == lanes | {f"{s}, {f}" for s in lanes for f in ("nystromformer", "cur")
                                       if f != "cur" or s == "uniform"}, strategies
    for label, looks in strategies.items():
        assert len(looks) == 1 and (label not in lanes or looks == strategies[label + ", nystromformer"]), strategies
    of_best = cores.pop("subspace part: the best core")
    assert of_best == {0} and cores == {"iterative": {2}, "svd": {3}, "fitted": {4}}, (of_best, cores)


def check_forest(run):
    import numpy as np
    read = lambda name: list(csv.DictReader(open(f"{run}/{name}", newline="")))
    rows, forest = read("rows.csv"), read("plots/forest.csv")
    logs = {} # of error and of its subspace part
    for r in rows:
        for name in "error", "error_subspace":
            logs[name, r["strategy_label"], r["core"].split("(")[0], r["problem_label"], r["landmarks"], r["trial"]] = (
                np.log(float(r[name]))
            )
    def mean(name, r, problem): # each trial's data are a source
        of = (name, r["strategy"].removesuffix(", oracle"), r["figure"].split("(")[0], problem)
        return np.mean([x - logs[(name, "uniform") + key[2:]] for key, x in logs.items() if key[:4] == of])
    problems, checked = sorted({r["problem_label"] for r in rows}), 0
    for r in forest:
        of = problems if r["panel"] == "all" else [r["panel"]]
        assert np.isclose(float(r["ratio"]), np.exp(np.mean([mean("error", r, p) for p in of])), rtol=1e-9), r
        assert r["pairing_held_fixed"] == "true"
        assert float(r["low"]) < float(r["ratio"]) < float(r["high"]) or r["strategy"] == "uniform", r
        if r["panel"] == "all":
            assert np.isclose(
                float(r["subspace_ratio"]), np.exp(np.mean([mean("error_subspace", r, p) for p in of])), rtol=1e-9
            ), r
        checked += 1
    assert checked == 2 * 14 * 3, checked
    # the least on top: the names are from below
    text = open(run + "/plots/forest_iterative.gp").read()
    names = re.findall(r"'([^']*)'", re.search(r"^array series.*$", text, re.M).group(0))
    ratio = {r["strategy"]: float(r["ratio"]) for r in forest if r["figure"] == "iterative" and r["panel"] == "all"}
    assert [ratio[n] for n in names] == sorted(ratio.values(), reverse=True) and len(names) == 14


def check_intervals(run):
    import numpy as np
    blocks = [b.strip().split("\n") for b in open(run + "/plots/error_iterative.dat").read().split("\n\n\n")]
    blocks = [[tuple(map(float, line.split(","))) for line in b if not line.startswith("#")] for b in blocks]
    rows = [r for r in csv.DictReader(open(run + "/rows.csv", newline="")) if r["status"] == "ok"]
    text = open(run + "/plots/error_iterative.gp").read()
    array = lambda name: re.search(rf"^array {name}\[.*\] = \[(.*)\]$", text, re.M).group(1).split(", ")
    strategies, bounds = array("series")[:2], array("series")[2:]
    assert strategies == ["'uniform'", "'kmeans'"] and [name[:5] for name in bounds] == ["'best", "'cons"], bounds
    of = [int(b) for b in array("block")]
    assert sorted(of) == list(range(8)) and len(blocks) == 8, of
    for p, problem in enumerate(("gaussian", "heads")):
        for s, strategy in enumerate(("uniform", "kmeans")):
            for count, m, median, low, high in blocks[of[4 * p + s]]:
                errors = [
                    float(r["error"])
                    for r in rows
                    if r["strategy"].startswith(strategy)
                    and int(r["landmarks"]) == m
                    and r["core"].startswith("iterative")
                    and r["problem"].startswith(problem)
                ]
                assert count == len(errors) == (6, 18)[p] and np.isclose(median, np.median(errors), rtol=1e-12), (
                    strategy,
                    m,
                )
                # Drawn data have a source each trial: of six the least and the largest. The file is one source.
                assert (low, high) == ((min(errors), max(errors)) if p == 0 else (median, median)), (low, high)


globals()[sys.argv[1]](*sys.argv[2:])
