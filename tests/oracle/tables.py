# SPDX-License-Identifier: GPL-3.0-or-later
"""Recomputes the tables of a run with NumPy from its rows.csv.

usage: tables.py NYSBENCH WORK_FOLDER

Prints TAP. Nothing is shared with the program but the rows: cores are told apart by the
text of the column `core`, choices of landmarks by dictionaries. What is the same in all
trials (segment means on a file's head, under a core without chance) has trial 0 alone,
which stands for the others.

Tolerance: 1e-12 of each number; both compute the same quotients and interpolate the same
two values.
"""
import collections
import csv
import glob
import io
import math
import os
import subprocess
import sys

import numpy as np

from measures import Tap

CONFIG = """
problems: ["heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=[1, 2])", "gaussian(n=60, d=8)"]
strategies: [uniform, segment_means]
landmarks: [4, 8, 16, 32]
trials: 3
metrics: error
plots: []
cores:
  - iterative
  - "svd(rcond=[0.3, 0.1, 0.01])"
  - "tikhonov(lambda=[0.1, 0.01, 0.0001])"
  - "fitted(rows=[8, 16, 64])"
  - "fitted(rows=16, keep_rows=true)"
  - "exact_rows(rows=16)"
  - best
"""
SOURCES = """
problems: [{texts}, "gaussian(n=60, d=8)", "gaussian(n=50, d=8)"]
strategies: [uniform, segment_means]
landmarks: [4, 8]
cores: iterative
trials: 12
exclude: {{problem: "gaussian(n=50, d=8)", trial: "5..11"}}
metrics: error
plots: []
"""
WAY = ("problem", "head", "kernel", "strategy", "pairing", "factors")
BEST = "the best core of F X B"  # NOLINT(wording): a label


def number(row, column):
    return float(row[column]) if row[column] else np.nan


def statistic(values):
    return [np.quantile(values, q) for q in (0.5, 0.1, 0.9)]


class Run:
    """Choices of landmarks in their trials, each with the row of every core."""

    def __init__(self, folder):
        self.rows = list(csv.DictReader(open(os.path.join(folder, "rows.csv"), newline="")))
        self.cores = list(dict.fromkeys(r["core"] for r in self.rows))
        self.panels = list(dict.fromkeys(r["problem"] for r in self.rows))
        by_choice = collections.defaultdict(lambda: collections.defaultdict(dict))
        for r in self.rows:
            by_choice[(*(r[k] for k in WAY), int(r["landmarks"]))][r["core"]][int(r["trial"])] = r
        self.choices, self.entrants = {}, self.find_entrants()
        for choice, cores in by_choice.items():
            trials = sorted({t for of in cores.values() for t in of})
            for t in trials:
                self.choices[choice, t] = {c: of[0] if set(of) == {0} else of[t] for c,
                                           of in cores.items() if t in of or set(of) == {0}}

    def find_entrants(self):
        swept = {name: [c for c in self.cores if c.startswith(name + "(")] for name in ("svd", "tikhonov")}
        filters = [c for c in self.cores if c.startswith(("svd(", "tikhonov(", "iterative("))]
        single = {c: [c] for c in self.cores}
        best = {f"best {name} of {len(of)} (oracle)": of for name, of in swept.items()}
        return {**single, **best, f"best cut-off of {len(filters)} (oracle)": filters, BEST: []}


def subspace(cores):
    return next(number(r, "error_subspace") for r in cores.values())


def is_told(row, part="error_subspace"):
    """Whether a subspace part is above its rounding."""
    return number(row, part) > number(row, "error_subspace_noise")


def error(cores, of):
    """The least error of a core, none less than its rounding noise, and that noise; of no core, the subspace part."""
    if not of:
        row = next(iter(cores.values()))
        return number(row, "error_subspace"), number(row, "error_subspace_noise")
    values = [(number(cores[c], "error"), number(cores[c], "error_noise")) for c in of]
    return min(values, key=max)


def ratio(a, b):
    """Of two errors with their noise: two that differ by no more than that are the same, two that are noise say
    nothing."""
    (x, x_noise), (y, y_noise) = a, b
    if x <= x_noise and y <= y_noise:
        return np.nan
    return 1 if abs(x - y) <= x_noise + y_noise else max(a) / max(b)


