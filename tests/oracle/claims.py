# SPDX-License-Identifier: GPL-3.0-or-later
"""Recomputes with NumPy and SciPy, from rows.csv, what nysbench claims says of claims of every form.

usage: claims.py NYSBENCH WORK_FOLDER

Prints TAP. Twelve small files of heads are made: two models, six sources each, two heads a file. Of a head, trials are
averaged first (segment means has trial 0 alone), then whatever else its rows differ in; of a source its heads. The
interval over sources is Student's; over models, which count the same, with Satterthwaite's degrees of freedom:

    se^2 = sum_g v_g + c,  v_g = w_g^2 sd_g^2 / k_g,  df = se^4 / (sum_g v_g^2 / (k_g - 1) + b^2 / (T - 1))

with c what trials have in common over sources: the component of a two-way layout of sources and T trials, of each
trial's values, or, of what is not linear in the trials, of the jackknife's pseudo-values T x - (T - 1) x_(-t); b is the
trials' mean square, of which c is a part. df is not below the lesser of both parts'. Intervals of k parts hold
together, each at 1 - (1 - confidence) / k, and so do those of claims of one family; above 95 % they are no narrower
than the bound of compare.py.

Tolerance: 1e-10 of each estimate; of the ends of intervals 1e-7, the accuracy of GSL's inverse t distribution (1e-8).
"""
import collections
import csv
import json
import math
import os
import subprocess
import sys

import numpy as np
import scipy.stats

from compare import combined, common_error, half_interval
from measures import Tap, write_safetensors

CONFIG = """
problems: [{problems}]
kernels: [softmax, gram(of=queries)]
strategies: [uniform, kmeans, segment_means, farthest_point]
landmarks: [4, 8, 16]
cores: "svd(rcond=1e-6)"
trials: 3
draws: shared
metrics: error
plots: []
claims:
  - {{id: ratio, says: x, compare: {{strategy: [kmeans, uniform], metric: error, where: {{kernel: softmax}}}},
     expect: {{ratio: [0, 0.99]}}}}
  - {{id: each, says: x, compare: {{strategy: [segment_means, uniform], metric: error, where: {{kernel: softmax}}}},
     expect: {{ratio: [0.5, 1.5]}}, each: [landmarks, model]}}
  - {{id: difference, says: x, compare: {{strategy: [segment_means, uniform], metric: error,
     where: {{landmarks: [4..8 step 4]}}}},
     expect: {{difference: [0, null]}}, confidence: 0.9}}
  - {{id: wins, says: x, compare: {{strategy: [kmeans, uniform], metric: error}}, expect: {{wins: [0.5, null]}},
     family: three}}
  - {{id: equal, says: x, compare: {{strategy: [kmeans, farthest_point], metric: error}}, expect: {{equal: 1.2}},
     family: three}}
  - {{id: mean, says: x, measure: {{metric: error, where: {{strategy: kmeans, kernel: gram}}}},
     expect: {{value: 0.2, within: 0.1}}, family: three}}
  - {{id: median, says: x, measure: {{metric: error, statistic: median, where: {{strategy: uniform}}}},
     expect: {{value: [0.1, 0.9]}}}}
  - {{id: geometric, says: x, measure: {{metric: error, statistic: geometric_mean, where: {{strategy: uniform}}}},
     expect: {{value: [0.1, 0.9]}}}}
  - {{id: order, says: x, order: {{strategy: [kmeans, uniform, segment_means], metric: error,
     where: {{kernel: softmax}}}},
     confidence: 0.9}}
  - {{id: slope, says: x, measure: {{query: slope.sql, metric: error, over: landmarks}}, expect: {{value: [null, 0]}}}}
  - {{id: correlation, says: x, measure: {{query: correlation.sql, over: strategy, metrics: [error, mse]}},
     expect: {{value: [0.8, null]}}}}
  - {{id: own, says: x, measure: {{where: {{landmarks: [4, 16]}}, query: "{own}"}}, expect: {{value: [0, null]}}}}
  - {{id: kernels, says: x, correlate: {{over: strategy, x: {{metric: error, where: {{kernel: gram}}}},
     y: {{metric: error, where: {{kernel: softmax}}}}}},
     expect: {{correlation: [0, null]}}, confounded: [pairing]}}
"""
OWN = ("SELECT stratum_id AS stratum, source_id AS source, head_id AS head, avg(error) * avg(error) AS value "
       "FROM claim_row GROUP BY source_id, head_id")
