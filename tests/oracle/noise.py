# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds error_noise and error_subspace_noise against exact arithmetic: 60 digits, by mpmath.

usage: noise.py NYSBENCH WORK_FOLDER [all]; `all`: longer heads and more of them, minutes

Prints TAP. From the exported Q, K and landmarks S, F, A, B, every X and the error are computed again with 60 digits,
by routes that need not be stable then: normal equations, explicit inverses. A measured error must be within its
error_noise of the exact one, for each core in each precision, and each engine in each; of sampled rows, all but one,
the one left out is the same for all methods. A is ill-conditioned in most of them (up to 1e16): noise that forgets what
rounding does to X would be too small. So is a measured error_subspace within its noise, also where S is constant to
1e-8: with more landmarks than dimensions its second order is all that is left, below rounding.

Left out is where rounding decides: a singular value of A lies at the cut-off, or two pivots or candidates are equal.
`chosen(of=iterative)` is held at m = 3 alone, where 41 candidates take no minutes. `fitted` has more
room: regression on nearly dependent columns may also lose eps cond(F) of its residual, which error_noise does not know.
"""
import csv
import os
import subprocess
import sys

import numpy as np
from mpmath import mp, mpf

from measures import KEYS, Group, Tap, interpolated, options

mp.dps = 60
EPS = 2.0**-52
CORES = ["svd(rcond=1e-15)", "svd(rcond=1e-8)", "svd(rcond=1e-3)", "tikhonov(lambda=1e-6)", "tikhonov(lambda=1e-20)",
         "shifted(gamma=0)",
         "svd(rcond=1e-15, rank=4)", "svd(rcond=1e-15, rank=6)", "svd(rcond=1e-15, rank=7)", "gcv",
         "truncated_qr(rcond=1e-3)", "truncated_qr(rcond=1e-15)", "shifted(gamma=0.1)", "shifted(gamma=0.1, steps=6)",
         "iterative(steps=6)", "iterative(steps=14)", "iterative(steps=40)", "iterative(steps=60)",
         "iterative(steps=6, precision=float)", "iterative(steps=14, precision=float)",
         "iterative(steps=30, precision=float)",
         "iterative(start=worst, steps=9, precision=float)", "newton_schulz(steps=20)", "damped_newton(steps=12)",
         "chebyshev(steps=8)", "hyperpower(order=5, steps=6)",
         "chosen(of=svd, rows=1000)", "chosen(of=iterative, rows=1000)", "exact_rows(of=svd, rows=1000)", "best",
         "fitted(rows=1000, ridge=1e-6)", "identity"]
CONFIG = """
problems: [{problems}]
strategies: [{strategies}]
factors: [nystromformer, cur, nocore, kernel_ridge]
landmarks: [3, {most}]
trials: 1
metrics: error
plots: []
cores: [{cores}]
"""
ALL = len(sys.argv) > 3
# For make test, three heads with enough ill-conditioned A.
N = 24 if ALL else 16
PROBLEMS = [f"heads(file=experiments/data/minilm_us-constitution_n512_L3.safetensors, head=2, max_n={N})",
            f"gaussian(n={N}, d=1, scale=0.25)"]
PROBLEMS += [f"gaussian(n={N}, d=1, scale=0.7)", f"gaussian(n={N}, d=2, scale=[0.25, 0.7])", f"smooth(n={N}, d=4)",
             f"clusters(n={N}, d=4, count=5, spread=0.0001)"] if ALL else []
WAYS = {"streamed": [], "direct": ["--set", "engine=direct"], "mixed": ["--set", "precision=mixed"],
        "sample": ["--set", f"rows=sample({N - 1})"]}
# A step is x <- x p(a x), p by its coefficients.
STEPS = {"iterative": [mpf(13) / 4, -mpf(15) / 4, mpf(7) / 4, -mpf(1) / 4], "newton_schulz": [2, -1],
         "damped_newton": [mpf(3) / 2, -mpf(1) / 2], "chebyshev": [3, -3, 1]}


def exactly(a):
    return np.array([[mpf(float(x)) for x in row] for row in a], dtype=object)


def array(a):
    return np.array(a.tolist(), dtype=object).reshape(a.rows, a.cols)


def matrix(a):
    return mp.matrix(a.tolist())


def inverse(a):
    return array(mp.inverse(matrix(a)))


def norm(a):
    return mp.sqrt(sum(x * x for x in a.ravel()))


def kernel(q, k):
    e = np.array([[mp.exp(x) for x in row] for row in q @ k.T / mp.sqrt(q.shape[1])], dtype=object)
    return e / e.sum(axis=1, keepdims=True)


def pinv(a, cut):
    """Of a tall matrix, by the eigenvectors of a'a."""
    values, vectors = mp.eigsy(matrix(a.T @ a))
    values, vectors = list(values), array(vectors)
    kept = [i for i, value in enumerate(values) if value > cut**2 * max(values)]
    vectors = vectors[:, kept]
    return (vectors / np.array([values[i] for i in kept], dtype=object)) @ (vectors.T @ a.T)


