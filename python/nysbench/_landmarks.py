# SPDX-License-Identifier: GPL-3.0-or-later
"""One head: its landmarks and their error."""
from __future__ import annotations

import ctypes
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
from numpy.typing import ArrayLike

from . import _library
from ._arguments import (FLOAT64, INT64, LARGEST_INT, LARGEST_SEED, LARGEST_TRIAL, ArgumentError, Error, ShapeError,
                         address, count_of, doubt_layout, flag, integer, listed, matrix, real_array, real_numbers,
                         seed_of, warn)
from ._library import Callback, library, optional_text, raise_taken, raising, text

_KINDS = {1: "tokens", 2: "groups", 3: "points"}

_DEFAULTS = _library.Request()
library.nysbench_request_init_sized(ctypes.byref(_DEFAULTS), ctypes.sizeof(_DEFAULTS))

_bytes = ctypes.pythonapi.PyByteArray_FromStringAndSize  # a bytearray with a copy of some memory
_bytes.restype, _bytes.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_ssize_t)


@dataclass
class Side:
    """The landmarks of the queries, or of the keys.

    tokens: m distinct indices from 0 (int64), if the landmarks are tokens; else None.
    groups: n numbers from 0 to m - 1 (int64), the group of each token, if they are means of groups; else None.
    points: m x d (float64): the tokens' points, the groups' means, or free points.
    """
    tokens: Optional[np.ndarray]
    groups: Optional[np.ndarray]
    points: np.ndarray


@dataclass
class Landmarks:
    """What a strategy picked. tokens and points are for landmarks that are the same on both sides.

    kind: "tokens", "groups" or "points", of both sides.
    queries, keys: the sides; of one set of points the same object.
    seconds: that the strategy took.
    note: what it says about them, or None.
    """
    kind: str
    queries: Side
    keys: Side
    seconds: float
    note: Optional[str]

    @property
    def tokens(self):
        """The indices (m, int64), where both sides have the same; ArgumentError where there is no such array."""
        if self.kind != "tokens":
            raise ArgumentError(f"the landmarks are {self.kind}, not tokens")
        return self._of_both("tokens")

    @property
    def points(self):
        """The points (m x d, float64), where both sides have the same; ArgumentError where they have not."""
        return self._of_both("points")

    def _of_both(self, what):
        one, other = getattr(self.queries, what), getattr(self.keys, what)
        if self.keys is not self.queries and not np.array_equal(one, other):
            raise ArgumentError(f"the {what} of queries and keys differ: take queries.{what} or keys.{what}")
        return one


