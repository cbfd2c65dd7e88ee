# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions of this session as strategies, cores and attentions of the library, which calls them in the thread of the
call, and of the program, whose workers ask this session.

1. The program is started by exec, never by a fork of this process alone: threads of PyTorch or BLAS do not survive one.
2. Each worker starts a bridge (_processes.py) for each function, which connects to the session's socket and says its
   name. A config calls it BRIDGE NAME, a program in PATH: where it lies is no part of what a row is.
3. The session reads what comes, and answers one question at a time, in this thread, while the program runs.

Whatever ends this process ends the program too, and the program its workers and their bridges."""
from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import json
import os
import re
import selectors
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import weakref
from collections import deque

import numpy as np

from . import _library
from ._arguments import Error, FileError, flag, labelled, warn
from ._functions import exception_of, file_of, without_options
from ._identity import digest, likeness, unfollowed
from ._library import FOLDER, CoreFunction, PickFunction, library
from ._processes import reach
from ._program import CALLER, make_folder, program
from .serve import Mistake, answer, check_given, core_of, done, given, greeting, results_left, results_of, told

BRIDGE = "nysbench-function"
FUNCTIONS = "functions"  # the folder of a run with copies of functions
PATIENCE_S = 20  # after an interrupt: until the program has kept what is done

_TOKENS, _GROUPS, _POINTS = 1, 2, 3  # nysbench_picks_kind


def key_of(found, identity):
    """What the bridge of a function says: a word that may name a file."""
    return f"{re.sub(r'[^a-zA-Z0-9_]+', '-', found.__name__)[:40]}-{identity}"


def command(key, found):
    """The spec of a function in a run, with all options as rows have it. The time limit is the longest that a command
    has: what runs too long in a session, its user interrupts."""
    options = {"deterministic": not found.is_random, "serve": True}
    if found.kind == "attention":
        options.update(causal=found.causal, timed=True if found.timed else "own")
    written = ", ".join(f"{name}={str(value).lower()}" for name, value in options.items())
    return f'command(run="{BRIDGE} {key}", timeout=1000000, {written})'


def bridged(copies):
    """The variables of an environment in which workers find BRIDGE, and BRIDGE copies of functions in a folder.
    FileError where PATH cannot name the bridge's folder."""
    bridge = str(FOLDER / "bridge")
    if os.pathsep in bridge:
        raise FileError(
            f"{bridge}: PATH cannot name a folder with '{os.pathsep}': move or install the package elsewhere")
    return {"PATH": os.pathsep.join([bridge, os.environ.get("PATH", os.defpath)]), "NYSBENCH_PYTHON": sys.executable,
            "NYSBENCH_FUNCTIONS": str(copies)}


def shell_words(copies):
    """The same, in front of a command of the shell."""
    added = {**bridged(copies), "PATH": f"{FOLDER / 'bridge'}:"}
    return " ".join(f"{name}={shlex.quote(value)}" + ("$PATH" if name == "PATH" else "")
                    for name, value in added.items())


class Session:
    """served: by name, what answers the questions of a bridge of that name: a function of the question, a dict, and of
    the seconds that it has waited; it returns a dict, and messages call it by its `label`. copies: the folder of copies
    of functions."""

    def __init__(self, served, copies):
        self.served, self.copies = served, copies

    def run(self, arguments, on_line):
        """Runs the program, and returns its exit status and standard output. on_line: called with each line of its
        standard error. KeyboardInterrupt ends it gently and is raised again: what is measured is kept."""
        with contextlib.ExitStack() as stack:
            folder = make_folder("session")
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            loop = Loop(self.served, os.path.join(folder, "socket"), stack)
            environment = {name: value for name, value in os.environ.items() if name != "NYSBENCH_SESSION"}
            environment.update({**bridged(self.copies), **CALLER})
            if self.served:
                environment["NYSBENCH_SESSION"] = loop.address
            script = [sys.executable, "-I", "-S", str(FOLDER / "_processes.py")]
            command = [*script, "end-with", str(os.getpid()), program(), *arguments]
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, start_new_session=True, env=environment)
            stack.callback(process.stdout.close)
            stack.callback(process.stderr.close)
            try:
                out = loop.turn(process, on_line)
                return process.wait(), out
            except BaseException:
                _end(process)
                raise


