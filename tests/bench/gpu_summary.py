#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""gpu_summary.py [FOLDER] - a line for each n and attention of gpu_times.csv, gpu_models.csv and gpu_errors.csv.

times_as_fast: the least time of an exact attention in the same run, divided by this one's; both of CUDA graphs.
error: the geometric mean over photographs that are test sources, layers, heads and seeds; low, high: its 95 % interval
over photographs (t distribution of their logarithms), of which there are three or more. mean, p90, most: of heads,
after the seeds' geometric mean. `float16 over float32` is the ratio of errors on the same heads."""
import csv
import math
import os
import statistics
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PUBLISHED = os.path.join(ROOT, "results", "published")
INPUTS = os.path.join(ROOT, "experiments", "models", "inputs.csv")
# Quantiles of 97.5 % of the t distribution, by degrees of freedom (R: qt(0.975, 1:9)).
T = (12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.30600, 2.26216)
EXACT = ("cudnn", "flash", "efficient")
COLUMNS = ("what", "n", "heads", "attention", "ms", "times_as_fast", "mib", "cosine", "error", "low", "high", "mean",
           "p90",
           "most", "photographs")


def read(folder, part):
    with open(os.path.join(folder, f"gpu_{part}.csv"), newline="") as file:
        return list(csv.DictReader(file))


def timed(rows, what):
    """Lines of rows with times, grouped by n and heads."""
    for row in rows:
        same = [r for r in rows if r["n"] == row["n"] and r.get("heads") == row.get("heads") and r["ms"]]
        least = min(float(r["ms"]) for r in same if r["attention"] in EXACT)
        if row["ms"]:
            yield dict(what=what, n=row["n"], heads=row.get("heads", ""), attention=row["attention"], ms=row["ms"],
                       times_as_fast=least / float(row["ms"]), mib=float(row["bytes"]) / 2**20,
                       cosine=row.get("cosine", ""), error=row.get("error", ""))


def by_head(rows):
    """{(n, attention): {(source, layer, head): the seeds' mean logarithm}} of test sources."""
    with open(INPUTS, newline="", encoding="utf-8") as file:
        test = {row["source"] for row in csv.DictReader(file) if row["kind"].startswith("test-")}
    groups = {}
    for row in rows:
        logs = [math.log(float(row[column])) for column in ("error_0", "error_1", "error_2") if row[column]]
        if row["source"] in test:
            head = row["source"], row["layer"], row["head"]
            groups.setdefault((row["n"], row["attention"]), {})[head] = statistics.fmean(logs)
    return groups


def erring(groups, what):
    for (n, attention), heads in groups.items():
        sources = sorted({source for source, *_ in heads})
        if len(sources) < 3:
            continue
        means = [statistics.fmean(log for (s, *_), log in heads.items() if s == source) for source in sources]
        half = T[len(means) - 2] * statistics.stdev(means) / math.sqrt(len(means))
        errors = sorted(math.exp(log) for log in heads.values())
        yield dict(what=what, n=n, attention=attention, error=math.exp(statistics.fmean(means)),
                   low=math.exp(statistics.fmean(means) - half), high=math.exp(statistics.fmean(means) + half),
                   mean=statistics.fmean(errors), p90=errors[math.ceil(0.9 * len(errors)) - 1], most=errors[-1],
                   photographs=len(sources))


def ratios(half, single):
    return {key: {head: log - single[key][head] for head, log in heads.items() if head in single[key]}
            for key, heads in half.items() if key in single}


def main(folder=PUBLISHED):
    out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    out.writeheader()
    errors = read(folder, "errors")
    half, single = (by_head([row for row in errors if row["dtype"] == dtype]) for dtype in ("float16", "float32"))
    for what, rows, lines in (("times", read(folder, "times"), timed), ("models", read(folder, "models"), timed),
                              ("errors in float32", single, erring), ("errors in float16", half, erring),
                              ("float16 over float32", ratios(half, single), erring)):
        for line in lines(rows, what):
            out.writerow({key: f"{x:.4g}" if isinstance(x, float) else x for key, x in line.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
