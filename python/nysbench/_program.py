# SPDX-License-Identifier: GPL-3.0-or-later
"""The program `nysbench`: where it is, what it says, how far it is, the temporary folders of its runs, and functions of
this session, which its workers ask:

1. The program is started by exec, never by a fork of this process alone: threads of PyTorch or BLAS do not survive one.
2. Each worker starts a bridge (_processes.py) for each function, which connects to the session's socket and says its
   name. A config calls it BRIDGE NAME, a program in PATH: where it lies is no part of what a row is.
3. The session reads what comes, and answers one question at a time, in this thread, while the program runs.

Whatever ends this process ends the program too, and the program its workers and their bridges.

Folders in TMPDIR say whose they are: nysbench-KIND-HOST-BOOT-SPACE-PROCESS-RANDOM. Who makes one removes those of
processes that have been killed: on this machine, which may share TMPDIR with others, and in this space of process
numbers, which a container has of its own."""
from __future__ import annotations

import contextlib
import importlib.util
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
import tempfile
import time
import weakref
import zlib
from collections import deque
from pathlib import Path

import numpy as np

from ._arguments import ArgumentError, FileError, flag, labelled, warn
from ._functions import command, digest, drawn_key, file_of, key_of, unfollowed, without_options
from ._library import BUILD, FOLDER, Raising
from ._processes import reach
from .serve import answer, done, greeting, results_left, told

FUNCTIONS = "functions"  # the folder of a run with copies of functions
PATIENCE_S = 20  # after an interrupt: until the program has kept what is done
CALLER = {"NYSBENCH_CALLER": "python"}  # messages of the program name keywords, not options

_NAME = re.compile(r"nysbench-(?:run|session)-([0-9a-f]{8})-([0-9a-f]{8})-([0-9a-f]+)-(\d+)-\w+")


def program() -> str:
    """Its path: $NYSBENCH_PROGRAM, or the one in the package, in the checkout, or in PATH. FileError: there is none.

    >>> os.path.basename(nysbench.program())
    'nysbench'
    """
    named = os.environ.get("NYSBENCH_PROGRAM")
    folders = [FOLDER, BUILD] if BUILD else [FOLDER]
    places: list[str | None] = [named] if named else [str(folder / "nysbench") for folder in folders]
    places += [] if named else [shutil.which("nysbench")]
    for path in places:
        if path and os.path.isfile(path):
            return path
    looked = ", ".join(path for path in places if path)
    raise FileError(f"there is no program nysbench; looked for {looked}{'' if named else ', nysbench in PATH'}; "
                    "NYSBENCH_PROGRAM may name it")


def ask(*arguments):
    """What the program prints; its warnings, and its notes about figures, are Python's. If it fails: its message, as
    FileError if this begins with the run's folder or another path among the arguments, else as ArgumentError."""
    words = [program(), *arguments]
    try:
        done = subprocess.run(words, capture_output=True, encoding="utf-8", errors="surrogateescape",
                              env={**os.environ, **CALLER})
    except OSError as failure:
        raise FileError(f"{words[0]} cannot be run: {failure.strerror}") from None
    lines = [line.split(": ", 2) for line in done.stderr.splitlines() if line.startswith("nysbench: ")]
    if done.returncode != 0:
        text = next((line[2] for line in lines if line[1] == "error"), None)
        if text is None or text.startswith(tuple(a for a in arguments[1:] if a == arguments[1] or os.sep in a)):
            raise FileError(text or f"{' '.join(words)}: exit status {done.returncode}: {done.stderr.strip()}")
        raise ArgumentError(text)
    for line in lines:
        if line[1] == "warning" or line[1:2] == ["note"] and line[2].startswith("plot "):
            warn(line[2])
    return done.stdout


def failure(status, messages):
    """The exception for an exit status of the program and its messages; 2 is what its caller has to change."""
    said = "\n".join(messages) or f"the program ended with status {status}"
    return (ArgumentError if status == 2 else FileError)(said)


def make_folder(kind):
    """The path of a new folder in TMPDIR. kind: run or session."""
    host, boot, space = _here()
    _sweep(host, boot, space)
    return tempfile.mkdtemp(prefix=f"nysbench-{kind}-{host}-{boot}-{space}-{os.getpid()}-")


def _here():
    def checksum(text):
        return f"{zlib.crc32(text.encode()):08x}"

    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    return checksum(socket.gethostname()), checksum(boot), f"{os.stat('/proc/self/ns/pid').st_ino:x}"


def _sweep(host, boot, space):
    for folder in Path(tempfile.gettempdir()).glob("nysbench-*"):
        owner = _NAME.fullmatch(folder.name)
        if not owner or owner[1] != host or (owner[2] == boot and (owner[3] != space or _is_alive(owner[4]))):
            continue
        with contextlib.suppress(OSError):
            if folder.lstat().st_uid == os.geteuid():
                shutil.rmtree(folder, ignore_errors=True)


def _is_alive(process):
    try:
        state = Path("/proc", process, "stat").read_text(encoding="utf-8",
                                                         errors="replace").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"  # dead, and nobody has waited for it


