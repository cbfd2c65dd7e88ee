# SPDX-License-Identifier: GPL-3.0-or-later
"""libnysbench: found, loaded and declared (nysbench.h); a handle for each thread; what components there are; functions
of this session that it calls in the thread of the call."""
from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import functools
import os
import threading
import weakref
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64,
                    c_void_p)
from pathlib import Path

import numpy as np

from ._arguments import ArgumentError, Error, error
from ._functions import Mistake, command, drawn_key, exception_of, file_of, without_options
from .serve import check_given, core_of, given, results_of, told

API = 1  # NYSBENCH_API that the structs and functions below are of

FOLDER = Path(__file__).resolve().parent
CHECKOUT = FOLDER.parent.parent
BUILD = CHECKOUT / "build" if (CHECKOUT / "src" / "base" / "version.h").exists() else None


class Request(Structure):
    """nysbench_request"""
    _fields_ = [("size", c_size_t), ("n", c_int), ("d", c_int), ("dv", c_int), ("q", c_void_p), ("k", c_void_p),
                ("v", c_void_p), ("causal", c_int), ("file", c_char_p), ("kernel", c_char_p), ("strategy", c_char_p),
                ("landmarks", c_int), ("pairing", c_char_p), ("seed", c_int64), ("trial", c_int),
                ("factors", c_char_p), ("cores", POINTER(c_char_p)), ("metrics", c_char_p), ("query_tokens", c_void_p),
                ("key_tokens", c_void_p), ("query_points", c_void_p), ("key_points", c_void_p), ("problem", c_char_p),
                ("head", c_int), ("draws", c_char_p)]


class Side(Structure):
    """nysbench_side"""
    _fields_ = [("tokens", c_void_p), ("groups", c_void_p), ("points", c_void_p)]


class Landmarks(Structure):
    """nysbench_landmarks"""
    _fields_ = [("kind", c_int), ("m", c_int), ("n", c_int), ("d", c_int), ("queries", Side), ("keys", Side),
                ("select_s", c_double), ("note", c_char_p)]


class Layer(Structure):
    """nysbench_layer"""
    _fields_ = [("size", c_size_t), ("batch", c_int), ("heads", c_int), ("key_heads", c_int), ("n", c_int),
                ("d", c_int), ("dv", c_int), ("causal", c_int)]


class Cost(Structure):
    """nysbench_cost"""
    _fields_ = [("seconds", c_double), ("multiplications", c_double), ("bytes", c_double)]


class Pick(Structure):
    """nysbench_pick"""
    _fields_ = [("side", c_char_p), ("m", c_int), ("n", c_int), ("d", c_int), ("causal", c_int), ("seed", c_uint64),
                ("points", c_void_p), ("queries", c_void_p), ("keys", c_void_p), ("kind", c_int),
                ("tokens", c_void_p * 2), ("free_points", c_void_p * 2), ("sides", c_int), ("message", c_char * 512)]


class Middle(Structure):
    """nysbench_middle"""
    _fields_ = [("m", c_int), ("n", c_int), ("causal", c_int), ("seed", c_uint64), ("f", c_void_p), ("a", c_void_p),
                ("b", c_void_p), ("x", c_void_p), ("message", c_char * 512)]


PickFunction = CFUNCTYPE(c_int, POINTER(Pick), c_void_p)
CoreFunction = CFUNCTYPE(c_int, POINTER(Middle), c_void_p)

