# SPDX-License-Identifier: GPL-3.0-or-later
"""Attention layers: all heads together, in single precision."""
from __future__ import annotations

import ctypes
import operator
import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from . import _library
from ._arrays import FLOAT32, LARGEST_INT, LARGEST_SEED, SEED, address, doubt_layout, flag, integer, real_array
from ._attending import InLibrary, InProgram, OfFunction, works_elsewhere
from ._callbacks import Callback
from ._errors import ArgumentError, ShapeError
from ._heads import LARGEST_TRIAL
from ._library import text
from ._strategy import without_options

# Opened attentions that `attention` keeps in each thread: no more than so many, and none that holds more memory.
KEPT, KEPT_BYTES = 8, 2**26

_of_thread = threading.local()
_all = weakref.WeakSet()


def _in_child():
    """A child of fork has none of its parent's threads: what is open is opened anew, since to free it would wait for them."""
    for opened in _all:
        opened._inner.forget()
        opened._lock = threading.Lock()
    _of_thread.__dict__.clear()


os.register_at_fork(after_in_child=_in_child)


@dataclass(frozen=True)
class Cost:
    """Of the last pass: seconds; multiplications; bytes, the most that it held beside its input and output."""
    seconds: float
    multiplications: float
    bytes: float


def _shape(name, shape):
    """A tuple of integers; TypeError for what is no shape, such as an array."""
    try:
        return tuple(operator.index(length) for length in shape)
    except TypeError:
        raise TypeError(f"{name}: expected a shape such as {name}.shape, not {_kind(shape)}") from None


def _kind(x):
    return "an array" if hasattr(x, "shape") else type(x).__name__


def _layer(q, k, v, causal):
    """The nysbench_layer of three shapes, each (heads, n, d) or (batch, heads, n, d)."""
    shapes = f"q {q}, k {k}, v {v}"
    if len(q) not in (3, 4) or not len(q) == len(k) == len(v):
        raise ShapeError(f"expected (heads, n, d) or (batch, heads, n, d), all three alike, not {shapes}")
    if not (q[:-3] == k[:-3] == v[:-3] and q[-2] == k[-2] == v[-2]):
        raise ShapeError(f"inputs and tokens must be as many in all three: {shapes}")
    if q[-1] != k[-1]:
        raise ShapeError(f"queries and keys must have the same dimension: {shapes}")
    if k[-3] != v[-3] or k[-3] == 0 or q[-3] % k[-3]:
        raise ShapeError(f"keys and values must have the same heads, whose number divides that of the queries: {shapes}")
    for length in (*q, *v):
        integer(f"{shapes}: a length", length, 1, LARGEST_INT)
    return _library.Layer(ctypes.sizeof(_library.Layer), q[0] if len(q) == 4 else 1, q[-3], k[-3], q[-2], q[-1], v[-1],
                          flag("causal", causal))


