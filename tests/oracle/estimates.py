# SPDX-License-Identifier: GPL-3.0-or-later
"""Statistics of random data against SciPy, and against enumeration where that has no exact answer.

usage: estimates.py NYSBENCH WORK_FOLDER

Prints TAP. Talks to tests/oracle/estimates.c beside the program. Values are multiples of 1/8 where ties and zeros are
wanted, so that equal ones are equal to the bit on both sides.

What stands for what: the t interval and the two one-sided tests are ttest_1samp of the means of sources; two strata,
the values of one negated, are Welch's test of their difference; the ICC is from F of f_oneway; the signed rank test is
all 2^n signs (and SciPy's exact one where there are no ties); Hodges-Lehmann sorts all averages; the bootstrap is
SciPy's BCa of the mean, stretched by sqrt(k / (k - 1)), both of 20,000 resamples, within 0.15 standard errors (the
quantiles have a standard deviation of 0.02, and z0 adds as much).
"""
import itertools
import os
import subprocess
import sys

import mpmath
import numpy as np
from scipy import stats

from measures import Tap

CONFIDENCE, MARGIN, RESAMPLES = 0.9, 0.3, 20000
QUANTILE = 1e-8  # Cephes, which SciPy 1.10 has Student's quantiles from, is as near as 3e-9 relative
RNG = np.random.default_rng(20260731)


class Requests:
    """Requests, each with what its answer must hold to; sent at once."""

    def __init__(self, program):
        self.program, self.texts, self.checks = program, [], []
        self.groups = {}

    def ask(self, text, lines, check):
        self.texts.append(text)
        self.checks.append((lines, check))

    def near(self, group, got, want, bound=1e-10):
        """bound: relative to 1 + |want|."""
        count, wrong = self.groups.setdefault(group, [0, []])
        self.groups[group][0] = count + 1
        if not (got == want or (np.isnan(got) and np.isnan(want)) or abs(got - want) <= bound * (1 + abs(want))):
            wrong.append(f"{got!r}, expected {want!r}")

    def send(self):
        done = subprocess.run([self.program], input="\n".join(self.texts), capture_output=True, text=True, check=True)
        answers = done.stdout.splitlines()
        for lines, check in self.checks:
            mine, answers = answers[:lines], answers[lines:]
            check([dict(part.split("=") for part in line.split()) if "=" in line else [float(x) for x in line.split()]
                   for line in mine])
        assert not answers


def text_of(values):
    return " ".join(f"{float(x):.17g}" for x in np.ravel(values))


def sample(n, ties):
    return RNG.integers(-9, 12, n) / 8 if ties else RNG.normal(0.2, 1, n)


def signed_rank(x, zero_rule):
    """W and p over all signs."""
    kept = x[x != 0] if zero_rule == "drop" else x
    ranks = stats.rankdata(np.abs(kept))[kept != 0]
    signs = np.array(list(itertools.product((0, 1), repeat=len(ranks))))
    sums, w = signs @ ranks, ranks[kept[kept != 0] > 0].sum()
    return w, np.mean(np.abs(sums - ranks.sum() / 2) >= abs(w - ranks.sum() / 2) - 1e-9)


def walsh(x, confidence):
    """The median of the averages, and their k-th from both ends; k by how many subsets of 1 ... n have each sum."""
    n = len(x)
    averages = np.sort([(x[i] + x[j]) / 2 for i in range(n) for j in range(i, n)])
    subsets = np.ones(1)
    for i in range(1, n + 1):
        subsets = np.convolve(subsets, np.r_[1, np.zeros(i - 1), 1]) / 2
    k = int(np.sum(np.cumsum(subsets) <= (1 - confidence) / 2))
    return np.median(averages), averages[k - 1] if k else np.nan, averages[-k] if k else np.nan


def check_ranks(r, x):
    n = len(x)
    for pratt, rule in ((1, "pratt"), (0, "drop")):
        wanted = signed_rank(x, rule)

        def check(lines, want=wanted):
            r.near("signed rank test, all signs", lines[0][0], want[0])
            r.near("signed rank test, all signs", lines[0][1], want[1], 1e-13)
        r.ask(f"wilcoxon {pratt} {n} {text_of(x)}", 1, check)


VERDICTS = ("none", "refused", "exact", "better", "worse", "equivalent", "undecided")


