# SPDX-License-Identifier: GPL-3.0-or-later
"""The program `nysbench`, which knows runs."""
from __future__ import annotations

import os
import shutil
import subprocess

from ._errors import ArgumentError, FileError, warn
from ._library import BUILD, FOLDER


def program() -> str:
    """Its path: $NYSBENCH_PROGRAM, or the one in the package, in the checkout, or in PATH. FileError: there is none.

    >>> os.path.basename(nysbench.program())
    'nysbench'
    """
    named = os.environ.get("NYSBENCH_PROGRAM")
    folders = [FOLDER, BUILD] if BUILD else [FOLDER]
    places = [named] if named else [*(str(folder / "nysbench") for folder in folders), shutil.which("nysbench")]
    for path in places:
        if path and os.path.isfile(path):
            return path
    looked = ", ".join(path for path in places if path)
    raise FileError(f"there is no program nysbench; looked for {looked}{'' if named else ', nysbench in PATH'}; "
                    "NYSBENCH_PROGRAM may name it")


def ask(*arguments):
    """What the program prints; its warnings, and its notes about figures, are Python's. If it fails: its message, as FileError if this begins with the
    run's folder or another path among the arguments, else as ArgumentError."""
    command = [program(), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="surrogateescape")
    except OSError as failure:
        raise FileError(f"{command[0]} cannot be run: {failure.strerror}") from None
    lines = [line.split(": ", 2) for line in done.stderr.splitlines() if line.startswith("nysbench: ")]
    if done.returncode != 0:
        text = next((line[2] for line in lines if line[1] == "error"), None)
        if text is None or text.startswith(tuple(a for a in arguments[1:] if a == arguments[1] or os.sep in a)):
            raise FileError(text or f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.strip()}")
        raise ArgumentError(text)
    for line in lines:
        if line[1] == "warning" or line[1:2] == ["note"] and line[2].startswith("plot "):
            warn(line[2])
    return done.stdout
