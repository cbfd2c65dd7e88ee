# SPDX-License-Identifier: GPL-3.0-or-later
# What cores do on rows of S that they have not looked at, rows that are kept, and what
# exact attention costs beside them.

load helpers

@test "rows unseen and rows kept are in CSV and JSON, and described" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set trials=2 --set landmarks=4 --set strategies=uniform --set metrics=error --set 'problems=["gaussian(n=60, d=8)"]' \
        --set 'cores=[iterative, fitted, "fitted(keep_rows=true)", exact_rows, "exact_rows(rows=60)", best]' --set plots=[] -o "$WORK/r"
    "$NYSBENCH" export "$WORK/r" --format json >"$WORK/rows.json"
    /usr/bin/python3 - "$WORK" <<'PY'
import csv, json, math, sys
rows = [r for r in csv.DictReader(open(f"{sys.argv[1]}/r/rows.csv", newline="")) if r["status"] == "ok"]
again = [r for r in json.load(open(f"{sys.argv[1]}/rows.json")) if r["status"] == "ok"]
assert len(rows) == len(again) > 20
seen = set()
for r, j in zip(rows, again):
    parts = [r[name] for name in ("error_unseen", "error_unseen_subspace", "error_unseen_core")]
    assert [j[name] is None for name in ("error_unseen", "error_unseen_subspace", "error_unseen_core")] == [p == "" for p in parts]
    kind = r["core"].split("(")[0] + (" keeps" if "keep_rows=true" in r["core"] else "") + (" all" if "rows=60" in r["core"] else "")
    seen.add(kind)
    assert float(r["exact_s"]) > 0
    if kind == "iterative":
        assert parts == [r["error"], r["error_subspace"], r["error_core"]]
    elif kind in ("best", "exact_rows all"):
        assert parts == ["", "", ""], parts
    else:
        error, subspace, core = map(float, parts)
        assert math.isclose(math.hypot(subspace, core), error, rel_tol=1e-9) and error > subspace > 0
        assert (r["error_core"] == "") == (kind != "fitted")
        if kind != "fitted":
            assert float(r["error"]) < error  # the rows kept miss nothing
    if kind == "exact_rows all":
        assert float(r["error"]) == 0 and "not above its rounding noise" in r["reason"]
assert seen == {"iterative", "fitted", "fitted keeps", "exact_rows", "exact_rows all", "best"}, seen
PY
    for column in error_unseen error_unseen_subspace error_unseen_core exact_s; do
        described $column
        expect_status 0
    done
    described exact_rows
    expect "error_core is empty"
    described fitted
    expect "keep_rows"
    described chosen
    expect "keep_rows"
}

@test "sampled rows: kept ones are exact, those unseen are told where any were drawn" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set trials=3 --set landmarks=4 --set strategies=uniform --set metrics=error --set 'problems=["gaussian(n=200, d=8)"]' \
        --set 'cores=[iterative, fitted, exact_rows, "exact_rows(rows=199)", "exact_rows(rows=200)"]' --set 'rows=sample(50)' --set plots=[] -o "$WORK/r"
    /usr/bin/python3 - "$WORK/r/rows.csv" <<'PY'
import csv, sys
of = {}
for r in csv.DictReader(open(sys.argv[1], newline="")):
    if r["status"] == "ok":
        of.setdefault((r["trial"], r["factors"]), {})[r["core"]] = r
        assert r["error_unseen_subspace"] == r["error_unseen_core"] == ""
assert len(of) == 6
for cores in of.values():
    six = next(r for c, r in cores.items() if c.startswith("iterative"))
    kept = {int(c.rsplit("rows=", 1)[1][:-1]) if "rows=auto" not in c else 16: r for c, r in cores.items() if c.startswith("exact_rows")}
    assert six["error_unseen"] == six["error"] and float(kept[200]["error"]) == 0 == float(kept[200]["error_se"])
    assert 0 < float(kept[16]["error"]) < float(six["error"]) and kept[200]["error_unseen"] == ""
    assert float(kept[199]["error"]) < float(kept[16]["error"])
PY
}

@test "row sums tell how far X is from the inverse of A, but not for cur" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set trials=1 --set landmarks=16 --set strategies=uniform --set metrics=error --set cores="svd(rcond=machine)" \
        --set 'problems=["heads(file=experiments/data/vit_astronaut_n257_L6.safetensors)"]' --set 'factors=[nystromformer, cur]' --set plots=[] -o "$WORK/r"
    /usr/bin/python3 - "$WORK/r/rows.csv" <<'PY'
import csv, sys
rows = [r for r in csv.DictReader(open(sys.argv[1], newline="")) if r["status"] == "ok"]
assert {r["factors"] for r in rows} == {"nystromformer", "cur"}
for r in rows:
    assert float(r["core_residual"]) < 1e-10 * float(r["landmark_condition"]), r  # X is the inverse
    deviation = float(r["rowsum_deviation"])
    assert deviation < 1e-9 if r["factors"] == "nystromformer" else deviation > 0.5, r
PY
    described rowsum_deviation
    expect "with cur it says nothing about X"
}

