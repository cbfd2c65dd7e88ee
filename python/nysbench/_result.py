# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run has found: every number is the program's, which this module asks."""
from __future__ import annotations

import html
import io
import json
import os
import shutil
import tarfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from ._arrays import flag
from ._errors import ArgumentError, Error
from ._plot import Plot
from ._program import ask
from ._runs import described_columns, frame_of, row_arrays, rows
from ._temporary import make_folder

if TYPE_CHECKING:
    import numpy as np
    import pandas
    Table = Union[pandas.DataFrame, list[dict]]

_SHORT = ("model", "method", "strategy", "attention", "core", "kernel", "pairing", "factors", "landmarks", "ratio", "difference", "low", "high", "verdict",
          "why", "sources")
_ALWAYS = ("method", "landmarks", "ratio", "low", "high", "verdict", "why", "sources")


class Temporary:
    """A folder that is removed with the last reference to this object, by the process that has made it."""

    def __init__(self):
        self.name = make_folder("run")
        self.remove = weakref.finalize(self, _remove, self.name, os.getpid())


def _remove(folder, process):
    if os.getpid() == process:  # and no child of fork
        shutil.rmtree(folder, ignore_errors=True)


class Run:
    """The results of a run in a folder.

    >>> run = nysbench.run(problems="gaussian(n=24, d=4)", strategies=["uniform", "kmeans"], cores="svd", landmarks=4, trials=8,
    ...                    progress=False)
    >>> len(nysbench.Run(run.folder).compare())
    1

    folder: where they are. notes: what was chosen for the user, in sentences. plugins: shared objects to load; reading a
    folder loads none that it names.
    """

    def __init__(self, folder: str | os.PathLike, notes: Sequence[str] = (), kept: Any = None,
                 plugins: Sequence[str | os.PathLike] = ()):
        """folder: of a run, also of one that the program has made. kept: what removes it when nobody has this object."""
        self.folder, self.notes, self._kept = Path(folder), list(notes), kept
        self.plugins = [os.fspath(plugin) for plugin in plugins]

    def __copy__(self):
        return Run(self.folder, self.notes, self._kept, self.plugins)

    def __deepcopy__(self, _):
        return self.__copy__()

    def __reduce__(self):
        """A pickle has the results of a temporary folder with it, and of one that stays the path."""
        if self._kept is None:
            return Run, (self.folder, self.notes, None, self.plugins)
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as files:
            files.add(self.folder, arcname=".")
        return _unpacked, (packed.getvalue(), str(self.folder), self.notes, self.plugins)

    @property
    def config(self) -> str:
        """The experiment file that repeats the run from the shell: `nysbench run FILE`."""
        own = self.folder / "experiment.yaml"
        return (own if own.exists() else self.folder / "resolved.yaml").read_text(encoding="utf-8")

    @property
    def rows(self) -> Table | dict[str, np.ndarray]:
        """Everything that was measured: a pandas.DataFrame, or without pandas a dict of arrays, as nysbench.row_arrays."""
        try:
            return rows(self.folder, plugins=self.plugins)
        except ImportError:
            return row_arrays(self.folder, plugins=self.plugins)

    def compare(self, baseline: str | None = None, *, by: str | None = None, metric: str | None = None,
                where: Mapping[str, Any] | None = None, pool: str | None = None, by_model: bool = False, full: bool = False,
                **choices: Any) -> Table:
        """Each method against a baseline, with 95 % intervals over sources and verdicts: one line for each setting.

        baseline: a name, spec or label; None: the run's; "all": each pair. by: the column that is compared, such as
            "core"; None: the strategy. metric: a column such as "output_error"; None: the study's first. where: {column:
            value}. pool: a column over which is averaged, such as "landmarks".
        by_model: lines of each model too. full: all columns, which `nysbench help compare` explains. choices: its other
            options, such as confounded="pairing", failures="worst" or margin=1.05.

        A line without a verdict has the reason in `why`. Returns a DataFrame, or a list of dicts without pandas.
        """
        options = _options(baseline=baseline, by=by, metric=metric, where=where, pool=pool, **choices)
        lines = self._ask("compare", *options, *(["--by-model"] if flag("by_model", by_model) else []))
        return self._frame(lines if flag("full", full) else self._short(lines))

    def tables(self) -> str:
        """Which tables there are, a line each."""
        return self._call("table")

    def table(self, name: str, *, where: Mapping[str, Any] | None = None) -> Table:
        """A table of the program as a DataFrame, or a list of dicts without pandas."""
        return self._frame(self._ask("table", name, *_options(where=where)))

    def sql(self, query: str | None = None) -> Table:
        """What SQL finds in the run; None: the views, with their columns. A DataFrame, or a list of dicts."""
        return self._frame(self._ask("sql", *([] if query is None else [query])))

    def claims(self) -> Table:
        """The claims of the experiment, with intervals and verdicts: a DataFrame, or a list of dicts."""
        return self._frame(self._ask("claims"))

    def report(self, path: str | os.PathLike | None = None) -> Path:
        """Writes a page about the run, FILE.html, with FILE.md beside it; its path."""
        path = self.folder / "report.html" if path is None else Path(path)
        self._call("report", "-o", str(path))
        return path

    def plot(self, kind: str = "ratio", **choices: Any) -> Plot:
        """A figure of the program (nysbench.names("figure")), as a Plot: of Axes where matplotlib is installed and knows this
        kind, else of gnuplot's SVG.

        choices: where={column: value}, strategies and cores (lists of names, specs or labels, with the baseline where the
        figure is of ratios), m; dots="hide" for ratios without a dot for each head.
        """
        lists = {name: ", ".join(map(str, choices.pop(name))) for name in ("strategies", "cores")
                 if isinstance(choices.get(name), (list, tuple))}
        return Plot(self, kind, _options(**choices, **lists))

    def to_latex(self, path: str | os.PathLike, table: str | None = None, **choices: Any) -> None:
        """Writes a table for LaTeX (booktabs, siunitx): the comparison, with the arguments of `compare`, or a named one."""
        options = _options(**choices)
        text = self._call("compare" if table is None else "table", *([] if table is None else [table]), "-f", "latex",
                   *options)
        Path(path).write_text(text, encoding="utf-8")

    def __repr__(self):
        return "\n".join([self._compared("table").rstrip("\n"), *self.notes])

    def _repr_html_(self):
        """The comparison, and the figure of ratios where it can be drawn."""
        text = self._compared("json")
        lines = self._short(json.loads(text)) if text.startswith("[") else []
        if not lines:
            return f"<pre>{html.escape(repr(self))}</pre>"
        try:
            figure = self.plot("ratio")._repr_html_()
        except Error:
            figure = ""
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return f"<div>{_html_table(lines)}{notes}{figure}</div>"

    def _compared(self, form):
        """The comparison of strategies, or of cores where there is one strategy alone; else the list of tables."""
        for options in ([], ["--by=core"]):
            try:
                return self._call("compare", *options, "-f", form)
            except ArgumentError:  # there is nothing to compare
                continue
        return self._call("table")

    def _short(self, lines):
        """The columns that say something, with labels: those that differ between lines, and the answer."""
        if not lines:
            return lines
        labels = self._labels()
        there = [name for name in _SHORT if any(line.get(name) is not None for line in lines)]
        kept = [name for name in there if name in _ALWAYS or len({str(line[name]) for line in lines}) > 1]
        return [{name: labels.get(line[name], line[name]) for name in kept} for line in lines]

    def _labels(self):
        """The label of each component, by its spec with all options."""
        columns = next(view["names"].split(", ") for view in self._ask("sql") if view["view"] == "run")
        labelled = [name for name in columns if f"{name}_label" in columns]
        query = " UNION ".join(f"SELECT {name} AS spec, {name}_label AS label FROM run" for name in labelled)
        return {line["spec"]: line["label"] for line in self._ask("sql", f"{query} ORDER BY spec")}

    def _ask(self, command, *words):
        """The program's JSON."""
        return json.loads(self._call(command, *words, "-f", "json") or "[]")

    def _call(self, command, *words):
        """What a command says of the run."""
        return ask(command, str(self.folder), *words, *(f"--plugin={plugin}" for plugin in self.plugins))

    def _frame(self, lines):
        return frame_of(lines, described_columns())


