# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/effect.bats asks in Python: for_effect.py FUNCTION ARGUMENT..."""
import collections
import csv
import os
import sys

import numpy as np


def rows_of_run(rows_csv):
    for row in csv.DictReader(open(rows_csv, newline="")):
        row.pop("effect_s"), row.pop("experiment")
        print(list(row.values()))


def count_outcomes(rows_csv):
    rows = csv.DictReader(open(rows_csv, newline=""))
    counts = collections.Counter((r["attention"].split("(")[0], r["status"]) for r in rows if r["status"] != "planned")
    for (name, status), count in sorted(counts.items()):
        print(name, count, status)


def check_rows(rows_csv):
    rows = list(csv.DictReader(open(rows_csv, newline="")))
    assert {r["model"] for r in rows} == {"tiny"} and {r["layer"] for r in rows} == {"1", "half"}
    assert {r["source"] for r in rows} == {f"text {i}" for i in (0, 3)}
    for r in rows:
        each = {"1": 2, "half": 4}[r["layer"]]
        assert int(r["heads"]) == each and int(r["head"]) == each * int(r["source"][-1]), r
        assert (r["n"], r["d"]) == ("24", "8") and r["perplexity_ratio"] == r["kl"] == ""
        name = r["attention"].split("(")[0]
        landmarks = {"streamed": "0", "longformer": "6"}.get(name, r["attention"].split("landmarks=")[-1][0])
        assert r["landmarks"] == landmarks, r
        assert (r["error"] == "") == (name != "nystrom"), r
        if name == "streamed":
            # 3 layers of sums over at most 32 products in single precision
            assert 0 < float(r["model_error"]) < 2e-6 and float(r["rank_agreement"]) == 1, r
        elif name == "nystrom":
            error, parts = float(r["error"]), (float(r["error_subspace"]), float(r["error_core"]))
            assert max(parts) <= error <= sum(parts) and float(r["model_error"]) > 0.05, r


def check_two_lengths(run):
    lines = list(csv.DictReader(open(run + "/effects.csv", newline="")))
    long, short = [("24", "6")] * 2, [("12", "6")] * 2
    assert [(l["n"], l["rows"]) for l in lines] in (long + short, short + long), lines
    print(*sorted({r["panel"] for r in csv.DictReader(open(run + "/plots/effect.csv", newline=""))}), sep="\n")


def check_causal(rows_csv):
    for r in csv.DictReader(open(rows_csv, newline="")):
        if r["status"] == "ok":
            assert r["embedding_distance"] == r["rank_agreement"] == "" and float(r["kl"]) > -1e-12, r
            exact = r["attention"].startswith("streamed")
            assert (abs(float(r["perplexity_ratio"]) - 1) < 1e-5) == exact, r


def check_programs(rows_csv):
    rows = [r for r in csv.DictReader(open(rows_csv, newline="")) if r["status"] == "ok"]
    for r in rows:
        assert float(r["model_error"]) > 1e-3 and float(r["output_error"]) > 1e-3, r
        assert (r["error"] == "") == (r["strategy"] == ""), r


def check_faults(rows_csv):
    faulty = {"uniform", "kmeans", "group_means", "farthest_point", "orthogonal", "dsquared", "context"}
    count = 0
    for row in csv.DictReader(open(rows_csv, newline="")):
        if row["status"] == "planned":
            continue
        assert row["status"] == ("failed" if row["strategy"].split("(")[0] in faulty else "ok"), row
        count += 1
    assert count == 20, count


def check_metrics(rows_csv, asked):
    for r in csv.DictReader(open(rows_csv, newline="")):
        assert r["model_error"], r
        assert bool(r["output_error"]) == (asked in ("output_error", "all")), r
        error = asked in ("error", "all") and bool(r["core"])
        assert all(bool(r[name]) == error for name in ("error", "error_subspace", "error_core")), r


def check_reasons(folder, reason):
    for run in folder, folder + "-heads":
        rows = csv.DictReader(open(run + "/rows.csv", newline=""))
        reasons = [r["reason"] for r in rows if r["status"] == "failed"]
        assert reasons and len(set(reasons)) == 1 and reason in reasons[0], set(reasons)


def check_rounding(rows_csv):
    lost, reasons = 0, set()
    for r in csv.DictReader(open(rows_csv, newline="")):
        if r["status"] in ("planned", "diverged"):  # with so many steps the outputs may not be finite either
            assert "steps=6," not in r["attention"] or r["status"] == "planned", r
            continue
        bad = "steps=6," not in r["attention"]
        assert all((r[c] == "") == bad for c in ("error", "error_subspace", "error_core")), r
        assert bool(r["reason"]) == bad, r
        reasons.add(r["reason"])
        assert r["model_error"] and r["output_error"], r
        lost += bad
    assert lost > 0
    print(*sorted(reasons - {""}), sep="\n")


def check_heads(work):
    heads = list(csv.DictReader(open(f"{work}/s/rows.csv", newline="")))
    effects = list(csv.DictReader(open(f"{work}/r/rows.csv", newline="")))
    assert len(heads) == 2 * (2 + 6) and len(effects) == 4
    for e in effects:
        own = [h for h in heads if h["layer"] == e["layer"] and h["strategy"] in e["attention"]]
        assert len(own) == int(e["heads"]), (len(own), e)
        for column in ("error", "error_subspace", "error_core", "output_error"):
            mean = sum(float(h[column]) for h in own) / len(own)
            # the same numbers, but outputs are those of a pass in single precision
            tolerance = 1e-5 if column == "output_error" else 1e-12
            assert abs(mean - float(e[column])) <= tolerance * mean, (column, mean, e)


def check_draws(work, program):
    sys.path.insert(0, work)  # where the program of the model is
    import tiny_model as tiny
    os.chdir(work)
    model, compared = tiny.Model(), 0
    for row in csv.DictReader(open("r/rows.csv", newline="")):
        if row["status"] != "ok":
            continue
        attention = tiny.by_nysbench(os.path.realpath(program), False, row["attention"], 20260101, 1)
        found, layers, source = [], {"1": [1], "half": [0, 2]}[row["layer"]], int(row["source"][-1])
        for layer in layers:
            q, k, v = model.exact_pass(source)[1][layer]
            found += [tiny.relative(o, e) for o, e in zip(attention(q, k, v), tiny.softmax_attention(q, k, v, False))]
        # the same outputs; sums of 192 squares in another order
        assert abs(np.mean(found) - float(row["output_error"])) < 1e-12 * np.mean(found), (found, row)
        told = tiny.effects(model, source, layers, attention)
        assert all(abs(told[name] - float(row[name])) < 1e-12 for name in ("model_error", "layer_error")), (told, row)
        compared += 1
    assert compared == 4, compared


globals()[sys.argv[1]](*sys.argv[2:])
