# SPDX-License-Identifier: GPL-3.0-or-later
"""The program's figures through matplotlib: what its scripts for gnuplot say, drawn.

The program writes for a figure NAME.gp, the script for gnuplot, with the texts, panels and series; NAME.dat, the data;
and, for all figures of a folder, looks.gp and style.gp. What a figure says and how its series look is decided there,
once, for gnuplot and for matplotlib. A script is a picture: a heading, a grid of panels, and a legend that explains
each look. Pictures stand one below the other.

1. The panels are drawn, each of a fixed size, somewhere on a large page.
2. What stands beside them is measured: numbers, names and titles; numbers that would touch are left out.
3. The page gets its size, and everything its place."""
from __future__ import annotations

import math
import re
import textwrap

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

SMALL, NORMAL, LARGE = 8, 9, 10  # letters, in points
GAP_IN, LINE_IN = 0.15, 0.24  # between what stands beside each other; of a line of a forest and the like
LETTERS_BESIDE = 48  # of a name on the left, in each line
PAGE_IN = 7.2  # the least room for a heading and a legend
EXPLAINED = "#555555"  # in a legend, for what there is in the colour of each series
STEPS = [(1, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9),
         (1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6, 7, 8, 9), (1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1,)]

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
        self._symbols, self._dashes = (list(map(int, _lists(source)[name].split(", ")))
                                       for name in ("symbols", "dashes"))

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


def draw(paths):
    """A figure of the scripts, and the axes of its panels; None and no axes, where gnuplot alone can draw them."""
    scripts = [FigureScript(path) for path in paths]
    if any(script.drawn_by not in _DRAWN_BY for script in scripts):
        return None, []
    figure = Figure(figsize=(40, 40))
    FigureCanvasAgg(figure)
    pictures = [_Picture(figure, script) for script in scripts]
    width = max(PAGE_IN, *(picture.measure() for picture in pictures))
    for picture in pictures:
        picture.add_texts(width)
    height = sum(picture.height for picture in pictures)
    figure.set_size_inches(width, height)
    top = height
    for picture in pictures:
        picture.place(width, height, top)
        top -= picture.height
    return figure, [axes for picture in pictures for axes in picture.axes]


