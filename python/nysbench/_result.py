# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run has found, its rows among it: every number is the program's, which this module asks."""
from __future__ import annotations

import base64
import contextlib
import functools
import html
import importlib.util
import io
import json
import os
import re
import shutil
import tarfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from ._arguments import ArgumentError, Error, FileError, InternalError, flag, warn
from ._library import names
from ._program import TemporaryFolder, ask

if TYPE_CHECKING:
    import pandas
    Table = Union[pandas.DataFrame, list[dict]]

_FIGURES = ("ratio", "front", "effect", "coherence")  # the first that there is stands under a comparison

# What the columns of `compare` say, but for those that a row of the run has.
_MEANINGS = {
    "method": "what is compared with the baseline", "baseline": "what it is compared with",
    "by": "the column that method and baseline are values of", "metric": "the column whose values are compared",
    "model": "the model that the heads are of, or the generated problem; all: each counts the same",
    "input": "how files of heads are read, where the run reads those of one model in several ways",
    "ratio": "the method's metric over the baseline's: geometric mean over sources",
    "difference": "the method's metric minus the baseline's: mean over sources",
    "low": "lower end of the 95 % interval, or of that of `confidence`, of this line alone, over sources and trials",
    "high": "its upper end",
    "joint_low": "lower end of the interval that holds together with those of the family, which decides",
    "joint_high": "its upper end", "family": "how many intervals and verdicts hold together",
    "verdict": "better, worse, equivalent, undecided, exact, none or refused (nysbench help comparing)",
    "why": "why there is no verdict, or none is sure",
    "heads_differ": "on which heads the method is surely better and surely worse; empty: on none",
    "far_trial": "the trial that is far from the others; empty: none",
    "disturbed": "pairs of times of which other programs or workers disturbed one",
    "sources": "texts, images, recordings or draws of data", "heads": "heads of all sources",
    "pairs": "pairs of rows that have a result each", "trials": "trials that all sources have",
    "t_p": "p of the t test over sources and trials, of this line alone: not corrected for the family, and decides "
           "nothing",
    "wilcoxon_p": "p of Wilcoxon's signed ranks over sources, without the luck of trials, likewise of this line alone",
    "bootstrap_low": "lower end of the bootstrap interval (BCa) over sources", "bootstrap_high": "its upper end",
    "median": "median over sources", "hodges_lehmann": "Hodges and Lehmann's estimate over sources",
    "hodges_lehmann_low": "lower end of its interval", "hodges_lehmann_high": "its upper end",
    "wins": "share of the sources on which the method is better, of those that differ",
    "wins_low": "lower end of its interval", "wins_high": "its upper end",
    "sources_below": "sources with less of the metric than the baseline", "sources_above": "sources with more",
    "sources_equal": "sources with as much", "ties": "pairs that differ by rounding alone",
    "noise": "pairs in which neither is above its rounding, which do not count",
    "exact": "pairs in which the method is exact but for rounding, which do not count",
    "exact_baseline": "pairs in which the baseline is", "missing": "pairs in which the method has no result",
    "missing_baseline": "pairs in which the baseline has none",
    "skipped": "of the missing: those that the method refused", "skipped_baseline": "those that the baseline refused",
    "neither": "pairs in which neither has a result", "infinite": "heads whose ratio is 0 or infinite",
    "icc": "how alike the heads of a source are; 0: not at all",
    "design_effect": "how much larger the variance of the mean is for that",
    "effective": "how many independent heads the heads are worth",
    "sd": "standard deviation over sources, of a ratio on logarithms", "se": "standard error of the mean, likewise",
    "se_trials": "the part of it that is the luck of trials", "df": "degrees of freedom of the interval",
    "wilcoxon_w": "Wilcoxon's statistic", "sign_p": "p of the sign test over sources",
    "more_sources": "about how many more sources would decide; empty: it is decided, or they would not",
}
# Those that are shown unless all are wanted, as many as a notebook shows whole: before the settings and behind them;
# and settings that a whole run has, and no line.
_BEFORE = ("method", "baseline", "metric", "model")
_BEHIND = ("input", "ratio", "difference", "joint_low", "joint_high", "family", "verdict", "why", "heads_differ",
           "disturbed", "sources", "t_p")
