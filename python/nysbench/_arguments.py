# SPDX-License-Identifier: GPL-3.0-or-later
"""What arguments must be: arrays in the library's layout, shapes and tensors of a layer, integers in range. What goes
wrong in the library, as exceptions with its messages, and what is doubtful, as warnings."""
import numbers
import operator
import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from ctypes import addressof, c_char

import numpy as np

_FOLDER = os.path.dirname(__file__) + os.sep


class Error(Exception):
    """All that nysbench raises, but for TypeError (an argument of the wrong type) and ImportError (what is missing)."""


class ArgumentError(Error, ValueError):
    """An argument, a spec or an option is not what is allowed, or an attention refuses such heads."""


class ShapeError(Error, ValueError):
    """Shapes do not agree."""


class NumericError(Error, ValueError):
    """NaN or Inf in the input, or a factorisation failed."""


class OutOfMemoryError(Error, MemoryError):
    """Memory ran out."""


class FileError(Error, OSError):
    """A file or the program could not be read or run."""


class HostError(Error, OSError):
    """A thread could not be started."""


class InternalError(Error, RuntimeError):
    """A mistake in the library: please report it."""


def warn(message):
    """A UserWarning at the line outside of the package from which it was called."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_code.co_filename.startswith(_FOLDER):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)


# By nysbench_status.
_CLASSES = {1: ArgumentError, 2: OutOfMemoryError, 3: ShapeError, 4: NumericError, 5: FileError, 6: InternalError,
            7: HostError}


def error(status, message):
    """The exception for a status other than NYSBENCH_OK."""
    return _CLASSES.get(status, InternalError)(message or f"the library ended with status {status}")


LARGEST_INT = 2**31 - 1
SEED, LARGEST_SEED, LARGEST_TRIAL = 20260101, 2**63 - 1, 999999  # an experiment's
FLOAT32, FLOAT64, INT64 = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int64)


def real_numbers(name, x):
    """x as an array of floats or integers: of NumPy, of ml_dtypes, or a tensor of PyTorch on any device, which stays as
    it is; a view where that can be.

    TypeError for what holds no real numbers; ArgumentError for masked values, which have none; ShapeError for lists of
    different lengths.
    """
    if np.ma.is_masked(x):
        raise ArgumentError(f"{name}: some of its entries are masked")
    if hasattr(x, "detach") and hasattr(x, "cpu"):
        x = x.detach().cpu()
        x = (x.float() if str(x.dtype) == "torch.bfloat16" else x).numpy()
    try:
        x = np.asarray([real_numbers(name, one) if hasattr(one, "detach") else one
                        for one in x] if isinstance(x, (list, tuple)) else x)
    except ValueError:
        shapes = {str(one.shape): None for one in x if hasattr(one, "shape")} if isinstance(x, (list, tuple)) else {}
        raise ShapeError(f"{name}: expected an array, or lists of equal lengths"
                         + (f", not {', '.join(shapes)}" if shapes else "")) from None
    if x.dtype.name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):  # of ml_dtypes; float32 has all their values
        x = x.astype(np.float32)
    if x.dtype.kind not in "fiu":
        raise TypeError(f"{name}: expected real numbers, not {x.dtype}")
    return x


def real_array(name, x, dtype):
    """x as a C-contiguous, aligned array of a dtype; x itself if it is one.

    Raises what real_numbers raises, and NumericError for numbers that are too large for the dtype.
    """
    if type(x) is np.ndarray and x.dtype == dtype:
        flags = x.flags
        if flags.c_contiguous and flags.aligned:
            return x
    x = real_numbers(name, x)
    try:
        with np.errstate(over="raise"):
            return np.require(x, dtype, ["C_CONTIGUOUS", "ALIGNED"])
    except FloatingPointError:
        raise NumericError(
            f"{name}: numbers too large for {dtype}, whose largest is {np.finfo(dtype).max:.3g}") from None


def address(x):
    """Of a C-contiguous array's entries, while x lives."""
    try:
        return addressof(c_char.from_buffer(x))  # a few microseconds faster than what follows
    except (TypeError, ValueError):  # an array that is not writeable, or has no entries
        return x.ctypes.data


def matrix(name, x):
    """x as n x d in float64."""
    x = real_array(name, x, FLOAT64)
    if x.ndim != 2:
        raise ShapeError(f"{name}: expected a matrix (n, d), not an array of shape {x.shape}")
    rows, columns = x.shape
    if not (0 < rows <= LARGEST_INT and 0 < columns <= LARGEST_INT):
        raise ShapeError(f"{name}: {x.shape}, expected lengths from 1 to {LARGEST_INT}")
    return x


