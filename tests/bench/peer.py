# SPDX-License-Identifier: GPL-3.0-or-later
"""The script that one writes without nysbench, timed against it.

    peer.py NYSBENCH OUT.csv [--peers numpy,processes,torch] [--sizes 1024,2048,4096] [--threads 2] [--repeat 3]

Each trial starts from new Q, K, V (n x d): S = softmax(QK'/sqrt d) once, its SVD once
for the leverage scores, then for four strategies and m = 8 ... 64 the factors
F, A, B, the pseudo-inverse X of A, S~ = F X B and |S - S~| / |S|. Three sweeps:

    card   X by pinv (rcond 1e-15) and by Nystromformer's six steps
    pinv   40 settings of X: 20 values of rcond, from one SVD of A, and 1 ... 20
           steps, each step measured on the way
    real   as card, on the heads of a shipped file instead of drawn ones

The peers are NumPy and PyTorch with --threads BLAS threads, a trial at a time, and
NumPy in as many processes of one thread, each with trials of its own. nysbench runs
the same as a process of its own, start included (the peers' imports and forks are
not), with as many workers: 8 trials up to n = 2048, 2 beyond. Both in
turns, --repeat times: medians, and of the ratio the least and the most too. Then the peer's
code computes the error (untimed) of the landmarks that nysbench picked, and the
two must agree, see `agreement`.
"""
import argparse
import atexit
import csv
import datetime
import multiprocessing
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import threadpoolctl
from sklearn.cluster import KMeans

EPS = np.finfo(float).eps
LANDMARKS = range(8, 72, 8)
REAL = {1024: "smollm2_opticks_n1024_L15", 1500: "whisper_librivox-sense_n1500_L3"}
RCONDS = np.logspace(-1, -15, 20)
STEPS = 20
CONFIG = """
question: How long does it take?
seed: 1
trials: {trials}
problems: "{problem}"
strategies: [uniform, segment_means, "kmeans(iterations=10, tolerance=0.0001)", leverage]
pairing: independent
cores: [{cores}]
metrics: error
plots: []
"""


class Numpy:
    """The few operations that differ between the two libraries; arrays are float64."""

    name = "numpy"
    pool = None  # of processes that share the trials
    svd = staticmethod(np.linalg.svd)
    norm = staticmethod(np.linalg.norm)
    pinv = staticmethod(lambda a: np.linalg.pinv(a, rcond=1e-15))
    array = staticmethod(np.asarray)
    eye = staticmethod(np.eye)
    version = f"numpy {np.__version__}"

    @staticmethod
    def softmax(q, k):
        scores = q @ k.T
        scores /= np.sqrt(q.shape[1])
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        return scores


def numpy_processes(threads):
    class NumpyProcesses(Numpy):
        name = "processes"
        pool = multiprocessing.get_context("fork").Pool(threads, threadpoolctl.threadpool_limits, (1,))

    atexit.register(NumpyProcesses.pool.terminate)
    return NumpyProcesses


def torch_library(threads):
    import torch

    torch.set_num_threads(threads)

    class Torch:
        name = "torch"
        pool = None
        svd = staticmethod(lambda a: torch.linalg.svd(a))
        norm = staticmethod(torch.linalg.norm)
        pinv = staticmethod(lambda a: torch.linalg.pinv(a, rtol=1e-15))
        array = staticmethod(lambda a: torch.from_numpy(np.ascontiguousarray(a)))
        eye = staticmethod(lambda m: torch.eye(m, dtype=torch.float64))
        version = f"torch {torch.__version__}"

        @staticmethod
        def softmax(q, k):
            return torch.softmax(q @ k.T / q.shape[1] ** 0.5, dim=1)

    return Torch


def step(x, a, identity):
    """One step of Nystromformer's iteration."""
    ax = a @ x
    return 0.25 * x @ (13 * identity - ax @ (15 * identity - ax @ (7 * identity - ax)))


def start(a):
    """The paper's: A' / (|A|_1 |A|_inf)."""
    return a.T / (abs(a).sum(0).max() * abs(a).sum(1).max())


def card_cores(xp, a):
    yield xp.pinv(a)
    x, identity = start(a), xp.eye(len(a))
    for _ in range(6):
        x = step(x, a, identity)
    yield x


def pinv_cores(xp, a):
    u, s, vt = xp.svd(a)
    for rcond in RCONDS:
        kept = s > rcond * s[0]
        yield (vt[kept].T / s[kept]) @ u[:, kept].T
    x, identity = start(a), xp.eye(len(a))
    for _ in range(STEPS):
        x = step(x, a, identity)
        yield x


CORES = {"card": card_cores, "pinv": pinv_cores, "real": card_cores}