FAMILY = "wins", "equal", "mean"  # of one part each
INF = math.inf
D = 12  # so that QQ' has no error at m = 16 but rounding's


def write_heads(path, model, source, seed):
    """A file of two heads: clusters of points, so that strategies differ."""
    rng = np.random.default_rng(seed)
    arrays = {}
    for name in "qkv":
        centres = rng.standard_normal((2, 20, D))
        arrays[name] = (centres[:, rng.integers(20, size=48)] + 0.3 * rng.standard_normal((2, 48, D))).astype("<f8")
    write_safetensors(path, arrays, {"model": model, "source": source})


class Rows:
    def __init__(self, path):
        self.all = list(csv.DictReader(open(path, newline="")))
        for r in self.all:
            r["name"] = r["strategy"].split("(")[0]
            r["m"] = int(r["landmarks"])
            for key in ("error", "mse", "error_noise"):
                r[key] = float(r[key])

    def where(self, **conditions):
        return [r for r in self.all
                if all(r[k] in v if isinstance(v, tuple) else r[k].startswith(v) if isinstance(v, str) else r[k] == v
                                           for k, v in conditions.items())]


def head_of(r):
    return r["model"], r["source"], r["problem"], r["head"]


def average(pairs):
    """The mean of the values of each key."""
    found = collections.defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return {key: float(np.mean(values)) for key, values in found.items()}


class Lines:
    """What is found of each (head, setting), from points {value: {trial: number}}: over all trials, and by trial."""

    def __init__(self):
        self.whole, self.by_trial = {}, {}

    def add(self, line, points, function):
        trials = sorted({t for of in points.values() if set(of) != {0} for t in of})
        self.whole[line] = x = function({v: np.mean(list(of.values())) for v, of in points.items()})
        self.by_trial[line] = {}
        for t in trials if len(trials) > 1 else []:
            rest = {v: np.mean([y for u, y in of.items() if u != t or set(of) == {0}]) for v, of in points.items()}
            self.by_trial[line][t] = len(trials) * x - (len(trials) - 1) * function(rest)

    def heads(self):
        return average((head, value) for (head, _), value in self.whole.items())

    def crossed(self):
        """By source and trial; what is not drawn stands in every trial."""
        trials = sorted({t for of in self.by_trial.values() for t in of}) or [0]
        return {(*head[:2], head, setting): of or dict.fromkeys(trials, self.whole[head, setting])
                for (head, setting), of in self.by_trial.items()}


def points_of(rows, line, value, number):
    """{line: {value: {trial: number}}}"""
    found = collections.defaultdict(lambda: collections.defaultdict(dict))
    for r in rows:
        found[head_of(r), line(r)][value(r)][int(r["trial"])] = number(r)
    return found


def single(points):
    return points[None]


def is_noise(row):
    return row["error"] <= row["error_noise"]


def contrast(rows, a, b, difference=False):
    """A against B in the same trial, where trial 0 stands for all if it is alone. What differs by no more than rounding
    is the same, no error is less than its rounding, and two that are noise say nothing."""
    of, lines = points_of(rows, lambda r: (r["kernel"], r["m"], r["pairing"]), lambda r: r["name"],
                          lambda r: r), Lines()
    for line, names in of.items():
        values = {}
        for t in sorted(set(names[a]) | set(names[b])):
            x, y = (names[k].get(t) or names[k][0] for k in (a, b))
            tie = abs(x["error"] - y["error"]) <= x["error_noise"] + y["error_noise"]
            if is_noise(x) and is_noise(y):
                continue
            above = [max(r["error"], r["error_noise"]) for r in (x, y)]
            value = x["error"] - y["error"] if difference else math.log(above[0] / above[1])
            values[t] = 0.0 if tie else value
        if values:
            lines.add(line, {None: values}, single)
    return lines


