# SPDX-License-Identifier: GPL-3.0-or-later
"""Becomes a program that ends with the process that has started it: python _exec.py PID PROGRAM [ARGUMENT ...]

PID is that process. Needs nothing but the standard library, to start fast."""
import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h

ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
if os.getppid() != int(sys.argv[1]):
    sys.exit("nysbench: the Python session has ended")
os.execv(sys.argv[2], sys.argv[2:])
