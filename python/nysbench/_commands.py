# SPDX-License-Identifier: GPL-3.0-or-later
"""The program's commands `run`, `check` and `suite`, for heads and functions of this session: each function becomes a
spec, whose questions this session answers while the program runs."""
from __future__ import annotations

import functools
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ._arguments import ArgumentError, Error, flag, labelled, listed, quoted, warn, write_problems
from ._attention import Attention
from ._functions import AttentionFunction, Strategy, name_of, signature, without_options
from ._program import FUNCTIONS, Functions, Progress, TemporaryFolder, ask, failure, program, shell_words
from ._result import Run
from .serve import find, line_of, load, told


def run(config: str | os.PathLike | Mapping[str, Any] | None = None, *, heads: Any = None, sources: Any = None,
        causal: bool | None = None, folder: str | os.PathLike | None = None, isolate: bool = False,
        jobs: int | None = None, timeout: float | None = None, retry: str | None = None, fresh: bool = False,
        mixed: bool = False, progress: bool = True, **keys: Any) -> Run:
    """Runs an experiment, as `nysbench run` does, and returns a Run: what it has found.

    >>> q, k, v = np.random.default_rng(1).standard_normal((3, 6, 2, 64, 8))  # 6 inputs, 2 heads, 64 tokens, d = 8
    >>> def last(keys, m):
    ...     return range(64 - m, 64)
    >>> found = nysbench.run(heads={"a layer": (q, k, v)}, strategies=["uniform", "kmeans", last],
    ...                      cores="svd(rcond=0.01)",
    ...                      landmarks=[8, 16], trials=3, progress=False)
    >>> len(found.compare())
    4

    Required are heads (or problems), strategies and cores; other studies have other keys.

    config: a path to an experiment file, or a dict of its keys; None: `keys` alone. `keys` replace those of the config,
        under the same names: strategies, cores, landmarks, trials, pairing, claims ... (docs/config.md).
    heads: {name: (q, k, v)}, in the place of `problems`: q, k and v of shape (n, d), (heads, n, d) or (inputs, heads,
        n, d), NumPy arrays or tensors; fewer key heads than heads share; without v nothing is said of outputs. Also a
        list of such, one for each input, what `capture` returns, and paths of files. Each input is a source: verdicts
        need six.
    sources: names of the inputs, a list or {name: list}. None: input i of each name is the same source.
    causal: whether a query sees only the keys up to its own; None: no mask, or as what was captured says.
    folder: of the results; the same call goes on where it was interrupted. None: a temporary one, which is removed with
        the Run.
    isolate: functions run in processes of their own (needs cloudpickle), not in this one.
    jobs: workers; None: one for each CPU. timeout: seconds for a pick, a core and so on. retry: statuses to run again,
        such as "failed". fresh: what is in the folder is set aside, and all rows are measured. mixed: rows that another
        build of the program has measured stay, beside those of this one.
    progress: False: print nothing.

    Where a config has a strategy or a core there may be a function: f(points, m, ...) returns m tokens, as for
    `strategy`; f(F, A, B) returns the core X. Functions run in this process, one at a time, and what they raise is the
    reason of a failed row. A function that has changed in what it may depend on is another one, with rows of its own.
    Strategies that look at keys alone set the pairing: all others then pick from the keys too.

    Raises ArgumentError with the program's message for what is not allowed, FileError, and TypeError and ShapeError for
    heads. Rows that failed are a warning.
    """
    if isinstance(config, Mapping):
        keys = {**config, **keys}
        config = None
    with _Results(folder) as results:
        functions = Functions(results.folder / FUNCTIONS, isolate, folder is not None)
        if heads is not None and _is_number(heads):
            keys["heads"] = heads  # the key of the study `forward`
        elif heads is not None:
            keys["problems"] = write_problems(heads, results.folder / "heads", sources=sources, causal=causal)
        keys = {
            name: functions.replaced(_plain(name, value), name)
            for name, value in keys.items()
            if value is not None
        }
        functions.choose_pairing(keys, config)
        options = [("jobs", jobs), ("timeout", timeout), ("retry", retry)]
        arguments = [f"--{name}={value}" for name, value in options if value is not None]
        arguments += [f"--{name}" for name, value in (("fresh", fresh), ("mixed", mixed)) if flag(name, value)]
        _run(config, keys, results, arguments, functions, {}, Progress(progress, functions.notes))
        return results.keep(functions.notes)