def have_looked(cores, of):
    """Whether some of these, or none, have looked at rows of S that they are judged on; the best core has, at all."""
    return {cores[c]["error_unseen"] != cores[c]["error"] for c in of} or {True}


def above(cores, of):
    return min(number(cores[c], "error") for c in of) / subspace(cores) - 1 if is_told(next(iter(cores.values()))) \
        else np.nan


def unseen(cores, of):
    row = cores[of[0]]
    floor = number(row, "error_unseen_subspace")
    return number(row, "error_unseen") / floor - 1 if len(of) == 1 and not of[0].startswith("best(") and \
        is_told(row, "error_unseen_subspace") else np.nan


def subset(by, value, panels):
    def holds(key):
        choice, _ = key
        if by == "landmarks":
            return choice[-1] == int(value)
        if by == "problem":
            return value.split("(")[0] == choice[0].split("(")[0]
        if by == "16m/n":
            n = 60 if choice[0].startswith("gaussian") else 257
            return (16 * choice[-1] >= n) == (value == "1 or more")  # NOLINT(wording): a label
        return by == "all"
    return holds


def ratios(run, holds, a, b, other=lambda key: key):
    found = np.array([ratio(error(cores, a), error(run.choices[other(key)], b)) for key, cores in run.choices.items()
                      if holds(key) and other(key) in run.choices])
    return found[np.isfinite(found)]


def close(got, want):
    got = np.array([float(x) if x else np.nan for x in got])
    return got.shape == np.shape(want) and np.allclose(got, want, rtol=1e-12, atol=1e-12, equal_nan=True)


class Lines:
    """The lines of one table, told as one test."""

    def __init__(self, tap, name):
        self.tap, self.name, self.count, self.wrong = tap, name, 0, []

    def add(self, good, what):
        self.count += 1
        self.wrong += [] if good else [what]

    def end(self, count):
        good = not self.wrong and self.count == count
        self.tap.check(good, f"table {self.name}: {self.count} lines",
                       f"{count} lines wanted, {len(self.wrong)} wrong: {self.wrong[:3]}")


def table(program, folder, name, *options):
    command = [program, "table", folder, name, "--format", "csv", *options]
    return list(csv.DictReader(io.StringIO(subprocess.run(command, check=True, capture_output=True, text=True).stdout)))


def check_refused(tap, program, folder, run, name, lines):
    """Unless it is told to, a table has of these lines those of two that have both looked at rows of S, or neither."""
    some = next(iter(run.choices.values()))
    looked = {name: have_looked(some, of) for name, of in run.entrants.items()}
    like = [r for r in lines if looked[r["core"]] == looked[r["over"]]]
    tap.check(table(program, folder, name) == like and 0 < len(like) < len(lines),
              f"table {name}: {len(like)} of {len(lines)} lines unless told --confounded rows_seen", "")


def check_above(tap, program, folder, run):
    out = Lines(tap, "above")
    lines = table(program, folder, "above")
    for r in lines:
        of, holds = run.entrants[r["core"]], subset(r["by"], r["value"], run.panels)
        all_rows = np.array([above(cores, of) for key, cores in run.choices.items() if holds(key)])
        rest = np.array([unseen(cores, of) for key, cores in run.choices.items() if holds(key)])
        all_rows, rest = all_rows[np.isfinite(all_rows)], rest[np.isfinite(rest)]
        good = int(r["choices"]) == len(all_rows) and close([r[k] for k in ("above", "p10", "p90")],
                                                            statistic(all_rows))
        good &= int(r["unseen_choices"]) == len(rest)
        good &= not len(rest) or close([r[k] for k in ("unseen", "unseen_p10", "unseen_p90")], statistic(rest))
        out.add(good, f"{r['by']} {r['value']} {r['core']}")
    out.end(9 * (len(run.entrants) - 1))  # all, four m, two problems, 16 m below n and above


def check_pairs(tap, program, folder, run):
    out = Lines(tap, "pairs")
    lines = table(program, folder, "pairs", "--confounded", "rows_seen")
    for r in lines:
        want = ratios(run, subset(r["by"], r["value"], run.panels), run.entrants[r["core"]], run.entrants[r["over"]])
        good = int(r["choices"]) == len(want) and close([r[k] for k in ("ratio", "p10", "p90", "below")],
                                                        [*statistic(want), np.mean(want < 1)])
        out.add(good, f"{r['by']} {r['value']} {r['core']} over {r['over']}")
    shown = sum(not c.startswith(("svd(", "tikhonov(")) and "keep_rows=false" not in c
                for c in run.entrants)  # no settings of sweeps
    out.end(9 * shown * (shown - 1))
    check_refused(tap, program, folder, run, "pairs", lines)


