# SPDX-License-Identifier: GPL-3.0-or-later
"""Recomputes the figure `ratio`, the tables `ranks` and `wins` and the stars of the tables `errors` and `wins`
with NumPy and SciPy from a run's rows.csv.

usage: ranking.py NYSBENCH WORK_FOLDER

Prints TAP. The run is that of compare.py, two models of 8 and 7 sources, a causal one under which some methods are
skipped, and a problem that is drawn; seven of its rows are lost, so that a source has no result of a method. The
program ranks by counting which methods have less than which; here each source has the mean over its heads of the mean
log error over their trials, and SciPy ranks those.

Tolerance: 1e-9 of each number; of intervals and p 1e-7, the accuracy of GSL's inverse t and beta distributions.
"""
import collections
import csv
import io
import itertools
import os
import re
import sqlite3
import subprocess
import sys

import numpy as np
from scipy import stats

from compare import estimate, make_run, strata_of, stratum_and_source, units_of
from measures import Tap

KEYS = ("kernel", "landmarks", "pairing", "factors", "core")
LEAST, ALPHA = 6, 0.05
STARS = """
problems: ["clusters(n=64, d=8, count=4)", "smooth(n=64, d=8)",
    "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors)"]
strategies: [uniform, segment_means, kmeans, group_means]
cores: [iterative, "svd(rcond=0.1)"]
landmarks: [4, 8, 16]
trials: 25
draws: shared
metrics: error
plots: []
"""


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(nysbench, run, name):
    command = [nysbench, "table", run, name, "--format", "csv"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "nan" not in text.lower(), name
    return list(csv.DictReader(io.StringIO(text)))


def near(text, truth, tolerance=1e-9):
    if truth is None or np.isnan(truth):
        return text == ""
    return text != "" and (float(text) == truth or abs(float(text) - truth) <= tolerance * max(abs(truth), 1e-300))


class Numbers:
    """Many comparisons, told as one test."""

    def __init__(self, tap, name):
        self.tap, self.name, self.count, self.wrong = tap, name, 0, []

    def check(self, good, what):
        self.count += 1
        self.wrong += [] if good else [what]

    def end(self, least):
        good = not self.wrong and self.count >= least
        self.tap.check(good, f"{self.name}: {self.count} numbers", f"{least} wanted, wrong: {self.wrong[:3]}")


def lose_a_row(run):
    """k-means has no result in one source of model A, under one core at one m."""
    base = sqlite3.connect(os.path.join(run, "results.sqlite"))
    where = "source = 'text 0' and model = 'model A' and strategy like 'kmeans%' and landmarks = 3 and core like 'svd%'"
    lost = base.execute(f"update results set status = 'failed', reason = 'lost', error = NULL where {where}").rowcount
    base.commit()
    base.close()
    assert lost == 7, lost


def exported(nysbench, run):
    text = subprocess.run([nysbench, "export", run], check=True, capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def model_of(row):
    return row["model"] or "gaussian(n=40, d=4)"


class Levels:
    """The value of each method in each source, of one setting."""

    def __init__(self, rows, setting, model):
        self.planned, by_head = set(), collections.defaultdict(lambda: collections.defaultdict(list))
        self.methods = list(dict.fromkeys(r["strategy"] for r in rows if self.holds(r, setting, model)))
        for r in rows:
            if not self.holds(r, setting, model):
                continue
            key = (model_of(r), stratum_and_source(r)[1])
            self.planned.add(key)
            if r["status"] == "ok":
                by_head[key, r["strategy"]][r["head"]].append(np.log(float(r["error"])))
        self.value = {k: np.mean([np.mean(v) for v in heads.values()]) for k, heads in by_head.items()}
        self.ranked = [m for m in self.methods if any((s, m) in self.value for s in self.planned)]
        self.used = [s for s in sorted(self.planned) if all((s, m) in self.value for m in self.ranked) and self.ranked]

    @staticmethod
    def holds(r, setting, model):
        return all(r[k] == setting[k] for k in KEYS) and model in ("all", model_of(r))


def friedman(ranks):
    n, k = ranks.shape
    chi2, p = stats.friedmanchisquare(*ranks.T) if k > 2 else (np.nan, np.nan)
    w = chi2 / (n * (k - 1))
    f = (n - 1) * chi2 / (n * (k - 1) - chi2) if w < 1 - 1e-12 else np.inf
    f_p = stats.f.sf(f, k - 1, (k - 1) * (n - 1))
    q = stats.studentized_range.isf(ALPHA, k, np.inf) / np.sqrt(2)
    return chi2, p, f, f_p, w, q * np.sqrt(k * (k + 1) / (6 * n))


def letters(text):
    """The groups that a text means: a, ab, a-c."""
    ends = [ord(c) - ord("a") for c in text if c != "-"]
    return set(range(ends[0], ends[-1] + 1)) if text else set()


def check_ranks(tap, rows, lines):
    numbers, blocks = Numbers(tap, "table ranks"), collections.defaultdict(list)
    for line in lines:
        blocks[tuple(line[k] for k in KEYS) + (line["model"],)].append(line)
    untested = left_out = 0
    for key, block in blocks.items():
        levels = Levels(rows, block[0], block[0]["model"])
        table = np.array([[levels.value[s, m] for m in levels.ranked] for s in levels.used])
        ranks = stats.rankdata(table, axis=1) if len(levels.used) else None
        for line in block:
            own = ranks[:, levels.ranked.index(line["method"])].mean() if line["method"] in levels.ranked and \
                ranks is not None else np.nan
            numbers.check(near(line["rank"], own), (key, line["method"], line["rank"], own))
            missing = sum((s, line["method"]) not in levels.value for s in levels.planned)
            counts = [int(line[k]) for k in ("missing", "sources", "left_out", "ranked")]
            truth = [missing, len(levels.used), len(levels.planned) - len(levels.used), len(levels.ranked)]
            numbers.check(counts == truth, (key, counts, truth))
            tests = friedman(ranks) if len(levels.used) >= LEAST else [np.nan] * 6
            for name, value in zip(("chi2", "chi2_p", "f", "f_p", "w", "critical_difference"), tests):
                numbers.check(near(line[name], value, 1e-7), (key, name, line[name], value))
        names = [f"{m}: trial {s}" if m.startswith("gaussian") else f"{m}: {s}" for m,
                 s in sorted(levels.planned - set(levels.used))]
        numbers.check(sorted(filter(None, block[0]["left_out_sources"].split(" | "))) == sorted(names),
                      (key, block[0]["left_out_sources"], names))
        left_out += len(names) > 0
        untested += len(levels.used) < LEAST
        for a, b in itertools.combinations([x for x in block if x["groups"]], 2):
            alike = abs(float(a["rank"]) - float(b["rank"])) <= friedman(ranks)[-1]
            numbers.check(alike == bool(letters(a["groups"]) & letters(b["groups"])), (key, a["label"], b["label"]))
        numbers.check(all(bool(x["groups"]) == (len(levels.used) >= LEAST and x["method"] in levels.ranked)
                          for x in block), key)
    numbers.end(400)
    tap.check(untested > 0 and left_out > 0, f"{untested} standings have too few sources, {left_out} leave some out")


def surely_less(rows, lines):
    """The settings, models and pairs of which the first surely has less error, by intervals of all pairs of all lines
    that hold together (Bonferroni)."""
    truths = {}
    for line in lines:
        setting = {k: line[k] for k in KEYS}
        units = units_of(rows, "strategy", line["method"], line["over"], setting) if int(line["sources"]) else {}
        strata = strata_of(units, line["model"])
        if strata:
            truths[setting["core"], line["model"], line["landmarks"], line["label"], line["over_label"]] = units, strata
    means = {k: estimate(*of) for k, of in truths.items()}
    tests = sum(not np.isnan(m.get("t_p", np.nan)) for m in means.values()) / 2  # each pair is there twice
    return {k for k, of in truths.items()
            if means[k]["sources"] >= LEAST and estimate(*of, 1 - ALPHA / tests).get("high", np.inf) < 1}


def check_win_stars(tap, nysbench, rows, run, lines):
    truths, shown, cores = surely_less(rows, lines), set(), sorted({line["core"] for line in lines})
    text = subprocess.run([nysbench, "table", run, "wins"], check=True, capture_output=True, text=True).stdout
    labels = []
    for line in text.splitlines():
        if line.startswith("core "):
            core = next(c for c in cores if c.startswith(line.split()[1].split("(")[0]))
        elif about := re.fullmatch(r"(.*), landmarks (\d+)", line):
            model, m, cells = about[1].replace("all models and problems", "all"), about[2], []
        elif cell := re.fullmatch(r"  +\d+  (.*?) ( *(?:-|\d+/\d+\*?))+ *", line):
            values = re.findall(r"(?: |^)(-|\d+/\d+\*?)(?= |$)", line)
            cells.append((cell[1].strip(), values))
            labels = [label for label, _ in cells]
            if len(cells) == len(values):
                shown |= {(core, model, m, a, b) for a, line_values in cells for b, value in zip(labels, line_values)
                          if value.endswith("*")}
    tap.check(shown == truths and len(shown) > 3, f"table wins: {len(shown)} stars", f"{shown ^ truths}")


def check_wins(tap, rows, lines):
    numbers, blocks = Numbers(tap, "table wins"), collections.defaultdict(list)
    for line in lines:
        blocks[tuple(line[k] for k in KEYS) + (line["model"],)].append(line)
    for key, block in blocks.items():
        levels = Levels(rows, block[0], block[0]["model"])
        for line in block:
            a, b = line["method"], line["over"]
            both = [s for s in levels.planned if (s, a) in levels.value and (s, b) in levels.value]
            below = sum(levels.value[s, a] < levels.value[s, b] for s in both)
            above = sum(levels.value[s, a] > levels.value[s, b] for s in both)
            counts = [int(line[k]) for k in ("below", "above", "equal", "sources")]
            numbers.check(counts == [below, above, len(both) - below - above, len(both)], (key, a, b, counts))
            numbers.check(near(line["share"], below / len(both) if both else np.nan), (key, a, b, line["share"]))
    numbers.end(300)


def check_ratios(tap, nysbench, rows, run):
    subprocess.run([nysbench, "plot", run, "ratio"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    numbers, heads = Numbers(tap, "figure ratio"), 0
    names = {label: next(r["strategy"] for r in rows if r["strategy"].startswith(re.split("[(,]", label)[0]))
             for label in ("uniform", "segment_means", "kmeans(restarts=2)", "leverage, oracle")}
    dots = collections.defaultdict(list)
    for core in ("iterative", "svd_rcond_1e-10"):
        path = os.path.join(run, "plots", f"ratio_{core}.dat")
        script = open(path[:-4] + ".gp", encoding="utf-8").read()
        panels, series = (re.findall(r"'([^']*)'", re.search(rf"^array {a}\[.*$", script, re.M).group())
                          for a in ("panels", "series"))
        for line in filter(None, open(path, encoding="utf-8").read().splitlines()[1:]):
            panel, one, head, m, value = line.split(",")[:5]
            if head == "1":
                dots[core.split("_")[0], panels[int(panel) - 1].split(" (")[0], series[int(one) - 1],
                     m].append(float(value))
    for line in read(os.path.join(run, "plots", "ratio.csv")):
        core = next(r["core"] for r in rows if r["core"].startswith(line["figure"].split("(")[0]))
        setting = {"core": core, "landmarks": line["landmarks"]}
        units = units_of(rows, "strategy", names[line["series"]], names["uniform"], setting)
        strata = list(dict.fromkeys(k[0] for k in units))
        chosen = strata if line["panel"].startswith("all") else [s for s in strata
                                                                 if s.startswith(line["panel"].split("(")[0])]
        truth = estimate(units, chosen)
        for name in ("ratio", "low", "high", "sources", "heads"):
            shown = name not in ("low", "high") or truth["sources"] >= LEAST
            numbers.check(near(line[name], truth.get(name, np.nan) if shown else np.nan, 1e-7),
                          (line, name, truth.get(name)))
        mine = sorted(np.exp(np.mean(list(y.values()))) for k, y in units.items() if k[0] in chosen)
        theirs = sorted(dots[line["figure"].split("(")[0], line["panel"].split(" (")[0], line["series"],
                             line["landmarks"]])
        numbers.check(len(mine) == len(theirs) and np.allclose(mine, theirs, rtol=1e-12),
                      (line, len(mine), len(theirs)))
        heads += len(mine)
    numbers.end(200)
    tap.check(heads > 500, f"{heads} heads are dots")


def least_of(rows, problem, core, m):
    """The strategy of the least median, and p of its ratio to the next one; None: there are too few sources."""
    of = collections.defaultdict(dict)
    if problem.startswith("heads"):  # of one file, which is one source
        return None
    for r in rows:
        if (r["problem"], r["core"], r["landmarks"]) == (problem, core, m):
            of[r["strategy"]][r["head"], r["trial"]] = float(r["error"])
    least, second = sorted(of, key=lambda s: np.median(list(of[s].values())))[:2]
    x = np.array([np.log(of[least][k] / of[second][k]) for k in of[least]])
    return (least, x.mean(), stats.ttest_1samp(x, 0).pvalue) if len(x) >= LEAST else None


def stars_of(rows):
    """By column, the strategy that is surely the least, by tests of all columns that hold together (Bonferroni)."""
    columns = sorted({(r["problem"], r["core"], r["landmarks"]) for r in rows})
    tests = {c: found for c in columns if (found := least_of(rows, *c))}
    return {column: least for column, (least, mean, p) in tests.items() if len(tests) * p <= 0.05 and mean < 0}


def check_stars(tap, nysbench, work):
    config, run = os.path.join(work, "stars.yaml"), os.path.join(work, "stars")
    with open(config, "w", encoding="utf-8") as out:
        out.write(STARS)
    subprocess.run([nysbench, "run", config, "--quiet", "--out", run], check=True, stdout=subprocess.DEVNULL)
    rows = read(os.path.join(run, "rows.csv"))
    text = subprocess.run([nysbench, "table", run, "errors"], check=True, capture_output=True, text=True).stdout
    numbers, problem, core, stars = Numbers(tap, "stars of the table errors"), None, None, 0
    truths = stars_of(rows)
    without_intervals = re.sub(r" +\[.*?\]", "", text.split("In the tables:")[0])
    for line in without_intervals.splitlines():
        start = line.split("(")[0].strip()
        if not line.startswith(" ") and "(" in line:
            problem = next(r["problem"] for r in rows if r["problem"].startswith(start))
        elif re.match(r"  (iterative|svd)", line):
            core = next(r["core"] for r in rows if r["core"].startswith(start))
        elif line.startswith("    "):
            strategy = next(r["strategy"] for r in rows if r["strategy"].startswith(line.split()[0]))
            for m, cell in zip(("4", "8", "16"), line.split()[1:]):
                truth = truths.get((problem, core, m)) == strategy
                numbers.check(cell.endswith("*") == truth, (problem, core, m, strategy, cell))
                stars += truth
    numbers.end(3 * 2 * 4 * 3)
    tap.check(0 < stars < 12, f"{stars} of 12 columns have a star")


def main():
    nysbench, work = sys.argv[1], sys.argv[2]
    os.makedirs(work, exist_ok=True)
    run, tap = make_run(nysbench, work), Tap()
    lose_a_row(run)
    rows = exported(nysbench, run)
    check_ranks(tap, rows, table(nysbench, run, "ranks"))
    wins = table(nysbench, run, "wins")
    check_wins(tap, rows, wins)
    check_win_stars(tap, nysbench, rows, run, wins)
    check_ratios(tap, nysbench, rows, run)
    check_stars(tap, nysbench, work)
    print(f"1..{tap.count}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
