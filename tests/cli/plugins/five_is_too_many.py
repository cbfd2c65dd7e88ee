# SPDX-License-Identifier: GPL-3.0-or-later
"""five_is_too_many.py - fails for five landmarks, and leaves a note."""
import json
import sys

import numpy
folder = sys.argv[-1]
request = json.load(open(folder + "/request.json"))
if request["m"] == 5:
    print("half of it", file=open(folder + "/note", "w"))
    sys.exit("five is too many")
numpy.save(folder + "/picks.npy", numpy.arange(request["m"]))
