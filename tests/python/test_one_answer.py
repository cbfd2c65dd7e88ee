# SPDX-License-Identifier: GPL-3.0-or-later
"""One question has one answer, wherever a user asks: random small experiments of all studies
(tests/same/experiments.py), with failures, blocks, exclusions, rows that are not run, and rows of several builds.
usage: test_one_answer.py

`compare --format json` is what others are held against; tests/unit/test_one_answer.c holds it against tables, figures
and claims, and tests/oracle/compare.py against the rows.
"""
import collections
import html.parser
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.modules["pandas"] = None  # a comparison is a list of dicts, whether pandas is there or not
import nysbench
import tap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/same"))
import experiments

SEED, EXPERIMENTS = 20261201, 32
POOLED = {"error": "landmarks", "coherence": "clusters"}  # over what a report pools, if a run has several values


class Tables(html.parser.HTMLParser):
    """The tables of a page: a list of rows, each a dict of texts by the headings."""

    def __init__(self, page):
        super().__init__()
        self.tables, self.cell = [], None
        self.feed(page)
        self.tables = [[dict(zip(rows[0], row)) for row in rows[1:] if len(row) == len(rows[0])]
                       for rows in self.tables]

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("th", "td"):
            self.cell = ""

    def handle_data(self, text):
        if self.cell is not None:
            self.cell += text

    def handle_endtag(self, tag):
        if tag in ("th", "td"):
            self.tables[-1][-1].append(self.cell)
            self.cell = None


def ask(folder, *words):
    """What the program prints; None: it refuses."""
    run = subprocess.run([nysbench.program(), *words], cwd=folder, capture_output=True, text=True)
    return run.stdout if run.returncode in (0, 1) else None  # 1: some rows have failed


def measured(folder, number):
    """Measures a random experiment in folder/run; its study, and what the run says."""
    for attempt in range(20):
        config, only, study = experiments.experiment(SEED, number, attempt)
        with open(f"{folder}/e.yaml", "w", encoding="utf-8") as file:
            file.write(config)
        told = ask(folder, "run", "e.yaml", "-j", "0", "-o", "run", *only)
        if told is not None:
            return study, told
    raise AssertionError(f"no attempt of experiment {number} is accepted")


def of_two_builds(folder):
    """Another program has measured the rows of every second method; what the run says then."""
    base = sqlite3.connect(f"{folder}/run/results.sqlite")
    base.execute("INSERT INTO manifests (build, executable, text) SELECT build, 'another', text FROM manifests LIMIT 1")
    base.execute("UPDATE results SET manifest = (SELECT max(id) FROM manifests) WHERE position % 2 = 1")
    base.commit()
    base.close()
    return ask(folder, "run", "e.yaml", "-j", "0", "-o", "run")


def without_why(line):
    """Without the reason, which names what to ask as its caller spells that."""
    return {name: value for name, value in line.items() if name != "why"}


def agrees(text, number):
    """Whether the three digits of a text are those of the number, which may be "inf"."""
    number = float(number)
    return float(text) == number or abs(float(text) - number) <= 5.01e-3 * abs(number)


class OneAnswer(unittest.TestCase):

    def check_line(self, shown, line):
        """What a table for people shows of an answer: ratio, verdict, and the interval of all lines together."""
        self.assertEqual(line["verdict"], re.match("[a-z]+", shown["verdict"]).group())
        if line["ratio"] is None:
            self.assertEqual(shown["ratio"], "-")
        else:
            self.assertTrue(agrees(shown["ratio"].rstrip("?~!"), line["ratio"]))
        if shown["interval"].startswith("["):
            ends = shown["interval"].strip("[]").split(", ")
            self.assertTrue(agrees(ends[0], line["joint_low"]) and agrees(ends[1], line["joint_high"]))
        else:
            self.assertIn(line["joint_low"], (None, float("-inf")))

    def check_run(self, folder, study, told):
        """Returns how many lines have which verdict."""
        run, text = nysbench.Run(f"{folder}/run"), ask(folder, "compare", "run")
        reported = Tables(ask(folder, "report", "run", "--format", "html", "-o", "-")).tables
        if text is None:  # there is nothing to compare
            self.assertFalse([table for table in reported if "bootstrap" in table[0]])
            return collections.Counter()
        self.assertIn(text.rstrip("\n"), told)
        lines = json.loads(ask(folder, "compare", "run", "--format", "json"))
        answers = run.compare(full=True, by_model=True)
        self.assertEqual([without_why(line) for line in answers], [without_why(line) for line in lines])
        full = Tables(ask(folder, "compare", "run", "--full", "--by-model", "--format", "html")).tables
        for shown, line in zip(sum(full, []), lines, strict=True):
            with self.subTest(shown=shown):
                self.check_line(shown, line)
        pool = [f"--pool={POOLED[study]}"] if len({line.get(POOLED.get(study)) for line in lines}) > 1 else []
        for view in ["--by-model"], ["--by-model", "--full"]:
            for table in Tables(ask(folder, "compare", "run", *view, *pool, "--format", "html")).tables:
                self.assertIn(table, reported)
        return collections.Counter(line["verdict"] for line in lines)

    def test_random_runs(self):
        found = collections.Counter()
        for number in range(EXPERIMENTS):
            with self.subTest(number=number), tempfile.TemporaryDirectory() as folder:
                study, told = measured(folder, number)
                found += self.check_run(folder, study, told)
                if number % 4 == 0:
                    found += self.check_run(folder, study, of_two_builds(folder))
        for verdict in ("better", "worse", "undecided", "none", "refused", "exact"):
            self.assertGreater(found[verdict], 0, found)


if __name__ == "__main__":
    tap.main()
