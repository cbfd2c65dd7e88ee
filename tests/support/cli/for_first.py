# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/first.bats asks in Python: for_first.py FUNCTION ARGUMENT..."""
import os
import pty
import sys


def write_heads(work):
    import numpy as np
    for name in ("a", "b"):
        os.mkdir(f"{work}/{name}")
        for part in "qkv":
            np.save(f"{work}/{name}/{part}.npy", np.random.default_rng(1).standard_normal((2, 20, 4)))


def answer_questions(program, path, *lines):
    lines = list(lines)
    pid, screen = pty.fork()
    if pid == 0:
        os.execv(program, [program, "new", "experiment", path])
    shown = b""
    try:
        while True:
            part = os.read(screen, 4096)
            shown += part
            if part.endswith(b"]: "):
                os.write(screen, (lines.pop(0) + "\n").encode() if lines else b"\x04")
    except OSError:
        pass
    sys.stdout.write(shown.decode().replace("\r\n", "\n"))
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


globals()[sys.argv[1]](*sys.argv[2:])
