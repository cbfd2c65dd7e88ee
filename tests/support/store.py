# SPDX-License-Identifier: GPL-3.0-or-later
"""store.py STORE SQL - runs SQL on a run's store: several statements, or one whose rows it prints, a line each."""
import sqlite3
import sys

with sqlite3.connect(sys.argv[1]) as store:
    if ";" in sys.argv[2]:
        store.executescript(sys.argv[2])
    else:
        for row in store.execute(sys.argv[2]):
            print(*row)
