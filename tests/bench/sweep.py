"""What a sweep over 40 settings of X costs beside one setting, on the same landmarks.

    tests/bench/sweep.py PROGRAM    from the repository's root

Both in turns, 15 times; the wall time of the whole command counts, one worker process with
one BLAS thread. `seconds` and `ratio` are of the least times; `median` is that of the ratios
of neighbours, `low` and `high` their quartiles: they tell what else the machine did. CSV.
"""
import csv
import statistics
import subprocess
import sys
import tempfile
import time

TURNS = 15
ONE = "svd"
FORTY = '"iterative(steps=[%s])", "svd(rcond=[%s])", "tikhonov(lambda=[1e-2, 1e-4, 1e-6, 1e-8, 1e-10])"' % (
    ", ".join(map(str, range(1, 21))), ", ".join(f"1e-{i}" for i in range(1, 16)))


def run(n, cores):
    """Wall seconds and rows of a run."""
    with tempfile.TemporaryDirectory() as out:
        began = time.perf_counter()
        subprocess.run([sys.argv[1], "run", "experiments/01-error-vs-landmarks.yaml", "-q", "-j1", "--out", out, "--set", "trials=1", "--set", "plots=[]",
                        "--set", "metrics=error", "--set", f"problems=gaussian(n={n}, d=64)", "--set", "strategies=[uniform, segment_means, kmeans(restarts=4)]",
                        "--set", f"cores=[{cores}]"], check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - began
        with open(f"{out}/rows.csv", newline="") as file:
            rows = sum(row["status"] == "ok" for row in csv.DictReader(file))
        return seconds, rows


print("n,rows_of_one,rows_of_forty,seconds_of_one,seconds_of_forty,ratio,median,low,high")
for n in (1024, 2048, 4096):
    turns = [(run(n, ONE), run(n, FORTY)) for _ in range(TURNS)]
    one, forty = (min(turn[i][0] for turn in turns) for i in (0, 1))
    low, middle, high = statistics.quantiles((b[0] / a[0] for a, b in turns), n=4)
    print(f"{n},{turns[0][0][1]},{turns[0][1][1]},{one:.3f},{forty:.3f},{forty / one:.3f},{middle:.3f},{low:.3f},{high:.3f}", flush=True)
