# SPDX-License-Identifier: GPL-3.0-or-later
"""timeless.py ROWS.csv - the rows without the columns that hold times, a list each."""
import csv
import sys

for row in csv.DictReader(open(sys.argv[1], newline="")):
    row.pop("select_s"), row.pop("core_s"), row.pop("forward_s"), row.pop("exact_s")
    print(list(row.values()))
