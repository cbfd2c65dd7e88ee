# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/progress.bats asks in Python: for_progress.py FUNCTION ARGUMENT..."""
import os
import sqlite3
import sys
import time


def await_file(path):
    for _ in range(1200):
        if os.path.exists(path):
            return
        time.sleep(0.05)


def hold_store(work):
    """From when WORK/once is there, which WORK/held says, until WORK/told is."""
    await_file(work + "/once")
    store = sqlite3.connect(work + "/r/results.sqlite", isolation_level=None, timeout=60)
    store.execute("BEGIN EXCLUSIVE")
    open(work + "/held", "w").close()
    await_file(work + "/told")


globals()[sys.argv[1]](*sys.argv[2:])
