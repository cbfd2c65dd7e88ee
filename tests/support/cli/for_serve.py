# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/serve.bats asks in Python: for_serve.py FUNCTION ARGUMENT..."""
import csv
import json
import re
import sys


def reasons():
    """The reasons of each case, in the order of the cases; all of its rows have failed."""
    rows = [(row["strategy"], row["status"], row["reason"]) for row in csv.DictReader(open("r/rows.csv", newline=""))]
    for line in open("cases"):
        run = line.split("|")[0]
        found = [row for row in rows if row[0].startswith("command(run=%s, timeout=" % json.dumps(run))]
        assert found and all(status == "failed" for _, status, _ in found), (run, found)
        print(*sorted({why for _, _, why in found}), sep="\n")


def check_requests():
    asked = [json.loads(line) for line in open("one.asked")]
    questions = [one["asked"] for one in asked]
    assert len({one["pid"] for one in asked}) == 1 and not any(q["causal"] for q in questions)
    assert {tuple(sorted(q)) for q in questions} == {("causal", "d", "folder", "m", "n", "seed", "side")}, questions[0]
    shape = {
        "joint": lambda n, d: (n, 2 * d),
        "shared": lambda n, d: (2 * n, d),
        "queries": lambda n, d: (n, d),
        "keys": lambda n, d: (n, d),
    }
    for side, of in shape.items():
        found = {tuple(one["shape"]) for one in asked if one["asked"]["side"] == side}
        assert found == {of(30, 3), of(20, 2), of(257, 64)}, (side, found)
    assert all(one["shape"] == [one["asked"]["n"], one["asked"]["d"]] for one in asked)
    by = {}
    for q in questions:
        by.setdefault((q["m"], q["side"]), set()).add(q["seed"])
    seeds = {q["seed"] for q in questions}
    assert (
        len(by) == 8
        and all(len(s) == 6 for s in by.values())  # three trials of drawn data, and of a source
        and len(seeds) == 48
        and all(0 <= s < 2**32 for s in seeds)
    ), by


def check_picks():
    error = {} # by whether the program is served, its way to pick, pairing and m
    for row in csv.DictReader(open("r/rows.csv", newline="")):
        named = re.search(r"(?:mine[.]py|picker) (\w+)", row["strategy"])
        name = named[1] if named else row["strategy"]
        error["serve=true" in row["strategy"], name, row["pairing"], int(row["landmarks"])] = row["error"]
    pairings = {pairing for _, _, pairing, _ in error}
    assert len(pairings) == 8
    for m, kind in {4: "one", 5: "two", 6: "points", 7: "parts", 8: "other", 9: "key"}.items():
        assert error[True, "every", "both", m] == error[True, kind, "both", m], (m, kind)
        for pairing in pairings - {"both"}:
            assert (
                error[True, "every", pairing, m] == error[True, "one", pairing, m] == error[False, "one", pairing, m]
            ), (pairing, m)
        for kind in "one", "two", "points":
            assert error[True, kind, "both", m] == error[False, kind, "both", m], (kind, m)
        assert len({error[True, kind, "both", m] for kind in ("one", "two", "parts", "other", "key")}) == 5, m
    # tokens in order, cut into m parts: with pairing joint the same for both sides too, and the segments where m
    # divides n
    for m in 4, 5, 8:
        own, parts = float(error[False, "segment_means", "joint", m]), error[True, "parts", "joint", m]
        assert abs(float(parts) / own - 1) < 1e-9 and error[True, "parts", "both", m] == parts, (m, own, parts)


def check_time(before, after, json_file):
    picks, whole = json.load(open(json_file))["select_s"], float(after) - float(before)
    assert 0 < picks < whole - 2 + 0.02, (picks, whole)


globals()[sys.argv[1]](*sys.argv[2:])
