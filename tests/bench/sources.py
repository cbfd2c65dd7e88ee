#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""sources.py NYSBENCH HEADS FOLDER [STRATEGY]... - a strategy (profile) against kmeans(restarts=4) with sources as the
unit: HEADS holds files MODEL_SOURCE_nN_LLAYER.safetensors of several models; heads, layers and lengths of one source are
averaged first (logarithms of the ratio in the same trial), and the 95 % t interval is over sources. Without causal masks.
FOLDER is for the run. Prints CSV: a line for each core, model and m, and for m = all; `all` models: each with the same
weight, no interval. `unseen`: the ratio over the rows that neither strategies nor cores have looked at. `sources`: all, or `untuned`, those that no setting of profile was chosen on, but for the least number of rows, which
was chosen on all of Whisper's: its lines for m = 8 are not held out."""
import csv
import glob
import math
import os
import re
import subprocess
import sys

import numpy as np
from scipy import stats

# Settings of profile were chosen on these, in the folder of many sources; the least number of rows, 64, on all of Whisper's.
TUNED = {"minilm": "anarchist-faq foldoc perl-faq1", "smollm2": "anarchist-faq foldoc opticks-b sqlite-whentouse",
         "vit": "astronaut coins flower rigging", "whisper": "carlo-it espeak-sqlite-whentouse librivox-sense"}
BASELINE = "kmeans(restarts=4)"
CONFIG = """\
question: sources
trials: 1
landmarks: [8, 16, 32, 64]
problems: [{problems}]
strategies: [{strategies}]
cores: [iterative(steps=6), fitted]
metrics: error
baseline: "{baseline}"
plots: []
"""


def run(program, files, strategies, folder):
    config = os.path.join(folder, "sources.yaml")
    os.makedirs(folder, exist_ok=True)
    with open(config, "w") as out:
        out.write(CONFIG.format(problems=", ".join(f'"heads(file={os.path.abspath(f)}, causal=false)"' for f in files),
                                strategies=", ".join(f'"{s}"' for s in [BASELINE, *strategies]), baseline=BASELINE))
    subprocess.run([program, "run", config, "-q", "--out", os.path.join(folder, "run")], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(folder, "run", "rows.csv"), newline="") as rows:
        return list(csv.DictReader(rows))


def ratios(rows):
    """{(strategy, core, model, source, m): logarithms of the ratios to the baseline, of all rows and of those unseen}, over heads and files."""
    errors = {}
    for r in rows:
        if r["status"] != "ok":
            sys.exit(f"{r['problem']}, {r['strategy']}, m = {r['landmarks']}: {r['status']}: {r['reason']}")
        name = re.search(r"/([^_/]+)_([^/]+)_n\d+_L\d+\.", r["problem"])
        errors[r["strategy"], r["core"].split("(")[0], name[1], name[2], int(r["landmarks"]), r["problem"], r["head"]] = (
            float(r["error"]), float(r["error_unseen"] or "nan"))
    strategies = list(dict.fromkeys(key[0] for key in errors))
    found = {}
    for (strategy, *rest), error in errors.items():
        if strategy != strategies[0]:
            found.setdefault((strategy, *rest[:4]), []).append(np.log(np.divide(error, errors[(strategies[0], *rest)])))
    return found


def line(found, strategy, core, model, m, untuned):
    by_source = {}
    for (s, c, mo, source, of), values in found.items():
        if (s, c, mo) == (strategy, core, model) and m in (of, "all") and not (untuned and source in TUNED.get(mo, "").split()):
            by_source.setdefault(source, []).append(np.nanmean(values, axis=0))
    x, unseen = np.array([np.nanmean(v, axis=0) for v in by_source.values()]).reshape(-1, 2).T
    if len(x) == 0:
        return math.nan, math.nan, math.nan, 0, 0, math.nan
    half = stats.t.ppf(0.975, len(x) - 1) * x.std(ddof=1) / math.sqrt(len(x)) if len(x) > 1 else math.nan
    return x.mean(), x.mean() - half, x.mean() + half, int((x < 0).sum()), len(x), np.nanmean(unseen)


def main():
    program, heads, folder, *strategies = sys.argv[1:]
    found = ratios(run(program, sorted(glob.glob(os.path.join(heads, "*.safetensors"))), strategies or ["profile"], folder))
    order = [list(dict.fromkeys(key[i] for key in found)) for i in range(5)]
    print("strategy,core,model,landmarks,sources,ratio,low,high,below,of,unseen")
    for strategy in order[0]:
        for core in order[1]:
            for m in [*order[4], "all"]:
                for kind in ("all", "untuned"):
                    means = []
                    for model in order[2]:
                        mean, low, high, below, count, unseen = line(found, strategy, core, model, m, kind == "untuned")
                        means.append((mean, unseen))
                        print(f'"{strategy}",{core},{model},{m},{kind},' + ",".join("" if math.isnan(v) else f"{math.exp(v):.3f}" for v in (mean, low, high)) + f",{below},{count}," + ("" if math.isnan(unseen) else f"{math.exp(unseen):.3f}"))
                    mean, unseen = np.exp(np.nanmean(means, axis=0))
                    print(f'"{strategy}",{core},all,{m},{kind},{mean:.3f},,,,,{unseen:.3f}')


if __name__ == "__main__":
    main()