def _unpacked(packed, original, notes, plugins):
    """A Run in a temporary folder of its own, whose experiment reads the heads there."""
    kept = Temporary()
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extraction_filter = getattr(tarfile, "data_filter", None)  # Pythons that know none need none
        files.extractall(kept.name)
    experiment = Path(kept.name, "experiment.yaml")
    if experiment.exists():
        experiment.write_text(experiment.read_text(encoding="utf-8").replace(original, kept.name), encoding="utf-8")
    return Run(kept.name, notes, kept, plugins)


def _options(**named):
    """Options of the program; None is none."""
    words = []
    for name, value in named.items():
        if value is None:
            continue
        if isinstance(value, Mapping):
            words += [word for column, one in value.items() for word in (f"--{name}", f"{column}={_text(one)}")]
        else:
            words.append(f"--{name.replace('_', '-')}={_text(value)}")
    return words


def _text(value):
    """A value of an option; a list, for --where, is one in brackets."""
    if isinstance(value, (list, tuple, range)):
        return f"[{', '.join(map(str, value))}]"
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _html_table(lines):
    """A table that takes its colours from the page around it."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in lines[0])
    body = "".join("<tr>" + "".join(f"<td>{html.escape(_shown(value))}</td>" for value in line.values()) + "</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _shown(value):
    return "-" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)