def _end(process):
    """Interrupts the program, reads what it has to say, and kills what does not end."""
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=PATIENCE_S)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise


class Loop:
    """Reads a program's streams, and answers questions of bridges meanwhile, in this thread. served: as in Session."""

    def __init__(self, served, address, stack):
        self.served, self.address = served, address
        self.questions = deque()  # of bridges: connection, function, text
        self.selector = stack.enter_context(selectors.DefaultSelector())
        self.listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        reach(address, self.listener.bind)
        self.listener.listen(64)
        self.selector.register(self.listener, selectors.EVENT_READ, self._accept)
        self.stack = stack

    def turn(self, process, on_line):
        """Until the program has closed its standard output and error; returns the first."""
        out, lines = _Text(), _Lines(on_line)
        for stream, take in ((process.stdout, out), (process.stderr, lines)):
            self.selector.register(stream, selectors.EVENT_READ, take)
        while not (out.ended and lines.ended):
            self._step()
        return out.text()

    def line(self, stream):
        """The next line that a program writes there, which writes no more than one; b"" if it has closed the stream."""
        out = _Text()
        self.selector.register(stream, selectors.EVENT_READ, out)
        while not (out.ended or out.lines):
            self._step()
        if not out.ended:
            self.selector.unregister(stream)
        return b"".join(out.lines)

    def _step(self):
        for key, _ in self.selector.select(0 if self.questions else None):
            key.data(key.fileobj, self.selector)
        if self.questions:
            _answer(*self.questions.popleft())

    def _accept(self, listener, selector):
        connection = self.stack.enter_context(listener.accept()[0])
        selector.register(connection, selectors.EVENT_READ, _Bridge(self.served, self.questions))


class _Reader:
    """Takes the lines of a stream; what takes them says how."""

    def __init__(self):
        self.rest, self.ended = b"", False

    def __call__(self, stream, selector):
        try:
            got = os.read(stream.fileno(), 1 << 16)
        except ConnectionError:
            got = b""
        if not got:
            selector.unregister(stream)
            self.ended = True
            return
        *lines, self.rest = (self.rest + got).split(b"\n")
        for line in lines:
            self.take(stream, line)


class _Text(_Reader):
    def __init__(self):
        super().__init__()
        self.lines = []

    def take(self, _, line):
        self.lines.append(line + b"\n")

    def text(self):
        return b"".join([*self.lines, self.rest]).decode(errors="surrogateescape")


class _Lines(_Reader):
    def __init__(self, on_line):
        super().__init__()
        self.on_line = on_line

    def take(self, _, line):
        self.on_line(line.decode(errors="surrogateescape"))


class _Bridge(_Reader):
    """A worker's: its first line names the function, the others are questions behind the time at which they came."""

    def __init__(self, served, questions):
        super().__init__()
        self.served, self.questions, self.function = served, questions, None

    def take(self, connection, line):
        if self.function is None:
            self.function = self.served[line.decode()]
            _say(connection, greeting(self.function.label))
        else:
            self.questions.append((connection, self.function, line))


def _answer(connection, function, line):
    asked, question = line.split(b" ", 1)
    _say(connection, function(json.loads(question), time.monotonic() - float(asked)))


def _say(connection, answer):
    with contextlib.suppress(ConnectionError):  # its worker has given it up
        connection.sendall(json.dumps(answer).encode() + b"\n")


class _Raising:
    """A function that is called from where its exceptions cannot go."""

    def __init__(self, found):
        self.name, self.function, self._raised = found.__name__, found, []

    def taken(self):
        """What the function has raised last, once; None: nothing."""
        return self._raised.pop() if self._raised else None


class Answering(_Raising):
    """A strategy that answers the questions of a bridge of that key; the program knows it by `spec`."""

    def __init__(self, function):
        found = without_options(function, "strategy")
        super().__init__(found)
        self.label = self.name
        self.key = key_of(found, likeness(found.identity))
        self.spec = command(self.key, found)

    def __call__(self, question, _):
        try:
            return done(self.function, {}, question)
        except Exception as error:
            self._raised[:] = [error]
            return {"error": told(error, file_of(self.function.function))}


