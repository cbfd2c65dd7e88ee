# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/sweeps.bats asks in Python: for_sweeps.py FUNCTION ARGUMENT..."""
import csv
import json
import os
import random
import re
import struct
import sys


def print_columns(rows_csv, *columns):
    for row in csv.DictReader(open(rows_csv, newline="")):
        print(*[row[key].split("(")[0] if key != "core" else row[key] for key in columns])


def write_heads(heads):
    for i in range(3000):
        draw = random.Random(i)
        header = json.dumps(
            {
                x: {"dtype": "F32", "shape": [1, 8, 2], "data_offsets": [64 * k, 64 * k + 64]}
                for k, x in enumerate("qkv")
            }
        ).encode()
        with open(f"{heads}/{i:04d}.safetensors", "wb") as f:
            f.write(
                struct.pack("<Q", len(header)) + header + struct.pack("<48f", *(draw.gauss(0, 1) for _ in range(48)))
            )


def write_rules():
    random.seed(1)
    rules = [(random.randint(1, 25), random.randint(2, 41), sorted(random.sample(range(200), 2))) for _ in range(2999)]
    print("problems: gaussian(n=64)\nstrategies: [" + ", ".join(f'"kmeans(restarts={r})"' for r in range(1, 26)) + "]")
    print("cores: svd\nlandmarks: 2..41\ntrials: 200\nplots: []\nexclude:")
    for restarts, m, trials in rules:
        print(f'  - {{strategy: "kmeans(restarts={restarts})", landmarks: {m}, trial: {trials[0]}..{trials[1]}}}')
    print("  - {trial: 7}")
    gone = {(r, m, t) for r, m, trials in rules for t in range(trials[0], trials[1] + 1)} | {
        (r, m, 7) for r in range(1, 26) for m in range(2, 42)
    }
    counts = [trials[1] - trials[0] + 1 for _, _, trials in rules] + [25 * 40]
    with os.fdopen(3, "w") as out:
        print(200000 - len(gone), len(gone), file=out)
        for i, count in enumerate(counts):
            print(count, i + 8, file=out)


def check_zip(rows_csv):
    pairs = {
        (row["landmarks"], re.search(r"restarts=(\d)", row["strategy"]).group(1))
        for row in csv.DictReader(open(rows_csv, newline=""))
    }
    assert pairs == {("4", "1"), ("4", "2"), ("16", "3")}, pairs


def check_holes(error_csv, shares_csv):
    there = set()
    for row in csv.DictReader(open(error_csv, newline="")):
        assert row["count"] != "0" and row["median"] != "", row
        there.add((row["series_name"], row["landmarks"]))
        if row["series"] == "-1" or row["series"] == "0":
            assert row["count"] == ("1" if row["landmarks"] == "12" else "2"), row
    assert {m for name, m in there if name == "kmeans(restarts=4)"} == {"12"} and ("uniform", "12") not in there, there
    for row in csv.DictReader(open(shares_csv, newline="")):
        assert (row["count"] == "0") == (row["error_relative"] == ""), row
        assert row["landmarks"] != "12" or not row["strategy"].startswith("uniform"), row # a hole has no line


def check_origins(output):
    for line in output.splitlines():
        if re.match(r"(  - |    )?[a-z]+:", line) and not re.match(r" *(- )?(blocks|exclude):", line):
            assert re.search(r"  # (default|--set|block \d \(.*:\d+\)|.*c.yaml:\d+)$", line), line


globals()[sys.argv[1]](*sys.argv[2:])
