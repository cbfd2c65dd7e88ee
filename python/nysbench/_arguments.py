# SPDX-License-Identifier: GPL-3.0-or-later
"""What callers pass, checked and made ready: integers in range, shapes and tensors of a layer, arrays in the library's
layout, heads as files that the program reads. What goes wrong in the library, as exceptions with its messages, and what
is doubtful, as warnings."""
import contextlib
import hashlib
import json
import numbers
import operator
import os
import re
import secrets
import struct
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from ctypes import addressof, c_char
from pathlib import Path

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


def labelled(spec, label):
    """A spec in brackets, with a label as one more option."""
    return f"{spec[:-1]}, label={quoted(label)})"


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


_STORED = (np.float16, np.float32, np.float64)
_DTYPES = {2: "F16", 4: "F32", 8: "F64"}  # of the safetensors format, by bytes


def write_problems(heads, folder, *, sources=None, causal=None):
    """Writes arrays into a folder; the problems of a config that have these heads, each with its name as a label.

    heads: {name: what}, or one `what` alone: (q, k), (q, k, v) or {"q": q, "k": k, "v": v}, where q is (n, d),
        (heads, n, d) or (inputs, heads, n, d), and k and v have as many heads or a divisor of them; a list of these, of
        equal shapes, one for each input; what `capture` returns; or the path of a file of heads.
    sources: names of the inputs, one list for all or {name: list}; None: input-0, input-1 ..., so that input i of each
        name is the same source.
    causal: True or False; None: no mask, or as what was captured says.
    """
    causal = None if causal is None else flag("causal", causal)
    captured = isinstance(heads, Mapping) and heads and all(isinstance(name, int) for name in heads)
    if not isinstance(heads, Mapping) or {"q", "k"} <= set(heads) or captured:
        heads = {"": heads}
    entries = [entry for name, given in heads.items() for entry in _by_layer(_checked_name(name), given)]
    if not entries:
        raise ArgumentError("heads: there are none")
    paths = [Path(folder) / f"{stem}.safetensors" for stem in _file_stems([name for name, _ in entries])]
    return [_write_problem(name, given, path, _sources_of(sources, name), causal)
            for (name, given), path in zip(entries, paths)]