class Callback(_Raising):
    """A function, known to the library by `spec` as long as this object lives."""

    def __init__(self, function):
        found = without_options(function)
        super().__init__(found)
        self.told = command(key_of(found, likeness(found.identity)), found)  # its name in messages, and its seeds
        kind, add = {"core": (CoreFunction, library.nysbench_add_core)}.get(
            found.kind, (PickFunction, library.nysbench_add_strategy))
        called = kind(functools.partial(_call, found, self._raised))
        # A handle of its own, since the thread's may be at work when this object ends: within a callback.
        handle, spec = _library.Handle(), ctypes.c_char_p()
        handle.call(add, self.told.encode(), not found.is_random, called, None, ctypes.byref(spec))
        self.spec = spec.value.decode()
        weakref.finalize(self, _remove, handle, spec.value, called).atexit = False


def _remove(handle, spec, _):
    handle.call(library.nysbench_remove, spec)


def _call(found, raised, pointer, _):
    request = pointer.contents
    try:
        (_compute if found.kind == "core" else _pick)(found, request)
        return 0
    except BaseException as error:  # which a call from C cannot let through
        raised[:] = [error]
        request.message = told(error, file_of(found.function)).encode(errors="replace")[:511]
        return 1


def _view(address, *shape):
    """The library's memory, read-only."""
    array = np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_double)), shape)
    array.setflags(write=False)
    return array


def _pick(found, request):
    asked = {"side": request.side.decode(), "causal": bool(request.causal),
             **{name: getattr(request, name) for name in ("m", "n", "d", "seed")}}
    values = given(asked, lambda name: _view(getattr(request, name), request.n, request.d))
    check_given(found, values, asked["side"])
    kind, arrays = results_of(found.pick(values, {}), asked)
    points = arrays[0].dtype.kind == "f"
    if len({array.dtype.kind for array in arrays}) > 1:
        raise Mistake("returned tokens of one side and points of the other")
    request.kind, request.sides = _GROUPS if kind == "groups" else _POINTS if points else _TOKENS, len(arrays)
    for array, place in zip(arrays, request.free_points if points else request.tokens):
        ctypes.memmove(place, np.ascontiguousarray(array).ctypes.data, array.nbytes)


def _compute(found, request):
    shapes = {"F": (request.n, request.m), "A": (request.m, request.m), "B": (request.m, request.n)}
    asked = {"do": "core", "causal": bool(request.causal),
             **{name: getattr(request, name) for name in ("m", "n", "seed")}}
    x = core_of(found.pick(given(asked, lambda name: _view(getattr(request, name.lower()), *shapes[name])), {}),
                request.m)
    ctypes.memmove(request.x, np.ascontiguousarray(x).ctypes.data, x.nbytes)


@contextlib.contextmanager
def raising(*callbacks):
    """What one of them has raised is raised again, in the place of the library's error."""
    try:
        yield
    except Error:
        raise_taken(callbacks)
        raise


def raise_taken(callbacks):
    """Raises again what one of them has raised, if any has."""
    for callback in callbacks:
        error = callback.taken()
        if isinstance(error, Mistake):
            raise exception_of(error, callback.name) from None
        if error is not None:
            raise error from None


_KINDS = {"attentions": "attention", "strategies": "strategy", "cores": "core"}  # of functions, by key of a config


