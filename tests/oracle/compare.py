# SPDX-License-Identifier: GPL-3.0-or-later
"""Recomputes `nysbench compare` with NumPy and SciPy from a run's rows.csv.

usage: compare.py NYSBENCH WORK_FOLDER

Prints TAP. Heads are random: two models of 8 and 7 sources with two heads each (of one source only one head), a
generated problem with 7 trials, and a causal model under which some methods are skipped; what is
good for the first head is not for the second. Nothing is shared with the
program but the rows: pairs are dictionaries, signed ranks are counted over all signs.

Tolerance: 1e-9 of each number, some 10^5 roundings of sums of logarithms that cancel; of intervals and
p of t 1e-7, the accuracy of GSL's inverse beta and t distributions (1e-8).
"""
import csv
import itertools
import json
import os
import subprocess
import sys

import numpy as np
from scipy import optimize, stats

from measures import Tap, write_safetensors

MODELS = {"model A": 8, "model B": 7}
N, D = 40, 4


def save(path, heads, model, source, causal, rng):
    shape = (heads, N, D)
    arrays = {name: rng.standard_normal(shape).astype("<f4") for name in "qkv"}
    # of tokens on two sides: half by half, where segment means are good, or in turn, where they are not
    for name in "qk":
        arrays[name][0] += np.where(np.arange(N) < N // 2, 2, -2)[:, None]
        arrays[name][1:] += np.where(np.arange(N) % 2, 2, -2)[:, None]
    write_safetensors(path, arrays, {"model": model, "source": source, "causal": "true" if causal else "false"})


def make_run(nysbench, work):
    rng = np.random.default_rng(1)
    problems = []
    for model, sources in MODELS.items():
        for s in range(sources):
            path = os.path.join(work, f"{model[-1]}{s}.safetensors")
            save(path, 1 if s == 0 else 2, model, f"text {s}", False, rng)
            problems.append(f"heads(file={path})")
    path = os.path.join(work, "causal.safetensors")
    save(path, 1, "model C", "text 0", True, rng)
    problems += [f"heads(file={path})", f"gaussian(n={N}, d={D})"]
    config = {"name": "c", "trials": 7, "draws": "shared", "landmarks": [3, 6], "problems": problems,
              "metrics": ["error"], "strategies": ["uniform", "segment_means", "kmeans(restarts=2)", "leverage"],
              "cores": ["iterative(steps=6)", "svd(rcond=1e-10)"], "plots": []}
    with open(os.path.join(work, "c.yaml"), "w", encoding="utf-8") as out:
        json.dump(config, out)  # JSON is YAML
    run = os.path.join(work, "run")
    subprocess.run([nysbench, "run", os.path.join(work, "c.yaml"), "--quiet", "--out", run], check=True,
                   stdout=subprocess.DEVNULL)
    return run


def stratum_and_source(row):
    if row["source"]:
        return row["model"], row["source"]
    return row["problem"], row["trial"]


def units_of(rows, by, method, baseline, setting, scale="ratio", metric="error"):
    """{(stratum, source, problem, head): {trial: log(method / baseline)}}"""
    picked = {}
    for r in rows:
        if all(r[k] == v for k, v in setting.items()) and r["status"] == "ok" and r[metric]:
            picked.setdefault((r["problem"], r["head"], r[by]), {})[int(r["trial"])] = r
    values = {}
    for (problem, head, value), mine in picked.items():
        theirs = picked.get((problem, head, baseline))
        if value != method or not theirs:
            continue
        for t in sorted(set(mine) | set(theirs)):
            a = mine.get(t) or (mine[0] if set(mine) == {0} else None)
            b = theirs.get(t) or (theirs[0] if set(theirs) == {0} else None)
            if a is None or b is None:
                continue
            x, y = float(a[metric]), float(b[metric])
            noise = float(a["error_noise"]) + float(b["error_noise"])
            tie = abs(x - y) <= noise
            y = 0.0 if tie else np.log(x / y) if scale == "ratio" else x - y
            row = a if a["trial"] == str(t) else b
            values.setdefault((*stratum_and_source(row), problem, head), {})[t] = y
    return values


def anova(units, stratum):
    """Two-way layout of sources and the trials that all of them have: y[source, trial], None for fewer than 2
    trials."""
    table = {}
    for (s, source, *_), by_trial in units.items():
        for t, y in by_trial.items():
            if s == stratum:
                table.setdefault(source, {}).setdefault(t, []).append(y)
    trials = sorted(set.intersection(*(set(v) for v in table.values()))) if table else []
    if len(trials) < 2:
        return None
    return trials, np.array([[np.mean(v[t]) for t in trials] for v in table.values()])


def common_error(units, strata, used):
    """What the trials of all sources have in common, in the mean over strata with equal weights: its variance, the
    trials' mean square that it is what is left of, and the degrees of freedom of that."""
    layouts = [x for x in (anova(units, s) for s in strata) if x]
    if not layouts:
        return 0, 0, np.nan
    trials = sorted(set.intersection(*(set(t) for t, _ in layouts)))
    total, noise = np.zeros(len(trials)), 0
    for own, y in layouts:
        total += y[:, [own.index(t) for t in trials]].mean(0) / used
        k, n = y.shape
        if k > 1:
            residual = y - y.mean(1, keepdims=True) - y.mean(0) + y.mean()
            noise += (residual ** 2).sum() / (k - 1) / (n - 1) / k / n / used ** 2
    square = total.var(ddof=1) / len(trials) if len(trials) > 1 else 0
    return (max(0, square - noise), square, len(trials) - 1) if square > 1e-20 else (0, 0, np.nan)


def combined(own, own_df, common):
    """Variance of both parts, and its degrees of freedom: Satterthwaite's, with the trials' whole mean square for their
    part; not below the lesser of the parts'."""
    variance, square, freedom = common
    both = own + variance
    if square == 0:
        return both, own_df
    return both, max(min(own_df, freedom), both ** 2 / (own ** 2 / own_df + square ** 2 / freedom))


def bound(own, own_df, common, level):
    """Half the interval at the confidence 1 - level whatever the parts are, from the quantile of t of each
    (Banerjee)."""
    half = stats.t.isf(level / 2, own_df) ** 2 * own
    return np.sqrt(half + (stats.t.isf(level / 2, common[2]) ** 2 * common[1] if common[1] > 0 else 0))


def half_interval(own, own_df, common, confidence):
    """Half the t interval: by Satterthwaite's degrees of freedom, and above 95 % no less than the bound."""
    total, df = combined(own, own_df, common)
    half = stats.t.ppf((1 + confidence) / 2, df) * np.sqrt(total)
    return half if 1 - confidence >= 0.05 else max(half, bound(own, own_df, common, 1 - confidence))


def t_p(mean, total, df, own, own_df, common):
    """By Satterthwaite's degrees of freedom down to 0.05; below, the level at which the bound is |mean|, if that is
    more."""
    p = 2 * stats.t.sf(abs(mean) / np.sqrt(total), df)
    if p >= 0.05 or bound(own, own_df, common, 0.05) >= abs(mean):
        return max(p, 0.05)
    return max(p,
               np.exp(optimize.brentq(lambda x: bound(own, own_df, common, np.exp(x)) - abs(mean), -600, np.log(0.05),
                                         xtol=1e-13)))


def wilcoxon(x):
    """All signs of the midranks of |x|, zeros by Pratt: P(|W - mean| >= observed)."""
    ranks, nonzero = stats.rankdata(np.abs(x)), x != 0
    r = ranks[nonzero]
    w = ranks[x > 0].sum()
    if len(r) == 0:
        return w, 1.0
    sums = np.zeros(1)
    for value in r:
        sums = np.concatenate([sums, sums + value])
    return w, np.mean(np.abs(sums - r.sum() / 2) >= abs(w - r.sum() / 2) - 1e-9)


def strata_of(units, model):
    strata = list(dict.fromkeys(k[0] for k in units))
    names = {s: s.replace("gaussian(n=40, d=4, scale=1, permute=false)", "gaussian(n=40, d=4)") for s in strata}
    return strata if model == "all" else [s for s in strata if names[s] == model]


def estimate(units, strata, confidence=0.95):
    by_source = {}
    for (stratum, source, *_), y in units.items():
        if stratum in strata:
            by_source.setdefault((stratum, source), []).append(np.mean(list(y.values())))
    means = {k: np.mean(v) for k, v in by_source.items()}
    groups = [np.array([m for (s, _), m in means.items() if s == stratum]) for stratum in strata]
    groups = [g for g in groups if len(g)]
    all_means = np.concatenate(groups)
    out = {"sources": len(all_means), "heads": sum(len(v) for v in by_source.values())}
    w = 1 / len(groups)
    mean = w * sum(g.mean() for g in groups)
    if all(len(g) > 1 for g in groups):
        var = [g.var(ddof=1) / len(g) for g in groups]
        own = sum(w * w * v for v in var)
        own_df = own ** 2 / sum((w * w * v) ** 2 / (len(g) - 1) for v, g in zip(var, groups))
        common = common_error(units, strata, len(groups))
        total, df = combined(own, own_df, common)
        out["se_trials"] = np.sqrt(common[0])
        half = half_interval(own, own_df, common, confidence)
        out.update(low=np.exp(mean - half), high=np.exp(mean + half), df=df,
                   t_p=t_p(mean, total, df, own, own_df, common))
    below, above = int((all_means < 0).sum()), int((all_means > 0).sum())
    interval = stats.binomtest(below, below + above).proportion_ci(0.95, "exact")
    walsh = np.array([(a + b) / 2 for a, b in itertools.combinations_with_replacement(all_means, 2)])
    statistic, p = wilcoxon(all_means)
    out.update(ratio=np.exp(mean), median=np.exp(np.median(all_means)), wins=below / (below + above),
               wins_low=interval.low, wins_high=interval.high, wilcoxon_w=statistic, wilcoxon_p=p,
               sign_p=stats.binomtest(below, below + above).pvalue, hodges_lehmann=np.exp(np.median(walsh)))
    return out


def close(a, b, tolerance):
    return (a is None and (b is None or not np.isfinite(b))) or \
        (a is not None and b is not None and abs(a - b) <= tolerance * max(abs(a), abs(b), 1e-300))


def heads_differ(units, stratum):
    """Of the heads of a model, the lowest whose interval ends below 1 and the highest whose interval begins above it,
    each of six sources or more and at 95 % for all heads together."""
    heads = sorted({k[3] for k in units if k[0] == stratum}, key=int)
    ends = []
    for head in heads if len(heads) > 1 else []:
        mine = {k: v for k, v in units.items() if k[0] == stratum and k[3] == head}
        means = np.array([np.mean([np.mean(list(y.values())) for k, y in mine.items() if k[1] == source])
                          for source in dict.fromkeys(k[1] for k in mine)])
        if len(means) < 6:
            continue
        own, common = (means.var(ddof=1) / len(means), len(means) - 1), common_error(mine, [stratum], 1)
        half = half_interval(*own, common, 1 - 0.05 / len(heads))
        ends.append((head, means.mean(), means.mean() - half, means.mean() + half))
    low, high = [e for e in ends if e[3] < 0], [e for e in ends if e[2] > 0]
    if not low or not high:
        return None
    text = lambda e: f"{np.exp(e[1]):.3g} [{np.exp(e[2]):.3g}, {np.exp(e[3]):.3g}] on head {e[0]}"
    return f"{text(min(low, key=lambda e: e[1]))}, {text(max(high, key=lambda e: e[1]))}"


def check_heads(tap, rows, lines, by, keys):
    found, wrong = 0, ""
    for line in lines:
        units = units_of(rows, by, line["method"], line["baseline"], {k: str(line[k]) for k in keys})
        truth = None if line["model"] not in MODELS or line["verdict"] == "none" else heads_differ(units, line["model"])
        found += truth is not None
        if truth != line["heads_differ"]:
            wrong = wrong or f": {line['method']}, {line['model']}: {line['heads_differ']}, {truth}"
    tap.check(not wrong and 0 < found < len(lines), f"in {found} of {len(lines)} lines heads differ, by {by}{wrong}")


def check_lines(tap, rows, lines, by, keys):
    worst, count = "", 0
    for line in lines:
        setting = {k: str(line[k]) for k in keys}
        units = units_of(rows, by, line["method"], line["baseline"], setting)
        truth = estimate(units, strata_of(units, line["model"]))
        for name in ("ratio", "low", "high", "median", "wins", "wins_low", "wins_high", "wilcoxon_w", "wilcoxon_p",
                     "sign_p", "hodges_lehmann", "t_p", "df", "se_trials", "sources", "heads"):
            count += 1
            tolerance = 1e-7 if name in ("low", "high", "wins_low", "wins_high", "t_p", "df", "se_trials") else 1e-9
            if not close(line[name], truth.get(name), tolerance):
                worst = worst or f"{line['method']}, {line['model']}: {name} {line[name]}, {truth.get(name)}"
    tap.check(worst == "" and count > 300, f"{count} numbers are those of NumPy and SciPy, by {by}" +
              (f": {worst}" if worst else ""))
    check_families(tap, rows, lines, by, keys)


def check_families(tap, rows, lines, by, keys):
    """The lines of a model that have an interval are a family: each interval at 1 - 0.05 / their number."""
    wrong, families = "", {}
    for line in lines:
        if line["t_p"] is not None:
            families[line["model"]] = families.get(line["model"], 0) + 1
    for line in lines:
        units = units_of(rows, by, line["method"], line["baseline"], {k: str(line[k]) for k in keys})
        k = families[line["model"]]
        truth = estimate(units, strata_of(units, line["model"]), 1 - 0.05 / k)
        if line["family"] != k or not all(close(line[f"joint_{end}"], truth.get(end), 1e-7) for end in ("low", "high")):
            wrong = wrong or f": {line['method']}, {line['model']}: {line['joint_low']}, {truth.get('low')}"
    tap.check(not wrong and max(families.values()) > 5, f"intervals of a model's lines hold together, by {by}{wrong}")


def verdict_of(line, margin):
    low, high = line["joint_low"], line["joint_high"]
    if line["sources"] < 6 or low is None or line["missing"] + line["missing_baseline"] > \
            0.05 * (line["pairs"] + line["missing"] + line["missing_baseline"]):
        return "none"
    if high < 1 or low > 1:
        return "better" if high < 1 else "worse"
    return "equivalent" if low >= 1 / margin and high <= margin else "undecided"


def main():
    nysbench, work = os.path.abspath(sys.argv[1]), sys.argv[2]
    os.makedirs(work, exist_ok=True)
    tap = Tap()
    run = make_run(nysbench, work)
    rows = list(csv.DictReader(open(os.path.join(run, "rows.csv"), newline="")))

    def compare(*options):
        text = subprocess.run([nysbench, "compare", run, "--format", "json", *options], check=True,
                              capture_output=True, text=True).stdout
        return json.loads(text)

    lines = compare()
    check_lines(tap, rows, lines, "strategy", ("kernel", "landmarks", "pairing", "factors", "core"))
    check_heads(tap, rows, lines, "strategy", ("kernel", "landmarks", "pairing", "factors", "core"))
    check_lines(tap, rows, compare("--by", "core"), "core", ("kernel", "landmarks", "pairing", "factors", "strategy"))
    tap.check(all(line["verdict"] == verdict_of(line, 1.02) for line in lines) and
              {"better", "undecided"} <= {line["verdict"] for line in lines}, "verdicts follow from their numbers")
    together = ("family", "joint_low", "joint_high", "verdict", "more_sources", "why")
    tap.check(compare("--where", "core=svd") == [
        {**line, **{name: new[name] for name in together}}
        for line, new in zip([x for x in lines if x["core"].startswith("svd")], compare("--where", "core=svd"))],
        "rows that are left out change what holds together alone")
    table = list(csv.DictReader(subprocess.run([nysbench, "compare", run, "--format", "csv"], check=True,
                                               capture_output=True, text=True).stdout.splitlines()))
    same = all(str(v) == c[k] or (v is None and c[k] == "") or float(c[k]) == v
               for line, c in zip(lines, table) for k, v in line.items())
    tap.check(same and len(table) == len(lines), "CSV and JSON say the same")
    tap.check(compare() == lines, "the same bits again, bootstrap included")
    print(f"1..{tap.count}")
    sys.exit(tap.failed > 0)


if __name__ == "__main__":
    main()
