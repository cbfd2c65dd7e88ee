# SPDX-License-Identifier: GPL-3.0-or-later
"""Strategies for nysbench that are Python functions. Needs only NumPy.

    import nysbench

    @nysbench.strategy
    def norms(points, m, rng):
        return (points**2).sum(axis=1).argsort()[-m:]

in mine.py is used by a config as

    strategies: [uniform, 'command(run="python3 -m nysbench.serve mine.py norms", serve=true)']

One process serves all picks of a worker of a run, a pick costs milliseconds: see nysbench.serve.
"""
from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable

import numpy as np

GIVEN = ("points", "queries", "keys", "m", "rng", "seed", "side", "causal")
"""What a function may name as parameters:

points   float64 (n, d), read-only, of the side: d is twice the head's for "joint", [q; k], and n for "shared"
queries, keys   float64 (n, d), read-only: both with the pairings `joint` and `both`, the side's own with `queries` or `keys`
m        how many landmarks: 1 ... n
rng      a numpy.random.Generator, seeded anew for each pick
seed     the integer that seeded it
side     "queries", "keys", "joint", "shared" or "both"
causal   whether a query sees the keys up to its own position alone

A function that names points, queries and keys is for every pairing: what its pairing does not have is None. One that
names some of them is refused by pairings that do not have all of these.
"""

TO_CORES = ("F", "A", "B", "m", "n", "rng", "seed", "causal")
"""What a function that computes the core X of F X B may name as parameters: F (n, m), A (m, m) and B (m, n), float64 and
read-only, and as above."""

REQUIRED = inspect.Parameter.empty  # the default of an option that has none


class Mistake(Exception):
    """What the user has to change, in one line."""


class Groups:
    """A partition of n tokens into m groups, whose means are the landmarks: integers (n) from 0 to m - 1.

    >>> nysbench.select(np.arange(12.0).reshape(6, 2), 2, lambda points, m: nysbench.Groups([0, 0, 0, 1, 1, 1])).points.tolist()
    [[2.0, 3.0], [8.0, 9.0]]
    """

    def __init__(self, labels):
        self.labels = np.asarray(labels)


class Strategy:
    """A function that picks landmarks, and which of its parameters are options. It is called as the function is."""

    kind, GIVEN = "strategy", GIVEN

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
    """The strategy, core or attention of a function that is called with what it is given alone; TypeError for one that needs
    more, or is of another kind."""
    found = method(function, kind)
    if kind not in (None, found.kind):
        raise TypeError(f"{found.__name__}: is a function for {article(found.kind)}, where a function for {article(kind)} is expected")
    missing = [name for name, default in found.options.items() if default is REQUIRED]
    if missing:
        raise TypeError(f"{found.__name__}: {', '.join(missing)}: {article(found.kind)} is given {', '.join(found.GIVEN)}; anything "
                        "else needs a default")
    return found


def article(kind):
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def name_of(function):
    """What messages and tables call a callable: a function by its name, an object by its class, and a functools.partial by
    what it calls, with the short arguments that it adds."""
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
    code = getattr(function, "__code__", None) or getattr(getattr(type(function), "__call__", None), "__code__", None)
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
        raise TypeError(f"{name_of(function)}: Python does not know its parameters: call it from a function that names them") from None


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
    """A strategy; a core if the callable names F, A or B; or an attention if it names q, k and v, or if the kind says so."""
    from ._attention_function import AttentionFunction
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

    Its parameters are any of TO_CORES, by name, and options, which the command gives as NAME=VALUE. It returns X (m, m),
    real numbers. Its result may depend only on its arguments.
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