class _Request(_library.Request):
    """A nysbench_request that keeps the arrays to which it points; what is None has the library's default."""

    @classmethod
    def new(cls):
        request = cls.from_buffer_copy(_DEFAULTS)
        request.kept = []
        return request

    def take_head(self, q, k, v, causal, names):
        """Arrays, or a file and which of its heads; names: of q, k and v, as the caller has written them."""
        if not isinstance(q, np.ndarray) and isinstance(q, (str, os.PathLike)):  # the first is the faster to see
            for name, given in zip(names[1:], (k, v)):
                if given is not None:
                    raise ArgumentError(f"{name}: the file has its own")
            self.file = text("the file", os.fspath(q))
            if causal is not None:
                self.causal = flag("causal", causal)
            return
        self.causal = flag("causal", causal)
        q = matrix(names[0], q)
        self.q, (self.n, self.d) = self.address(q), q.shape
        if k is not None:
            self.k = self.address(_same_shape(matrix(names[1], k), names[1], q, names[0]))
        if v is not None:
            v = matrix(names[2], v)
            if len(v) != len(q):
                raise ShapeError(f"{names[2]}: {v.shape}, but {names[0]}: {q.shape}; expected as many rows")
            self.v, self.dv = self.address(v), v.shape[1]

    def address(self, array):
        self.kept.append(array)
        return address(array)

    def take_settings(self, kernel, pairing, seed, trial, problem, head, draws):
        if kernel is not None:
            self.kernel = text("kernel", kernel)
        if pairing is not None:
            self.pairing = text("pairing", pairing)
        if seed is not None:
            self.seed = integer("seed", seed, 0, LARGEST_SEED)
        if problem is not None:
            self.problem = text("problem", problem)
        if draws is not None:
            if self.q:
                raise ArgumentError(
                    "draws: arrays name no source, and draw with seed itself; source_seed() is that of a source")
            self.draws = text("draws", draws)
        self.trial, self.head = integer("trial", trial, 0, LARGEST_TRIAL), integer("head", head, 0, LARGEST_INT)

    def take_cores(self, cores):
        if cores is None:
            return
        specs = _texts("cores", cores)
        self.cores = (ctypes.c_char_p * (len(specs) + 1))(*specs, None)

    def take_landmarks(self, query_landmarks, key_landmarks):
        """The caller's own landmarks, integers (tokens) or a matrix (points); the name of the first that is given."""
        sides = {"query": query_landmarks, "key": key_landmarks}
        counts = {name: self.take_side(name, given) for name, given in sides.items() if given is not None}
        if len(set(counts.values())) > 1:
            raise ShapeError(f"query_landmarks: {counts['query']}, key_landmarks: {counts['key']}; expected as many")
        for name, other, points in (("query", "key", self.query_points), ("key", "query", self.key_points)):
            if points and other not in counts:
                raise ArgumentError(f"{name}_landmarks are points: {other}_landmarks must be given too")
        self.landmarks = next(iter(counts.values()))
        return f"{next(iter(counts))}_landmarks"

    def take_side(self, name, given):
        given = np.asarray(given)
        if given.dtype.kind in "iu" and given.ndim == 1:
            tokens = np.require(given, np.int64, ["C_CONTIGUOUS", "ALIGNED"])
            setattr(self, f"{name}_tokens", self.address(tokens))
        else:
            given = real_array(f"{name}_landmarks", given, FLOAT64)
            if given.ndim != 2:
                raise ShapeError(
                    f"{name}_landmarks: expected integers (m) or points (m, d), not {given.dtype} of shape "
                    f"{given.shape}")
            setattr(self, f"{name}_points", self.address(_same_dimension(given, name, self.d)))
        return count_of(f"{name}_landmarks: their number", len(given))


def _same_shape(x, name, q, name_of_q):
    if x.shape != q.shape:
        raise ShapeError(f"{name}: {x.shape}, but {name_of_q}: {q.shape}; expected the same shape")
    return x


def _same_dimension(points, name, d):
    if d and points.shape[1] != d:
        raise ShapeError(f"{name}_landmarks: points of dimension {points.shape[1]}, but the head has d = {d}")
    return points


def _copy(source, shape, entries, dtype):
    """An array of a copy of the library's memory; None if there is none. entries: of 8 bytes."""
    return np.ndarray(shape, dtype, _bytes(source, 8 * entries)) if source else None


def _side(c, found):
    m, n, d = found.m, found.n, found.d
    return Side(_copy(c.tokens, m, m, INT64), _copy(c.groups, n, n, INT64), _copy(c.points, (m, d), m * d, FLOAT64))


def source_seed(source: str, model: str | None = None, seed: int | None = None) -> int:
    """The seed with which a source draws in a run of `draws: source`, the default.

    >>> nysbench.source_seed("opticks", "minilm") != nysbench.source_seed("opticks", "vit")
    True

    source, model: as in the run's rows; model None: its heads name none. seed: the run's; None: 20260101.

    With it, select, measure, attention, Attention and patch draw for arrays what the run drew for that source.
    """
    seed = seed_of(seed)
    return library.nysbench_source_seed(seed, None if model is None else text("model", model), text("source", source))


