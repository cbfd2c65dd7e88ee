# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/sql.bats asks in Python: for_sql.py FUNCTION ARGUMENT..."""
import collections
import csv
import json
import math
import re
import sqlite3
import statistics
import subprocess
import sys


def check_view(*paths):
    rows, view = (list(csv.DictReader(open(path, newline=""))) for path in paths)
    assert len(rows) == len(view) > 100
    for a, b in zip(rows, view):
        for name in a:
            assert a[name] == b[name], (name, a[name], b[name])
    assert {"uniform", "kmeans"} <= {b["strategy_label"].split("(")[0] for b in view}


def check_aggregates(*paths):
    rows, cells = (list(csv.DictReader(open(path, newline=""))) for path in paths)
    def quantile(values, q):
        values = sorted(values)
        at = q * (len(values) - 1)
        low = min(int(at), len(values) - 2)
        return values[low] + (at - low) * (values[low + 1] - values[low])
    assert len(cells) > 5
    for cell in cells:
        mine = [
            r for r in rows if r["status"] == "ok" and all(r[k] == cell[k] for k in ("strategy", "core", "landmarks"))
        ]
        errors = [float(r["error"]) for r in mine]
        trials = {}
        for r in mine:
            trials.setdefault(r["trial"], []).append(float(r["error"]))
        medians = sorted(statistics.median(v) for v in trials.values())
        inside = lambda k: 1 - 2 * sum(math.comb(9, i) for i in range(k)) / 2**9
        k = max(k for k in range(1, 5) if inside(k) >= 0.95)
        wanted = {"median": statistics.median(errors), "p10": quantile(errors, 0.1), "mean": statistics.fmean(errors),
                  "sd": statistics.stdev(errors), "geomean": statistics.geometric_mean(errors), "sources": 9,
                  "low": medians[k - 1], "high": medians[9 - k]}
        for name, value in wanted.items():
            assert math.isclose(float(cell[name]), value, rel_tol=1e-13), (name, cell[name], value)


def check_choices(*paths):
    rows, got = (list(csv.DictReader(open(path, newline=""))) for path in paths)
    choices = collections.defaultdict(lambda: collections.defaultdict(dict))
    for r in rows:
        choices[tuple(r[k] for k in ("head", "kernel", "strategy", "pairing", "factors", "landmarks"))][r["core"]][
            r["trial"]
        ] = float(r["error"]) / float(r["error_subspace"]) - 1
    wanted = []
    for choice, cores in choices.items():
        for trial in {t for of in cores.values() for t in of}:
            wanted += [(choice[-1], trial, c, of["0"] if set(of) == {"0"} else of[trial]) for c, of in cores.items()]
    assert sorted(wanted) == sorted((r["landmarks"], r["trial"], r["core"], float(r["above"])) for r in got), (
        wanted[:9],
        got[:9],
    )
    assert len(wanted) > len(rows)


def check_ratios(*paths):
    a, b = (next(csv.DictReader(open(path, newline=""))) for path in paths)
    for name in "ratio", "low", "high":
        assert math.isclose(float(a[name]), float(b[name]), rel_tol=1e-13), (name, a[name], b[name])


def check_reading(program, folder):
    db = sqlite3.connect(folder + "/results.sqlite", isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    db.execute("UPDATE results SET error = 7")
    out = subprocess.run([program, "sql", folder, "SELECT count(*) AS sevens FROM run WHERE error = 7", "-f", "csv"],
                         capture_output=True, text=True, timeout=20)
    assert out.stdout == "sevens\n0\n", out


def check_file(file):
    text = "\n".join(line for line in open(file) if not line.startswith("--"))
    for query in filter(str.strip, text.split(";\n")):
        assert re.search(r"\b(ORDER BY|LIMIT 1\b|AS (above|holds|remark|paragraph)$)", query.strip(),
                         re.MULTILINE), (file, query[:200])


def check_manual(program, folder):
    text = open("docs/figures.md").read().split("### Ten queries")[1]
    queries = [
        "\n".join(line[4:] for line in block.splitlines())
        for block in re.split(r"\n\n", text)
        if block.startswith("    ")
    ]
    assert len(queries) == 10, len(queries)
    for query in queries:
        out = subprocess.run([program, "sql", folder, query, "-f", "csv"], capture_output=True, text=True)
        assert out.returncode == 0 and not out.stderr, (query, out.stderr)
        of_failures = "wrong" in query or "status <>" in query  # of which there are none
        assert of_failures or len(out.stdout.splitlines()) > 1, (query, out.stdout)


def check_close(*texts):
    got, want = ([float(x) if x else None for x in text.split(",")] for text in texts)
    assert len(got) == len(want), (got, want)
    for g, w in zip(got, want):
        assert g == w or (w is not None and math.isclose(g, w, rel_tol=1e-9)), (got, want)


def check_last(json_file):
    assert json.load(open(json_file))[-1] == {"x": 1000000, "text": "a text of 1000000"}  # NOLINT(wording): the query's


globals()[sys.argv[1]](*sys.argv[2:])
