# SPDX-License-Identifier: GPL-3.0-or-later
"""wrong_picks.py - leaves picks.npy that are wrong in the way that its first word names."""
import sys
import npy
nan = float("nan")
picks = {"shape": ("<i8", (3, 2), [0, 1, 2, 0, 1, 2]), "few": ("<i8", (2,), [0, 1]),
         "twice": ("<i8", (3,), [4, 7, 4]), "range": ("<i8", (3,), [0, 1, 20]), "negative": ("<i8", (3,), [0, -1, 2]),
         "huge": ("<i8", (3,), [0, 2**40, 2]), "nan": ("<f8", (3, 4), 12 * [nan]),
         "wide": ("<f8", (3, 5), 15 * [0.0]), "flat": ("<f8", (3,), 3 * [0.0])}
npy.save(sys.argv[-1] + "/picks.npy", *picks[sys.argv[1]])
print("standard output is not for nysbench")
