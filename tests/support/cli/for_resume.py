# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/resume.bats asks in Python: for_resume.py FUNCTION ARGUMENT..."""
import csv
import os
import sqlite3
import sys


def forget_experiment(store):
    db = sqlite3.connect(store, isolation_level=None)
    db.executescript("PRAGMA cache_size = 1; BEGIN; CREATE TABLE t (x)") # pages go to the file before there is a commit
    for _ in range(50):
        db.execute("INSERT INTO t VALUES (zeroblob(5000))")
    os._exit(0)


def damage_store(work):
    good = open(work + "/good", "rb").read()
    page = int.from_bytes(good[16:18], "big")
    pages = len(good) // page
    assert pages > 5
    def write(name, data): open(f"{work}/bad.{name}", "wb").write(data)
    write("cut", good[:len(good) // 2])
    write("cut-in-page", good[:3 * page + 1000])
    write("garbage", b"\x91" * len(good))
    for at in range(0, pages, 2):
        write(
            f"page{at}",
            good[: at * page] + bytes(range(1, 256)) * 16 + b"\x01" * (page - 4080) + good[(at + 1) * page :],
        )


def make_old(store, *columns):
    with sqlite3.connect(store) as db:
        view, = db.execute("SELECT sql FROM sqlite_schema WHERE name = 'run'").fetchone()
        db.execute("DROP VIEW run")
        for column in columns or ("flops", "forward_s", "model", "layer", "source"):
            view = view.replace(f" {column},", "")
            db.execute(f"ALTER TABLE results DROP COLUMN {column}")
        db.execute(view)
        db.execute("PRAGMA user_version = 6")


def check_column(rows_csv):
    rows = list(csv.DictReader(open(rows_csv, newline="")))
    assert {r["trial"] for r in rows if r["flops"]} == {"1"} and {r["trial"] for r in rows} == {"0", "1"}


def check_empty_columns(*paths):
    before, after = (list(csv.DictReader(open(f, newline=""))) for f in paths)
    assert len(before) == len(after) == 96 and any(r["flops"] for r in before)
    for a, b in zip(before, after):
        gone = dict.fromkeys(("flops", "forward_s", "model", "layer", "source"), "")
        assert {**b, **gone} == b
        assert {**a, **gone} == b


def check_new_columns(*paths):
    continued, new = (list(csv.DictReader(open(f, newline=""))) for f in paths)
    assert len(continued) == len(new)
    filled = 0
    for a, b in zip(continued, new):
        for time in ("select_s", "core_s", "forward_s", "exact_s"):
            del a[time], b[time]
        filled += b["trial"] == "1" and a["flops"] != ""
        assert a == ({**b, "flops": ""} if b["trial"] == "0" else b)
    assert filled > 20, filled


globals()[sys.argv[1]](*sys.argv[2:])