@test "the table of cores has what keeps rows below 0, and exact attention under it" {
    undrawn
    "$NYSBENCH" run experiments/00-smoke.yaml --set trials=2 --set 'landmarks=[4, 16]' --set strategies=uniform --set metrics=error --set factors=nystromformer \
        --set 'problems=["gaussian(n=60, d=8)", "gaussian(n=64, d=8)", "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors)"]' \
        --set 'cores=["svd(rcond=[0.3, 0.1, 0.01])", iterative, fitted, "exact_rows(of=fitted)", "exact_rows(of=best)", best]' --set 'plots=[cores, cutoff]' -q -o "$WORK/r" >/dev/null
    "$NYSBENCH" table "$WORK/r" cores >"$WORK/out"
    /usr/bin/python3 - "$WORK" <<'PY'
import csv, statistics, sys
rows = [r for r in csv.DictReader(open(f"{sys.argv[1]}/r/rows.csv", newline="")) if r["status"] == "ok"]
text = open(f"{sys.argv[1]}/out").read()
table = text.strip().split("\n")
line = {row.split()[0]: row.split()[1:] for row in table[2:10]}
for m, word in (("4", 0), ("16", 1)):
    kept = [r for r in rows if r["core"].startswith("exact_rows(of=fitted") and r["landmarks"] == m and float(r["error_subspace"]) >= 1e-12]
    percent = 100 * statistics.median(float(r["error"]) / float(r["error_subspace"]) - 1 for r in kept)
    got = line["exact_rows(of=fitted)"][word]
    assert abs(float(got.strip("*!")) - percent) <= 0.51, (got, percent)
assert float(line["exact_rows(of=fitted)"][1].strip("*!")) < -5, line
assert not line["exact_rows(of=best)"][1].endswith("*")  # an oracle is never the least
exact = table[next(i for i, row in enumerate(table) if row.startswith("Exact attention")) + 1:]
for row, (n, d) in zip(exact, ((60, 8), (64, 8), (257, 64))):
    assert row.startswith(f"  n = {n}, d = {d}: 2 n^2 d = {2 * n * n * d:.2g}, "), row
    seconds = statistics.median(float(r["exact_s"]) for r in rows if r["n"] == str(n))
    assert abs(float(row.split()[-2]) / seconds - 1) < 0.06, (row, seconds)
figure = [r for r in csv.DictReader(open(f"{sys.argv[1]}/r/plots/cores.csv", newline=""))]
names = {r["series"] for r in figure}
assert "best rcond of svd (oracle)" in names and all(float(r["median"]) > 0 for r in figure), names
assert not any(n.startswith("exact_rows") for n in names), names  # no F X B, so not above the best one
cut = [r for r in csv.DictReader(open(f"{sys.argv[1]}/r/plots/cutoff.csv", newline=""))]
assert any(r["series"].startswith("exact_rows") for r in cut) and not any(r["series"].startswith("exact_rows") and float(r["x"]) != 1 for r in cut)
PY
}

@test "the manual's tables of X come from runs of experiments 03 and 05" {
    "$NYSBENCH" run experiments/03-pinv.yaml -q --set trials=1 --set 'problems=["heads(file=experiments/data/vit_astronaut_n257_L6.safetensors)"]' --set plots=[] -o "$WORK/r"
    run "$NYSBENCH" table "$WORK/r" above pairs equal_cost
    expect_status 0
    expect "over 48 choices of landmarks, 48 of them different"
    expect "best svd of 14 (oracle)"
    expect "exact_rows(of=iterative)"
    expect "m = 32, over m = 64"
    "$NYSBENCH" run experiments/05-fitted-limits.yaml -q --set trials=2 --set 'problems=["gaussian(n=200, d=8)"]' --set plots=[] -o "$WORK/s"
    "$NYSBENCH" table "$WORK/s" rows -f csv >"$WORK/out"
    /usr/bin/python3 - "$WORK" <<'PY'
import csv, statistics, sys
got = {r["core"]: r for r in csv.DictReader(open(f"{sys.argv[1]}/out", newline=""))}
rows = [r for r in csv.DictReader(open(f"{sys.argv[1]}/s/rows.csv", newline="")) if r["status"] == "ok"]
fitted = "fitted(rows=128, ridge=auto, keep_rows=false)"
mine = [r for r in rows if r["core"] == fitted]
want = statistics.median(float(r["error_unseen"]) / float(r["error_unseen_subspace"]) for r in mine)
assert abs(float(got[fitted]["unseen"]) / want - 1) < 1e-12 and want > 1, (got[fitted], want)
core, kept = next((r["core"], []) for r in rows if r["core"].startswith("exact_rows(of=iterative") and r["core"].endswith("rows=128)"))
kept = [r for r in rows if r["core"] == core]
want = statistics.median(float(r["error"]) / float(r["error_subspace"]) for r in kept)
assert abs(float(got[core]["error"]) / want - 1) < 1e-12 and len(kept) == len(mine) == 6, (got[core], want)
key = lambda r: (r["strategy"], r["trial"])
below = [next(float(k["error"]) for k in kept if key(k) == key(r)) > float(r["error"]) for r in mine]
assert got[fitted]["below_kept"] == f"{sum(below)} of 6" and got[fitted]["below_first"].endswith(" of 6"), got[fitted]
PY
}
