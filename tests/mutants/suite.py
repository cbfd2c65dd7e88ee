# SPDX-License-Identifier: GPL-3.0-or-later
"""The tests one by one, clones of the repository to run them in, and the lines of the sources that each reaches."""
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

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLACE = os.path.join(ROOT, "build", "mutants")
REACHED = os.path.join(PLACE, "coverage.jsonl")
WORKERS = 2
COVERAGE = {"MAKEFLAGS": "COVERAGE=1 OPT=-O1"}  # for tests that call make too
Test = collections.namedtuple("Test", "part name command")


class Mistake(Exception):
    """Of the list, or of what was asked; the message is for the user."""


def call(command, folder, limit_s=None, **environment):
    """Exit status, None after the limit, and all output; ends everything that the command has started."""
    with tempfile.TemporaryFile("w+", errors="replace") as out, \
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
        environment = {**os.environ, "WORK": work, **environment}
        process = subprocess.Popen(["bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.STDOUT, start_new_session=True, env=environment)
        try:
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            code = None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        out.seek(0)
        return code, out.read()


def must(command, folder, **environment):
    code, said = call(command, folder, **environment)
    if code != 0:
        raise Mistake(f"{command}: {said[-2000:]}")
    return said


def read_tests(suite):
    """Of a file as `tests/run.sh --list` prints it, or of that itself; a bats file is as many tests as it has."""
    lines = open(suite, encoding="utf-8").read() if suite else must("tests/run.sh --list", ROOT)
    tests = []
    for part, name, command in (line.split("\t") for line in lines.splitlines()):
        file = re.search(r"bats --tap (tests/cli/\S+\.bats)", command)
        if part == "tree":  # looks at the sources, and would find any fault
            continue
        if not file:
            tests.append(Test(part, name, command))
            continue
        for title in re.findall(r"^@test (.*) \{$", open(os.path.join(ROOT, file[1]), encoding="utf-8").read(), re.M):
            title = shlex.split(title)[0]
            only = shlex.quote("^" + re.sub(r"([][\\.^$*+?(){}|])", r"\\\1", title) + "$")
            tests.append(Test(part, f"{name}: {title}", command.replace("bats --tap", f"bats --tap -f {only}")))
    return tests


def passes(test, folder, limit_s):
    code, said = call(test.command, folder, limit_s)
    return code == 0 and not re.search(r"^not ok(?!.*# *skip)", said, re.M | re.I)


def targets_of(test):
    """What make has to build for the test."""
    programs = re.findall(r"build/(?:asan/)?tests/\w+|build/asan/nysbench", test.command)
    if programs:
        return " ".join(f"asan UNIT={program}" if "/asan/" in program else program for program in programs)
    oracles = " build/double/nysbench build/tests/oracle_estimates" if test.part == "oracle" else ""
    return "build/nysbench build/libnysbench.so" + oracles


def clone(name):
    """A folder with the commit of this one; what was built there stays."""
    folder = os.path.join(PLACE, name)
    if not os.path.exists(folder):
        must(f"git clone -q . {shlex.quote(folder)}", ROOT)
        os.symlink("build/nysbench", os.path.join(folder, "nysbench"))
    must(f"git fetch -q {shlex.quote(ROOT)} HEAD && git checkout -q -f --detach FETCH_HEAD && "
         "git describe --always --abbrev=12 >.build-id", folder)  # with a fault it is no other build
    return folder


def in_parallel(items, work):
    """work(item, number of the worker) of all items; raises the first exception, after the others."""
    waiting, wrong = queue.SimpleQueue(), []
    for item in items:
        waiting.put(item)

    def go_on(number):
        while True:
            try:
                item = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                work(item, number)
            except Exception as error:  # for another thread to raise
                print(f"{item[0]}: {error}", file=sys.stderr, flush=True)
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
    found = []
    for path, _, names in os.walk(counts):
        for name in (n.removesuffix(".gcda") for n in names if n.endswith(".gcda")):
            inner = os.path.join(path, name).removeprefix(counts + build + "/")  # a test may build other trees
            if inner + ".c" in files:
                os.symlink(os.path.join(build, inner + ".gcno"), os.path.join(path, name + ".gcno"))
                found.append(os.path.join(path, name + ".gcda"))
    counted = collections.defaultdict(collections.Counter)
    if found:
        told = subprocess.run(["gcov", "--json-format", "--stdout", *found], check=True, capture_output=True).stdout
        for file in (file for text in told.splitlines() for file in json.loads(text)["files"]):
            for line in file["lines"]:
                counted[file["file"].removeprefix("./")][line["line_number"]] += line["count"]
    reached = {}
    for file in files & set(counted):
        lines = sorted(counted[file])
        reached[file] = [[at, end - 1] for at, end in zip(lines, lines[1:] + [lines[-1] + 1]) if counted[file][at]]
    return {file: ranges for file, ranges in reached.items() if ranges}


def read_coverage():
    """What is kept of each test, by its name."""
    lines = open(REACHED, encoding="utf-8") if os.path.exists(REACHED) else []
    return {record["test"]: record for record in map(json.loads, lines)}


def measure_coverage(tests, files):
    """Keeps of each test its seconds, and which lines of the files it reaches, where nothing is kept of it yet."""
    known, writing = read_coverage(), threading.Lock()
    folder = clone("coverage")
    must("make -s -j2 build/{,double/}nysbench build/libnysbench.so unit", folder, **COVERAGE)
    if not os.path.exists(f"{folder}/build/asan"):
        os.symlink(".", f"{folder}/build/asan")  # what the sanitized tests reach is the same

    def measure(test, _):
        counts, start_s = tempfile.mkdtemp(dir=PLACE), time.monotonic()
        code, _ = call(test.command, folder, 900, GCOV_PREFIX=counts, **COVERAGE)
        record = {"test": test.name, "seconds": round(time.monotonic() - start_s, 2), "code": code,
                  "reached": lines_reached(counts, f"{folder}/build", files)}
        shutil.rmtree(counts, ignore_errors=True)  # what a test has left running may still write
        with writing, open(REACHED, "a", encoding="utf-8") as out:
            out.write(json.dumps(record) + "\n")

    in_parallel([test for test in tests if test.name not in known], measure)


def share_in(reached, file):
    """Of the lines that a test reaches, the part that is in the file."""
    lines = {f: sum(last - first + 1 for first, last in ranges) for f, ranges in reached.items()}
    return lines.get(file, 0) / max(sum(lines.values()), 1)


def reaches(test, reached, file, line):
    """Python's lines are not counted: all tests of the package, and of strategies in Python, may reach them. Nor are
    those of SQL: all tests may that ask a run's rows."""
    if file.endswith(".py"):
        return test.part == "python" or "/serve.bats" in test.command or "/plugins.bats" in test.command
    if file.endswith(".sql"):
        return "src/rows/relation.c" in reached
    ranges = reached.get(file, [])
    at = bisect.bisect_right(ranges, [line, float("inf")]) - 1
    return at >= 0 and ranges[at][1] >= line
