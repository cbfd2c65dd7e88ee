# SPDX-License-Identifier: GPL-3.0-or-later
"""both.py - picks tokens for both sides, and keeps what it was asked."""
import json
import math
import os
import sys
import npy
mode = sys.argv[1]
request = json.load(open("request.json"))
(q_type, q_shape, q), (k_type, k_shape, k) = npy.load("queries.npy"), npy.load("keys.npy")
files = " ".join(sorted(name for name in os.listdir() if name != "stderr.txt"))
with open(os.environ["NYSBENCH_FOLDER"] + "/told-" + mode, "a") as told:
    print(json.dumps([request, files, q_type, k_type, q_shape, k_shape, math.fsum(q), math.fsum(k)]), file=told)
m, (n, d) = request["m"], q_shape
rows = lambda x: [x[i * d:(i + 1) * d] for i in range(n)]
products = lambda x, y: [math.fsum(a * b for a, b in zip(*pair)) for pair in zip(rows(x), rows(y))]
lowest = lambda x, y: sorted(range(n), key=products(x, y).__getitem__)[:m]
same, other = lowest(q, k), lowest(k, k)
if mode == "one":
    npy.save("picks.npy", "<i8", (m,), same)
for side, tokens, x in ("query", same, q), ("key", same if mode == "two" else other, k):
    if mode == "points":
        npy.save(side + "_picks.npy", "<f8", (m, d), [number for token in tokens for number in rows(x)[token]])
    elif mode != "one":
        npy.save(side + "_picks.npy", "<i8", (m,), tokens)
