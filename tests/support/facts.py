# SPDX-License-Identifier: GPL-3.0-or-later
"""facts.py - what tests assert of a run or a plan, by its numbers and not by the sentences that tell them.

    facts.py rows RUN '16 ok, 4 skipped'           these, and no others, are the rows of RUN/rows.csv by status
    facts.py numbers 'NAME=NUMBER ...' <JSON       the only record of a list has these values
    facts.py builds COLUMN '6 PREFIX, 2 ANOTHER' <JSON   the rows of the manifests by how their column begins
    facts.py of STATEMENT <JSON                    runs a statement of Python on `x`, what the JSON holds
"""
import collections
import csv
import json
import sys


def rows(run, wanted):
    with open(run + "/rows.csv", newline="") as file:
        found = collections.Counter(row["status"] for row in csv.DictReader(file))
    parts = (part.split() for part in wanted.split(", "))
    if found != {status: int(count) for count, status in parts}:
        sys.exit(f"{run} has {dict(found)}, expected {wanted}")


def numbers(wanted):
    (record,) = json.load(sys.stdin)
    wanted = dict(part.split("=") for part in wanted.split())
    found = {name: str(record[name]) for name in wanted}
    if found != wanted:
        sys.exit(f"found {found}, expected {wanted}")


def builds(column, wanted):
    wanted = {prefix: int(count) for count, prefix in (part.split() for part in wanted.split(", "))}
    found = collections.Counter()
    for manifest in json.load(sys.stdin):
        value = manifest[column]
        found[next((prefix for prefix in wanted if value.startswith(prefix)), value)] += manifest["rows"]
    if found != wanted:
        sys.exit(f"rows by {column} are {dict(found)}, expected {wanted}")


def refuse(word):
    raise ValueError(f"{word} is no JSON")


def of(statement):
    exec(statement, {"x": json.load(sys.stdin, parse_constant=refuse)})


{"rows": rows, "numbers": numbers, "builds": builds, "of": of}[sys.argv[1]](*sys.argv[2:])
