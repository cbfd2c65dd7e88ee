# SPDX-License-Identifier: GPL-3.0-or-later
"""What the attentions of this package take: tensors of one layer, and integers."""
from __future__ import annotations

import math

import torch

from .._arguments import LARGEST_INT, LARGEST_SEED, SEED, ArgumentError, ShapeError, integer
from ._near import KINDS, NO_WINDOW, Neighbourhood

TYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)

# As in src/attentions/kernel_ridge.c.
USUAL_NEAR, MOST_BEFORE, MOST_COLUMNS = 32, 8, 2**20
_HAVE = {"window": "a window", "grid": "a window, which a grid shapes", "top": "top keys"}


def check_layer(q, k, v):
    """Refuses what are not queries, keys and values of one layer: (heads, n, d) or (inputs, heads, n, d)."""
    for name, x in (("q", q), ("k", k), ("v", v)):
        if not torch.is_tensor(x):
            raise TypeError(f"{name}: expected a tensor of PyTorch, not {type(x).__name__}")
    given = ", ".join(f"{name} {tuple(x.shape)}" for name, x in (("q", q), ("k", k), ("v", v)))
    if q.dtype not in TYPES or not q.dtype == k.dtype == v.dtype:
        raise ArgumentError("q, k, v: expected one type of float16, bfloat16, float32 and float64 for all three, not "
                            f"{q.dtype}, {k.dtype}, {v.dtype}".replace("torch.", ""))
    if not q.device == k.device == v.device:
        raise ArgumentError(f"q, k, v: expected one device, not {q.device}, {k.device}, {v.device}")
    if q.ndim not in (3, 4) or not q.ndim == k.ndim == v.ndim:
        raise ShapeError(f"expected (heads, n, d) or (inputs, heads, n, d), all three alike, not {given}")
    if not q.shape[:-3] == k.shape[:-3] == v.shape[:-3] or not q.shape[-2] == k.shape[-2] == v.shape[-2]:
        raise ShapeError(f"inputs and tokens must be as many in all three: {given}")
    if q.shape[-1] != k.shape[-1]:
        raise ShapeError(f"queries and keys must have the same dimension: {given}")
    if k.shape[-3] != v.shape[-3] or k.shape[-3] == 0 or q.shape[-3] % k.shape[-3]:
        raise ShapeError(f"keys and values must have the same heads, whose number divides that of the queries: {given}")
    if 0 in q.shape or 0 in v.shape:
        raise ShapeError(f"nothing to attend to: {given}")


def count(name, value):
    return integer(name, value, 1, LARGEST_INT)


def seed_of(seed):
    return integer("seed", SEED if seed is None else seed, 0, LARGEST_SEED)


def neighbourhood(n, near, window, top, grid):
    """Near keys of n tokens, with the options of src/attentions/kernel_ridge.c."""
    if near not in KINDS:
        raise ArgumentError(f"near: expected one of {', '.join(KINDS[:-1])} and {KINDS[-1]}, not {near!r}")
    for name, value, kinds in (("window", window, "window"), ("grid", grid, "window"), ("top", top, "top")):
        if value is not None and near not in (kinds, "both", "auto"):
            raise ArgumentError(f"near={near}, {name}={value}: near={kinds}, both and auto have {_HAVE[name]}")
    width = USUAL_NEAR if window is None else integer("window", window, 0, LARGEST_INT)
    least = 0 if near == "auto" else 1  # without top keys it chooses from none and window
    strongest = USUAL_NEAR if top is None else integer("top", top, least, LARGEST_INT)
    strongest = min(n, strongest) if near in ("top", "both", "auto") else 0
    if grid is None:
        return Neighbourhood(n, near, NO_WINDOW if near == "top" else min(width // 2, n), strongest, 0, 0)
    if grid == "auto":
        columns = math.isqrt(n)
        if n - columns * columns > MOST_BEFORE:
            raise ArgumentError(f"grid = auto, and n = {n} is not a square and up to {MOST_BEFORE} tokens before it")
        before = n - columns * columns
    else:
        columns = integer("grid", grid, 2, MOST_COLUMNS)
        if columns > n:
            raise ArgumentError(f"grid = {columns} columns, and there are {n} tokens")
        before = n % columns
    return Neighbourhood(n, near, min((math.isqrt(width + 1) - 1) // 2, n), strongest, columns, before)
