# SPDX-License-Identifier: GPL-3.0-or-later
"""Attention layers: all heads together, in single precision.

An Attention is opened for layers of one shape. Its passes are computed by the library, by a function of this process,
or by the program; each of these three is opened for a nysbench_layer, and has
    attend(q, k, v, out, restart, tokens)   a pass of C-ordered float32 arrays; restart: the first one. tokens: None, or
                                            how many come next
    restart(), cost()
    forget()                                called in a child of fork: what is open belongs to the parent
"""
from __future__ import annotations

import contextlib
import ctypes
import json
import operator
import os
import re
import shutil
import signal
import subprocess
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from . import _library
from ._arguments import (FLOAT32, LARGEST_TRIAL, ArgumentError, NumericError, ShapeError, address, check_layer,
                         count_of, doubt_layout, error, flag, integer, real_array, seed_of)
from ._functions import Mistake, command, drawn_key, exception_of, without_exit, without_options
from ._library import Callback, library, raising, text
from ._program import CALLER, Answering, Loop, bridged, failure, make_folder, program
from .serve import WITHOUT_MASK, attend_arrays

# Opened attentions that `attention` keeps in each thread: no more than so many, and none that holds more memory.
KEPT, KEPT_BYTES = 8, 2**26

PATIENCE_S = 5  # with a program that is to end

_forward, _extend = library.nysbench_attention_forward, library.nysbench_attention_extend
_restart = library.nysbench_attention_restart

_of_thread = threading.local()
_all: weakref.WeakSet[Attention] = weakref.WeakSet()


def _in_child():
    """A child of fork has none of its parent's threads: what is open is opened anew, since to free it would wait for
    them."""
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
    """The nysbench_layer of three shapes, each (heads, n, d) or (inputs, heads, n, d)."""
    check_layer(q, k, v)
    for length in (*q, *v):
        count_of(f"q {q}, k {k}, v {v}: a length", length)
    return _library.Layer(ctypes.sizeof(_library.Layer), q[0] if len(q) == 4 else 1, q[-3], k[-3], q[-2], q[-1], v[-1],
                          flag("causal", causal))


class Attention:
    """An attention that is ready for passes over layers of one shape.

    spec: a registered attention with its options, such as "nystrom(landmarks=64)", see names("attention"), or a
        program, command(run="python3 mine.py"); or a function or module, as for run.
    q, k, v: shapes, (heads, n, d) or (inputs, heads, n, d). Fewer key heads than heads: the heads of a group, which
        follow each other, share a key head. None: k is like q, and v like k.
    strategy: a function that picks the landmarks, as for run, in the place of the spec's strategy.
    causal: whether a query sees only the keys up to its own.
    threads: None is one for each CPU. The outputs have the same bits for any number.
    seed, trial: of the random stream; None is the seed 20260101.
    plugins: shared objects whose components the spec names.

    >>> layer = nysbench.Attention("streamed", (4, 32, 8))
    >>> layer(*np.zeros((3, 4, 32, 8), np.float32)).shape
    (4, 32, 8)

    Threads may share it: a pass waits for the one before. Raises ArgumentError, ShapeError, OutOfMemoryError,
    HostError, and TypeError for an argument of the wrong type, such as an array instead of its shape.
    """
    def __init__(self, spec: str | Callable, q: Sequence[int], k: Sequence[int] | None = None,
                 v: Sequence[int] | None = None, *, causal: bool = False, threads: int | None = None,
                 seed: int | None = None, trial: int = 0, strategy: Callable | None = None,
                 plugins: Sequence[str | os.PathLike] = ()):
        k = q if k is None else k
        self._q, self._k, self._v = _shape("q", q), _shape("k", k), _shape("v", k if v is None else v)
        layer = _layer(self._q, self._k, self._v, causal)
        self._out = self._q[:-1] + self._v[-1:]
        threads = 0 if threads is None else count_of("threads", threads)
        seed = seed_of(seed)
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

        q, k, v, out: as in a call, with some of the tokens that it was opened for; they come after those of the calls
        of extend before, and have the bits that one pass over all gives them. For attentions whose state allows it, and
        objects with methods extend(q, k, v) and restart(): ArgumentError for the others, ShapeError behind the last
        token; restart() begins with the first one.
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
    if works_elsewhere(spec, plugins):
        served = [] if strategy is None else [Answering(strategy)]
        if served:
            spec = with_strategy(spec, served[0].spec)
        return InProgram(spec, layer, threads, seed, trial, plugins, served)
    callbacks = [] if strategy is None else [Callback(strategy)]
    if callbacks:
        written = text("spec", with_strategy(spec, callbacks[0].spec))
    return InLibrary(written, layer, threads, seed, trial, callbacks)


