# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/claims.bats asks in Python: for_claims.py FUNCTION ARGUMENT..."""
import csv
import json
import sys


def check_fields(path):
    rows = list(csv.reader(open(path, newline="")))
    assert len(rows) > 30 and {len(row) for row in rows} == {21}, rows
    assert not [x for row in rows[1:] for x in row[6:11] if x and not float(x) < 1e300]


def check_rows_by_model(claims_csv, json_file):
    rows = [r for r in csv.DictReader(open(claims_csv, newline="")) if r["row"] == "model"]
    models = json.load(open(json_file))[0]["models"]
    assert len({m["model"] for m in models}) == 2
    assert [(r["name"], float(r["estimate"])) for r in rows] == [(m["model"], m["estimate"]) for m in models], (
        rows,
        models,
    )


def check_own_query(json_file):
    own, same, mean = json.load(open(json_file))
    for claim in own, same, mean:
        assert (claim["form"], claim["quantity"], claim["verdict"]) == ("measure", "mean", "reproduced"), claim
    assert len(own["parts"]) == 3 and own["heads"] == own["sources"] == 8, own
    for key in "estimate", "low", "high":
        assert abs(same[key] - mean[key]) < 1e-12, (key, same, mean)


def check_short_forms(json_file):
    slope, slope_sql, correlate, correlation_sql = json.load(open(json_file))
    assert slope["quantity"] == "slope" and correlate["quantity"] == "correlation", (slope, correlate)
    for short, long in (slope, slope_sql), (correlate, correlation_sql):
        assert short["claim"].split("says")[1] == long["claim"].split("says")[1], (short, long)
        assert {**short, "id": "", "claim": ""} == {**long, "id": "", "claim": ""}, (short, long)


globals()[sys.argv[1]](*sys.argv[2:])