def errors(xp, s, norm, q, k, q_landmarks, k_landmarks, cores):
    """The error of each core; q, k (n x d), landmarks (m x d)."""
    f, a, b = xp.softmax(q, k_landmarks), xp.softmax(q_landmarks, k_landmarks), xp.softmax(q_landmarks, k)
    found = []
    for x in cores(xp, a):
        difference = (f @ x) @ b
        difference -= s
        found.append(float(xp.norm(difference) / norm))
    return found


def pick(strategy, m, q, k, u, vt, rng):
    """Landmarks (m x d, twice) by one of the four strategies."""
    n = len(q)
    if strategy == "uniform":
        tokens = rng.choice(n, m, replace=False)
        return q[tokens], k[tokens]
    if strategy == "segment_means":
        return tuple(np.array([x[n * j // m : n * (j + 1) // m].mean(0) for j in range(m)]) for x in (q, k))
    if strategy == "kmeans":
        seed = int(rng.integers(2**31))
        return tuple(KMeans(m, n_init=1, max_iter=10, random_state=seed).fit(x).cluster_centers_ for x in (q, k))
    scores = (np.asarray(u[:, :m]) ** 2).sum(1) / m, (np.asarray(vt[:m]) ** 2).sum(0) / m
    return tuple(x[rng.choice(n, m, replace=False, p=p / p.sum())] for x, p in zip((q, k), scores))


def run_trial(xp, q, k, number, sweep):
    """One trial from Q, K; returns the seconds of the SVD of S."""
    rng = np.random.default_rng([1, number])
    s = xp.softmax(xp.array(q), xp.array(k))
    norm, before = xp.norm(s), time.perf_counter()
    u, _, vt = xp.svd(s)
    svd_s = time.perf_counter() - before
    for strategy in ("uniform", "segment_means", "kmeans", "leverage"):
        for m in LANDMARKS:
            landmarks = [xp.array(x) for x in pick(strategy, m, q, k, u, vt, rng)]
            errors(xp, s, norm, xp.array(q), xp.array(k), *landmarks, CORES[sweep])
    return svd_s


def peer(xp, trials, sweep):
    """All trials; returns the seconds, in all and of the SVDs of S."""
    began = time.perf_counter()
    work = [(xp if xp.pool is None else Numpy, q, k, t, sweep) for t, (q, k) in enumerate(trials)]
    if xp.pool is None:
        svd_s = sum(run_trial(*one) for one in work)
    else:
        svd_s = sum(xp.pool.starmap(run_trial, work, chunksize=1)) / len(xp.pool._pool)
    return time.perf_counter() - began, svd_s


def write_config(folder, sweep, n, trials):
    cores = ["svd(rcond=1e-15)", "iterative(steps=6)"]
    if sweep == "pinv":
        cores = [f"svd(rcond={r:.17g})" for r in RCONDS] + [f"iterative(steps={i})" for i in range(1, STEPS + 1)]
    problem = f"gaussian(n={n}, d=64)"
    if sweep == "real":
        problem = f"heads(file={os.path.abspath('experiments/data')}/{REAL[n]}.safetensors, head=all, causal=false)"
    path = os.path.join(folder, "peer.yaml")
    with open(path, "w") as file:
        file.write(CONFIG.format(problem=problem, trials=trials, cores=", ".join(f'"{c}"' for c in cores)))
    return path


def nysbench(program, config, out, threads):
    """Seconds of the whole process."""
    began = time.perf_counter()
    subprocess.run([program, "run", config, "--quiet", "--fresh", "--jobs", str(threads), "--out", out], check=True,
                   stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def landmarks_of(path, x):
    """Tokens (m), group numbers are exported as means (m x d)."""
    picked = np.load(path)
    return x[picked] if picked.ndim == 1 else picked


def exported(program, out, folder):
    """Q, K of each head, by (head, trial), and (head and trial, strategy, m, landmarks) of each pick."""
    subprocess.run([program, "export", out, "--landmarks", folder], check=True, stdout=subprocess.DEVNULL)
    heads, picks = {}, []
    with open(os.path.join(folder, "index.csv"), newline="") as file:
        for row in csv.DictReader(file):
            where = os.path.join(folder, f"instance-{row['instance']}")
            which = row["head"], row["trial"]
            if which not in heads:
                heads[which] = tuple(np.load(os.path.join(where, name + ".npy")) for name in "qk")
            pair = (landmarks_of(os.path.join(where, f"{row['picks']}-{side}.npy"), x) for side,
                    x in zip(("queries", "keys"), heads[which]))
            picks.append((which, row["strategy"], int(row["landmarks"]), *pair))
    return heads, picks


def agreement(heads, picks, out, sweep):
    """The largest |peer - nysbench| over what rounding allows: 1e-9 of the error, and
    100 times the row's noise estimate where X is large (both then compute with an X
    that its own rounding has moved: relative eps |A| |X| again)."""
    rows, worst, relative = {}, 0.0, 0.0
    with open(os.path.join(out, "rows.csv"), newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault(((row["head"], row["trial"]), row["strategy"], int(row["landmarks"])), []).append(row)
    for which, strategy, m, q_landmarks, k_landmarks in picks:
        q, k = heads[which]
        s = Numpy.softmax(q, k)
        a = Numpy.softmax(q_landmarks, k_landmarks)
        sizes = [np.linalg.norm(x, 2) * np.linalg.norm(a, 2) for x in CORES[sweep](Numpy, a)]
        got = errors(Numpy, s, np.linalg.norm(s), q, k, q_landmarks, k_landmarks, CORES[sweep])
        for row, error, size in zip(rows[which, strategy, m], got, sizes, strict=True):
            allowed = 1e-9 * error + 100 * float(row["error_noise"]) * (1 + size)
            worst = max(worst, abs(float(row["error"]) - error) / allowed)
            if size < 1e4:
                relative = max(relative, abs(float(row["error"]) / error - 1))
    return worst, relative


def machine():
    with open("/proc/cpuinfo") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nysbench")
    parser.add_argument("out")
    parser.add_argument("--peers", default="numpy,processes,torch")
    parser.add_argument("--sizes", default="1024,2048,4096")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    o = parser.parse_args()
    threadpoolctl.threadpool_limits(o.threads)
    make = {"numpy": lambda _: Numpy, "processes": numpy_processes, "torch": torch_library}
    libraries = [make[name](o.threads) for name in o.peers.split(",")]
    cases = [("card", int(n)) for n in o.sizes.split(",")]
    cases += [("pinv", n) for _, n in cases if n == 2048] + [("real", n) for n in REAL]
    facts = {"threads": o.threads, "machine": machine(), "date": datetime.date.today().isoformat(),
             "versions": ", ".join(sorted({xp.version for xp in libraries}) + [f"python {platform.python_version()}"]),
             "command": "make bench"}
    out_rows, bad = [], False
    print(f"{'sweep':6} {'n':>5} {'trials':>6} {'peer':9} {'peer s':>8} {'of it SVD':>9} {'nysbench s':>10} "
          f"{'ratio':>6} {'least':>6} {'most':>6} {'agree':>8}")
    for sweep, n in cases:
        count = {"card": 8 if n <= 2048 else 2, "pinv": 2, "real": 1}[sweep]
        with tempfile.TemporaryDirectory() as folder:
            config, run = write_config(folder, sweep, n, count), os.path.join(folder, "run")
            nysbench(o.nysbench, config, run, o.threads)
            heads, picks = exported(o.nysbench, run, os.path.join(folder, "landmarks"))
            worst, relative = agreement(heads, picks, run, sweep)
            trials = list(heads.values())
            bad = bad or not worst <= 1
            for xp in libraries:
                turns = [(nysbench(o.nysbench, config, run, o.threads), *peer(xp, trials, sweep))
                         for _ in range(o.repeat)]
                own_s, peer_s, svd_s = (statistics.median(times) for times in zip(*turns))
                ratios = sorted(turn[1] / turn[0] for turn in turns)
                ratio = statistics.median(ratios)
                out_rows.append({"sweep": sweep, "n": n, "trials": len(trials), "peer": xp.name,
                                 "peer_s": f"{peer_s:.3f}", "peer_svd_s": f"{svd_s:.3f}",
                                 "nysbench_s": f"{own_s:.3f}", "ratio": f"{ratio:.1f}",
                                 "ratio_least": f"{ratios[0]:.1f}", "ratio_most": f"{ratios[-1]:.1f}",
                                 "largest_difference_over_allowed": f"{worst:.2g}",
                                 "largest_relative_difference": f"{relative:.2g}", **facts})
                print(f"{sweep:6} {n:5} {len(trials):6} {xp.name:9} {peer_s:8.2f} {svd_s:9.2f} {own_s:10.2f} "
                      f"{ratio:6.1f} {ratios[0]:6.1f} {ratios[-1]:6.1f} {relative:8.1g}", flush=True)
    with open(o.out, "w", newline="") as file:
        writer = csv.DictWriter(file, list(out_rows[0]))
        writer.writeheader()
        writer.writerows(out_rows)
    if bad:
        print("the errors of nysbench and of the peer do not agree", file=sys.stderr)
    return bad


sys.exit(main())