class _Picture:
    def __init__(self, figure, script):
        self.figure, self.script = figure, script
        self.drawing = _DRAWN_BY[script.drawn_by](script)
        count = self.drawing.count
        self.columns = min(count, self.drawing.columns)
        self.rows = -(-count // self.columns)
        self.axes = []
        for panel in range(count):
            axes = figure.add_axes([0.1, 0.1, *self._share(self.drawing.size(panel))],
                                   label=f"{script.path.stem} {panel}")
            axes.tick_params(labelsize=SMALL)
            axes.minorticks_off()
            axes.grid(True, color="#dddddd", linewidth=0.5)
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)
            self.axes.append(axes)
        self.drawing.draw(self.axes)
        for panel, axes in enumerate(self.axes):
            self._name(panel, axes)

    def _share(self, size):
        return size[0] / self.figure.get_figwidth(), size[1] / self.figure.get_figheight()

    def _name(self, panel, axes):
        """Its title; the names of x below the last of a column, and of y beside the first of a row."""
        width, height = self.drawing.size(panel)
        if self.drawing.titles:
            axes.set_title(self._wrapped(self.drawing.titles[panel], SMALL, width + 0.1), fontsize=SMALL,
                           pad=self.drawing.title_pad)
        if panel + self.columns >= len(self.axes):
            axes.set_xlabel(self._wrapped(self.drawing.x_name, NORMAL, width), fontsize=NORMAL)
        if panel % self.columns == 0:
            axes.set_ylabel(self._wrapped(self.script.text("y_name"), NORMAL, height + 0.3), fontsize=NORMAL)

    def _wrapped(self, text, size, inches):
        """A text in lines that are no longer than that; "d = 64" stays together."""
        text = text.replace(" = ", "\u00a0=\u00a0")
        whole = self._inches(Text(0, 0, text, fontsize=size))[0]
        for letters in range(len(text) if whole <= inches else int(1.2 * len(text) * inches / whole), 8, -1):
            wrapped = "\n".join(textwrap.wrap(text, letters))
            if whole <= inches or self._inches(Text(0, 0, wrapped, fontsize=size))[0] <= inches:
                return wrapped
        return text

    def _inches(self, artist):
        """The width and height of a text or a legend."""
        if isinstance(artist, Text):
            artist.set_figure(self.figure)
        box = artist.get_window_extent(self.figure.canvas.get_renderer())
        return box.width / self.figure.dpi, box.height / self.figure.dpi

    def measure(self):
        """What the panels and their names take; returns the width."""
        renderer, dpi = self.figure.canvas.get_renderer(), self.figure.dpi
        self.left, self.right = [0.0] * self.columns, [0.0] * self.columns
        self.above, self.below, self.panel_height = [0.0] * self.rows, [0.0] * self.rows, [0.0] * self.rows
        for panel, axes in enumerate(self.axes):
            row, column = divmod(panel, self.columns)
            axes.get_tightbbox(renderer)  # places the numbers
            _thin_out(axes.xaxis, renderer, "x")
            if not self.drawing.names_beside:
                _thin_out(axes.yaxis, renderer, "y")
            inner, outer = axes.bbox, axes.get_tightbbox(renderer)
            self.left[column] = max(self.left[column], (inner.x0 - outer.x0) / dpi)
            self.right[column] = max(self.right[column], (outer.x1 - inner.x1) / dpi + GAP_IN)
            self.below[row] = max(self.below[row], (inner.y0 - outer.y0) / dpi)
            self.above[row] = max(self.above[row], (outer.y1 - inner.y1) / dpi + GAP_IN)
            self.panel_height[row] = max(self.panel_height[row], self.drawing.size(panel)[1])
        self.panel_width = max(self.drawing.size(panel)[0] for panel in range(len(self.axes)))
        self.width = sum(self.left) + sum(self.right) + self.columns * self.panel_width + GAP_IN
        return self.width

    def add_texts(self, width):
        """The heading and the legend, on a page of that width."""
        self.heading = self.figure.text(0, 0, self._wrapped(self.script.text("title"), LARGE, width - 2 * GAP_IN),
                                        fontsize=LARGE, ha="center", va="top")
        self.heading_height = self._inches(self.heading)[1]
        texts = [self._wrapped(text, SMALL, width - 0.8) for text, _ in self.drawing.legend]
        handles = [handle for _, handle in self.drawing.legend]
        self.legend, legend_height = None, 0
        for columns in range(min(4, len(handles)), 0, -1):
            self.legend = self.figure.legend(handles, texts, loc="upper center", ncol=columns, fontsize=SMALL,
                                             frameon=False, borderaxespad=0, columnspacing=1.5)
            legend_width, legend_height = self._inches(self.legend)
            if legend_width <= width or columns == 1:
                break
            self.legend.remove()
        panels = sum(self.above) + sum(self.panel_height) + sum(self.below)
        self.height = GAP_IN + self.heading_height + panels + GAP_IN + legend_height + GAP_IN

    def place(self, page_width, page_height, top):
        """On a page of that size, from `top` down."""
        self.heading.set_position((0.5, (top - GAP_IN) / page_height))
        y = top - GAP_IN - self.heading_height
        for row in range(self.rows):
            y -= self.above[row]
            x = (page_width - self.width) / 2 + GAP_IN
            for column, axes in enumerate(self.axes[row * self.columns:][:self.columns]):
                x += self.left[column]
                width, height = self.drawing.size(row * self.columns + column)
                axes.set_position(
                    [x / page_width, (y - height) / page_height, width / page_width, height / page_height])
                x += self.panel_width + self.right[column]
            y -= self.panel_height[row] + self.below[row]
        if self.legend:
            self.legend.set_bbox_to_anchor((0.5, (y - GAP_IN) / page_height), self.figure.transFigure)


def _thin_out(axis, renderer, way):
    """Leaves out the numbers that would touch the one before."""
    labels, end = axis.get_ticklabels(), -math.inf
    texts = [label.get_text() for label in labels]
    for i, label in enumerate(labels):
        box = label.get_window_extent(renderer)
        low, high = (box.x0, box.x1) if way == "x" else (box.y0, box.y1)
        if texts[i] and low < end + (4 if way == "x" else 0):
            texts[i] = ""
        elif texts[i]:
            end = high
    if texts != [label.get_text() for label in labels]:
        axis.set_ticks(axis.get_majorticklocs(), texts)


