# SPDX-License-Identifier: GPL-3.0-or-later
"""The program's figures through matplotlib, from the data and scripts that it writes for gnuplot; or gnuplot's own.

The program writes for a figure NAME.gp, the script for gnuplot, with the texts, panels and series; NAME.dat, the data;
and, for all figures of a folder, looks.gp and style.gp. What a figure says and how its series look is decided there,
once, for gnuplot and for matplotlib."""
from __future__ import annotations

import base64
import importlib.util
import io
import os
import re
import shutil
import warnings
from pathlib import Path

import numpy as np

from ._arguments import ArgumentError, FileError, warn
from ._library import names


class Plot:
    """A figure of a run. axes: matplotlib's Axes, one for each panel, to go on with; empty where the figure is
    gnuplot's, an SVG. figure: matplotlib's Figure, or None."""

    def __init__(self, run, kind, options):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            said = run._call("plot", kind, "--format=svg", *options)
        for warning in told:
            if not str(warning.message).startswith("gnuplot is not installed"):
                warn(str(warning.message))
        instead = re.search(r"; drawn as the figure '(\w+)'", " ".join(str(warning.message) for warning in told))
        drawn = re.search(r"figures? in (.*?)(?:, data and scripts only)?$", said, re.M)
        if not drawn:
            raise ArgumentError(f"{kind}: the run has no rows that it draws")
        folder, self._run = Path(drawn[1]), run  # which may remove its folder when nobody has it
        self._scripts = [path for path in sorted(folder.glob("*.gp")) if _draws(path, instead[1] if instead else kind)]
        self.figure, self.axes = None, []
        try:
            from ._drawing import draw
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


# gnuplot's numbers of points and dashes, as matplotlib has them. An open point has the number before the filled one.
_MARKS = {4: "s", 6: "o", 8: "^", 10: "v", 12: "D"}
_DASHES = {1: "-", 2: (0, (4, 2)), 3: (0, (1, 1.5)), 4: (0, (5, 1.5, 1, 1.5)), 5: (0, (5, 1.5, 1, 1.5, 1, 1.5))}


def mark(point: int) -> dict:
    """A point, without its colour, as keywords of matplotlib's lines; open ones are white inside."""
    return {"marker": _MARKS[point - point % 2], **({} if point % 2 else {"markerfacecolor": "white"})}


def dash(number: int):
    return _DASHES[number]


class Looks:
    """Colours, points and dashes of looks.gp, by a series' number, as the functions there have them."""

    def __init__(self, source: str):
        self.colours = _texts(_lists(source)["colours"])
        self._symbols, self._dashes = (list(map(int,
                                                _lists(source)[name].split(", "))) for name in ("symbols", "dashes"))

    def colour(self, number: int) -> str:
        return self.colours[(number - 1) % 1000 % len(self.colours)] if number > 0 else "#000000"

    def symbol(self, number: int) -> int:
        own, way = _own_and_way(number)
        symbol = self._symbols[own % len(self._symbols)]
        return symbol if way % 2 == 0 else symbol - 1 if symbol % 2 else symbol + 1

    def dash(self, number: int) -> int:
        own, way = _own_and_way(number)
        return 2 if way in (1, 2) else self._dashes[own % len(self._dashes)]


def _own_and_way(number):
    return (number - 1) % 1000 if number > 0 else 0, max(0, number - 1) // 1000


class FigureScript:
    """A script for gnuplot. texts, numbers: of its variables, by name. panels, series, styles, looks, block: as in
    src/show/figure.h. aside: by how much of the axis each series is shifted. values: of x, where the axis has its
    numbers at these; else empty."""

    def __init__(self, path):
        self.path, source = path, path.read_text(encoding="utf-8")
        self.drawn_by = re.search(r'^load "(.*)"$', source, re.M)[1]
        self.texts = {name: _text(text) for name, text in re.findall(r"^(\w+) = (.*')$", source, re.M)}
        self.numbers = {name: float(text) for name, text in re.findall(r"^(\w+) = (-?[\d.]+)$", source, re.M)}
        lists = _lists(source)
        self.panels, self.series, self.styles, self.gap, self.select = (
            _texts(lists.get(name, "")) for name in ("panels", "series", "styles", "gap", "select"))
        self._looks, self._block, oracle, self.values, self._aside = (
            [float(item) for item in lists.get(name, "").split(", ") if item]
            for name in ("looks", "block", "oracle", "values", "aside"))
        self.oracle = oracle or [0] * len(self.series)
        self.looks = Looks((path.parent / "looks.gp").read_text(encoding="utf-8"))
        style = (path.parent / "style.gp").read_text(encoding="utf-8")
        self.dots = re.search(r"^dots = 0\b", style, re.M) is None
        self.blocks = self._read_blocks()

    def text(self, name: str) -> str:
        return self.texts.get(name, "")

    def _read_blocks(self):
        """The blocks of its data, each an array of rows."""
        text = self.path.with_suffix(".dat").read_text(encoding="utf-8")
        blocks = [[[float(cell or "nan")
                    for cell in line.split(",")]
                   for line in block.splitlines()
                   if line and line[0] != "#"]
                  for block in re.split(r"\n\n\n+", text)]
        return [np.array(rows) for rows in blocks if rows]

    def own_list(self, name: str) -> list[str]:
        """A list of the script that draws."""
        text = _lists((self.path.parent / self.drawn_by).read_text(encoding="utf-8"))[name]
        return _texts(text) or text.split(", ")

    def rows(self) -> np.ndarray:
        return np.vstack(self.blocks)

    def of_panel(self, panel: int) -> dict[int, np.ndarray]:
        """The rows of each series that a panel has."""
        blocks = [int(block) for block in self._block[panel * len(self.series):][:len(self.series)]]
        return {series: self.blocks[block] for series, block in enumerate(blocks) if block >= 0}

    def colour(self, series: int) -> str:
        return self.looks.colour(int(self._looks[series]))

    def point(self, series: int) -> dict:
        """The point of a series, of matplotlib's lines."""
        return {"color": self.colour(series), **mark(self.looks.symbol(int(self._looks[series])))}

    def dash(self, series: int):
        return dash(self.looks.dash(int(self._looks[series])))

    def is_black(self, series: int) -> bool:
        return self._looks[series] < 1

    def shifted(self, x: np.ndarray, series: int) -> np.ndarray:
        """Where the x of a series are drawn."""
        if not self.values or not self._aside[series]:
            return x
        aside, first, last = self._aside[series], self.values[0], self.values[-1]
        if len(self.values) == 1:
            return x * (1 + aside)
        return x * (last / first) ** aside if self.numbers["log_x"] else x + aside * (last - first)

    @property
    def room_aside(self) -> float:
        """The share of the axis that shifts take at either end."""
        return max(self._aside, default=0)


def _lists(source):
    return dict(re.findall(r"^array (\w+)\[\d+\] = \[(.*)\]$", source, re.M))


def _text(source):
    """A string of gnuplot: of quotes at its beginning, each \\047, and the rest between single quotes."""
    quotes, rest = re.match(r"""(?:"((?:\\047)*)"\.)?'((?:[^']|'')*)'$""", source).groups()
    return "'" * (len(quotes or "") // 4) + rest.replace("''", "'")


def _texts(array):
    items = re.findall(r"""(?:"(?:\\047)*"\.)?'(?:[^']|'')*'|"[^"]*\"""", array)
    return [item[1:-1] if item[0] == '"' and item[-1] == '"' else _text(item) for item in items]
