# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/attentions.bats asks in Python: for_attentions.py FUNCTION ARGUMENT..."""
import sys


def check_one_head(work):
    import numpy as np
    everything, one = (np.load(f"{work}/{name}.npy") for name in ("all", "one"))
    assert everything.shape == (3, 257, 64) and one.shape == (1, 257, 64) and (everything[2] == one[0]).all()


globals()[sys.argv[1]](*sys.argv[2:])
