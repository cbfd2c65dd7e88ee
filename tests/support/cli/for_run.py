# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/run.bats asks in Python: for_run.py FUNCTION ARGUMENT..."""
import csv
import re
import sqlite3
import sys
import types


def check_header(rows_csv):
    for row in csv.DictReader(open(rows_csv, newline="")):
        assert row["output_error"] == row["spectral_error"] == row["entropy_difference"] == row["negative_mass"] == ""
        if row["status"] == "skipped":
            assert row["error"] == row["floor_rank"] == "" and "cur" in row["reason"]
        else:
            assert row["status"] == "ok" and float(row["error"]) > 0 and float(row["error_noise"]) > 0


def check_engines(work):
    read = lambda how: list(csv.DictReader(open(f"{work}/{how}.csv", newline="")))
    base, direct, mixed = (read(how) for how in ("engine=streamed", "engine=direct", "precision=mixed"))
    assert len(base) == len(direct) == len(mixed) == 184
    for b, d, m in zip(base, direct, mixed):
        assert (b["engine"], b["precision"], d["engine"], m["precision"]) == ("streamed", "double", "direct", "mixed")
        assert b["status"] == d["status"] == m["status"]
        if b["status"] == "ok":
            for column in "error", "error_subspace", "output_error":
                e, noise = float(b[column]), 100 * float(b["error_noise"])
                assert abs(e - float(d[column])) <= 1e-11 * e + noise, (column, b, d)
                assert abs(e - float(m[column])) <= 1e-6 * e + noise, (column, b, m)


def check_sampled(rows_csv):
    rows = [row for row in csv.DictReader(open(rows_csv, newline="")) if row["status"] == "ok"]
    assert len(rows) == 144 and {row["rows"] for row in rows} == {"sample(40)"}
    for row in rows:
        assert float(row["error"]) > 0 and float(row["error_se"]) > 0 and float(row["output_error_se"]) > 0
        assert row["error_subspace"] == row["floor_rank"] == row["spectral_error"] == row["negative_mass"] == ""


def check_view(folder):
    with open(folder + "/rows.csv", newline="") as file:
        head, *rows = csv.reader(file)
    store = sqlite3.connect(folder + "/results.sqlite")
    found = store.execute("SELECT * FROM run")
    assert [c[0] for c in found.description] + ["problem_label", "kernel_label", "strategy_label", "core_label"] == head
    view = found.fetchall()
    assert len(view) == len(rows) > 0 and store.execute("SELECT count(*) FROM results").fetchone()[0] > len(rows)
    for mine, row in zip(view, rows):
        for value, text in zip(mine, row):
            assert (value is None and text == "") or (type(value)(text) == value), (value, text)


def check_texts(folder):
    texts = {
        row[1]
        for row in sqlite3.connect(folder + "/results.sqlite").execute("PRAGMA table_info(run)")
        if row[2] == "TEXT"
    }
    rows = list(csv.DictReader(open(folder + "/rows.csv", newline="")))
    empty = {c for c in texts if any(r[c] == "" for r in rows)}
    line = re.search(r'pandas\.read_csv\("rows\.csv".*?\)(?=\n```)', open("docs/running.md").read(), re.S)[0]
    said = eval(line, {"pandas": types.SimpleNamespace(read_csv=lambda path, **options: options)})
    assert empty == {"model", "layer", "source", "reason"} == set(said.pop("dtype")), (empty, said)
    assert said == {"keep_default_na": False, "na_values": ""}, said # an empty cell alone is missing


globals()[sys.argv[1]](*sys.argv[2:])
