# SPDX-License-Identifier: GPL-3.0-or-later
"""A strategy of tokens from a number on that modules of its folder have, which it imports when it needs them."""
import json
from os import path

import numpy


def shift():
    from helper import x
    import pack.deep.last as last, numpy as again  # noqa: E401
    return again.int64(x + last.y)


assert path.exists("request.json")
numpy.save("picks.npy", numpy.arange(json.load(open("request.json"))["m"]) + shift())