# Functions and what they return; handles are pointers to what is not known here.
FUNCTIONS = {
    "nysbench_api": (c_int,),
    "nysbench_version": (c_char_p,),
    "nysbench_new": (c_int, POINTER(c_void_p)),
    "nysbench_free": (None, c_void_p),
    "nysbench_message": (c_char_p, c_void_p),
    "nysbench_warning": (c_char_p, c_void_p),
    "nysbench_names": (c_int, c_void_p, c_char_p, POINTER(POINTER(c_char_p))),
    "nysbench_summary": (c_int, c_void_p, c_char_p, c_char_p, POINTER(c_char_p)),
    "nysbench_describe": (c_int, c_void_p, c_char_p, c_char_p, POINTER(c_char_p)),
    "nysbench_request_init_sized": (None, POINTER(Request), c_size_t),
    "nysbench_select": (c_int, c_void_p, POINTER(Request), POINTER(Landmarks)),
    "nysbench_measure": (c_int, c_void_p, POINTER(Request), POINTER(c_int)),
    "nysbench_row_json": (c_int, c_void_p, c_int, POINTER(c_char_p)),
    "nysbench_row_real": (c_int, c_void_p, c_int, c_char_p, POINTER(c_double)),
    "nysbench_add_strategy": (c_int, c_void_p, c_char_p, c_int, PickFunction, c_void_p, POINTER(c_char_p)),
    "nysbench_add_core": (c_int, c_void_p, c_char_p, c_int, CoreFunction, c_void_p, POINTER(c_char_p)),
    "nysbench_remove": (c_int, c_void_p, c_char_p),
    "nysbench_attention_new": (c_int, c_void_p, c_char_p, POINTER(Layer), c_int, c_int64, c_int, POINTER(c_void_p)),
    "nysbench_attention_free": (None, c_void_p),
    "nysbench_attention_message": (c_char_p, c_void_p),
    "nysbench_attention_forward": (c_int, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p),
    "nysbench_attention_extend": (c_int, c_void_p, c_int, c_void_p, c_void_p, c_void_p, c_void_p),
    "nysbench_attention_restart": (None, c_void_p),
    "nysbench_attention_seed": (c_int, c_void_p, c_char_p, c_int64, c_int, POINTER(c_uint64)),
    "nysbench_source_seed": (c_int64, c_int64, c_char_p, c_char_p),
    "nysbench_attention_cost": (None, c_void_p, POINTER(Cost)),
}


def _candidates():
    """Where the library may be, and how that place is called in a message; the first that is there is taken."""
    named = os.environ.get("NYSBENCH_LIBRARY")
    if named:
        return [(named, "$NYSBENCH_LIBRARY")]
    places = [(str(FOLDER / "libnysbench.so"), "in the package")]
    if BUILD:
        places.append((str(BUILD / "libnysbench.so"), "built by make in the checkout"))
    return [*places, (ctypes.util.find_library("nysbench"), "an installed libnysbench.so")]


def _find():
    candidates = _candidates()
    for path, place in candidates:
        if path and (os.path.exists(path) or os.sep not in path):
            return path, place
    looked = "; ".join(f"{path} ({place})" if path else place for path, place in candidates)
    raise ImportError(f"nysbench: there is no libnysbench.so. Looked for: {looked}. Run make in the checkout and then "
                      "pip install ./python, or let NYSBENCH_LIBRARY name the library")


def _declare(library, path, name):
    try:
        function = getattr(library, name)
    except AttributeError:
        raise ImportError(f"nysbench: {path} is no libnysbench: it has no function {name}, or is older "
                          "than this package: run make") from None
    function.restype, function.argtypes = FUNCTIONS[name][0], FUNCTIONS[name][1:]
    return function


def _load():
    path, place = _find()
    try:
        library = ctypes.CDLL(path)
    except OSError as failure:
        raise ImportError(f"nysbench: {path} ({place}) cannot be loaded: {failure}") from None
    found = _declare(library, path, "nysbench_api")()
    if found != API:
        raise ImportError(
            f"nysbench: {path} has API {found}, this package needs API {API}; install both from one version")
    for name in FUNCTIONS:
        _declare(library, path, name)
    return library, path


library, path = _load()
version = library.nysbench_version().decode()


class Handle:
    """A nysbench handle, freed with the last reference."""

    def __init__(self):
        self.pointer, self.process = c_void_p(), os.getpid()
        status = library.nysbench_new(ctypes.byref(self.pointer))
        if status:
            raise error(status, "memory ran out")

    def __del__(self, free=library.nysbench_free, process=os.getpid):
        if self.process == process():  # in a child of fork, another thread may have been at work with it
            free(self.pointer)

    def call(self, function, *arguments):
        """Raises what the library says if the function fails."""
        status = function(self.pointer, *arguments)
        if status:
            raise error(status, library.nysbench_message(self.pointer).decode(errors="replace"))


_of_thread = threading.local()


def handle():
    """This thread's handle."""
    try:
        return _of_thread.handle
    except AttributeError:
        _of_thread.handle = Handle()
        return _of_thread.handle


