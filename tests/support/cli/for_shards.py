# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/shards.bats asks in Python: for_shards.py FUNCTION ARGUMENT..."""
import json
import sqlite3
import sys


def change_store(store, statement):
    db = sqlite3.connect(store)
    changed = db.execute(statement).rowcount
    assert changed == 1, changed
    db.commit()


def check_signatures(work):
    one, two, both = (json.load(open(f"{work}/{name}.json")) for name in ("1", "2", "both"))
    for manifest in one + two + both:
        del manifest["manifest"]  # its number in the store
    assert len(both) == 2 and sum(manifest["rows"] for manifest in both) == 96
    assert all(manifest in both for manifest in one + two)


globals()[sys.argv[1]](*sys.argv[2:])