def _set_numbers(axis, low, high, log):
    """Between two and about eight numbers from low to high, on a scale that is logarithmic or not."""
    decades = math.log10(high / low) if log else 0
    if decades > 2.5:
        unit = math.ceil(decades / 7)
        powers = [power for power in range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
                  if power % unit == 0]
        plain = low >= 1e-3 and high <= 1e4
        axis.set_ticks([10.0 ** power for power in powers],
                       [f"{10.0 ** power:g}" if plain else f"$10^{{{power}}}$" for power in powers])
        return
    for steps in STEPS if log else []:
        numbers = [step * 10.0 ** power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
                   for step in steps if low <= step * 10.0 ** power <= high]
        if 2 <= len(numbers) <= 8:
            break
    else:
        numbers = [
            number for number in MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(low, high) if low <= number <= high
        ]
    axis.set_ticks(numbers, [f"{number:.6g}" for number in numbers])


def _set_powers_of_two(axis, low, high):
    first, last = math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9)
    if last <= first:
        return _set_numbers(axis, low, high, True)
    numbers = [2.0 ** power for power in range(first, last + 1, math.ceil((last - first + 1) / 8))]
    axis.set_ticks(numbers, [f"{number:g}" for number in numbers])


def _set_values(axis, script):
    """An axis with its numbers at the values of x."""
    values = script.values
    room = 0.04 + script.room_aside
    if len(values) == 1:
        axis.axes.set_xlim(0.5 * values[0], 1.5 * values[0])
    elif script.numbers["log_x"]:
        axis.axes.set_xscale("log", base=2)
        axis.axes.set_xlim(values[0] / (values[-1] / values[0]) ** room, values[-1] * (values[-1] / values[0]) ** room)
    else:
        axis.axes.set_xlim(values[0] - room * (values[-1] - values[0]), values[-1] + room * (values[-1] - values[0]))
    axis.set_ticks(values, [f"{value:g}" for value in values])
    axis.axes.minorticks_off()


def _widened(low, high):
    """The ends of a logarithmic axis, a little further apart."""
    t = max(1.02, (high / low) ** 0.04)
    return low / t, high * t


def _set_log_y(axes, low, high):
    low, high = _widened(low, high)
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    axes.minorticks_off()
    _set_numbers(axes.yaxis, low, high, True)


def _bar_handle(color=EXPLAINED):
    return Line2D([], [], color=color, linestyle="none", marker="|", markersize=11)


