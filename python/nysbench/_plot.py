# SPDX-License-Identifier: GPL-3.0-or-later
"""The program's figures through matplotlib, from the data and scripts that it writes for gnuplot; or gnuplot's own."""
from __future__ import annotations

import base64
import io
import os
import re
import shutil
import warnings
from pathlib import Path

import numpy as np

from ._errors import ArgumentError, FileError

# Of a method by its number, as in plots/looks.gp: it looks alike in all figures.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F6028", "#882255", "#999933", "#5A4FCF"]
MARKS = ["o", "s", "^", "D", "v", "s", "o", "^"]  # the last three are open
DASHES = ["-", (0, (1, 1)), "-.", "--"]

PANEL_IN, LETTER_IN = (3.7, 3.0), 0.08  # width and height of a panel; width of a letter beside it


class Plot:
    """A figure of a run. axes: matplotlib's Axes, one for each panel, to go on with; empty where the figure is gnuplot's,
    an SVG. figure: matplotlib's Figure, or None."""

    def __init__(self, run, kind, options):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "gnuplot is not installed")
            said = run._call("plot", kind, "--format=svg", *options)
        drawn = re.search(r"figures? in (.*?)(?:, data and scripts only)?$", said, re.M)
        if not drawn:
            raise ArgumentError(f"{kind}: the run has no rows that it draws")
        folder, self._run = Path(drawn[1]), run  # which may remove its folder when nobody has it
        self._drivers = [_Driver(path) for path in sorted(folder.glob("*.gp")) if _draws(path, kind)]
        self.figure, self.axes = None, []
        if all(driver.script in _DRAWN_BY for driver in self._drivers):
            self._draw()

    def _draw(self):
        try:
            from matplotlib.figure import Figure
        except ImportError:
            return
        panels = [(driver, panel) for driver in self._drivers for panel in range(driver.count)]
        columns = min(len(panels), 2 if len(panels) < 5 else 3)
        rows = -(-len(panels) // columns)
        beside = max(driver.letters_beside() for driver in self._drivers)
        self.figure = Figure(figsize=(columns * (PANEL_IN[0] + LETTER_IN * beside), rows * PANEL_IN[1] + 0.8), layout="constrained")
        grid = self.figure.subplots(rows, columns, squeeze=False).ravel()
        for axes in grid[len(panels):]:
            axes.remove()
        self.axes = list(grid[: len(panels)])
        for axes, (driver, panel) in zip(self.axes, panels):
            _DRAWN_BY[driver.script](axes, driver, panel)
            titles = [driver.panels[panel]] if driver.count == len(driver.panels) else []
            axes.set_title("\n".join(titles + ([driver.of] if len(self._drivers) > 1 or not titles else [])), fontsize=9)
            if "x_name" in driver.texts:
                axes.set_xlabel(driver.texts["x_name"])
            axes.set_ylabel(driver.texts.get("y_name", ""))
            axes.grid(True, color="#dddddd", linewidth=0.5)
            axes.spines[["top", "right"]].set_visible(False)
        named = {label: line for axes in self.axes for line, label in zip(*axes.get_legend_handles_labels())}
        self.figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=min(3, len(named)), fontsize=8,
                           frameon=False)

    def save(self, path: str | os.PathLike) -> None:
        """Writes the figure; matplotlib's in any of its formats, gnuplot's as .svg."""
        if self.figure is not None:
            self.figure.savefig(path, bbox_inches="tight")
        elif len(self._svgs()) == 1 and Path(path).suffix == ".svg":
            shutil.copyfile(self._svgs()[0], path)
        else:
            there = ", ".join(map(str, self._svgs()))
            raise ArgumentError(f"{path}: without matplotlib, or where it does not draw this figure, there are: {there}")

    def _svgs(self):
        paths = [driver.path.with_suffix(".svg") for driver in self._drivers]
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
        return "".join(f'<img style="background: white" src="data:image/{kind};base64,{base64.b64encode(data).decode()}">'
                       for kind, data in images)


def _draws(path, kind):
    """Whether a script draws a figure of this kind: its name is the kind, and what the figure is of behind it."""
    with open(path, encoding="utf-8") as file:
        return (path.stem == kind or path.stem.startswith(kind + "_")) and file.readline().startswith("# draws ")


