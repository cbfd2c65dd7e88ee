# SPDX-License-Identifier: GPL-3.0-or-later
"""What a function is, as a digest that changes with whatever its result may depend on."""
import builtins
import dis
import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import re
import secrets
import sys
import sysconfig
import types

import numpy as np

from ._library import FOLDER

_LIBRARY = tuple(
    os.path.realpath(path) + os.sep
    for path in (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), str(FOLDER)))
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), range)

# Names in code that reads from outside, and in code that writes: a file that a function writes is no input of it.
_ENVIRONMENT = {"environ", "getenv"}
_READERS = re.compile(
    "(safe_|url|p)?open|load(txt|mat|_file|_dataset)?|genfromtxt|fromfile|memmap|imread|read_[a-z]+|from_pretrained|"
    "listdir|scandir|iterdir|r?glob|subprocess|import_module|__import__")
_WRITERS = {"save", "savez", "savetxt", "tofile", "write_text", "write_bytes", "to_csv", "dump"}
_WRITING = re.compile(r"(?=[rbt+]*[wax+])[rwaxbt+]{1,3}")  # a mode of open


def digest(function):
    """16 hexadecimal digits, of a function's bytecode, constants, defaults, closure and the globals that it refers to,
    and of those of the functions, classes and modules of the user's that it leads to, also by imports in its body.
    Modules that are installed count by name and version. Files and variables of the environment that constants name
    count with what they hold, unless the code with the constant writes files. Where something cannot be told, such as
    an open file, the digest is a new one each time."""
    return _walked(function).digest()


def likeness(function):
    """The same digest without what cannot be told, for random draws: it is no new one each time."""
    return _walked(function).hash.hexdigest()[:16]


def unfollowed(function):
    """The names by which a function reads what its digest does not see, such as open, sorted, as far as code tells."""
    walk = _walked(function)
    return sorted(walk.unfollowed | (walk.readers if walk.unknown > walk.files else set()))


def _walked(function):
    walk = _Walk()
    walk.take(function)
    return walk


