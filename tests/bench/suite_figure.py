#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""suite_figure.py numbers|curves|ranks [FOLDER] - what the results of the suite (results/suite/*.json, or FOLDER) say.
suite_figure.py figure [FOLDER|FILE.csv]

numbers: a CSV line for each method and track: its error over the baseline's, 2^-number, with the 95 % interval over
         sources, and at each share; the error over the baseline's that nine in ten heads do not exceed.
curves:  a CSV line for each method, model and share of exact attention's multiplications at which it has a size: the
         share that it takes, the geometric mean of its errors over heads, and their 10th and 90th percentile.
ranks:   a CSV line for each track: its sources, Kendall's tau between the methods' numbers and those of the whole form
         (results/suite-whole), and in which interval it is for 95 % of small forms that are drawn from the whole one:
         twelve sources of each model, one of their layers each.
figure:  curves as a PNG, by gnuplot: a panel for each model, of the methods in SHOWN; bands of those marked in BANDS.
         They are those of all layers and heads, results/published/suite_heads.csv, of another such file, or of a
         folder of results."""
import csv
import glob
import hashlib
import json
import math
import operator
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile
from random import Random

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADS = f"{ROOT}/experiments/suite"
WHOLE = f"{ROOT}/results/suite-whole"
HEADS_CURVES = f"{ROOT}/results/published/suite_heads.csv"
SHARES = (4, 8, 16, 32)
SMALL_SOURCES, DRAWS = 12, 1000
TITLES = {"minilm": "MiniLM (text), n = 512", "vit": "ViT (images), n = 1,025", "whisper": "Whisper (speech), n = 640",
          "smollm2": "SmolLM2 (text, causal mask), n = 1,024"}
# {track: {method: colour}}, in the order of the legend.
SHOWN = {"encoders": {"kernel_ridge": "#0072b2", "kernel_ridge(near=equal)": "#56b4e9", "wildcat": "#d55e00",
                      "segment_means": "#009e73", "kmeans": "#cc79a7",
                      "nystrom(strategy=kmeans, core=fitted)": "#7f5aa2", "longformer": "#888888"},
         "decoders": {"sparq_published": "#0072b2", "merging": "#009e73", "tova": "#d55e00", "h2o": "#cc79a7",
                      "quest": "#e0a800", "streamingllm": "#888888"}}
NAMES = {"kernel_ridge(near=equal)": "kernel_ridge, near=equal", "segment_means": "segment means, six steps",
         "kmeans": "k-means, six steps", "nystrom(strategy=kmeans, core=fitted)": "k-means, fitted",
         "longformer": "window (longformer)", "streamingllm": "window (streamingllm)"}
# What the suite calls an attention whose label in a run is another one, without its sizes.
METHODS = {"nystrom": "segment_means", "nystrom(strategy=kmeans)": "kmeans"}
BANDS = ("kernel_ridge", "wildcat", "sparq_published", "tova", "streamingllm")


def results(folder, form="small"):
    """The results in a folder; all of them have to be of the list of test sources that comes with the program."""
    with open(f"{HEADS}/{form}.json", "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    for path in sorted(glob.glob(f"{folder}/*.json")):
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        if result["list_sha256"] != digest:
            raise SystemExit(f"suite_figure.py: {path} is of the list {result['list_sha256']}, and not of "
                             f"experiments/suite/{form}.json, {digest}")
        yield result


def exact_multiplications(file):
    """n² (d + dv) of a file's one head."""
    with open(f"{HEADS}/{file}", "rb") as head:
        header = json.loads(head.read(struct.unpack("<Q", head.read(8))[0]))
    _, n, d = header["k"]["shape"]
    return n * n * (d + header["v"]["shape"][2])


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def numbers(folder):
    yield ["method", "track", "tuned", "ratio", "low", "high", "nine_in_ten", *(f"at_{s}" for s in SHARES), "sources"]
    for result in results(folder):
        method = result["method"]
        for track in result["tracks"]:
            if track["number"] is None:
                continue
            values = [track["number"], track["high"], track["low"], track["nine_in_ten"],
                      *(s["number"] for s in track["shares"])]
            yield [method["label"], track["track"], method["tuned"], *(f"{2 ** -v:.6g}" for v in values),
                   track["sources"]]


