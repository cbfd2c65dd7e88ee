#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Includes run one way: a folder's files include only from their own and from those above it in ORDER, and within a
folder no module (NAME.c, NAME.h, NAME_private.h and NAME_record.h) includes itself by way of others. NAME_private.h is
included by NAME*.c alone. No two types have one name. Speaks TAP; what is wrong is on standard error, FILE:LINE: and
why. Of this tree, or of another: tests/checks/architecture.py [FOLDER]"""
import glob
import os
import re
import sys

ORDER = """base statistics components linalg data problems kernels nystrom strategies cores partitions calls layers
           attentions conformance config run report studies api html commands main""".split()
GENERATED = {"build.h"}  # build/
OTHERS = {"src/report/claim_lines.c"}  # reads the private header of claim_units


def room(path):
    parts = path.removeprefix("src/").split("/")
    return parts[0] if len(parts) > 1 else "main"


def module(path):
    return os.path.splitext(path)[0].removesuffix("_private").removesuffix("_record")


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


def private(edges):
    for path, line, to in edges:
        if to.endswith("_private.h") and path not in OTHERS and not path.startswith(to.removesuffix("_private.h")):
            yield f"{path}:{line}: includes {to}, which is for {to.removesuffix('_private.h')}*.c alone"


def types():
    """(name, file, line) of every type nb_... that a typedef or a tag defines."""
    for path in sorted(glob.glob("src/**/*.[ch]", recursive=True) + glob.glob("strategies/*.[ch]")):
        text = re.sub(r"/\*.*?\*/", lambda comment: re.sub(r"[^\n]", "", comment[0]),
                      open(path, encoding="utf-8").read(), flags=re.S)
        for found in re.finditer(
                r"^\} (nb_\w+);|^(?:struct|union|enum) (nb_\w+) \{|^typedef .*[^\n{]\b(nb_\w+)(?:;|\()", text, re.M):
            if not re.match(r"typedef (struct|union) \w+ \w+;", found[0]):
                yield found[1] or found[2] or found[3], path, text.count("\n", 0, found.start()) + 1


def same_names(_):
    first = {}
    for name, path, line in types():
        if first.setdefault(name, path) != path:
            yield f"{path}:{line}: defines {name}, as {first[name]} does"


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    edges = list(includes())
    print("1..4")
    bad = 0
    for number, (name, check) in enumerate((("includes follow the order of the folders", against_order),
                                            ("no folder has a cycle of includes", cycles),
                                            ("a private header is included by its own module alone", private),
                                            ("no two types have one name", same_names)), 1):
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