class _Driver:
    """A script that the program writes for a figure: texts, lists and the name of the script that draws; and its data."""

    def __init__(self, path):
        self.path, source = path, path.read_text(encoding="utf-8")
        self.script = re.search(r'^load "(.*)"$', source, re.M)[1]
        self.texts = {name: text.replace("''", "'") for name, text in re.findall(r"^(\w+) = '(.*)'$", source, re.M)}
        self.numbers = {name: float(text) for name, text in re.findall(r"^(\w+) = (-?[\d.]+)$", source, re.M)}
        lists = dict(re.findall(r"^array (\w+)\[\d+\] = \[(.*)\]$", source, re.M))
        self.panels, self.series, self.styles = (_texts(lists.get(name, "")) for name in ("panels", "series", "styles"))
        self.looks, self.block = (list(map(int, filter(None, lists.get(name, "").split(", ")))) for name in ("looks", "block"))
        self.count = 1 if self.script == "forest.gp" else len(self.panels)  # of Axes
        self.of = self.texts.get("title", "").partition(": ")[2]

    def data(self):
        """The blocks of its data, each an array of rows."""
        blocks = re.split(r"\n\n\n+", self.path.with_suffix(".dat").read_text(encoding="utf-8"))
        rows = [[line.split(",") for line in block.splitlines() if line and line[0] != "#"] for block in blocks]
        return [np.array([[float(cell) if cell else np.nan for cell in row] for row in block], float) for block in rows if block]

    def letters_beside(self):
        """Of the longest name that stands beside a panel."""
        return 0 if self.script in ("ratio.gp", "curves.gp") else max(map(len, self.series)) + 10

    def look(self, series):
        """Of matplotlib's lines."""
        number = self.looks[series]
        place, lap = max(0, number - 1), max(0, number - 1) // len(COLOURS)
        mark = (place + lap) % len(MARKS)
        colour = COLOURS[place % len(COLOURS)] if number > 0 else "black"
        return {"color": colour, "marker": MARKS[mark], "linestyle": DASHES[(place + lap) % len(DASHES)], "markersize": 4,
                "linewidth": 1.4, "markerfacecolor": "white" if mark > 4 else colour}


def _texts(array):
    return [text.replace("''", "'") for text in re.findall(r"'((?:[^']|'')*)'", array)]


def _ticks(axes, values):
    """Numbers at the values of x, on the scale that keeps the closest two further apart."""
    values = np.unique(values)
    if len(values) > 1 and values[0] > 0:
        near = np.diff(values).min() / np.ptp(values), np.diff(np.log(values)).min() / np.ptp(np.log(values))
        if near[1] > near[0]:
            axes.set_xscale("log", base=2)
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.minorticks_off()


def _draw_ratio(axes, driver, panel):
    """Columns: panel, series, whether of a head, x, ratio, low, high."""
    data = np.vstack(driver.data())
    data = data[data[:, 0] == panel + 1]
    axes.axhline(1, color="black", linewidth=1.2, label=f"1: {driver.texts['baseline']}")
    axes.set_yscale("log")
    _ticks(axes, data[:, 3])
    for series, name in enumerate(driver.series):
        rows = data[(data[:, 1] == series + 1) & (data[:, 2] == 0)]
        if len(rows):
            _curve(axes, rows[:, 3], rows[:, 4], rows[:, 5], rows[:, 6], label=name, **driver.look(series))
    _plain_numbers(axes.yaxis, *axes.get_ylim())


def _curve(axes, x, y, low, high, **look):
    bars = [np.maximum(0, y - low), np.maximum(0, high - y)]
    axes.errorbar(x, y, bars if np.any(bars) else None, capsize=2, elinewidth=0.9, **look)


def _draw_curves(axes, driver, panel):
    """Columns of a block, which is of a panel and a series: count, x, y, low, high."""
    blocks = driver.data()
    scale = driver.numbers.get("x_scale", 0)
    if scale > 0:
        axes.set_xscale("log", base=scale)
    axes.set_yscale("log")
    shown = {}
    for series in range(len(driver.series)):
        block = driver.block[panel * len(driver.series) + series]
        if block >= 0:
            shown[series] = blocks[block]
    if driver.numbers.get("ticks") and shown:
        _ticks(axes, np.concatenate([rows[:, 1] for series, rows in shown.items() if driver.styles[series] in ("curve", "dashed")]))
    for series, rows in shown.items():
        _draw_series(axes, driver, series, rows)
    if driver.numbers.get("level"):
        axes.axhline(1, color="black", linewidth=1.2, label=driver.texts.get("level_text"))
    _plain_numbers(axes.yaxis, *axes.get_ylim())


