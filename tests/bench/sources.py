#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""sources.py NYSBENCH HEADS FOLDER [STRATEGY]... - strategies (profile) against kmeans(restarts=4) on all .safetensors
files of the folder HEADS, without causal masks, by `nysbench compare`. FOLDER is for the run. Prints CSV: a line for
each core, model and m, and for m = all, which is 8 to 32: with 64 landmarks profile has seen the rows that it is judged
on. `unseen`: the ratio over the rows that neither strategies nor cores have looked at. `kind`: all, or `untuned`, the
sources that no setting of profile was chosen on, but for the least number of rows, which was chosen on all of
Whisper's: its lines for m = 8 are not held out."""
import csv
import glob
import os
import subprocess
import sys

# Settings of profile were chosen on these, of the folder of many sources.
TUNED = {"minilm": "anarchist-faq foldoc perl-faq1", "smollm2": "anarchist-faq foldoc opticks-b sqlite-whentouse",
         "vit": "astronaut coins flower rigging", "whisper": "carlo-it espeak-sqlite-whentouse librivox-sense"}
BASELINE = "kmeans(restarts=4)"
CONFIG = """\
question: sources
trials: 5
landmarks: [8, 16, 32, 64]
problems: [{problems}]
strategies: [{strategies}]
cores: [iterative(steps=6), fitted]
metrics: error
baseline: "{baseline}"
plots: []
"""
FIELDS = "ratio low high sources_below sources".split()


def is_tuned(path):
    model, _, rest = os.path.basename(path).partition("_")
    return rest.split("_")[0] in TUNED.get(model, "").split()


def run(program, files, strategies, folder):
    config = os.path.join(folder, "sources.yaml")
    os.makedirs(folder, exist_ok=True)
    with open(config, "w", encoding="utf-8") as out:
        out.write(CONFIG.format(problems=", ".join(f'"heads(file={os.path.abspath(f)}, causal=false)"' for f in files),
                                strategies=", ".join(f'"{s}"' for s in [BASELINE, *strategies]), baseline=BASELINE))
    out = os.path.join(folder, "run")
    subprocess.run([program, "run", config, "-q", "--out", out], check=True, stdout=subprocess.DEVNULL)
    return out


def untuned(folder):
    """Conditions for `compare`: rows of files that nothing was chosen on."""
    with open(os.path.join(folder, "rows.csv"), newline="", encoding="utf-8") as rows:
        problems = {r["problem"] for r in csv.DictReader(rows)}
    kept = [p for p in problems if not is_tuned(p.split("file=")[1].split(".safetensors")[0])]
    return [x for p in sorted(kept) for x in ("--where", f"problem={p}")]


def compare(program, folder, *options):
    """{(method, core, model, m): line}"""
    text = subprocess.run([program, "compare", folder, "--confounded", "pairing", "--confounded", "rows_seen",
                           "--format",
                           "csv", "--resamples", "0", *options], check=True, capture_output=True, text=True).stdout
    return {(r["method"], r["core"].split("(")[0], r["model"], r["landmarks"]): r
            for r in csv.DictReader(text.splitlines())}


def shown(line, fields):
    return [line[f] if "sources" in f or not line[f] else f"{float(line[f]):.3f}" for f in fields]


def main():
    program, heads, folder, *strategies = sys.argv[1:]
    rows = run(program, sorted(glob.glob(os.path.join(heads, "*.safetensors"))), strategies or ["profile"], folder)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow("strategy core model landmarks kind ratio low high below sources unseen".split())
    for kind, where in (("all", []), ("untuned", untuned(rows))):
        for pool in ([], ["--pool", "landmarks", "--where", "landmarks=8..32"]):
            unseen = compare(program, rows, "--metric", "error_unseen", *pool, *where)
            for key, line in compare(program, rows, *pool, *where).items():
                out.writerow([*key[:4], kind, *shown(line, FIELDS), *shown(unseen.get(key, {"ratio": ""}), ["ratio"])])


if __name__ == "__main__":
    main()