_OF_RUN = ("rows", "engine", "precision", "cold", "quality", "quality_rows")


class Run:
    """The results of a run in a folder.

    >>> run = nysbench.run(problems="gaussian(n=24, d=4)", strategies=["uniform", "kmeans"], cores="svd",
    ...                    landmarks=4, trials=8, progress=False)
    >>> len(nysbench.Run(run.folder).compare())
    1

    folder: where they are. notes: what was chosen for the user, in sentences. plugins: shared objects to load; reading
    a folder loads none that it names. programs: whether those that the run's config names, functions among them, may be
    started; of what nysbench.run returns they may, since the run has started them.
    """

    def __init__(self, folder: str | os.PathLike, notes: Sequence[str] = (), kept: Any = None,
                 plugins: Sequence[str | os.PathLike] = (), *, programs: bool = False):
        """folder: of a run, also of one that the program has made. kept: what removes it when nobody has this
        object."""
        self.folder, self.notes, self._kept = Path(folder), list(notes), kept
        self.plugins, self.programs = [os.fspath(plugin) for plugin in plugins], flag("programs", programs)

    def __copy__(self):
        return Run(self.folder, self.notes, self._kept, self.plugins, programs=self.programs)

    def __deepcopy__(self, _):
        return self.__copy__()

    def __reduce__(self):
        """A pickle has the results of a temporary folder with it, and of one that stays the path."""
        if self._kept is None:
            return functools.partial(Run, programs=self.programs), (self.folder, self.notes, None, self.plugins)
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as files:
            files.add(self.folder, arcname=".")
        return _unpacked, (packed.getvalue(), str(self.folder), self.notes, self.plugins, self.programs)

    @property
    def config(self) -> str:
        """The experiment file that repeats the run from the shell: `nysbench run FILE`."""
        own = self.folder / "experiment.yaml"
        return (own if own.exists() else self.folder / "resolved.yaml").read_text(encoding="utf-8")

    @property
    def rows(self) -> Table | dict[str, np.ndarray]:
        """Everything that was measured: a pandas.DataFrame, or without pandas a dict of arrays, as
        nysbench.row_arrays."""
        try:
            return rows(self.folder, plugins=self.plugins)
        except ImportError:
            return row_arrays(self.folder, plugins=self.plugins)

    def compare(self, baseline: str | None = None, *, by: str | None = None, metric: str | None = None,
                where: Mapping[str, Any] | None = None, pool: str | None = None, by_model: bool = False,
                full: bool = False, **choices: Any) -> Table:
        """Each method against a baseline, with 95 % intervals over sources and verdicts: one line for each setting.

        baseline: a name, spec or label; None: the run's; "all": each pair. by: the column that is compared, such as
            "core"; None: the strategy. metric: a column such as "output_error"; None: the study's first. where:
            {column: value}. pool: a column over which is averaged, such as "landmarks".
        by_model: lines of each model too. full: all columns that there are. choices: other options of `nysbench
            compare`, such as confounded="pairing", failures="worst" or margin=1.05.

        The columns are the same whatever the data: method, baseline, metric, model, all settings in which lines may
        differ, the answer, in `why` the reason of a line without a verdict, and in `t_p` the p of the line alone, which
        is not corrected and decides nothing. Returns a DataFrame, whose `attrs` have units and meanings, or a list of
        dicts without pandas.
        """
        options = _options(baseline=baseline, by=by, metric=metric, where=where, pool=pool, **choices)
        lines = self._ask("compare", *options)
        if not flag("by_model", by_model):
            lines = [line for line in lines if line["model"] == "all"]
        frame = frame_of(lines if flag("full", full) else self._short(lines), _meanings(lines))
        measured = lines and "difference" in lines[0] and unit(lines[0]["metric"])
        shown = ("difference", "low", "high", "joint_low", "joint_high", "median")
        if measured and frame is not lines:
            frame.attrs["units"].update({name: measured for name in shown if name in frame})
        return frame

    def tables(self) -> str:
        """Which tables there are, a line each."""
        return self._call("table")

    def table(self, name: str, *, where: Mapping[str, Any] | None = None) -> Table:
        """A table of the program as a DataFrame, or a list of dicts without pandas."""
        return self._frame(self._ask("table", name, *_options(where=where)))

    def sql(self, query: str | None = None) -> Table:
        """What SQL finds in the run; None: the views, with their columns. A DataFrame, or a list of dicts."""
        given = [] if query is None else [f"{query}\n"]  # by its blank the program knows a query
        return self._frame(self._ask("sql", *given))

    def claims(self) -> Table:
        """The claims of the experiment, with intervals and verdicts: a DataFrame, or a list of dicts."""
        return self._frame(self._ask("claims"))

    def report(self, path: str | os.PathLike | None = None) -> Path:
        """Writes a page about the run, FILE.html, with FILE.md beside it; its path."""
        path = self.folder / "report.html" if path is None else Path(path)
        self._call("report", "-o", str(path))
        return path

    def plot(self, kind: str = "ratio", **choices: Any) -> Plot:
        """A figure of the program (nysbench.names("figure")), as a Plot: of Axes where matplotlib is installed and
        knows this kind, else of gnuplot's SVG.

        choices: where={column: value}, strategies and cores (lists of names, specs or labels, with the baseline where
        the figure is of ratios), m; dots="hide" for ratios without a dot for each head; programs=True where a figure
        such as `spectrum` needs a program or a function of the config, and the Run has not said so.
        """
        programs = flag("programs", choices.pop("programs", self.programs))
        lists = {name: ", ".join(map(str, choices.pop(name))) for name in ("strategies", "cores")
                 if isinstance(choices.get(name), (list, tuple))}
        return Plot(self, kind, [*_options(**choices, **lists), *(["--programs"] if programs else [])])

    def to_latex(self, path: str | os.PathLike, table: str | None = None, **choices: Any) -> None:
        """Writes a table for LaTeX (booktabs, siunitx): the comparison, with the arguments of `compare`, or a named
        one."""
        options = _options(**choices)
        text = self._call("compare" if table is None else "table", *([] if table is None else [table]), "-f", "latex",
                   *options)
        Path(path).write_text(text, encoding="utf-8")

    def __repr__(self):
        return "\n".join([self._compared("table").rstrip("\n"), *self.notes])

    def _repr_html_(self):
        """What `print` shows, as HTML, and the figure that belongs to it where it can be drawn."""
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return f"<div>{self._compared('html')}{notes}{self._figure()}</div>"

    def _figure(self):
        for kind in _FIGURES:
            with contextlib.suppress(Error), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of what it does not draw
                return self.plot(kind)._repr_html_()
        return ""

    def _compared(self, form):
        """The comparison of strategies, or of cores where there is one strategy alone; else the first table."""
        for options in ([], ["--by=core"]):
            try:
                if any(line["verdict"] != "exact" for line in self._ask("compare", *options)):
                    return self._call("compare", *options, "-f", form)
            except ArgumentError:  # there is nothing to compare
                continue
        return self._call("table", self._ask("table")[0]["table"], "-f", form)

    def _short(self, lines):
        """The columns that most want, with labels: settings stand behind the model, the pairing among them, which is
        empty where lines have none."""
        labels = self._labels() if lines else {}
        names = list(lines[0]) if lines else []
        settings = [name for name in names if name not in _MEANINGS and name not in _OF_RUN]
        settings += [] if "pairing" in settings else ["pairing"]
        kept = [name for name in [*_BEFORE, *settings, *_BEHIND] if name in names or name in settings]
        return [{name: labels.get(line.get(name), line.get(name)) for name in kept} for line in lines]

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


