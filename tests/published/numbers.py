#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""numbers.py [--strength] [FOLDER] - numbers of README.md, docs/results.md, docs/suite.md, docs/paper.md and its
appendices that are not in results/published, a line each.

A number stands in a section; LIST (listing.py) says which CSV files have that section's numbers. It must be there to
the digits shown: as it is, in the unit that follows it, as a difference from 1 in per cent, or inverted before 'times'.
The numbers of one cell of a table, and an estimate with its interval, must be in one row, in their order. The headings
of a table narrow the rows: `name(option=...)` to those of this component, m = 8 to landmarks = 8, a word of LIST's
[names] to the rows that it is said to mean.

No results, and not looked for, are: what is in `code`, links and headings; m = 8, n = 8 ... 64 and the like; 95 %;
numbers that are a part of a name (Zen 3, layer 6, 4m); counts of what an experiment has (32 landmarks, 20 trials);
numbers written as words; those that LIST gives, and sections that it leaves untraced, each with a reason.

--strength: how many of the numbers would be missed if their last digit were another one."""
import csv
import functools
import os
import re
import sys

from listing import FOLDER, ROOT, Listing, wanted

PAGES = "results", "paper", "appendix", "profile", "engine", "intervals", "suite"
TEXTS = "README.md", *(f"docs/{page}.md" for page in PAGES)
NUMBER = re.compile(
    r"(?<![\w.^²³-])(?<!(?<!\d)/)-?\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?(?![\w²³(](?<!\dx(?!\w))|-\w|/[a-zA-Z]|\.\d)")
UNITS = {"%": 100, "ms": 1e3, "µs": 1e6, "million": 1e-6, "ns": 1e9}
LETTERS = r"(?:\b(?:[a-zA-Z]\w*|²) ?(?:=|≤|<|≥) ?)"
VALUE = r"-?[\d,]*\d(?:\.\d+)?(?:e-?\d+)?(?: ?%)?"
DEFINED = re.compile(rf"{LETTERS}{VALUE}(?:(?:, | \.\.\. | and | or | to |/){VALUE})*")
NAMES = re.compile(
    r"arXiv:[\d.]+|\b(?:[Ll]ayers?|Zen|Theorem|Lemma|CPU|Debian|trial|order|rank|head) \d[\d.]*|\(\d+\)|\b95 %|\b10-90 "
    r"%|±\d[\d.]*")
COUNTED = re.compile(
    r"(?<![\w.,])\d[\d,]*(?=\s+(?:landmarks?|landmark tokens|segment means|(?:uniform |strongest |random "
    r")?(?:tokens|keys|rows)|trials|passes|texts|"
                     r"crops|images|sources|inputs|problems|strategies|numbers "
                     r"of|m\b|cores|methods|settings|choices|samples|files|heads|"
                     r"paired|factor pairs|pairs|random projections|layers)\b)")
COMMAND = re.compile(r"^ *(?:\./|make |nysbench |compare |python3? |cd |experiments/|--|'|\")")


def slug(heading):
    heading = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def sections(path, name):
    """(place, lines) of each section of a text, without its fenced code."""
    place, lines, fenced = f"{name}#", [], False
    with open(path) as file:
        for line in file.read().split("\n"):
            if line.startswith("```"):
                fenced = not fenced
            elif fenced:
                continue
            elif line.startswith("#"):
                yield place, lines
                place, lines = f"{name}#{slug(line.lstrip('# '))}", []
            else:
                lines.append(line)
    yield place, lines


def blocks(lines):
    """Paragraphs, tables and pieces of output of a section: lists of lines. Commands are left out."""
    block = []
    for line in lines + [""]:
        if line.strip():
            block.append(line)
        elif block:
            if not (block[0].startswith("    ") and COMMAND.match(block[0])):
                yield block
            block = []


class Table:
    """A published CSV file."""

    def __init__(self, path):
        with open(path, newline="") as file:
            self.rows = list(csv.DictReader(file))
        for row in self.rows:
            row["#"] = [v for text in row.values() for v in values_of(text)]
            row["#text"] = [t for k, t in row.items() if isinstance(t, str)]


def values_of(text):
    """The number that a field is; "117 of 120" has two."""
    value = value_of(text)
    parts = re.fullmatch(r"(\d+) of (\d+)", text or "")
    return [value] if value is not None else [float(p) for p in parts.groups()] if parts else []


def value_of(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


class Number:
    def __init__(self, text, after):
        self.text = text
        plain = text.replace(",", "")
        mantissa, _, exponent = plain.partition("e")
        decimals = len(mantissa.partition(".")[2])
        self.value = float(plain)
        self.digit = 10.0 ** (int(exponent or 0) - decimals)
        zeros = len(plain) - len(plain.rstrip("0"))
        if decimals == 0 and not exponent and abs(self.value) >= 100 and zeros:  # 13,100 may be rounded
            self.digit = 10.0 ** min(zeros, len(plain.lstrip("-")) - 2)
        unit = re.match(rf"(?:(?:,| to| and|;) {VALUE})*\s*(%|ms\b|µs\b|ns\b|million\b)", after)
        self.scales = [1.0] + ([UNITS[unit.group(1)]] if unit else [])
        self.percent = bool(unit) and unit.group(1) == "%"
        self.over = bool(re.match(rf"(?:(?:,| to| and) {VALUE})* times\b", after))  # the inverse, as in 1/46

    def matches(self, v):
        near = 0.5000001 * self.digit
        for scale in self.scales:
            if abs(v * scale - self.value) <= near:
                return True
        return (self.over and v != 0 and abs(1 / v - self.value) <= near or
                self.percent and (abs((1 - v) * 100 - self.value) <= near or abs((v - 1) * 100 - self.value) <= near))

    def others(self):
        """The same with another last digit."""
        for step in (-3, -2, -1, 1, 2, 3):
            other = Number(self.text, "")
            other.__dict__.update(self.__dict__, value=self.value + step * self.digit)
            yield other



def prose_of(text):
    """A text without code, links and what is no result."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)",
                  lambda m: "" if m.group(0)[0] == "!" else re.sub(r"[\d.]+", "", m.group(1)), text)
    text = re.sub(r"<!--.*?-->", "", text)
    text = re.sub(r"`[^`]*`", "`", text)
    text = re.sub(r"\*\*|†|~", "", text)
    text = NAMES.sub("", text)
    return COUNTED.sub("", DEFINED.sub("", text))