def check_verdict(r, x, family, e):
    """Of x among a family: its interval, and what the p of both questions say, each corrected for all."""
    alpha = (1 - CONFIDENCE) / family
    for name, want in zip(("joint_low", "joint_high"), stats.ttest_1samp(x, 0).confidence_interval(1 - alpha)):
        r.near("interval of a family", e[name], want, QUANTILE)
    differs = stats.ttest_1samp(x, 0).pvalue
    within = max(stats.ttest_1samp(x, m, alternative=a).pvalue for m, a in ((-MARGIN, "greater"), (MARGIN, "less")))
    if np.ptp(x) == 0 or min(abs(differs / alpha - 1), abs(2 * within / alpha - 1)) < 1e-9:
        return
    verdict = (("better" if np.mean(x) < 0 else "worse") if differs < alpha else
               "equivalent" if 2 * within < alpha else "undecided")
    r.near(f"verdict of a family: {verdict}", float(VERDICTS[int(e["verdict"])] == verdict), 1)


def units_text(strata, units, resamples=0, family=1):
    return f"estimate {CONFIDENCE} {resamples} 7 {family} {MARGIN} {strata} {len(units)} " + " ".join(
        f"{g} {s} {text_of([value, variance])}" for g, s, value, variance in units)


def check_one_stratum(r, x, resamples):
    """One unit a source."""
    k, family = len(x), 1 + len(x) % 5

    def check(lines):
        e = {name: float(value) for name, value in lines[-1].items()}
        r.near("strata: one is all", float(lines[0] == lines[1]), 1)
        t = stats.ttest_1samp(x, 0)
        for name, want in zip(("t_p", "low", "high"), (t.pvalue, *t.confidence_interval(CONFIDENCE))):
            r.near("t test and interval", e[name], want, QUANTILE)
        r.near("t test and interval", e["se"], stats.sem(x))
        check_verdict(r, x, family, e)
        r.near("median", e["median"], np.median(x))
        for name, want in zip(("shift", "shift_low", "shift_high"), walsh(x, CONFIDENCE)):
            r.near("Hodges-Lehmann, all averages", e[name], want)
        w = signed_rank(x, "pratt") if k <= 12 else None
        if w is None and len(set(np.abs(x))) == k:
            scipys = stats.wilcoxon(x, mode="exact")
            w = (e["wilcoxon_w"], scipys.pvalue)
            r.near("signed rank test, SciPy's exact one", min(w[0], k * (k + 1) / 2 - w[0]), scipys.statistic)
        if w is not None:
            r.near("signed rank test, of estimates", e["wilcoxon_w"], w[0])
            r.near("signed rank test, of estimates", e["wilcoxon_p"], w[1], 1e-13)
        below, above = int(np.sum(x < 0)), int(np.sum(x > 0))
        if below + above:
            test = stats.binomtest(below, below + above)
            share = test.proportion_ci(CONFIDENCE, "exact")
            r.near("sign test", e["sign_p"], test.pvalue)
            r.near("Clopper-Pearson", e["below_low"], share.low)
            r.near("Clopper-Pearson", e["below_high"], share.high)
        if resamples:
            boot = stats.bootstrap((x,), np.mean, confidence_level=CONFIDENCE, n_resamples=resamples, method="BCa",
                                   random_state=RNG).confidence_interval
            for name, end in (("boot_low", boot.low), ("boot_high", boot.high)):
                want = (end - x.mean()) * np.sqrt(k / (k - 1)) + x.mean()
                r.near("bootstrap, BCa", (e[name] - want) / e["se"], 0, 0.15)
    r.ask(units_text(1, [(0, i, value, 0) for i, value in enumerate(x)], resamples, family), 2, check)


def check_two_strata(r, x, y):
    """mean (x) - mean (y), over two: Welch's test."""
    units = [(0, i, value, 0) for i, value in enumerate(x)] + [(1, 100 + i, -value, 0) for i, value in enumerate(y)]
    RNG.shuffle(units)
    units = [(int(g), int(s), value, variance) for g, s, value, variance in units]

    def check(lines):
        e = {name: float(value) for name, value in lines[2].items()}
        welch = stats.ttest_ind(x, y, equal_var=False)
        r.near("two strata, Welch's test", e["mean"] / e["se"], welch.statistic)
        r.near("two strata, Welch's test", e["t_p"], welch.pvalue)
        half = stats.t.isf((1 - CONFIDENCE) / 2, e["df"]) * e["se"]
        r.near("two strata, Welch's test", e["high"], e["mean"] + half, QUANTILE)
    r.ask(units_text(2, units), 3, check)