def with_strategy(spec, strategy):
    """The spec of an attention, and a strategy as one option more."""
    return f"{spec[:-1]}, strategy={strategy})" if spec.endswith(")") else f"{spec}(strategy={strategy})"


def lacks_strategy(spec):
    """Whether a spec is of an attention of the library that has an option strategy, and does not set it."""
    name, _, options = spec.partition("(")
    return (name.strip() in _library.names("attention") and not re.search(r"\bstrategy\s*=", options)
            and re.search(r"^  strategy ", _library.describe(name.strip(), "attention"), re.M) is not None)


def _arrays(q, k, v) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return real_array("q", q, FLOAT32), real_array("k", k, FLOAT32), real_array("v", v, FLOAT32)


def _overlap(out, inputs):
    """Whether the entries of one of the inputs are those of out."""
    place, places = address(out), [address(x) for x in inputs]
    return any(at < place + out.nbytes and place < at + x.nbytes for x, at in zip(inputs, places))


def _checked_out(out, shape):
    if not isinstance(out, np.ndarray) or out.dtype != FLOAT32 or not out.flags.carray:
        raise ArgumentError("out: expected a writeable float32 array in C order")
    if out.shape != shape:
        raise ShapeError(f"out: {out.shape}, expected {shape}")
    return out


def attention(q: ArrayLike, k: ArrayLike, v: ArrayLike, spec: str | Callable, *, causal: bool = False,
              threads: int | None = None, seed: int | None = None, trial: int = 0, strategy: Callable | None = None,
              plugins: Sequence[str | os.PathLike] = (), out: np.ndarray | None = None) -> np.ndarray:
    """The outputs of all heads of a layer: what Attention(spec, ...)(q, k, v, out) gives in its first pass.

    >>> q, k, v = np.random.default_rng(1).standard_normal((3, 2, 32, 8))
    >>> exact = nysbench.attention(q, k, v, "streamed")
    >>> landmarks = nysbench.attention(q, k, v, "nystrom(strategy=kmeans, landmarks=16)")
    >>> exact.shape, bool(np.linalg.norm(landmarks - exact) < np.linalg.norm(exact))
    ((2, 32, 8), True)

    Arguments are those of Attention and of its call; q, k and v may also be (n, d), one head. Each call is independent
    of earlier ones. For speed, each thread keeps its eight most recent attentions open, unless one holds more than 64
    MiB. The spec may be a function or module, as for run: f(q, k, v) of an input's arrays, each float32 (heads, n, d),
    returns (heads, n, dv).
    """
    q, k, v = _arrays(q, k, v)
    how = {"causal": causal, "threads": threads, "seed": seed, "trial": trial, "strategy": strategy, "plugins": plugins}
    if q.ndim == k.ndim == v.ndim == 2:  # one head
        found = attention_of_layer(q[None], k[None], v[None], spec, **how, out=None if out is None else out[None])
        return found[0] if out is None else out
    doubt_layout("q", q.shape)
    return attention_of_layer(q, k, v, spec, **how, out=out)


def attention_of_layer(q, k, v, spec, *, causal=False, threads=None, seed=None, trial=0, strategy=None, plugins=(),
                       out=None):
    """The same for float32 arrays in C order that are (heads, n, d) or (inputs, heads, n, d) for sure."""
    how = {"causal": causal, "threads": threads, "seed": seed, "trial": trial, "strategy": strategy, "plugins": plugins}
    if callable(spec):
        return Attention(spec, q.shape, k.shape, v.shape, **how)._pass(q, k, v, out, False)
    key = (spec, q.shape, k.shape, v.shape, causal, threads, seed, trial, strategy, plugins and tuple(plugins))
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


