# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/unseen.bats asks in Python: for_unseen.py FUNCTION ARGUMENT..."""
import csv
import json
import math
import statistics
import sys


def check_described(work):
    rows = [r for r in csv.DictReader(open(f"{work}/r/rows.csv", newline="")) if r["status"] == "ok"]
    again = [r for r in json.load(open(f"{work}/rows.json")) if r["status"] == "ok"]
    assert len(rows) == len(again) > 20
    seen, reasons = set(), set()
    for r, j in zip(rows, again):
        parts = [r[name] for name in ("error_unseen", "error_unseen_subspace", "error_unseen_core")]
        assert [j[name] is None for name in ("error_unseen", "error_unseen_subspace", "error_unseen_core")] == [
            p == "" for p in parts
        ]
        kind = (
            r["core"].split("(")[0]
            + ("-keeps" if "keep_rows=true" in r["core"] else "")
            + ("-all" if "rows=60" in r["core"] else "")
        )
        seen.add(kind)
        assert float(r["exact_s"]) > 0
        if kind == "iterative":
            assert parts == [r["error"], r["error_subspace"], r["error_core"]]
        elif kind in ("best", "exact_rows-all"):
            assert parts == ["", "", ""], parts
        else:
            error, subspace, core = map(float, parts)
            assert math.isclose(math.hypot(subspace, core), error, rel_tol=1e-9) and error > subspace > 0
            assert (r["error_core"] == "") == (kind != "fitted")
            if kind != "fitted":
                assert float(r["error"]) < error  # the rows kept miss nothing
        if kind == "exact_rows-all":
            assert float(r["error"]) == 0 and r["reason"]
            reasons.add(r["reason"])
    assert seen == {"iterative", "fitted", "fitted-keeps", "exact_rows", "exact_rows-all", "best"}, seen
    print(*sorted(reasons), sep="\n")


def check_sampled(rows_csv):
    of = {}
    for r in csv.DictReader(open(rows_csv, newline="")):
        if r["status"] == "ok":
            of.setdefault((r["trial"], r["factors"]), {})[r["core"]] = r
            assert r["error_unseen_subspace"] == r["error_unseen_core"] == ""
    assert len(of) == 6
    for cores in of.values():
        six = next(r for c, r in cores.items() if c.startswith("iterative"))
        kept = {
            int(c.rsplit("rows=", 1)[1][:-1]) if "rows=auto" not in c else 16: r
            for c, r in cores.items()
            if c.startswith("exact_rows")
        }
        assert six["error_unseen"] == six["error"] and float(kept[200]["error"]) == 0 == float(kept[200]["error_se"])
        assert 0 < float(kept[16]["error"]) < float(six["error"]) and kept[200]["error_unseen"] == ""
        assert float(kept[199]["error"]) < float(kept[16]["error"])


def check_row_sums(rows_csv):
    rows = [r for r in csv.DictReader(open(rows_csv, newline="")) if r["status"] == "ok"]
    assert {r["factors"] for r in rows} == {"nystromformer", "cur"}
    for r in rows:
        assert float(r["core_residual"]) < 1e-10 * float(r["landmark_condition"]), r  # X is the inverse
        deviation = float(r["rowsum_deviation"])
        assert deviation < 1e-9 if r["factors"] == "nystromformer" else deviation > 0.5, r


def check_table(work):
    rows = [r for r in csv.DictReader(open(f"{work}/r/rows.csv", newline="")) if r["status"] == "ok"]
    text = open(f"{work}/out").read()
    table = text.strip().split("\n")
    line = {row.split()[0]: row.split()[1:] for row in table[2:10]}
    for m, word in (("4", 0), ("16", 1)):
        kept = [
            r
            for r in rows
            if r["core"].startswith("exact_rows(of=fitted")
            and r["landmarks"] == m
            and float(r["error_subspace"]) >= 1e-12
        ]
        percent = 100 * statistics.median(float(r["error"]) / float(r["error_subspace"]) - 1 for r in kept)
        got = line["exact_rows(of=fitted)"][word]
        assert abs(float(got.strip("*!")) - percent) <= 0.51, (got, percent)
    assert float(line["exact_rows(of=fitted)"][1].strip("*!")) < -5, line
    assert not line["exact_rows(of=best)"][1].endswith("*")  # an oracle is never the least
    # NOLINT(wording): a heading
    exact = table[next(i for i, row in enumerate(table) if row.startswith("Exact attention")) + 1:]
    for row, (n, d) in zip(exact, ((60, 8), (64, 8), (257, 64))):
        assert row.startswith(f"  n = {n}, d = {d}: 2 n^2 d = {2 * n * n * d:.2g}, "), row
        seconds = statistics.median(float(r["exact_s"]) for r in rows if r["n"] == str(n))
        assert abs(float(row.split()[-2]) / seconds - 1) < 0.06, (row, seconds)
    figure = list(csv.DictReader(open(f"{work}/r/plots/cores.csv", newline="")))
    names = {r["series"] for r in figure}
    assert "best rcond of svd (oracle)" in names  # NOLINT(wording): a label
    assert all(float(r["median"]) > 0 for r in figure), names
    assert not any(n.startswith("exact_rows") for n in names), names  # no F X B, so not above the best one
    cut = list(csv.DictReader(open(f"{work}/r/plots/cutoff.csv", newline="")))
    assert any(r["series"].startswith("exact_rows") for r in cut) and not any(
        r["series"].startswith("exact_rows") and float(r["x"]) != 1 for r in cut
    )


def check_manual(work):
    got = {r["core"]: r for r in csv.DictReader(open(f"{work}/out", newline=""))}
    rows = [r for r in csv.DictReader(open(f"{work}/s/rows.csv", newline="")) if r["status"] == "ok"]
    fitted = "fitted(rows=128, ridge=auto, keep_rows=false)"
    mine = [r for r in rows if r["core"] == fitted]
    want = statistics.median(float(r["error_unseen"]) / float(r["error_unseen_subspace"]) for r in mine)
    assert abs(float(got[fitted]["unseen"]) / want - 1) < 1e-12 and want > 1, (got[fitted], want)
    core, kept = next(
        (r["core"], [])
        for r in rows
        if r["core"].startswith("exact_rows(of=iterative") and r["core"].endswith("rows=128)")
    )
    kept = [r for r in rows if r["core"] == core]
    want = statistics.median(float(r["error"]) / float(r["error_subspace"]) for r in kept)
    assert abs(float(got[core]["error"]) / want - 1) < 1e-12 and len(kept) == len(mine) == 6, (got[core], want)
    key = lambda r: (r["strategy"], r["trial"])
    below = [next(float(k["error"]) for k in kept if key(k) == key(r)) > float(r["error"]) for r in mine]
    assert got[fitted]["below_kept"] == f"{sum(below)} of 6" and got[fitted]["below_first"].endswith(" of 6"), got[
        fitted
    ]


globals()[sys.argv[1]](*sys.argv[2:])
