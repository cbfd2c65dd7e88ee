# SPDX-License-Identifier: GPL-3.0-or-later
"""Picks the landmarks of a run again with NumPy and SciPy, from its exported Q and K.

usage: pivoting.py NYSBENCH WORK_FOLDER

Prints TAP. The kernels are formed from their definitions, here without any scaling;
random pivots and the tokens whose rows of S are sampled are drawn from the same uniform
numbers (GSL's mt19937 is NumPy's MT19937 with the legacy seed, base/random.c's hash and
GSL's shuffle are written out again); pivots of cpqr are LAPACK's dgeqp3, through
scipy.linalg.qr. Greedy pivots are checked one by one
to have the largest residual of a dense elimination, within 1e-9 of the largest, since
two orders of summation may decide a tie in two ways; so are the largest scores. Picks
beyond the numerical rank (residuals below 1e-11 of the trace) are not compared: there
the rest is filled up.
"""

import csv
import os
import subprocess
import sys

import numpy as np
import scipy.linalg
from scipy.spatial.distance import pdist, squareform

from measures import Tap

SEED = 20260101
MASK = (1 << 64) - 1


def options(spec):
    name, _, rest = spec.partition("(")
    return name, dict(pair.split("=") for pair in rest.rstrip(")").split(", ") if pair)


def fnv1a(value, text):
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & MASK
    return (value ^ 0xFF) * 0x100000001B3 & MASK


def mix(h):
    h = (h ^ h >> 33) * 0xFF51AFD7ED558CCD & MASK
    h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53 & MASK
    return h ^ h >> 33


