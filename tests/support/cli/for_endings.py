# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/endings.bats asks in Python: for_endings.py FUNCTION ARGUMENT..."""
import os
import pty
import signal
import sys
import time


def dig(depth):
    """Folders in the current one, each in the one before."""
    for _ in range(int(depth)):
        os.mkdir("d")
        os.chdir("d")


def close_terminal(program, folder, *words):
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        os.execv(program, [program, "run", *words, "-o", folder])
    for _ in range(400):
        if os.path.exists(folder + "/manifest.json"):
            break
        time.sleep(0.05)
    time.sleep(0.5)
    os.close(terminal)
    for _ in range(1000):
        done, how = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        time.sleep(0.02)
    assert done and os.waitstatus_to_exitcode(how) == 130, (done, how)


globals()[sys.argv[1]](*sys.argv[2:])
