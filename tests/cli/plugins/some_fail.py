# SPDX-License-Identifier: GPL-3.0-or-later
"""some_fail.py - picks the first tokens, or fails where the first coordinate is positive."""
import json
import sys
import numpy as np
folder = sys.argv[-1]
request = json.load(open(folder + "/request.json"))
points = np.load(folder + "/points.npy")
if points[0, 0] > 0:
    sys.exit(1)
np.save(folder + "/picks.npy", np.arange(request["m"]))
