# SPDX-License-Identifier: GPL-3.0-or-later
"""The conformance checks of the program, on a function of this session."""
from __future__ import annotations

import os
import sys
import tempfile
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ._arguments import ArgumentError, Error
from ._attention import Attention
from ._session import Functions, Session
from .serve import line_of, with_function


@dataclass(frozen=True)
class Check:
    """One check: its name, whether the function has passed it, and one sentence: what was checked, or what is wrong."""
    name: str
    passed: bool
    says: str

    def line(self, label):
        return f"{'PASS' if self.passed else 'FAIL'} {label}, {self.name}: {self.says}"


class _Checks(list):
    """Shows itself as `nysbench check` prints it."""

    def __init__(self, label, checks):
        super().__init__(checks)
        self.label = label

    def __repr__(self):
        return self.text(80)

    def text(self, width):
        """A line for each check, broken where a width is given, and how many failed."""
        lines = [one.line(self.label) for one in self]
        failed = sum(not one.passed for one in self)
        return "\n".join([*(textwrap.fill(line, width, subsequent_indent="    ") if width else line for line in lines),
                          f"{failed} of {len(self)} checks failed"])


def check(function: Callable, *, timeout: float = 60) -> list[Check]:
    """Tries a strategy, core or attention on one token, equal tokens, zeros, a mask and others of the kind.

    >>> def looks_ahead(q, k, v, causal):
    ...     return np.roll(v, -1, axis=1)
    >>> [one.name for one in nysbench.check(looks_ahead) if not one.passed]
    ['causal']

    The checks of attentions: outputs are finite, the same for one seed, and the input is left as it is (output); under
    a mask, outputs up to a token stay when later tokens change, at several tokens of 1,024 (causal); and others that
    are about attentions in C. One with methods extend and restart also takes its tokens piece by piece (steps).
    timeout: seconds for each check on each input.

    Returns a list with a Check for each: name, passed, says. It shows itself as `nysbench check` prints them.
    """
    with tempfile.TemporaryDirectory(prefix="nysbench-check-") as folder:
        functions = Functions(Path(folder), False, False)
        spec = functions.spec(function, None)
        (label, found), = zip(functions.labels.values(), functions.found.values())
        lines: list[str] = []
        status, out = Session(functions.served, Path(folder)).run(
            ["check", "--kind", found.kind, f"--timeout={timeout}", spec], lines.append)
    errors = [line.partition("error: ")[2] for line in lines if "error: " in line]
    if status not in (0, 1):
        raise ArgumentError("\n".join(errors) or f"the program ended with status {status}")
    checks = list(_checks(out.replace("\n    ", " "), label))
    if hasattr(found.function, "extend") and found.kind == "attention":
        checks = [_check_steps(found) if one.name == "steps" else one for one in checks]
    return _Checks(label, checks)


def _checks(text, label):
    for line in text.splitlines():
        verdict, _, rest = line.partition(" ")
        if verdict in ("PASS", "FAIL"):
            who = next(one for one in (label, "command")
                       if rest.startswith(f"{one}, "))  # the record is the component's
            name, _, says = rest[len(who) + 2:].partition(": ")
            yield Check(name, verdict == "PASS", says)


_HEADS, _TOKENS, _D = 2, 96, 8
_PIECES = (1, 1, 1, 53, *[1] * 40)
_ROUNDING = 1e-3


def _check_steps(found):
    """Piece by piece, twice, against one pass."""
    q, k, v = np.random.default_rng(1).standard_normal((3, _HEADS, _TOKENS, _D)).astype(np.float32)
    try:
        layer = Attention(found, q.shape, causal=True)
        one = layer(q, k, v)
        for turn in ("", " after restart()"):
            layer.restart()
            ends = np.cumsum(_PIECES)
            new = np.concatenate(
                [layer.extend(*(x[:, end - count:end] for x in (q, k, v))) for count, end in zip(_PIECES, ends)],
                axis=1)
            wrong = np.argwhere(~(np.abs(new - one) <= _ROUNDING * np.maximum(1, np.abs(one))))
            if len(wrong):
                head, token, at = wrong[wrong[:, 1].argmin()]
                return Check(
                    "steps", False, f"piece by piece{turn}, the output of token {token} of {_TOKENS} in head {head} is "
                    f"{new[head, token, at]:.6g}, and {one[head, token, at]:.6g} in one pass")
    except Exception as error:  # whatever the function raises
        return Check("steps", False, str(error) if isinstance(error, Error) else line_of(error))
    return Check("steps", True, "piece by piece has the outputs of one pass")


def main(what, timeout):
    """nysbench check FILE.py[:NAME]: the exit status."""
    def show(found, _):
        checks = check(found, timeout=float(timeout))
        width = int(os.environ.get("COLUMNS") or (os.get_terminal_size().columns if sys.stdout.isatty() else 0))
        print(checks.text(width))
        return int(not all(one.passed for one in checks))
    return with_function(what, show)
