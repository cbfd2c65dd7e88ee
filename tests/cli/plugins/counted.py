# SPDX-License-Identifier: GPL-3.0-or-later
"""counted.py - the tiny model, which keeps how many of its processes are alive when an effect is asked for."""
import os
import sys
import tiny_model as tiny
work, effects = os.path.dirname(os.path.abspath(__file__)), tiny.effects
print(os.getpid(), file=open(work + "/starts", "a"))
def counted(*arguments):
    pids = map(int, open(work + "/starts"))
    print(sum(os.path.exists(f"/proc/{pid}") for pid in pids), file=open(work + "/alive", "a"))
    return effects(*arguments)
tiny.effects = counted
tiny.main(*sys.argv[1:])
