# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/submit.bats asks in Python: for_submit.py FUNCTION ARGUMENT..."""
import sqlite3
import sys


def fail_rows(store):
    db = sqlite3.connect(store)
    db.execute("UPDATE results SET status = 'failed', reason = 'lightning' WHERE rowid < 4")
    db.commit()


def change_build(store):
    db = sqlite3.connect(store)
    db.execute("UPDATE manifests SET executable = 'another'")
    db.execute("UPDATE results SET status = 'planned', manifest = NULL WHERE position = 0")
    db.commit()


globals()[sys.argv[1]](*sys.argv[2:])
