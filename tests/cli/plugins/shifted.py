# SPDX-License-Identifier: GPL-3.0-or-later
"""A strategy of tokens from SHIFT on."""
import json

import numpy

SHIFT = 0
numpy.save("picks.npy", numpy.arange(json.load(open("request.json"))["m"]) + SHIFT)
