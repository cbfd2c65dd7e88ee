# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/claims.bats asks in Python: for_claims.py FUNCTION ARGUMENT..."""
import csv
import json
import sys


def check_rows_by_model(claims_csv, json_file):
    rows = [r for r in csv.DictReader(open(claims_csv, newline="")) if r["row"] == "model"]
    models = json.load(open(json_file))[0]["models"]
    assert len({m["model"] for m in models}) == 2
    assert [(r["name"], float(r["estimate"])) for r in rows] == [(m["model"], m["estimate"]) for m in models], (
        rows,
        models,
    )


globals()[sys.argv[1]](*sys.argv[2:])