def check_equal_cost(tap, program, folder, run):
    out = Lines(tap, "equal_cost")
    lines = table(program, folder, "equal_cost", "--confounded", "rows_seen")
    for r in lines:
        m = int(r["landmarks"])
        want = ratios(run, lambda key: key[0][-1] == m, run.entrants[r["core"]], run.entrants[r["over"]],
                      lambda key: ((*key[0][:-1], 2 * key[0][-1]), key[1]))
        good = int(r["over_landmarks"]) == 2 * m and int(r["choices"]) == len(want)
        good &= close([r[k] for k in ("ratio", "p10", "p90", "below")], [*statistic(want), np.mean(want < 1)])
        out.add(good, f"{r['core']} at {m} over {r['over']} at {2 * m}")
    shown = sum(c != BEST and not c.startswith(("svd(", "tikhonov(", "best")) and "keep_rows=false" not in c
                for c in run.entrants)
    out.end(3 * shown**2)
    check_refused(tap, program, folder, run, "equal_cost", lines)


def check_rows(tap, program, folder, run):
    out = Lines(tap, "rows")
    lines = table(program, folder, "rows", "--confounded", "rows_seen")
    kept = next(c for c in run.cores if c.startswith("exact_rows("))
    for r in lines:
        holds = subset("problem", r["problem"], run.panels)
        mine = [x for x in run.rows if x["core"] == r["core"] and holds(((x["problem"],), 0)) and is_told(x)]
        rest = [number(x, "error_unseen") / number(x, "error_unseen_subspace") for x in mine
                if is_told(x, "error_unseen_subspace") and not r["core"].startswith("best(")]
        want = [np.median([number(x, "error") / number(x, "error_subspace") for x in mine]),
                np.median(rest) if rest else np.nan]
        good = int(r["rows"]) == len(mine) and close([r["error"], r["unseen"]], want)
        for column, other in (("below_first", run.cores[0]), ("below_kept", kept)):
            found = ratios(run, holds, [r["core"]], [other])
            none = other == r["core"] or (column == "below_kept" and "rows=16" not in r["core"])
            good &= r[column] == ("" if none else f"{np.sum(found < 1)} of {len(found)}")
        out.add(good, f"{r['problem']} {r['core']}")
    shown = sum(c.startswith(("fitted(", "exact_rows(", "best")) for c in run.cores[1:])  # beside the first
    out.end(2 * (1 + shown))


def check_cores(tap, program, folder, run):
    out = Lines(tap, "cores")
    trials = {p: 1 + max(int(r["trial"]) for r in run.rows if r["problem"] == p) for p in run.panels}
    lines = table(program, folder, "cores")
    for r in lines:
        values = []
        mine = [x for x in run.rows if x["core"] == r["core"] and x["landmarks"] == r["landmarks"]]
        for x in mine:
            alone = all(y["trial"] == "0" for y in mine
                        if (y["problem"], y["strategy"]) == (x["problem"], x["strategy"]))
            times = trials[x["problem"]] if alone else 1
            values += [number(x, "error") / number(x, "error_subspace") - 1] * times
        good = int(r["count"]) == len(values) and close([r[k] for k in ("above", "p10", "p90")], statistic(values))
        out.add(good, f"{r['core']} at {r['landmarks']}")
    out.end(4 * len(run.cores))


def check_errors(tap, program, folder, run):
    out = Lines(tap, "errors")
    lines = table(program, folder, "errors")
    for r in lines:
        mine = [number(x, "error") for x in run.rows if x["core"] == r["core"] and x["landmarks"] == r["landmarks"]
                and all(x[k] == r[k] for k in ("problem", "kernel", "strategy", "pairing", "factors"))]
        out.add(int(r["count"]) == len(mine) and close([r[k] for k in ("median", "p10", "p90")], statistic(mine)),
                f"{r['problem']} {r['core']} {r['strategy']} at {r['landmarks']}")
    out.end(2 * 2 * 4 * len(run.cores))