def check_layer(q, k, v):
    """Refuses what are not the shapes of queries, keys and values of one layer, all three (heads, n, d) or (inputs,
    heads, n, d); k and v may have fewer heads, a divisor of those of q, and v another dimension."""
    shapes = f"q {tuple(q)}, k {tuple(k)}, v {tuple(v)}"
    if len(q) not in (3, 4) or not len(q) == len(k) == len(v):
        raise ShapeError(f"expected (heads, n, d) or (inputs, heads, n, d), all three alike, not {shapes}")
    if not (q[:-3] == k[:-3] == v[:-3] and q[-2] == k[-2] == v[-2]):
        raise ShapeError(f"inputs and tokens must be as many in all three: {shapes}")
    if q[-1] != k[-1]:
        raise ShapeError(f"queries and keys must have the same dimension: {shapes}")
    if k[-3] != v[-3] or k[-3] == 0 or q[-3] % k[-3]:
        raise ShapeError(
            f"keys and values must have the same heads, whose number divides that of the queries: {shapes}")


def check_tensors(q, k, v):
    """Refuses what are not the queries, keys and values of one layer as tensors of PyTorch, of one type and device."""
    import torch
    for name, x in (("q", q), ("k", k), ("v", v)):
        if not torch.is_tensor(x):
            raise TypeError(f"{name}: expected a tensor of PyTorch, not {type(x).__name__}")
    types = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
    if q.dtype not in types or not q.dtype == k.dtype == v.dtype:
        raise ArgumentError("q, k, v: expected one type of float16, bfloat16, float32 and float64 for all three, not "
                            f"{q.dtype}, {k.dtype}, {v.dtype}".replace("torch.", ""))
    if not q.device == k.device == v.device:
        raise ArgumentError(f"q, k, v: expected one device, not {q.device}, {k.device}, {v.device}")
    check_layer(q.shape, k.shape, v.shape)
    if 0 in q.shape or 0 in v.shape:
        raise ShapeError(f"nothing to attend to: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")


def doubt_layout(name, shape):
    """Warns of heads, of shape (heads, n, d) or (inputs, heads, n, d), that look as if tokens came before heads."""
    if len(shape) < 3 or shape[-3] <= shape[-2] >= shape[-1]:
        return
    heads, n, d = shape[-3:]
    before = "inputs, " if len(shape) == 4 else ""
    warn(
        f"{name} of shape {tuple(shape)} is read as ({before}heads, n, d): {heads} head{'s' * (heads != 1)} of n = {n} "
        f"tokens, d = {d}; if it is ({before}n, heads, d), transpose it")


def quoted(text):
    """A text within a spec."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def integer(name, value, least, most):
    """value as an int; TypeError if it is none, ArgumentError if it is out of range."""
    try:
        if isinstance(value, bool):
            raise TypeError
        value = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, not {type(value).__name__}") from None
    if not least <= value <= most:
        raise ArgumentError(f"{name} {value}: expected a whole number from {least} to {most}")
    return value


def number(name, value, least, most):
    """value as a float; TypeError if it is none, ArgumentError if it is out of range."""
    try:
        if isinstance(value, (bool, str)):
            raise TypeError
        value = float(value)
    except TypeError:
        raise TypeError(f"{name}: expected a number, not {type(value).__name__}") from None
    if not least <= value <= most:
        raise ArgumentError(f"{name} {value}: expected a number from {least} to {most}")
    return value


def count_of(name, value):
    """value as an int of 1 or more."""
    return integer(name, value, 1, LARGEST_INT)


def seed_of(seed):
    """The seed as an int; an experiment's for None."""
    return integer("seed", SEED if seed is None else seed, 0, LARGEST_SEED)


def integers(name, given):
    """A list of integers as a list of ints, None as None; TypeError if it is none, ArgumentError if it is empty."""
    if given is None:
        return None
    try:
        found = [integer(name, one, -LARGEST_INT, LARGEST_INT) for one in given]
    except TypeError:
        raise TypeError(f"{name}: expected a list of whole numbers such as [0, 3], not {given!r}") from None
    if not found:
        raise ArgumentError(f"{name} []: expected at least one number")
    return found


def listed(name, given, expected):
    """What can be gone through, in its order, as a list; TypeError for sets, which have none, and for what cannot."""
    if isinstance(given, (set, frozenset)):
        raise TypeError(f"{name}: a set has no order: give {expected}")
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise TypeError(f"{name}: expected {expected}, not {given!r:.40}")
    return list(given)


def flag(name, value):
    """value as a bool, None as False; TypeError for what is no truth value: the text "false" would be true."""
    if value is not None and not (isinstance(value, (bool, np.bool_, numbers.Integral)) and value in (0, 1)):
        raise TypeError(f"{name}: expected True or False, not {value!r:.40}")
    return bool(value)
