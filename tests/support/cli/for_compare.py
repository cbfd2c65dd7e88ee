# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/compare.bats asks in Python: for_compare.py FUNCTION ARGUMENT..."""
import csv
import json
import re
import sqlite3
import sys


def check_wins(json_path):
    error, cosine = (json.load(open(json_path + metric)) for metric in ("error", "cosine"))
    assert all(x[0] == "undecided" or x[:3] == y[:3] for x, y in zip(error, cosine)), (error, cosine)
    assert error[0] == ["better", 1.0, True, 8] and cosine[0] == ["better", 1.0, True, 0], (error, cosine)


def change_build(store, problem="%"):
    with sqlite3.connect(store) as db:
        db.execute("INSERT INTO manifests SELECT 99, 'other', 'other', text FROM manifests LIMIT 1")
        db.execute("UPDATE results SET manifest = 99 WHERE strategy LIKE 'kmeans%' AND problem LIKE ?", (problem,))


def fail_trials(store):
    """Leaves k-means trial 0 alone."""
    with sqlite3.connect(store) as db:
        db.execute("UPDATE results SET status = 'failed', error = NULL WHERE strategy LIKE 'kmeans%' AND trial > 0")


def check_rectangle(file, count):
    rows = list(csv.reader(open(file, newline="")))
    assert len(rows) == int(count) and len({len(row) for row in rows}) == 1, rows


def check_across(text, json_path):
    """Cells of the table with m across are the ratios and the marks of their verdicts."""
    lines, rows, core = json.load(open(json_path)), {}, None
    for line in open(text):
        core = re.match("  core ([a-z]+)", line)[1] if line.startswith("  core") else core
        words = line.split()
        if core and len(words) == 9:
            for m, word in zip((2, 3, 4, 5, 6, 7, 8, 10), words[1:]):
                rows[core, words[0], m] = word
    marks = {"better": "*", "worse": "x", "equivalent": "=", "undecided": ""}
    assert len(lines) == len(rows) == 32, (len(lines), rows)
    for x in lines:
        word = rows[x["core"].split("(")[0], x["method"].split("(")[0], x["landmarks"]]
        assert word == "%.3g" % x["ratio"] + marks[x["verdict"]], (word, x)


globals()[sys.argv[1]](*sys.argv[2:])
