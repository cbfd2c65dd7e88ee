#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""publish.py [--no-runs] [FILE]... - makes the files of results/published that its LIST has, or those named.
publish.py --check RUNS - whether runs in the folder RUNS give what is published of them, but for figures and times.

Goes on where it was stopped: a file is made once by one build of ./nysbench, and a run continues. --no-runs takes the
rows that lie in results/, whatever build measured them, and leaves benchmarks alone. Exit status 1 if a file could not
be made, or is another one."""
import csv
import hashlib
import io
import math
import os
import shlex
import subprocess
import sys

from listing import FOLDER, ROOT, Listing, rounded, wanted

STAMPS = "build/publish"


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def is_done(name, mark):
    path = f"{STAMPS}/{name}"
    return os.path.exists(path) and read_bytes(path).decode() == mark


def set_done(name, mark):
    os.makedirs(STAMPS, exist_ok=True)
    with open(f"{STAMPS}/{name}", "w") as file:
        file.write(mark)


def selected(text, entry):
    """Of a CSV file the columns and rows of an entry, NAME=EXPRESSION computed."""
    rows = [row for row in csv.DictReader(io.StringIO(text)) if wanted(row, entry.get("rows", ""))]
    columns = [c.strip().partition("=") for c in entry["columns"].split(",")]
    names = [name for name, _, _ in columns]
    lines = [[rounded(compute(row, what) if what else row[name]) for name, _, what in columns] for row in rows]
    if "count" in entry:
        names += ["count", "of"]
        true = [compute(row, entry["count"]) == "True" for row in rows]
        groups = sorted({tuple(line) for line in lines})
        lines = [[*g, sum(t for line, t in zip(lines, true) if tuple(line) == g),
                  sum(tuple(line) == g for line in lines)] for g in groups]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([names, *lines])
    return out.getvalue()


def compute(row, expression):
    numbers = {}
    for name, text in row.items():
        try:
            numbers[name] = float(text)
        except ValueError:
            pass
    try:
        return repr(eval(expression, {"__builtins__": {}}, numbers))
    except (NameError, ZeroDivisionError):  # the row has no such number
        return ""


def write(path, data):
    with open(path + ".new", "wb") as file:
        file.write(data)
    os.replace(path + ".new", path)


def make_run(name, entry, build):
    """Measures what is missing; rows of another build are set aside."""
    begun = f"{name}.begun"
    fresh = [] if is_done(begun, build) or not os.path.exists(f"results/{name}") else ["--fresh"]
    set_done(begun, build)
    subprocess.run(["./nysbench", *shlex.split(entry["command"]), "--out", f"results/{name}", "--quiet", *fresh],
                   check=True,
                   stdout=subprocess.DEVNULL)


def read_file(name, entry, runs="results"):
    """What a file is to have, of its run in a folder of runs."""
    run = f"{runs}/{entry['run']}"
    if "plot" in entry:
        subprocess.run(["./nysbench", "plot", run, *shlex.split(entry["plot"])], check=True, stdout=subprocess.DEVNULL)
        drawn = read_bytes(f"{run}/plots/{entry.get('file', name)}")
        return selected(drawn.decode(), entry).encode() if "columns" in entry else drawn
    command = shlex.split(entry["command"].replace("{run}", shlex.quote(run)))
    text = subprocess.run(["./nysbench", *command, "--format", "csv"], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    return selected(text, entry).encode()


def same(a, b):
    """Fields, numbers up to a thousandth: libraries round differently, and k-means may then take another step."""
    try:
        return math.isclose(float(a), float(b), rel_tol=1e-3, abs_tol=1e-6)
    except ValueError:
        return a == b


# Strategies that go downhill for many steps: where these end, at another rounding.
DOWNHILL = ("optimized(", "profile(")


def agree(old, new):
    """Lines of a table, NAME..., ESTIMATE, LOW, HIGH: of a strategy that goes downhill, the estimate has to lie in the
    published interval."""
    if all(map(same, old, new)):
        return True
    if not any(field.startswith(DOWNHILL) for field in old) or old[:-3] != new[:-3]:
        return False
    try:
        return float(old[-2]) <= float(new[-3]) <= float(old[-1])
    except ValueError:  # a table without intervals
        return False


def check(listing, runs):
    """The published files that runs in a folder do not give."""
    differ, count = [], 0
    for name, entry in listing.files.items():
        if "columns" not in entry or entry.get("times") or not os.path.isdir(f"{runs}/{entry.get('run')}"):
            continue
        old, new = ([*csv.reader(io.StringIO(data.decode()))]
                    for data in (read_bytes(f"{FOLDER}/{name}"), read_file(name, entry, runs)))
        count += 1
        if [len(line) for line in old] != [len(line) for line in new]:
            differ.append(f"{name}: {len(new)} lines, and not {len(old)}")
        differ += [f"{name}: {','.join(b)}, and not {','.join(a)}" for a, b in zip(old, new) if not agree(a, b)]
    print("\n".join([*differ, f"{count} files compared"]))
    return bool(differ) or count == 0


def make_script(name, entry):
    made = subprocess.run(["bash", "-c", entry["script"]], check=True, stdout=subprocess.PIPE).stdout
    write(f"{FOLDER}/{name}", selected(made.decode(), entry).encode() if "columns" in entry else made)


def make_bench(entry):
    part = entry["bench"]
    subprocess.run(["make", "--no-print-directory", "bench", f"PART={part}", f"OUT={FOLDER}"], check=True)


def main(arguments):
    os.chdir(ROOT)
    runs_too = "--no-runs" not in arguments
    listing = Listing(f"{FOLDER}/LIST")
    if arguments[:1] == ["--check"]:
        return check(listing, arguments[1])
    named = [a for a in arguments if a != "--no-runs"]
    unknown = [n for n in named if n not in listing.files]
    if unknown:
        raise SystemExit(f"publish.py: {FOLDER}/LIST has no '{unknown[0]}'")
    build = hashlib.sha256(read_bytes("nysbench")).hexdigest()
    failed, measured = [], set()
    for name in named or listing.files:
        entry = listing.files[name]
        mark = hashlib.sha256(repr((build, entry)).encode()).hexdigest()
        if is_done(name, mark) and os.path.exists(f"{FOLDER}/{name}") and not named:
            continue
        if "bench" in entry and not runs_too:
            continue
        try:
            if "script" in entry:
                make_script(name, entry)
            elif "bench" in entry:
                if entry["bench"] not in measured:
                    make_bench(entry)
                    measured.add(entry["bench"])
            else:
                if runs_too and entry["run"] not in measured:
                    make_run(entry["run"], listing.runs[entry["run"]], build)
                    measured.add(entry["run"])
                write(f"{FOLDER}/{name}", read_file(name, entry))
        except (subprocess.CalledProcessError, OSError, KeyError) as error:
            needs = listing.runs.get(entry.get("run"), {}).get("needs")
            failed.append(name)
            print(f"publish: {name}: {error}" + (f"; its run needs {needs}" if needs else ""), file=sys.stderr)
            continue
        set_done(name, mark)
        print(f"{FOLDER}/{name}" + (" (times: of this machine)" if entry.get("times") else ""), flush=True)
    print(f"{len(listing.files) - len(failed)} of {len(listing.files)} files are up to date" if not named else "done")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