def polynomial(coefficients, y, identity):
    p = coefficients[-1] * identity
    for c in coefficients[-2::-1]:
        p = y @ p + c * identity
    return p


def iterate(a, coefficients, steps, x, identity):
    for _ in range(steps):
        x = x @ polynomial(coefficients, a @ x, identity)
        yield x


def truncated(svd, rank):
    u, values, vt = svd
    return (vt[:rank].T / np.array(values[:rank], dtype=object)) @ u[:, :rank].T


def at_least(values, rcond):
    """How many are above the cut-off; None: rounding decides."""
    cut = mpf(rcond) * values[0]
    return None if any(abs(value - cut) < 30 * EPS * values[0]
                       for value in values) else sum(1 for value in values if value > cut)


def pivoted(a, rcond):
    """The basic solution by Gram-Schmidt with column pivoting."""
    rest, order, q, diagonal = a.copy(), [], [], []
    for _ in range(len(a)):
        lengths = squares(rest.T)
        at = max(range(len(a)), key=lambda j: lengths[j])
        if any(j != at and j not in order and abs(lengths[j] - lengths[at]) < 1e-6 * lengths[at]
               for j in range(len(a))):
            return None
        order.append(at)
        diagonal.append(mp.sqrt(lengths[at]))
        if diagonal[-1] == 0:
            return None
        q.append(rest[:, at] / diagonal[-1])
        rest = rest - np.outer(q[-1], q[-1] @ rest)
        rest[:, order] = mpf(0)
    rank = at_least(diagonal, rcond)
    if rank is None:
        return None
    q = np.array(q[:rank], dtype=object)
    x = np.array([[mpf(0)] * len(a) for _ in a], dtype=object)
    x[order[:rank]] = inverse(q @ a[:, order[:rank]]) @ q
    return x


def first_least(candidates, s, f, b):
    """Of least |S Q_B - F X R_B'|, the first within 1e-9."""
    right = pinv(b.T, mpf("1e-12")).T
    inside, candidates = s @ right @ b, list(candidates)
    norms = [norm(inside - f @ x @ b) for x in candidates]
    least = min(norms)
    unsure = max(mpf("5e-10"), mpf("1e-11") * norm(s) / least)
    if any(abs(one / least - 1 - mpf("1e-9")) < unsure for one in norms if one != least) or least == 0:
        return None
    return next(x for one, x in zip(norms, candidates) if one <= least * (1 + mpf("1e-9")))


def core(spec, s, f, a, b, svd):
    """None where rounding decides."""
    name, o = options(spec)
    u, values, vt = svd
    identity = np.array([[mpf(int(i == j)) for j in range(len(a))] for i in range(len(a))], dtype=object)
    transposed = a.T / (abs(a).sum(axis=0).max() * abs(a).sum(axis=1).max())
    if name == "svd":
        rank = at_least(values, float(o["rcond"]))
        return None if rank is None else truncated(svd, rank if o["rank"] == "all" else min(rank, int(o["rank"])))
    if name == "gcv":
        m = len(a)
        scores = {r: sum((value / values[0]) ** 2 for value in values[r:]) / mpf(m - r) ** 4 for r in range(1, m)}
        rank = min(scores, key=scores.get)
        sure = all(abs(scores[r] - scores[rank]) > 1e-6 * scores[rank] for r in scores if r != rank)
        return truncated(svd, rank) if sure and values[rank - 1] > 1e-12 * values[0] else None
    if name == "truncated_qr":
        return pivoted(a, float(o["rcond"]))
    if name == "chosen" and o["of"] == "svd":
        rank = at_least(values, EPS * len(a))
        return None if rank is None else first_least((truncated(svd, r) for r in range(1, rank + 1)), s, f, b)
    if name == "chosen":
        return first_least([transposed] + list(iterate(a, STEPS["iterative"], 40, transposed, identity)), s, f,
                           b) if len(a) == 3 else None
    if name == "identity":
        return identity
    if name == "tikhonov":
        damping = mpf(float(o["lambda"])) * values[0] ** 2
        return inverse(a.T @ a + damping * identity) @ a.T
    if name == "shifted":
        shifted = a + mpf(float(o["gamma"])) * identity
        if o["steps"] == "exact":
            return inverse(shifted)
        scale = np.array([1 / mp.sqrt(x) for x in shifted.sum(axis=1)], dtype=object)
        scale = np.outer(scale, scale)
        normal = shifted * scale
        return list(iterate(normal, STEPS["iterative"], int(o["steps"]), normal.T / abs(normal).sum(axis=0).max(),
                            identity))[-1] * scale
    if name == "hyperpower":
        x = transposed
        for _ in range(int(o["steps"])):
            x = x @ polynomial([1] * int(o["order"]), identity - a @ x, identity)
        return x
    if name in STEPS:
        start = a.T / len(a) if o["start"] == "worst" else transposed
        return list(iterate(a, STEPS[name], int(o["steps"]), start, identity))[-1]
    right = pinv(b.T, mpf("1e-12")).T
    if name == "best":
        return pinv(f, mpf("1e-12")) @ s @ right
    assert name == "fitted"
    gram = f.T @ f
    largest = max(mp.eigsy(matrix(gram), eigvals_only=True))
    return inverse(gram + mpf(float(o["ridge"])) * largest * identity) @ f.T @ s @ right


