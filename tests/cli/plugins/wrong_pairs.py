# SPDX-License-Identifier: GPL-3.0-or-later
"""wrong_pairs.py - leaves the files that its words name: SIDE=KIND, where SIDE is query_, key_ or nothing."""
import sys
import npy
kinds = {"tokens": ("<i8", (3,), [4, 7, 1]), "points": ("<f8", (3, 2), [1, 0, 0, 1, 0, 0]),
         "few": ("<i8", (2,), [0, 1]), "range": ("<i8", (3,), [0, 1, 20]), "nan": ("<f8", (3, 2), 6 * [float("nan")])}
for word in sys.argv[1:-1]:
    name, kind = word.split("=")
    npy.save(name + "picks.npy", *kinds[kind])
print("in", sys.argv[-1], file=sys.stderr)
