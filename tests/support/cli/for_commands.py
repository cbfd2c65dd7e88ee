# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/commands.bats asks in Python: for_commands.py FUNCTION ARGUMENT..."""
import csv
import json
import sys


def check_export(x_csv, x_json):
    rows, objects = list(csv.DictReader(open(x_csv, newline=""))), json.load(open(x_json))
    assert len(rows) == len(objects) == 184
    for row, o in zip(rows, objects):
        assert list(row) == list(o)
        for key, text in row.items():
            if text == "" or text == "inf":
                assert o[key] is None
            elif isinstance(o[key], str):
                assert o[key] == text
            else:
                assert float(text) == o[key], (key, text, o[key])


def check_quantiles(run):
    import numpy
    rows = list(csv.DictReader(open(run + "/rows.csv", newline="")))
    first = rows[0]["core"]
    errors, ratios = {}, {}
    instance = {}
    for row in rows:
        if row["status"] != "ok":
            continue
        panel = row["problem"].split("(")[0]
        same = tuple(row[k] for k in ("problem", "head", "trial", "strategy", "landmarks", "factors"))
        key = (
            row["core"].split("(")[0],
            panel,
            row["strategy"].split("(")[0] + (", oracle, " if "leverage" in row["strategy"] else ", ") + row["factors"],
            int(row["landmarks"]),
        )
        errors.setdefault(key, []).append(float(row["error"]))
        if row["core"] == first:
            instance[same] = float(row["error"])
        else:
            ratios.setdefault(key, []).append(float(row["error"]) / instance[same])
    for name, expected in (("error", errors), ("svd_vs_iterative", ratios)):
        seen = 0
        for line in csv.DictReader(open(run + f"/plots/{name}.csv", newline="")):
            if line["core"] == "0" or line["count"] == "0":
                continue
            key = (
                line["core_name"].split("(")[0],
                line["panel_name"].split("(")[0],
                line["series_name"],
                int(line["landmarks"]),
            )
            values = expected[key]
            assert int(line["count"]) == len(values), (key, line)
            for column, q in (("median", 0.5), ("p10", 0.1), ("p90", 0.9)):
                assert numpy.isclose(float(line[column]), numpy.quantile(values, q), rtol=1e-12), (key, column)
            seen += 1
        assert seen == len(expected), (name, seen, len(expected))


globals()[sys.argv[1]](*sys.argv[2:])
