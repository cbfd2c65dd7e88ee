# SPDX-License-Identifier: GPL-3.0-or-later
"""Every figure of every study through matplotlib, of small runs: no text stands over another or beyond the page, and
each look has an entry in the legend. usage: test_figures.py"""
import contextlib
import importlib.util
import itertools
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import golden
import nysbench
import tap

if importlib.util.find_spec("matplotlib"):
    from matplotlib.colors import to_hex
    from matplotlib.text import Text
    from nysbench._figures import Looks

EXPLAINED = "#555555"  # in a legend, for what there is in the colour of each series
PANEL = ("problems: [{}]\nstrategies: [uniform, segment_means, kmeans(restarts=4), leverage]\ncores: iterative\n"
         "metrics: error\n")
HEADS = ", ".join(f'"heads(file={path}, head=0)"' for model in ("minilm", "vit")
                  for path in sorted(Path("experiments/data/panel").glob(model + "_*"))[:6])
LONG = "a rather long name of a method that somebody has written for a paper, no. "
# Two models in three of them, and axes of less than a decade.
RUNS = {
    # two pairings
    "pairings": PANEL.format(HEADS) + "landmarks: [8, 16, 32]\ntrials: 1\npairing: [joint, independent]\n",
    # an axis of less than a decade, its numbers close together, and names that are long
    "long": PANEL.format('"gaussian(n=80, d=4)", "clusters(n=80, d=4)"').replace(
    "leverage", f'\'leverage(label="{LONG}1")\'').replace(
        "uniform", f'\'uniform(label="{LONG}2")\'') + "landmarks: [40, 44, 48, 52, 56, 60, 64]\ntrials: 6\nname: a-" +
        "long-" * 20 + "name\n",
    # one number of landmarks, two factors
    "one": PANEL.format('"gaussian(n=80, d=4)"').replace("kmeans(restarts=4)",
                                                         "kmeans(snap=nearest)").replace("segment_means, ", "")
           + "landmarks: 8\ntrials: 8\nfactors: [nystromformer, cur]\n",
    "cores": '''
problems: ["gaussian(n=60, d=4)", "clusters(n=60, d=4)"]
strategies: [uniform, kmeans]
landmarks: 8
trials: 6
cores: ["svd(rcond=[1e-15, 0.01, 0.03])", "iterative(steps=[2, 4, 6])", "fitted(rows=[16, 32, 48])",
        "iterative(steps=6, precision=float)"]
''',
    "forward": '''
study: forward
problems: ["gaussian(n=[64, 128, 256])"]
attentions: [naive, streamed, "nystrom(strategy=[segment_means, uniform], landmarks=[8, 16])", linear]
trials: 1
rounds: 2
heads: 2
threads: [1, 2]
''',
    "coherence": '''
study: coherence
problems: ["heads(file=experiments/data/panel/minilm_*.safetensors, head=0, max_n=64)",
           "heads(file=experiments/data/panel/vit_*.safetensors, head=0, max_n=64)"]
partitions: [kmeans, random, segments]
clusters: [8, 12, 16]
tau: [0.05, 0.06]
trials: 2
''',
    "effect": f'''
study: effect
problems: ['live_model(run="{sys.executable} tests/support/stub_model.py", layers=[1, half], source=0..5)',
           'live_model(run="{sys.executable} tests/support/stub_model.py model=another", layers=1, source=0..5)']
attentions: ["nystrom(strategy=[segment_means, uniform, kmeans], landmarks=[4, 6], core=[tikhonov, iterative])",
             longformer(window=6)]
trials: 1
''',
}


def study_of(run):
    named = re.search(r"^study: (\w+)", RUNS[run], re.M)
    return named[1] if named else "error"


def fix_times(store):
    """Times that are the same everywhere, by n and the attention; with two workers the other study has none."""
    with contextlib.closing(sqlite3.connect(store)) as database, database:
        database.execute("UPDATE results SET latency_s = 1e-6 * n * threads * CASE WHEN attention LIKE 'nystrom%' THEN "
                         "landmarks WHEN attention = 'linear' THEN 5 ELSE n / 4.0 END")
        database.execute("UPDATE results SET amortized_s = latency_s, " + ", ".join(
            f"{part}_s = latency_s * {share}" for part, share in
            (("select", 0.1), ("core", 0.2), ("b", 0.2), ("f", 0.3), ("output", 0.1))) + ", peak_bytes = 1e4 * n")