def select(points: ArrayLike | str, m: int, strategy: str | Callable, *, keys: ArrayLike | None = None,
           kernel: str | None = None, pairing: str | None = None, causal: bool | None = None, seed: int | None = None,
           trial: int = 0, problem: str | None = None, head: int = 0, draws: str | None = None) -> Landmarks | list:
    """Picks m landmarks, the same as `nysbench select` and a run pick for these data, seed and trial.

    >>> nysbench.select(np.zeros((6, 3)), 2, "uniform(strided=true)").tokens.tolist()
    [1, 4]

    points: n x d, the queries; float64 in C order is not copied. Or "heads.safetensors:3", a head of a file. Or (heads,
        n, d) or (inputs, heads, n, d), and then a list is returned, or a list of lists.
    keys: as points, of as many heads or a divisor of them. None: the landmarks are those of one set of points, under
        the kernel gram(of=queries).
    strategy, kernel, pairing: as in an experiment; see names("strategy"), describe("pairing"). Or a function, as for
        run; what it raises is raised.
    causal: whether a query sees only the keys up to its own. None: as the file says; of arrays, False.
    seed, trial: of the random stream; None is the seed of an experiment that names none, 20260101.
    problem, head: what arrays are called in rows. Strategies and cores that look at only some rows of S also use this
        name to draw them: with the values in a run's row they draw the rows of S that the run drew.
    draws: of a file's head, "source" (the default) or "shared", as the key of an experiment. Arrays draw with the seed
        itself: source_seed() gives that of a source.

    Returns Landmarks. Raises ArgumentError, ShapeError, NumericError (NaN or Inf), FileError, OutOfMemoryError, and
    TypeError for an argument of the wrong type.
    """
    arrays, found = _several(("points", points), ("keys", keys)), []
    settings: dict[str, Any] = {"kernel": kernel, "pairing": pairing, "seed": seed, "trial": trial, "problem": problem,
                                "draws": draws}
    heads = _heads_of(*arrays) if arrays else [(points, keys)]
    for i, one in enumerate(heads):
        found.append(_select(one, m, strategy, causal, {**settings, "head": head + i if arrays else head}))
    if not arrays:
        return found[0]
    count = arrays[0].shape[-3]
    return found if arrays[0].ndim == 3 else [found[i:i + count] for i in range(0, len(found), count)]


def _select(head, m, strategy, causal, settings):
    """select, of one head: points and keys."""
    request, found = _Request.new(), _library.Landmarks()
    request.take_head(*head, None, causal, ("points", "keys", None))
    request.take_settings(**settings)
    strategy, callbacks = _named("strategy", strategy)
    request.strategy, request.landmarks = text("strategy", strategy), count_of("m", m)
    _call(library.nysbench_select, request, found, {"q": "points", "k": "keys", "file": "points", "landmarks": "m"},
          callbacks)
    of_queries, of_keys, note = found.queries, found.keys, found.note
    queries = _side(of_queries, found)
    keys = queries if of_keys.points == of_queries.points else _side(of_keys, found)
    return Landmarks(_KINDS[found.kind], queries, keys, found.select_s, None if note is None else note.decode())


