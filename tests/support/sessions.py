#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""sessions.py [--long] PROGRAM [FOLDER] - runs the sessions of a folder's README.md and docs/*.md and compares what
they show, and README's other commands, the indented lines that begin with ./nysbench.

A session is a ```console block: lines that begin with '$ ' are commands ('> ' continues one), the others their output.
The blocks of one document run in order, in a fresh folder that has the checkout's nysbench, experiments and python.
`...` in an output stands for any lines. What stands there must be there, but for: space between words; times, sizes and
numbers of workers; numbers in e-notation (p-values, seconds to select); and the last digit of a number with a decimal
point, which may be one more or less, since libraries round differently on different machines. Commands of NOT_RUN are
not run, with a reason; those of LONG, which take minutes, with --long alone, and then what their runs have in
results/published is compared too. Exit status 1 if anything differs; the whole output is printed then."""
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

# COMMAND: why it is not run. A command that no document has must not stand here, nor in LONG.
NOT_RUN = {
    "git clone URL nysbench && cd nysbench && make deps && make": "takes the network; tests/debian.sh clones and "
                                                                  "builds",
    "./nysbench new experiment my.yaml --heads my-layer": "needs the reader's heads; tests/cli/first.bats has some",
    "./nysbench run my.yaml": "needs them too",
    "./nysbench compare results/my": "needs them too",
}
# Those that take minutes.
LONG = {
    "./nysbench run experiments/15-sources.yaml",
    "./nysbench compare results/15-sources --pool landmarks",
}
SHOWN = {"./nysbench demo": "  strategy  "}  # COMMAND: how what README shows of its output begins
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
VARYING = [
    (re.compile(r"\d[\d.,]*(?:e[-+]\d+)? ?(?:s|ms|µs|min|h|MiB|GiB)\b(?: \d+ s)?"), "TIME"),
    (re.compile(r"\b\d+(?= workers?\b)"), "WORKERS"),
    (re.compile(r"\d[\d.]*e[-+]\d+"), "E"),
    (re.compile(r"\(from [^)]*\)"), "(FROM)"),
]


def blocks(path):
    """(command, expected lines) of each command of a document, in order."""
    with open(path) as file:
        found = re.findall(r"^```console\n(.*?)^```$", file.read(), re.M | re.S)
    for block in found:
        command, lines = None, []
        for line in block.split("\n")[:-1]:
            if line.startswith("$ "):
                if command:
                    yield command, lines
                command, lines = line[2:], []
            elif command and not lines and line.startswith(("> ", ">")) and line[:2] in ("> ", ">"):
                command += "\n" + line[2:]
            else:
                lines.append(line)
        if command:
            yield command, lines


def bare_commands(path):
    """(command, expected lines) of each indented ./nysbench line of a README, without its comment."""
    if os.path.basename(path) == "README.md":
        with open(path) as file:
            text = file.read()
        for line in re.findall(r"^    (\./nysbench .*)$", text, re.M):
            command = re.sub(r"\s+#.*", "", line)
            shown = command in SHOWN and re.search(rf"^    {SHOWN[command]}.*\n(?:    .*\n)+", text, re.M)
            lines = shown.group().splitlines() if shown else []
            yield command, ["...", *lines[:1], "...", *lines[1:2], "...", *lines[2:], "..."]


def plain(line, folder):
    line = line.replace(folder, "FOLDER")
    for pattern, name in VARYING:
        line = pattern.sub(name, line)
    return " ".join(line.split())


def same(expected, actual):
    """Two plain lines, decimals up to one in the last digit."""
    if NUMBER.sub("#", expected) != NUMBER.sub("#", actual):
        return False
    for a, b in zip(NUMBER.findall(expected), NUMBER.findall(actual)):
        decimals = len(a.partition(".")[2])
        if a != b and (decimals == 0 or abs(float(a) - float(b)) > 1.01 * 10.0 ** -decimals):
            return False
    return True


def first_missing(expected, actual):
    """The first expected line that the output has not, in its place; None if it has them all."""
    at, anywhere = 0, False
    for line in expected:
        if line == "...":
            anywhere = True
            continue
        while anywhere and at < len(actual) and not same(line, actual[at]):
            at += 1
        if at == len(actual) or not same(line, actual[at]):
            return line
        at, anywhere = at + 1, False
    return None if anywhere or at == len(actual) else "(the end)"


def published(path, root):
    """What README's runs have in results/published is what they give."""
    check = f"/usr/bin/python3 {shlex.quote(root)}/tests/published/publish.py --check \"$PWD/results\""
    return [(check, ["..."])] if os.path.basename(path) == "README.md" else []


def run_document(path, program, root, seen, long):
    mistakes = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("experiments", "python"):
            os.symlink(os.path.join(root, name), os.path.join(folder, name))
        os.symlink(program, os.path.join(folder, "nysbench"))
        shell = {"PATH": "/usr/bin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8"}
        for command, expected in [*blocks(path), *bare_commands(path), *(published(path, root) if long else [])]:
            seen.append(command)
            if command in NOT_RUN or (command in LONG and not long):
                continue
            # What a command exports or where it goes holds for the next one.
            script = f"{command}\nstatus=$?; env >{folder}/.env; pwd >{folder}/.pwd; exit $status"
            where = open(f"{folder}/.pwd").read().strip() if os.path.exists(f"{folder}/.pwd") else folder
            done = subprocess.run(["bash", "-c", script], cwd=where, env=shell, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT,
                                  stdin=subprocess.DEVNULL, text=True)
            shell = dict(line.split("=", 1) for line in open(f"{folder}/.env").read().split("\n") if "=" in line)
            actual = done.stdout.rstrip("\n").split("\n") if done.stdout.strip() else []
            missing = first_missing([plain(x, folder) for x in expected], [plain(x, folder) for x in actual])
            if missing is not None or done.returncode:
                mistakes.append(f"{path}: $ {command.splitlines()[0]}\n  exit status {done.returncode}; "
                                + (f"the output has not '{missing}'\n" if missing is not None else "\n")
                                + "".join(f"  | {line}\n" for line in actual))
    return mistakes


def main(arguments):
    long = arguments[:1] == ["--long"]
    program, root = [*arguments[long:], "."][:2]
    seen, mistakes = [], []
    for path in [f"{root}/README.md"] + sorted(glob.glob(f"{root}/docs/*.md")):
        mistakes += run_document(path, os.path.realpath(program), os.path.realpath("."), seen, long)
        with open(path) as file:
            if re.search(r"^    \$ ", file.read(), re.M):
                mistakes.append(f"{path}: a session that is no ```console block: nothing runs it")
    left = [*NOT_RUN, *([] if long else LONG)]
    mistakes += [f"sessions.py: '{command}' is not run, and no document has it"
                 for command in [*NOT_RUN, *LONG] if command not in seen]
    print("\n".join(mistakes) if mistakes else f"{len(seen)} commands, of which {len(left)} were not run")
    return bool(mistakes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