def measure(rows, scale=float):
    lines = Lines()
    rows = [r for r in rows if scale is float or not is_noise(r)]
    for line, points in points_of(rows, lambda r: (r["kernel"], r["m"], r["pairing"], r["name"]), lambda r: None,
                                  lambda r: scale(r["error"])).items():
        lines.add(line, points, single)
    return lines


def gain(rows):
    """As OWN has it: of a head, the square of the mean error over all rows, which is not linear in the trials."""
    lines, of = Lines(), points_of(rows, lambda r: None, lambda r: None, lambda r: r)
    for line in of:
        mine = [r for r in rows if head_of(r) == line[0]]
        values = lambda trial: [r["error"] for r in mine if r["name"] == "segment_means" or int(r["trial"]) != trial]
        whole = np.mean(values(None)) ** 2
        lines.whole[line] = whole
        lines.by_trial[line] = {t: 3 * whole - 2 * np.mean(values(t)) ** 2 for t in range(3)}
    return lines


def slope(rows):
    lines = Lines()
    rows = [r for r in rows if not is_noise(r)]
    for line, points in points_of(rows, lambda r: (r["kernel"], r["pairing"], r["name"]), lambda r: r["m"],
                                  lambda r: math.log(r["error"])).items():
        if len(points) > 1:
            lines.add(line, points, lambda p: scipy.stats.linregress([math.log(m) for m in p], list(p.values())).slope)
    return lines


def correlate(xs, ys, x, y, setting):
    """Over strategies: {(series, strategy): {trial: number}} for each line."""
    lines, both = Lines(), collections.defaultdict(dict)
    for side, rows, metric in ((0, xs, x), (1, ys, y)):
        rows = [r for r in rows if metric != "error" or not is_noise(r)]
        for line, points in points_of(rows, setting, lambda r: r["name"], lambda r: r[metric]).items():
            both[line].update({(side, name): of for name, of in points.items()})
    for line, points in both.items():
        names = [name for side, name in points if side == 0 and (1, name) in points]
        if len(names) < 3:
            continue
        lines.add(line, points,
                  lambda p: scipy.stats.spearmanr([p[0, k] for k in names], [p[1, k] for k in names]).statistic)
    return lines


def strata(lines):
    """The means of sources, by model."""
    sources = average(((model, source), value) for (model, source, *_), value in lines.heads().items())
    found = collections.defaultdict(list)
    for (model, _), value in sources.items():
        found[model].append(value)
    return found


def interval(groups, common, confidence):
    """Mean, low, high; the part of its variance that more sources lessen, with its degrees of freedom."""
    w = 1 / len(groups)
    mean = sum(w * np.mean(g) for g in groups)
    v = [w**2 * np.var(g, ddof=1) / len(g) for g in groups]
    own_df = sum(v) ** 2 / sum(x**2 / (len(g) - 1) for x, g in zip(v, groups))
    half = half_interval(sum(v), own_df, common, confidence)
    return mean, mean - half, mean + half, sum(v), own_df


def more_by_t(n, own, own_df, common, confidence, distance):
    """How many more than n sources show such a distance with power 0.8; to three digits, and NaN above a million."""
    more = 0
    while more < 10**6:
        less = n / (n + more)
        later = (common[0], common[0] + (common[1] - common[0]) * less, common[2])
        variance, df = combined(own * less, own_df + more, later)
        half = half_interval(own * less, own_df + more, later, confidence)
        if half + scipy.stats.t.ppf(0.8, df) * math.sqrt(variance) <= distance:
            return more
        more += 1 + more // 1000
    return math.nan


