#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""fitted.py RUN - fitted by its number of exact rows, with and without a ridge, from the
rows of a run of experiments/05-fitted-limits.yaml (m = 32): error over that of the best
core, medians over strategies, heads and trials; `unseen` on the rows of S that it has not
seen, over the best core's for those rows; `kept` six steps with that many rows kept exact,
below 1 where they are better than any core; and the share of choices of landmarks where
fitted with 4m rows is below six steps, and below six steps with the same rows kept."""
import collections, csv, os, statistics, sys

ratio, unseen = (collections.defaultdict(lambda: collections.defaultdict(dict)) for _ in range(2))
for r in csv.DictReader(open(os.path.join(sys.argv[1], "rows.csv"), newline="")):
    if r["status"] == "ok":
        problem = r["problem"].split("/")[-1].split("_")[0] if r["problem"].startswith("heads(") else r["problem"].split("(")[0]
        choice = r["head"], r["trial"], (r["strategy"], r["pairing"], r["factors"], r["landmarks"])
        ratio[problem][choice][r["core"]] = float(r["error"]) / float(r["error_subspace"])
        if r["error_unseen"] and float(r["error_unseen_subspace"]) > 0:
            unseen[problem][choice][r["core"]] = float(r["error_unseen"]) / float(r["error_unseen_subspace"])
wanted = {"six steps": ("iterative(", "", ratio), "rcond 0.03": ("svd(", "", ratio)}
for ridge in ("auto", "0"):
    for rows in (16, 32, 64, 128, 256):
        wanted[f"{rows} rows" + (", no ridge" if ridge == "0" else "")] = (f"fitted(rows={rows},", f"ridge={ridge}, keep_rows=false)", ratio)
for rows in (32, 128):
    wanted[f"{rows} rows, unseen"] = (f"fitted(rows={rows},", "ridge=auto, keep_rows=false)", unseen)
    wanted[f"six steps, {rows} rows kept"] = ("exact_rows(of=iterative(", f"rows={rows})", ratio)
    wanted[f"{rows} rows, kept"] = (f"fitted(rows={rows},", "ridge=auto, keep_rows=true)", ratio)
out = csv.writer(sys.stdout, lineterminator="\n")
out.writerow(["problem", "choices", *wanted, "128 rows below six steps", "below six steps with 128 rows kept"])
pick = lambda cores, start, end: next((x for core, x in cores.items() if core.startswith(start) and core.endswith(end)), None)
for problem, choices in ratio.items():
    line, below, below_kept = [], [], []
    for start, end, values in wanted.values():
        of = [x for cores in values[problem].values() if (x := pick(cores, start, end)) is not None]
        line.append(f"{statistics.median(of):.3g}")
    for (head, trial, strategy), cores in choices.items():
        all_cores = {**choices[head, "0", strategy], **cores}  # where landmarks and six steps know no chance, trial 0 stands for all
        fitted = pick(all_cores, *wanted["128 rows"][:2])
        below.append(fitted < pick(all_cores, *wanted["six steps"][:2]))
        below_kept.append(fitted < pick(all_cores, *wanted["six steps, 128 rows kept"][:2]))
    out.writerow([problem, len(choices), *line, f"{sum(below)} of {len(below)}", f"{sum(below_kept)} of {len(below_kept)}"])
