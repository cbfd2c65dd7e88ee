# SPDX-License-Identifier: GPL-3.0-or-later
"""Strategies, cores and attentions for nysbench that are Python functions, callable objects or modules of PyTorch:
which they are, what their parameters are, and a digest that changes with whatever their results may depend on. Needs
only NumPy.

    import nysbench

    @nysbench.strategy
    def norms(points, m, rng):
        return (points**2).sum(axis=1).argsort()[-m:]

in mine.py is used by a config as

    strategies: [uniform, 'command(run="python3 -m nysbench.serve mine.py norms", serve=true)']

One process serves all picks of a worker of a run, a pick costs milliseconds: see nysbench.serve. An attention is

    def mine(q, k, v):
        scores = np.exp(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
        return scores / scores.sum(-1, keepdims=True) @ v

    nysbench.run(study="forward", attentions=["streamed", "kernel_ridge(landmarks=104)", mine], heads=...)
"""
from __future__ import annotations

import builtins
import contextlib
import dis
import functools
import hashlib
import importlib.util
import inspect
import os
import re
import secrets
import sys
import sysconfig
import types
from collections.abc import Callable

import numpy as np

from ._arguments import ArgumentError, NumericError, flag

GIVEN = ("points", "queries", "keys", "m", "rng", "seed", "side", "causal")
"""What a function may name as parameters:

points   float64 (n, d), read-only, of the side: d is twice the head's for "joint", [q; k], and n for "shared"
queries, keys   float64 (n, d), read-only: both with the pairings `joint` and `both`, the side's own with `queries` or
                `keys`
m        how many landmarks: 1 ... n
rng      a numpy.random.Generator, seeded anew for each pick
seed     the integer that seeded it
side     "queries", "keys", "joint", "shared" or "both"
causal   whether a query sees the keys up to its own position alone

A function that names points, queries and keys is for every pairing: what its pairing does not have is None. One that
names some of them is refused by pairings that do not have all of these.
"""

TO_CORES = ("F", "A", "B", "m", "n", "rng", "seed", "causal")
"""What a function that computes the core X of F X B may name as parameters: F (n, m), A (m, m) and B (m, n), float64
and read-only, and as above."""

REQUIRED = inspect.Parameter.empty  # the default of an option that has none


class Mistake(Exception):
    """What the user has to change, in one line."""


class NotFinite(Mistake):
    """NaN or Inf in what a function has returned."""


def exception_of(mistake, name):
    """What a caller of the function of that name gets for its mistake."""
    return (NumericError if isinstance(mistake, NotFinite) else ArgumentError)(f"{name}: {mistake}")


@contextlib.contextmanager
def without_exit():
    """What ends Python, such as sys.exit(), is a mistake within a function: the session goes on."""
    try:
        yield
    except SystemExit as end:
        raise Mistake(f"called sys.exit({'' if end.code is None else repr(end.code)})") from end


class Groups:
    """A partition of n tokens into m groups, whose means are the landmarks: integers (n) from 0 to m - 1.

    >>> halves = lambda points, m: nysbench.Groups([0, 0, 0, 1, 1, 1])
    >>> nysbench.select(np.arange(12.0).reshape(6, 2), 2, halves).points.tolist()
    [[2.0, 3.0], [8.0, 9.0]]
    """

    def __init__(self, labels):
        self.labels = np.asarray(labels)


class Strategy:
    """A function that picks landmarks, and which of its parameters are options. It is called as the function is."""

    kind = "strategy"
    GIVEN: tuple[str, ...] = GIVEN

    def __init__(self, function):
        """TypeError for a function with *args or **options, or without m."""
        functools.update_wrapper(self, function, updated=())
        self.function, self.__name__ = function, name_of(function)
        self.given, self.options = _parameters(function, self.GIVEN)
        self._check()

    def _check(self):
        if "m" not in self.given:
            raise TypeError(f"{self.__name__}: has no parameter m, how many landmarks to pick")

    def __call__(self, *args, **named):
        return self.function(*args, **named)

    def pick(self, given, options):
        """The function's result: `given` has a value for each name in GIVEN, `options` those by name."""
        with without_exit():
            return self.function(**{name: given[name] for name in self.given}, **options)

    @property
    def identity(self):
        """What the digest is of."""
        return self.function

    @property
    def is_random(self):
        """Whether what it returns may differ from trial to trial on the same data."""
        return not {"rng", "seed"}.isdisjoint(self.given)


class Core(Strategy):
    """A function that computes the core X."""

    kind, GIVEN = "core", TO_CORES

    def _check(self):
        if {"F", "A", "B"}.isdisjoint(self.given):
            raise TypeError(f"{self.__name__}: has no parameter F, A or B, of which X is made")


def without_options(function, kind=None):
    """The strategy, core or attention of a function that is called with what it is given alone; TypeError for one that
    needs more, or is of another kind."""
    found = method(function, kind)
    if kind not in (None, found.kind):
        raise TypeError(
            f"{found.__name__}: is a function for {article(found.kind)}, where a function for {article(kind)} is "
            "expected"
        )
    missing = [name for name, default in found.options.items() if default is REQUIRED]
    if missing:
        raise TypeError(f"{found.__name__}: {', '.join(missing)}: {article(found.kind)} is given "
                        f"{', '.join(found.GIVEN)}; anything else needs a default")
    return found


