# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions of this session as strategies and cores: of the library, which calls them in the thread of the call, and of
the program, whose questions they answer."""
import contextlib
import ctypes
import functools
import weakref

import numpy as np

from . import _library
from ._arguments import Error
from ._functions import exception_of, file_of, without_options
from ._identity import likeness
from ._library import CoreFunction, PickFunction, library
from ._program import command, key_of
from .serve import Mistake, check_given, core_of, done, given, results_of, told

_TOKENS, _GROUPS, _POINTS = 1, 2, 3  # nysbench_picks_kind


class _Raising:
    """A function that is called from where its exceptions cannot go."""

    def __init__(self, found):
        self.name, self.function, self._raised = found.__name__, found, []

    def taken(self):
        """What the function has raised last, once; None: nothing."""
        return self._raised.pop() if self._raised else None


class Answering(_Raising):
    """A strategy that answers the questions of a bridge of that key; the program knows it by `spec`."""

    def __init__(self, function):
        found = without_options(function, "strategy")
        super().__init__(found)
        self.label = self.name
        self.key = key_of(found, likeness(found.identity))
        self.spec = command(self.key, found)

    def __call__(self, question, _):
        try:
            return done(self.function, {}, question)
        except Exception as error:
            self._raised[:] = [error]
            return {"error": told(error, file_of(self.function.function))}


class Callback(_Raising):
    """A function, known to the library by `spec` as long as this object lives."""

    def __init__(self, function):
        found = without_options(function)
        super().__init__(found)
        self.told = command(key_of(found, likeness(found.identity)), found)  # its name in messages, and its seeds
        kind, add = (CoreFunction,
                     library.nysbench_add_core) if found.kind == "core" else (PickFunction,
                                                                              library.nysbench_add_strategy)
        called = kind(functools.partial(_call, found, self._raised))
        # A handle of its own, since the thread's may be at work when this object ends: within a callback.
        handle, spec = _library.Handle(), ctypes.c_char_p()
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
    asked = {
        "side": request.side.decode(), "causal": bool(request.causal),
        **{name: getattr(request, name)
           for name in ("m", "n", "d", "seed")}
    }
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
    asked = {
        "do": "core", "causal": bool(request.causal), **{name: getattr(request, name)
                                                         for name in ("m", "n", "seed")}
    }
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
