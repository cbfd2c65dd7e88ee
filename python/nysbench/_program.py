# SPDX-License-Identifier: GPL-3.0-or-later
"""The program `nysbench`: where it is, what it says, and the temporary folders of its runs.

Folders in TMPDIR say whose they are: nysbench-KIND-HOST-BOOT-SPACE-PROCESS-RANDOM. Who makes one removes those of
processes that have been killed: on this machine, which may share TMPDIR with others, and in this space of process
numbers, which a container has of its own."""
from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
import weakref
import zlib
from pathlib import Path

from ._arguments import ArgumentError, FileError, warn
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
