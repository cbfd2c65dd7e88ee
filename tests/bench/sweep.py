# SPDX-License-Identifier: GPL-3.0-or-later
"""What a sweep over 40 settings of X costs beside one setting, on the same landmarks.

    tests/bench/sweep.py PROGRAM    from the repository's root

First `nysbench measure` on one factor pair of each shipped model; then `nysbench run`, one
worker, with 24 factor pairs, which stores and prints 960 rows instead of 24. Both settings
in turns, 15 times; the wall time of the whole command counts, with one BLAS thread.
`ratio` is that of the least times; `median` is that of the ratios of neighbours, `low` and
`high` their quartiles: they tell what else the machine did. CSV.
"""
import csv
import statistics
import subprocess
import sys
import tempfile
import time

TURNS = 15
ONE = ["svd"]
FORTY = [f"iterative(steps={i})" for i in range(1, 21)] + [f"svd(rcond=1e-{i})" for i in range(1, 16)] + \
        [f"tikhonov(lambda=1e-{i})" for i in (2, 4, 6, 8, 10)]
HEADS = {257: "vit_astronaut_n257_L6", 512: "minilm_us-constitution_n512_L3", 1024: "smollm2_opticks_n1024_L15",
         1500: "whisper_librivox-sense_n1500_L3"}


def timed(*arguments):
    """Wall seconds of a command, and its output."""
    began = time.perf_counter()
    out = subprocess.run([sys.argv[1], *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout
    return time.perf_counter() - began, out


def measure(n, m, cores):
    """Wall seconds and rows, m landmarks on one head."""
    seconds, out = timed("measure", "--json", "--metrics=error", "--causal=false", "--head",
                         f"experiments/data/{HEADS[n]}.safetensors:0", "--strategy", "uniform",
                         "--landmarks", str(m), *(word for core in cores for word in ("--core", core)))
    return seconds, len(out.splitlines())


def run(n, cores):
    """Wall seconds and rows, 8 to 64 landmarks of three strategies on random data."""
    with tempfile.TemporaryDirectory() as folder:
        quoted = ", ".join(f'"{core}"' for core in cores)
        seconds, _ = timed("run", "experiments/01-error-vs-landmarks.yaml", "-q", "-j1", "--out", folder, "--set",
                           "trials=1", "--set", "plots=[]",
                           "--set", "metrics=error", "--set", f"problems=gaussian(n={n}, d=64)", "--set",
                           "strategies=[uniform, segment_means, kmeans(restarts=4)]",
                           "--set", f"cores=[{quoted}]")
        with open(f"{folder}/rows.csv", newline="") as file:
            return seconds, sum(row["status"] == "ok" for row in csv.DictReader(file))


def compare(command, data, n, landmarks, once):
    turns = [(once(ONE), once(FORTY)) for _ in range(TURNS)]
    one, forty = (min(turn[i][0] for turn in turns) for i in (0, 1))
    low, middle, high = statistics.quantiles((b[0] / a[0] for a, b in turns), n=4)
    seconds = f"{one:.3f},{forty:.3f},{forty / one:.3f},{middle:.3f},{low:.3f},{high:.3f}"
    print(f"{command},{data},{n},{landmarks},{turns[0][0][1]},{turns[0][1][1]},{seconds}", flush=True)


print("subcommand,data,n,landmarks,rows_of_one,rows_of_forty,seconds_of_one,seconds_of_forty,ratio,median,low,high")
for n, head in HEADS.items():
    for m in (16, 64):
        compare("measure", head, n, m, lambda cores: measure(n, m, cores))
for n in (1024, 2048, 4096):
    compare("run", "gaussian", n, "8 to 64", lambda cores: run(n, cores))