class _Curves:
    """curves.gp; columns of a block: count, x, y, low, high."""
    names_beside, title_pad = False, 4

    def __init__(self, script):
        self.script, self.titles, self.x_name, self.count = script, script.panels, script.text("x_name"), len(
            script.panels)
        wanted = int(script.numbers.get("columns_wanted", 0))
        self.columns = wanted or (1 if self.count == 1 else 2 if self.count < 5 else 3)
        self.legend = []

    def size(self, _):
        return {1: (4.6, 3.0), 2: (3.1, 2.2)}.get(self.columns, (2.5, 1.9))

    def draw(self, axes):
        shown = [self.script.of_panel(panel) for panel in range(self.count)]
        self._find_x(shown)
        for panel, of in enumerate(shown):
            self._draw_panel(axes[panel], of)
        self._explain({series for of in shown for series in of}, any(
            self._is_curve(series) and np.any(rows[:, 4] > rows[:, 3]) for of in shown for series, rows in of.items()))

    def _is_curve(self, series):
        return self.script.styles[series] in ("curve", "dashed")

    def _find_x(self, shown):
        """What x reaches in all panels."""
        x = np.concatenate(
            [rows[:, 1] for of in shown for series, rows in of.items() if self.script.styles[series] != "level"]
            or [[1.0]])
        x = x[x > 0]
        self.x = [min(x, default=1.0), max(x, default=1.0)]
        if self.script.text("upright"):
            self.x = [min(1, self.x[0]), max(1, self.x[1])]
        self.scale = self.script.numbers.get("x_scale", 0)
        if self.x[1] < (4 if self.scale else 1.02) * self.x[0]:
            t = math.sqrt((4 if self.scale else 1.02) * self.x[0] / self.x[1])
            self.x = [self.x[0] / t, self.x[1] * t]

    def _draw_panel(self, axes, of):
        ys = [
            rows[:, 2:5] if self._is_curve(series) else rows[:, 2:3]
            for series, rows in of.items()
            if self.script.styles[series] != "upright"
        ]
        y = np.concatenate([values.ravel() for values in ys] or [[]])
        y = y[y > 0]
        if not len(y):
            axes.set_xticks([])
            axes.set_yticks([])
            axes.text(0.5, 0.5, "no data", ha="center", va="center", transform=axes.transAxes, color="#777777",
                      fontsize=SMALL)
            return
        low, high = y.min(), y.max()
        if self.script.text("level_text"):
            low, high = min(1, low), max(1, high)
        self._set_x(axes)
        _set_log_y(axes, low, high)
        if self.script.numbers.get("powers"):
            self._draw_powers(axes, low, high)
        if self.script.text("level_text"):
            axes.axhline(1, **_BLACK)
        if self.script.text("upright"):
            axes.axvline(1, **_BLACK)
        for series, rows in of.items():
            self._draw_series(axes, series, rows)

    def _set_x(self, axes):
        if self.script.values:
            _set_values(axes.xaxis, self.script)
            return
        low, high = self.x
        if self.scale:
            room = (high / low) ** 0.03
            axes.set_xscale("log", base=self.scale)
            axes.set_xlim(low / room, high * room)
            axes.minorticks_off()
            if self.scale == 2:
                _set_powers_of_two(axes.xaxis, low / room, high * room)
            else:
                _set_numbers(axes.xaxis, low / room, high * room, True)
        else:
            axes.set_xlim(low - 0.03 * (high - low), high + 0.03 * (high - low))
            _set_numbers(axes.xaxis, *axes.get_xlim(), False)

    def _draw_powers(self, axes, low, high):
        y = low * (high / low) ** 0.12
        for power in (1, 2):
            axes.plot(self.x, [y * (x / self.x[0]) ** power for x in self.x], **_power_look(power))

    def _draw_series(self, axes, series, rows):
        style, x, y, name = self.script.styles[series], rows[:, 1], rows[:, 2], self.script.series[series]
        look = self._look(series)
        if self._is_curve(series):
            bars = np.array([y - rows[:, 3], rows[:, 4] - y]).clip(0) if self.script.text("bar_text") else None
            axes.errorbar(self.script.shifted(x, series), y, bars if bars is not None and bars.any() else None,
                          capsize=2, elinewidth=0.9, label=name, **look)
            if self.script.text("end_text") and len(x) > 1:
                axes.plot(x[-1:], y[-1:], **{**look, "linestyle": "none", "markersize": 7})
        elif style == "level" or (style in ("line", "faint") and len(self.script.values) == 1):
            axes.axhline(y[0], label=name, **look)
        elif style == "upright":
            axes.axvline(x[0], label=name, **look)
        else:
            axes.plot(x, y, label=name, **look)

    def _look(self, series):
        """Of matplotlib's lines."""
        style, colour = self.script.styles[series], self.script.colour(series)
        if self._is_curve(series):
            return {
                **self.script.point(series), "linestyle": dash(2) if style == "dashed" else self.script.dash(series),
                "markersize": 4, "linewidth": 1.4
            }
        if style == "level":
            return {"color": colour, "linestyle": dash(3 if self.script.is_black(series) else 2), "linewidth": 1.4}
        if style == "upright":
            return {"color": colour, "linestyle": self.script.dash(series), "linewidth": 1.4}
        if style in ("line", "faint"):
            return {
                "color": "#777777" if style == "faint" else colour, "linestyle": dash(3 if style == "faint" else 2),
                "linewidth": 1.6
            }
        if style == "shadow":
            return {"color": colour, "linestyle": dash(2), "linewidth": 1.4}
        if style == "mark":
            return {**self.script.point(series), "linestyle": "none", "markersize": 8, "markeredgewidth": 1.8,
                    "markerfacecolor": "none"}
        if style == "grey":
            return {"color": "#b0b0b0", "linestyle": "none", "marker": "o", "markersize": 2.4}
        if style == "ring":
            return {"color": colour, "linestyle": "none", "markersize": 9, "markerfacecolor": "none", "marker": "o"}
        return {**self.script.point(series), "linestyle": "none", "markersize": 4}  # a cloud

    def _explain(self, there, bars):
        text = self.script.text
        self.legend = [(self.script.series[series], Line2D([], [], **self._look(series))) for series in sorted(there)
                       if self.script.styles[series] != "shadow"]
        if text("shadow"):
            self.legend.append((text("shadow"), Line2D([], [], color=EXPLAINED, linestyle=dash(2), linewidth=1.4)))
        if text("end_text"):
            self.legend.append(
                (text("end_text"), Line2D([], [], color=EXPLAINED, linestyle="none", marker="o", markersize=7)))
        if self.script.numbers.get("powers"):
            self.legend += [(f"slope {power}", Line2D([], [], **_power_look(power))) for power in (1, 2)]
        self.legend += [(text(name), Line2D([], [], **_BLACK)) for name in ("level_text", "upright") if text(name)]
        if bars and text("bar_text"):
            self.legend.append((text("bar_text"), _bar_handle()))


