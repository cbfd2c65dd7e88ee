# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/compare.bats asks in Python: for_compare.py FUNCTION ARGUMENT..."""
import csv
import json
import re
import sqlite3
import sys


def check_verdicts(json_path):
    lines = json.load(open(json_path))
    for x in lines:
        low, high = x["joint_low"], x["joint_high"]
        close = low >= 1 / 1.02 and high <= 1.02
        judged = "better" if high < 1 else "worse" if low > 1 else "equivalent" if close else "undecided"
        assert x["verdict"] == judged and x["family"] == len(lines), x
        assert low < x["low"] < x["high"] < high or len(lines) == 1, x


def check_baseline(json_path, shares, ratio):
    lines = json.load(open(json_path))
    table, figure = (list(csv.DictReader(open(path, newline=""))) for path in (shares, ratio))
    assert {x["label"] for x in table if x["error_relative"] == "1"} == {"kmeans"}, table # its own error over its own
    # NOLINT(wording): a label
    assert {x["series"] for x in figure} == {"leverage, oracle", "segment_means"}, figure
    drawn, told = (sorted(float(x["ratio"]) for x in rows) for rows in (figure, lines))
    assert len(drawn) == len(told) == 8
    assert all(abs(x / y - 1) < 1e-13 for x, y in zip(drawn, told)) # some roundings of 8 logarithms


def check_inputs(json_path, ranks):
    lines = [x for x in json.load(open(json_path)) if x["input"]]
    inputs = [f"max_n = {n}, permute = {p}" for n in (20, 40) for p in ("false", "true")]
    assert [x["input"] for x in lines] == inputs, lines
    assert all(x["heads"] == x["sources"] == x["pairs"] == 8 for x in lines), lines
    assert {x["input"] for x in json.load(open(ranks))} == {None, *inputs}


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
