#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs.py PROGRAM [FOLDER] - what is wrong in README.md and docs/*.md of a folder, a line each; exit status 1 if
anything is.

Links must lead to a file or a heading. In code, spans and blocks alike, `nysbench WORD` must be a command and its
--options the command's, `make WORD` a target, `name(option=...)` a component with that option, and a path of the tree a
file. In blocks the program is ./nysbench, as in a checkout. A word in a code span that has an underscore must be a word
of the program's: a key, or one that its help has, or a name of its sources; what begins with nb_ or NB_, anywhere in a
span, is a name of the sources. The keys in the table of docs/config.md are those of the program; the files of
docs/developing.md have the functions that it names."""
import glob
import os
import re
import subprocess
import sys
import tempfile

program, root = os.path.realpath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "."
mistakes = []


def says(*arguments):
    return subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


# What there is.
commands = set(re.findall(r"^  ([a-z]+) ", says("--help"), re.M))
options = {c: set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", says(c, "--help"))) for c in commands}
targets = set(re.findall(r"^([a-z0-9-]+):",
                         " ".join(open(f).read() for f in ["Makefile", *glob.glob("src/make/*.mk")]), re.M))
parts = re.split(r"^### (\w+)$", says("describe", "--markdown", "components"), flags=re.M)
components = {}
for name, text in zip(parts[1::2], parts[2::2]):  # of all kinds that have one of this name
    components.setdefault(name, {"label"}).update(re.findall(r"^\| `(\w+)` \|", text, re.M))
columns = set(re.findall(r"^\| `(\w+)` \|", says("describe", "--markdown", "columns"), re.M))
with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
    file.write("problems: gaussian\nstrategies: uniform\ncores: svd\nexclude: {trial: 1}\nblocks: [{landmarks: 8}]\n")
    file.flush()
    keys = set(re.findall(r"^ *(?:- )?(\w+):", says("plan", "--origins", file.name), re.M))
words = set(re.findall(r"\w+",
                       " ".join([says("describe", "--markdown", "components"),
                                 says("describe", "--markdown", "columns"),
                                         says("list"), *(says(c, "--help") for c in commands)]))) | keys
placeholders = {"name", "largest_norm", "every_kth"}


def anchors(text):
    names, seen = set(), {}
    for heading in re.findall(r"^#+ +(.*?) *$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M):
        name = re.sub(r"[^\w\- ]", "", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading).lower()).replace(" ", "-")
        names.add(name + (f"-{seen[name]}" if name in seen else ""))
        seen[name] = seen.get(name, 0) + 1
    return names


def check_links(path, text, wrong):
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        target, _, part = link.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
        if re.match(r"[a-z]+:", link):
            continue
        if not os.path.exists(file):
            wrong(f"{link}: there is no such file")
        elif part and part not in anchors(open(file).read()):
            wrong(f"{link}: there is no such heading")


def check_call(call, wrong):
    command, *rest = call.split()
    if command not in commands:
        return wrong(f"no command '{command}'")
    for word in rest:
        if word in ("|", "--") or word.startswith("#"):
            break
        name = word.rstrip("`.,;").partition("=")[0]
        if re.fullmatch(r"--?[a-z][a-z-]*", name) and name not in options[command]:
            wrong(f"nysbench {command} has no option '{name}'")


def check_code(code, wrong):
    for call in re.findall(r"(?:^|[\s/;|])nysbench ((?!COMMAND|error|note|warning)[a-z]+[^;\n]*)", code):
        check_call(call, wrong)
    for target in re.findall(r"(?:^|[;&] *|\$ )make ([a-z][a-z0-9-]*)", code, re.M):
        if target not in targets:
            wrong(f"make has no target '{target}'")
    for name, inside in re.findall(r"(?<![\w.])([a-z][a-z_]+)\(((?:[a-z_]+=)[^()]*)\)", code):
        if name not in components and name not in placeholders:
            wrong(f"no component '{name}'")
        for option in re.findall(r"(?:^|, *)([a-z_]+)=", inside) if name in components else []:
            if option not in components[name]:
                wrong(f"{name} has no option '{option}'")
    for file in re.findall(r"(?<![\w./-])(?:src|strategies|tests|plots|experiments|python)/[\w./-]*[\w]", code):
        if not re.search(r"NAME|STUDY|largest_norm", file) and not os.path.exists(file):
            wrong(f"{file}: there is no such file")


def check_file(path):
    text = open(path).read()
    wrong = lambda what: mistakes.append(f"{path}: {what}")
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    blocks = [line for line in prose.split("\n") if line.startswith("    ")]
    prose = "\n".join(line for line in prose.split("\n") if not line.startswith("    "))
    spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose)]
    check_links(path, prose, wrong)
    for line in blocks:
        if re.match(r" +nysbench [a-z]", line):
            wrong(f"'{line.strip()}': in a checkout it is ./nysbench")
    for code in spans + blocks + [text for kind, text in fenced if kind in ("yaml", "")]:
        check_code(code, wrong)
    for span in spans:
        if re.fullmatch(r"(?!nb_)[a-z]+(_[a-z]+)+", span) and span not in words | others:
            wrong(f"the program has no '{span}'")
        for name in re.findall(r"(?<!\w)(?:nb|NB)_\w+", span):
            if "NAME" not in name and name not in others:
                wrong(f"the sources have no '{name}'")


def check_walk(path):
    """Each step of developing.md names a file, and a function that it has."""
    for file, name in re.findall(r"\| `(src/[\w/.]+)` \| `(\w+)` \|", open(path).read()):
        if not os.path.exists(file) or not re.search(rf"\b{name}\b", open(file).read()):
            mistakes.append(f"{path}: {file} has no '{name}'")


# Words with an underscore that are not the program's, and the names that its sources have.
sources = [open(file).read() for file in glob.glob("src/**/*.[ch]", recursive=True) + glob.glob("strategies/*.[ch]")]
package = "".join(open(file).read() for file in glob.glob("python/nysbench/*.py"))
others = {"baseline_pairing", "setting_heads",
          "nb_strategy_mine", "nb_strategy_largest_norm"} | placeholders
others |= set(re.findall(r"\b(?:nb|NB|nysbench)_\w+", "".join(sources)))
others |= set(re.findall(r"^static [^(\n]*?(\w+)\(", "".join(sources), re.M))
others |= set(re.findall(r"\w+", package))
for header in "rows/open.h", "answers/claim_measure.h":  # views and their columns
    others |= set(re.findall(r"\w+", open("src/" + header).read()))

for path in [f"{root}/README.md"] + sorted(glob.glob(f"{root}/docs/*.md")):
    check_file(path)
check_walk(f"{root}/docs/developing.md")
table = open(f"{root}/docs/config.md").read().split("## Keys")[1].split("\n## ")[0]
documented = set(re.findall(r"^\| `(\w+)` \|", table, re.M))
mistakes += [f"docs/config.md: the program has no key '{key}'" for key in sorted(documented - keys)]
mistakes += [f"docs/config.md: the key '{key}' is missing" for key in sorted(keys - documented)]
print("\n".join(mistakes), end="\n" if mistakes else "")
sys.exit(bool(mistakes))