def texts_of(figure):
    """Those that are drawn."""
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


def is_over(a, b):
    """Whether two boxes share more than half a pixel across and down."""
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 0.5 and min(a.y1, b.y1) - max(a.y0, b.y0) > 0.5


def look_of(line):
    """Of a line of an axes or a legend: colour, point, whether that is filled, dash."""
    mark = line.get_marker() if line.get_marker() not in (None, "None", "none", "", " ") else ""
    filled = bool(mark) and to_hex(line.get_markerfacecolor()) == to_hex(line.get_color()) if \
        str(line.get_markerfacecolor()) != "none" else False
    dash = "none" if line.get_linestyle() in ("None", "none", "", " ") else str(line._unscaled_dash_pattern)
    return to_hex(line.get_color()), mark, filled, dash


def is_bar(line):
    """Whether a line is the ends of error bars."""
    return line.get_marker() in ("|", "_")


@unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed (Debian: python3-matplotlib)")
class Figures(golden.Case):
    @classmethod
    def setUpClass(cls):
        """The runs, and a gnuplot that does nothing."""
        cls.work = tempfile.TemporaryDirectory()
        folder = Path(cls.work.name)
        (folder / "gnuplot").symlink_to("/bin/true")
        cls.path, os.environ["PATH"] = os.environ["PATH"], f"{folder}:{os.environ['PATH']}"
        cls.runs = {}
        for name, config in RUNS.items():
            (folder / f"{name}.yaml").write_text(config + "seed: 1\nplots: []\n")
            subprocess.run([nysbench.program(), "run", folder / f"{name}.yaml", "--quiet", "--jobs", "2", "--out",
                            folder / name], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if study_of(name) == "forward":
                fix_times(folder / name / "results.sqlite")
            cls.runs[name] = nysbench.Run(folder / name)

    @classmethod
    def tearDownClass(cls):
        os.environ["PATH"] = cls.path
        cls.work.cleanup()

    def test_every_figure_of_every_study(self):
        drawn, known = set(), set()
        for name, run in self.runs.items():
            for path in sorted(Path("src/studies").glob(f"{study_of(name)}/figures/*.sql")):
                known.add(path.stem)
                with self.subTest(run=name, figure=path.stem), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        plot = run.plot(path.stem)
                    except nysbench.ArgumentError as nothing:
                        self.tell(nothing)
                        continue
                    drawn.add(path.stem)
                    self.assertGreater(len(plot.axes), 0)
                    self.check_texts(plot.figure)
                    self.check_looks(plot.figure)
        self.assertEqual(drawn, known)

    def check_texts(self, figure):
        figure.draw_without_rendering()
        boxes = [(text.get_text(), text.get_window_extent()) for text in texts_of(figure)]
        self.assertEqual([(a, b) for (a, one), (b, other) in itertools.combinations(boxes, 2) if is_over(one, other)],
                         [])
        width, height = figure.bbox.width, figure.bbox.height
        self.assertEqual([text for text, box in boxes if box.x0 < 0 or box.y0 < 0 or box.x1 > width or box.y1 > height],
                         [])

    def check_looks(self, figure):
        """Each look has one entry, or stands in a line with its name on the left."""
        handles = [handle for legend in figure.legends
                   for handle in getattr(legend, "legend_handles", None) or legend.legendHandles]
        lines = [handle for handle in handles if hasattr(handle, "get_marker")]
        known = [look_of(line) for line in lines]
        for legend in figure.legends:
            texts = [text.get_text() for text in legend.get_texts()]
            self.assertEqual(len(texts), len(set(texts)), texts)
        self.assertEqual(len(known) - len(set(known)) if len(figure.legends) < 2 else 0, 0, "two entries look alike")
        for axes in figure.axes:
            named = {tick for tick, label in zip(axes.get_yticks(), axes.get_yticklabels())
                     if not re.match(r"[\d$]", label.get_text())}
            for line in axes.lines:
                colour, mark, filled, dash = look_of(line)
                if is_bar(line):
                    self.assertTrue(any(line.get_marker() in ("|", "_") for line in lines), "bars without a word")
                elif len(line.get_ydata()) != 1 or line.get_ydata()[0] not in named:
                    # The end of a curve is its point, larger: one entry for all.
                    same = {(c, m, f, d) for c, m, f, d in known if c == colour and (m, f, d) == (mark, filled, dash)
                            or c == EXPLAINED and d == dash and (m == mark or line.get_markersize() == 7)}
                    self.assertTrue(same, f"{line.get_label()}: {look_of(line)} is not among {known}")
            patches = {to_hex(patch.get_facecolor()) for patch in axes.patches}
            self.assertLessEqual(patches, {to_hex(handle.get_facecolor())
                                           for handle in handles if hasattr(handle, "get_facecolor")})

    def test_a_method_has_one_look(self):
        """In all figures of a run, whatever its pairing or factors: its colour, and of the same pairing and factors
        all."""
        for name in "pairings", "one":
            looks = {}
            for kind in "error", "ratio", "cost":
                for axes in self.runs[name].plot(kind).axes:
                    for curve in axes.containers:
                        looks.setdefault(curve.get_label().split(",")[0].partition("(")[0],
                                         set()).add(to_hex(curve[0].get_color()))
            self.assertGreaterEqual(len(looks), 3)
            self.assertEqual([label for label, colours in looks.items() if len(colours) != 1], [])
            self.assertEqual(len(set().union(*looks.values())), len(looks))

    def test_ratios_have_one_axis_and_their_intervals_stand_apart(self):
        plot = self.runs["pairings"].plot("ratio", where={"core": "iterative", "pairing": "joint"})
        self.assertGreater(len(plot.axes), 2)
        self.assertEqual(len({axes.get_ylim() for axes in plot.axes}), 1)
        for kind in "ratio", "error":
            for axes in self.runs["pairings"].plot(kind, where={"core": "iterative", "pairing": "joint"}).axes:
                starts = [curve[0].get_xdata()[0] for curve in axes.containers]
                self.assertGreater(len(starts), 2)
                self.assertEqual(len(set(starts)), len(starts))

    def test_dots_of_heads_are_a_choice(self):
        shown, hidden = (self.runs["pairings"].plot("ratio", dots=dots) for dots in ("show", "hide"))
        grey = [[line for axes in plot.axes for line in axes.lines if line.get_color() == "#aaaaaa"]
                for plot in (shown, hidden)]
        self.assertTrue(grey[0])
        self.assertFalse(grey[1])


@unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed (Debian: python3-matplotlib)")
class OneRule(unittest.TestCase):
    @unittest.skipIf(subprocess.run(["sh", "-c", "command -v gnuplot"], stdout=subprocess.DEVNULL).returncode,
                     "gnuplot is not installed")
    def test_gnuplot_and_python_read_looks_alike(self):
        """Colour, point and dash of a series' number, by the functions of plots/looks.gp and here."""
        source = Path("plots/looks.gp").read_text()
        looks, numbers = Looks(source), [*range(21), *range(1001, 1012), *range(2001, 2004), *range(3001, 3004)]
        with tempfile.TemporaryDirectory() as work:
            (Path(work) / "style.gp").write_text('style = "screen"; formats = "svg"; page = 0\n')
            (Path(work) / "looks.gp").write_text(source + 'set print "-"\n' + "".join(
                f'print colour({i}), " ", symbol({i}), " ", dash({i})\n' for i in numbers))
            said = subprocess.run(["gnuplot", "looks.gp"], cwd=work, check=True, capture_output=True, text=True).stdout
        self.assertEqual([" ".join(line.split()) for line in said.splitlines()],
                         [f"{looks.colour(i)} {looks.symbol(i)} {looks.dash(i)}" for i in numbers])


if __name__ == "__main__":
    tap.main()
