# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/factors.bats asks in Python: for_factors.py FUNCTION ARGUMENT..."""
import csv
import json
import statistics
import sys


def check_nocore(rows_csv):
    rows = list(csv.DictReader(open(rows_csv, newline="")))
    same = {}
    for r in rows:
        assert (r["core"] == "identity") == (r["factors"] == "nocore"), r
        cur = r["factors"] == "cur" and (r["pairing"] == "shared" or r["strategy"].startswith("kmeans"))
        assert (r["status"] == "skipped") == cur, r
        if r["factors"] == "nocore":
            assert not any(r[c] for c in ("landmark_rank", "landmark_condition", "core_residual", "core_cutoff")), r
            assert float(r["rowsum_deviation"]) < 1e-14 and float(r["error"]) >= float(r["error_subspace"]), r
        if r["factors"] != "cur" and r["core"].split("(")[0] in ("identity", "best"):
            same.setdefault((r["strategy"], r["pairing"], r["landmarks"], r["trial"]), set()).add(
                round(float(r["error_subspace"]), 12)
            )
    assert same and all(len(x) == 1 for x in same.values()) # the same ranges


def check_ways(work):
    rows = {}
    for run in ("r", "direct", "mixed", "sampled"):
        for r in csv.DictReader(open(f"{work}/{run}/rows.csv", newline="")):
            assert r["status"] == "ok", r
            rows.setdefault((r["strategy"], r["landmarks"], r["pairing"], r["factors"]), {})[run] = r
    assert len(rows) == 36
    for row in rows.values():
        error = {run: float(r["error"]) for run, r in row.items()}
        # mixed precision rounds S to 6e-8, which the root of a difference of squares magnifies
        assert abs(error["direct"] / error["r"] - 1) < 1e-11 and abs(error["mixed"] / error["r"] - 1) < 1e-4, error
        assert abs(error["sampled"] - error["r"]) < 5 * float(row["sampled"]["error_se"]), error
    (one,) = [json.loads(line) for line in open(work + "/one.json")]
    (of,) = [
        row["r"]
        for key, row in rows.items()
        if key[0].startswith("orthogonal") and key[1:] == ("9", "shared_queries", "nocore")
    ]
    assert one["core"] == "identity" and one["pairing"] == "shared_queries" and one["error"] == float(of["error"]), one


def check_gram(rows_csv):
    for r in csv.DictReader(open(rows_csv, newline="")):
        whole, error = r["landmarks"] == "16", float(r["error"])
        assert (float(r["floor_rank"]) == 0) == whole, r
        assert error < 1e-9 if whole and r["core"].startswith("svd") else error > 1e-3, r # eps cond(A), cond below 1e6


def check_smoke(rows_csv):
    errors = {}
    for r in csv.DictReader(open(rows_csv, newline="")):
        errors.setdefault((r["core"].split("(")[0], r["landmarks"]), {}).setdefault(
            r["strategy"].split("(")[0], []
        ).append(float(r["error"]))
    order = {key: sorted(of, key=lambda s: statistics.median(of[s])) for key, of in errors.items()}
    for core, m in (("svd", "4"), ("iterative", "4"), ("iterative", "8")):
        assert set(order[core, m][:2]) == {"segment_means", "kmeans"}, order
    assert order["svd", "8"][0] == "uniform", order


def check_figure(figure_csv):
    rows = [r for r in csv.DictReader(open(figure_csv, newline="")) if "nystromformer" in r["series_name"]]
    assert len(rows) >= 8 and all(float(r["median"]) > 0 for r in rows if r["core_name"].startswith("iterative")), rows


globals()[sys.argv[1]](*sys.argv[2:])