def _file_stems(names):
    """A file's name for each of the heads; names that differ in signs or case alone have a digest of theirs behind
    it."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise ArgumentError(f"heads: {twice[0]!r} is the name of several")
    stems = [re.sub(r"\W+", "-", name).strip("-").lower() or "heads" for name in names]
    digests = (hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:8] for name in names)
    return [stem if stem == name or stems.count(stem) == 1 else f"{stem}-{digest}"
            for name, stem, digest in zip(names, stems, digests)]


def _checked_name(name):
    if not isinstance(name, str):
        raise TypeError(f"heads: expected names, such as {{'my layer': (q, k, v)}}, not {name!r}")
    return name


def _by_layer(name, given):
    """Pairs of a name and heads of one layer; captured ones of several layers are one for each."""
    layers = given if isinstance(given, (list, tuple)) else [given]
    if layers and all(isinstance(one, Mapping) and one and all(isinstance(key, int) for key in one) for one in layers):
        return [(f"{name} layer {key}".strip(), [one[key] for one in layers]) for key in layers[0]]
    return [(name, given)]


def _sources_of(sources, name):
    return sources.get(name) if isinstance(sources, Mapping) else sources


def _write_problem(name, given, path, sources, causal):
    if isinstance(given, (str, os.PathLike)):
        return _heads_spec(os.fspath(given), name)
    captured = given if isinstance(given, list) and given and all(hasattr(one, "metadata") for one in given) else \
        [given] if hasattr(given, "metadata") else None
    if captured:
        q, k, v = (_stack([getattr(one, part) for one in captured], name) for part in "qkv")
        causal = captured[0].causal if causal is None else causal
        metadata = {**captured[0].metadata, "layer": str(captured[0].layer), "layout": "heads,n,d"}
    else:
        q, k, v = _of_inputs(name, given) if _is_of_inputs(name, given) else _heads_arrays(name, given)
        doubt_layout(f"heads {name!r}: q" if name else "heads: q", q.shape)
        metadata = {"model": name or "heads", "layout": "heads,n,d"}
    inputs = q.shape[0] if q.ndim == 4 else 1
    metadata["causal"] = str(flag("causal", causal)).lower()
    names = _source_names(sources, inputs, name)
    metadata |= {"sources": json.dumps(names)} if inputs > 1 else {"source": names[0]}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_tensors(path, {part: x for part, x in (("q", q), ("k", k), ("v", v)) if x is not None}, metadata)
    return _heads_spec(str(path), name)


def _heads_spec(path, label):
    spec = f"heads(file={quoted(path)})"
    return labelled(spec, label) if label else spec


def _stack(arrays, name):
    if len({x.shape for x in arrays}) > 1:
        raise ShapeError(
            f"heads {name!r}: inputs of shapes {', '.join(str(x.shape) for x in arrays)}: give those of one "
            "shape one name")
    return np.stack(arrays)


def _is_of_inputs(name, given):
    """Whether it is a list of (q, k, v) of each input, and not (q, k, v) of lists of arrays.

    ArgumentError where the brackets do not tell these two from each other."""
    if not isinstance(given,
                      (list, tuple)) or not given or not all(isinstance(one, (list, tuple, Mapping)) for one in given):
        return False
    kinds = {Mapping if isinstance(one, Mapping) else type(one) for one in given}
    if kinds == {Mapping} or (kinds == {tuple} and isinstance(given, list)):
        return True
    if kinds != {list} or isinstance(given, list) and any(getattr(x, "ndim", 0) > 1 for one in given for x in one):
        raise ArgumentError(
            f"heads {name!r}: these brackets may mean a list of inputs or lists of arrays: give [(q, k, v), ...], a "
            "list of tuples, one for each input, or arrays (inputs, heads, n, d)")
    return False


def _of_inputs(name, given):
    """q, k and v of several inputs, stacked: (inputs, heads, n, d)."""
    of_each = [_heads_arrays(name, one) for one in given]
    if any(q.ndim > 3 or (v is None) != (of_each[0][2] is None) for q, _, v in of_each):
        raise ShapeError(
            f"heads {name!r}: expected (n, d) or (heads, n, d) of each input in the list, all with v or none")
    return [
        None if x[0] is None else _stack([one.reshape(-1, *one.shape[-2:]) for one in x], name) for x in zip(*of_each)
    ]


def _source_names(sources, inputs, name):
    if sources is None:
        return [f"input-{i}" for i in range(inputs)]
    given = [sources] if isinstance(sources, str) else listed("sources", sources, "a list of the names of the inputs")
    names = [str(source) for source in given]
    if len(names) != inputs:
        raise ArgumentError(f"sources: {len(names)} names for the {inputs} inputs of {name or 'heads'!r}")
    if not all(source.strip() for source in names):
        raise ArgumentError(
            f"sources: the name of input {[bool(source.strip()) for source in names].index(False)} is empty")
    return names


def _heads_arrays(name, given):
    """q, k and v, which may be None, of equal rank."""
    if isinstance(given, Mapping):
        given = [given.get(part) for part in "qkv"]
    if not isinstance(given, (tuple, list)) or not 2 <= len(given) <= 3 or given[0] is None or given[1] is None:
        raise TypeError(f"heads {name!r}: expected (q, k) or (q, k, v), not {type(given).__name__}")
    q, k, v = (None if x is None else _finite(f"{part} of heads {name!r}", x) for part, x in zip("qkv", (*given, None)))
    shapes = ", ".join(f"{part} {x.shape}" for part, x in (("q", q), ("k", k), ("v", v)) if x is not None)
    others = [x for x in (k, v) if x is not None]
    if not 2 <= q.ndim <= 4 or any(x.ndim != q.ndim for x in others):
        raise ShapeError(
            f"heads {name!r}: expected (n, d), (heads, n, d) or (inputs, heads, n, d), all alike, not {shapes}")
    if k.shape[-1] != q.shape[-1] or any(x.shape[-2] != q.shape[-2] or x.shape[:-3] != q.shape[:-3] for x in others):
        raise ShapeError(
            f"heads {name!r}: q and k need one d, and all three one n and one number of inputs, not {shapes}")
    if q.ndim > 2 and any(x.shape[-3] != k.shape[-3] or q.shape[-3] % x.shape[-3] for x in others):
        raise ShapeError(
            f"heads {name!r}: keys and values need as many heads, a divisor of those of the queries, not {shapes}")
    return q, k, v


def _finite(name, x):
    x = real_numbers(name, x)
    x = x if x.dtype in _STORED else x.astype(np.float64)
    if 0 in x.shape:
        raise ShapeError(f"{name}: {x.shape}, expected lengths of at least 1")
    if not np.isfinite(x).all():
        where = ", ".join(map(str, np.argwhere(~np.isfinite(x))[0]))
        raise NumericError(f"{name}: the entry [{where}] is not finite")
    return x


def write_tensors(path, tensors, metadata):
    """A file of float16, float32 or float64 arrays by name, whole or not at all; the same bytes for the same
    content."""
    header, end = {"__metadata__": dict(sorted(metadata.items()))}, 0
    for name, x in tensors.items():
        header[name] = {"dtype": _DTYPES[x.itemsize], "shape": x.shape, "data_offsets": [end, end + x.nbytes]}
        end += x.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    try:
        with replacing(path) as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for x in tensors.values():
                file.write(np.ascontiguousarray(x).astype(x.dtype.newbyteorder("<"), copy=False).tobytes())
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}") from error


@contextlib.contextmanager
def replacing(path):
    """A new file beside path, which takes its place at the end; if anything fails, it is removed, path is as before."""
    part = f"{os.fspath(path)}.{secrets.token_hex(8)}.part"
    try:
        with open(part, "xb") as file:
            yield file
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        raise