def article(kind):
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def name_of(function):
    """What messages and tables call a callable: a function by its name, an object by its class, and a functools.partial
    by what it calls, with the short arguments that it adds."""
    if isinstance(function, functools.partial):
        added = [*map(_shown, function.args), *(f"{name}={_shown(value)}" for name, value in function.keywords.items())]
        return name_of(function.func) + (f"({', '.join(added)})" if added else "")
    name = getattr(function, "__name__", None) or type(function).__name__
    return "lambda" if name == "<lambda>" else name


def _shown(value):
    return repr(value) if isinstance(value, (bool, int, float, str)) and len(repr(value)) <= 24 else "..."


def file_of(function):
    """The file with the code of a callable; an empty text where that is not Python."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    function = getattr(module_of(function), "forward", function)
    called = getattr(type(function), "__call__", None)  # noqa: B004 (its code is wanted)
    code = getattr(function, "__code__", None) or getattr(called, "__code__", None)
    return getattr(code, "co_filename", "")


def module_of(function):
    """The function, if it is a module of PyTorch; None: it is none."""
    torch = sys.modules.get("torch")
    return function if torch is not None and isinstance(function, torch.nn.Module) else None


def signature(function):
    """The parameters of a callable, by name; of a module, those of its forward."""
    try:
        return inspect.signature(getattr(module_of(function), "forward", function)).parameters
    except ValueError:
        raise TypeError(
            f"{name_of(function)}: Python does not know its parameters: call it from a function that names them"
        ) from None


def _parameters(function, allowed):
    """The parameters in `allowed`, and the others with their defaults, or REQUIRED."""
    given, options = [], {}
    for parameter in signature(function).values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{name_of(function)}: '{parameter}': its parameters are given by name")
        if parameter.name in allowed:
            given.append(parameter.name)
        else:
            options[parameter.name] = parameter.default
    return given, options


def method(function, kind=None):
    """A strategy; a core if the callable names F, A or B; or an attention if it names q, k and v, or if the kind says
    so."""
    if isinstance(function, Strategy):
        return function
    names = signature(function)
    if kind == "attention" or "m" not in names and {"q", "k", "v"} <= set(names):
        return AttentionFunction(function)
    return (Strategy if {"F", "A", "B"}.isdisjoint(names) else Core)(function)


def core(function: Callable) -> Core:
    """Makes a function a core.

    >>> @nysbench.core
    ... def cut(A, rcond=0.01):
    ...     return np.linalg.pinv(A, rcond=rcond)
    >>> row, = nysbench.measure(np.eye(6, 3), np.eye(6, 3), strategy="uniform", landmarks=2, cores=cut)
    >>> row["core"], row["status"]
    ('cut', 'ok')

    Its parameters are any of TO_CORES, by name, and options, which the command gives as NAME=VALUE. It returns X (m,
    m), real numbers. Its result may depend only on its arguments.
    """
    return Core(function)


def strategy(function: Callable) -> Strategy:
    """Makes a function a strategy.

    >>> @nysbench.strategy
    ... def norms(points, m):
    ...     return (points**2).sum(axis=1).argsort()[-m:]
    >>> norms(np.array([[3.0], [1.0], [2.0]]), 2).tolist()
    [2, 0]

    Its parameters are any of GIVEN, by name, and options, which the command gives as
    NAME=VALUE.

    It returns integers (m), distinct tokens from 0 to n - 1; floats (m, d), points; or Groups. With the pairing `both`
    it returns two of these, of the queries and of the keys; or one, of tokens or groups, that serves both sides. Its
    result may depend only on its arguments: each worker of a run has a process of its own, and picks are spread over
    workers in no fixed order."""
    return Strategy(function)


TO_ATTENTIONS = ("q", "k", "v", "causal", "scale", "rng", "seed")
"""What a function that computes the outputs of a layer may name as parameters:

q, k, v   float32 (heads, n, d), (heads, n, d) and (heads, n, dv), read-only; heads that share a key head have a copy of
          it each
causal    whether a query sees only the keys up to its own position; a function that does not name it has no causal form
scale     1/sqrt(d)
rng       a numpy.random.Generator, seeded anew for each pass
seed      the integer that seeded it