def _meanings(lines):
    """What the columns of a comparison say: its own, and settings, before which `setting_` stands where a name is
    taken."""
    described = described_columns()
    of_setting = {
        name: described.get(name.removeprefix("setting_"))
        for name in [*(lines[0] if lines else ()), "pairing"]
    }
    return {**{name: meaning for name, meaning in of_setting.items() if meaning}, **_MEANINGS}


def _unpacked(packed, original, notes, plugins, programs):
    """A Run in a temporary folder of its own, whose experiment reads the heads there."""
    kept = TemporaryFolder()
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extraction_filter = getattr(tarfile, "data_filter", None)  # Pythons that know none need none
        files.extractall(kept.name)
    experiment = Path(kept.name, "experiment.yaml")
    if experiment.exists():
        experiment.write_text(experiment.read_text(encoding="utf-8").replace(original, kept.name), encoding="utf-8")
    return Run(kept.name, notes, kept, plugins, programs=programs)


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


def _item(text):
    return f'"{text}"' if "," in text and not set("([\"'") & set(text) else text


def _text(value):
    """A value of an option; a list, for --where, is one in brackets, in which a label with a comma is quoted."""
    if isinstance(value, (list, tuple, range)):
        return f"[{', '.join(_item(str(item)) for item in value)}]"
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def row_arrays(run: str | os.PathLike, *, plugins: Sequence[str | os.PathLike] = ()) -> dict[str, np.ndarray]:
    """The rows of a run's folder: a dict of NumPy arrays by column, in the order of `nysbench export`, which reads
    them.

    >>> run = nysbench.run(problems="gaussian(n=24, d=4)", strategies="kmeans", cores="svd", landmarks=4,
    ...                    trials=2, progress=False)
    >>> nysbench.row_arrays(run.folder)["landmarks"].tolist()
    [4, 4]

    A column of numbers is int64, or float64 if it has fractions or empty cells, which are NaN; a column of texts has
    the dtype object, and empty cells are None. A run without rows has no columns. plugins: shared objects that the run
    was made with.

    Raises FileError with the program's message. The program's warnings become Python warnings.
    """
    return _read(run, plugins)[0]


