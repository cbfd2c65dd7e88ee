# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/tables.bats asks in Python: for_tables.py FUNCTION ARGUMENT..."""
import csv
import statistics
import sys


def check_panels(*paths):
    rows, table, shares = (list(csv.DictReader(open(f, newline=""))) for f in paths)
    for line in table:
        if line["panel"] != "ViT-S/14 layer 6, 2 sources":
            continue
        errors = [
            float(r["error"])
            for r in rows
            if r["strategy"] == line["strategy"]
            and "permute=false" in r["problem"]
            and "max_n=all" in r["problem"]
            and r["model"].startswith("ViT")
        ]
        assert len(errors) == 4 and line["problem"] == ""
        assert abs(statistics.median(errors) - float(line["median"])) < 1e-15
    of = {(r["problem"], r["head"], r["strategy"][:6]): float(r["error"]) for r in rows if r["model"].startswith("ViT")
          and "permute=false" in r["problem"] and "max_n=all" in r["problem"]}
    ratios = [x / of[p, h, "unifor"] for (p, h, s), x in of.items() if s == "kmeans"]
    line, = (l for l in shares if l["panel"] == "ViT-S/14 layer 6, 2 sources" and l["strategy"].startswith("kmeans"))
    assert len(ratios) == 4 and abs(statistics.median(ratios) - float(line["error_relative"])) < 1e-14, (ratios, line)


def check_rectangle(file):
    rows = list(csv.reader(open(file, newline="")))
    assert len(rows) > 2 and len({len(row) for row in rows}) == 1, rows


globals()[sys.argv[1]](*sys.argv[2:])
