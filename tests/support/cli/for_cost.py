# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/cost.bats asks in Python: for_cost.py FUNCTION ARGUMENT..."""
import csv
import math
import re
import sqlite3
import statistics
import sys


def set_rate(store, text):
    with sqlite3.connect(store) as db:
        assert db.execute("UPDATE meta SET value = ? WHERE key = 'rate'", (text,)).rowcount == 1


def check_flops(rows_csv):
    known = empty = forward = 0
    for r in csv.DictReader(open(rows_csv, newline="")):
        n, d, m = int(r["n"]), int(r["d"]), int(r["landmarks"])
        p, strategy, core = 2 * d, r["strategy"].split("(")[0], r["core"].split("(")[0]  # joint: [q; k]
        if "of=points" in r["strategy"]:
            strategy = "leverage(of=points)"
        apart = lambda chosen: (chosen + 1) * n * p + max(chosen - 1, 0) * p  # points chosen by distance
        picks = {"uniform": 0, "segment_means": 0, "farthest_point": apart(m - 1), "dsquared": apart(m - 1),
                 "leverage(of=points)": 3 * n * p * p + 3 * round(p ** 3 / 6) + 13 * p ** 3 + n * p,
                 "kmeans": n * p + m * n * p + 2 * m * p}
        rows, k, s = 16, max(16, m), min(16, m)
        middle = {
            "iterative": 24 * m**3,
            "svd": 12 * m**3,
            "identity": 0,
            "fitted": rows * m * n
            + 2 * m * m * n
            + 3 * k * s * s
            + 10 * s**3
            + 61 * rows * s * m
            + 11 * m**3
            + rows * n * d,
        }
        whole = r["factors"] == "cur" and r["kernel"].startswith("softmax")
        if r["status"] != "ok" or strategy not in picks or core not in middle or whole:
            assert r["flops"] == "", r
            empty += r["status"] == "ok"
        else:
            assert float(r["flops"]) == 2 * (
                picks[strategy] + 4 * n * m * d + middle[core] + (0 if core == "identity" else 2 * m * m * d)
            ), r
            known += 1
        assert (r["forward_s"] != "") == (r["status"] == "ok" and not whole), r
        if r["forward_s"]:
            assert 0 < float(r["forward_s"]) < 10
            forward += 1
    assert known > 300 and empty > 200 and forward > 500, (known, empty, forward)


def check_same_flops(work):
    def flops(run):
        rows = csv.DictReader(open(f"{work}/{run}/rows.csv", newline=""))
        return {
            tuple(r[k] for k in ("problem", "kernel", "strategy", "landmarks", "factors", "core", "trial")): r["flops"]
            for r in rows
        }
    one = flops("one")
    assert sum(f != "" for f in one.values()) > 300
    assert flops("two") == one
    assert flops("parts") == one
    alone = flops("alone")
    assert len(alone) * 3 == len(one) and all(one[k] == f for k, f in alone.items())


def check_axis(svg):
    points = re.findall(r"translate\(([^)]*)\) scale\(([^)]*)\)' color='([^']*)'", open(svg).read())
    small = min((scale for _, scale, _ in points), key=float)
    curves = {
        colour: [at for at, scale, of in points if of == colour and scale == small]
        for _, scale, colour in points
        if scale == small
    }
    large = [(at, colour) for at, scale, colour in points if scale != small and colour in curves]
    assert len(large) == len(curves) > 4, (large, curves)
    assert all(at == curves[colour][2] for at, colour in large), (large, curves)


def check_medians(work):
    read = lambda name: list(csv.DictReader(open(f"{work}/{name}", newline="")))
    rows, lines, table = read("r/rows.csv"), read("r/plots/cost.csv"), read("at_cost.csv")
    def number(r, k):
        return float(r[k]) if r[k] else math.nan
    def flops(r):
        return number(r, "flops") / (4 * int(r["n"]) ** 2 * int(r["d"]))
    def time(r):
        return sum(number(r, k) for k in ("select_s", "core_s", "forward_s")) / number(r, "exact_s")
    def cell(strategy, core, m):
        return [
            r
            for r in rows
            if r["strategy"].startswith(strategy) and r["core"].startswith(core + "(") and int(r["landmarks"]) == m
        ]
    close = lambda a, b: math.isclose(float(a), b, rel_tol=1e-12)
    full = {
        "uniform": "uniform(",
        "segment_means": "segment_means",
        "farthest_point": "farthest_point(",
        "dsquared": "dsquared",
        "leverage(of=points)": "leverage(of=points",
        "leverage, oracle": "leverage(of=kernel",  # NOLINT(wording): a label
        "kmeans(iterations=1, init=random)": "kmeans(",
        "kmeans(init=random, iterations=1)": "kmeans(",
        "command(run=first.sh)": "command(",
    }
    seen = {}
    for l in lines:
        what, core = l["figure"].split(" with ")
        if l["series"] == "constant 1/n":
            continue
        mine = seen.setdefault((what, core, l["series"]), [])
        m = (4, 8, 16)[len(mine)]
        mine.append(m)
        of = cell(full[l["series"]], core, m)
        assert int(l["count"]) == len(of) > 0
        assert close(l["x"], statistics.median(map({"flops": flops, "time": time}[what], of))), l
        assert close(l["median"], statistics.median(number(r, "error") for r in of)), l
    assert all(m == [4, 8, 16] for m in seen.values())
    assert {k[2] for k in seen if k[0] == "flops"} == set(list(full)[:5]) | {
        s for s in full if s.startswith("kmeans") and ("flops", "iterative", s) in seen
    }
    assert {k[:2] for k in seen} == {("flops", "iterative"), ("time", "iterative"), ("time", "newton_schulz")}
    want = 0
    for strategy in sorted({k[2] for k in seen if k[0] == "flops"}):
        for level in (0.05, 0.1, 0.2, 0.5):
            may = [(statistics.median(number(r, "error") for r in of), m) for m in (4, 8, 16)
                   if statistics.median(map(flops, of := cell(full[strategy], "iterative", m))) <= level]
            line = [t for t in table if t["label"] == strategy and float(t["at_most"]) == level]
            assert len(line) == (len(may) > 0)
            if may:
                assert close(line[0]["median"], min(may)[0]) and int(line[0]["landmarks"]) == min(may)[1], line
                want += 1
    assert want == len(table) > 8, (want, len(table))


globals()[sys.argv[1]](*sys.argv[2:])
