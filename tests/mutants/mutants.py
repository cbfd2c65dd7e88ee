#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A mutation test of the test suite: each fault of mutants.txt, alone in the sources, must make a test fail.

1. coverage  builds the program with --coverage, runs every test by itself, and keeps its seconds and the lines that it
             has reached.
2. run       puts each fault in, and runs the tests that reach its line, the cheapest first, until one fails. That test
             must fail twice, and pass without the fault. found.tsv keeps what found each fault before.
3. table     lists what an earlier table found and a later one does not.

`check` only says, in TAP, whether every fault still has its place. Everything is in build/mutants; coverage and run go
on where they were stopped. A test is a unit-test program, one test of a bats file, an oracle or a part of
tests/run.sh; `tests/run.sh --list` names them, or a file of such lines (part, name and command, with tabs between).

    tests/mutants/mutants.py check | table BEFORE AFTER
    tests/mutants/mutants.py coverage [--suite FILE]
    tests/mutants/mutants.py run [--suite FILE] [--results FILE] [--limit SECONDS] [--rest] [NAME]...

--limit: tests of one fault may take so long (600 s; 0: no limit). --rest: only what `run` has found by no test, by all
the tests that do not reach it either."""
import argparse
import bisect
import collections
import json
import os
import queue
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PLACE = os.path.join(ROOT, "build", "mutants")
KINDS = "sign index bound check column error draw value".split()
LEAST, WORKERS = 80, 2
MAKE = "make -s -j2 PACKAGES= BUILD_ID=mutant "
SKIPPED = re.compile(r"# *skip", re.I)
Mutant = collections.namedtuple("Mutant", "name kind file function old new")
Test = collections.namedtuple("Test", "part name command")


class Mistake(Exception):
    """Of the list, or of what was asked; the message is for the user."""


def read_mutants():
    text = open(os.path.join(HERE, "mutants.txt"), encoding="utf-8").read()
    found = []
    for entry in text.strip().split("\n\n"):
        if entry.startswith("#"):
            continue
        parts = re.fullmatch(r"(\w+) (\w+) (\S+) (\w+)\n- (.+)\n\+ ?(.*)", entry)
        if not parts:
            raise Mistake(f"mutants.txt: not an entry:\n{entry}")
        found.append(Mutant(*parts.groups()))
    return found


def place_of(mutant, text):
    """Where in the file's text the fault goes in."""
    name = re.escape(mutant.function)
    if mutant.file.endswith(".py"):
        body = re.compile(rf"^( *)def {name}\(.*?(?=^\1\S|\Z)", re.M | re.S)
    else:
        body = re.compile(rf"^[^\s#/}}*][^\n]*\b{name}\([^;{{]*\)\n\{{\n.*?^\}}", re.M | re.S)
    bodies = list(body.finditer(text))
    if len(bodies) != 1:
        raise Mistake(f"{mutant.name}: {mutant.file} has {len(bodies)} functions {mutant.function}, expected one")
    count = bodies[0][0].count(mutant.old)
    if count != 1:
        raise Mistake(f"{mutant.name}: {mutant.function} in {mutant.file} has '{mutant.old}' {count} times, expected once")
    return bodies[0].start() + bodies[0][0].index(mutant.old)


def check():
    wrong = []
    try:
        mutants = read_mutants()
        names = [m.name for m in mutants]
        wrong += [f"{name}: the name is not unique" for name in set(names) if names.count(name) > 1]
        wrong += [f"{m.name}: no kind {m.kind}" for m in mutants if m.kind not in KINDS]
        if len(mutants) < LEAST:
            wrong.append(f"{len(mutants)} faults, expected at least {LEAST}")
        for m in mutants:
            try:
                place_of(m, open(os.path.join(ROOT, m.file), encoding="utf-8").read())
            except (Mistake, OSError) as error:
                wrong.append(str(error))
    except Mistake as error:
        wrong.append(str(error))
    print(f"1..1\n{'not ok' if wrong else 'ok'} 1 - every fault of tests/mutants has its place")
    print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0