def answer(kind, lines, confidence, model=None):
    """Estimate, low, high, and how many sources more leave the interval clear of a distance from the estimate."""
    found = strata(lines)
    used = [model] if model else list(found)
    groups = [found[k] for k in used]
    pooled = np.sort(np.concatenate(groups))
    n = len(pooled)
    z = scipy.stats.norm.ppf((1 + confidence) / 2) + scipy.stats.norm.ppf(0.8)
    common = common_error(lines.crossed(), used, len(used))
    mean, low, high, own, own_df = interval(groups, common, confidence)
    if kind == "wins":
        below, total = sum(pooled < 0), sum(pooled != 0)
        ends = scipy.stats.binomtest(int(below), int(total)).proportion_ci(confidence, "exact")
        share = (below + 1) / (total + 2)
        return below / total, ends.low, ends.high, lambda d: math.ceil(share * (1 - share) * (z / d) ** 2) - n
    if kind == "median":
        k = max([i for i in range(1, n) if 2 * scipy.stats.binom.cdf(i - 1, n, 0.5) <= 1 - confidence], default=0)
        low, high = (pooled[k - 1], pooled[n - k]) if k else (math.nan, math.nan)
        spread = sum(np.var(g, ddof=1) * (len(g) - 1) for g in groups) / (n - len(groups))
        return np.median(pooled), low, high, lambda d: math.ceil(spread * math.pi / 2 * (z / d) ** 2) - n
    needed = lambda d: more_by_t(n, own, own_df, common, confidence, d)
    if kind in ("ratio", "geometric"):
        return math.exp(mean), math.exp(low), math.exp(high), needed
    if kind == "correlation":
        return mean, max(low, -1), min(high, 1), needed
    return mean, low, high, needed


def verdict(kind, lines, low, high, confidence, parts, strict_end=False):
    """What the claim's answer must be: verdict, estimate, low, high, sources, heads, how many more, slack."""
    count = sum(map(len, strata(lines).values()))
    more = slack = None
    possible = {"wins": (0, 1), "correlation": (-1, 1), "ratio": (0, INF), "geometric": (0, INF)}
    first, last = possible.get(kind, (-INF, INF))
    ends = low if low > first else -INF, high if high < last else INF  # what nothing is beyond is no threshold
    confidence = 1 - (1 - confidence) / parts
    estimate, lo, hi, needed = answer(kind, lines, confidence)
    if lo >= low and hi <= high and not (strict_end and hi == high):
        name, slack = "reproduced", min(lo - ends[0], ends[1] - hi)
    elif lo > high or hi < low:
        name, slack = "refuted", max(lo - ends[1], ends[0] - hi)
    elif kind == "ratio" and lo >= 1 / 1.02 and hi <= 1.02:
        name = "equivalent"
    else:
        name = "undecided"
        logs = kind in ("ratio", "geometric")
        ends = [math.log(e) if logs else e for e in (low, high) if math.isfinite(e) and (e > 0 or not logs)]
        x = math.log(estimate) if logs else estimate
        distance = min(abs(x - e) for e in ends)
        if kind == "ratio":
            distance = max(distance, math.log(1.02) - abs(x))
        more = None if math.isnan(needed(distance)) else max(1, needed(distance))
    return name, estimate, lo, hi, count, len(lines.heads()), more, None if slack == INF else slack


def expected(rows):
    """Of each claim: kind, parts (lines of each), low, high, confidence."""
    softmax = rows.where(kernel="softmax")
    parts = [contrast([r for r in softmax if r["m"] == m and r["model"] == model], "segment_means", "uniform")
             for model, m in dict.fromkeys((r["model"], r["m"]) for r in softmax)]
    setting = lambda r: (r["kernel"], r["m"], r["pairing"])
    return {
        "ratio": ("ratio", [contrast(softmax, "kmeans", "uniform")], 0, 0.99, 0.95),
        "each": ("ratio", parts, 0.5, 1.5, 0.95),
        "difference": ("difference", [contrast(rows.where(m=(4, 8)), "segment_means", "uniform", True)], 0, INF, 0.9),
        "wins": ("wins", [contrast(rows.all, "kmeans", "uniform")], 0.5, INF, 0.95),
        "equal": ("ratio", [contrast(rows.all, "kmeans", "farthest_point")], 1 / 1.2, 1.2, 0.95),
        "mean": ("mean", [measure(rows.where(name="kmeans", kernel="gram"))], 0.1, 0.3, 0.95),
        "median": ("median", [measure(rows.where(name="uniform"))], 0.1, 0.9, 0.95),
        "geometric": ("geometric", [measure(rows.where(name="uniform"), math.log)], 0.1, 0.9, 0.95),
        "order": ("ratio", [contrast(softmax, "kmeans", "uniform"), contrast(softmax, "uniform", "segment_means")],
                  -INF, 1, 0.9),
        "slope": ("slope", [slope(rows.all)], -INF, 0, 0.95),
        "correlation": ("correlation", [correlate(rows.all, rows.all, "error", "mse", setting)], 0.8, INF, 0.95),
        "own": ("mean", [gain(rows.where(m=(4, 16)))], 0, INF, 0.95),
        "kernels": ("correlation", [correlate(rows.where(kernel="gram"), softmax, "error", "error", lambda r: r["m"])],
                    0, INF, 0.95),
    }