def rows(run: str | os.PathLike, *, plugins: Sequence[str | os.PathLike] = ()) -> pandas.DataFrame:
    """The rows of a run's folder: a pandas.DataFrame.

    >>> run = nysbench.run(problems="gaussian(n=24, d=4)", strategies="kmeans", cores="svd", landmarks=4,
    ...                    trials=2, progress=False)
    >>> len(nysbench.rows(run.folder).groupby("landmarks")["error"].median())
    1

    Texts are categories, but for `reason`, which is text; numbers are as row_arrays has them. In `attrs`: `run`, the
    folder; `units`, by column ("s", "B", "1/s"), of those that have one; `meanings`, what each column says.

    Raises ImportError without pandas (row_arrays needs NumPy alone), else what row_arrays raises.
    """
    try:
        import pandas
    except ImportError:
        raise ImportError("nysbench.rows needs pandas: pip install pandas; nysbench.row_arrays does not") from None
    columns, described = _read(run, plugins)
    frame = pandas.DataFrame({
        name: pandas.Categorical(column) if column.dtype == object and name != "reason" else column
        for name, column in columns.items()
    })
    frame.attrs = {
        "run": os.fspath(run), **_attributes(columns, {name: meaning
                                                       for name, (_, meaning) in described.items()})
    }
    return frame


def frame_of(lines, meanings):
    """A table of the program, a list of dicts, as a pandas.DataFrame whose attrs have units and meanings; without
    pandas the list. An empty text is None, whatever the version of pandas."""
    try:
        import pandas
    except ImportError:
        return lines
    frame = pandas.DataFrame(lines)
    texts = [name for name in frame if any(isinstance(line[name], str) for line in lines)]
    for name in texts:
        frame[name] = pandas.Series([line[name] for line in lines], dtype=object)
    frame.attrs = _attributes(frame.columns, meanings)
    return frame


def _attributes(columns, meanings):
    return {"units": {name: unit(name) for name in columns if unit(name)},
            "meanings": {name: meanings[name] for name in columns if name in meanings}}


def unit(column):
    """By the end of its name; None: it has none."""
    ends = {"gflops_per_s": "1e9/s", "_per_s": "1/s", "_s": "s", "_bytes": "B"}
    return next((unit for end, unit in ends.items() if column.endswith(end)), None)


def _read(run, plugins):
    """Arrays by column, and what is said of each column; nothing of a run without rows."""
    options = [word for plugin in plugins for word in ("--plugin", os.fspath(plugin))]
    rows = json.loads(ask("export", os.fspath(run), "--format", "json", *options))
    if not rows:
        return {}, {}
    described = _described(list(rows[0]), options)
    return {name: _array([row[name]
                          for row in rows], described[name][0] in ("time", "measure"))
            for name in rows[0]}, described


def _described(columns, options):
    """By column of the study that has these: its kind (identifying, time, measure or none) and its meaning."""
    for study in _studies(*options):
        if [name for name, *_ in study] == columns:
            return {name: (kind, meaning) for name, kind, meaning in study}
    raise InternalError(f"the program describes no study with the columns {', '.join(columns)}")