def read_tests(suite):
    """The suite's runners, each bats file as its tests."""
    if suite:
        lines = open(suite, encoding="utf-8").read()
    else:
        lines = subprocess.run(["tests/run.sh", "--list"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    tests = []
    for part, name, command in (line.split("\t") for line in lines.splitlines()):
        file = re.search(r"bats --tap (tests/cli/\S+\.bats)", command)
        if not file:
            tests.append(Test(part, name, command))
            continue
        for title in re.findall(r"^@test (.*) \{$", open(os.path.join(ROOT, file[1]), encoding="utf-8").read(), re.M):
            title = shlex.split(title)[0]
            only = shlex.quote("^" + re.sub(r"([][\\.^$*+?(){}|])", r"\\\1", title) + "$")
            tests.append(Test(part, f"{name}: {title}", command.replace("bats --tap", f"bats --tap -f {only}")))
    return tests


def call(command, folder, limit=None, **environment):
    """Exit status, None after the limit, and standard output; nothing that it has started goes on."""
    with tempfile.TemporaryFile("w+", errors="replace") as out:
        process = subprocess.Popen(["bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.STDOUT, start_new_session=True, env={**os.environ, **environment})
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        out.seek(0)
        return code, out.read()


def passes(test, folder, limit):
    code, said = call(test.command, folder, limit)
    return code == 0 and not any(line.startswith("not ok") and not SKIPPED.search(line) for line in said.splitlines())


def make(folder, targets):
    code, said = call(MAKE + targets, folder)
    if code != 0:
        raise Mistake(f"make {targets} fails:\n{said[-2000:]}")


def build_for(test, folder):
    """What the test runs, of its build."""
    programs = re.findall(r"build/(?:asan/)?tests/\w+", test.command)
    for program in programs:
        make(folder, f"asan UNIT={program}" if "/asan/" in program else program)
    if not programs:
        make(folder, "build/nysbench build/libnysbench.so build/double/nysbench build/tests/oracle_estimates")


def clone(name):
    folder = os.path.join(PLACE, name)
    if not os.path.exists(folder):
        subprocess.run(["git", "clone", "-q", ROOT, folder], check=True)
        os.symlink("build/nysbench", os.path.join(folder, "nysbench"))
    return folder


def in_parallel(items, work):
    """work(item, number of the worker) of all items; the first exception is raised here."""
    waiting, wrong = queue.SimpleQueue(), []
    for item in items:
        waiting.put(item)

    def go_on(number):
        while not wrong:
            try:
                work(waiting.get_nowait(), number)
            except queue.Empty:
                return
            except Exception as error:  # another thread's to raise
                wrong.append(error)

    threads = [threading.Thread(target=go_on, args=[number]) for number in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise wrong[0]


def lines_reached(counts, build, files):
    """{file: [[first, last]...]}: lines that were run, each with those after it that have no count of their own."""
    notes = []
    for path, _, names in os.walk(counts):
        for name in (n for n in names if n.endswith(".gcda")):
            inner = re.sub(r".*/build/", "", os.path.join(path, name))
            note = os.path.join(build, inner[:-len("gcda")] + "gcno")
            if os.path.exists(note) and inner[:-len(".gcda")] + ".c" in files:
                os.symlink(note, os.path.join(path, name[:-len("gcda")] + "gcno"))
                notes.append(os.path.join(path, name))
    counted = collections.defaultdict(dict)
    if notes:
        told = subprocess.run(["gcov", "--json-format", "--stdout", *notes], check=True, capture_output=True).stdout
        for file in (file for text in told.splitlines() for file in json.loads(text)["files"]):
            for line in file["lines"]:
                known = counted[file["file"].removeprefix("./")]
                known[line["line_number"]] = known.get(line["line_number"], 0) + line["count"]
    reached = {}
    for file, lines in counted.items():
        ordered = sorted(lines)
        ranges = [[at, end - 1] for at, end in zip(ordered, ordered[1:] + [ordered[-1] + 1]) if lines[at]]
        if ranges and file in files:
            reached[file] = ranges
    return reached


def read_coverage():
    path = os.path.join(PLACE, "coverage.jsonl")
    records = [json.loads(line) for line in open(path, encoding="utf-8")] if os.path.exists(path) else []
    return {record["test"]: record for record in records}


def coverage(suite):
    known = read_coverage()
    files = {m.file for m in read_mutants()}
    folder = clone("coverage")
    make(folder, 'COVERAGE=1 OPT="-O1 -g -Wno-maybe-uninitialized" build/nysbench build/libnysbench.so build/double/nysbench unit')
    if not os.path.exists(f"{folder}/build/asan"):
        os.symlink(".", f"{folder}/build/asan")
    done = threading.Lock()

    def measure(test, _):
        counts = tempfile.mkdtemp(dir=PLACE)
        start_s = time.monotonic()
        code, _ = call(test.command, folder, 600, GCOV_PREFIX=counts)
        record = {"test": test.name, "seconds": round(time.monotonic() - start_s, 2), "code": code,
                  "reached": lines_reached(counts, f"{folder}/build", files)}
        shutil.rmtree(counts)
        with done, open(os.path.join(PLACE, "coverage.jsonl"), "a", encoding="utf-8") as out:
            out.write(json.dumps(record) + "\n")

    in_parallel([test for test in read_tests(suite) if test.name not in known], measure)
    return 0


def reaches(test, reached, mutant, line):
    if mutant.file.endswith(".py"):
        return test.part == "python"
    ranges = reached.get(mutant.file, [])
    at = bisect.bisect_right(ranges, [line, sys.maxsize]) - 1
    return at >= 0 and ranges[at][1] >= line


def read_results(path):
    """{name: what found it}, without the first line."""
    if not os.path.exists(path):
        return {}
    return {line.split("\t")[0]: line.rstrip("\n").split("\t")[1] for line in open(path, encoding="utf-8").readlines()[1:]}


class Hunt:
    """The tests, by what they cost and what they reach, and which of them pass without a fault."""

    def __init__(self, suite):
        self.known = read_coverage()
        self.tests = [test for test in read_tests(suite) if test.name in self.known]
        self.tests.sort(key=self.cost_s)
        self.folders = [clone(f"worker{number}") for number in range(WORKERS)]
        self.sound, self.sounding, self.whole = {}, threading.Lock(), clone("whole")

    def cost_s(self, test):
        return self.known[test.name]["seconds"] + (10 if "build/asan/" in test.command else 0)

    def limit_s(self, test):
        return 120 + 5 * self.known[test.name]["seconds"]

    def is_sound(self, test):
        with self.sounding:
            if test.name not in self.sound:
                build_for(test, self.whole)
                self.sound[test.name] = passes(test, self.whole, self.limit_s(test))
                if not self.sound[test.name]:
                    print(f"{test.name}: fails without a fault", file=sys.stderr)
            return self.sound[test.name]

    def find(self, mutant, folder, limit_s, rest):
        """The name of a test that fails, 'survived', or 'unfinished' after the limit."""
        path = os.path.join(folder, mutant.file)
        text = open(path, encoding="utf-8").read()
        at = place_of(mutant, text)
        line, start_s = text.count("\n", 0, at) + 1, time.monotonic()
        try:
            with open(path, "w", encoding="utf-8") as out:
                out.write(text[:at] + mutant.new + text[at + len(mutant.old):])
            for test in self.tests:
                if reaches(test, self.known[test.name]["reached"], mutant, line) == rest:
                    continue
                build_for(test, folder)
                limit = self.limit_s(test)
                if not passes(test, folder, limit) and self.is_sound(test) and not passes(test, folder, limit):
                    return test.name
                if limit_s and time.monotonic() - start_s > limit_s:
                    return "unfinished"
            return "survived"
        finally:
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)


def run(suite, results, limit_s, rest, names):
    hunt, known, done = Hunt(suite), read_results(results), threading.Lock()
    mutants = [m for m in read_mutants()
               if (m.name in names if names else known.get(m.name) == "survived" if rest else m.name not in known)]
    if not known:
        with open(results, "w", encoding="utf-8") as out:
            out.write("fault\tfound_by\tseconds\n")

    def seek(mutant, number):
        start_s = time.monotonic()
        try:
            found = hunt.find(mutant, hunt.folders[number], limit_s, rest)
        except Mistake as error:
            found = "does not build"
            print(f"{mutant.name}: {error}", file=sys.stderr)
        with done, open(results, "a", encoding="utf-8") as out:
            out.write(f"{mutant.name}\t{found}\t{time.monotonic() - start_s:.0f}\n")

    in_parallel(mutants, seek)
    return 0


def table(before, after):
    """A fault that a later table does not name was not tried."""
    old, new = read_results(before), read_results(after)
    lost = [name for name, found in new.items() if found in ("survived", "unfinished") and old.get(name, found) != found]
    for name in lost:
        print(f"{name}: found before by {old[name]}, now {new[name]}")
    print(f"{len(new)} faults, {len(lost)} of them found before alone")
    return 1 if lost else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["check", "coverage", "run", "table"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--suite")
    parser.add_argument("--results", default=os.path.join(PLACE, "results.tsv"))
    parser.add_argument("--limit", type=float, default=600)
    parser.add_argument("--rest", action="store_true")
    given = parser.parse_intermixed_args()
    os.makedirs(PLACE, exist_ok=True)
    try:
        if given.what == "check":
            return check()
        if given.what == "table":
            return table(*given.names)
        if given.what == "coverage":
            return coverage(given.suite)
        return run(given.suite, given.results, given.limit, given.rest, given.names)
    except Mistake as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
