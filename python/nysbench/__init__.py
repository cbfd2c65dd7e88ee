# SPDX-License-Identifier: GPL-3.0-or-later
"""Landmarks in attention: picked, measured and put to work by libnysbench, on NumPy arrays.

    nysbench.select(points, 16, "kmeans(restarts=4)").points
    nysbench.measure(q, k, v, strategy="uniform", landmarks=16, cores="svd")
    nysbench.attention(q, k, v, "nystrom(landmarks=64)")
    nysbench.rows("results/NAME")

names(kind) and describe(name) say what there is. docs/python.md is the manual.
"""
import importlib

from ._errors import (ArgumentError, Error, FileError, HostError, InternalError, NumericError, OutOfMemoryError,
                      ShapeError)
from ._heads import Landmarks, Side, measure, select
from ._layers import Attention, Cost, attention
from ._library import version
from ._names import describe, names, strategies, summary
from ._program import program
from ._runs import row_arrays, rows

__version__ = version

# What needs more than NumPy is imported on first use: name, and the module that has it. The module capture can be called.
_LATER = {"capture": "capture", "patch": "patching"}

__all__ = ["ArgumentError", "Attention", "Cost", "Error", "FileError", "HostError", "InternalError", "Landmarks",
           "NumericError", "OutOfMemoryError", "ShapeError", "Side", "attention", "describe", "measure", "names",
           "program", "row_arrays", "rows", "select", "strategies", "summary", "version"]


def __getattr__(name):
    if name in _LATER:
        module = importlib.import_module(f"{__name__}.{_LATER[name]}")
        return module if _LATER[name] == name else getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
