# SPDX-License-Identifier: GPL-3.0-or-later
"""Strategies, cores and attentions for nysbench that are Python functions, callable objects or modules of PyTorch.
Needs only NumPy.

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

import contextlib
import functools
import inspect
import math
import numbers
import sys
import time
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
WITHOUT_MASK = ("has no causal form, and the layer is causal: let it name the parameter causal, or say "
                "nysbench.attention_function(causal=True) if it keeps to the mask by itself")
LONGEST_DEVICE = 80


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


def attend(found, q, k, v, *, causal, seed, options=None, timed=False, gradients=False):
    """(outputs (heads, n, dv), seconds or None, a text for the device or None): what a function makes of one input.

    q (heads, n, d), k and v (key heads, n, ...): arrays, or tensors for one that wants these. The outputs are of the
    function's kind, and their numbers are not looked at. timed: seconds are measured here if the function returns none.
    gradients: as torch has them switched on or off; else there are none.
    """
    if causal and not found.causal:
        raise Mistake(WITHOUT_MASK)
    heads = q.shape[0]
    if not found.grouped and k.shape[0] != heads:
        k, v = (_repeated(x, heads // x.shape[0]) for x in (k, v))
    values = {"q": q, "k": k, "v": v, "causal": causal, "scale": 1 / math.sqrt(q.shape[-1]), "seed": seed,
              "rng": np.random.default_rng(seed)}
    start = time.perf_counter()
    with contextlib.nullcontext() if gradients else _without_gradients(found):
        result = found.pick(values, options or {})
        outputs, seconds, device = _parts(result)
        if timed and seconds is None:
            _wait_for(outputs)
            seconds = time.perf_counter() - start
    expected = (heads, q.shape[1], v.shape[-1])
    returned, outputs = outputs, outputs if hasattr(outputs, "detach") else array_of(outputs)
    if tuple(outputs.shape) != expected or not _holds_floats(outputs):
        raise Mistake(f"returned {came(returned)}; expected real numbers of shape {expected}: heads, tokens and the "
                      "dimension of v")
    if str(getattr(outputs, "device", "")) == "meta":
        raise Mistake("returned a tensor on the device meta, which has no numbers; expected one on the CPU or a GPU")
    return outputs, seconds, device or _device_of(outputs)


def attend_arrays(found, q, k, v, **given):
    """The same of NumPy arrays, to a float32 array."""
    if found.tensors:
        q, k, v = (_tensor(x, found.function) for x in (q, k, v))
    else:
        for x in (q, k, v):
            x.setflags(write=False)
    outputs, seconds, device = attend(found, q, k, v, **given)
    if hasattr(outputs, "detach"):
        outputs = outputs.detach().float().cpu().numpy()
    return np.ascontiguousarray(outputs, dtype=np.float32), seconds, device


def attend_tensors(found, q, k, v, *, causal, seed):
    """The outputs (batch, heads, n, dv) of one that takes tensors, for tensors (batch, heads, n, ...); with
    gradients."""
    outputs = [attend(found, *one, causal=causal, seed=seed, gradients=True)[0] for one in zip(q, k, v)]
    return sys.modules["torch"].stack([sys.modules["torch"].as_tensor(one, device=q.device) for one in outputs])


def _tensor(x, function):
    import torch
    tensor, module = torch.from_numpy(x if x.flags.writeable else x.copy()), module_of(
        getattr(function, "__self__", function))
    like = next((p for p in module.parameters() if p.is_floating_point()), None) if module is not None else None
    return tensor if like is None else tensor.to(device=like.device, dtype=like.dtype)


def _repeated(x, times):
    return x.repeat_interleave(times, 0) if hasattr(x, "repeat_interleave") else np.repeat(x, times, axis=0)


def _without_gradients(found):
    return sys.modules["torch"].no_grad() if found.tensors else contextlib.nullcontext()


def _wait_for(outputs):
    """Until a device has computed them."""
    if getattr(outputs, "is_cuda", False):
        sys.modules["torch"].cuda.synchronize(outputs.device)


def _device_of(outputs):
    """Of tensors that are not the CPU's."""
    if not getattr(outputs, "is_cuda", False):
        return None
    name = sys.modules["torch"].cuda.get_device_name(outputs.device)
    return f"{name}, {str(outputs.dtype).rpartition('.')[2]}"


def _parts(result):
    """Outputs, seconds and device of what it returned."""
    if not isinstance(result, tuple):
        return result, None, None
    if len(result) not in (2, 3):
        raise Mistake(f"returned {len(result)} values; expected outputs, or (outputs, seconds), or "
                      "(outputs, seconds, device)")
    outputs, seconds, device = (*result, None)[:3]
    if seconds is not None:
        number = seconds.item() if hasattr(seconds, "item") and getattr(seconds, "ndim", 1) == 0 else seconds
        if isinstance(number, bool) or not isinstance(number, numbers.Real) or not 0 <= number < math.inf:
            raise Mistake(f"returned {came(seconds)} beside its outputs; expected seconds, a number of 0 or more")
        seconds = float(number)
    if device is not None and (not isinstance(device, str) or len(device.encode()) > LONGEST_DEVICE
                               or not device.isprintable()):
        raise Mistake(f"returned the device {device!r:.100}; expected a text of at most {LONGEST_DEVICE} bytes in "
                      "one line")
    return outputs, seconds, device


def _holds_floats(outputs):
    return outputs.is_floating_point() if hasattr(outputs, "is_floating_point") else outputs.dtype.kind in "fiu"


def array_of(returned):
    """What a function has returned as an array: of objects, where that has no numbers."""
    try:
        return np.asarray(returned)
    except ValueError:  # lists of different lengths
        return np.empty(0, object)


def came(returned):
    """What a function has returned, for messages: "None", "'text'", "ndarray (float32) of shape (2, 3)"."""
    if returned is None or isinstance(returned, (bool, int, float, complex, str, bytes)):
        return f"{returned!r:.60}"
    kind, array = type(returned).__name__, returned if hasattr(returned, "shape") and hasattr(
        returned, "dtype") else array_of(returned)
    if array is not returned and array.dtype == object:
        return kind
    return f"{kind} ({array.dtype}) of shape {tuple(array.shape)}"
