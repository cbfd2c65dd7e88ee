# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions of this session as strategies and cores of the library, which calls them in the thread of the call."""
import contextlib
import ctypes

import numpy as np

from . import _library
from ._errors import ArgumentError, Error
from ._identity import digest
from ._library import CoreFunction, PickFunction, library
from ._session import command, key_of
from ._strategy import without_options
from .serve import Mistake, check_given, core_of, given, results_of, told

_TOKENS, _GROUPS, _POINTS = 1, 2, 3  # nysbench_picks_kind


class Callback:
    """A function, known to the library by `spec` as long as this object lives. raised: what it has raised last."""

    def __init__(self, function):
        found, self.raised = without_options(function), None
        self.name, self.function = found.__name__, found
        self.told = command(key_of(found, digest(found.function)), found)  # its name in messages, and its seeds
        self._called = (CoreFunction if found.kind == "core" else PickFunction)(self._call)
        add = library.nysbench_add_core if found.kind == "core" else library.nysbench_add_strategy
        spec = ctypes.c_char_p()
        _library.handle().call(add, self.told.encode(), not found.is_random, self._called, None, ctypes.byref(spec))
        self.spec = spec.value.decode()

    def __del__(self):
        if hasattr(self, "spec"):
            with contextlib.suppress(Error):
                _library.handle().call(library.nysbench_remove, self.spec.encode())

    def _call(self, pointer, _):
        request = pointer.contents
        try:
            (_compute if self.function.kind == "core" else _pick)(self.function, request)
            return 0
        except BaseException as error:  # which a call from C cannot let through
            self.raised = error
            path = getattr(getattr(self.function.function, "__code__", None), "co_filename", "")
            request.message = told(error, path).encode(errors="replace")[:511]
            return 1


def _view(address, *shape):
    """The library's memory, read-only."""
    array = np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_double)), shape)
    array.setflags(write=False)
    return array


def _pick(found, request):
    asked = {"side": request.side.decode(), "causal": bool(request.causal), **{name: getattr(request, name) for name in ("m", "n", "d", "seed")}}
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
    asked = {"do": "core", "causal": bool(request.causal), **{name: getattr(request, name) for name in ("m", "n", "seed")}}
    x = core_of(found.pick(given(asked, lambda name: _view(getattr(request, name.lower()), *shapes[name])), {}), request.m)
    ctypes.memmove(request.x, np.ascontiguousarray(x).ctypes.data, x.nbytes)


@contextlib.contextmanager
def raising(*callbacks):
    """What one of them has raised is raised again, in the place of the library's error."""
    try:
        yield
    except Error:
        for callback in callbacks:
            if isinstance(callback.raised, Mistake):
                raise ArgumentError(f"{callback.name}: {callback.raised}") from None
            if callback.raised is not None:
                raise callback.raised from None
        raise