It returns floats (heads, n, dv); or a tuple of these and the seconds that the pass took by its own clock; or of these,
the seconds and a text that names the device.
"""

TENSORS, ARRAYS = "torch", "numpy"


class AttentionFunction(Strategy):
    """A function that computes the outputs of a layer."""

    kind, GIVEN = "attention", TO_ATTENTIONS

    def __init__(self, function, *, tensors=None, causal=None, grouped=False, timed=False, name=None):
        super().__init__(function)
        self.__name__ = self.__name__ if name is None else name
        self.settings = {"tensors": tensors, "grouped": grouped}  # what its outputs may depend on
        self.tensors = _wants_tensors(function) if tensors is None else tensors == TENSORS
        self.causal = "causal" in self.given if causal is None else flag("causal", causal)
        self.grouped, self.timed = flag("grouped", grouped), flag("timed", timed)
        self.steps = callable(getattr(function, "extend", None)) and callable(getattr(function, "restart", None))

    def piece(self):
        """What takes the tokens that come next: its method extend, with the same settings."""
        return AttentionFunction(self.function.extend, tensors=TENSORS if self.tensors else ARRAYS, causal=True,
                                 grouped=self.grouped, name=f"{self.__name__}.extend")

    def _check(self):
        missing = [name for name in "qkv" if name not in self.given]
        if missing:
            raise TypeError(
                f"{self.__name__}: has no parameter {' and no '.join(missing)}: an attention is given q, k and v")

    @property
    def identity(self):
        """What the digest is of."""
        return self.function if self.settings == {"tensors": None, "grouped": False} else (self.function, self.settings)


def attention_function(function: Callable | None = None, *, tensors: str | None = None, causal: bool | None = None,
                       grouped: bool = False, timed: bool = False, name: str | None = None
                       ) -> AttentionFunction | Callable[[Callable], AttentionFunction]:
    """Says more of a function or module that stands for an attention than the function alone does.

    >>> @nysbench.attention_function(name="mean of the values")
    ... def mean(q, k, v):
    ...     return np.broadcast_to(v.mean(axis=1, keepdims=True), v.shape)
    >>> q, k, v = np.random.default_rng(1).standard_normal((3, 2, 32, 8))
    >>> nysbench.attention(q, k, v, mean).shape
    (2, 32, 8)

    tensors: "torch", q, k and v are tensors, for a module on the device and in the type of its parameters; "numpy",
        they are arrays. None: tensors for a torch.nn.Module and where the annotation of q, k or v is torch.Tensor.
    causal: True for one that always keeps to the mask of a causal layer. None: if it names the parameter `causal`.
    grouped: k and v have as many heads as there are key heads. False: as many as q has.
    timed: the study `forward` times it by a clock around its calls. It always takes the seconds that the function
        returns.
    name: what tables and figures call it.
    """
    if tensors not in (None, TENSORS, ARRAYS):
        raise ValueError(f"tensors {tensors!r}: expected {TENSORS!r} or {ARRAYS!r}")
    settings = {"tensors": tensors, "causal": causal, "grouped": grouped, "timed": timed, "name": name}
    if function is None:
        return lambda given: AttentionFunction(given, **settings)
    return AttentionFunction(function, **settings)


def _wants_tensors(function):
    named = [parameter.annotation for name, parameter in signature(function).items() if name in ("q", "k", "v")]
    torch = sys.modules.get("torch")
    return module_of(function) is not None or any(
        one.rpartition(".")[2] == "Tensor" if isinstance(one, str) else torch is not None and one is torch.Tensor
        for one in named)


BRIDGE = "nysbench-function"  # a program of the package, by which a worker asks a session


def key_of(found, identity):
    """What the bridge of a function says: a word that may name a file."""
    return f"{re.sub(r'[^a-zA-Z0-9_]+', '-', found.__name__)[:40]}-{identity}"


def command(key, found):
    """The spec of a function in a run, with all options as rows have it. The time limit is the longest that a command
    has: what runs too long in a session, its user interrupts."""
    options = {"deterministic": not found.is_random, "serve": True}
    if found.kind == "attention":
        options.update(causal=found.causal, timed=True if found.timed else "own")
    written = ", ".join(f"{name}={str(value).lower()}" for name, value in options.items())
    return f'command(run="{BRIDGE} {key}", timeout=1000000, {written})'


def drawn_key(found):
    """The word that random draws depend on: the same in each session."""
    return key_of(found, likeness(found.identity))


_LIBRARY = tuple(
    os.path.realpath(path) + os.sep
    for path in (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), os.path.dirname(__file__)))
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), range)

# Names in code that reads from outside, and in code that writes: a file that a function writes is no input of it.
_ENVIRONMENT = {"environ", "getenv"}
_READERS = (
    "(safe_|url|p)?open|load(txt|mat|_file|_dataset)?|genfromtxt|fromfile|memmap|imread|read_[a-z]+|from_pretrained|"
    "listdir|scandir|iterdir|r?glob|subprocess|import_module|__import__")
_WRITERS = {"save", "savez", "savetxt", "tofile", "write_text", "write_bytes", "to_csv", "dump"}
_WRITING = r"(?=[rbt+]*[wax+])[rwaxbt+]{1,3}"  # a mode of open


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
        readers = [name for one in _nested(code) for name in _loaded(one) if re.fullmatch(_READERS, name)]
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
        isinstance(constant, str) and re.fullmatch(_WRITING, constant) for constant in code.co_consts)


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
    from importlib import metadata  # a sixth of the start of a server, which tells no digest
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return getattr(sys.modules.get(package), "__version__", sys.version)