def drawn_seed(found, seed, trial):
    """The seed that an AttentionFunction gets in a trial, as in a run; 0 for one that draws nothing."""
    if not found.is_random:
        return 0
    drawn, spec = ctypes.c_uint64(), command(drawn_key(found), found)
    _library.handle().call(library.nysbench_attention_seed, spec.encode(), seed, trial, ctypes.byref(drawn))
    return drawn.value


class InLibrary:
    """strategy: a function that picks the landmarks, or None."""

    def __init__(self, spec, layer, threads, seed, trial, callbacks):
        self.spec, self.layer, self.settings, self.callbacks = spec, layer, (threads, seed, trial), callbacks
        self.pointer = None
        self.ready()

    def ready(self):
        """Its pointer; in a child of fork it is opened here."""
        if self.pointer is None:
            pointer = ctypes.c_void_p()
            with raising(*self.callbacks):
                _library.handle().call(library.nysbench_attention_new, self.spec, ctypes.byref(self.layer),
                                       *self.settings, ctypes.byref(pointer))
            self.pointer, self.process = pointer, os.getpid()
        return self.pointer

    def __del__(self, free=library.nysbench_attention_free, process=os.getpid):
        # A child of fork frees other threads' thread-locals before forget is called.
        if getattr(self, "process", None) == process():
            free(self.pointer)

    def forget(self):
        self.pointer = None

    def attend(self, q, k, v, out, restart, tokens):
        pointer = self.ready()
        if restart:
            _restart(pointer)
        places = address(q), address(k), address(v), address(out)
        status = _forward(pointer, *places) if tokens is None else _extend(pointer, tokens, *places)
        if status:
            with raising(*self.callbacks):
                raise error(status, library.nysbench_attention_message(pointer).decode(errors="replace"))

    def restart(self):
        _restart(self.ready())

    def cost(self):
        found = _library.Cost()
        library.nysbench_attention_cost(self.ready(), ctypes.byref(found))
        return found.seconds, found.multiplications, found.bytes


class OfFunction:
    """found: an AttentionFunction."""

    def __init__(self, found, layer, seed, trial):
        self.found, self.layer, self.seed = found, layer, drawn_seed(found, seed, trial)
        self.seconds, self.tokens = np.nan, 0
        if layer.causal and not found.causal:
            raise ArgumentError(f"{found.__name__}: {WITHOUT_MASK}")

    def attend(self, q, k, v, out, restart, tokens):
        if tokens is None:
            self.restart()
        else:
            self.begin(tokens)
        start = time.perf_counter()
        batch = [(q, k, v, out)] if q.ndim == 3 else zip(q, k, v, out)
        for *arrays, place in batch:
            try:
                place[...] = attend_arrays(self.found if tokens is None else self.piece, *(x.view() for x in arrays),
                                           causal=bool(self.layer.causal), seed=self.seed)[0]
            except Mistake as mistake:
                raise exception_of(mistake, self.found.__name__) from None
        self.seconds = time.perf_counter() - start
        require_finite(out, f"{self.found.__name__}: outputs are not finite: ")

    def begin(self, tokens):
        """Before tokens that come next."""
        name = self.found.__name__
        if not self.found.steps:
            raise ArgumentError(
                f"{name} takes all tokens at once, not piece by piece: it has no methods extend(q, k, v) and restart()")
        if self.layer.batch > 1 or not self.layer.causal:
            raise ArgumentError(
                f"{name}: tokens come one after the other in one causal input: expected (heads, n, d) and causal=True")
        if tokens > self.layer.n - self.tokens:
            raise ShapeError(
                f"{name} was opened for {self.layer.n} tokens, of which {self.tokens} are taken: {tokens} more are "
                "not possible"
            )
        if self.tokens == 0:
            self.piece = self.found.piece()
            with without_exit():
                self.found.function.restart()
        self.tokens += tokens

    def restart(self):
        self.tokens = 0

    def forget(self):
        pass

    def cost(self):
        return self.seconds, np.nan, np.nan


def works_elsewhere(spec, plugins):
    """Whether a spec is the program's: it names programs, or may name components of plug-ins."""
    return re.search(r"\bcommand\s*\(", spec) is not None or bool(plugins)