def numbers_of(text):
    found = []
    for match in re.finditer(r"1/(\d[\d,]*)|" + NUMBER.pattern, text):
        number = Number(match.group(1) or match.group(0), text[match.end():match.end() + 40])
        number.over, number.at, number.end = number.over or bool(match.group(1)), match.start(), match.end()
        found.append(number)
    return found


def groups_of(text):
    """Numbers of a paragraph; an estimate and its interval together."""
    groups, numbers = [], numbers_of(text)
    for number in numbers:
        between = text[groups[-1][-1].end:number.at] if groups else ""
        if groups and (re.fullmatch(r" ?%? ?\[", between) or "[" in text[groups[-1][0].end:number.at] and
                       re.fullmatch(r" ?%?, ", between) and "]" not in text[groups[-1][0].end:number.at]):
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


def label_tests(label, names, of_row=True):
    """What a heading of a table asks of a row: each a list of alternatives, texts or columns with their values."""
    tests = [[("spec", code)] for code in re.findall("`([^`]+)`" if of_row else "^`([^`]+)`", label)]
    tests += [[("text", f"layers=={number}")] for number in re.findall(r"\blayer (\d+)", label)]
    tests += [[("column", "at_most", int(share) / 100)] for share in re.findall(r"^at (\d+) %", label)]
    for column, value in re.findall(r"\b([mnd]) = ([\d,]+)", label):
        tests.append([("column", {"m": "landmarks"}.get(column, column), float(value.replace(",", "")))])
    plain = re.sub(r"`[^`]*`", " ", label)
    for name in sorted(names, key=len, reverse=True):  # a name within a longer one is not meant
        plain, times = re.subn(rf"(?<!\w){re.escape(name)}(?!\w)", "_", plain)
        if times:
            tests.append([("text", t) for t in names[name]])
    number = re.fullmatch(r"\s*([\d,]+)\s*", plain)
    if number:
        tests.append([("number", float(number.group(1).replace(",", "")))])
    return tests


@functools.cache
def whole_word(name):
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


@functools.cache
def component(name):
    return re.compile(re.escape(name) + r"(, (oracle|both|joint).*)?")


def has(row, test):
    kind, *what = test
    if kind == "column":
        return value_of(row.get(what[0])) == what[1]
    if kind == "number":
        return what[0] in [value_of(row.get(c))
                           for c in ("n", "landmarks", "heads")] or f"n {what[0]:.0f}" in row["#text"]
    if kind == "text":
        column, equals, wanted = what[0].partition("==")
        return row.get(column) == wanted if equals else any(what[0] in t for t in row["#text"])
    name, _, options = what[0].partition("(")
    parts = [o.strip() for o in options.rstrip(")").split(", ")] if options else []
    word = whole_word(name)
    return any((t == name or word.search(t)) and all(p in t for p in parts) for t in row["#text"])


def is_all(row, test):
    """Whether a field is the component that a heading names, without further options."""
    return test[0] == "spec" and any(map(component(test[1]).fullmatch, row["#text"]))