def same(key, a, b):
    estimated = key == "more_sources" and (b or 0) > 1000
    tolerance = 1e-7 if key in ("low", "high", "slack") else 1e-3 if estimated else 1e-10
    return (a is None and b is None) or (None not in (a, b) and abs(a - b) <= tolerance * max(1, abs(b)))


def agrees(found, wanted):
    name, *numbers = wanted
    return found["verdict"] == name and all(same(key, found[key], x) for key,
                                            x in zip(("estimate", "low", "high", "sources", "heads", "more_sources",
                                                      "slack"), numbers))


def combine(parts):
    """The verdict, and its slack."""
    names, slacks = [p[0] for p in parts], [p[-1] for p in parts if p[-1] is not None]
    if "refuted" in names:
        return "refuted", max(p[-1] for p in parts if p[0] == "refuted")
    if "void" in names or len(set(names)) > 1:
        return "void" if "void" in names else "undecided", None
    return names[0], min(slacks, default=None)


def check(tap, claim, kind, parts, low, high, confidence):
    family = len(FAMILY) if claim["id"] in FAMILY else len(parts)
    wanted = [verdict(kind, lines, low, high, confidence, family, claim["id"] == "order") for lines in parts]
    tap.check(claim["family"] == family, f"{claim['id']}: family", str(claim["family"]))
    if claim["id"] in FAMILY:
        confidence = 1 - (1 - confidence) / family
    if len(wanted) == 1:
        tap.check(agrees(claim, wanted[0]), f"{claim['id']}: {claim['verdict']}", f"{claim} {wanted}")
        for m in claim["models"]:
            estimate = answer(kind, parts[0], confidence, m["model"])[:3]
            wrong = not all(same(k, m[k], None if math.isnan(x) else x) for k,
                            x in zip(("estimate", "low", "high"), estimate))
            tap.check(not wrong, f"{claim['id']}: {m['model']}", f"{m} {estimate}")
        return
    name, slack = combine(wanted)
    agree = claim["verdict"] == name and same("slack", claim["slack"], slack) and len(claim["parts"]) == len(wanted)
    tap.check(agree, f"{claim['id']}: {claim['verdict']}", f"{claim} {wanted}")
    for part, w in zip(claim["parts"], wanted):
        tap.check(agrees(part, w), f"{claim['id']}, {part['part']}: {part['verdict']}", f"{part} {w}")


def main():
    program, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    problems = []
    for i in range(12):
        path = os.path.join(folder, f"{i}.safetensors")
        write_heads(path, ("small", "large")[i // 6], f"text {i}", i)
        problems.append(f'"heads(file={path})"')
    config, run = os.path.join(folder, "claims.yaml"), os.path.join(folder, "run")
    with open(config, "w") as out:
        out.write(CONFIG.format(problems=", ".join(problems), own=OWN))
    subprocess.run([program, "run", config, "--out", run, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    found = json.loads(subprocess.run([program, "claims", run, "--format", "json"], check=True,
                                      capture_output=True).stdout)
    wanted = expected(Rows(os.path.join(run, "rows.csv")))
    tap = Tap()
    tap.check([c["id"] for c in found] == list(wanted), "every claim is answered", str([c["id"] for c in found]))
    for claim in found:
        check(tap, claim, *wanted[claim["id"]])
    tap.check(len({c["verdict"] for c in found}) >= 3, "several verdicts", str({c["verdict"] for c in found}))
    print(f"1..{tap.count}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