def _studies(*options):
    """For each study its columns: name, kind and meaning."""
    for study in ask("describe", "--markdown", "columns", *options).split("\n## "):
        found = re.findall(r"^\| `(\w+)` \| (\w*) *[^|]*\| (.*) \|$", study, re.M)
        yield [(name, kind, re.sub(r"\\(.)", r"\1", meaning)) for name, kind, meaning in found]


@functools.lru_cache(maxsize=None)
def described_columns():
    """What each column means, in the first study that has it."""
    return {name: meaning for study in reversed(list(_studies())) for name, _, meaning in study}


def _array(values, numbers):
    """Without one number, a column is of numbers if it is known to be; infinite ones are texts in JSON."""
    texts = [value for value in values if isinstance(value, str)]
    real = numbers or any(isinstance(value, (int, float)) for value in values)
    if not real or any(text not in ("inf", "-inf") for text in texts):
        return np.array(values, dtype=object)
    if all(isinstance(value, int) for value in values):
        return np.array(values, dtype=np.int64)
    return np.array([np.nan if value is None else float(value) for value in values])


class Plot:
    """A figure of a run. axes: matplotlib's Axes, one for each panel, to go on with; empty where the figure is
    gnuplot's, an SVG. figure: matplotlib's Figure, or None."""

    def __init__(self, run, kind, options):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            said = run._call("plot", kind, "--format=svg", *options)
        instead = re.search(r"; drawn as the figure '(\w+)'", " ".join(str(warning.message) for warning in told))
        drawn = re.search(r"figures? in (.*?)(?:, data and scripts only)?$", said, re.M)
        if not drawn:
            raise ArgumentError(f"{kind}: the run has no rows that it draws")
        for warning in told:
            if not str(warning.message).startswith("gnuplot is not installed"):
                warn(str(warning.message))
        folder, self._run = Path(drawn[1]), run  # which may remove its folder when nobody has it
        self._scripts = [path for path in sorted(folder.glob("*.gp")) if _draws(path, instead[1] if instead else kind)]
        self.figure, self.axes = None, []
        try:
            from ._figures import draw
        except ImportError as error:
            if importlib.util.find_spec("matplotlib"):
                warn(f"matplotlib is there but cannot be imported ({error}); the figure is gnuplot's")
            return
        self.figure, self.axes = draw(self._scripts)

    def save(self, path: str | os.PathLike) -> None:
        """Writes the figure; matplotlib's in any of its formats, gnuplot's as .svg."""
        if self.figure is not None:
            self.figure.savefig(path, bbox_inches="tight")
        elif len(self._svgs()) == 1 and Path(path).suffix == ".svg":
            shutil.copyfile(self._svgs()[0], path)
        else:
            there = ", ".join(map(str, self._svgs()))
            raise ArgumentError(f"{path}: matplotlib does not draw this figure, or is not there; there are: {there}")

    def _svgs(self):
        paths = [path.with_suffix(".svg") for path in self._scripts]
        if not all(path.exists() for path in paths):
            raise FileError("a figure needs matplotlib (pip install matplotlib), or gnuplot")
        return paths

    def _repr_html_(self):
        """As images on white, which stay readable on a dark page."""
        if self.figure is not None:
            file = io.BytesIO()
            self.figure.savefig(file, format="png", dpi=110, bbox_inches="tight", facecolor="white")
            images = [("png", file.getvalue())]
        else:
            images = [("svg+xml", path.read_bytes()) for path in self._svgs()]
        return "".join(
            f'<img style="background: white" src="data:image/{kind};base64,{base64.b64encode(data).decode()}">'
            for kind, data in images)


def _draws(path, kind):
    """Whether a script draws a figure of this kind: its name is the kind, and what the figure is of behind it. `ratio`
    begins the name of `ratio_by_core`, too, which is another kind."""
    def is_of(kind):
        return path.stem == kind or path.stem.startswith(kind + "_")
    with open(path, encoding="utf-8") as file:
        ours = file.readline().startswith("# draws ")
    return ours and is_of(kind) and not any(is_of(other) for other in names("figure") if other.startswith(kind + "_"))
