#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Includes run one way: a folder's files include only from their own and from those above it in ORDER, and within a
folder no module (NAME.c, NAME.h and NAME_private.h) includes itself by way of others. Speaks TAP; what is wrong is on
standard error, FILE:LINE: and why. Of this tree, or of another: tests/architecture.py [FOLDER]"""
import glob
import os
import re
import sys

ORDER = """base statistics components linalg data problems kernels nystrom strategies cores partitions calls layers attentions
           conformance config run report studies api cli html commands main""".split()
GENERATED = {"build.h"}  # build/


def room(path):
    parts = path.removeprefix("src/").split("/")
    return parts[0] if len(parts) > 1 else "main"


def module(path):
    return os.path.splitext(path)[0].removesuffix("_private")


def includes():
    """(file, line, included file) of every include in quotes."""
    for path in sorted(glob.glob("src/**/*.[ch]", recursive=True) + glob.glob("strategies/*.[ch]")):
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            found = re.match(r'\s*#\s*include\s*"(.*)"', line)
            if not found or found[1] in GENERATED:
                continue
            places = (os.path.join(folder, found[1]) for folder in (os.path.dirname(path), ".", "src"))
            yield path, number, next((os.path.normpath(p) for p in places if os.path.exists(p)), found[1])


def against_order(edges):
    for path, line, to in edges:
        if not os.path.exists(to):
            yield f"{path}:{line}: includes {to}, and there is no such file"
        elif not {room(path), room(to)} <= set(ORDER):
            yield f"{path}:{line}: {room(path)} includes {to}, and the order does not have both rooms"
        elif ORDER.index(room(to)) > ORDER.index(room(path)):
            yield f"{path}:{line}: {room(path)} includes {to}, and {room(to)} comes after {room(path)}"


def way(graph, start, end):
    """The shortest way from one module to another, both in it; None where there is none."""
    ways = [[start]]
    seen = {start}
    for steps in ways:
        if steps[-1] == end:
            return steps
        ways += [steps + [to] for to in sorted(graph.get(steps[-1], set()) - seen)]
        seen |= graph.get(steps[-1], set())
    return None


def cycles(edges):
    inner = [(path, line, to) for path, line, to in edges
             if os.path.dirname(path) == os.path.dirname(to) and module(path) != module(to)]
    graph = {}
    for path, _, to in inner:
        graph.setdefault(module(path), set()).add(module(to))
    for path, line, to in inner:
        back = way(graph, module(to), module(path))
        if back:
            yield f"{path}:{line}: includes {to}, a cycle: " + " -> ".join(map(os.path.basename, back + back[:1]))


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    edges = list(includes())
    print("1..2")
    bad = 0
    for number, (name, check) in enumerate((("includes follow the order of the folders", against_order),
                                            ("no folder has a cycle of includes", cycles)), 1):
        offenders = list(check(edges))
        if not edges:
            offenders = [f"{os.getcwd()}: no includes: is it a source tree?"]
        print(f"{'not ok' if offenders else 'ok'} {number} - {name}")
        for offender in offenders:
            print(offender, file=sys.stderr)
        bad += len(offenders)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
