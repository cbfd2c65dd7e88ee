#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""selection.py NYSBENCH FOLDER - how long strategies take to select landmarks, on heads drawn with a sink, d = 64:
medians of select_s over five trials in one process, and the median ratio to kmeans(restarts=4) in the same trial.
Prints CSV."""
import csv
import os
import statistics
import subprocess
import sys

program, folder = sys.argv[1:]
CONFIG = """\
question: select
trials: 5
landmarks: [8, 16, 32, 64]
problems: "sink(n=[1024, 2048, 4096, 8192, 16384])"
strategies: [kmeans(restarts=4), profile, "profile(sample=tokens, steps=3)", pilot, segment_means]
cores: iterative
rows: sample(64)
metrics: error
plots: []
"""
os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, "select.yaml"), "w") as out:
    out.write(CONFIG)
subprocess.run([program, "run", os.path.join(folder, "select.yaml"), "-q", "-j", "1", "--out",
                os.path.join(folder, "run")], check=True,
               stdout=subprocess.DEVNULL)
seconds, labels = {}, {}
with open(os.path.join(folder, "run", "rows.csv"), newline="") as rows:
    for r in csv.DictReader(rows):
        seconds[int(r["n"]), int(r["landmarks"]), r["strategy"], r["trial"]] = float(r["select_s"])
names = list(dict.fromkeys(key[2] for key in seconds))
trials = list(dict.fromkeys(key[3] for key in seconds))
for name in names:
    short = name.split("(")[0]
    labels[name] = "profile of tokens; 3 steps" if "sample=tokens" in name and short == "profile" else short
print("n,landmarks,strategy,select_s,over_kmeans")
for n, m in sorted({key[:2] for key in seconds}):
    for name in names:
        own = [seconds[n, m, name, t] for t in trials if (n, m, name, t) in seconds]
        over = [seconds.get((n, m, name, t), own[0]) / seconds[n, m, names[0], t] for t in trials]
        print(f"{n},{m},{labels[name]},{statistics.median(own):.3g},{statistics.median(over):.3g}")
