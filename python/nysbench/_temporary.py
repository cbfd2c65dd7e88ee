# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders in TMPDIR that say whose they are: nysbench-KIND-HOST-BOOT-SPACE-PROCESS-RANDOM.

Who makes one removes those of processes that have been killed: on this machine, which may share TMPDIR with others, and
in this space of process numbers, which a container has of its own."""
import contextlib
import os
import re
import shutil
import socket
import tempfile
import zlib
from pathlib import Path

_NAME = re.compile(r"nysbench-(?:run|session)-([0-9a-f]{8})-([0-9a-f]{8})-([0-9a-f]+)-(\d+)-\w+")


def make_folder(kind):
    """The path of a new one. kind: run or session."""
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
        state = Path("/proc", process, "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"  # dead, and nobody has waited for it
