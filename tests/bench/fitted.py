#!/usr/bin/env python3
"""fitted.py RUN - fitted by its number of exact rows, with and without a ridge, from the
rows of a run of experiments/05-fitted-limits.yaml (m = 32): error over that of the best
core, medians over strategies, heads and trials, and the share of choices of landmarks
where fitted with 4m rows is below six steps."""
import collections, csv, os, statistics, sys

ratio = collections.defaultdict(lambda: collections.defaultdict(dict))
for r in csv.DictReader(open(os.path.join(sys.argv[1], "rows.csv"), newline="")):
    if r["status"] == "ok":
        problem = r["problem"].split("/")[-1].split("_")[0] if r["problem"].startswith("heads(") else r["problem"].split("(")[0]
        ratio[problem][r["head"], r["trial"], r["strategy"]][r["core"]] = float(r["error"]) / float(r["error_subspace"])
wanted = {"six steps": ("iterative(", ""), "rcond 0.03": ("svd(", "")}
for ridge in ("auto", "0"):
    for rows in (16, 32, 64, 128, 256):
        wanted[f"{rows} rows" + (", no ridge" if ridge == "0" else "")] = (f"fitted(rows={rows},", f"ridge={ridge})")
print(",".join(["problem", "choices", *wanted, "128 rows below six steps"]))
for problem, choices in ratio.items():
    line, below = [], []
    for start, end in wanted.values():
        of = [[x for core, x in cores.items() if core.startswith(start) and core.endswith(end)] for cores in choices.values()]
        line.append(f"{statistics.median(x[0] for x in of if x):.3g}")
    for (head, trial, strategy), cores in choices.items():
        six = {**choices[head, "0", strategy], **cores}  # where landmarks and six steps know no chance, trial 0 stands for all
        pick = lambda start, end: next(x for core, x in six.items() if core.startswith(start) and core.endswith(end))
        below.append(pick(*wanted["128 rows"]) < pick(*wanted["six steps"]))
    print(",".join([problem, str(len(choices)), *line, f"{sum(below)} of {len(below)}"]))
