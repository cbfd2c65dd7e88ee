# SPDX-License-Identifier: GPL-3.0-or-later
"""The conformance checks of the program, on a function of this session."""
from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ._errors import ArgumentError
from ._experiment import Functions
from ._session import Session


@dataclass(frozen=True)
class Check:
    """One check: its name, whether the function has passed it, and one sentence: what was checked, or what is wrong."""
    name: str
    passed: bool
    says: str


def check(function: Callable, *, timeout: float = 60) -> list[Check]:
    """Tries a strategy, core or attention on one token, equal tokens, zeros, a mask and others of the kind.

    >>> def looks_ahead(q, k, v, causal):
    ...     return np.roll(v, -1, axis=1)
    >>> [one.name for one in nysbench.check(looks_ahead) if not one.passed]
    ['causal']

    The checks of attentions: outputs are finite, the same for one seed, and the input is left as it is (output); under a
    mask, outputs up to a token stay when later tokens change, at several tokens of 1,024 (causal); and others that are
    about attentions in C. timeout: seconds for each check on each input.

    Returns a Check for each, as `nysbench check` prints them: name, passed, says.
    """
    with tempfile.TemporaryDirectory(prefix="nysbench-check-") as folder:
        functions = Functions(Path(folder), False, False)
        spec, label = functions.bare_spec(function, None)
        kind, lines = functions.found[spec].kind, []
        status, out = Session(functions.served, Path(folder)).run(
            ["check", "--kind", kind, f"--timeout={timeout}", spec], lines.append)
    errors = [line.partition("error: ")[2] for line in lines if "error: " in line]
    if status not in (0, 1):
        raise ArgumentError("\n".join(errors) or f"the program ended with status {status}")
    return list(_checks(out.replace("\n    ", " "), label))


def _checks(text, label):
    for line in text.splitlines():
        verdict, _, rest = line.partition(" ")
        if verdict in ("PASS", "FAIL"):
            name, _, says = rest.rpartition("), ")[2].partition(": ") if "), " in rest else rest.partition(", ")[2].partition(": ")
            yield Check(name, verdict == "PASS", says.replace("command(run=", f"{label} = command(run="))