def narrowed(tables, tests):
    """Of each table the rows that the headings leave; a heading that none of its rows has says nothing about it."""
    rows = []
    for table in tables:
        left = table.rows
        for test in tests:
            left = [r for r in left if any(is_all(r, t) for t in test)] or \
                [r for r in left if any(has(r, t) for t in test)] or left
        rows += left
    return rows


def in_row(numbers, values):
    """Whether the numbers are among the values, in this order."""
    values = iter(values)
    for number in numbers:
        for value in values:
            if number.matches(value):
                break
        else:
            return False
    return True


def found(numbers, rows):
    return any(in_row(numbers, row["#"]) for row in rows)


class Checker:
    def __init__(self, folder, strength):
        self.folder, self.strength = folder, strength
        self.listing = Listing(f"{folder}/{FOLDER}/LIST")
        self.tables = {}
        self.mistakes, self.checked, self.weak = [], 0, 0
        self.weak_at = {}

    def table(self, name):
        if name not in self.tables:
            path = f"{self.folder}/{FOLDER}/{name}"
            if not os.path.exists(path):
                self.mistakes.append(f"{FOLDER}/{name}: LIST has it, but it is not there")
                return None
            self.tables[name] = Table(path)
            conditions = self.listing.files[name].get("shown_rows")
            if conditions:
                self.tables[name].rows = [r for r in self.tables[name].rows if wanted(r, conditions)]
        return self.tables[name]

    def ask(self, place, numbers, tables, tests, shown):
        """Numbers that must stand in one row."""
        numbers = [n for n in numbers if not self.is_given(place, n)]
        if not numbers:
            return
        rows = narrowed(tables, tests)
        self.checked += len(numbers)
        if not found(numbers, rows):
            what = ", ".join(n.text for n in numbers)
            self.mistakes.append(f"{place}: '{what}' ({' '.join(shown.split())[:70]}) is in no row of {self.files}")
            return
        for number in numbers if self.strength else ():
            missed = sum(found([o if n is number else n for n in numbers], rows) for o in number.others()) / 6
            self.weak += missed
            self.weak_at[place] = [a + b for a, b in zip(self.weak_at.get(place, (0, 0)), (missed, 1))]

    def is_given(self, place, number):
        if number.text in self.listing.given.get(place, ()):
            self.used.add(number.text)
            return True
        return False

    def check_table(self, place, block, tables):
        cells = [[c.strip() for c in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in block]
        head, rows = cells[0], [c for c in cells[1:] if not all(re.fullmatch(r":?-+:?", x) for x in c)]
        for row in rows:
            labels = [row[0]] + [c for c, h in zip(row[1:], head[1:]) if c
                                 and (h in ("n", "m") or not numbers_of(prose_of(c)))]
            for i, cell in enumerate(row):
                if i == 0 or cell in labels:
                    continue
                tests = [t for text in labels for t in label_tests(text, self.listing.names)]
                tests += label_tests(head[i], self.listing.names, of_row=False)
                for part in cell.split(";"):
                    own = label_tests(part, self.listing.names) if "`" in part or re.search("[a-z]{4}", part) else []
                    self.ask(place, numbers_of(prose_of(part)), tables, tests + own, f"{row[0]} | {cell}")

    def check(self):
        for name in TEXTS:
            for place, lines in sections(f"{self.folder}/{name}", name):
                if place in self.listing.untraced:
                    continue
                files = self.listing.shown_in(place)
                self.files, self.used = ", ".join(files) or "LIST, which has no CSV file for this section", set()
                tables = [t for t in map(self.table, files) if t]
                for block in blocks(lines):
                    if block[0].lstrip().startswith("|"):
                        self.check_table(place, block, tables)
                    else:
                        text = prose_of(" ".join(block) if not block[0].startswith("    ") else "\n".join(block))
                        for group in groups_of(text):
                            shown = text[max(0, group[0].at - 30):group[-1].end + 20]
                            self.ask(place, group, tables, [], shown)
                unused = [g for g in self.listing.given.get(place, ()) if g not in self.used]
                self.mistakes += [f"{place}: LIST gives {g}, which is not there" for g in unused]
        return self.mistakes


def main(arguments):
    folders = [a for a in arguments if a != "--strength"]
    checker = Checker(folders[0] if folders else ROOT, "--strength" in arguments)
    mistakes = checker.check()
    for mistake in mistakes:
        print(mistake)
    if checker.strength:
        print(f"{checker.checked} numbers; with another last digit {100 * checker.weak / max(checker.checked, 1):.0f} "
              f"% would be found still")
        for place, (weak, count) in checker.weak_at.items():
            print(f"  {place}: {count} numbers, {100 * weak / count:.0f} %")
    return bool(mistakes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