class Attention:
    """An attention that is ready for passes over layers of one shape.

    spec: a registered attention with its options, such as "nystrom(landmarks=64)", see names("attention"), or a program,
        command(run="python3 mine.py"); or a function or module, as for run.
    q, k, v: shapes, (heads, n, d) or (batch, heads, n, d). Fewer key heads than heads: the heads of a group, which
        follow each other, share a key head. None: k is like q, and v like k.
    strategy: a function that picks the landmarks, as for run, in the place of the spec's strategy.
    causal: whether a query sees only the keys up to its own.
    threads: None is one for each CPU. The outputs have the same bits for any number.
    seed, trial: of the random stream; None is the seed 20260101.
    plugins: shared objects whose components the spec names.

    >>> layer = nysbench.Attention("streamed", (4, 32, 8))
    >>> layer(*np.zeros((3, 4, 32, 8), np.float32)).shape
    (4, 32, 8)

    Threads may share it: a pass waits for the one before. Raises ArgumentError, ShapeError, OutOfMemoryError, HostError,
    and TypeError for an argument of the wrong type, such as an array instead of its shape.
    """

    def __init__(self, spec: str | Callable, q: Sequence[int], k: Sequence[int] | None = None, v: Sequence[int] | None = None, *,
                 causal: bool = False, threads: int | None = None, seed: int | None = None, trial: int = 0,
                 strategy: Callable | None = None, plugins: Sequence[str | os.PathLike] = ()):
        k = q if k is None else k
        self._q, self._k, self._v = _shape("q", q), _shape("k", k), _shape("v", k if v is None else v)
        layer = _layer(self._q, self._k, self._v, causal)
        self._out = self._q[:-1] + self._v[-1:]
        threads = 0 if threads is None else integer("threads", threads, 1, LARGEST_INT)
        seed = integer("seed", SEED if seed is None else seed, 0, LARGEST_SEED)
        trial = integer("trial", trial, 0, LARGEST_TRIAL)
        self._lock = threading.Lock()
        self._inner = _opened_for(spec, layer, threads, seed, trial, strategy, plugins)
        _all.add(self)

    def __reduce_ex__(self, protocol):
        raise TypeError("an Attention cannot be copied or pickled: open another one")

    def __call__(self, q: ArrayLike, k: ArrayLike, v: ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
        """The outputs (the shape of q, with the dimension of v), float32.

        q, k, v: of the shapes that it was opened for; float32 in C order is not copied.
        out: takes the outputs, and is returned: float32 in C order, no part of q, k or v.

        Raises ShapeError, NumericError (NaN or Inf), ArgumentError where the attention refuses such heads or diverges.
        """
        doubt_layout("q", self._q)
        return self._pass(*_arrays(q, k, v), out, False)

    def extend(self, q: ArrayLike, k: ArrayLike, v: ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
        """The outputs of the next tokens of a causal layer, a prompt or one at a time: (heads, tokens, dv).

        q, k, v, out: as in a call, with some of the tokens that it was opened for; they come after those of the calls of
        extend before, and have the bits that one pass over all gives them. For attentions whose state allows it, and
        objects with methods extend(q, k, v) and restart(): ArgumentError for the others, ShapeError behind the last token;
        restart() begins with the first one.
        """
        doubt_layout("q", self._q)
        q, k, v = _arrays(q, k, v)
        tokens = q.shape[-2] if q.ndim > 1 else 0
        return self._pass(q, k, v, out, False, tokens)

    def _pass(self, q, k, v, out, restart, tokens=None):
        shapes = [x if tokens is None else (*x[:-2], tokens, x[-1]) for x in (self._q, self._k, self._v, self._out)]
        if [q.shape, k.shape, v.shape] != shapes[:3]:
            raise ShapeError(f"q {q.shape}, k {k.shape}, v {v.shape}, but opened for {self._q}, {self._k}, {self._v}")
        given = out is not None
        out = _checked_out(out, shapes[3]) if given else np.empty(shapes[3], FLOAT32)
        if given and _overlap(out, (q, k, v)):
            raise ArgumentError("out: shares memory with an input")
        with self._lock:
            self._inner.attend(q, k, v, out, restart, tokens)
        return out

    def restart(self):
        """The next pass is the first one again, for attentions that keep landmarks or features between passes; the next
        tokens of extend are the first ones."""
        with self._lock:
            self._inner.restart()

    @property
    def cost(self):
        """The Cost of the last pass."""
        with self._lock:
            return Cost(*self._inner.cost())


def _opened_for(spec, layer, threads, seed, trial, strategy, plugins):
    """What makes the passes."""
    plugins = [plugins] if isinstance(plugins, (str, os.PathLike)) else list(plugins)
    if callable(spec):
        found = without_options(spec, "attention")
        if strategy is not None:
            raise ArgumentError(f"strategy: {found.__name__} is a function, which picks no landmarks by a strategy")
        return OfFunction(found, layer, seed, trial)
    written = text("spec", spec)  # TypeError for what is none
    if strategy is None and works_elsewhere(spec, plugins):
        return InProgram(spec, layer, threads, seed, trial, plugins)
    callbacks = [] if strategy is None else [Callback(strategy)]
    if callbacks:
        written = text("spec", with_strategy(spec, callbacks[0].spec))
    return InLibrary(written, layer, threads, seed, trial, callbacks)


def with_strategy(spec, strategy):
    """The spec of an attention, and a strategy as one option more."""
    return f"{spec[:-1]}, strategy={strategy})" if spec.endswith(")") else f"{spec}(strategy={strategy})"


def _arrays(q, k, v):
    return real_array("q", q, FLOAT32), real_array("k", k, FLOAT32), real_array("v", v, FLOAT32)


def _overlap(out, inputs):
    """Whether the entries of one of the inputs are those of out."""
    place, places = address(out), [address(x) for x in inputs]
    return any([at < place + out.nbytes and place < at + x.nbytes for x, at in zip(inputs, places)])


def _checked_out(out, shape):
    if not isinstance(out, np.ndarray) or out.dtype != FLOAT32 or not out.flags.carray:
        raise ArgumentError("out: expected a writeable float32 array in C order")
    if out.shape != shape:
        raise ShapeError(f"out: {out.shape}, expected {shape}")
    return out


def attention(q: ArrayLike, k: ArrayLike, v: ArrayLike, spec: str | Callable, *, causal: bool = False, threads: int | None = None,
              seed: int | None = None, trial: int = 0, strategy: Callable | None = None,
              plugins: Sequence[str | os.PathLike] = (), out: np.ndarray | None = None) -> np.ndarray:
    """The outputs of all heads of a layer: what Attention(spec, ...)(q, k, v, out) gives in its first pass.

    >>> q, k, v = np.random.default_rng(1).standard_normal((3, 2, 32, 8))
    >>> exact = nysbench.attention(q, k, v, "streamed")
    >>> landmarks = nysbench.attention(q, k, v, "nystrom(strategy=kmeans, landmarks=16)")
    >>> exact.shape, bool(np.linalg.norm(landmarks - exact) < np.linalg.norm(exact))
    ((2, 32, 8), True)

    Arguments are those of Attention and of its call; q, k and v may also be (n, d), one head. Each call is independent of
    earlier ones. For speed, each thread keeps its eight most recent attentions open, unless one holds more than 64 MiB. The
    spec may be a function or module, as for run: f(q, k, v) of an input's arrays, each float32 (heads, n, d), returns
    (heads, n, dv).
    """
    q, k, v = _arrays(q, k, v)
    how = {"causal": causal, "threads": threads, "seed": seed, "trial": trial, "strategy": strategy, "plugins": plugins}
    if q.ndim == k.ndim == v.ndim == 2:  # one head
        found = attention_of_layer(q[None], k[None], v[None], spec, **how, out=None if out is None else out[None])
        return found[0] if out is None else out
    doubt_layout("q", q.shape)
    return attention_of_layer(q, k, v, spec, **how, out=out)


def attention_of_layer(q, k, v, spec, *, causal=False, threads=None, seed=None, trial=0, strategy=None, plugins=(), out=None):
    """The same for float32 arrays in C order that are (heads, n, d) or (batch, heads, n, d) for sure."""
    how = {"causal": causal, "threads": threads, "seed": seed, "trial": trial, "plugins": plugins}
    if callable(spec) or strategy is not None:
        return Attention(spec, q.shape, k.shape, v.shape, strategy=strategy, **how)._pass(q, k, v, out, False)
    key = (spec, q.shape, k.shape, v.shape, causal, threads, seed, trial, plugins and tuple(plugins))
    opened = _opened()
    try:
        ready = opened.pop(key, None)  # and back, as the latest, if the pass succeeds
    except TypeError:  # an argument that is no key, such as a list: wrong, or an integer in an array
        return Attention(spec, *key[1:4], **how)._pass(q, k, v, out, False)
    if ready is None:
        ready = Attention(spec, q.shape, k.shape, v.shape, **how)
        result = ready._pass(q, k, v, out, False)
        if ready.cost.bytes > KEPT_BYTES:
            return result
    else:
        result = ready._pass(q, k, v, out, True)
    opened[key] = ready
    if len(opened) > KEPT:
        opened.popitem(last=False)
    return result


def _opened():
    try:
        return _of_thread.opened
    except AttributeError:
        _of_thread.opened = OrderedDict()
        return _of_thread.opened
