#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the unit and conformance tests and some of the command line's of a build with --coverage, and prints which
share of the lines they have run: of each folder of src/, of strategies/, and of all. lines.txt in the build's folder
lists every line that was not run, FILE:LINE. From the repository's root: coverage.py BUILD [BATS]..."""
import collections
import glob
import json
import os
import subprocess
import sys

COMMAND_LINE = "commands comparisons config fit plugins run select shards submit sweeps".split()


def run_tests(build, files):
    """The names of what failed: that is make test's to tell, but what it has not run counts as not run."""
    for counts in glob.glob(f"{build}/**/*.gcda", recursive=True):
        os.remove(counts)
    programs = [(p, [p]) for p in sorted(glob.glob(f"{build}/tests/test_*")) if os.access(p, os.X_OK)]
    programs += [(f, ["bats", f"tests/cli/{f}.bats"]) for f in files]
    environment = dict(os.environ, NYSBENCH=os.path.abspath(f"{build}/nysbench"), OPENBLAS_NUM_THREADS="1")
    return [name for name, words in programs
            if subprocess.run(words, env=environment, capture_output=True).returncode != 0]


def lines_run(build):
    """{file: {line: whether some test has run it}}"""
    lines = collections.defaultdict(dict)
    notes = sorted(glob.glob(f"{build}/src/**/*.gcno", recursive=True) + glob.glob(f"{build}/strategies/*.gcno"))
    for note in notes:
        told = subprocess.run(["gcov", "--json-format", "--stdout", note], check=True, capture_output=True).stdout
        for text in told.splitlines():
            for file in json.loads(text)["files"]:
                if not file["file"].startswith(("src/", "strategies/")):
                    continue
                for line in file["lines"]:
                    known = lines[file["file"]]
                    known[line["line_number"]] = known.get(line["line_number"], False) or line["count"] > 0
    return lines


def folder(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "src" and len(parts) > 2 else parts[0] if parts[0] != "src" else "main"


def main():
    build, files = sys.argv[1], sys.argv[2:] or COMMAND_LINE
    failed = run_tests(build, files)
    lines = lines_run(build)
    if not lines:
        sys.exit(f"{build}: no counts of lines: build it by make coverage")
    total = collections.Counter()
    covered = collections.Counter()
    with open(f"{build}/lines.txt", "w", encoding="utf-8") as out:
        for path in sorted(lines):
            for key in (folder(path), "all"):
                total[key] += len(lines[path])
                covered[key] += sum(lines[path].values())
            out.writelines(f"{path}:{number}\n" for number, ran in sorted(lines[path].items()) if not ran)
    for key in sorted(total, key=lambda k: (k == "all", k)):
        print(f"{key:<12} {100 * covered[key] / total[key]:5.1f} %  of {total[key]} lines")
    print(f"not run: {build}/lines.txt")
    for name in failed:
        print(f"{name}: failed", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
