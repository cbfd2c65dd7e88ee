# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks strategies of order and geometry, and those that learn, from exported picks.

usage: geometry.py NYSBENCH WORK_FOLDER

Prints TAP. Rules are checked pick by pick with NumPy, k-means with scikit-learn,
`fit` with numpy.linalg.lstsq. Where a rule is an argmax, a pick counts as right
when its value is within 1e-12 (relative to the largest) of the best one: sums of
at most 128 products differ by about 128 eps = 3e-14 between orders of summation.
"""

import csv
import os
import subprocess
import sys

import numpy as np
from sklearn.cluster import KMeans

from measures import Group, Tap, exact, float16_head

CLOSE = 1e-12
VIT = "experiments/data/vit_astronaut_n257_L6.safetensors"
SMOLLM = "experiments/data/smollm2_opticks_n1024_L15.safetensors"
CONFIG = """\
trials: 2
landmarks: [1, 7, 20]
problems: [{problems}]
strategies: [{strategies}]
pairing: [independent, joint]
cores: svd
metrics: error
plots: []
"""
PROBLEMS = ["gaussian(n=130, d=16)", "clusters(n=100, d=8, count=7, order=shuffled)",
            "clusters(n=60, d=5, count=7, spread=0)",
            f"heads(file={VIT}, head=0, max_n=140)"]
CONVERGED = ["kmeans", "kmeans(init=maximin)", "kmeans(init=random)"]
RULES = ["uniform(strided=true)", "farthest_point", "farthest_point(start=central)", "orthogonal", "dsquared",
         "context"]


def quoted(texts):
    return ", ".join(f'"{text}"' for text in texts)


def picks_of(program, work, name, problems, strategies):
    """Runs it; yields (row of the index, q, k, query picks, key picks)."""
    config, run, folder = (os.path.join(work, name + end) for end in (".yaml", "", "-landmarks"))
    with open(config, "w") as file:
        file.write(CONFIG.format(problems=quoted(problems), strategies=quoted(strategies)))
    subprocess.run([program, "run", config, "--quiet", "--out", run], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([program, "export", run, "--landmarks", folder], check=True)
    with open(os.path.join(folder, "index.csv"), newline="") as file:
        for row in csv.DictReader(file):
            at = os.path.join(folder, f"instance-{row['instance']}")
            q, k = np.load(os.path.join(at, "q.npy")), np.load(os.path.join(at, "k.npy"))
            queries = np.load(os.path.join(at, row["picks"] + "-queries.npy"))
            keys = np.load(os.path.join(at, row["picks"] + "-keys.npy"))
            yield row, q, k, queries, keys


def sides(row, q, k, queries, keys):
    """(points, picks, the other side's mean as long as a point, name of the side), once for joint."""
    if row["pairing"] == "joint":
        assert queries.ndim > 1 or np.array_equal(queries, keys)
        yield np.hstack([q, k]), queries, np.concatenate([k.mean(0), q.mean(0)]) / 2, "joint"
    else:
        yield q, queries, k.mean(0), "queries"
        yield k, keys, q.mean(0), "keys"


def squared_distances(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(-1)


def strided(x, picks, _):
    return np.array_equal(picks, [(2 * j + 1) * len(x) // (2 * len(picks)) for j in range(len(picks))])


def one_by_one(x, picks, value):
    """Each pick after the first has the largest value(chosen) of those left; among exact equals the lowest index."""
    for j in range(1, len(picks)):
        values = value(picks[:j])
        values[picks[:j]] = -np.inf
        best = values.max()
        if not values[picks[j]] >= best - CLOSE * max(abs(best), 1):
            return False
        if values[picks[j]] == best and picks[j] != np.argmax(values):
            return False
    return len(set(picks)) == len(picks)


def farthest(x, picks, _):
    between = squared_distances(x, x)
    return one_by_one(x, picks, lambda chosen: between[:, chosen].min(1))


def central(x, picks, other):
    distances = ((x - x.mean(0)) ** 2).sum(1)
    return distances[picks[0]] <= distances.min() + CLOSE * distances.max() and farthest(x, picks, other)


def orthogonal(x, picks, _):
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    cosines = np.abs(unit @ unit.T)
    largest = lambda chosen: cosines[:, chosen].max(1)
    for j in range(1, len(picks)):
        values = largest(picks[:j])
        values[picks[:j]] = np.inf
        if not values[picks[j]] <= values.min() + CLOSE:
            return False
    return len(set(picks)) == len(picks)


def dsquared(x, picks, _):
    between = squared_distances(x, x)
    for j in range(1, len(picks)):
        values = between[:, picks[:j]].min(1)
        if values.max() > 0 and not values[picks[j]] > 0:
            return False
    return len(set(picks)) == len(picks)


def context(x, picks, other):
    return largest_scores(x @ other, picks)


def largest_scores(scores, picks):
    """The picks are the largest, in descending order."""
    best = np.sort(scores)[::-1][: len(picks)]
    return len(set(picks)) == len(picks) and np.abs(scores[picks] - best).max() <= CLOSE * np.abs(scores).max()


def rule_of(strategy):
    if strategy.startswith("farthest_point"):
        return central if "central" in strategy else farthest
    return {"uniform": strided, "orthogonal": orthogonal, "dsquared": dsquared,
            "context": context}[strategy.split("(")[0]]


def check_rules(tap, program, work):
    groups = {}
    for row, q, k, queries, keys in picks_of(program, work, "rules", PROBLEMS, RULES):
        for x, picks, other, side in sides(row, q, k, queries, keys):
            rule = rule_of(row["strategy"])
            groups.setdefault(rule.__name__, Group()).add(float(rule(x, picks, other)), 1.0, 0, f"{row} {side}")
    tell(tap, groups, 60)


def check_kmeans(tap, program, work):
    """Lloyd's iteration of scikit-learn from our means stays there: tolerance for sums of up to n terms, n eps max|x| <
    1e-12."""
    groups = {}
    problems = [p for p in PROBLEMS if "spread=0" not in p]  # ties are between equal points: any answer is right
    for row, q, k, queries, keys in picks_of(program, work, "kmeans", problems, CONVERGED):
        if row["pairing"] == "joint":
            queries = np.hstack([queries, keys])
        for x, centres, _, side in sides(row, q, k, queries, keys):
            found = KMeans(len(centres), init=centres, n_init=1, max_iter=300, tol=0, algorithm="lloyd").fit(x)
            labels = squared_distances(x, centres).argmin(1)
            good = found.n_iter_ <= 2 and np.array_equal(found.labels_, labels)
            good &= np.abs(found.cluster_centers_ - centres).max() <= CLOSE * np.abs(x).max()
            means = np.array([x[labels == j].mean(0) for j in range(len(centres))])
            good &= np.abs(means - centres).max() <= CLOSE * np.abs(x).max()
            init = "maximin" if "maximin" in row["strategy"] else "random" if "random" in row["strategy"] \
                else "plusplus"
            groups.setdefault(f"kmeans(init={init}) ends at a fixed point of scikit-learn's", Group()).add(
                float(good), 1.0, 0, f"{row} {side}")
    tell(tap, groups, 40)


def targets(q, k, causal, rank):
    u, _, vt = np.linalg.svd(exact(q, k, causal))
    return [np.log(np.maximum(len(q) * (w**2).sum(1) / rank, 1e-12)) for w in (u[:, :rank], vt[:rank].T)]


def lstsq(xs, ys, ridge):
    """The augmented system: rows of all heads, then sqrt(N ridge) I for all but the intercept."""
    x, y = np.vstack(xs), np.concatenate(ys)
    d = x.shape[1]
    a = np.vstack([np.column_stack([x, np.ones(len(x))]), np.sqrt(len(x) * ridge) * np.eye(d, d + 1)])
    return np.linalg.lstsq(a, np.concatenate([y, np.zeros(d)]), rcond=None)[0]


def r_squared(x, y, w):
    return 1 - ((y - x @ w[:-1] - w[-1]) ** 2).sum() / ((y - y.mean()) ** 2).sum()


def check_fit(tap, program, work, name, heads, ridge, rank, slack):
    """slack: relative, of weights; printed R^2 have 4 decimals."""
    out = os.path.join(work, name + ".npy")
    arguments = [a for path, head in heads for a in ("--head", f"{path}:{head}")]
    done = subprocess.run([program, "fit", *arguments, "-o", out, "--rank", str(rank), "--ridge", str(ridge)],
                          capture_output=True, text=True)
    tap.check(done.returncode == 0, f"fit ({name}) succeeds", done.stderr)
    got = np.load(out)
    data = [float16_head(f"heads(file={path})", head)[:2] for path, head in heads]
    ys = [targets(q, k, path == SMOLLM, rank) for (path, _), (q, k) in zip(heads, data)]
    table = np.array([line.split()[:2] for line in done.stdout.splitlines()[2:]], dtype=float)
    weights, r2 = Group(), Group()
    for side in range(2):
        x, y = [pair[side] for pair in data], [pair[side] for pair in ys]
        want = lstsq(x, y, ridge)
        weights.add(float(np.linalg.norm(got[side] - want)), 0.0, slack * np.linalg.norm(want), f"side {side}")
        expected = [r_squared(np.vstack(x), np.concatenate(y), want)]
        for h in range(len(heads)):
            rest = [i for i in range(len(heads)) if i != h]
            expected.append(r_squared(x[h], y[h], lstsq([x[i] for i in rest], [y[i] for i in rest], ridge)))
        for shown, value in zip(table[:, side], expected, strict=True):
            r2.add(float(shown), float(value), 0.51e-4 + 10 * slack * (1 + abs(value)), f"side {side}")
    tell(tap, {f"fit ({name}): weights as numpy.linalg.lstsq's": weights,
               f"fit ({name}): R^2, in the sample and left out": r2}, 2)
    return out, got


def check_learned(tap, program, work, weights, w):
    groups = {}
    for row, q, k, queries, keys in picks_of(program, work, "learned", [f"heads(file={VIT})"],
                                             [f"learned(weights={weights})"]):
        scores = {"queries": q @ w[0, :-1] + w[0, -1], "keys": k @ w[1, :-1] + w[1, -1]}
        scores["joint"] = (scores["queries"] + scores["keys"]) / 2
        for _, picks, _, side in sides(row, q, k, queries, keys):
            groups.setdefault("learned takes the largest scores", Group()).add(
                float(largest_scores(scores[side], picks)), 1.0, 0, f"{row} {side}")
    tell(tap, groups, 20)


def tell(tap, groups, least):
    for name, group in groups.items():
        tap.check(group.rows >= least and group.wrong == 0, f"{name}: {group.rows}",
                  f"{group.wrong} wrong of at least {least}, first {group.detail}")


def main():
    program, work = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    tap = Tap()
    check_rules(tap, program, work)
    check_kmeans(tap, program, work)
    # n = 257: both sides by LAPACK's SVD, whose singular spaces agree to eps / gap.
    weights, w = check_fit(tap, program, work, "vit", [(VIT, h) for h in range(3)], 1, 32, 1e-9)
    # n = 1024 by block Krylov with residuals of 1e-7, and a causal mask.
    check_fit(tap, program, work, "two models", [(VIT, 1), (SMOLLM, 0), (SMOLLM, 2)], 0.05, 20, 1e-5)
    check_learned(tap, program, work, weights, w)
    print(f"1..{tap.count}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