_BLACK = {"color": "black", "linewidth": 1.2}


def _power_look(power):
    return {"color": "#888888", "linestyle": dash(power + 1), "linewidth": 0.7}


class _Ratios:
    """ratio.gp; columns: panel, series, whether of a head, x, ratio, low, high."""
    names_beside, title_pad = False, 4

    def __init__(self, script):
        self.script, self.titles, self.x_name, self.count = script, script.panels, script.text("x_name"), len(
            script.panels)
        self.columns = 1 if self.count == 1 else 2 if self.count < 5 else 3
        self.legend = []

    size = _Curves.size

    def draw(self, axes):
        data = self.script.rows()
        if not self.script.dots:
            data = data[data[:, 2] == 0]
        low, high = min(1, data[:, 4].min()), max(1, data[:, 4].max())
        bars = data[:, 5].min(), data[:, 6].max()
        cut = bars[0] < low / 3 or bars[1] > 3 * high  # as in plots/ratio.gp
        low, high = max(low / 3, min(low, bars[0])), min(3 * high, max(high, bars[1]))
        for panel in range(self.count):
            of = data[data[:, 0] == panel + 1]
            _set_values(axes[panel].xaxis, self.script)
            _set_log_y(axes[panel], low, high)
            axes[panel].axhline(1, **_BLACK)
            for series in range(len(self.script.series)):
                self._draw_series(axes[panel], series, of[of[:, 1] == series + 1])
        there = sorted({int(number) - 1 for number in data[data[:, 2] == 0, 1]})
        self.legend = [(self.script.series[series], Line2D([], [], **self._look(series))) for series in there]
        self.legend.append((self.script.text("level_text"), Line2D([], [], **_BLACK)))
        if np.any(data[:, 6] > data[:, 5]):
            self.legend.append((self.script.text("bar_text") + ("; long ones are cut" if cut else ""), _bar_handle()))
        if np.any(data[:, 2] == 1):
            self.legend.append((self.script.text("dot_text"), Line2D([], [], **_DOT)))

    def _draw_series(self, axes, series, rows):
        x = self.script.shifted(rows[:, 3], series)
        of_head = rows[:, 2] == 1
        if of_head.any():
            axes.plot(x[of_head], rows[of_head, 4], **_DOT)
        x, rows = x[~of_head], rows[~of_head]
        if len(rows):
            bars = np.array([rows[:, 4] - rows[:, 5], rows[:, 6] - rows[:, 4]]).clip(0)
            axes.errorbar(x, rows[:, 4], bars if bars.any() else None, capsize=2, elinewidth=1.2,
                          label=self.script.series[series], **self._look(series))

    def _look(self, series):
        return {**self.script.point(series), "linestyle": self.script.dash(series), "markersize": 4, "linewidth": 1.4}


_DOT = {"color": "#aaaaaa", "linestyle": "none", "marker": "o", "markersize": 1.6, "markeredgewidth": 0}