class Stream:
    """The uniform numbers of (seed, trial, role, component); m = 0 for nested picks."""

    def __init__(self, trial, role, component, m=0):
        h = fnv1a(0xCBF29CE484222325, f"{SEED} {trial} {m}")
        h = mix(fnv1a(fnv1a(h, role), component))
        self.bits = np.random.MT19937()
        self.bits._legacy_seeding((h ^ h >> 32) & 0xFFFFFFFF)

    def uniform(self):
        return self.bits.random_raw() / 2**32

    def draw(self, weight):
        total = np.cumsum(weight)
        return int(np.searchsorted(total, total[-1] * self.uniform(), side="right"))

    def distinct(self, weight, count):
        keys = np.log([self.uniform() for _ in weight]) / np.maximum(weight, 1e-300)
        return np.argsort(-keys, kind="stable")[:count]

    def below(self, n):
        scale = 0xFFFFFFFF // n
        while (k := int(self.bits.random_raw()) // scale) >= n:
            pass
        return k

    def shuffled(self, x):
        x = np.array(x)
        for i in range(len(x) - 1, 0, -1):
            j = self.below(i + 1)
            x[[i, j]] = x[[j, i]]
        return x

    def choose(self, k, n):
        chosen, i = [], 0
        while len(chosen) < k:
            if (n - i) * self.uniform() < k - len(chosen):
                chosen.append(i)
            i += 1
        return chosen


def similarity(o, x):
    if o["of"] == "gram":
        return x @ x.T
    if o["of"] == "exp":
        return np.exp(x @ x.T / np.sqrt(x.shape[1]))
    h = np.median(pdist(x)) if o["bandwidth"] == "median" else float(o["bandwidth"])
    return np.exp(-squareform(pdist(x)) ** 2 / (2 * h * h))


def softmax(q, k):
    s = q @ k.T / np.sqrt(q.shape[1])
    s = np.exp(s - s.max(axis=1, keepdims=True))
    return s / s.sum(axis=1, keepdims=True)


def seen_of_s(pick, q, k, m):
    """What is looked at of S: for keys rows, for queries columns, as matrices whose columns are tokens; whose rows."""
    rows = options(pick["strategy"])[1].get("rows", "all")
    if rows == "all":
        s = softmax(q, k)
        return {"keys": s, "queries": s.T}, np.arange(len(q))
    count = min(max(4 * m, 64) if rows == "auto" else int(rows), len(q))
    order = Stream(int(pick["trial"]), "order", pick["problem"], int(pick["head"])).shuffled(np.arange(len(q)))
    sampled = np.sort(order[:count])
    return {"keys": softmax(q[sampled], k), "queries": softmax(q, k[sampled]).T}, sampled


def eliminate(k, pivot):
    return k - np.outer(k[:, pivot], k[pivot]) / k[pivot, pivot]


def greedy(k, picks):
    """How many picks are compared, and how many of them are not of the largest residual."""
    trace = np.trace(k)
    for count, pivot in enumerate(picks):
        residual = np.diag(k)
        if residual.max() < 1e-11 * trace:
            return count, 0
        if residual[pivot] < residual.max() * (1 - 1e-9) - 1e-14 * trace:
            return count + 1, 1
        k = eliminate(k, pivot)
    return len(picks), 0


def random_pivots(k, m, stream, block, accelerated):
    trace, picks = np.trace(k), []
    while len(picks) < m:
        residual = np.maximum(np.diag(k), 0)
        residual[picks] = 0
        if residual.max() < 1e-11 * trace:
            break
        for pivot in [stream.draw(residual) for _ in range(block)]:
            share = stream.uniform() if accelerated else 0
            if len(picks) < m and pivot not in picks and k[pivot, pivot] > share * residual[pivot]:
                picks.append(pivot)
                k = eliminate(k, pivot)
    return picks[:m]


def lu_pivots(s, m, stream):
    r, pairs = s.copy(), []
    norm = np.linalg.norm(s)
    while len(pairs) < m and np.linalg.norm(r) > 1e-11 * norm:
        i = stream.draw((r**2).sum(axis=1))
        j = stream.draw(r[i] ** 2)
        pairs.append((i, j))
        r = r - np.outer(r[:, j], r[i]) / r[i, j]
        r[i] = r[:, j] = 0
    return np.array(pairs)


def ridge_scores(k, m, given):
    w = np.sort(np.abs(np.linalg.eigvalsh(k)))[::-1]
    lam = w[m:].sum() / m if given == "auto" else float(given) * np.trace(k) / len(k)
    if lam < 1e-12 * w[0]:  # the rank is at most m: plain leverage
        return (scipy.linalg.orth(k, rcond=1e-12) ** 2).sum(axis=1)
    return np.diag(np.linalg.solve(k + lam * np.eye(len(k)), k))


def leverage_scores(o, x, m):
    rank = x.shape[1] if o["of"] == "points" else m
    rank = rank if o["rank"] == "auto" else int(o["rank"])
    u = np.linalg.svd(x, full_matrices=False)[0][:, :rank]
    return (u**2).sum(axis=1)


def kernel_scores(o, a, m):
    """Leverage of the columns of a: of its right singular vectors."""
    rank = m if o["rank"] == "auto" else int(o["rank"])
    return (np.linalg.svd(a, full_matrices=False)[2][:rank] ** 2).sum(axis=0) / rank


def joint_residual(seen, picks):
    """The largest sum of squared residuals at each pick, as shares of each side's squares, against that of the pick."""
    wrong = 0
    for count, pivot in enumerate(picks):
        total = np.zeros(seen["keys"].shape[1])
        for a in (a / np.linalg.norm(a) for a in seen.values()):
            if count > 0:
                basis = scipy.linalg.orth(a[:, picks[:count]])
                a = a - basis @ (basis.T @ a)
            total += (a**2).sum(axis=0)
        wrong += total[pivot] < total.max() * (1 - 1e-9)
    return wrong


class Groups(Tap):
    def __init__(self):
        super().__init__()
        self.compared, self.wrong = {}, {}

    def add(self, name, compared, wrong):
        self.compared[name] = self.compared.get(name, 0) + compared
        self.wrong[name] = self.wrong.get(name, 0) + wrong


def check_side(groups, pick, side, x, seen, chosen):
    """One side's picks, or those of the stacked points; seen has what is looked at of S, by side."""
    name, o = options(pick["strategy"])
    m = len(chosen)
    rows = f"rows={o['rows']}, " if "rows" in o else ""
    sides = [seen[side]] if side in seen else list(seen.values())
    if name == "cpqr" and side == "joint":
        groups.add(f"cpqr, {rows}joint", m, joint_residual(seen, list(chosen)))
    elif name == "cpqr":
        groups.add(f"cpqr, {rows}{side}", m,
                   int(np.sum(scipy.linalg.qr(seen[side], mode="r", pivoting=True)[1][:m] != chosen)))
    elif name == "greedy_cholesky":
        groups.add(f"greedy_cholesky(of={o['of']}), {side}", *greedy(similarity(o, x), chosen))
    elif name == "rpcholesky":
        stream = Stream(int(pick["trial"]), side, pick["strategy"])
        accelerated = o.get("accelerated") == "true"
        want = random_pivots(similarity(o, x), m, stream, int(o["block"]), accelerated)
        groups.add(f"rpcholesky(of={o['of']}, block={o['block']}{', accelerated' * accelerated}), {side}", len(want),
                   int(np.sum(chosen[: len(want)] != want)))
    else:
        if name == "leverage" and o["of"] == "kernel":
            scores = np.mean([kernel_scores(o, a, m) for a in sides], axis=0)
        elif name == "leverage":
            scores = leverage_scores(o, x, m)
        elif o["of"] == "kernel":
            scores = np.mean([ridge_scores(a.T @ a, m, o["lambda"]) for a in sides], axis=0)
        else:
            scores = ridge_scores(similarity(o, x), m, o["lambda"])
        size = "rank=" + o["rank"] if name == "leverage" else "lambda=" + o["lambda"]
        label = f"{name}(of={o['of']}, {rows}{size}), {side}"
        groups.add(label, m, int(scores[chosen].min() < np.sort(scores)[-m] - 1e-9))


def run(program, work, name):
    config = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pivoting.yaml")
    out, picks = os.path.join(work, name), os.path.join(work, name + "-landmarks")
    for command in ([program, "run", config, "--quiet", "--out", out], [program, "export", out, "--landmarks", picks]):
        done = subprocess.run(command, stdout=subprocess.DEVNULL)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit status {done.returncode}")
    with open(os.path.join(picks, "index.csv"), newline="") as file:
        for pick in csv.DictReader(file):
            folder = os.path.join(picks, f"instance-{pick['instance']}")
            q, k = (np.load(os.path.join(folder, n + ".npy")) for n in "qk")
            yield pick, q, k, *(np.load(os.path.join(folder, f"{pick['picks']}-{n}.npy")) for n in ("queries", "keys"))


def main():
    program, work = sys.argv[1:]
    groups = Groups()
    for pick, q, k, queries, keys in run(program, work, "run"):
        m = len(queries)
        seen, sampled = seen_of_s(pick, q, k, m)
        if pick["strategy"].startswith("rplu"):
            stream = Stream(int(pick["trial"]), "both", pick["strategy"], m if "auto" in pick["strategy"] else 0)
            want = lu_pivots(seen["keys"], m, stream)
            want[:, 0] = sampled[want[:, 0]]
            wrong = np.sum(want != np.stack([queries, keys], axis=1)[: len(want)])
            groups.add(pick["strategy"], len(want), int(wrong))
        elif pick["pairing"] == "joint":
            groups.add("one token for both sides", 1, int(np.any(queries != keys)))
            check_side(groups, pick, "joint", np.hstack([q, k]), seen, queries)
        else:
            check_side(groups, pick, "queries", q, seen, queries)
            check_side(groups, pick, "keys", k, seen, keys)
    for name in sorted(groups.compared):
        compared, wrong = groups.compared[name], groups.wrong[name]
        groups.check(compared >= 100 and wrong == 0, f"{name}: {compared} picks", f"{wrong} wrong")
    groups.check(len(groups.compared) == 79, "every strategy of the configuration is compared", sorted(groups.compared))
    print(f"1..{groups.count}")
    return groups.failed > 0


if __name__ == "__main__":
    sys.exit(main())
