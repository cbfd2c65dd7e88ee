# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/ranking.bats asks in Python: for_ranking.py FUNCTION ARGUMENT..."""
import collections
import csv
import re
import sys


def check_csv(name_csv):
    rows = list(csv.reader(open(name_csv, newline="")))
    assert len(rows) > 2 and len({len(r) for r in rows}) == 1, rows[:2]
    assert not any(x.lower() in ("nan", "-nan") for r in rows for x in r)


def check_tables(work):
    ranks, wins = (list(csv.DictReader(open(f"{work}/{t}.csv", newline=""))) for t in ("ranks", "wins"))
    sums = collections.Counter()
    for r in ranks:
        sums[r["model"], r["landmarks"]] += float(r["rank"])
    assert len(sums) == 6 and all(abs(s - 6) < 1e-12 for s in sums.values()), sums
    of = {(r["model"], r["landmarks"], r["method"], r["over"]): r for r in wins}
    for (model, m, a, b), r in of.items():
        back = of[model, m, b, a]
        assert (r["below"], r["above"], r["equal"]) == (back["above"], back["below"], back["equal"]), r
    assert len(of) == 6 * 6


def check_absent(work):
    ranks = list(csv.DictReader(open(work + "/ranks.csv", newline="")))
    rows = list(csv.DictReader(open(work + "/r/rows.csv", newline="")))
    lost = {r["trial"] for r in rows if "some.py" in r["strategy"] and r["status"] != "ok"}
    assert 3 < len(lost) < 14, lost
    for r in ranks:
        assert set(re.findall(r"trial (\d+)", r["left_out_sources"])) == lost, (lost, r["left_out_sources"])
        assert int(r["left_out"]) == len(lost), r
        assert int(r["sources"]) == 20 - len(lost) and (r["rank"] == "") == ("run=false" in r["label"]), r
        assert int(r["missing"]) == (20 if "run=false" in r["label"] else len(lost) if "some" in r["label"] else 0), r


globals()[sys.argv[1]](*sys.argv[2:])