class Functions:
    """The functions of an experiment, and the specs that stand for them."""

    def __init__(self, copies, isolate, kept):  # the folder of copies and of the bridge; kept: it stays, with its rows
        self.copies, self.isolate, self.kept = copies, flag("isolate", isolate), kept
        self.served, self.notes = {}, []  # by the name that their bridges say
        self.found = {}  # by their specs as rows have them
        self.strategies, self.labels = [], {}  # pairs of a label and a function; labels by spec

    def replaced(self, value, key):
        """The value of a config's key, with specs for functions."""
        if isinstance(value, dict):
            return {name: self.replaced(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [self.replaced(one, key) for one in value]
        return self.spec(value, _KINDS.get(key)) if callable(value) else value

    def spec(self, function, kind):
        """The spec of a function, with a label."""
        spec, name = self.bare_spec(function, kind)
        return labelled(spec, name)

    def bare_spec(self, function, kind):
        """The spec of a function as rows have it, and what tables call it."""
        found = without_options(function, kind)
        key = key_of(found, digest(found.identity))
        spec = command(key, found)
        if spec not in self.labels:
            self.labels[spec], self.found[spec] = self._label(found.__name__), found
            readers = unfollowed(found.function) if self.kept and not self._is_known(key) else []
            if readers:
                warn(
                    f"{self.labels[spec]}: what it reads with {', '.join(readers)} is not compared with what it was, "
                    "since its code does not name that; if it has changed, use another folder")
            if found.kind == "strategy":
                self.strategies.append((self.labels[spec], found))
        self._copy(found, key)
        if not self.isolate:
            self.served[key] = _Served(found, self.labels[spec])
        return spec, self.labels[spec]

    def doubts(self):
        """What was seen of functions while they answered, in sentences."""
        return [one.doubt for one in self.served.values() if one.doubt]

    def _is_known(self, key):
        """Whether the folder has been run with this function."""
        config = self.copies.parent / "resolved.yaml"
        return config.exists() and key in config.read_text(encoding="utf-8", errors="replace")

    def _label(self, name):
        """The name, with a number behind it if another function has it."""
        numbered = itertools.chain([name], (f"{name} {number}" for number in itertools.count(2)))
        return next(label for label in numbered if label not in self.labels.values())

    def _copy(self, found, key):
        """Writes a copy of the function, for processes of its own and for runs from the shell, where that can be."""
        path = self.copies / f"{key}.pkl"
        if path.exists():
            return
        try:
            import cloudpickle
            self.copies.mkdir(parents=True, exist_ok=True)
            path.write_bytes(cloudpickle.dumps(found if found.kind == "attention" else found.function))
        except ImportError:
            if self.isolate:
                raise ImportError(f"{found.__name__}: isolate=True needs cloudpickle: "
                                  "pip install cloudpickle") from None
        except Exception as error:  # whatever its closure raises
            if self.isolate:
                raise TypeError(f"{found.__name__}: cannot be copied into another process: {error}") from None

    def choose_pairing(self, keys, config):
        """Functions that look at one side alone are compared with others that do so too."""
        named = [{"points", "queries", "keys"}.intersection(one.given) for _, one in self.strategies]
        sides = set().union(*named)
        if config is not None or "pairing" in keys or len(sides) != 1 or sides == {"points"} or not all(named):
            return
        side = sides.pop()
        names = ", ".join(label for label, _ in self.strategies)
        keys["pairing"] = side
        self.notes.append(
            f"pairing: {side}, which are all that {names} looks at: every strategy picks from the {side}, and "
            "its tokens or groups serve both sides")


class _Served:
    """Answers the questions of a function's bridges. One that counts as deterministic is called twice for the first
    one."""

    def __init__(self, found, label):
        self.found, self.label, self.path = found, label, file_of(found.function)
        self.trusted, self.doubt = found.is_random, None

    def __call__(self, question, waited_s):
        try:
            said = answer(self.found, {}, question, self.path)
            if "done" in said and not self.trusted:
                start, self.trusted = time.perf_counter(), True
                self._try_again(question)
                waited_s += time.perf_counter() - start
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"interrupted in {self.found.__name__}") from None
        return {**said, "waited_s": waited_s}

    def _try_again(self, question):
        first = results_left(question["folder"])
        again = answer(self.found, {}, question, self.path)
        if "done" not in again or not _are_close(first, results_left(question["folder"])):
            what = "failed" if "error" in again else "returned something else"
            self.doubt = (
                f"{self.label}: a second call with the same arguments {what}; it counts as deterministic, with one "
                "trial, since it names neither rng nor seed: let it draw from its parameter rng")


def _are_close(one, other):
    """Whether results are the same, but for rounding where they are no integers."""
    enough = 0.01
    return one.keys() == other.keys() and all(
        np.array_equal(one[name], other[name]) or np.array_equal(one[name], other[name], equal_nan=True) or
        one[name].dtype.kind == "f" and one[name].shape == other[name].shape and
        np.linalg.norm(one[name] - other[name]) <= enough * np.linalg.norm(one[name]) for name in one)
