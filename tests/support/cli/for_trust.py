# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/trust.bats asks in Python: for_trust.py FUNCTION ARGUMENT..."""
import sqlite3
import sys


def change_store(work):
    with sqlite3.connect(work + "/t/results.sqlite") as db: # a trigger that would change what is measured
        db.execute(
            "CREATE TRIGGER lie AFTER UPDATE ON results BEGIN UPDATE results SET error = 7 WHERE rowid = new.rowid; END"
        )
    with sqlite3.connect(work + "/r/results.sqlite") as db: # rows that never end
        db.executescript("ALTER TABLE results RENAME TO kept; CREATE VIEW results AS WITH RECURSIVE n(i) AS "
                         "(SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT kept.* FROM n, kept WHERE i < 0")


globals()[sys.argv[1]](*sys.argv[2:])
