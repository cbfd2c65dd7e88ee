# SPDX-License-Identifier: GPL-3.0-or-later
"""results/published/LIST: which run or part of the benchmark makes which published file, and where its numbers stand.

[run NAME]    command: of nysbench, makes results/NAME; needs (optional): what has to be brought first
[FILE.csv]    run and command: of nysbench, {run} is the run's folder, prints CSV;
              columns: those that are published, of which one may be new, NAME=EXPRESSION of the row's numbers;
              rows: what a published row has, COLUMN=VALUE or a text, several with ' & ' between;
              count: how many rows have the columns and fulfil this EXPRESSION, and of how many;
              or bench: a part of tests/bench/bench.sh;
              or script: a command for bash that prints the CSV
              shown: sections of the texts of numbers.py that take numbers from it; shown_rows: from which of its rows
              times=yes: they depend on the machine
[FILE.png]    run and plot: a figure of the run, or its data with columns as above (nysbench plot RUN plot); file: its
              name there, if another one;
              or script: a command that writes it to standard output
[text FILE#SECTION]
              given: numbers there that are no results (definitions, claims of papers), and why after '--'; a line each
[untraced]    FILE#SECTION: why its numbers are not looked for
[names]       what the text calls things, and what a row of the CSV files has then: one of these texts, with '|'
              between, or COLUMN==VALUE
"""
import configparser
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = "results/published"


class Listing:
    def __init__(self, path):
        parser = configparser.RawConfigParser(delimiters=("=",), comment_prefixes=("#",), strict=True)
        parser.optionxform = str
        with open(path) as file:
            parser.read_file(file)
        sections = {name: dict(parser[name]) for name in parser.sections()}
        self.names = {k: [t.strip() for t in v.split("|")] for k, v in sections.pop("names", {}).items()}
        self.untraced = sections.pop("untraced", {})
        self.runs = {n[4:]: s for n, s in sections.items() if n.startswith("run ")}
        self.given = {n[5:]: given_numbers(s["given"]) for n, s in sections.items() if n.startswith("text ")}
        self.files = {n: s for n, s in sections.items() if not n.startswith(("run ", "text "))}
        for name, entry in self.files.items():
            check_entry(path, name, entry, self.runs)

    def shown_in(self, place):
        """The CSV files that a section may take numbers from."""
        return [n for n, e in self.files.items() if n.endswith(".csv") and place in e.get("shown", "").split()]


def check_entry(path, name, entry, runs):
    allowed = {"run", "command", "columns", "rows", "count", "bench", "script", "plot", "file", "shown", "shown_rows",
               "times"}
    wrong = sorted(set(entry) - allowed)
    if wrong:
        raise SystemExit(f"{path}: [{name}] has '{wrong[0]}'; allowed: {', '.join(sorted(allowed))}")
    if sum(k in entry for k in ("bench", "run", "script")) != 1:
        raise SystemExit(f"{path}: [{name}] needs one of run, bench and script")
    if "run" in entry and entry["run"] not in runs:
        raise SystemExit(f"{path}: [{name}] has run = {entry['run']}, but there is no [run {entry['run']}]")
    if "run" in entry and ("command" in entry) == ("plot" in entry):
        raise SystemExit(f"{path}: [{name}] needs either command or plot")


def rounded(text):
    """Six digits are more than any text shows."""
    try:
        value = float(text)
    except ValueError:
        return text
    return f"{value:.6g}"


def wanted(row, conditions):
    """COLUMN=VALUE or a text, several with ' & ' between."""
    for what in conditions.split(" & "):
        column, equals, value = what.partition("=")
        if not (rounded(row[column]) == value if equals
                and column in row else any(what in field for field in row.values() if isinstance(field, str))):
            return False
    return True


def given_numbers(text):
    """Lines 'numbers -- reason'."""
    numbers = []
    for line in filter(None, map(str.strip, text.split("\n"))):
        shown, dash, reason = line.partition(" -- ")
        if not dash or not reason:
            raise SystemExit(f"LIST: '{line}' does not say after ' -- ' why these numbers are given")
        numbers += shown.split()
    return numbers
