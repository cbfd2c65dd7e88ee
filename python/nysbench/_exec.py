# SPDX-License-Identifier: GPL-3.0-or-later
"""Becomes a program: the command `nysbench` of an installed wheel does so by main(); and as a script, a process that
ends with the one that has started it: python _exec.py PID PROGRAM [ARGUMENT ...]

PID is the process that has started it. Needs nothing but the standard library, to start fast."""
import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main():
    """Does not return. What the program prints calls it as the user did: by its name alone where that is in PATH."""
    folder, name = os.path.split(sys.argv[0])
    first = next((place for place in os.get_exec_path() if os.access(os.path.join(place, name), os.X_OK)), None)
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nysbench")
    os.environ.setdefault("NYSBENCH_PYTHON", sys.executable)  # which has the package
    os.execv(program, [name if first == folder else sys.argv[0], *sys.argv[1:]])


def end_with_parent(parent):
    """The program that this process becomes is ended when its parent is."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("nysbench: the Python session has ended")


if __name__ == "__main__":
    end_with_parent(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])
