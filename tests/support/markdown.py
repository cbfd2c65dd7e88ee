# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of a page in GitHub Flavored Markdown, read as its specification says (4.10, 2.4), by nothing of nysbench.

    markdown.py FILE.md          the tables as JSON: a list of lists of rows, the first the heads
    markdown.py FILE.md TEXT     also that each cell stands in the table for people, TEXT, too
"""

import json
import re
import sys


def cells(line):
    """Of a row, without their escapes."""
    inner = line.strip()
    assert inner.startswith("|") and inner.endswith("|") and not inner.endswith("\\|"), line
    parts = re.split(r"(?<!\\)\|", inner[1:-1])
    return [re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", part.strip()) for part in parts]


def tables(text):
    found, rows = [], []
    for line in [*text.split("\n"), ""]:
        if line.startswith("|"):
            rows.append(line)
        elif rows:
            marks = cells(rows[1])
            assert len(rows) > 2 and all(re.fullmatch(r":?-+:?", m) for m in marks), rows[:3]
            table = [cells(row) for row in rows[:1] + rows[2:]]
            assert all(len(row) == len(marks) for row in table), rows
            found.append(table)
            rows = []
    return found


page = open(sys.argv[1]).read()
read = tables(page)
assert read, "no table"
if len(sys.argv) > 2:
    shown = re.sub(r"\s+", " ", open(sys.argv[2]).read())
    for table in read:
        for cell in sum(table[1:], []):
            assert " ".join(cell.split()) in shown, cell
print(json.dumps(read))
