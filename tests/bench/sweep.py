"""What a sweep over 40 settings of X costs beside one setting, on the same landmarks.

    tests/bench/sweep.py PROGRAM    from the repository's root

Both take turns, seven times; the least wall time of the whole command counts, one worker
process with one BLAS thread. Prints CSV.
"""
import subprocess
import sys
import tempfile
import time

ONE = "svd"
FORTY = '"iterative(steps=[%s])", "svd(rcond=[%s])", "tikhonov(lambda=[1e-2, 1e-4, 1e-6, 1e-8, 1e-10])"' % (
    ", ".join(map(str, range(1, 21))), ", ".join(f"1e-{i}" for i in range(1, 16)))

print("n,settings,rows,seconds,ratio")
for n in (1024, 2048, 4096):
    least = {}
    for _ in range(7):
        for settings, cores in ((1, ONE), (40, FORTY)):
            with tempfile.TemporaryDirectory() as out:
                began = time.perf_counter()
                subprocess.run([sys.argv[1], "run", "experiments/01-error-vs-landmarks.yaml", "-q", "-j1", "--out", out, "--set", "trials=1", "--set", "plots=[]",
                                "--set", "metrics=error", "--set", f"problems=gaussian(n={n}, d=64)", "--set", "strategies=[uniform, segment_means, kmeans(restarts=4)]",
                                "--set", f"cores=[{cores}]"], check=True, stdout=subprocess.DEVNULL)
                seconds = time.perf_counter() - began
                rows = sum(1 for _ in open(f"{out}/rows.csv")) - 1
            least[settings] = min(least.get(settings, (float("inf"), 0)), (seconds, rows))
    for settings, (seconds, rows) in least.items():
        print(f"{n},{settings},{rows},{seconds:.3f},{seconds / least[1][0]:.3f}", flush=True)
