# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole experiment: heads, methods and numbers of landmarks in, what they are worth out; and how far it is."""
from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


from ._arguments import ArgumentError, FileError, flag, listed, warn
from ._head_files import problems
from ._program import TemporaryFolder, ask
from ._result import Run
from ._session import FUNCTIONS, Functions, Session, shell_words


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
            keys["problems"] = problems(heads, results.folder / "heads", sources=sources, causal=causal)
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
    with progress as shown:
        arguments += [] if progress.wanted else ["--quiet"]  # nothing is predicted for the line that nobody sees
        session = Session({**functions.served, **served}, folder / FUNCTIONS)
        status, out = session.run(["run", os.fspath(config), "-o", str(folder), *arguments], shown.line)
    if status not in (0, 1) or not (folder / "rows.csv").exists():
        text = "\n".join(shown.errors) or f"the program ended with status {status}"
        raise (ArgumentError if status == 2 else FileError)(re.sub(
            rf"{re.escape(str(folder))}/experiment\.yaml:[\d:]* ", "", text))
    found = _failures(folder) if status == 1 else []
    found += _skipped(folder, functions) if "skipped" in out else []
    found += [one.doubt for one in functions.served.values() if one.doubt]
    for line in [*shown.warnings, *shown.errors, *found]:
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


class Progress:
    """Takes the program's lines on standard error: what it warns of and what went wrong are kept, the rest is shown: as
    a bar of tqdm where that is installed, else in one line that is written anew; in a file, a line each. A notebook
    shows them as what it displays, since it colours standard error as if something had gone wrong."""

    def __init__(self, wanted, notes):
        self.wanted, self.notes = flag("progress", wanted), notes
        self.warnings, self.errors, self.last, self.shown = [], [], None, None

    def __enter__(self):
        if self.wanted:
            for note in self.notes:
                print(note, file=sys.stdout if _notebook() else sys.stderr)
        return self

    def line(self, text):
        kind, _, rest = text.partition(": ")[2].partition(": ")
        if kind in ("warning", "error"):
            self.last = getattr(self, kind + "s")
            self.last.append(rest)
        elif not text.startswith("nysbench: ") and self.last:
            self.last[-1] += "\n" + text  # the message goes on
        elif not text.startswith("    "):  # commands that repeat failed rows in a shell
            self.last = None
            if self.wanted:
                self._show(text)

    def _show(self, text):
        text = text.removeprefix("nysbench: ")
        rows = re.search(r"(\d+) of (\d+) rows", text)
        if not rows:
            print(text, file=sys.stdout if _notebook() else sys.stderr)
            return
        if self.shown is None:
            self.shown = _shower(int(rows[2]))
        self.shown.update(int(rows[1]), text)

    def __exit__(self, *_):
        if self.shown is not None:
            self.shown.close()


def _notebook():
    """IPython's shell where it is a notebook's, which displays things; else None."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell if hasattr(shell, "kernel") else None


def _shower(rows):
    """What shows the progress of so many rows."""
    notebook = _notebook()
    has_tqdm = importlib.util.find_spec("tqdm") is not None
    if has_tqdm and (notebook is None or importlib.util.find_spec("ipywidgets") is not None):
        return _Bar(rows)
    return _Display() if notebook else _Line() if sys.stderr.isatty() else _Log()


class _Bar:
    def __init__(self, rows):
        from tqdm.auto import tqdm
        self.bar = tqdm(total=rows, unit="row")

    def update(self, done, _):
        self.bar.update(done - self.bar.n)

    def close(self):
        self.bar.close()


class _Display:
    """One output of a notebook's cell, which is replaced."""

    def __init__(self):
        self.handle = None

    def update(self, _, text):
        from IPython.display import Pretty, display
        shown = Pretty(text)
        if self.handle is None:
            self.handle = display(shown, display_id=True)
        else:
            self.handle.update(shown)

    def close(self):
        pass


class _Line:
    """A line of a terminal."""

    def update(self, _, text):
        room = shutil.get_terminal_size().columns - 1
        print(f"\r{text[:room]}\033[K", end="", file=sys.stderr, flush=True)

    def close(self):
        print(file=sys.stderr)


class _Log:
    def update(self, _, text):
        print(text, file=sys.stderr)

    def close(self):
        pass