def _draw_series(axes, driver, series, rows):
    style, look, name = driver.styles[series], driver.look(series), driver.series[series]
    x, y = rows[:, 1], rows[:, 2]
    if style in ("curve", "dashed"):
        if style == "dashed":
            look["linestyle"] = "--"
        _curve(axes, x, y, rows[:, 3], rows[:, 4], label=name, **look)
    elif style == "level":
        axes.axhline(y[0], color=look["color"], linestyle="--", linewidth=1.4, label=name)
    elif style == "upright":
        axes.axvline(x[0], color=look["color"], linestyle="--", linewidth=1.4, label=name)
    elif style in ("line", "faint"):
        axes.plot(x, y, color="#777777" if style == "faint" else "black", linestyle=":" if style == "faint" else "--", label=name)
    elif style == "shadow":
        axes.plot(x, y, color=look["color"], linestyle="--", linewidth=1.4)
    else:
        axes.plot(x, y, **{**look, "linestyle": "none"}, label=name)


def _plain_numbers(axis, low, high):
    """0.5 and not 5 x 10^-1, where the axis spans little."""
    from matplotlib.ticker import FuncFormatter, LogLocator
    if high < 300 * low:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high > 8 * low else (1, 1.2, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(FuncFormatter(lambda *_: ""))


def _draw_forest(axes, driver, _):
    """Columns: panel, of which the first is all, line from below, ratio, that of the subspace part or 0, whether the baseline
    has the same pairing."""
    data = np.vstack(driver.data())
    for panel, name in enumerate(driver.panels):
        rows = data[data[:, 0] == panel + 1]
        look = {"color": COLOURS[0], "markersize": 7, "zorder": 3} if panel == 0 else \
            {"color": "#808080", "markerfacecolor": "none", "markersize": 5}
        axes.plot(rows[:, 2], rows[:, 1], linestyle="none", marker=MARKS[panel % 5] if panel else "o",
                  label="median over all" if panel == 0 else name, **look)
    parts = data[data[:, 3] > 0]
    if len(parts):
        axes.plot(parts[:, 3], parts[:, 1], "^", color=COLOURS[1], label="subspace part, median over all")
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks(range(1, len(driver.series) + 1), driver.series)
    _plain_numbers(axes.xaxis, *axes.get_xlim())


def _blocks_of(driver, panel):
    """Pairs of the number of a series and its rows in a panel."""
    blocks, count = driver.data(), len(driver.series)
    for series in range(count):
        block = driver.block[panel * count + series]
        if block >= 0:
            yield series, blocks[block]


def _draw_ranks(axes, driver, panel):
    """Columns of a method: its mean rank, two that place it in gnuplot's figure, the end of the bar that begins there and its
    layer (-1: there is none), how many methods there are, the critical difference (0: no test). Methods that a bar joins
    differ by less than that."""
    methods = sorted(_blocks_of(driver, panel), key=lambda pair: pair[1][0, 0])
    for place, (series, rows) in enumerate(methods):
        rank, _, _, to, layer = rows[0, :5]
        axes.plot(rank, place, **{**driver.look(series), "linestyle": "none", "markersize": 6})
        if layer >= 0:
            axes.plot([rank, to], [-0.7 - 0.35 * layer] * 2, color="black", linewidth=3, solid_capstyle="butt")
    axes.set_yticks(range(len(methods)), [driver.series[series] for series, _ in methods])
    axes.invert_yaxis()
    critical = methods[0][1][0, 6]
    if critical > 0:
        axes.set_xlabel(f"mean rank; critical difference {critical:.2g}")


def _draw_bars(axes, driver, panel):
    """Columns of a bar: its part, where that begins and ends in %, the milliseconds of all."""
    parts = ["landmarks", "core A, X", "keys B V", "queries F", "output", "rest"]
    hues = [4, 2, 3, 1, 6, 7]  # of plots/bars.gp
    bars = list(_blocks_of(driver, panel))
    for place, (_, rows) in enumerate(bars):
        for part, begin, end, _ in rows[:, :4]:
            axes.barh(place, end - begin, left=begin, color=COLOURS[hues[int(part) - 1] - 1], label=parts[int(part) - 1])
    axes.set_yticks(range(len(bars)), [f"{driver.series[series]}, {rows[0, 3]:.3g} ms" for series, rows in bars])
    axes.invert_yaxis()


_DRAWN_BY = {"ratio.gp": _draw_ratio, "curves.gp": _draw_curves, "forest.gp": _draw_forest, "ranks.gp": _draw_ranks,
             "bars.gp": _draw_bars}
