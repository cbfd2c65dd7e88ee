# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/together.bats asks in Python: for_together.py FUNCTION ARGUMENT..."""
import csv
import sys


def compare_rows(whole_run, least, *parts):
    def rows(name):
        for row in csv.DictReader(open(name + "/rows.csv", newline="")):
            [row.pop(c) for c in ("select_s", "core_s", "forward_s", "exact_s", "experiment")]
            if row["status"] in ("ok", "skipped", "diverged"):
                yield tuple(row[c] for c in ("n", "kernel", "strategy", "landmarks", "pairing", "factors", "core")), row
    whole = dict(rows(whole_run))
    for name in parts:
        part = list(rows(name))
        assert len(part) >= int(least), (name, len(part))
        bad = [(key, c, row[c], whole[key][c]) for key, row in part for c in row if row[c] != whole[key][c]]
        assert not bad, (name, len(bad), bad[:5])


globals()[sys.argv[1]](*sys.argv[2:])
