# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds error_noise against exact arithmetic: 60 digits, by mpmath.

usage: noise.py NYSBENCH WORK_FOLDER

Prints TAP. From the exported Q, K and landmarks S, F, A, B, every X and the error are computed again with 60 digits,
by routes that need not be stable then: normal equations, explicit inverses. A measured error must be within its error_noise of the exact one,
for each engine; of sampled rows, all but one, the one left out is the same for all methods. A is ill-conditioned in
most of them (up to 1e16): noise that forgets what rounding does to X would be too small.

Left out is where a singular value of A lies so near to the cut-off that rounding decides on which side. `fitted` has more
room: regression on nearly dependent columns may also lose eps cond(F) of its residual, which error_noise does not know.
"""
import csv
import os
import subprocess
import sys

import numpy as np
from mpmath import mp, mpf

from measures import KEYS, Group, Tap, options

mp.dps = 60
EPS = 2.0**-52
CORES = ["svd(rcond=1e-15)", "svd(rcond=1e-8)", "svd(rcond=1e-3)", "tikhonov(lambda=1e-6)", "tikhonov(lambda=1e-20)", "shifted(gamma=0)",
         "iterative(steps=6)", "iterative(steps=14)", "newton_schulz(steps=20)", "best", "fitted(rows=1000, ridge=1e-6)"]
CONFIG = """
problems:
  - heads(file=experiments/data/minilm_us-constitution_n512_L3.safetensors, head=2, max_n=16)
  - gaussian(n=16, d=1, scale=[0.25, 0.7])
  - gaussian(n=16, d=2, scale=0.25)
  - smooth(n=16, d=4)
  - clusters(n=16, d=4, count=5, spread=0.0001)
strategies: [uniform, segment_means]
factors: [nystromformer, cur]
landmarks: [3, 10]
trials: 1
metrics: error
plots: []
cores: {cores}
"""
WAYS = {"streamed": [], "direct": ["--set", "engine=direct"], "sample": ["--set", "rows=sample(15)"]}


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


def core(spec, s, f, a, b, svd):
    """None where rounding decides."""
    name, o = options(spec)
    u, values, vt = svd
    identity = np.array([[mpf(int(i == j)) for j in range(len(a))] for i in range(len(a))], dtype=object)
    if name == "svd":
        cut = mpf(float(o["rcond"])) * values[0]
        if any(abs(value - cut) < 30 * EPS * values[0] for value in values):
            return None
        rank = sum(1 for value in values if value > cut)
        return (vt[:rank].T / np.array(values[:rank], dtype=object)) @ u[:, :rank].T
    if name == "tikhonov":
        damping = mpf(float(o["lambda"])) * values[0] ** 2
        return inverse(a.T @ a + damping * identity) @ a.T
    if name == "shifted":
        return inverse(a)
    if name in ("iterative", "newton_schulz"):
        x = a.T / (abs(a).sum(axis=0).max() * abs(a).sum(axis=1).max())
        for _ in range(int(o["steps"])):
            y = a @ x
            x = x @ (13 * identity - y @ (15 * identity - y @ (7 * identity - y))) / 4 if name == "iterative" else x @ (2 * identity - y)
        return x
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
    q, k = (exactly(np.load(os.path.join(pick["folder"], f"{name}.npy"))) for name in "qk")
    return q, k, *(np.load(os.path.join(pick["folder"], f"{pick['picks']}-{side}.npy")) for side in ("queries", "keys"))


def factors(kind, s, q, k, queries, keys):
    if kind == "cur":
        return s[:, keys], s[np.ix_(queries, keys)], s[queries]
    ql, kl = (x[picks] if picks.ndim == 1 else exactly(picks) for x, picks in ((q, queries), (k, keys)))
    return kernel(q, kl), kernel(ql, kl), kernel(ql, k)


def squares(a):
    return (a * a).sum(axis=1)


def main():
    program, work = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    with open(os.path.join(work, "noise.yaml"), "w") as file:
        file.write(CONFIG.format(cores="[" + ", ".join(f'"{spec}"' for spec in CORES) + "]"))
    runs = {way: run(program, work, way, more) for way, more in WAYS.items()}
    picks = os.path.join(work, "landmarks")
    subprocess.run([program, "export", os.path.join(work, "streamed"), "--landmarks", picks], check=True)
    tap, groups, left_out, ill = Tap(), {}, {}, 0
    with open(os.path.join(picks, "index.csv"), newline="") as file:
        index = list(csv.DictReader(file))
    for pick in index:
        pick["folder"] = os.path.join(picks, f"instance-{pick['instance']}")
        q, k, queries, keys = load(pick)
        s = kernel(q, k)
        b2 = squares(s)
        for kind in ("nystromformer", "cur"):
            if kind == "cur" and queries.ndim > 1:
                continue
            f, a, b = factors(kind, s, q, k, queries, keys)
            u, values, vt = mp.svd_r(matrix(a))
            svd = array(u), list(values), array(vt)
            ill += values[len(a) - 1] < 1e-8 * values[0]
            for key in (key for key in runs["streamed"] if key[: len(KEYS)] == tuple(pick[name] for name in KEYS) and key[-2] == kind):
                x = core(key[-1], s, f, a, b, svd)
                if x is None:
                    continue
                a2 = squares(s - f @ x @ b)
                what = f"{pick['problem']} {pick['strategy']} m = {pick['landmarks']} {kind}"
                exact = mp.sqrt(sum(a2) / sum(b2))
                room = EPS * np.linalg.cond(f.astype(float)) * float(exact) if key[-1].startswith("fitted") else 0
                for way, rows in runs.items():
                    row = rows[key]
                    if row["status"] != "ok":  # diverged, or best of sampled rows
                        continue
                    got, noise = float(row["error"]), room + float(row["error_noise"])
                    if way == "sample":
                        off = [abs(float(mp.sqrt((sum(a2) - a2[i]) / (sum(b2) - b2[i])) - mpf(got))) for i in range(len(s))]
                        fits = left_out.setdefault(pick["instance"], [(0, "")] * len(s))
                        left_out[pick["instance"]] = [max(old, (o / noise, f"{key[-1]} {what}")) for old, o in zip(fits, off)]
                        continue
                    groups.setdefault(f"{way}: {key[-1]}", Group()).add(0.0, float(abs(mpf(got) - exact)), noise, f"{what}, noise {noise:.2g}")
    for name, group in groups.items():
        tap.check(group.rows > 0 and group.wrong == 0, f"{name}: {group.rows} errors within their noise", f"{group.wrong} are not; first {group.detail}")
    for instance, fits in left_out.items():
        ratio, what = min(fits)
        tap.check(ratio <= 1, f"sampled rows of instance {instance}: errors within their noise", f"{ratio:.3g} times the noise: {what}")
    tap.check(ill > 10, f"{ill} A have a condition above 1e8")
    print(f"1..{tap.count}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
