#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A mutation test of the test suite: each fault of mutants.txt, alone in the sources, must make a test fail.

1. coverage  builds the program with --coverage, runs every test by itself, and keeps its seconds and the lines that it
             reaches.
2. run       puts each fault in, and runs the tests that reach its line, until one fails: twice, and not without the
             fault. The cheapest come first, and those that reach little but its file. Results are in
             build/mutants/results.tsv.
3. table     lists the faults that no test has found; exit status 1 if there are any.

`check` only says, in TAP, whether every fault still has its place. A test is a line of tests/run.sh --list, but a bats
file is as many tests as it has. Both coverage and run go on where they were stopped; after a commit, run starts again
and keeps its results aside, and so does coverage if the sources have changed.

    tests/mutants/mutants.py check | table
    tests/mutants/mutants.py coverage [--suite FILE]
    tests/mutants/mutants.py run [--suite FILE] [--limit SECONDS] [--rest] [NAME]...

--suite: the tests, as `tests/run.sh --list` prints them (default: these). --limit: the tests of one fault may take so
long (default: 600 s; 0: no limit). --rest: tries what survived with all the tests that do not reach it either."""
import argparse
import collections
import os
import re
import sys
import threading
import time

import suite

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(suite.PLACE, "results.tsv")
KINDS = "sign index bound check column error draw value".split()
LEAST = 80
Mutant = collections.namedtuple("Mutant", "name kind file function old new")


def read_mutants():
    text = open(os.path.join(HERE, "mutants.txt"), encoding="utf-8").read()
    found = []
    for entry in text.strip().split("\n\n"):
        if entry.startswith("#"):
            continue
        parts = re.fullmatch(r"(\w+) (\w+) (\S+) (\w+)\n- (.+)\n\+ ?(.*)", entry)
        if not parts:
            raise suite.Mistake(f"mutants.txt: not an entry:\n{entry}")
        found.append(Mutant(*parts.groups()))
    return found


def read_source(mutant):
    return open(os.path.join(suite.ROOT, mutant.file), encoding="utf-8").read()


def place_of(mutant):
    """Where in the file's text the fault goes in."""
    name = re.escape(mutant.function)
    if mutant.file.endswith(".py"):
        body = re.compile(rf"^( *)def {name}\(.*?(?=^\1\S|\Z)", re.M | re.S)
    elif mutant.file.endswith(".sql"):
        body = re.compile(r"(?s).+")
    else:
        body = re.compile(rf"^[^\s#/}}*][^\n]*\b{name}\([^;{{]*\)\n\{{\n.*?^\}}", re.M | re.S)
    bodies = list(body.finditer(read_source(mutant)))
    if len(bodies) != 1:
        raise suite.Mistake(f"{mutant.name}: {mutant.file} has {len(bodies)} functions {mutant.function}, expected one")
    count = bodies[0][0].count(mutant.old)
    if count != 1:
        place = f"{mutant.function} of {mutant.file}"
        raise suite.Mistake(f"{mutant.name}: {place} has '{mutant.old}' {count} times, expected once")
    return bodies[0].start() + bodies[0][0].index(mutant.old)


def mistakes():
    try:
        mutants = read_mutants()
    except suite.Mistake as error:
        yield str(error)
        return
    names = [m.name for m in mutants]
    yield from (f"{name}: the name of several faults" for name in sorted(set(names)) if names.count(name) > 1)
    yield from (f"{m.name}: no kind {m.kind}; allowed: {', '.join(KINDS)}" for m in mutants if m.kind not in KINDS)
    if len(mutants) < LEAST:
        yield f"{len(mutants)} faults, expected at least {LEAST}"
    for m in mutants:
        try:
            place_of(m)
        except (suite.Mistake, OSError) as error:
            yield str(error)


def check():
    wrong = list(mistakes())
    print(f"1..1\n{'not ok' if wrong else 'ok'} 1 - every fault of tests/mutants has its place")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


def begin():
    """Puts aside what was found of another commit, and the lines reached where the sources have changed since."""
    path, new = os.path.join(suite.PLACE, "commit"), suite.must("git rev-parse HEAD", suite.ROOT).strip()
    os.makedirs(suite.PLACE, exist_ok=True)
    old = open(path, encoding="utf-8").read() if os.path.exists(path) else new
    same = suite.call(f"git diff --quiet {old} HEAD -- src strategies", suite.ROOT)[0] == 0
    for kept, file in ((same, suite.REACHED), (old == new, RESULTS)):
        if not kept and os.path.exists(file):
            os.replace(file, f"{file}.{old[:8]}")
    with open(path, "w", encoding="utf-8") as out:
        out.write(new)


