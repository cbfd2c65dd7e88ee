# SPDX-License-Identifier: GPL-3.0-or-later
"""The suite's number for a method, of this session too."""
from __future__ import annotations

import functools
import json
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ._arguments import ArgumentError, FileError, flag, listed, quoted, warn
from ._experiment import Progress
from ._functions import AttentionFunction, Strategy, without_options
from ._program import TemporaryFolder, ask, program
from ._session import FUNCTIONS, Functions, Session
from .serve import with_function

SHARES = (4, 8, 16, 32)


class SuiteResult(dict):
    """The result file of a method, as its schema has it. It shows itself as `nysbench suite` prints it."""

    def __init__(self, found: Mapping[str, Any], text: str):
        super().__init__(found)
        self.text = text

    def __repr__(self):
        return self.text


def suite(method: str | Callable, *, cost: Callable[..., float] | None = None,
          sizes: Mapping[str, Iterable[int]] | None = None, heads: str | os.PathLike | None = None,
          folder: str | os.PathLike | None = None, tuned: str | None = None,
          declare: Mapping[str, bool] | None = None, references: Iterable[str] = (),
          plugins: Iterable[str | os.PathLike] = (), jobs: int | None = None, timed: bool = False,
          damage: str | None = None, progress: bool = True) -> SuiteResult:
    """How much less error a method has than a baseline at the same multiplications: the number of docs/suite.md.

    >>> found = nysbench.suite("kmeans", progress=False)
    >>> [track["track"] for track in found["tracks"] if track["absent"] is None]
    ['encoders']

    method: the spec of an attention without its size, or of a strategy; or a function of q, k and v, as `attention`
        takes it. A function's multiplications are not counted:
    cost: a function of n, d, dv and, by its name, the size; it returns the multiplications of one head. Without it a
        function has no number, and can be timed alone.
    sizes: {parameter of the function: values}: the size, of which the largest that is cheap enough is taken at each
        share. None: the function has none.
    heads: a list of heads, FILE.json; None: the small form that comes with the program.
    folder: of the results; the same call goes on where it was interrupted. None: a temporary one.
    tuned: which sources its options were tuned on: "none", "development" or "test".
    declare: what the program cannot know: {"trained": True} of a function that is made for weights trained with it,
        {"linear": True} of a spec without a formula of its cost. That of a function is linear if `cost` is.
    references: where a function is published. A spec has its own.
    plugins: files of plug-ins. jobs: workers; None: one for each CPU. progress: False: print nothing.
    timed: time its passes beside those of exact attention. damage: measure what it does to the models that this program
        serves, such as "python3 experiments/models/serve.py".

    Returns a dict, the result as its file has it (folder/NAME.json).
    """
    temporary = TemporaryFolder() if folder is None else None
    place = Path(temporary.name if temporary else folder or "").absolute()
    which = ["--small"] if heads is None else [f"--list={os.fspath(heads)}"]
    words = [f"--plugin={os.fspath(path)}" for path in listed("plugins", plugins, "paths of plug-ins")]
    words += [] if tuned is None else [f"--tuned={tuned}"]
    words += [] if jobs is None else [f"--jobs={jobs}"]
    words += ["--timed"] if flag("timed", timed) else []
    words += [] if damage is None else [f"--damage={damage}"]
    words += [f"--reference={text}" for text in listed("references", references, "texts")]
    functions = Functions(place / FUNCTIONS, False, folder is not None)
    if declare is not None and not isinstance(declare, Mapping):
        raise TypeError(f'declare: expected a dict such as {{"trained": True}}, not {declare!r:.40}')
    declare = {name: flag(f"declare {name}", value) for name, value in (declare or {}).items()}
    if callable(method) and timed and not isinstance(method, Strategy):
        method = AttentionFunction(method, timed=True)
    if callable(method) and cost is None and timed:
        text = functions.bare_spec(method, "attention")[0]
        text = f"{text[:-1]}, label={quoted(without_options(method, 'attention').__name__)})"
    elif callable(method):
        text, settings = _settings(
            method, cost, sizes, json.loads(ask("suite", *which, "--format=json")),
            lambda name, value: functions.bare_spec(_with(method, name, value), "attention")[0])
        declare = {"linear": _is_linear(method, cost, sizes), **declare}
        place.mkdir(parents=True, exist_ok=True)
        (place / "sizes.json").write_text(json.dumps(settings), encoding="utf-8")
        words.append(f"--sizes={place / 'sizes.json'}")
    elif cost is not None or sizes is not None:
        raise ArgumentError("cost and sizes are of a function: the program counts what a spec does")
    else:
        text = method
    words += [f"--declare={name}={_word(holds)}" for name, holds in declare.items()]
    with Progress(progress, functions.notes) as shown:
        session = Session(functions.served, place / FUNCTIONS)
        status, out = session.run(["suite", *which, f"--out={place}", *words, text], shown.line)
    if status != 0:
        message = "\n".join(shown.errors) or f"the program ended with status {status}"
        raise (ArgumentError if status == 2 else FileError)(message)
    for line in [*shown.warnings, *(one.doubt for one in functions.served.values() if one.doubt)]:
        warn(line)
    for path in place.glob("*.json"):
        found = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(found, dict) and found["method"]["text"] == text:
            return SuiteResult(found, out.rstrip("\n"))
    raise ArgumentError(re.sub(r"\s+", " ", out).strip())