def run(program, work, name, more):
    config, folder = os.path.join(work, "noise.yaml"), os.path.join(work, name)
    done = subprocess.run([program, "run", config, "--quiet", "--out", folder] + more)
    assert done.returncode in (0, 1), done.returncode  # 1: an A is singular in double precision
    rows = {}
    with open(os.path.join(folder, "rows.csv"), newline="") as file:
        for row in csv.DictReader(file):
            rows[tuple(row[key] for key in KEYS + ["factors", "core"])] = row
    return rows


def load(pick):
    q, k, v = (exactly(np.load(path)) if os.path.exists(path) else None
               for path in (os.path.join(pick["folder"], f"{name}.npy") for name in "qkv"))
    return q, k, v, *(np.load(os.path.join(pick["folder"], f"{pick['picks']}-{side}.npy"))
                      for side in ("queries", "keys"))


def factors(kind, s, q, k, v, queries, keys):
    if kind == "cur":
        return s[:, keys], s[np.ix_(queries, keys)], s[queries]
    ql, kl = (x[picks] if picks.ndim == 1 else exactly(picks) for x, picks in ((q, queries), (k, keys)))
    if kind == "kernel_ridge":
        f, b = interpolated(q, k, v, ql, kl, kernel, np.vectorize(mp.exp, [object]), np.vectorize(mp.log, [object]),
                            inverse)
        return f, np.array([[mpf(i == j) for j in range(len(ql))] for i in range(len(ql))], dtype=object), b
    return kernel(q, kl), kernel(ql, kl), kernel(ql, k)


def squares(a):
    return (a * a).sum(axis=1)


def ranges(a):
    """Orthonormal columns, by Gram-Schmidt with pivots, twice."""
    rest, q = a.copy(), []
    for _ in range(a.shape[1]):
        lengths = squares(rest.T)
        at = max(range(len(lengths)), key=lambda j: lengths[j])
        if lengths[at] <= mpf("1e-90") * max(squares(a.T)):
            break
        new = rest[:, at]
        for _ in range(2):
            for old in q:
                new = new - old * (old @ new)
        q.append(new / mp.sqrt(new @ new))
        rest = rest - np.outer(q[-1], q[-1] @ rest)
        rest[:, at] = mpf(0)
    return np.array(q, dtype=object).T


def subspace_part(s, f, b):
    left, right = ranges(f), ranges(b.T)
    return norm(s - left @ (left.T @ s @ right) @ right.T) / norm(s)


