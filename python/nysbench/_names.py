# SPDX-License-Identifier: GPL-3.0-or-later
"""What there is, and what it is."""
from __future__ import annotations

import ctypes

from . import _library
from ._library import library, optional_text, text


def names(kind: str) -> list[str]:
    """The names of one kind, sorted: problem, kernel, strategy, core, partition, attention, study, figure or table.

    >>> "kmeans" in nysbench.names("strategy")
    True
    """
    found = ctypes.POINTER(ctypes.c_char_p)()
    _library.handle().call(library.nysbench_names, text("kind", kind), ctypes.byref(found))
    listed = []
    while found[len(listed)] is not None:
        listed.append(found[len(listed)])
    return [name.decode() for name in listed]


def strategies() -> list[str]:
    """The names of the strategies, sorted."""
    return names("strategy")


def summary(kind: str, name: str) -> str:
    """What a component is, in one line.

    >>> nysbench.summary("table", "errors")
    'median error by problem, core, strategy and number of landmarks'
    """
    found = ctypes.c_char_p()
    _library.handle().call(library.nysbench_summary, text("kind", kind), text("name", name), ctypes.byref(found))
    return found.value.decode()


def describe(name: str, kind: str | None = None) -> str:
    """What `nysbench describe NAME` prints: options with their ranges and defaults, references.

    >>> print(nysbench.describe("uniform").splitlines()[0])
    uniform (strategy): tokens drawn uniformly, without replacement
    """
    found = ctypes.c_char_p()
    _library.handle().call(library.nysbench_describe, optional_text("kind", kind), text("name", name), ctypes.byref(found))
    return found.value.decode()
