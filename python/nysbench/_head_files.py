# SPDX-License-Identifier: GPL-3.0-or-later
"""Heads from a session, as files that the program reads, in the safetensors format."""
import contextlib
import hashlib
import json
import os
import re
import secrets
import struct
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ._arguments import (ArgumentError, FileError, NumericError, ShapeError, doubt_layout, flag, listed, quoted,
                         real_numbers)

_STORED = (np.float16, np.float32, np.float64)
_DTYPES = {2: "F16", 4: "F32", 8: "F64"}  # in a file, by bytes


def problems(heads, folder, *, sources=None, causal=None):
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
    entries = [entry for name, given in heads.items() for entry in _entries(_name(name), given)]
    if not entries:
        raise ArgumentError("heads: there are none")
    paths = [Path(folder) / f"{stem}.safetensors" for stem in _stems([name for name, _ in entries])]
    return [_problem(name, given, path, _sources(sources, name), causal) for (name, given), path in zip(entries, paths)]


def _stems(names):
    """A file's name for each of the heads; names that differ in signs or case alone have a digest of theirs behind
    it."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise ArgumentError(f"heads: {twice[0]!r} is the name of several")
    stems = [re.sub(r"\W+", "-", name).strip("-").lower() or "heads" for name in names]
    digests = (hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:8] for name in names)
    return [stem if stem == name or stems.count(stem) == 1 else f"{stem}-{digest}"
            for name, stem, digest in zip(names, stems, digests)]


def _name(name):
    if not isinstance(name, str):
        raise TypeError(f"heads: expected names, such as {{'my layer': (q, k, v)}}, not {name!r}")
    return name


def _entries(name, given):
    """Pairs of a name and heads of one layer; captured ones of several layers are one for each."""
    layers = given if isinstance(given, (list, tuple)) else [given]
    if layers and all(isinstance(one, Mapping) and one and all(isinstance(key, int) for key in one) for one in layers):
        return [(f"{name} layer {key}".strip(), [one[key] for one in layers]) for key in layers[0]]
    return [(name, given)]


def _sources(sources, name):
    return sources.get(name) if isinstance(sources, Mapping) else sources


def _problem(name, given, path, sources, causal):
    if isinstance(given, (str, os.PathLike)):
        return _spec(os.fspath(given), name)
    captured = given if isinstance(given, list) and given and all(hasattr(one, "metadata") for one in given) else \
        [given] if hasattr(given, "metadata") else None
    if captured:
        q, k, v = (_stack([getattr(one, part) for one in captured], name) for part in "qkv")
        causal = captured[0].causal if causal is None else causal
        metadata = {**captured[0].metadata, "layer": str(captured[0].layer), "layout": "heads,n,d"}
    else:
        q, k, v = _of_inputs(name, given) if _is_of_inputs(name, given) else _arrays(name, given)
        doubt_layout(f"heads {name!r}: q" if name else "heads: q", q.shape)
        metadata = {"model": name or "heads", "layout": "heads,n,d"}
    inputs = q.shape[0] if q.ndim == 4 else 1
    metadata["causal"] = str(flag("causal", causal)).lower()
    names = _source_names(sources, inputs, name)
    metadata |= {"sources": json.dumps(names)} if inputs > 1 else {"source": names[0]}
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, {part: x for part, x in (("q", q), ("k", k), ("v", v)) if x is not None}, metadata)
    return _spec(str(path), name)


def _spec(path, label):
    return f"heads(file={quoted(path)}{f', label={quoted(label)}' if label else ''})"


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
    of_each = [_arrays(name, one) for one in given]
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


def _arrays(name, given):
    """q, k and v, which may be None, of equal rank."""
    if isinstance(given, Mapping):
        given = [given.get(part) for part in "qkv"]
    if not isinstance(given, (tuple, list)) or not 2 <= len(given) <= 3 or given[0] is None or given[1] is None:
        raise TypeError(f"heads {name!r}: expected (q, k) or (q, k, v), not {type(given).__name__}")
    q, k, v = (None if x is None else _stored(f"{part} of heads {name!r}", x) for part, x in zip("qkv", (*given, None)))
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


def _stored(name, x):
    x = real_numbers(name, x)
    x = x if x.dtype in _STORED else x.astype(np.float64)
    if 0 in x.shape:
        raise ShapeError(f"{name}: {x.shape}, expected lengths of at least 1")
    if not np.isfinite(x).all():
        where = ", ".join(map(str, np.argwhere(~np.isfinite(x))[0]))
        raise NumericError(f"{name}: the entry [{where}] is not finite")
    return x


def write(path, tensors, metadata):
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