def run_served(make_keys, served, folder, jobs, progress):
    """A Run of a config whose programs are bridges to what is served, by their names. make_keys: the config's keys,
    given the experiment's Functions, which are served too."""
    with _Results(folder) as results:
        functions = Functions(results.folder / FUNCTIONS, False, folder is not None)
        arguments = [] if jobs is None else [f"--jobs={jobs}"]
        keys = {name: functions.replaced(_plain(name, value), name) for name, value in make_keys(functions).items()}
        _run(None, keys, results, arguments, functions, served, Progress(progress, functions.notes))
        return results.keep(functions.notes)


class _Results:
    """A folder for results; a temporary one is removed if the run fails, and with the Run."""

    def __init__(self, folder):
        self.temporary = TemporaryFolder() if folder is None else None
        self.folder = Path(self.temporary.name if folder is None else folder).absolute()
        self.kept = False

    def __enter__(self):
        return self

    def keep(self, notes):
        self.kept = True
        return Run(self.folder, notes, self.temporary, _plugins(self.folder), programs=True)

    def __exit__(self, _, error, __):
        if self.temporary and not self.kept:
            self.temporary.remove()
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(f"{error if str(error) else 'interrupted'}; " + (
                "with folder=... what was measured would be kept" if self.temporary else
                f"what was measured is kept, and the same call goes on: {self.folder}")) from None


_OF_FOLDERS = "fresh=True measures all rows again"  # the end of a warning about rows that are kept for another run


def _run(config, keys, results, arguments, functions, served, progress):
    folder = results.folder
    if config is None:
        keys.setdefault("plots", [])  # they are drawn when somebody looks
        folder.mkdir(parents=True, exist_ok=True)
        config = folder / "experiment.yaml"
        config.write_text(_yaml(keys, folder), encoding="utf-8")
    else:
        arguments += [
            word for name, value in keys.items()
            for word in ("--set", f"{name}={json.dumps(value, ensure_ascii=False)}")
        ]
    arguments += [] if progress.wanted else ["--quiet"]  # nothing is predicted for the line that nobody sees
    words = ["run", os.fspath(config), "-o", str(folder), *arguments]
    with progress as shown:
        status, out = functions.run(words, shown.line, served)
    if status not in (0, 1) or not (folder / "rows.csv").exists():
        own = rf"{re.escape(str(folder))}/experiment\.yaml:[\d:]* "
        raise failure(status, [re.sub(own, "", message) for message in shown.errors])
    found = _failures(folder) if status == 1 else []
    found += _skipped(folder, functions) if "skipped" in out else []
    for line in [*shown.warnings, *shown.errors, *found, *functions.doubts()]:
        if not (results.temporary and line.endswith(_OF_FOLDERS)):
            warn(line)


def _plugins(folder):
    """The plug-ins of the experiment that has just run there: resolved.yaml has them, whatever named them, a line
    each."""
    text = (folder / "resolved.yaml").read_text(encoding="utf-8")
    listed = re.search(r"^plugins:.*\n((?: +- .*\n)*)", text, re.MULTILINE)
    return [os.path.abspath(json.loads(line.strip(" -"))) for line in listed[1].splitlines()] if listed else []


def _failures(folder):
    """How many rows have no result, and why the first has none."""
    query = ("SELECT status, count(*) AS count, min(reason) AS reason FROM run WHERE status NOT IN ('ok', 'skipped') "
             "GROUP BY status ORDER BY status")
    return [f"rows {row['status']}: {row['count']}, such as: {row['reason']}" for row in
            json.loads(ask("sql", str(folder), query, "-f", "json"))]


def _skipped(folder, functions):
    """Functions of which no row has been measured, and why the first has not."""
    for spec, found in functions.found.items():
        quoted = "'" + spec.replace("'", "''") + "'"
        query = (f"SELECT count(*) AS count, min(reason) AS reason, total(status <> 'skipped') AS others FROM run "
                 f"WHERE {found.kind} = {quoted}")
        row, = json.loads(ask("sql", str(folder), query, "-f", "json"))
        if row["count"] and not row["others"]:
            yield f"rows of {functions.labels[spec]} skipped: all {row['count']}, such as: {row['reason']}"


