# SPDX-License-Identifier: GPL-3.0-or-later
"""own_prefix.py - the first tokens; keeps the prefix of its Python."""
import os
import sys
import nysbench

@nysbench.strategy
def first(points, m):
    print(os.path.realpath(sys.prefix), file=open(os.environ["NYSBENCH_FOLDER"] + "/told", "w"))
    return range(m)