class _Beside:
    """Names stand left of what is drawn, in a line or two each."""
    names_beside, title_pad, columns = True, 4, 1

    def __init__(self, script):
        self.script, self.x_name, self.count = script, script.text("x_name"), len(script.panels)
        self.lines = [self.script.of_panel(panel) for panel in range(self.count)]
        self.legend, self.titles = [], script.panels
        self.line_in = LINE_IN + (0.06 if max(map(len, script.series)) > LETTERS_BESIDE else 0)

    def size(self, panel):
        return 4.6, self.line_in * (len(self.lines[panel]) + 1)

    def _name_lines(self, axes, names, from_above=True):
        axes.set_yticks(range(1, len(names) + 1), [_shortened(name) for name in names])
        axes.set_ylim(*(len(names) + 0.8, 0.2) if from_above else (0.2, len(names) + 0.8))
        axes.tick_params(axis="y", length=0)


def _shortened(name):
    """In two lines at most; what is too long lacks its middle, since the ends of names differ most."""
    most = 2 * LETTERS_BESIDE - 10  # lines that end at a word are shorter
    if len(name) > most:
        name = name[: most - most // 3 - 3] + "..." + name[len(name) - most // 3:]
    return "\n".join(textwrap.wrap(name, LETTERS_BESIDE))


class _Forest(_Beside):
    """forest.gp; columns: panel, of which the first is all, line from below, ratio, that of the subspace part or 0,
    whether the baseline has the same pairing, low, high, or 0."""

    def __init__(self, script):
        super().__init__(script)
        self.count, self.titles = 1, [script.text("subtitle")]
        self.title_pad = 18 if script.gap else 6

    def size(self, _):
        return 4.6, self.line_in * (len(self.script.series) + 1)

    def draw(self, axes):
        axes, data, script = axes[0], self.script.rows(), self.script
        reached = data[:, [2, 3, 5, 6]]
        reached = reached[reached > 0]
        low, high = _widened(min(1, reached.min()), max(1, reached.max()))
        axes.set_xscale("log")
        axes.set_xlim(low, high)
        axes.minorticks_off()
        _set_numbers(axes.xaxis, low, high, True)
        axes.axvline(1, **_BLACK)
        self._name_lines(axes, script.series, False)
        for name, oracle in zip(axes.get_yticklabels(), script.oracle):
            name.set_color("#777777" if oracle else "black")
        self._draw_points(axes, data)
        self.legend.append((script.text("level_text"), Line2D([], [], **_BLACK)))
        for texts, name, place in (script.gap, "heading_1", 60), (script.select, "heading_2", 115):
            for line, text in [*enumerate(texts, 1), (len(script.series) + 1.2, script.text(name))] if texts else []:
                axes.annotate(text, (1, line), xycoords=axes.get_yaxis_transform(), xytext=(place, 0),
                              textcoords="offset points", ha="right", va="center", fontsize=SMALL,
                              annotation_clip=False)

    def _draw_points(self, axes, data):
        problems = len(self.script.panels) - 1
        for problem in range(problems):
            rows = data[data[:, 0] == problem + 2]
            if problems <= 5:
                look = {"linestyle": "none", "color": "#808080", "markersize": 5, **mark([6, 4, 8, 12, 10][problem]),
                        "markerfacecolor": "none"}
            else:
                look = {"linestyle": "none", "color": "#bbbbbb", "marker": "o", "markersize": 2.5}
            self._add(axes, rows[:, 2], rows[:, 1], self.script.panels[problem + 1] if problems <= 5 else "one problem",
                      look)
        self._add(axes, data[:, 3][data[:, 3] > 0], data[:, 1][data[:, 3] > 0], "subspace part, mean over all",
                  {"linestyle": "none", "color": self.script.looks.colour(2), "marker": "^", "markersize": 6})
        blue = {"linestyle": "none", "color": self.script.looks.colour(1), "marker": "o", "markersize": 7}
        pooled = data[data[:, 0] == 1]
        bars = pooled[pooled[:, 6] > pooled[:, 5]]
        if len(bars):
            axes.errorbar(bars[:, 2], bars[:, 1], xerr=np.array([bars[:, 2] - bars[:, 5],
                                                                 bars[:, 6] - bars[:, 2]]).clip(0), fmt="none",
                          ecolor=blue["color"], elinewidth=1.4, capsize=3)
            self.legend.append((self.script.text("bar_text"),
                                Line2D([], [], color=blue["color"], linestyle="none", marker="_", markersize=14)))
        same = pooled[:, 4] == 1
        self._add(axes, pooled[same, 2], pooled[same, 1],
                  "error, mean over all" if np.any(data[:, 3] > 0) else "mean over all", blue)
        self._add(axes, pooled[~same, 2], pooled[~same, 1], "the same, over a baseline of another pairing",
                  {**blue, "markerfacecolor": "white", "markeredgewidth": 1.6})

    def _add(self, axes, x, y, text, look):
        if len(x):
            axes.plot(x, y, **look)
            if text not in [known for known, _ in self.legend]:
                self.legend.append((text, Line2D([], [], **look)))


class _Ranks(_Beside):
    """ranks.gp; columns of a method: its mean rank, two that place it in gnuplot's figure, the end of the bar that
    begins there and its layer (-1: there is none), how many methods there are, the critical difference (0: no test)."""

    def __init__(self, script):
        super().__init__(script)
        self.x_name = f"mean rank; {script.text('subtitle')}"
        critical = [next(iter(of.values()))[0, 6] for of in self.lines]
        self.titles = [title + (f"; critical difference {difference:.2g}" if difference else "")
                       for title, difference in zip(script.panels, critical)]

    def draw(self, axes):
        for panel, of in enumerate(self.lines):
            self._draw_panel(axes[panel], sorted(of.items(), key=lambda pair: pair[1][0, 0]))
        if self.script.text("bar_text") and any(rows[0, 4] >= 0 for of in self.lines for rows in of.values()):
            self.legend = [(self.script.text("bar_text"), Line2D([], [], **_JOINT))]

    def _draw_panel(self, axes, methods):
        self._name_lines(axes, [self.script.series[series] for series, _ in methods])
        layers = 1 + max(int(rows[0, 4]) for _, rows in methods)
        axes.set_ylim(len(methods) + 0.8, 0.2 - 0.4 * layers)
        axes.set_xlim(0.9, len(methods) + 0.1)
        ranks = range(1, len(methods) + 1, math.ceil(len(methods) / 12))
        axes.set_xticks(ranks, list(map(str, ranks)))
        for place, (series, rows) in enumerate(methods, 1):
            rank, _, _, to, layer = rows[0, :5]
            axes.plot(rank, place, **self.script.point(series), linestyle="none", markersize=6)
            if layer >= 0:
                axes.plot([rank, to], [0.3 - 0.4 * (layer + 0.5)] * 2, **_JOINT)


_JOINT = {"color": "#333333", "linewidth": 3, "solid_capstyle": "butt"}


class _Bars(_Beside):
    """bars.gp; columns of a bar: its part, where that begins and ends in %, the milliseconds of all."""

    def __init__(self, script):
        super().__init__(script)
        self.parts, self.hues = script.own_list("parts"), list(map(int, script.own_list("hues")))

    def draw(self, axes):
        for panel, of in enumerate(self.lines):
            self._name_lines(axes[panel],
                             [f"{self.script.series[series]}, {rows[0, 3]:.3g} ms" for series, rows in of.items()])
            axes[panel].grid(False, axis="y")
            axes[panel].set_xlim(0, 100)
            axes[panel].set_xticks(range(0, 101, 20), [f"{share}" for share in range(0, 101, 20)])
            for place, rows in enumerate(of.values(), 1):
                for part, begin, end, _ in rows[:, :4]:
                    axes[panel].barh(place, end - begin, left=begin, color=self._colour(int(part)))
        self.legend = [(name, Patch(color=self._colour(part))) for part, name in enumerate(self.parts, 1)]

    def _colour(self, part):
        return self.script.looks.colour(self.hues[part - 1])


_DRAWN_BY = {"ratio.gp": _Ratios, "curves.gp": _Curves, "forest.gp": _Forest, "ranks.gp": _Ranks, "bars.gp": _Bars}
