# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of a suite that say something else, for the tests of what reads them."""
import json


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write(path, what):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(what, file)


def halve_one(path, out):
    """One error is another."""
    result = read(path)
    result["inputs"][3]["errors"][1] /= 2
    write(out, result)


def change(path, out, key, value):
    """A property of the method is another."""
    result = read(path)
    result["method"][key] = json.loads(value)
    write(out, result)


def without_one(path, out):
    result = read(path)
    del result["inputs"][0]
    write(out, result)