def median_interval(values):
    """The k-th value from either end, k the largest with 2 P(fewer than k of the values are below the median) <= 5
    %."""
    n = len(values)
    k = sum(2 * sum(math.comb(n, i) for i in range(count + 1)) <= 0.05 * 2**n for count in range(n // 2))
    return [sorted(values)[k - 1], sorted(values)[n - k]] if k else [np.nan, np.nan]


def check_intervals(tap, program, folder):
    """Of medians over sources: eight texts with two heads each, twelve trials of drawn data, and five, which are too
    few."""
    out = Lines(tap, "errors, intervals over sources")
    rows = list(csv.DictReader(open(os.path.join(folder, "rows.csv"), newline="")))
    inside = 0
    for r in table(program, folder, "errors"):
        by_source = collections.defaultdict(list)
        for x in rows:
            if all(x[k] == r[k] for k in ("strategy", "landmarks")) and (x["problem"] == r["problem"] if r["problem"]
                                                                         else x["source"]):
                by_source[x["source"] or x["trial"]].append(number(x, "error"))
        medians = [np.median(of) for of in by_source.values()]
        inside += len(medians) == 12 and min(medians) < float(r["median_low"]) < float(r["median_high"]) < max(medians)
        good = int(r["sources"]) == len(medians) and close([r["median_low"], r["median_high"]],
                                                           median_interval(medians))
        out.add(good and close([r["median"]], [np.median(sum(by_source.values(), []))]),
                f"{r['panel']} {r['strategy']} at {r['landmarks']}")
    out.end(3 * 2 * 2)
    tap.check(inside == 4, "of twelve sources the outer ones are left out", f"in {inside} of 4 lines")


def check_costs(tap, program, folder, run):
    """Six steps: F, B, B V, F (X B V), A, X (B V), and 4 products a step. Kept rows: formed, and times V.
    fitted(rows=16) with m of 4 to 32 has an R-SVD of the taller of F_I and its transpose, whose cost Golub & Van Loan
    have as 6 k r^2 + 20 r^3 flops."""
    out = Lines(tap, "costs")

    def cost(core, n, d, m):
        rows = 16 if "rows=16" in core else 0
        kept = rows if core.startswith("exact_rows") or "keep_rows=true" in core else 0
        x = 24 * m**3
        if core.startswith("fitted"):
            k, r = max(rows, m), min(rows, m)
            x = rows * m * n + 2 * m * m * n + 3 * k * r * r + 10 * r**3 + 61 * rows * r * m + 11 * m**3
        return 4 * n * m * d + 2 * m * m * d + x + (rows + kept) * n * d

    for r in table(program, folder, "costs"):
        n, d, m, core = int(r["n"]), int(r["d"]), int(r["landmarks"]), r["core"]
        mine = [x for x in run.rows if (x["n"], x["d"], x["landmarks"], x["core"]) ==
                (r["n"], r["d"], r["landmarks"], core)]
        want = [cost(core, n, d, m), cost(core, n, d, m) / (2 * n * n * d)]
        want += [np.median([number(x, k) for x in mine]) for k in ("core_s", "exact_s")]
        out.add(close([r[k] for k in ("multiplications", "of_exact", "core_s", "exact_s")], want),
                f"{core} {n} {d} {m}")
    out.end(2 * 4 * 3)


def measure(program, work, name, config):
    """The folder of a run."""
    path, folder = os.path.join(work, f"{name}.yaml"), os.path.join(work, name)
    with open(path, "w") as out:
        out.write(config)
    subprocess.run([program, "run", path, "-q", "-o", folder], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return folder


def main(program, work):
    os.makedirs(work)
    texts = ", ".join(f'"heads(file={path})"' for path in sorted(glob.glob("experiments/data/panel/minilm_*")))
    folder = measure(program, work, "tables", CONFIG)
    run, tap = Run(folder), Tap()
    check_above(tap, program, folder, run)
    check_pairs(tap, program, folder, run)
    check_equal_cost(tap, program, folder, run)
    check_rows(tap, program, folder, run)
    check_cores(tap, program, folder, run)
    check_errors(tap, program, folder, run)
    check_costs(tap, program, folder, run)
    check_intervals(tap, program, measure(program, work, "sources", SOURCES.format(texts=texts)))
    print(f"1..{tap.count}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
