# SPDX-License-Identifier: GPL-3.0-or-later
"""The program `nysbench`: where it is, what it says, and its runs from this session, whose functions and models answer
the questions of its workers.

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
import zlib
from collections import deque
from pathlib import Path

from ._arguments import ArgumentError, FileError, warn
from ._library import BUILD, FOLDER
from ._processes import reach
from .serve import greeting

BRIDGE = "nysbench-function"
FUNCTIONS = "functions"  # the folder of a run with copies of functions
CALLER = {"NYSBENCH_CALLER": "python"}  # messages of the program name keywords, not options
PATIENCE_S = 20  # after an interrupt: until the program has kept what is done

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