class InProgram:
    """By `nysbench attend`, which stays alive as long as this object, or as its process. served: functions of this
    process that the spec names, as Answering."""

    def __init__(self, spec, layer, threads, seed, trial, plugins, served):
        self.words = [
            *(f"--plugin={os.path.abspath(plugin)}" for plugin in plugins),
            *([f"--threads={threads}"] if threads else []), f"--seed={seed}", f"--trial={trial}", "--", spec
        ]
        self.layer, self.process, self.last, self.served = layer, None, (np.nan,) * 3, served
        self.ready()

    def ready(self):
        if self.process is None:
            self.start()
            self.ask({
                "do": "open",
                **{name: getattr(self.layer, name)
                   for name, _ in self.layer._fields_ if name != "size"}, "causal": bool(self.layer.causal)
            })

    def start(self):
        """Where nysbench has started this process, relative paths in the spec are those of the folder of that call."""
        self.folder, stack = make_folder("session"), contextlib.ExitStack()
        self.loop = Loop({one.key: one for one in self.served}, os.path.join(self.folder, "socket"), stack)
        environment = {**os.environ, **CALLER}
        if self.served:
            environment.update({**bridged(self.folder), "NYSBENCH_SESSION": self.loop.address})
        with open(os.path.join(self.folder, "stderr"), "wb") as said:
            self.process = subprocess.Popen([program(), "attend", *self.words], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=said, start_new_session=True,
                                            cwd=os.environ.get("NYSBENCH_FOLDER"), env=environment)
        self.end = weakref.finalize(self, _end, self.process, self.folder, stack, os.getpid())
        with self.ending():
            self.read()

    def forget(self):
        self.process = None

    def attend(self, q, k, v, out, restart, tokens):
        self.ready()
        if restart:
            self.restart()
        for name, x in zip("qkv", (q, k, v)):
            require_finite(x, f"{name}: ")
            np.save(os.path.join(self.folder, f"{name}.npy"), x)
        found = self.ask({"do": "forward" if tokens is None else "extend", "folder": self.folder})
        out[...] = np.load(os.path.join(self.folder, "out.npy")).reshape(out.shape)
        self.last = tuple(np.nan if found[name] is None else found[name]
                          for name in ("seconds", "multiplications", "bytes"))

    def restart(self):
        self.ready()
        self.ask({"do": "restart"})

    def cost(self):
        return self.last

    def ask(self, question):
        with self.ending():
            self.process.stdin.write(json.dumps(question).encode() + b"\n")
            self.process.stdin.flush()
            answer = self.read()
        if "error" in answer:
            with raising(*self.served):
                raise error(answer["status"], answer["error"])
        return answer

    def read(self):
        line = self.loop.line(self.process.stdout)
        if not line:
            raise BrokenPipeError
        return json.loads(line)

    @contextlib.contextmanager
    def ending(self):
        """What interrupts a question ends the program; FileError if that has ended by itself."""
        try:
            yield
        except BaseException as problem:
            with open(os.path.join(self.folder, "stderr"), encoding="utf-8", errors="replace") as file:
                lines = file.read().splitlines()
            ended = isinstance(problem, BrokenPipeError)
            if not ended:
                os.killpg(self.process.pid, signal.SIGTERM)
            status, self.process = self.process.wait(), None
            self.end()
            if not ended:
                raise
            said = [line.partition("error: ")[2] for line in lines if line.startswith("nysbench: error: ")
                    ] or lines[-1:]
            raise failure(status, said[:1]) from None


def require_finite(x, before):
    """x (heads, n, d), or of a batch of these: NumericError says where it has NaN or Inf, behind the text `before`."""
    if not np.isfinite(x).all():
        *batch, head, token, coordinate = at = tuple(np.argwhere(~np.isfinite(x))[0])
        place = "".join(f"input {one}, " for one in batch) + f"head {head}, token {token}, coordinate {coordinate}"
        raise NumericError(f"{before}{place} is {x[at]}")


def _end(process, folder, stack, owner):
    if os.getpid() != owner:  # a child of fork
        return
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()  # which ends it
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    process.stdout.close()
    stack.close()
    shutil.rmtree(folder, ignore_errors=True)
