#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""kmeans.py NYSBENCH FOLDER - what ten Lloyd iterations leave: how many picks of
kmeans(iterations=10, tolerance=0.0001) on the shipped heads are no fixed point, how many
more iterations they take to one, and what the error is there, over what it was (six
steps; 10th, 50th and 90th percentile, geometric mean). FOLDER is for the run."""
import csv
import os
import subprocess
import sys

import numpy as np

program, folder = sys.argv[1:]
HEADS = ["minilm_us-constitution_n512_L3", "smollm2_opticks_n1024_L15", "vit_astronaut_n257_L6",
         "whisper_librivox-sense_n1500_L3"]
CONFIG = """trials: 5
landmarks: [8, 16, 32, 64]
problems: [%s]
strategies: "kmeans(iterations=10, tolerance=0.0001)"
cores: iterative
metrics: error
plots: []
""" % ", ".join(f'"heads(file=experiments/data/{head}.safetensors, causal=false)"' for head in HEADS)


def softmax(q, k):
    scores = np.exp((scores := q @ k.T / np.sqrt(q.shape[1])) - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


def error(s, q, k, ql, kl):
    a = softmax(ql, kl)
    x = a.T / (np.abs(a).sum(0).max() * np.abs(a).sum(1).max())
    for _ in range(6):
        ax = a @ x
        x = x @ (13 * np.eye(len(a)) - ax @ (15 * np.eye(len(a)) - ax @ (7 * np.eye(len(a)) - ax))) / 4
    return np.linalg.norm(s - softmax(q, kl) @ x @ softmax(ql, k)) / np.linalg.norm(s)


def groups(x, centres):
    return ((x * x).sum(1)[:, None] - 2 * x @ centres.T + (centres * centres).sum(1)).argmin(1)


def fixed_point(x, centres):
    """The centres where Lloyd's iteration ends, and how many iterations that takes; a cluster that loses its last token
    keeps its centre."""
    found, count = groups(x, centres), 0
    while True:
        moved = np.array([x[found == j].mean(0) if (found == j).any() else centres[j] for j in range(len(centres))])
        if np.abs(moved - centres).max() <= 1e-9 * np.abs(x).max():
            return centres, count
        centres, count = moved, count + 1
        found = groups(x, centres)


os.makedirs(folder, exist_ok=True)
config, run, picks = (os.path.join(folder, name) for name in ("kmeans.yaml", "run", "picks"))
with open(config, "w") as file:
    file.write(CONFIG)
subprocess.run([program, "run", config, "--quiet", "--out", run], check=True, stdout=subprocess.DEVNULL)
subprocess.run([program, "export", run, "--landmarks", picks], check=True)
more, ratios, instance = {}, {}, None
for row in csv.DictReader(open(os.path.join(picks, "index.csv"), newline="")):
    at = os.path.join(picks, f"instance-{row['instance']}")
    if at != instance:
        instance, (q, k) = at, (np.load(os.path.join(at, name)) for name in ("q.npy", "k.npy"))
        s = softmax(q, k)
    ql, kl = (np.load(os.path.join(at, f"{row['picks']}-{side}.npy")) for side in ("queries", "keys"))
    end, count = fixed_point(np.hstack([q, k]), np.hstack([ql, kl]))
    m, d = int(row["landmarks"]), q.shape[1]
    more.setdefault(m, []).append(count)
    ratios.setdefault(m, []).append(error(s, q, k, end[:, :d], end[:, d:]) / error(s, q, k, ql, kl) if count else 1.0)
print("m,picks,no fixed point,more iterations: median,most,error ratio: p10,p50,p90,geometric mean")
for m, r in [*ratios.items(), ("all", sum(ratios.values(), []))]:
    counts = np.array(more.get(m, sum(more.values(), [])))
    print(",".join([str(m), str(len(r)), f"{(counts > 0).mean():.2f}", f"{np.median(counts[counts > 0]):.0f}",
                    str(counts.max()),
                    *(f"{x:.3f}" for x in np.percentile(r, [10, 50, 90])), f"{np.exp(np.mean(np.log(r))):.4f}"]))