class TemporaryFolder:
    """A folder that is removed with the last reference to this object, by the process that has made it."""

    def __init__(self):
        self.name = make_folder("run")
        self.remove = weakref.finalize(self, _remove, self.name, os.getpid())


def _remove(folder, process):
    if os.getpid() == process:  # and no child of fork
        shutil.rmtree(folder, ignore_errors=True)


class Progress:
    """Takes the program's lines on standard error: what it warns of and what went wrong are kept, the rest is shown: as
    a bar of tqdm where that is installed, else in one line that is written anew; in a file, a line each. A notebook
    shows them as what it displays, since it colours standard error as if something had gone wrong."""

    def __init__(self, wanted, notes):
        self.wanted, self.notes = flag("progress", wanted), notes
        self.warnings, self.errors, self.last, self.shown = [], [], None, None

    def __enter__(self):
        if self.wanted:
            for note in self.notes:
                print(note, file=sys.stdout if _notebook() else sys.stderr)
        return self

    def line(self, text):
        kind, _, rest = text.partition(": ")[2].partition(": ")
        if kind in ("warning", "error"):
            self.last = getattr(self, kind + "s")
            self.last.append(rest)
        elif not text.startswith("nysbench: ") and self.last:
            self.last[-1] += "\n" + text  # the message goes on
        elif not text.startswith("    "):  # commands that repeat failed rows in a shell
            self.last = None
            if self.wanted:
                self._show(text)

    def _show(self, text):
        text = text.removeprefix("nysbench: ")
        rows = re.search(r"(\d+) of (\d+) rows", text)
        if not rows:
            print(text, file=sys.stdout if _notebook() else sys.stderr)
            return
        if self.shown is None:
            self.shown = _shower(int(rows[2]))
        self.shown.update(int(rows[1]), text)

    def __exit__(self, *_):
        if self.shown is not None:
            self.shown.close()


def _notebook():
    """IPython's shell where it is a notebook's, which displays things; else None."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell if hasattr(shell, "kernel") else None


def _shower(rows):
    """What shows the progress of so many rows."""
    notebook = _notebook()
    has_tqdm = importlib.util.find_spec("tqdm") is not None
    if has_tqdm and (notebook is None or importlib.util.find_spec("ipywidgets") is not None):
        return _Bar(rows)
    return _Display() if notebook else _Line() if sys.stderr.isatty() else _Log()


class _Bar:
    def __init__(self, rows):
        from tqdm.auto import tqdm
        self.bar = tqdm(total=rows, unit="row")

    def update(self, done, _):
        self.bar.update(done - self.bar.n)

    def close(self):
        self.bar.close()


class _Display:
    """One output of a notebook's cell, which is replaced."""

    def __init__(self):
        self.handle = None

    def update(self, _, text):
        from IPython.display import Pretty, display
        shown = Pretty(text)
        if self.handle is None:
            self.handle = display(shown, display_id=True)
        else:
            self.handle.update(shown)

    def close(self):
        pass


class _Line:
    """A line of a terminal."""

    def update(self, _, text):
        room = shutil.get_terminal_size().columns - 1
        print(f"\r{text[:room]}\033[K", end="", file=sys.stderr, flush=True)

    def close(self):
        print(file=sys.stderr)


class _Log:
    def update(self, _, text):
        print(text, file=sys.stderr)

    def close(self):
        pass


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


def run_program(arguments, on_line, served, copies):
    """Runs the program, and returns its exit status and standard output. KeyboardInterrupt ends it gently and is raised
    again: what is measured is kept.

    on_line: called with each line of its standard error. served: by name, what answers the questions of a bridge of
    that name: a function of the question, a dict, and of the seconds that it has waited; it returns a dict, and
    messages call it by its `label`. copies: the folder of copies of functions.
    """
    with contextlib.ExitStack() as stack:
        folder = make_folder("session")
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        loop = Loop(served, os.path.join(folder, "socket"), stack)
        environment = {name: value for name, value in os.environ.items() if name != "NYSBENCH_SESSION"}
        environment.update({**bridged(copies), **CALLER})
        if served:
            environment["NYSBENCH_SESSION"] = loop.address
        script = [sys.executable, "-I", "-S", str(FOLDER / "_processes.py")]
        words = [*script, "end-with", str(os.getpid()), program(), *arguments]
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True, env=environment)
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
    """Reads a program's streams, and answers questions of bridges meanwhile, in this thread. served: as in
    run_program."""

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


class Answering(Raising):
    """A strategy that answers the questions of a bridge of that key; the program knows it by `spec`."""

    def __init__(self, function):
        found = without_options(function, "strategy")
        super().__init__(found)
        self.label = self.name
        self.key = drawn_key(found)
        self.spec = command(self.key, found)

    def __call__(self, question, _):
        try:
            return done(self.function, {}, question)
        except Exception as error:
            self._raised[:] = [error]
            return {"error": told(error, file_of(self.function.function))}


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

    def run(self, arguments, on_line, served=None):
        """run_program with these functions served, and what else is."""
        return run_program(arguments, on_line, {**self.served, **(served or {})}, self.copies)

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
