# SPDX-License-Identifier: GPL-3.0-or-later
"""A strategy of first tokens, which imports a module of its folder."""
import json

import helper
import numpy

numpy.save("picks.npy", numpy.arange(json.load(open("request.json"))["m"]) + 0 * helper.x)