def measure(q: ArrayLike | str, k: ArrayLike | None = None, v: ArrayLike | None = None, *,
            strategy: str | Callable | None = None, landmarks: int | None = None,
            query_landmarks: ArrayLike | None = None, key_landmarks: ArrayLike | None = None, kernel: str | None = None,
            pairing: str | None = None, causal: bool | None = None, factors: str | None = None,
            cores: str | Callable | Sequence | None = None, metrics: str | Sequence[str] | None = None,
            seed: int | None = None, trial: int = 0, problem: str | None = None, head: int = 0,
            draws: str | None = None) -> list[dict]:
    """Measures the error of one choice of landmarks as `nysbench measure` does: a row for each core.

    All tokens as landmarks leave nothing but rounding:

    >>> q = np.random.default_rng(1).standard_normal((40, 8))
    >>> row, = nysbench.measure(q, q, strategy="uniform", landmarks=40, cores="svd(rcond=1e-15)")
    >>> row["error"] < 1e-10
    True

    q, k: n x d; v: n x dv, or None, and then what needs outputs is empty. float64 in C order is not copied. Or q alone:
        "heads.safetensors:3", a head of a file. Or (heads, n, d) or (inputs, heads, n, d), k and v of as many heads or
        a divisor of them: then there are rows for each head, in `head` numbered as in a file.
    strategy, landmarks: a spec or a function, and how many; or query_landmarks and key_landmarks, your own: tokens (m
        integers) or points (m x d). Tokens of one side serve both; points must be given for both.
    factors: nystromformer, cur, nocore or kernel_ridge. cores: specs, or functions of F, A or B; None: every core that
        needs no option.
    metrics: names of columns, a list or comma-separated; None: all.
    kernel, pairing, causal, seed, trial, problem, head, draws: as for select.

    Returns a list of dicts, the columns of the study `error`; an empty number is NaN, an empty text None. A row without
    a result is a row, too: see its `status` and `reason`; one that failed or diverged is also a warning. Raises as
    select does, and what functions raise.
    """
    arrays, rows = _several(("q", q), ("k", k), ("v", v)), []
    settings: dict[str, Any] = {"kernel": kernel, "pairing": pairing, "seed": seed, "trial": trial, "problem": problem,
                                "draws": draws}
    chosen = {
        "strategy": strategy, "landmarks": landmarks, "query_landmarks": query_landmarks, "key_landmarks": key_landmarks
    }
    heads = _heads_of(*arrays) if arrays else [(q, k, v)]
    for i, one in enumerate(heads):
        head_settings = {**settings, "head": head + i if arrays else head}
        rows += _measure(one, causal, factors, cores, metrics, head_settings, **chosen)
    return rows


def _measure(head, causal, factors, cores, metrics, settings, *, strategy, landmarks, query_landmarks, key_landmarks):
    """measure, of one head: q, k and v."""
    request = _Request.new()
    request.take_head(*head, causal, ("q", "k", "v"))
    request.take_settings(**settings)
    strategy, callbacks = _named("strategy", strategy)
    if cores is not None:
        several = [cores] if callable(cores) or isinstance(cores, str) else listed(
            "cores", cores, "a spec, a function or a list of these")
        named = [_named("cores", one) for one in several]
        cores = [spec for spec, _ in named]
        callbacks = callbacks + [callback for _, found in named for callback in found]
    request.take_cores(cores)
    request.factors, request.metrics = optional_text("factors", factors), _joined(metrics)
    names = {f"{side}_{kind}": f"{side}_landmarks" for side in ("query", "key") for kind in ("tokens", "points")}
    names["file"] = "q"
    if query_landmarks is None and key_landmarks is None:
        if strategy is None or landmarks is None:
            raise ArgumentError("expected strategy and landmarks, or query_landmarks and key_landmarks")
        request.strategy = text("strategy", strategy)
        request.landmarks = count_of("landmarks", landmarks)
    elif strategy is not None or landmarks is not None or settings["pairing"] is not None:
        raise ArgumentError("strategy, landmarks and pairing: not beside landmarks of your own")
    else:
        names["landmarks"] = request.take_landmarks(query_landmarks, key_landmarks)
    count = ctypes.c_int()
    _call(library.nysbench_measure, request, count, names, callbacks)
    raise_taken(callbacks)  # a core's exception is the reason of a row
    rows = [_row(i) for i in range(count.value)]
    for row in rows:
        for column in ("strategy", "core", "reason"):
            if row[column] is not None:
                row[column] = _with_names(row[column], callbacks)
        if row["status"] not in ("ok", "skipped"):
            warn(f"the row of core {_as_written(row['core'])} {row['status']}: {row['reason']}")
    return rows


def _as_written(spec):
    """A row's spec, which has all digits, with the fewest that read back."""
    return re.sub(r"\d+\.\d{9,}(e[-+]\d+)?", lambda number: repr(float(number[0])), spec)


