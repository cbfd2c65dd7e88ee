# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/surroundings.bats asks in Python: for_surroundings.py FUNCTION ARGUMENT..."""
import os
import signal
import sqlite3
import subprocess
import sys


def check_unread(program, work):
    def run(stream, *words):
        reads, writes = os.pipe()
        os.close(reads)
        streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: writes}
        done = subprocess.run([program, *words], **streams, restore_signals=True)
        os.close(writes)
        return done.returncode
    code = run("stderr", "run", work + "/c.yaml", "-o", work + "/r")
    assert code == 0, code
    code = run("stdout", "run", work + "/c.yaml", "-o", work + "/s")
    assert code == -13, code


def leave_journal(store):
    db = sqlite3.connect(store, isolation_level=None)
    db.executescript("PRAGMA cache_size = 1; BEGIN; UPDATE results SET error = 7; CREATE TABLE t (x)")
    for _ in range(50):
        db.execute("INSERT INTO t VALUES (zeroblob(50000))")
    os._exit(0)


def hold_store(store):
    """Reads it, and keeps it read until this is killed."""
    db = sqlite3.connect(store, isolation_level=None)
    db.execute("BEGIN")
    db.execute("SELECT count(*) FROM results").fetchone()
    print("held", flush=True)
    signal.pause()


globals()[sys.argv[1]](*sys.argv[2:])
