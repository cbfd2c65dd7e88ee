# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/figures.bats asks in Python: for_figures.py FUNCTION ARGUMENT..."""
import csv
import json
import re
import sys


def check_labels(*paths):
    a, b, c = ([dict(row) for row in csv.DictReader(open(f, newline=""))] for f in paths)
    own = lambda rows, *ends: [{k: v for k, v in row.items() if not k.endswith(("_label", *ends))} for row in rows]
    assert own(a) == own(b) and own(a, "_s") == own(c, "_s") and len(a) == 108, len(a)
    assert not any(name in text for row in own(a) for text in row.values() for name in ("k-means", "SVD", "Gau"))
    found = lambda rows, kind: {row[kind + "_label"] for row in rows}
    assert found(a, "strategy") == {"uniform", "k-means, restarts=1", "k-means, restarts=4"}, found(a, "strategy")
    assert found(b, "strategy") == {"uniform", "Lloyd, restarts=1", "Lloyd, restarts=4"}, found(b, "strategy")
    assert found(c, "strategy") == {"uniform", "kmeans", "kmeans(restarts=4)"}, found(c, "strategy")
    assert found(a, "core") == {"iterative", "SVD, cut"}  # NOLINT(wording): the test's label
    assert "Gauß, <n> & {d}_1^2 @ 5 %" in found(a, "problem")


def check_ratios(work):
    points = {
        (r["panel"].split(",")[0], r["series"].split("(")[0], int(r["landmarks"])): r
        for r in csv.DictReader(open(work + "/r/plots/ratio_by_core.csv"))
    }
    short = {"uniform(strided=false)": "uniform", "uniform(strided=true)": "uniform(strided=true)"}
    lines = {
        (short.get(x["strategy"], "profile"), x["method"].split("(")[0], x["landmarks"]): x
        for x in json.load(open(work + "/json"))
        if x["model"] == "all" and x["verdict"] != "refused"
    }
    assert set(points) == set(lines) and len(lines) == 8, (set(points), set(lines))
    for key, x in lines.items():
        r = points[key]
        # the same sums in the same order, but exp and log of them
        assert all(abs(float(r[c]) / x[c] - 1) < 1e-13 for c in ("ratio", "low", "high")), (key, r, x)
        assert (int(r["sources"]), int(r["heads"])) == (x["sources"], x["heads"]) == (15, 23), (key, r)


def looks(path):
    """The number of each method's look, by what a script of a figure calls it."""
    lists = dict(re.findall(r"^array (\w+)\[\d+\] = \[(.*)\]$", open(path).read(), re.M))
    numbers = dict(zip(re.findall(r"'([^']*)'", lists["series"]), map(int, lists["looks"].split(", "))))
    return {name: number for name, number in numbers.items() if number > 0}


def check_looks(whole, part, suffix):
    whole, part = looks(whole), looks(part)
    assert part and len(part) < len(whole), (whole, part)
    for name, number in part.items():
        assert whole[name + suffix] == number, (name, number, whole)


globals()[sys.argv[1]](*sys.argv[2:])