def curves(folder):
    yield ["method", "model", "share", "part", "heads", "error", "p10", "p90"]
    for result in results(folder):
        for setting in result["settings"]:
            heads = [i for i in result["inputs"] if i["model"] == setting["model"]]
            if setting["refused"] or not heads:
                continue
            errors = [i["errors"][SHARES.index(setting["share"])] for i in heads]
            tenths = statistics.quantiles(errors, n=10, method="inclusive")
            part = setting["multiplications"] / exact_multiplications(heads[0]["file"])
            yield [result["method"]["label"], setting["model"], setting["share"],
                   *(f"{v:.6g}" for v in (part, len(heads), geometric_mean(errors), tenths[0], tenths[-1]))]


def values_of(result):
    """{model: {source: values of its layers}}, each the mean over shares of log2(baseline's error / the method's)."""
    found = {}
    for item in result["inputs"]:
        value = statistics.fmean(math.log2(b / e) for b, e in zip(item["baseline"], item["errors"]))
        found.setdefault(item["model"], {}).setdefault(item["source"], []).append(value)
    return found


def number_of(values, models, chosen=None):
    """The number of a track; of {model: [(source, layer)]} alone, if they are chosen."""
    def mean(model):
        if chosen:
            return statistics.fmean(values[model][source][layer] for source, layer in chosen[model])
        return statistics.fmean(map(statistics.fmean, values[model].values()))

    return statistics.fmean(map(mean, models))


def kendall(a, b):
    """Tau-b."""
    def signs(x):
        return [(x[i] > x[j]) - (x[i] < x[j]) for i in range(len(x)) for j in range(i)]

    s, t = signs(a), signs(b)
    return sum(map(operator.mul, s, t)) / math.sqrt(sum(map(abs, s)) * sum(map(abs, t)))


def draw_small(values, models, random):
    """A small form of the whole: the sources of each model, and a layer of each."""
    return {model: [(source, random.randrange(len(values[model][source])))
                    for source in random.sample(sorted(values[model]), SMALL_SOURCES)] for model in models}


def ranks(folder):
    yield ["track", "methods", "sources", "tau", "low", "high"]
    small, whole = ({r["method"]["text"]: r for r in found} for found in (results(folder), results(WHOLE, "whole")))
    with open(f"{HEADS}/whole.json", encoding="utf-8") as file:
        tracks = json.load(file)["tracks"]
    for place, track in enumerate(tracks):
        models, random = [model["model"] for model in track["models"]], Random(DRAWS)
        both = [name for name in small if name in whole and small[name]["tracks"][place]["number"] is not None]
        values = [values_of(whole[name]) for name in both]
        truth = [number_of(one, models) for one in values]
        for name, number in zip(both, truth):
            if abs(number - whole[name]["tracks"][place]["number"]) > 1e-6:
                raise SystemExit(f"suite_figure.py: {WHOLE}: the errors of {name} give another number than it says")
        drawn = []
        for _ in range(DRAWS):
            chosen = draw_small(values[0], models, random)
            drawn.append(kendall([number_of(one, models, chosen) for one in values], truth))
        cuts = statistics.quantiles(drawn, n=40)
        tau = kendall([small[name]["tracks"][place]["number"] for name in both], truth)
        sources = {item["source"] for model in track["models"] for item in model["inputs"]}
        yield [track["track"], len(both), len(sources), *(f"{v:.4g}" for v in (tau, cuts[0], cuts[-1]))]


