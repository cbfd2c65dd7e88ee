# SPDX-License-Identifier: GPL-3.0-or-later
"""Recomputes the errors of every core with NumPy and SciPy from exported landmarks.

usage: cores.py NYSBENCH WORK_FOLDER

Prints TAP. X is formed here by other routes: normal equations for Tikhonov, SciPy's
pivoted QR, explicit powers for the iterations, pinv for the best core, and for
`fitted` on all rows a refit without each row for each ridge of the grid.

Tolerance: 1e-9 of the error; and since two X that are both correct to rounding differ
by about eps |A| |X|^2, the row's noise estimate, eps |F| |X| |B| / |S|, times
1 + |A| |X|, times 100.
"""
import csv
import os
import subprocess
import sys

import numpy as np
import scipy.linalg

from measures import Group, Tap, exact, factors, kernel_of, options

CORES = ["svd(rcond=1e-2)", "svd(rcond=1e-15, rank=5)", "tikhonov(lambda=1e-4)", "truncated_qr(rcond=1e-2)",
         "shifted(gamma=0.1)",
         "iterative(steps=6)", "iterative(steps=9, start=worst)", "iterative(steps=3, start=given, scale=2.5)",
         "newton_schulz(steps=7)", "chebyshev(steps=5)", "hyperpower(order=4, steps=4)", "damped_newton(steps=9)",
         "gcv", "best", "fitted(rows=100000)", "fitted(rows=100000, ridge=0.001)", "chosen(of=svd, rows=100000)"]
CONFIG = """
problems: ["gaussian(n=90, d=8)", "clusters(n=80, d=4, count=6)"]
strategies: [uniform, segment_means]
factors: [nystromformer, cur]
landmarks: [3, 8]
trials: 2
metrics: error
plots: []
cores: {cores}
"""
STEP = {"newton_schulz": lambda r, i, o: i + r, "chebyshev": lambda r, i, o: i + r + r @ r,
        "hyperpower": lambda r, i, o: sum(np.linalg.matrix_power(r, k) for k in range(int(o["order"]))),
        "damped_newton": lambda r, i, o: i + r / 2}


def iterate(name, o, a):
    one, infinity = np.abs(a).sum(axis=0).max(), np.abs(a).sum(axis=1).max()
    x = a.T / {"paper": one * infinity, "exact": one, "worst": len(a), "given": float(o["scale"])}[o["start"]]
    identity = np.eye(len(a))
    for _ in range(int(o["steps"])):
        if name == "iterative":
            y = a @ x
            x = x @ (13 * identity - 15 * y + 7 * y @ y - y @ y @ y) / 4
        else:
            x = x @ STEP[name](identity - a @ x, identity, o)
    return x


def truncated_svd(a, rank):
    u, s, vt = np.linalg.svd(a)
    return (vt[:rank].T / s[:rank]) @ u[:, :rank].T


def gcv(a):
    s, m = np.linalg.svd(a, compute_uv=False), len(a)
    scores = [np.sum(s[r:] ** 2) / (m - r) ** 4 for r in range(1, m)]
    rank = 1 + int(np.argmin(scores)) if m > 1 else 1
    return truncated_svd(a, min(rank, int(np.sum(s > np.finfo(float).eps * m * s[0]))))


def ridge_fit(f, target, ridge):
    """argmin |target - f w|^2 + ridge |f|_2^2 |w|^2, by QR of the augmented matrix."""
    m = f.shape[1]
    rows = np.vstack([f, np.sqrt(ridge) * np.eye(m)])
    return np.linalg.lstsq(rows, np.vstack([target, np.zeros((m, target.shape[1]))]), rcond=None)[0]


def fitted(o, s, f, b):
    q, r = np.linalg.qr(b.T)
    target, scale = s @ q, np.linalg.norm(f, 2) ** 2
    ridge = o["ridge"]
    if ridge == "auto":
        def left_out(value):
            total = 0
            for i in range(len(f)):
                keep = np.arange(len(f)) != i
                total += np.sum((target[i] - f[i] @ ridge_fit(f[keep], target[keep], value * scale)) ** 2)
            return total
        grid = [10 ** (-k / 4) for k in range(0, 61, 4)]  # every fourth: the least of all is near
        best = int(np.argmin([left_out(value) for value in grid])) * 4
        fine = [10 ** (-k / 4) for k in range(max(0, best - 4), min(60, best + 4) + 1)]
        ridge = fine[int(np.argmin([left_out(value) for value in fine]))]
    w = ridge_fit(f, target, float(ridge) * scale)
    return w @ scipy.linalg.pinv(r, rtol=1e-12).T


