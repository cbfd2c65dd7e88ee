# SPDX-License-Identifier: GPL-3.0-or-later
"""no_core.py - a core that fails."""
import nysbench
@nysbench.core
def mine(A):
    raise LookupError("not this")
