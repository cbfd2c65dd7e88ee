# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks `profile` step by step, on exported picks.

usage: profile.py NYSBENCH WORK_FOLDER

Prints TAP. With rows=all nothing is random: the pivots must be those of scipy.linalg.qr(pivoting=True), groups of keys
those of scikit-learn's k-means from the pivots, weighted queries their formula, and the first step of the keys must go
along the gradient, here by differences of a least-squares fit. Pivots that are nearly ties in the residual are
allowed to differ, by the residual of each pick at its turn: 1e-9 of the largest, since roots of entries of S differ by
eps and residuals are differences. What no size may break comes last: all tokens alike, zero points, one key that
takes all attention, m = n.
"""

import csv
import os
import subprocess
import sys

import numpy as np
from scipy.linalg import qr
from sklearn.cluster import KMeans

from measures import Tap

VIT = "experiments/data/vit_astronaut_n257_L6.safetensors"
SMOLLM = "experiments/data/smollm2_opticks_n1024_L15.safetensors"
CONFIG = """\
trials: 1
landmarks: {landmarks}
problems: [{problems}]
strategies: [{strategies}]
cores: svd
metrics: error
plots: []
factors: {factors}
"""
RIDGE, SCALE = 3e-5, 0.7


def softmax(scores):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def kernel(q, k):
    return softmax(q @ k.T / np.sqrt(q.shape[1]))


def masked(q, k, keys):
    """The kernel against the keys of ascending tokens, a query seeing those up to its own; zeros where it sees none."""
    scores = q @ k[keys].T / np.sqrt(q.shape[1])
    hidden = np.arange(len(q))[:, None] < np.asarray(keys)[None]
    e = np.where(hidden, 0, np.exp(scores - scores.max(axis=1, keepdims=True)))
    total = e.sum(axis=1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)


def picks_of(program, work, name, problems, strategies, landmarks="[1, 7, 20]", factors="nystromformer"):
    """Runs it; yields (row of the index, q, k, query picks, key picks)."""
    config, run, folder = (os.path.join(work, name + end) for end in (".yaml", "", "-landmarks"))
    quoted = [", ".join(f'"{text}"' for text in texts) for texts in (problems, strategies)]
    with open(config, "w") as file:
        file.write(CONFIG.format(problems=quoted[0], strategies=quoted[1], landmarks=landmarks, factors=factors))
    subprocess.run([program, "run", config, "--quiet", "--out", run], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([program, "export", run, "--landmarks", folder], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(folder, "index.csv"), newline="") as file:
        for row in csv.DictReader(file):
            assert row["status"] == "ok", row
            at = os.path.join(folder, f"instance-{row['instance']}")
            loaded = [np.load(os.path.join(at, end)) for end in
                      ("q.npy", "k.npy", row["picks"] + "-queries.npy", row["picks"] + "-keys.npy")]
            yield row, *loaded


def are_pivots(matrix, picks):
    """Whether each pick has the largest residual at its turn; and how many agree with LAPACK's."""
    rest = matrix.copy()
    for j in picks:
        norms = (rest**2).sum(axis=0)
        if norms[j] < (1 - 1e-9) * norms.max():
            return False, 0
        u = rest[:, j] / np.sqrt(norms[j])
        rest -= np.outer(u, u @ rest)
    return True, int((qr(matrix, mode="r", pivoting=True)[1][: len(picks)] == picks).sum())


def value(points, q, fit):
    """The least |S - F Y|^2 + ridge |Y|^2 over Y at these key points, relative to |S|^2."""
    s, ridge = fit
    a = np.vstack([kernel(q, points), np.sqrt(ridge) * np.eye(len(points))])
    b = np.vstack([s, np.zeros((len(points), s.shape[1]))])
    return ((b - a @ np.linalg.lstsq(a, b, rcond=None)[0]) ** 2).sum() / (s**2).sum()


def check_pivots(tap, program, work):
    agree = count = 0
    right = True
    problems = ["gaussian(n=130, d=16)", "sink(n=100, d=8)", f"heads(file={VIT}, head=0)"]
    strategies = ["profile(keys=pivots, queries=pivots, rows=all)", "profile(keys=pivots, queries=pivots, rows=257)"]
    same = {}
    for row, q, k, queries, keys in picks_of(program, work, "pivots", problems, strategies):
        for matrix, picks in ((np.sqrt(kernel(q, k)), keys), (kernel(q, k[keys]).T, queries)):
            fine, equal = are_pivots(matrix, picks)
            right &= fine
            agree, count = agree + equal, count + len(picks)
        same.setdefault((row["instance"], row["landmarks"]), []).append((queries.tolist(), keys.tolist()))
    tap.check(right, "keys and queries are pivots of the roots of S and of F'")
    tap.check(agree >= 0.98 * count, f"{agree} of {count} pivots are those of SciPy")
    tap.check(len(same) == 9 and all(len(p) == 2 and p[0] == p[1] for p in same.values()), "rows=n picks as rows=all")


