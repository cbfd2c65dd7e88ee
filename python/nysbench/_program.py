# SPDX-License-Identifier: GPL-3.0-or-later
"""The program `nysbench`: where it is, what it says, how far it is, and the temporary folders of its runs.

Folders in TMPDIR say whose they are: nysbench-KIND-HOST-BOOT-SPACE-PROCESS-RANDOM. Who makes one removes those of
processes that have been killed: on this machine, which may share TMPDIR with others, and in this space of process
numbers, which a container has of its own."""
from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import weakref
import zlib
from pathlib import Path

from ._arguments import ArgumentError, FileError, flag, warn
from ._library import BUILD, FOLDER

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
