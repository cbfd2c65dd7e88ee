# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/split.bats asks in Python: for_split.py FUNCTION ARGUMENT..."""
import csv
import re
import sys


def check_split(path):
    text = open(path).read()
    named = re.findall(r"^  - (.*)$", text, re.M)
    test = re.findall(r"^  - (.*)$", text.split("\ntest:")[1], re.M)
    inputs = list(csv.DictReader(open("experiments/models/inputs.csv", newline="")))
    assert sorted({row["source"] for row in inputs} - set(named)) == [], "in no part"
    assert {row["source"] for row in inputs if row["kind"] == "test-photograph"} <= set(test)


globals()[sys.argv[1]](*sys.argv[2:])
