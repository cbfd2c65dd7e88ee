# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/first.bats asks in Python: for_first.py FUNCTION ARGUMENT..."""
import os
import sys


def write_heads(work):
    import numpy as np
    for name in ("a", "b"):
        os.mkdir(f"{work}/{name}")
        for part in "qkv":
            np.save(f"{work}/{name}/{part}.npy", np.random.default_rng(1).standard_normal((2, 20, 4)))


def write_unusable_heads(work):
    import numpy as np
    x = np.random.default_rng(1).standard_normal((2, 20, 4))
    spoilt = x.copy()
    spoilt[1, 5, 2] = np.nan
    for name, arrays in ("keyless", {"q": x}), ("spoilt", {"q": x, "k": spoilt, "v": x}):
        os.mkdir(f"{work}/{name}")
        for part, array in arrays.items():
            np.save(f"{work}/{name}/{part}.npy", array)


globals()[sys.argv[1]](*sys.argv[2:])
