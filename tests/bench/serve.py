#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""serve.py PROGRAM FOLDER - milliseconds that a pick by an outside program takes: one process a pick, and one that
stays alive. Four landmarks of farthest.py and of farthest_served.py, the same work; select_s of 20 trials, one
worker."""
import csv
import json
import os
import statistics
import subprocess
import sys

program, folder = sys.argv[1:]
WAYS = {"a process a pick": f"{sys.executable} experiments/plugins/farthest.py",
        "served": f"{sys.executable} -m nysbench.serve experiments/plugins/farthest_served.py"}
environment = {**os.environ, "PYTHONPATH": os.path.abspath("python")}

print("n,way,median_ms,least_ms,most_ms")
for n in 256, 1024, 4096:
    for name, run in WAYS.items():
        spec = f"command(run={json.dumps(run)}, serve={'true' if name == 'served' else 'false'})"
        out = f"{folder}/{n}-{len(spec)}"
        subprocess.run([program, "run", "experiments/01-error-vs-landmarks.yaml", "-q", "-j1", "--out", out, "--set",
                        "plots=[]",
                        "--set", "claims=[]", "--set", f"problems=gaussian(n={n}, d=64)", "--set",
                        f"strategies=['{spec}']", "--set", "cores=svd",
                        "--set", "landmarks=4", "--set", "trials=20", "--set", "metrics=error"],
                       check=True, stdout=subprocess.DEVNULL, env=environment)
        with open(out + "/rows.csv", newline="") as rows:
            ms = sorted(1e3 * float(row["select_s"]) for row in csv.DictReader(rows))
        print(f"{n},{name},{statistics.median(ms):.2f},{ms[0]:.2f},{ms[-1]:.2f}", flush=True)
