# SPDX-License-Identifier: GPL-3.0-or-later
"""keep.py - keeps its folder as it came, and leaves the first points, each number one more."""
import json
import os
import shutil
import sys

import npy
out, folder = sys.argv[1:]
assert folder == os.getcwd()
if not os.path.exists(out): # the queries come first
    shutil.copytree(folder, out)
m = json.load(open("request.json"))["m"]
dtype, (n, d), x = npy.load("points.npy")
npy.save("picks.npy", dtype, (m, d), [number + 1 for number in x[:m * d]])