SCRIPT = """
set terminal pngcairo size 1240, 860 font "DejaVu Sans,11"
set multiplot
set logscale xy
set xrange [1.0/60:1.0/3]
set yrange [0.002:1.6]
set xtics ("1/32" 1.0/32, "1/16" 1.0/16, "1/8" 1.0/8, "1/4" 1.0/4) nomirror
set ytics (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1) nomirror
set border 3 linecolor rgb "#444444"
set grid linecolor rgb "#e4e4e4" linetype 1 linewidth 0.5
set style fill transparent solid 0.15 noborder
set key left top reverse Left samplen 2 spacing 1.15
set label 1 "error of the outputs" at screen 0.013, 0.5 center rotate
set label 2 "share of exact attention's multiplications" at screen 0.4, 0.018 center
"""


def panel(place, model, rows, folder):
    """gnuplot's lines for a model: first the bands, then the lines."""
    track = "decoders" if model == "smollm2" else "encoders"
    left, bottom = 0.065 + 0.37 * (place % 2), 0.56 - 0.48 * (place // 2)
    clauses = []
    for method, colour in SHOWN[track].items():
        path = f"{folder}/{model}-{len(clauses)}"
        with open(path, "w", encoding="utf-8") as file:
            for row in sorted(rows, key=lambda row: float(row["part"])):
                if (row["method"], row["model"]) == (method, model):
                    print(row["part"], row["error"], row["p10"], row["p90"], file=file)
        name = NAMES.get(method, method) if place in (1, 3) else ""
        clauses.append((method in BANDS, path, colour, name.replace("_", "\\\\_")))
    bands = [f'"{path}" using 1:3:4 with filledcurves linecolor rgb "{colour}" notitle'
             for band, path, colour, _ in clauses if band]
    lines = [f'"{path}" using 1:2 with linespoints linewidth 2 pointtype 7 pointsize 0.7 linecolor rgb "{colour}" ' +
             (f'title "{name}"' if name else "notitle") for _, path, colour, name in clauses]
    return (f'set lmargin at screen {left}; set rmargin at screen {left + 0.32}\n'
            f'set bmargin at screen {bottom}; set tmargin at screen {bottom + 0.38}\n'
            f'set title "{TITLES[model]}" offset 0, -0.5\n'
            f'set key at screen 0.775, {bottom + 0.37}\n'
            f'plot {", ".join(bands + lines)}\nunset label\n')


def heads_curves(path):
    """Rows of a run's curves, with the suite's names of models and methods."""
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            sizes_out = re.sub(r"\(\)$", "", re.sub(r"\b\w+=\d+(, )?|, \w+=\d+(?=\))", "", row["attention"]))
            row["model"] = next(model for model in TITLES if model in row["model"].lower())
            yield {**row, "method": METHODS.get(sizes_out, sizes_out)}


def rows_of(path):
    if path.endswith(".csv"):
        return [*heads_curves(path)]
    header, *lines = curves(path)
    return [dict(zip(header, line)) for line in lines]


def figure(path):
    rows = rows_of(path)
    missing = [m for methods in SHOWN.values() for m in methods if m not in {r["method"] for r in rows}]
    if missing:
        raise SystemExit(f"suite_figure.py: {path} has no result of {', '.join(missing)}")
    with tempfile.TemporaryDirectory() as data:
        script = SCRIPT + "".join(panel(place, model, rows, data) for place, model in enumerate(TITLES))
        drawn = subprocess.run(["gnuplot"], input=script.encode(), stdout=subprocess.PIPE, check=True).stdout
    sys.stdout.buffer.write(drawn)


TABLES = {"numbers": numbers, "curves": curves, "ranks": ranks}


def main(arguments):
    if len(arguments) not in (1, 2) or arguments[0] not in ("figure", *TABLES):
        raise SystemExit(f"usage: suite_figure.py {'|'.join(TABLES)} [FOLDER], or figure [FOLDER|FILE.csv]")
    what, *path = arguments
    if what == "figure":
        figure(*path or [HEADS_CURVES])
    else:
        csv.writer(sys.stdout, lineterminator="\n").writerows(TABLES[what](*path or [f"{ROOT}/results/suite"]))


if __name__ == "__main__":
    main(sys.argv[1:])