def _settings(function, cost, sizes, models, spec_of):
    """A spec of the function, and the largest size that each share of each model has room for. spec_of: of the
    function with its size, by the size's name and value."""
    found = without_options(function, "attention")
    label = found.__name__
    if cost is None:
        raise ArgumentError(
            f"{label}: the multiplications of a function are not counted, so without cost= it has no number (in a "
            f'file: {label}.cost = ...); nysbench.run(study="forward", attentions=[...]) measures its error and, if '
            "it says so, its time")
    name, values = _size(found, sizes)
    settings = []
    for model in models:
        shape = {key: model[key] for key in ("n", "d", "dv")}
        for share in SHARES:
            fitting = []
            for value in values:
                given = {} if name is None else {name: value}
                one = model["heads"] * float(cost(**shape, **given))
                if one * share <= model["multiplications"]:
                    fitting.append((one, value))
            if not fitting:
                continue
            one, value = max(fitting)
            spec = spec_of(name, value)
            spec = f"{spec[:-1]}, label={quoted(label if name is None else f'{label}({name}={value})')})"
            settings.append({"model": model["model"], "share": share, "attention": spec, "multiplications": one})
    if not settings:
        raise ArgumentError(
            f"{label}: by cost= no size has at most 1/{SHARES[0]} of exact attention's multiplications on any model")
    return f"{spec_of(None, None)[:-1]}, label={quoted(label)})", settings


def _is_linear(function, cost, sizes):
    """Whether the cost grows as the number of tokens does, at one size; as the program asks the formula of its own."""
    name, values = _size(without_options(function, "attention"), sizes)
    given = {} if name is None else {name: values[0]}
    shorter, longer = (float(cost(n=n, d=64, dv=64, **given)) for n in (2**19, 2**20))
    return longer < 2**1.5 * shorter


def _size(found, sizes):
    """The name of the size, and its values; None and [0]: there is none."""
    if sizes is None:
        return None, [0]
    if not isinstance(sizes, Mapping) or len(sizes) != 1:
        raise ArgumentError(
            'sizes: expected one parameter of the function and its values, such as {"window": [8, 16, 32]}')
    (name, values), = sizes.items()
    if name not in found.options:
        known = ", ".join(found.options) or "none"
        raise ArgumentError(f"sizes: {found.__name__} has no parameter {name!r} with a default; it has {known}")
    values = list(values)
    if not values:
        raise ArgumentError(f"sizes: {name} has no values")
    return name, values


def _with(function, name, value):
    """The function with its size."""
    if name is None:
        return function
    if not isinstance(function, Strategy):
        return functools.partial(function, **{name: value})
    kept = {key: getattr(function, key) for key in ("causal", "grouped", "timed")}
    tensors = function.settings["tensors"]
    return AttentionFunction(functools.partial(function.function, **{name: value}), tensors=tensors, **kept)


def main(what, which, *words):
    """nysbench suite FILE.py:NAME: the exit status. which: the option that says the list, words: all. The function's
    attributes `cost`, `sizes` and `references` are those of `suite`. Each size is a program, so that anybody with the
    file can measure it again."""
    def judge(found, path):
        cost, sizes, references = (getattr(found.function, key, None) for key in ("cost", "sizes", "references"))
        return _judge(path, found, cost, sizes, references or (), which, words)
    return with_function(what, judge)


def _judge(path, found, cost, sizes, references, which, words):
    function = without_options(found, "attention")
    python = os.environ.get("NYSBENCH_PYTHON", "python3")

    def spec_of(name, value):
        served = [python, "-m", "nysbench.serve", path, function.function.__name__]
        run = shlex.join(served + ([] if name is None else [f"{name}={value}"]))
        return (f"command(run={quoted(run)}, deterministic={_word(not function.is_random)}, serve=true, "
                f"causal={_word(function.causal)}, timed={'true' if '--timed' in words else 'own'})")

    if cost is None and "--timed" in words:
        text = f"{spec_of(None, None)[:-1]}, label={quoted(function.__name__)})"
        more = [f"--reference={one}" for one in references]
        return subprocess.run([program(), "suite", *words, *more, text]).returncode
    models = json.loads(ask("suite", which, "--format=json"))
    text, settings = _settings(function, cost, sizes, models, spec_of)
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(settings, file)
        file.flush()
        more = [f"--sizes={file.name}", f"--declare=linear={_word(_is_linear(function, cost, sizes))}",
                *(f"--reference={text}" for text in references)]
        return subprocess.run([program(), "suite", *words, *more, text]).returncode


def _word(flag):
    return "true" if flag else "false"
