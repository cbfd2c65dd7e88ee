# SPDX-License-Identifier: GPL-3.0-or-later
"""Landmarks in attention: strategies for nysbench, in Python."""
import importlib

# What is imported on first use: name, and the module that has it.
_LATER = {"Groups": "_strategy", "strategy": "_strategy"}


def __getattr__(name):
    if name in _LATER:
        return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
