#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""rows.py NYSBENCH FOLDER [--heads N] [--sizes ROWS,...] [--repeat K] - what rows cost beside their measurement, as
CSV.

    heads  a study of 10,000 small heads, each drawn anew (n = 128, d = 32, m = 8, 16, 32), with two workers
    store  as many rows as --sizes says, of heads so small (n = 8) that little but the row is left: the run, the same
           command again with nothing left to do, and what is made of the rows
    small  what is asked of 100 such rows: what a command takes at least

`seconds` is the median over --repeat calls (one above 100,000 rows, --small of part small) of the whole program's
wall-clock time, with the least and the most; `cpu_us` its CPU time for a row in microseconds, of all its processes (of
100 rows, 200 are 20 ms a call); `worker_share` the part of that which workers (and, in `plot` and `report`, gnuplot)
took, and not the process that plans, stores and prints; `peak_mib` the memory of the largest process.
FOLDER is for the runs: two gigabytes for a million rows.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time

HEADS = """\
question: small heads
trials: {trials}
landmarks: [8, 16, 32]
problems: ["gaussian(n=128, d=32)"]
strategies: [uniform, segment_means, kmeans]
cores: [iterative]
metrics: error
plots: []
"""
HEAD_ROWS = 9  # of a trial
STORE = """\
question: many rows
trials: {trials}
landmarks: [1, 2, 3, 4, 5]
problems: ["gaussian(n=8, d=2)"]
strategies: [uniform, segment_means]
cores: [{cores}]
metrics: error
plots: []
"""
CORES = [f"iterative(steps={k})" for k in range(1, 6)] + [f"svd(rcond=1e-{k})" for k in range(1, 6)]
STORE_ROWS = 10 * len(CORES)
SMALL = ["status", "table errors", "table wins", "table shares", "compare", "compare --by core"]
MOST_REPEATED = 100000  # rows
FIELDS = "part step rows seconds seconds_least seconds_most cpu_us worker_share peak_mib".split()


def call(arguments):
    """Wall-clock seconds, CPU seconds of the process with its children and of these, and MiB of the largest."""
    began = time.perf_counter()
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        said = process.stderr.read()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        seconds = time.perf_counter() - began
        with open(f"/proc/{process.pid}/stat", encoding="utf-8") as stat:
            ticks = [int(x) for x in stat.read().rpartition(")")[2].split()[13:15]]  # children's: user, system
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"rows.py: {' '.join(arguments)}: {said.decode()}")
    cpu, children = usage.ru_utime + usage.ru_stime, sum(ticks) / os.sysconf("SC_CLK_TCK")
    return seconds, cpu, children, usage.ru_maxrss / 1024


def measure(part, step, rows, repeat, arguments, before=lambda: None):
    calls = []
    for _ in range(repeat):
        before()
        calls.append(call(arguments))
    seconds, cpu, children, peak = zip(*calls)
    cpu, children = statistics.median(cpu), statistics.median(children)
    print(f"{part},{step},{rows},{statistics.median(seconds):.3g},{min(seconds):.3g},{max(seconds):.3g},"
          f"{1e6 * cpu / rows:.3g},{min(children / cpu, 1):.2f},{max(peak):.0f}", flush=True)


def write(path, text):
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


def run_steps(part, program, config, out, rows, repeat):
    command = [program, "run", config, "-q", "--jobs", "2", "--out", out]
    measure(part, "run", rows, repeat, command, lambda: shutil.rmtree(out, ignore_errors=True))
    measure(part, "again", rows, repeat, command)


def heads(program, folder, count, repeat):
    config, out = os.path.join(folder, "heads.yaml"), os.path.join(folder, "heads")
    write(config, HEADS.format(trials=count))
    run_steps("heads", program, config, out, HEAD_ROWS * count, repeat)
    shutil.rmtree(out)


def write_store_config(path, rows):
    write(path, STORE.format(trials=rows // STORE_ROWS, cores=", ".join(CORES)))


def small(program, folder, repeat):
    config, out = os.path.join(folder, "small.yaml"), os.path.join(folder, "small")
    write_store_config(config, STORE_ROWS)
    call([program, "run", config, "-q", "--out", out])
    for step in SMALL:
        command, *rest = step.split()
        measure("small", step, STORE_ROWS, repeat, [program, command, out, *rest])
    shutil.rmtree(out)


def store(program, folder, rows, repeat):
    config, out, merged = (os.path.join(folder, name) for name in ("store.yaml", "store", "merged"))
    write_store_config(config, rows)
    measure("store", "plan", rows, repeat, [program, "plan", config, "--out", os.path.join(folder, "none")])
    run_steps("store", program, config, out, rows, repeat)
    for step in (["export"], ["compare"], ["table", "errors"], ["plot", "error"], ["report"]):
        measure("store", step[0], rows, repeat, [program, step[0], out, *step[1:]])
    measure("store", "merge", rows, repeat, [program, "merge", "-q", merged, out],
            lambda: shutil.rmtree(merged, ignore_errors=True))
    shutil.rmtree(out)
    shutil.rmtree(merged)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--heads", type=int, default=10000, help="0: without this part")
    parser.add_argument("--sizes", default="100000,1000000", help="rows of the store, each a multiple of 100")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--small", type=int, default=50, help="calls of each command on 100 rows; 0: without this part")
    a = parser.parse_args()
    sizes = [int(size) for size in a.sizes.split(",") if size]
    if any(size < STORE_ROWS or size % STORE_ROWS for size in sizes):
        sys.exit(f"rows.py: --sizes {a.sizes}: expected multiples of {STORE_ROWS}")
    os.makedirs(a.folder, exist_ok=True)
    print(",".join(FIELDS))
    if a.heads:
        heads(a.program, a.folder, a.heads, a.repeat)
    if a.small:
        small(a.program, a.folder, a.small)
    for size in sizes:
        store(a.program, a.folder, size, a.repeat if size <= MOST_REPEATED else 1)


if __name__ == "__main__":
    main()
