#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Includes run one way: a folder's files include only from their own and from those above it in ORDER, and within a
folder no module (NAME.c, NAME.h, NAME_private.h and NAME_record.h) includes itself by way of others. NAME_private.h is
included by NAME*.c alone. No two types have one name, and no file names a type that a folder after its own defines, be
it to declare it. Of what shows results, one file asks the registries of components. No SQL is in C, neither a statement
nor a piece of one, but for a check of columns' names: what is run, or given as a piece, is in a file of SQL, by a name,
and what has a name is asked for. Outside of the command line no text names an option: a message names a field
(src/base/fields.h). A module of the Python package imports those before it in the table of docs/developing.md, but for
imports within functions. Speaks TAP; what is wrong is on standard error, FILE:LINE: and why. Of this tree, or of
another: tests/checks/architecture.py [FOLDER]"""
import ast
import glob
import os
import re
import sys

import tap

ORDER = """base statistics components linalg data problems kernels nystrom strategies cores partitions calls layers
           attentions conformance config run rows answers show studies api suite commands make main""".split()
GENERATED = {"build.h"}  # build/
ASKS = {"src/rows/names.c"}
COMMAND_LINE = ("src/commands/", "src/main.c", "src/make/")
WORDS_OF_SQL = re.compile(
    r"\b(SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|PRAGMA|BEGIN|COMMIT|ROLLBACK|WHERE|FROM|JOIN|BY|HAVING|UNION|VALUES|"
    r"AND|OR|IN|IS|NOT|AS|ON|CASE|WHEN|THEN|ELSE|END|EXISTS|LIKE|GLOB|CAST|OVER|LIMIT|DISTINCT|INTEGER|REAL|PRIMARY)\b|"
    r"\|\| '|\b(coalesce|quote)\(")
PIECES_OF_SQL = (r'\bNB_GIVE_PIECE\("\w+",(?:[^()"]|\([^()]*\))*(?:"[^"]|nb_format)',
                 r"\bsql\b[^;{}]*\bnb_(?:format|append)")
MAKES_SQL = {"src/components/study.c", "src/rows/statement.c"}
TELLS_OF_SQL = {"src/commands/sql.c", "src/rows/views.c"}  # in a message, and in what they search it for
ASKING = re.compile(r"\bnb_(registries|problems|kernels|strategies|cores|partitions|attentions|studies|"
                    r"column_registry|choice_recall|labels_apart)\b")


def room(path):
    parts = path.removeprefix("src/").split("/")
    return parts[0] if len(parts) > 1 else "main"


def module(path):
    return os.path.splitext(path)[0].removesuffix("_private").removesuffix("_record")


def sources():
    return sorted(glob.glob("src/**/*.[ch]", recursive=True) + glob.glob("strategies/*.[ch]"))


def options():
    """The names of all options: of the tables of commands."""
    tables = glob.glob("src/commands/*.[ch]")
    return {name for path in tables
            for name in re.findall(r"""\(\s*(?:\\\n\s*)?"([a-z][a-z-]*)",\s*'""", open(path, encoding="utf-8").read())}


def named_options(names):
    """Texts that name an option outside of the command line: they are a request's fields (src/base/fields.h)."""
    if not names:
        yield "src/commands: no options"
    for path in sources() + sorted(glob.glob("src/**/*.sql", recursive=True)):
        if path.startswith(COMMAND_LINE):
            continue
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            texts = re.findall(r'"((?:[^"\\]|\\.)*)"', line) if not path.endswith(".sql") else [line]
            for text in texts:
                for name in re.findall(r"(?<![-\w])--([a-z][a-z-]*)", text):
                    if name in names:
                        yield f"{path}:{number}: names the option --{name}: nb_field, or field() in SQL, spells it"


def fields():
    """(file, line, name) of each field that a message names."""
    for path in sources() + sorted(glob.glob("src/**/*.sql", recursive=True)):
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            for name in re.findall(
                    r"""\bnb_(?:field|spell_option|spell_quoted)\([^"]*"(\w+)"|\bfield\('(\w+)'""", line):
                yield path, number, name[0] or name[1]


def unknown_fields(names, found):
    """Fields that are no option, and that src/commands/program.c does not translate to one."""
    program = open("src/commands/program.c", encoding="utf-8").read()
    translated = dict(re.findall(r'\{"(\w+)", "([a-z-]+)"\}', program))
    if not found:
        yield "src: no message names a field"
    for path, line, name in found:
        if translated.get(name, name) not in names:
            yield f"{path}:{line}: the field {name} is no option of a command"


def includes():
    """(file, line, included file) of every include in quotes."""
    for path in sources():
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            found = re.match(r'\s*#\s*include\s*"(.*)"', line)
            if not found or found[1] in GENERATED:
                continue
            places = (os.path.join(folder, found[1]) for folder in (os.path.dirname(path), ".", "src"))
            yield path, number, next((os.path.normpath(p) for p in places if os.path.exists(p)), found[1])


def against_order(edges):
    if not edges:
        yield f"{os.getcwd()}: no includes: is it a source tree?"
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


def imports():
    """(file, line, module, imported module) of what each module of the Python package imports when it is imported."""
    for path in sorted(glob.glob("python/nysbench/**/*.py", recursive=True)):
        name = path.removeprefix("python/nysbench/").removesuffix(".py")
        for node in ast.parse(open(path, encoding="utf-8").read()).body if not name.endswith("__init__") else ():
            if isinstance(node, ast.ImportFrom) and node.level:
                folder = os.path.normpath(os.path.join(os.path.dirname(name), *[".."] * (node.level - 1)))
                for to in [node.module] if node.module else [alias.name for alias in node.names]:
                    yield path, node.lineno, name, os.path.normpath(os.path.join(folder, *to.split(".")))


def against_order_of_imports():
    """The order is that of the table in docs/developing.md, which has every module."""
    text = open("docs/developing.md", encoding="utf-8").read()
    table = text.partition("\n## The Python package\n")[2].partition("\n## ")[0]
    order = [name for line in re.findall(r"^\| (`[^|]*) \|", table, re.M) for name in re.findall(r"`([\w/]+)`", line)]
    there = {path.removeprefix("python/nysbench/").removesuffix(".py")
             for path in glob.glob("python/nysbench/**/*.py", recursive=True) if not path.endswith("__init__.py")}
    for name in sorted(there ^ set(order)):
        yield f"docs/developing.md: the Python package and its table differ: {name} is in one of them"
    for path, line, name, to in imports():
        if name in order and to in order and order.index(to) > order.index(name):
            yield f"{path}:{line}: {name} imports {to}, which comes after {name}"


def private(edges):
    for path, line, to in edges:
        if to.endswith("_private.h") and not path.startswith(to.removesuffix("_private.h")):
            yield f"{path}:{line}: includes {to}, which is for {to.removesuffix('_private.h')}*.c alone"


def codes():
    """(file, code) of every file: without comments, and with empty strings."""
    for path in sources():
        text = re.sub(r"/\*.*?\*/", lambda comment: re.sub(r"[^\n]", "", comment[0]),
                      open(path, encoding="utf-8").read(), flags=re.S)
        yield path, re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


def types():
    """(name, file, line) of every type nb_... that a typedef or a tag defines."""
    for path, text in codes():
        for found in re.finditer(
                r"^\} (nb_\w+);|^(?:struct|union|enum) (nb_\w+) \{|^typedef .*[^\n{]\b(nb_\w+)(?:;|\()", text, re.M):
            if not re.match(r"typedef (struct|union) \w+ \w+;", found[0]):
                yield found[1] or found[2] or found[3], path, text.count("\n", 0, found.start()) + 1


def same_names():
    first = {}
    for name, path, line in types():
        if first.setdefault(name, path) != path:
            yield f"{path}:{line}: defines {name}, as {first[name]} does"


def types_of_later():
    defined = {name: path for name, path, _ in types()}
    for path, text in codes():
        for found in re.finditer(r"\bnb_\w+", text):
            to = defined.get(found[0])
            if to and ORDER.index(room(to)) > ORDER.index(room(path)):
                yield (f"{path}:{text.count(chr(10), 0, found.start()) + 1}: names the type {found[0]}, which {to} "
                       f"defines, and {room(to)} comes after {room(path)}")


def registries_asked():
    for path, text in codes():
        for found in ASKING.finditer(text):
            if room(path) in ("rows", "answers", "show") and path not in ASKS:
                yield (f"{path}:{text.count(chr(10), 0, found.start()) + 1}: {found[0]} asks a registry, and only "
                       f"{' and '.join(sorted(ASKS))} may")


def c_strings():
    """(file, line, text) of each string in C, without those in comments; strings side by side are one."""
    for path in sources():
        text = re.sub(r"/\*.*?\*/", lambda comment: re.sub(r"[^\n]", "", comment[0]),
                      open(path, encoding="utf-8").read(), flags=re.S)
        for found in re.finditer(r'"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*', text):
            yield path, text.count("\n", 0, found.start()) + 1, "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', found[0]))


def sql_in_c():
    why = "SQL in C: it belongs in a file beside this one (src/rows/statement.h)"
    for path, line, text in c_strings():
        if WORDS_OF_SQL.search(text) and path not in MAKES_SQL | TELLS_OF_SQL:
            yield f"{path}:{line}: {why}: {text[:40]}"
    for path in sources():
        text = open(path, encoding="utf-8").read()
        for pattern in PIECES_OF_SQL if path not in MAKES_SQL else ():
            for found in re.finditer(pattern, text):
                yield f"{path}:{text.count(chr(10), 0, found.start()) + 1}: {why}"


def statements_by_name():
    """Statements that C names and no file has, and the other way round."""
    there = {f"{os.path.splitext(os.path.basename(path))[0]}.{name}": path
             for path in glob.glob("src/**/*.sql", recursive=True)
             for name in re.findall(r"^-- name: (\w+)$", open(path, encoding="utf-8").read(), re.M)}
    files = {name.partition(".")[0] for name in there}
    named = {text: (path, line) for path, line, text in c_strings() if re.fullmatch(r"[a-z_]+\.[a-z_0-9]+", text)
             and text.partition(".")[0] in files and not text.endswith((".csv", ".html", ".md", ".npy"))}
    if not there:
        yield "src: no file of SQL has statements by name"
    for name, (path, line) in named.items():
        if name not in there:
            yield f"{path}:{line}: no file of SQL has the statement {name}"
    for name, path in there.items():
        if name not in named:
            yield f"{path}:1: nothing asks for the statement {name}"


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    edges = list(includes())
    names = options()
    return tap.run({
        "no file outside of the command line names an option of it": lambda: named_options(names),
        "a field that a message names is an option": lambda: unknown_fields(names, list(fields())),
        "includes follow the order of the folders": lambda: against_order(edges),
        "no folder has a cycle of includes": lambda: cycles(edges),
        "a private header is included by its own module alone": lambda: private(edges),
        "no two types have one name": same_names,
        "no type of a later folder is named": types_of_later,
        "one file of what shows results asks the registries": registries_asked,
        "no SQL is in C": sql_in_c,
        "statements by name are there, and are used": statements_by_name,
        "imports follow the order of the Python package's modules": against_order_of_imports})


if __name__ == "__main__":
    sys.exit(main())