def _with_names(text, callbacks):
    """A text with the functions' names, for what the library calls them."""
    for callback in callbacks:
        text = text.replace(callback.told, callback.name).replace(callback.spec, callback.name)
    return text


def _named(name, given):
    """The spec of a strategy or core, and what keeps it: a callback, if it is a function."""
    if not callable(given):
        return given, []
    callback = Callback(given)
    kind = "core" if name == "cores" else name
    if callback.function.kind != kind:
        raise TypeError(f"{name}: {callback.name} is a {callback.function.kind}")
    return callback.spec, [callback]


def _several(first, *others):
    """The arrays of several heads; None if the first, of pairs of a name and an array, is not such."""
    if isinstance(first[1], (str, os.PathLike)) or (first[1].ndim if hasattr(first[1], "ndim") else real_numbers(
            *first).ndim) not in (3, 4):
        return None
    arrays = [None if x is None else real_numbers(name, x) for name, x in (first, *others)]
    q, rest = arrays[0], [x for x in arrays[1:] if x is not None]
    if any(x.ndim != q.ndim or x.shape[:-3] != q.shape[:-3] or 0 in x.shape or q.shape[-3] % x.shape[-3] for x in rest):
        shapes = ", ".join(f"{name} {x.shape}" for (name, _), x in zip((first, *others), arrays) if x is not None)
        raise ShapeError(
            f"expected (heads, n, d) or (inputs, heads, n, d), all alike, where the heads of {first[0]} are a "
            f"multiple of the others', not {shapes}")
    doubt_layout(first[0], q.shape)
    return arrays


def _heads_of(*arrays):
    """The matrices of each head; a head of fewer serves several that follow each other."""
    flat = [None if x is None else x.reshape(-1, *x.shape[-2:]) for x in arrays]
    for i in range(len(flat[0])):
        yield [None if x is None else x[i * len(x) // len(flat[0])] for x in flat]


def _call(function, request, result, names, callbacks):
    """What is doubtful about a file, or a core that is worse than the constant matrix, is a warning to the caller of
    select or measure.

    names: by field of the request, the argument that the caller has written; messages begin with it. callbacks: what
    they raise is raised.
    """
    handle = _library.handle()
    with raising(*callbacks):
        try:
            handle.call(function, ctypes.byref(request), ctypes.byref(result))
        except Error as error:
            raise type(error)(_with_names(_renamed(str(error), names), callbacks)) from None
    doubt = library.nysbench_warning(handle.pointer)
    if doubt:
        warn(_with_names(doubt.decode(errors="replace"), callbacks))


def _renamed(message, names):
    """A message that begins with `FIELD: ` or `FIELD '`, with the argument's name instead of the field's."""
    return re.sub(r"^(\w+)(?=: | ')", lambda field: names.get(field[1], field[1]), message)


def _joined(metrics):
    return None if metrics is None else b",".join(
        _texts("metrics",
               sorted(metrics) if isinstance(metrics, (set, frozenset)) else metrics))


def _texts(name, given):
    """The strings for C of a list of texts, or of one text."""
    texts = [given] if isinstance(given, str) else listed(name, given, "a string or a list of strings")
    if not texts:
        raise ArgumentError(f"{name}: expected at least one")
    return [text(name, one) for one in texts]


def _row(i):
    handle, found = _library.handle(), ctypes.c_char_p()
    handle.call(library.nysbench_row_json, i, ctypes.byref(found))
    row = json.loads(found.value)
    for column, value in row.items():
        if value is None or value in ("inf", "-inf"):
            row[column] = _number(handle, i, column, value)
    return row


def _number(handle, i, column, value):
    """The number of a column that JSON has no number for; `value` if it is a column of texts."""
    number = ctypes.c_double()
    try:
        handle.call(library.nysbench_row_real, i, column.encode(), ctypes.byref(number))
    except ArgumentError:
        return value
    return number.value