def text(name, value):
    """A string for C; what a file's name has that is not UTF-8 comes as Python's surrogates."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a string, not {type(value).__name__}")
    if "\0" in value:
        raise ArgumentError(f"{name}: the text has a NUL character")
    try:
        return value.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        raise ArgumentError(f"{name}: {value!r} has no form in UTF-8") from None


def optional_text(name, value):
    """A string for C; None stays None."""
    return None if value is None else text(name, value)


def names(kind: str) -> list[str]:
    """The names of one kind, sorted: problem, kernel, strategy, core, partition, attention, study, figure or table.

    >>> "kmeans" in nysbench.names("strategy")
    True
    """
    found = ctypes.POINTER(ctypes.c_char_p)()
    handle().call(library.nysbench_names, text("kind", kind), ctypes.byref(found))
    listed: list[str] = []
    while found[len(listed)] is not None:
        listed.append(found[len(listed)].decode())
    return listed


def strategies() -> list[str]:
    """The names of the strategies, sorted."""
    return names("strategy")


def summary(kind: str, name: str) -> str:
    """What a component is, in one line.

    >>> nysbench.summary("table", "errors")
    'median error by problem, core, strategy and number of landmarks'
    """
    return _said(library.nysbench_summary, text("kind", kind), text("name", name))


def describe(name: str, kind: str | None = None) -> str:
    """What `nysbench describe NAME` prints: options with their ranges and defaults, references.

    >>> print(nysbench.describe("uniform").splitlines()[0])
    uniform (strategy): tokens drawn uniformly, without replacement
    """
    return _said(library.nysbench_describe, optional_text("kind", kind), text("name", name))


def _said(function, *words):
    """The text that a function of the library makes of these."""
    found = ctypes.c_char_p()
    handle().call(function, *words, ctypes.byref(found))
    return found.value.decode()


_TOKENS, _GROUPS, _POINTS = 1, 2, 3  # nysbench_picks_kind


class Raising:
    """A function that is called from where its exceptions cannot go."""

    def __init__(self, found):
        self.name, self.function, self._raised = found.__name__, found, []

    def taken(self):
        """What the function has raised last, once; None: nothing."""
        return self._raised.pop() if self._raised else None


class Callback(Raising):
    """A function, known to the library by `spec` as long as this object lives."""

    def __init__(self, function):
        found = without_options(function)
        super().__init__(found)
        self.told = command(drawn_key(found), found)  # its name in messages, and its seeds
        kind, add = {"core": (CoreFunction, library.nysbench_add_core)}.get(
            found.kind, (PickFunction, library.nysbench_add_strategy))
        called = kind(functools.partial(_call, found, self._raised))
        # A handle of its own, since the thread's may be at work when this object ends: within a callback.
        handle, spec = Handle(), ctypes.c_char_p()
        handle.call(add, self.told.encode(), not found.is_random, called, None, ctypes.byref(spec))
        self.spec = spec.value.decode()
        weakref.finalize(self, _remove, handle, spec.value, called).atexit = False


def _remove(handle, spec, _):
    handle.call(library.nysbench_remove, spec)


def _call(found, raised, pointer, _):
    request = pointer.contents
    try:
        (_compute if found.kind == "core" else _pick)(found, request)
        return 0
    except BaseException as error:  # which a call from C cannot let through
        raised[:] = [error]
        request.message = told(error, file_of(found.function)).encode(errors="replace")[:511]
        return 1


def _view(address, *shape):
    """The library's memory, read-only."""
    array = np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_double)), shape)
    array.setflags(write=False)
    return array


def _pick(found, request):
    asked = {"side": request.side.decode(), "causal": bool(request.causal),
             **{name: getattr(request, name) for name in ("m", "n", "d", "seed")}}
    values = given(asked, lambda name: _view(getattr(request, name), request.n, request.d))
    check_given(found, values, asked["side"])
    kind, arrays = results_of(found.pick(values, {}), asked)
    points = arrays[0].dtype.kind == "f"
    if len({array.dtype.kind for array in arrays}) > 1:
        raise Mistake("returned tokens of one side and points of the other")
    request.kind, request.sides = _GROUPS if kind == "groups" else _POINTS if points else _TOKENS, len(arrays)
    for array, place in zip(arrays, request.free_points if points else request.tokens):
        ctypes.memmove(place, np.ascontiguousarray(array).ctypes.data, array.nbytes)


def _compute(found, request):
    shapes = {"F": (request.n, request.m), "A": (request.m, request.m), "B": (request.m, request.n)}
    asked = {"do": "core", "causal": bool(request.causal),
             **{name: getattr(request, name) for name in ("m", "n", "seed")}}
    x = core_of(found.pick(given(asked, lambda name: _view(getattr(request, name.lower()), *shapes[name])), {}),
                request.m)
    ctypes.memmove(request.x, np.ascontiguousarray(x).ctypes.data, x.nbytes)


@contextlib.contextmanager
def raising(*callbacks):
    """What one of them has raised is raised again, in the place of the library's error."""
    try:
        yield
    except Error:
        raise_taken(callbacks)
        raise


def raise_taken(callbacks):
    """Raises again what one of them has raised, if any has."""
    for callback in callbacks:
        error = callback.taken()
        if isinstance(error, Mistake):
            raise exception_of(error, callback.name) from None
        if error is not None:
            raise error from None