def check_nested(r):
    """Sources of unequal numbers of units, with errors of measurement."""
    groups = [RNG.normal(RNG.normal(0, 1.5), 1, RNG.integers(1, 6)) for _ in range(RNG.integers(3, 9))]
    groups[0] = RNG.normal(0, 1, 4)
    variances = [RNG.uniform(0, 0.3, len(g)) for g in groups]
    units = [(0, 3 * s, y, v) for s in range(len(groups)) for y, v in zip(groups[s], variances[s])]
    RNG.shuffle(units)
    units = [(int(g), int(s), value, variance) for g, s, value, variance in units]

    def check(lines):
        e = {name: float(value) for name, value in lines[0].items()}
        k, total = len(groups), sum(map(len, groups))
        f = stats.f_oneway(*groups).statistic
        size = (total - sum(len(g) ** 2 for g in groups) / total) / (k - 1)
        icc = (f - 1) / (f + size - 1)
        if icc < -1 / (max(map(len, groups)) - 1) - 1e-12:
            icc = np.nan
        r.near("nested analysis of variance", e["icc"], icc)
        r.near("nested analysis of variance", e["design_effect"], 1 + (size - 1) * max(icc, 0))
        r.near("nested analysis of variance", e["effective"] * e["design_effect"], total)
        means = np.array([g.mean() for g in groups])
        own = sum(v.sum() / len(v) ** 2 for v in variances) / k**2
        r.near("errors of measurement", e["se"], np.sqrt(means.var(ddof=1) / k + own))
        half = stats.t.isf((1 - CONFIDENCE) / 2, k - 1) * e["se"]
        r.near("errors of measurement", e["low"], means.mean() - half, QUANTILE)
    r.ask(units_text(1, units), 2, check)


def check_agreement(r, n, ties):
    x, y = sample(n, ties), sample(n, ties)
    y = y + (x // 0.5) / 2 if ties else y + 0.4 * x

    def spearman(lines):
        want = stats.spearmanr(x, y)
        r.near("Spearman", lines[0][0], want[0])
        r.near("Spearman", lines[0][1], want[1], 1e-9)

    r.ask(f"spearman {n} {text_of(x)} {text_of(y)}", 1, spearman)


def check_friedman(r, blocks, methods, ties):
    table = sample(blocks * methods, ties).reshape(blocks, methods)

    def check(lines):
        chi2, p = stats.friedmanchisquare(*table.T)
        f = (blocks - 1) * chi2 / (blocks * (methods - 1) - chi2)
        want = [chi2, p, chi2 / (blocks * (methods - 1)), f, stats.f.sf(f, methods - 1, (methods - 1) * (blocks - 1)),
                *stats.rankdata(table, axis=1).mean(axis=0)]
        for got, expected in zip(lines[0], want):
            r.near("Friedman", got, expected)
    r.ask(f"friedman {blocks} {methods} {text_of(table)}", 1, check)


def check_range(r, count, value):
    def check(lines):
        inside = mpmath.quad(lambda z: mpmath.npdf(z) * (mpmath.ncdf(z + value) - mpmath.ncdf(z)) ** (count - 1),
                             [-12, -6, -3, -1, 0, 2, 4, 8])
        r.near("range of normal numbers", lines[0][0], float(1 - count * inside), 1e-12)
        if value == 3.5:
            scipys = stats.studentized_range.sf(value, count, np.inf)
            r.near("range of normal numbers, SciPy", lines[0][0], scipys, 1e-8)
    r.ask(f"range {count} {value}", 1, check)


def check_holm(r, n):
    p = np.where(RNG.random(n) < 0.2, np.nan, RNG.integers(0, 40, n) / 40)

    def check(lines):
        want, kept = np.full(n, np.nan), np.flatnonzero(~np.isnan(p))
        for i in kept:
            want[i] = max(min(1, np.sum(~(p[kept] < p[j])) * p[j]) for j in kept if p[j] <= p[i])
        for got, expected in zip(lines[0], want):
            r.near("Holm", got, expected)
    r.ask(f"holm {n} {text_of(p)}", 1, check)


def main():
    program = os.path.join(os.path.dirname(os.path.realpath(sys.argv[1])), "tests", "oracle_estimates")
    tap, r = Tap(), Requests(program)
    for n in range(2, 12):
        for ties in (False, True, True):
            check_ranks(r, sample(n, ties))
            check_one_stratum(r, sample(n, ties), 0)
            check_agreement(r, n + 1, ties)
            check_friedman(r, n, 3 + n % 5, ties and n > 3)
        check_two_strata(r, sample(n, False), 2.385 * sample(13 - n, False) + 0.7)
        check_nested(r)
        check_holm(r, n)
    for n in (12, 17, 30, 50):
        check_one_stratum(r, RNG.exponential(1, n) - 0.6, RESAMPLES)
        check_one_stratum(r, RNG.normal(0, 0.2, n), 0)
        check_agreement(r, n, n == 17)
    for count, value in itertools.product((2, 3, 10, 50), (0.3, 1.7, 3.5, 7.0)):
        check_range(r, count, value)
    r.send()
    for name, (count, wrong) in sorted(r.groups.items()):
        tap.check(not wrong, f"{name}: {count} numbers", f"{len(wrong)} wrong; {wrong[:1]}")
    tap.check(len(r.groups) == 23, "every kind has been compared", f"{len(r.groups)}: {sorted(r.groups)}")
    print(f"1..{tap.count}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
