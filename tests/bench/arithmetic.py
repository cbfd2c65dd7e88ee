#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""arithmetic.py PROGRAM FOLDER [KERNELS KERNELS] - how far OpenBLAS's kernels move errors:
experiments/01-error-vs-landmarks.yaml with one trial, the same on two problems of low rank, and with `profile`, there
and on one of narrow points, under two of them (Haswell, SkylakeX); the runs go to FOLDER. By core the relative
difference of `error`, its median and the largest, and how many rows differ by more than both their error_noise."""
import csv
import os
import statistics
import subprocess
import sys

program, folder = sys.argv[1:3]
names = sys.argv[3:] or ["Haswell", "SkylakeX"]
options = ["trials=1", "plots=[]", "metrics=error", "cores=[iterative(steps=6), svd(rcond=1e-15), fitted, best]"]


sets = {"demo": [],
        "low rank": ["problems=[\"clusters(n=400, d=8, count=16, spread=0.001)\", \"low_rank(n=400, d=16, rank=2)\"]"],
        "profile": ["strategies=[profile]"],
        "profile on narrow points": ["strategies=[profile]", "problems=[\"gaussian(n=256, d=8, scale=0.5)\"]"]}


def rows(name, problems):
    out = f"{folder}/{problems}-{name}"
    subprocess.run([program, "run", "experiments/01-error-vs-landmarks.yaml", "-q", "-o", out] +
                   [w for o in options + sets[problems] for w in ("--set", o)],
                   env={**os.environ, "OPENBLAS_CORETYPE": name}, check=True, stdout=subprocess.DEVNULL)
    with open(f"{out}/rows.csv", newline="") as file:
        return {tuple(r[k] for k in ("problem", "head", "strategy", "landmarks", "core")): r
                for r in csv.DictReader(file) if r["status"] == "ok"}


print(f"{names[0]} against {names[1]}\nproblems,core,rows,median,largest,beyond noise")
for problems in sets:
    one, two = (rows(name, problems) for name in names)
    assert one.keys() == two.keys()
    for core in dict.fromkeys(key[-1] for key in one):
        pairs = [[float(r["error"]) for r in (one[k], two[k])] +
                 [float(one[k]["error_noise"]) + float(two[k]["error_noise"])] for k in one if k[-1] == core]
        apart = [abs(a - b) / a for a, b, _ in pairs]
        above = sum(abs(a - b) > noise for a, b, noise in pairs)
        print(f"{problems},{core.split('(')[0]},{len(pairs)},{statistics.median(apart):.1g},{max(apart):.1g},{above}")
