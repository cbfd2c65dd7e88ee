#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A strategy of first tokens, whose start leaves the file `started` beside the program."""
import json
import os
import sys

import npy

open(os.path.dirname(os.path.abspath(__file__)) + "/started", "a").close()
with open(sys.argv[1] + "/request.json") as file:
    m = json.load(file)["m"]
npy.save(sys.argv[1] + "/picks.npy", "<i8", [m], range(m))