def core(spec, s, f, a, b):
    name, o = options(spec)
    m = len(a)
    if name == "svd":
        values = np.linalg.svd(a, compute_uv=False)
        rank = int(np.sum(values > float(o["rcond"]) * values[0]))
        return truncated_svd(a, rank if o["rank"] == "all" else min(rank, int(o["rank"])))
    if name == "tikhonov":
        top = np.linalg.norm(a, 2) ** 2
        return np.linalg.solve(a.T @ a + float(o["lambda"]) * top * np.eye(m), a.T)
    if name == "truncated_qr":
        q, r, p = scipy.linalg.qr(a, pivoting=True)
        rank = int(np.sum(np.abs(np.diag(r)) > float(o["rcond"]) * abs(r[0, 0])))
        x = np.zeros((m, m))
        x[p[:rank]] = scipy.linalg.solve_triangular(r[:rank, :rank], q.T[:rank])
        return x
    if name == "shifted":
        return np.linalg.inv(a + float(o["gamma"]) * np.eye(m))
    if name == "gcv":
        return gcv(a)
    if name == "best":
        return scipy.linalg.pinv(f, rtol=1e-12) @ s @ scipy.linalg.pinv(b, rtol=1e-12)
    if name == "fitted":
        return fitted(o, s, f, b)
    if name == "chosen":
        values = np.linalg.svd(a, compute_uv=False)
        ranks = range(1, 1 + int(np.sum(values > np.finfo(float).eps * m * values[0])))
        return min((truncated_svd(a, r) for r in ranks), key=lambda x: np.linalg.norm(s - f @ x @ b))
    return iterate(name, o, a)


def main():
    program, work = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    config, run, picks = (os.path.join(work, name) for name in ("cores.yaml", "run", "landmarks"))
    with open(config, "w") as file:
        file.write(CONFIG.format(cores="[" + ", ".join(f'"{c}"' for c in CORES) + "]"))
    tap, groups = Tap(), {}
    done = subprocess.run([program, "run", config, "--quiet", "--out", run])
    tap.check(done.returncode == 0, "the run succeeds", f"exit status {done.returncode}")
    done = subprocess.run([program, "export", run, "--landmarks", picks])
    tap.check(done.returncode == 0, "the landmarks are exported", f"exit status {done.returncode}")
    rows = {}
    with open(os.path.join(run, "rows.csv"), newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault(tuple(row[key] for key in ("problem", "trial", "strategy", "landmarks")), []).append(row)
    with open(os.path.join(picks, "index.csv"), newline="") as file:
        for pick in csv.DictReader(file):
            where = os.path.join(picks, f"instance-{pick['instance']}")
            q, k = (np.load(os.path.join(where, f"{name}.npy")) for name in "qk")
            queries, keys = (np.load(os.path.join(where, f"{pick['picks']}-{side}.npy"))
                             for side in ("queries", "keys"))
            s = exact(q, k, False)
            for row in rows[pick["problem"], pick["trial"], pick["strategy"], pick["landmarks"]]:
                if row["status"] != "ok":
                    continue
                f, a, b = factors(row["factors"], s, kernel_of("softmax(scale=auto)", q, k)[2], q, k, queries, keys)
                x = core(row["core"], s, f, a, b)
                error = np.linalg.norm(s - f @ x @ b) / np.linalg.norm(s)
                bound = 1e-9 * error + 100 * float(row["error_noise"]) * (
                    1 + np.linalg.norm(a, 2) * np.linalg.norm(x, 2))
                groups.setdefault(row["core"], Group()).add(float(row["error"]), error, bound,
                                                            f"{pick['problem']} {pick['strategy']} m = "
                                                            f"{pick['landmarks']} {row['factors']}")
    for name, group in groups.items():
        tap.check(group.rows > 0 and group.wrong == 0, f"{name}: {group.rows} errors",
                  f"{group.wrong} wrong; {group.detail}")
    tap.check(len(groups) == len(CORES), "every core has rows", f"{sorted(groups)}")
    print(f"1..{tap.count}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