def check_causal(tap, program, work):
    right, count = True, 0
    strategy = "profile(keys=pivots, queries=pivots, sample=tokens, rows=all)"
    for _, q, k, queries, keys in picks_of(program, work, "causal", [f"heads(file={SMOLLM}, head=1, max_n=200)"],
                                           [strategy], "[1, 7, 20]", "cur"):
        count += 1
        scores = q @ k.T / np.sqrt(q.shape[1])
        s = softmax(np.where(np.tri(len(q), dtype=bool), scores, -np.inf))
        f = masked(q, k, np.sort(keys))
        right &= are_pivots(np.sqrt(s), keys)[0] and are_pivots(f.T, queries)[0]
    tap.check(right and count == 3, "under a causal mask: pivots of S with the mask, and of F with it")


def check_means(tap, program, work):
    weighted, grouped, count = True, True, 0
    problems = ["gaussian(n=130, d=16)", f"heads(file={VIT}, head=0)"]
    strategies = [f"profile(keys={keys}, rows=all{power})" for keys in ("pivots", "groups")
                  for power in ("", ", power=1")]
    for row, q, k, queries, keys in picks_of(program, work, "means", problems, strategies):
        count += 1
        weights = kernel(q, keys) ** (1 if "power=1," in row["strategy"] or "power=1)" in row["strategy"] else 4)
        weighted &= np.allclose(queries, weights.T @ q / weights.sum(axis=0)[:, None], rtol=1e-9, atol=1e-12)
        if "keys=groups" in row["strategy"]:
            roots = np.sqrt(kernel(q, k))
            m = len(keys)
            start = roots.T[qr(roots, mode="r", pivoting=True)[1][:m]]
            found = KMeans(m, init=start, n_init=1, max_iter=100, tol=0, algorithm="lloyd").fit(roots.T).labels_
            expected = np.array([k[found == j].mean(axis=0) for j in range(m)])
            grouped &= np.allclose(keys, expected, rtol=1e-9, atol=1e-9)
    tap.check(weighted and count == 24, "landmark queries are means weighted by powers of F")
    tap.check(grouped, "groups of keys are scikit-learn's from the pivots")


def check_steps(tap, program, work):
    start, along, below = {}, [], []
    strategies = [f"profile(rows=all, steps={steps})" for steps in (0, 1, 10)]
    for row, q, k, _, keys in picks_of(program, work, "steps", ["gaussian(n=60, d=4, scale=2)", "sink(n=50, d=3)"],
                                       strategies, "[2, 6]"):
        s, at = kernel(q, k), (row["instance"], row["landmarks"])
        if "steps=0" in row["strategy"]:
            pivots = qr(np.sqrt(s), mode="r", pivoting=True)[1][: len(keys)]
            tap.check(np.allclose(keys, SCALE * k[pivots], rtol=1e-14), f"steps=0: scaled pivots, m = {len(keys)}")
            start[at] = keys
            continue
        first = start[at]
        ridge = RIDGE * (kernel(q, first) ** 2).sum()
        values = [value(points, q, (s, ridge)) for points in (first, keys)]
        below.append(values[1] < values[0])
        if "steps=10" in row["strategy"]:
            continue
        step = 1e-5
        gradient = np.empty(first.shape)
        for i in np.ndindex(first.shape):
            e = np.zeros(first.shape)
            e[i] = step
            gradient[i] = (value(first + e, q, (s, ridge)) - value(first - e, q, (s, ridge))) / (2 * step)
        move = first - keys
        along.append((move * gradient).sum() / np.linalg.norm(move) / np.linalg.norm(gradient))
    tap.check(len(along) == 4 and min(along) > 1 - 1e-8, f"the first step goes along the gradient: cosines {along}")
    tap.check(len(below) == 8 and all(below), "steps lower what the columns of F leave")


def check_extremes(tap, program, work):
    rng = np.random.default_rng(2385)
    q, k = rng.standard_normal((2, 24, 5))
    heads = {"alike": (np.ones((24, 5)), np.ones((24, 5))), "zero": (np.zeros((24, 5)), np.zeros((24, 5))),
             "one": (q + 5, np.vstack([np.full(5, 40.0), k[1:]])),
             "twice": (np.repeat(q[:12], 2, 0), np.repeat(k[:12], 2, 0))}
    for name, (a, b) in heads.items():
        os.makedirs(os.path.join(work, name), exist_ok=True)
        np.save(os.path.join(work, name, "q.npy"), a)
        np.save(os.path.join(work, name, "k.npy"), b)
    problems = [f"heads(file={os.path.join(work, name)})" for name in heads]
    ways = [f"keys={keys}, queries={queries}" for keys in ("points", "pivots", "groups")
            for queries in ("weighted", "groups", "pivots")]
    strategies = [f"profile({way}, {rows})" for way in ways for rows in ("rows=all", "rows=1", "rows=9, sample=tokens")]
    found = list(picks_of(program, work, "extremes", problems, strategies, "[1, 5, 24]"))
    finite = all(np.isfinite(queries).all() and np.isfinite(keys).all() for _, _, _, queries, keys in found)
    tap.check(len(found) == 4 * 27 * 3 and finite, f"{len(found)} picks of degenerate heads are finite")


def main():
    program, work = os.path.abspath(sys.argv[1]), sys.argv[2]
    os.makedirs(work, exist_ok=True)
    tap = Tap()
    for check in (check_pivots, check_causal, check_means, check_steps, check_extremes):
        check(tap, program, work)
    print(f"1..{tap.count}")
    sys.exit(tap.failed > 0)


if __name__ == "__main__":
    main()
