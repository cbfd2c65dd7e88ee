# SPDX-License-Identifier: GPL-3.0-or-later
"""Landmarks in attention: picked, measured and put to work by libnysbench, on NumPy arrays.

    nysbench.run(heads={"my layer": (q, k, v)}, strategies=["uniform", "kmeans", mine], cores="iterative", landmarks=[8,
    16]) nysbench.select(points, 16, "kmeans(restarts=4)").points nysbench.measure(q, k, v, strategy="uniform",
    landmarks=16, cores="svd") nysbench.attention(q, k, v, "nystrom(landmarks=64)") nysbench.rows("results/NAME")

names(kind) and describe(name) say what there is. docs/python.md is the manual.
"""
import importlib

# Names, by the module that has them. It is imported when one is first used: a program that picks landmarks for
# nysbench needs no library, and nobody needs PyTorch who captures nothing.
_NAMES = {
    "_arguments": ["ArgumentError", "Error", "FileError", "HostError", "InternalError", "NumericError",
                   "OutOfMemoryError", "ShapeError"],
    "_attention": ["Attention", "Cost", "attention"],
    "_commands": ["Check", "check", "run", "suite"],
    "_functions": ["Groups", "attention_function", "core", "strategy"],
    "_landmarks": ["Landmarks", "Side", "measure", "select", "source_seed"],
    "_library": ["describe", "names", "strategies", "summary", "version"],
    "_program": ["program"],
    "_result": ["Run", "row_arrays", "rows"],
    "patching": ["effect", "patch"],
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(_MODULES)


def __getattr__(name):
    if name == "__version__":
        return __getattr__("version")
    if name == "capture":  # a module that can be called
        return importlib.import_module(f"{__name__}.capture")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__():
    return sorted([*globals(), *_MODULES, "capture"])