def main():
    program, work = sys.argv[1:3]
    os.makedirs(work, exist_ok=True)
    alike = os.path.join(work,
                         "alike")  # tokens that each see themselves: all but one singular values of A differ by 1e-7
    os.makedirs(alike, exist_ok=True)
    flat = os.path.join(work, "flat")  # S constant to 1e-8
    os.makedirs(flat, exist_ok=True)
    for name in "qk":
        np.save(os.path.join(flat, f"{name}.npy"), 1e-4 * np.random.default_rng(ord(name)).standard_normal((N, 4)))
        np.save(os.path.join(alike, f"{name}.npy"),
                3 * np.eye(N) + 1e-7 * np.random.default_rng(ord(name)).standard_normal((N, N)))
    with open(os.path.join(work, "noise.yaml"), "w") as file:
        quoted = [", ".join(f'"{spec}"' for spec in specs)
                  for specs in (PROBLEMS + [f"heads(file={alike})", f"heads(file={flat})"], CORES)]
        file.write(CONFIG.format(most=10 if ALL else 7, problems=quoted[0], cores=quoted[1],
                                 strategies="uniform, segment_means" if ALL else "uniform"))
    runs = {way: run(program, work, way, more) for way, more in WAYS.items()}
    picks = os.path.join(work, "landmarks")
    subprocess.run([program, "export", os.path.join(work, "streamed"), "--landmarks", picks], check=True)
    tap, groups, parts, left_out, ill, lost = Tap(), {}, {}, {}, 0, 0
    with open(os.path.join(picks, "index.csv"), newline="") as file:
        index = list(csv.DictReader(file))
    for pick in index:
        pick["folder"] = os.path.join(picks, f"instance-{pick['instance']}")
        q, k, v, queries, keys = load(pick)
        s = kernel(q, k)
        b2 = squares(s)
        for kind in ("nystromformer", "cur", "nocore", "kernel_ridge"):
            if kind == "cur" and queries.ndim > 1:
                continue
            f, a, b = factors("nystromformer" if kind == "nocore" else kind, s, q, k, v, queries, keys)
            u, values, vt = mp.svd_r(matrix(a))
            svd = array(u), list(values), array(vt)
            ill += values[len(a) - 1] < 1e-8 * values[0]
            least = subspace_part(s, f, b)
            for key in (key for key in runs["streamed"] if key[: len(KEYS)] == tuple(pick[name] for name in KEYS)
                        and key[-2] == kind):
                if pick["problem"].startswith(f"heads(file={flat}") and key[-1].startswith("chosen"):
                    continue  # all candidates are equal to rounding
                x = core(key[-1], s, f, a, b, svd) if not key[-1].startswith("exact_rows") else None
                if x is None and not key[-1].startswith("exact_rows"):
                    continue
                a2 = squares(s - f @ x @ b) if x is not None else 0 * b2
                what = f"{pick['problem']} {pick['strategy']} m = {pick['landmarks']} {kind}"
                exact = mp.sqrt(sum(a2) / sum(b2))
                room = EPS * np.linalg.cond(f.astype(float)) * float(exact) if key[-1].startswith("fitted") else 0
                for way, rows in runs.items():
                    row = rows[key]
                    if row["status"] != "ok":  # diverged, or best of sampled rows
                        continue
                    if way != "sample":
                        told, noise = mpf(float(row["error_subspace"])), float(row["error_subspace_noise"])
                        off = float(abs(told - least))
                        parts.setdefault(way, Group()).add(0.0, off, noise,
                                                           f"{what}, {float(told):.3g} and not {float(least):.3g}, "
                                                           f"noise {noise:.2g}")
                        lost += off > 2 * least
                    got, noise = float(row["error"]), room + float(row["error_noise"])
                    if way == "sample":
                        off = [abs(float(mp.sqrt((sum(a2) - a2[i]) / (sum(b2) - b2[i])) - mpf(got)))
                               for i in range(len(s))]
                        fits = left_out.setdefault(pick["instance"], [(0, "")] * len(s))
                        left_out[pick["instance"]] = [max(old, (o / noise, f"{key[-1]} {what}")) for old,
                                                      o in zip(fits, off)]
                        continue
                    groups.setdefault(f"{way}: {key[-1]}", Group()).add(0.0, float(abs(mpf(got) - exact)), noise,
                                                                        f"{what}, noise {noise:.2g}")
    for name, group in groups.items():
        tap.check(group.rows > 0 and group.wrong == 0, f"{name}: {group.rows} errors within their noise",
                  f"{group.wrong} are not; first {group.detail}")
    for way, group in parts.items():
        tap.check(group.rows > 0 and group.wrong == 0, f"{way}: {group.rows} subspace parts within their noise",
                  f"{group.wrong} are not; first {group.detail}")
    tap.check(lost > 0, f"{lost} subspace parts are off by more than twice their size")
    for instance, fits in left_out.items():
        ratio, what = min(fits)
        tap.check(ratio <= 1, f"sampled rows of instance {instance}: errors within their noise",
                  f"{ratio:.3g} times the noise: {what}")
    tap.check(ill > (10 if ALL else 1), f"{ill} A have a condition above 1e8")
    print(f"1..{tap.count}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
