#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""replication.py rows|counts [FOLDER] - published findings beside the same on other sources.

Of each pair of files NAME.csv and replicated_NAME.csv in results/published (or FOLDER), the rows of one method, model
and size are compared.

rows:   a CSV line for each: what is published with its 95 % interval, what was found again with its own, over how many
        sources, and the verdict. `within`: the new number lies in the published interval. `agrees`: it does not, but
        the two differ by no more than both intervals allow together, the root of the sum of the squares of their half
        widths, of logarithms where all are above 0. So do 95 % of pairs if nothing has changed; fewer are `within`,
        since the new number has its own luck. `changed`: they differ by more.
counts: how many rows of each file, and of all, have each verdict."""
import csv
import glob
import math
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PREFIX = "replicated_"
NUMBERS = "ratio", "estimate", "output_error", "task_error", "correlation"  # columns that `low` and `high` belong to
KEYS = ("id", "row", "name", "model", "n", "layers", "pairing", "landmarks", "core", "effect", "predictor", "strategy",
        "method", "attention", "rival")
VERDICTS = "within", "agrees", "changed"


def read(path):
    """{key: row} of the rows that have a number with an interval."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    number = next(name for name in NUMBERS if name in rows[0])
    found = {}
    for row in rows:
        if row[number] and row["low"] and row["high"]:
            found[tuple(row.get(key, "") for key in KEYS)] = row | {"number": row[number]}
    return found


def half_width(low, high, logarithms):
    return (math.log(high / low) if logarithms else high - low) / 2


def verdict(old, new):
    """Of two rows."""
    (x, low, high), (y, *ends) = ([float(row[name]) for name in ("number", "low", "high")] for row in (old, new))
    if low <= y <= high:
        return "within"
    logarithms = min(x, low, y, *ends) > 0
    allowed = math.hypot(half_width(low, high, logarithms), half_width(*ends, logarithms))
    return "agrees" if abs(math.log(y / x) if logarithms else y - x) <= allowed else "changed"


def pairs(folder):
    """(name, key, old row, new row), without exact attention, whose errors are 0, and without repeated numbers."""
    for path in sorted(glob.glob(f"{folder}/{PREFIX}*.csv")):
        name = os.path.basename(path).removeprefix(PREFIX)
        if not os.path.exists(f"{folder}/{name}"):
            continue
        old, seen = read(f"{folder}/{name}"), set()
        for key, row in read(path).items():
            numbers = row["number"], row["low"], row["high"]
            if key in old and numbers not in seen and not row.get("attention", "").startswith("streamed"):
                seen.add(numbers)
                yield name, key, old[key], row


def main(arguments):
    if arguments[:1] not in (["rows"], ["counts"]):
        sys.exit(__doc__)
    folder = arguments[1] if arguments[1:] else f"{ROOT}/results/published"
    out = csv.writer(sys.stdout, lineterminator="\n")
    if arguments[0] == "rows":
        out.writerow(["file", *KEYS, "published", "low", "high", "repeated", "repeated_low", "repeated_high", "sources",
                      "verdict"])
        for name, key, old, new in pairs(folder):
            out.writerow([name, *key, *(row[column] for row in (old, new) for column in ("number", "low", "high")),
                          new.get("sources", ""), verdict(old, new)])
        return
    counts = {}
    for name, _, old, new in pairs(folder):
        for file in name, "all":
            counts.setdefault(file, []).append(verdict(old, new))
    out.writerow(["file", "rows", *VERDICTS])
    for file, found in sorted(counts.items()):
        out.writerow([file, len(found), *map(found.count, VERDICTS)])


if __name__ == "__main__":
    main(sys.argv[1:])