class _Walk:
    """The objects from which a digest is made, each once."""

    def __init__(self):
        self.hash, self.seen, self.kept, self.lost = hashlib.sha256(), {}, [], False
        self.sources, self.libraries, self.follows_files = set(), set(), True
        # Names of readers of the environment and of files; calls of such whose file is not named where they are; files
        # that are named where there is no reader, for others.
        self.unfollowed, self.readers, self.unknown, self.files = set(), set(), 0, 0

    def digest(self):
        return secrets.token_hex(8) if self.lost else self.hash.hexdigest()[:16]

    def say(self, *texts):
        for text in texts:
            data = text if isinstance(text, bytes) else str(text).encode(errors="surrogateescape")
            self.hash.update(b"%d " % len(data) + data)

    def take(self, value):
        if isinstance(value, _PLAIN):
            self.say(type(value).__name__, repr(value))
            self._file(value)
        elif id(value) in self.seen:
            self.say("again", self.seen[id(value)])
        else:
            self.seen[id(value)] = len(self.seen)
            self.kept.append(value)  # or its id might become another's
            self._take_new(value)

    def _take_new(self, value):
        kinds = ((types.CodeType, self._code), (types.FunctionType, self._function), (types.ModuleType, self._module),
                 (type, self._class), ((tuple, list), self._sequence), ((set, frozenset), self._set),
                 (dict, self._mapping), (np.ndarray, self._array), ((np.generic, np.dtype), self._scalar),
                 (types.MethodType, self._method), (types.BuiltinFunctionType, self._builtin),
                 (types.CellType, self._cell))
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
        around, self.follows_files, files, self.files = self.follows_files, not _writes(
            function.__code__), self.files, 0
        self.take(function.__code__)
        self.take((function.__defaults__, function.__kwdefaults__, function.__closure__, vars(function)))
        for name in sorted(_names(function.__code__)):
            if name in function.__globals__:
                self.say(name)
                self.take(function.__globals__[name])
        self.follows_files = around
        self._read_by(function.__code__, function.__globals__.get("__package__"), files)

    def _read_by(self, code, package, files):
        """What code, and the code within it, imports and reads, once the files that it names are taken. files: that are
        named around it."""
        readers = [name for one in _nested(code) for name in _loaded(one) if _READERS.fullmatch(name)]
        self.readers.update(readers)
        self.unknown += max(0, len(readers) - self.files)
        self.files = files + (0 if readers else self.files)
        for one in _nested(code):
            for name in _imports(one, package):
                self._source(name)
            if not _ENVIRONMENT.isdisjoint(one.co_names):
                variables = sorted({text for text in one.co_consts if isinstance(text, str) and text.isidentifier()})
                self.say(*(f"{name}={os.environ.get(name)!r}" for name in variables))
                self.unfollowed |= _of_unknown_variables(one)

    def _file(self, name):
        """The content of a file, if a text names one."""
        if self.follows_files and isinstance(name, str) and _is_file(name):
            self.files += 1
            try:
                with open(name, "rb") as file:
                    self.say(file.read())
            except OSError as error:
                self.say(error.strerror)

    def _named(self, value):
        self.say(value.__module__, value.__qualname__)
        self.take(sys.modules[value.__module__])

    def _module(self, module):
        self.say(module.__name__)
        if module is not builtins:
            self._source(module.__name__)

    def _source(self, name):
        """A module, loaded or not, by its source, and what this imports and reads; an installed one by its version."""
        top = name.partition(".")[0]
        if name in self.sources or top in self.libraries or name == "__main__":
            return
        self.sources.add(name)
        path, package = _place(name)
        self.say(name)
        if path is None:
            return
        if _is_library(path):
            self.libraries.add(top)
            return self.say(_version(top))
        try:
            with open(path, "rb") as file:
                source = file.read()
            code = compile(source, path, "exec") if path.endswith(".py") else None
        except (OSError, SyntaxError):  # it is in an archive, or its import fails
            self.lost = True
            return
        self.say(source)
        if code:
            around, self.follows_files, files, self.files = self.follows_files, True, self.files, 0
            for text in sorted(_texts(code)):
                self._file(text)
            self.follows_files = around
            self._read_by(code, package, files)

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

    def _torch(self, value):
        """Whether it was PyTorch's: a tensor is its numbers, a module its class and attributes, weights among them."""
        torch = sys.modules.get("torch")
        if torch is None:
            return False
        if isinstance(value, torch.Tensor):
            self.say("tensor", value.dtype, tuple(value.shape))
            try:
                self.say(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
            except (RuntimeError, TypeError, NotImplementedError):  # sparse, quantized or without numbers
                self.lost = True
        elif isinstance(value, torch.nn.Module):
            self.take(type(value))
            self.take(vars(value))
        elif isinstance(value, (torch.dtype, torch.device)):
            self.say(repr(value))
        else:
            return False
        return True

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
        if self._torch(value):
            return None
        kind = type(value)
        module, name = getattr(value, "__module__", None) or kind.__module__, getattr(value, "__name__", None)
        if isinstance(name, str) and _is_installed(module) and getattr(sys.modules[module], name, None) is value:
            self.say(module, name)
            return self.take(sys.modules[module])
        if isinstance(value, os.PathLike):
            return self.take((kind.__qualname__, os.fspath(value)))
        if isinstance(value, (staticmethod, classmethod)):
            return self.take(value.__func__)
        if isinstance(value, functools.partial):
            return self.take((value.func, value.args, value.keywords))
        if isinstance(value, property):
            return self.take((value.fget, value.fset, value.fdel))
        if hasattr(value, "__wrapped__") and _is_installed(kind.__module__):  # as functools.lru_cache leaves it
            self.take(kind)
            return self.take(value.__wrapped__)
        self.lost = self.lost or _is_installed(kind.__module__) or not hasattr(value, "__dict__") or hasattr(
            kind, "__slots__")
        if not self.lost:
            self.take(kind)
            self.take(vars(value))


def _nested(code):
    """Code, and all code within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _nested(constant)


def _names(code):
    """The names of globals that code may refer to, and the code within it."""
    return {name for one in _nested(code) for name in one.co_names}


def _texts(code):
    """The texts that are constants of code, and of the code within it, where that writes no files."""
    return {text for one in _nested(code) if not _writes(one) for text in one.co_consts if isinstance(text, str)}


def _steps(code):
    """The instructions of code that say what it does."""
    return [
        step for step in dis.get_instructions(code)
        if step.opname not in ("CACHE", "PUSH_NULL", "EXTENDED_ARG", "PRECALL", "NOP")
    ]


def _loaded(code):
    """The names that code gets, of variables, modules and attributes, as often as it does."""
    return [step.argval for step in _steps(code) if step.opname.startswith("LOAD_") and isinstance(step.argval, str) and
            not step.opname.startswith("LOAD_CONST")]


def _of_unknown_variables(code):
    """The names, such as environ, by which code reads variables of the environment that its constants do not name: it
    does other things than environ["X"], environ.get("X"), getenv("X") and "X" in environ."""
    steps = [None, None, *_steps(code), None, None]
    found = set()
    for at, step in enumerate(steps[:-2]):
        if step is None or step.argval not in _ENVIRONMENT or not step.opname.startswith("LOAD_"):
            continue
        after = steps[at + 1 + (steps[at + 1] is not None and steps[at + 1].argval in ("get", "pop", "setdefault"))]
        before = steps[at - (2 if step.opname.startswith(("LOAD_ATTR", "LOAD_METHOD")) else 1)]
        asked = before if after is not None and after.opname == "CONTAINS_OP" else after
        if not (asked is not None and asked.opname.startswith("LOAD_CONST") and isinstance(asked.argval, str)):
            found.add(step.argval)
    return found


def _writes(code):
    """Whether code writes files, as far as its names and constants tell."""
    return not _WRITERS.isdisjoint(code.co_names) or "open" in code.co_names and any(
        isinstance(constant, str) and _WRITING.fullmatch(constant) for constant in code.co_consts)


def _is_file(name):
    return 0 < len(name) < 4096 and "\0" not in name and os.path.isfile(name)


def _imports(code, package):
    """The modules that code imports, with those that the names imported from them may be."""
    level, names, found = None, None, []
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":
            try:
                base = importlib.util.resolve_name("." * level + step.argval, package) if level else step.argval
            except ImportError:  # a relative import outside a package, which fails when it is made
                continue
            parents = base.split(".")
            found += [".".join(parents[:count + 1]) for count in range(len(parents))]
            found += [f"{base}.{name}" for name in names or () if name != "*"]
        if step.opname != "EXTENDED_ARG":
            level, names = names, step.argval
    return dict.fromkeys(found)


def _place(name):
    """The file of a module, loaded or not, and the package that its relative imports are in; (None, None): there is
    none."""
    try:
        spec = importlib.util.find_spec(name)
    except Exception:  # whatever a package of the user's raises, or the module has no spec
        path = getattr(sys.modules.get(name), "__file__", None)
        return path, getattr(sys.modules.get(name), "__package__", None)
    return (spec.origin, spec.parent) if spec is not None and spec.has_location else (None, None)


def _is_library(path):
    path = os.path.realpath(path)
    return path.startswith(_LIBRARY) or not {"site-packages", "dist-packages"}.isdisjoint(path.split(os.sep))


def _is_installed(name):
    """Whether a module comes with Python or was installed, by its name."""
    module = sys.modules.get(name)
    if name == "__main__" or module is None:
        return False
    path = getattr(module, "__file__", None)
    return path is None or _is_library(path)


def _version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return getattr(sys.modules.get(package), "__version__", sys.version)
