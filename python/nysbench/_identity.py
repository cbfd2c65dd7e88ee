# SPDX-License-Identifier: GPL-3.0-or-later
"""What a function is, as a digest that changes with whatever its result may depend on."""
import builtins
import functools
import hashlib
import importlib.metadata
import os
import secrets
import sys
import sysconfig
import types

import numpy as np

_LIBRARY = tuple(os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib"))
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), range)


def digest(function):
    """16 hexadecimal digits, of a function's bytecode, constants, defaults, closure and the globals that it refers to, and
    of those of the functions, classes and modules of the user's that it leads to. Modules that are installed count by
    name and version. Where something cannot be told, such as an open file, the digest is a new one each time."""
    walk = _Walk()
    walk.take(function)
    return secrets.token_hex(8) if walk.lost else walk.hash.hexdigest()[:16]


class _Walk:
    """The objects from which a digest is made, each once."""

    def __init__(self):
        self.hash, self.seen, self.kept, self.lost = hashlib.sha256(), {}, [], False

    def say(self, *texts):
        for text in texts:
            data = text if isinstance(text, bytes) else str(text).encode(errors="surrogateescape")
            self.hash.update(b"%d " % len(data) + data)

    def take(self, value):
        if isinstance(value, _PLAIN):
            self.say(type(value).__name__, repr(value))
        elif id(value) in self.seen:
            self.say("again", self.seen[id(value)])
        else:
            self.seen[id(value)] = len(self.seen)
            self.kept.append(value)  # or its id might become another's
            self._take_new(value)

    def _take_new(self, value):
        kinds = ((types.CodeType, self._code), (types.FunctionType, self._function), (types.ModuleType, self._module),
                 (type, self._class), ((tuple, list), self._sequence), ((set, frozenset), self._set), (dict, self._mapping),
                 (np.ndarray, self._array), ((np.generic, np.dtype), self._scalar), (types.MethodType, self._method),
                 (types.BuiltinFunctionType, self._builtin), (types.CellType, self._cell))
        for kind, take in kinds:
            if isinstance(value, kind):
                self.say(kind[0].__name__ if isinstance(kind, tuple) else kind.__name__)
                return take(value)
        return self._object(value)

    def _code(self, code):
        self.say(code.co_code, code.co_names, code.co_varnames, code.co_argcount, code.co_kwonlyargcount, code.co_flags)
        self.take(code.co_consts)

    def _function(self, function):
        if _is_installed(function.__module__):
            return self._named(function)
        self.take(function.__code__)
        self.take(function.__defaults__)
        self.take(function.__kwdefaults__)
        self.take(function.__closure__)
        for name in sorted(_names(function.__code__)):
            if name in function.__globals__:
                self.say(name)
                self.take(function.__globals__[name])

    def _named(self, value):
        self.say(value.__module__, value.__qualname__)
        self.take(sys.modules[value.__module__])

    def _module(self, module):
        self.say(module.__name__)
        if module is builtins or module.__name__ == "__main__":
            return
        if _is_installed(module.__name__):
            self.say(_version(module.__name__.partition(".")[0]))
            return
        with open(module.__file__, "rb") as source:
            self.say(source.read())
        for value in list(vars(module).values()):
            other = value if isinstance(value, types.ModuleType) else sys.modules.get(getattr(value, "__module__", None))
            if other is not None and other.__name__ != "__main__":
                self.take(other)

    def _class(self, kind):
        if kind.__module__ == "builtins" or _is_installed(kind.__module__):
            return self._named(kind)
        self.say(kind.__qualname__)
        self.take(kind.__bases__)
        skipped = ("__dict__", "__weakref__", "__module__", "__doc__", "__firstlineno__", "__static_attributes__")
        for name, value in sorted(vars(kind).items()):
            if name not in skipped:
                self.say(name)
                self.take(value)

    def _sequence(self, values):
        self.say(type(values).__name__, len(values))
        for value in values:
            self.take(value)

    def _set(self, values):
        self.say(*sorted(map(repr, values)))
        self.lost = self.lost or not all(isinstance(value, _PLAIN) for value in values)

    def _mapping(self, values):
        self.say(len(values))
        for name, value in values.items():
            self.take(name)
            self.take(value)

    def _array(self, array):
        self.lost = self.lost or array.dtype.hasobject
        self.say(type(array).__name__, array.dtype.str, array.shape, np.ascontiguousarray(array).tobytes())

    def _scalar(self, value):
        self.say(repr(value))

    def _method(self, method):
        self.take(method.__func__)
        self.take(method.__self__)

    def _builtin(self, function):
        self.say(function.__qualname__)
        self.take(function.__self__)

    def _cell(self, cell):
        try:
            self.take(cell.cell_contents)
        except ValueError:  # it is empty
            self.say("empty")

    def _object(self, value):
        """An object of a class of the user's is its class and attributes; of any other, what it is cannot be told."""
        kind = type(value)
        module, name = getattr(value, "__module__", None) or kind.__module__, getattr(value, "__name__", None)
        if isinstance(name, str) and _is_installed(module) and getattr(sys.modules[module], name, None) is value:
            self.say(module, name)
            return self.take(sys.modules[module])
        if isinstance(value, (staticmethod, classmethod)):
            return self.take(value.__func__)
        if isinstance(value, functools.partial):
            return self.take((value.func, value.args, value.keywords))
        if isinstance(value, property):
            return self.take((value.fget, value.fset, value.fdel))
        if hasattr(value, "__wrapped__"):  # as functools.lru_cache and wraps leave it
            self.take(kind)
            return self.take(value.__wrapped__)
        self.lost = self.lost or _is_installed(kind.__module__) or not hasattr(value, "__dict__") or hasattr(kind, "__slots__")
        if not self.lost:
            self.take(kind)
            self.take(vars(value))


def _names(code):
    """The names of globals that code may refer to, and the code within it."""
    nested = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*map(_names, nested))


def _is_installed(name):
    """Whether a module comes with Python or was installed, by its name."""
    module = sys.modules.get(name)
    if name == "__main__" or module is None:
        return False
    path = getattr(module, "__file__", None)
    if path is None:
        return True
    path = os.path.realpath(path)
    return path.startswith(_LIBRARY) or not {"site-packages", "dist-packages"}.isdisjoint(path.split(os.sep))


def _version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return getattr(sys.modules.get(package), "__version__", sys.version)
