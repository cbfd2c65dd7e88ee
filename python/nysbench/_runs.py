# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of a run, as columns."""
from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ._errors import InternalError
from ._program import ask

if TYPE_CHECKING:
    import pandas


def row_arrays(run: str | os.PathLike, *, plugins: Sequence[str | os.PathLike] = ()) -> dict[str, np.ndarray]:
    """The rows of a run's folder: a dict of NumPy arrays by column, in the order of `nysbench export`, which reads them.

    >>> run = nysbench.run(problems="gaussian(n=24, d=4)", strategies="kmeans", cores="svd", landmarks=4, trials=2, progress=False)
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

    >>> run = nysbench.run(problems="gaussian(n=24, d=4)", strategies="kmeans", cores="svd", landmarks=4, trials=2, progress=False)
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
    frame = pandas.DataFrame({name: pandas.Categorical(column) if column.dtype == object and name != "reason" else column
                              for name, column in columns.items()})
    frame.attrs = {"run": os.fspath(run), **_attributes(columns, {name: meaning for name, (_, meaning) in described.items()})}
    return frame


def frame_of(lines, meanings):
    """A table of the program, a list of dicts, as a pandas.DataFrame whose attrs have units and meanings; without pandas
    the list."""
    try:
        import pandas
    except ImportError:
        return lines
    frame = pandas.DataFrame(lines)
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
    return {name: _array([row[name] for row in rows], described[name][0] in ("time", "measure")) for name in rows[0]}, described


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