def read_table(path):
    """{fault: the other columns}, without the heads; of several lines for a fault, the last counts."""
    lines = open(path, encoding="utf-8").read().splitlines()[1:] if os.path.exists(path) else []
    return {name: others for name, *others in (line.split("\t") for line in lines)}


class Hunt:
    """The tests, by what they cost and what they reach, and which of them pass without a fault."""

    def __init__(self, file):
        self.known, self.tests = suite.read_coverage(), suite.read_tests(file)
        self.folders = [suite.clone(f"worker{number}") for number in range(suite.WORKERS)]
        self.sound, self.sounding, self.faultless = {}, threading.Lock(), suite.clone("faultless")

    def tests_of(self, mutant, line, rest):
        """In their order. Those whose lines were not counted are left out."""
        reached = {test: self.known[test.name]["reached"] for test in self.tests if test.name in self.known}
        chosen = [test for test in reached if suite.reaches(test, reached[test], mutant.file, line) != rest]
        chosen.sort(key=lambda test: self.cost_s(test) / max(suite.share_in(reached[test], mutant.file), 1e-3))
        return chosen

    def seconds(self, test):
        return self.known.get(test.name, {"seconds": 60})["seconds"]

    def cost_s(self, test):
        return 1 + self.seconds(test) + (10 if "build/asan/" in test.command else 0)

    def fails(self, test, folder, built):
        """built: what has been since the sources changed."""
        targets = suite.targets_of(test)
        if targets not in built:
            suite.must(f"make -s -j2 {targets}", folder)
            built.add(targets)
        return not suite.passes(test, folder, 120 + 5 * self.seconds(test))

    def is_sound(self, test):
        with self.sounding:
            if test.name not in self.sound:
                self.sound[test.name] = not self.fails(test, self.faultless, set())
                if not self.sound[test.name]:
                    print(f"{test.name}: fails without a fault", file=sys.stderr)
            return self.sound[test.name]

    def find(self, mutant, folder, limit_s, rest):
        """The name of a test that fails, 'survived', or 'unfinished' after the limit."""
        path = os.path.join(folder, mutant.file)
        text, at, start_s, built = read_source(mutant), place_of(mutant), time.monotonic(), set()
        line = text.count("\n", 0, at) + 1
        try:
            with open(path, "w", encoding="utf-8") as out:
                out.write(text[:at] + mutant.new + text[at + len(mutant.old):])
            for test in self.tests_of(mutant, line, rest):
                if self.fails(test, folder, built) and self.is_sound(test) and self.fails(test, folder, built):
                    return test.name
                if limit_s and time.monotonic() - start_s > limit_s:
                    return "unfinished"
            return "survived"
        finally:
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)


def is_wanted(mutant, known, rest, names):
    if names:
        return mutant.name in names
    return known.get(mutant.name, [""])[0] == "survived" if rest else mutant.name not in known


def run(file, limit_s, rest, names):
    hunt, known, writing = Hunt(file), read_table(RESULTS), threading.Lock()
    if not known:
        with open(RESULTS, "w", encoding="utf-8") as out:
            out.write("fault\tfound by\tseconds\n")

    def seek(mutant, number):
        start_s = time.monotonic()
        try:
            found = hunt.find(mutant, hunt.folders[number], limit_s, rest)
        except suite.Mistake as error:
            found = "does not build"
            print(f"{mutant.name}: {error}", file=sys.stderr)
        with writing, open(RESULTS, "a", encoding="utf-8") as out:
            out.write(f"{mutant.name}\t{found}\t{time.monotonic() - start_s:.0f}\n")

    suite.in_parallel([m for m in read_mutants() if is_wanted(m, known, rest, names)], seek)
    return 0


def table():
    mutants, results = read_mutants(), read_table(RESULTS)
    missed = 0
    for mutant in mutants:
        outcome = results.get(mutant.name, ["not tried"])[0]
        if outcome in ("survived", "unfinished", "does not build", "not tried"):
            missed += 1
            print(f"{mutant.name}: {outcome}")
    print(f"{len(mutants)} faults, {missed} of them not found")
    return 1 if missed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["check", "coverage", "run", "table"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--suite")
    parser.add_argument("--limit", type=float, default=600)
    parser.add_argument("--rest", action="store_true")
    given = parser.parse_intermixed_args()
    if given.what == "check":
        return check()
    if given.what == "table":
        return table()
    try:
        begin()
        if given.what == "run":
            return run(given.suite, given.limit, given.rest, given.names)
        suite.measure_coverage(suite.read_tests(given.suite), {m.file for m in read_mutants()})
        return 0
    except suite.Mistake as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
