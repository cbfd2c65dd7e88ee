# SPDX-License-Identifier: GPL-3.0-or-later
"""What computes the passes of an Attention: the library, a function of this process, or the program.

Each is opened for layers of one shape, a nysbench_layer, and has
    attend(q, k, v, out, restart, tokens)   a pass of C-ordered float32 arrays; restart: the first one. tokens: None, or
                                            how many come next
    restart(), cost()
    forget()                                called in a child of fork: what is open belongs to the parent
"""
import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import time
import weakref

import numpy as np

from . import _library
from ._arrays import address
from ._attention_function import WITHOUT_MASK, attend_arrays
from ._callbacks import raising
from ._errors import ArgumentError, FileError, NumericError, ShapeError, error
from ._identity import likeness
from ._library import library
from ._program import program
from ._session import command, key_of
from ._strategy import Mistake
from ._temporary import make_folder

_forward, _extend = library.nysbench_attention_forward, library.nysbench_attention_extend
_restart = library.nysbench_attention_restart

PATIENCE_S = 5  # with a program that is to end


def drawn_seed(found, seed, trial):
    """The seed that an AttentionFunction gets in a trial, as in a run; 0 for one that draws nothing."""
    if not found.is_random:
        return 0
    drawn, spec = ctypes.c_uint64(), command(key_of(found, likeness(found.identity)), found)
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
                _library.handle().call(library.nysbench_attention_new, self.spec, ctypes.byref(self.layer), *self.settings,
                                       ctypes.byref(pointer))
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
        self.found, self.layer, self.seed, self.seconds, self.tokens = found, layer, drawn_seed(found, seed, trial), np.nan, 0
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
                raise ArgumentError(f"{self.found.__name__}: {mistake}") from None
        self.seconds = time.perf_counter() - start
        if not np.isfinite(out).all():
            raise NumericError(f"{self.found.__name__}: outputs are not finite")

    def begin(self, tokens):
        """Before tokens that come next."""
        name = self.found.__name__
        if not self.found.steps:
            raise ArgumentError(f"{name} takes all tokens at once, not piece by piece: it has no methods extend(q, k, v) and restart()")
        if self.layer.batch > 1 or not self.layer.causal:
            raise ArgumentError(f"{name}: tokens come one after the other in one causal input: expected (heads, n, d) and causal=True")
        if tokens > self.layer.n - self.tokens:
            raise ShapeError(f"{name} was opened for {self.layer.n} tokens, of which {self.tokens} are taken: {tokens} more are not possible")
        if self.tokens == 0:
            self.piece = self.found.piece()
            self.found.function.restart()
        self.tokens += tokens

    def restart(self):
        self.tokens = 0

    def forget(self):
        pass

    def cost(self):
        return self.seconds, np.nan, np.nan


def works_elsewhere(spec, plugins):
    """Whether a spec is the program's: it names programs, or may name components of plug-ins. A function of this process,
    callback(...), is the library's alone."""
    return re.search(r"\bcommand\s*\(", spec) is not None or bool(plugins) and "callback(" not in spec


class InProgram:
    """By `nysbench attend`, which stays alive as long as this object, or as its process."""

    def __init__(self, spec, layer, threads, seed, trial, plugins):
        self.words = [*(f"--plugin={os.path.abspath(plugin)}" for plugin in plugins), *([f"--threads={threads}"] if threads else []),
                      f"--seed={seed}", f"--trial={trial}", "--", spec]
        self.layer, self.process, self.last = layer, None, (np.nan,) * 3
        self.ready()

    def ready(self):
        if self.process is None:
            self.start()
            self.ask({"do": "open", **{name: getattr(self.layer, name) for name, _ in self.layer._fields_ if name != "size"},
                      "causal": bool(self.layer.causal)})

    def start(self):
        """Where nysbench has started this process, relative paths in the spec are those of the folder of that call."""
        self.folder = make_folder("session")
        with open(os.path.join(self.folder, "stderr"), "wb") as said:
            self.process = subprocess.Popen([program(), "attend", *self.words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said,
                                            start_new_session=True, cwd=os.environ.get("NYSBENCH_FOLDER"))
        self.end = weakref.finalize(self, _end, self.process, self.folder, os.getpid())
        with self.ending():
            self.read()

    def forget(self):
        self.process = None

    def attend(self, q, k, v, out, restart, tokens):
        self.ready()
        if restart:
            self.restart()
        for name, x in zip("qkv", (q, k, v)):
            _require_finite(name, x)
            np.save(os.path.join(self.folder, f"{name}.npy"), x)
        found = self.ask({"do": "forward" if tokens is None else "extend", "folder": self.folder})
        out[...] = np.load(os.path.join(self.folder, "out.npy")).reshape(out.shape)
        self.last = tuple(np.nan if found[name] is None else found[name] for name in ("seconds", "multiplications", "bytes"))

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
            raise error(answer["status"], answer["error"])
        return answer

    def read(self):
        line = self.process.stdout.readline()
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
            said = [line.partition("error: ")[2] for line in lines if line.startswith("nysbench: error: ")] or lines[-1:]
            raise (ArgumentError if status == 2 else FileError)(said[0] if said else f"nysbench attend: ended with status {status}") from None


def _require_finite(name, x):
    if not np.isfinite(x).all():
        *_, head, token, coordinate = np.argwhere(~np.isfinite(x))[0]
        raise NumericError(f"{name}: head {head}, token {token}, coordinate {coordinate} is NaN or Inf")


def _end(process, folder, owner):
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
    shutil.rmtree(folder, ignore_errors=True)
