# SPDX-License-Identifier: GPL-3.0-or-later
"""save_head.py FOLDER NAMES SHAPE [SEED [TYPE]] writes normal numbers as the arrays of a head or a layer into a folder,
which it makes: save_head.py h qk 30,3 writes h/q.npy and h/k.npy, of 30 tokens each."""
import os
import sys

import numpy as np

folder, names, shape, seed, dtype = (sys.argv[1:] + ["1", "float64"][len(sys.argv) - 4:])[:5]
draws = np.random.default_rng(int(seed))
os.makedirs(folder, exist_ok=True)
for name in names:
    np.save(f"{folder}/{name}.npy", draws.standard_normal([int(n) for n in shape.split(",")]).astype(dtype))
