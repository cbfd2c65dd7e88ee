# SPDX-License-Identifier: GPL-3.0-or-later
"""The program's figures through matplotlib, from the data and scripts that it writes for gnuplot; or gnuplot's own."""
from __future__ import annotations

import base64
import importlib.util
import io
import os
import re
import shutil
import warnings
from pathlib import Path

from ._errors import ArgumentError, FileError, warn
from ._names import names


class Plot:
    """A figure of a run. axes: matplotlib's Axes, one for each panel, to go on with; empty where the figure is gnuplot's,
    an SVG. figure: matplotlib's Figure, or None."""

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
        return "".join(f'<img style="background: white" src="data:image/{kind};base64,{base64.b64encode(data).decode()}">'
                       for kind, data in images)


def _draws(path, kind):
    """Whether a script draws a figure of this kind: its name is the kind, and what the figure is of behind it. `ratio` begins
    the name of `ratio_by_core`, too, which is another kind."""
    def is_of(kind):
        return path.stem == kind or path.stem.startswith(kind + "_")
    with open(path, encoding="utf-8") as file:
        ours = file.readline().startswith("# draws ")
    return ours and is_of(kind) and not any(is_of(other) for other in names("figure") if other.startswith(kind + "_"))