def _is_number(heads):
    return isinstance(heads, (int, range)) or isinstance(heads, list) and all(isinstance(one, int) for one in heads)


def _plain(key, value):
    """What JSON has, for arrays, tensors, ranges and whatever else gives its values in an order; functions stay.

    key: of the config, which a TypeError names."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(key, one) for name, one in value.items()}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):
        return _plain(key, value.tolist())
    if callable(value):
        return value
    return [_plain(key, one) for one in listed(key, value, "a list, or a text or a number")]


def _yaml(keys, folder):
    """A config: a key a line, of lists with texts or mappings an item a line; values are JSON, which is YAML."""
    lines = ["# Written by nysbench.run."]
    if (folder / FUNCTIONS).exists():
        lines.append(
            f"# From the shell: {shell_words(folder / FUNCTIONS)} nysbench run "
            f"{shlex.quote(str(folder))}/experiment.yaml"
        )
    for name, value in keys.items():
        if isinstance(value, list) and any(isinstance(one, (str, dict)) for one in value):
            lines += [f"{name}:", *(f"  - {json.dumps(one, ensure_ascii=False)}" for one in value)]
        else:
            lines.append(f"{name}: {json.dumps(value, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Check:
    """One check: its name, whether the function has passed it, and one sentence: what was checked, or what is wrong."""
    name: str
    passed: bool
    says: str

    def line(self, label):
        return f"{'PASS' if self.passed else 'FAIL'} {label}, {self.name}: {self.says}"


class _Checks(list):
    """Shows itself as `nysbench check` prints it."""

    def __init__(self, label, checks):
        super().__init__(checks)
        self.label = label

    def __repr__(self):
        return self.text(80)

    def text(self, width):
        """A line for each check, broken where a width is given, and how many failed."""
        lines = [one.line(self.label) for one in self]
        failed = sum(not one.passed for one in self)
        return "\n".join([*(textwrap.fill(line, width, subsequent_indent="    ") if width else line for line in lines),
                          f"{failed} of {len(self)} checks failed"])


def check(function: Callable, *, timeout: float = 60) -> list[Check]:
    """Tries a strategy, core or attention on one token, equal tokens, zeros, a mask and others of the kind.

    >>> def looks_ahead(q, k, v, causal):
    ...     return np.roll(v, -1, axis=1)
    >>> [one.name for one in nysbench.check(looks_ahead) if not one.passed]
    ['causal']

    The checks of attentions: outputs are finite, the same for one seed, and the input is left as it is (output); under
    a mask, outputs up to a token stay when later tokens change, at several tokens of 1,024 (causal); and others that
    are about attentions in C. One with methods extend and restart also takes its tokens piece by piece (steps).
    timeout: seconds for each check on each input.

    Returns a list with a Check for each: name, passed, says. It shows itself as `nysbench check` prints them.
    """
    with tempfile.TemporaryDirectory(prefix="nysbench-check-") as folder:
        functions = Functions(Path(folder), False, False)
        spec = functions.spec(function, None)
        (label, found), = zip(functions.labels.values(), functions.found.values())
        shown = Progress(False, [])
        status, out = functions.run(["check", "--kind", found.kind, f"--timeout={timeout}", spec], shown.line)
    if status not in (0, 1):
        raise failure(status, shown.errors)
    checks = list(_checks(out.replace("\n    ", " "), label))
    if hasattr(found.function, "extend") and found.kind == "attention":
        checks = [_check_steps(found) if one.name == "steps" else one for one in checks]
    return _Checks(label, checks)


def _checks(text, label):
    for line in text.splitlines():
        verdict, _, rest = line.partition(" ")
        if verdict in ("PASS", "FAIL"):
            who = next(one for one in (label, "command")
                       if rest.startswith(f"{one}, "))  # the record is the component's
            name, _, says = rest[len(who) + 2:].partition(": ")
            yield Check(name, verdict == "PASS", says)


_HEADS, _TOKENS, _D = 2, 96, 8
_PIECES = (1, 1, 1, 53, *[1] * 40)
_ROUNDING = 1e-3


def _check_steps(found):
    """Piece by piece, twice, against one pass."""
    q, k, v = np.random.default_rng(1).standard_normal((3, _HEADS, _TOKENS, _D)).astype(np.float32)
    try:
        layer = Attention(found, q.shape, causal=True)
        one = layer(q, k, v)
        for turn in ("", " after restart()"):
            layer.restart()
            ends = np.cumsum(_PIECES)
            new = np.concatenate(
                [layer.extend(*(x[:, end - count:end] for x in (q, k, v))) for count, end in zip(_PIECES, ends)],
                axis=1)
            wrong = np.argwhere(~(np.abs(new - one) <= _ROUNDING * np.maximum(1, np.abs(one))))
            if len(wrong):
                head, token, at = wrong[wrong[:, 1].argmin()]
                return Check(
                    "steps", False, f"piece by piece{turn}, the output of token {token} of {_TOKENS} in head {head} is "
                    f"{new[head, token, at]:.6g}, and {one[head, token, at]:.6g} in one pass")
    except Exception as error:  # whatever the function raises
        return Check("steps", False, str(error) if isinstance(error, Error) else line_of(error))
    return Check("steps", True, "piece by piece has the outputs of one pass")


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
        takes it, and not one that picks landmarks. A function's multiplications are not counted:
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
    which = "--small" if heads is None else f"--list={os.fspath(heads)}"
    words = [f"--plugin={os.fspath(path)}" for path in listed("plugins", plugins, "paths of plug-ins")]
    words += [] if tuned is None else [f"--tuned={tuned}"]
    words += [] if jobs is None else [f"--jobs={jobs}"]
    words += ["--timed"] if flag("timed", timed) else []
    words += [] if damage is None else [f"--damage={damage}"]
    words += [f"--reference={text}" for text in listed("references", references, "texts")]
    if declare is not None and not isinstance(declare, Mapping):
        raise TypeError(f'declare: expected a dict such as {{"trained": True}}, not {declare!r:.40}')
    declared = {name: flag(f"declare {name}", value) for name, value in (declare or {}).items()}
    with _Results(folder) as results:
        functions = Functions(results.folder / FUNCTIONS, False, folder is not None)
        if callable(method):
            found = _judged(method)
            if timed and not isinstance(method, Strategy):
                found = AttentionFunction(method, timed=True)
            text, more, of_cost = _stand_in(
                found, cost, sizes, timed, which, results.folder,
                lambda name, value: functions.bare_spec(_with_size(found, name, value), "attention")[0])
            words, declared = [*words, *more], {**of_cost, **declared}
        elif not isinstance(method, str):
            raise TypeError("method: expected the spec of an attention or a strategy, or a function, "
                            f"not {method!r:.40}")
        elif cost is not None or sizes is not None:
            raise ArgumentError("cost and sizes are of a function: the program counts what a spec does")
        else:
            text = method
        return _suite(text, which, [*words, *_declarations(declared)], results.folder, functions,
                      Progress(progress, functions.notes))


def _suite(text, which, words, folder, functions, progress):
    """Runs the program; its result of the method with that text."""
    with progress as shown:
        status, out = functions.run(["suite", which, f"--out={folder}", *words, text], shown.line)
    if status != 0:
        raise failure(status, shown.errors)
    for line in [*shown.warnings, *functions.doubts()]:
        warn(line)
    for path in folder.glob("*.json"):
        found = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(found, dict) and found["method"]["text"] == text:
            return SuiteResult(found, out.rstrip("\n"))
    raise ArgumentError(re.sub(r"\s+", " ", out).strip())


def _judged(function):
    """The attention of a function; ArgumentError for one that picks landmarks."""
    names = signature(function)
    if "m" in names and {"q", "k", "v"}.isdisjoint(names):
        name = name_of(function)
        raise ArgumentError(f"{name}: it picks landmarks, and nobody counts what it multiplies, so it has no number; "
                            f'nysbench.run(heads=..., strategies=["uniform", {name}], ...) compares it with others, '
                            "and a strategy in C ('nysbench new strategy') has a number")
    return without_options(function, "attention")


def _stand_in(found, cost, sizes, timed, which, folder, spec_of):
    """The spec that stands for a function, the options that say its sizes, which are in a file of the folder, and what
    its cost declares. spec_of: a spec of the function with its size, by the size's name and value, or None for both."""
    if cost is None and timed:
        return labelled(spec_of(None, None), found.__name__), [], {}
    text, settings = _settings(found, cost, sizes, json.loads(ask("suite", which, "--format=json")), spec_of)
    path = Path(folder, "sizes.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings), encoding="utf-8")
    return text, [f"--sizes={path}"], {"linear": _is_linear(found, cost, sizes)}


def _declarations(declared):
    return [f"--declare={name}={_word(holds)}" for name, holds in declared.items()]


def _settings(found, cost, sizes, models, spec_of):
    """A spec of the function, and the largest size that each share of each model has room for."""
    label = found.__name__
    if cost is None:
        raise ArgumentError(
            f"{label}: the multiplications of a function are not counted, so without cost= it has no number (in a "
            f'file: {label}.cost = ...); nysbench.run(study="forward", attentions=[...]) measures its error and, if '
            "it says so, its time")
    name, values = _size_of(found, sizes)
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
            spec = labelled(spec_of(name, value), label if name is None else f"{label}({name}={value})")
            settings.append({"model": model["model"], "share": share, "attention": spec, "multiplications": one})
    if not settings:
        raise ArgumentError(
            f"{label}: by cost= no size has at most 1/{SHARES[0]} of exact attention's multiplications on any model")
    return labelled(spec_of(None, None), label), settings


def _is_linear(found, cost, sizes):
    """Whether the cost grows as the number of tokens does, at one size; as the program asks the formula of its own."""
    name, values = _size_of(found, sizes)
    given = {} if name is None else {name: values[0]}
    shorter, longer = (float(cost(n=n, d=64, dv=64, **given)) for n in (2**19, 2**20))
    return longer < 2**1.5 * shorter


def _size_of(found, sizes):
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


def _with_size(found, name, value):
    """The function with its size."""
    if name is None:
        return found
    kept = {key: getattr(found, key) for key in ("causal", "grouped", "timed")}
    return AttentionFunction(functools.partial(found.function, **{name: value}), tensors=found.settings["tensors"],
                             **kept)


def _word(flag):
    return "true" if flag else "false"


def check_file(what, timeout):
    """nysbench check FILE.py[:NAME]: the exit status."""
    def show(found, _):
        checks = check(found, timeout=float(timeout))
        width = int(os.environ.get("COLUMNS") or (os.get_terminal_size().columns if sys.stdout.isatty() else 0))
        print(checks.text(width))
        return int(not all(one.passed for one in checks))
    return _with_function(what, show)


def suite_file(what, which, *words):
    """nysbench suite FILE.py:NAME: the exit status. which: the option that says the list, words: all. The function's
    attributes `cost`, `sizes` and `references` are those of `suite`. Each size is a program, so that anybody with the
    file can measure it again."""
    def judge(given, path):
        found = _judged(given)
        cost, sizes, references = (getattr(given.function, key, None) for key in ("cost", "sizes", "references"))
        with tempfile.TemporaryDirectory(prefix="nysbench-suite-") as folder:
            text, more, of_cost = _stand_in(found, cost, sizes, "--timed" in words, which, folder,
                                            functools.partial(_served_spec, found, path, "--timed" in words))
            more += [*_declarations(of_cost), *(f"--reference={one}" for one in references or ())]
            return subprocess.run([program(), "suite", *words, *more, text]).returncode
    return _with_function(what, judge)


def _served_spec(found, path, timed, name, value):
    """A program that serves a function of a file, with its size."""
    python = os.environ.get("NYSBENCH_PYTHON", "python3")
    served = [python, "-m", "nysbench.serve", path, found.function.__name__]
    run = shlex.join(served + ([] if name is None else [f"{name}={value}"]))
    return (f"command(run={quoted(run)}, deterministic={_word(not found.is_random)}, serve=true, "
            f"causal={_word(found.causal)}, timed={'true' if timed else 'own'})")


def _with_function(what, use):
    """The exit status use(function, path) of what the program is given as FILE.py or FILE.py:NAME; 2 after an error,
    which is printed."""
    path, name = (what, None) if what.endswith(".py") else what.rsplit(":", 1)
    try:
        return use(find(load(path), name, path), path)
    except Exception as error:  # the user's file may raise anything
        print(f"nysbench: error: {error if isinstance(error, (Error, TypeError)) else told(error, path)}",
              file=sys.stderr)
        return 2
