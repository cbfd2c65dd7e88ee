# SPDX-License-Identifier: GPL-3.0-or-later
"""What there is, and what it is."""
import ctypes

from . import _library
from ._library import library, optional_text, text


def names(kind):
    """The names of one kind, sorted: problem, kernel, strategy, core, partition, attention, study, figure or table."""
    found = ctypes.POINTER(ctypes.c_char_p)()
    _library.handle().call(library.nysbench_names, text("kind", kind), ctypes.byref(found))
    listed = []
    while found[len(listed)] is not None:
        listed.append(found[len(listed)])
    return [name.decode() for name in listed]


def strategies():
    """The names of the strategies, sorted."""
    return names("strategy")


def summary(kind, name):
    """What a component is, in one line."""
    found = ctypes.c_char_p()
    _library.handle().call(library.nysbench_summary, text("kind", kind), text("name", name), ctypes.byref(found))
    return found.value.decode()


def describe(name, kind=None):
    """What `nysbench describe NAME` prints: options with their ranges and defaults, references."""
    found = ctypes.c_char_p()
    _library.handle().call(library.nysbench_describe, optional_text("kind", kind), text("name", name), ctypes.byref(found))
    return found.value.decode()
