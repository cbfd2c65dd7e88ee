# SPDX-License-Identifier: GPL-3.0-or-later
"""One question, COLUMN=VALUE, through each door: --where of table, compare and plot, --only of run, `exclude` and the
`where` of a claim in a config, and where= in Python select the same rows, or fail with the same text.
usage: test_conditions.py
"""
import csv
import json
import os
import subprocess
import tempfile
import unittest

import nysbench
import tap

CONFIG = """
problems: ["gaussian(n=24, d=4)", "gaussian(n=26, d=4)"]
strategies: [uniform, uniform(strided=true), 'kmeans(restarts=4, label="k-means, again")', leverage(label=by_rows)]
landmarks: [4, 8, 16]
cores: [svd, svd(rcond=0.1)]
factors: nystromformer
pairing: joint
metrics: [error]
trials: 3
plots: []
"""

# A question and the rows of the CSV that it means.
QUESTIONS = [
    ("strategy", "uniform", lambda row: row["strategy"].startswith("uniform")),
    ("strategy", "uniform(strided=true)", lambda row: "strided=true" in row["strategy"]),
    ("strategy", "kmeans", lambda row: row["strategy"].startswith("kmeans")),
    ("strategy", "kmeans(init=plusplus)", lambda row: row["strategy"].startswith("kmeans")),
    ("strategy", "k-means, again", lambda row: row["strategy"].startswith("kmeans")),
    ("strategy", '"k-means, again"', lambda row: row["strategy"].startswith("kmeans")),
    ("strategy", "by_rows", lambda row: row["strategy"].startswith("leverage")),
    ("strategy", "by_rows, oracle", lambda row: row["strategy"].startswith("leverage")),
    ("strategy", "[by_rows, uniform(strided=true)]",
     lambda row: row["strategy"].startswith("leverage") or "strided=true" in row["strategy"]),
    ("strategy_label", "uniform", lambda row: "strided=false" in row["strategy"]),
    ("problem", "gaussian(n=24)", lambda row: row["n"] == "24"),
    ("core", "svd(rcond=0.10)", lambda row: "rcond=0.1" in row["core"]),
    ("landmarks", "4..8", lambda row: row["landmarks"] in ("4", "8")),
    ("landmarks", "[4, 16]", lambda row: row["landmarks"] in ("4", "16")),
    ("landmarks", "2^3..2^4", lambda row: row["landmarks"] in ("8", "16")),
    ("pairing", "joint", lambda row: True),
    ("model", "''", lambda row: True),
    ("n", "26", lambda row: row["n"] == "26"),
    ("trial", "1..2", lambda row: row["trial"] in ("1", "2")),
]

# A question and what all doors say of it. Rules of `exclude` may mean no row.
ABSENT = [
    ("strategy", "segment_means", "strategy=segment_means: the run has no such row; it has uniform, "
     "uniform(strided=true), k-means, again, by_rows"),
    ("strategy", "kmeans(restarts=3)", "strategy=kmeans(restarts=3): the run has no such row; it has uniform, "
     "uniform(strided=true), k-means, again, by_rows"),
    ("landmarks", "5", "landmarks=5: the run has no such row; it has 4, 8, 16"),
    ("landmarks", "[4, 5..7]", "landmarks=5..7: the run has no such row; it has 4, 8, 16"),
    ("trial", "7", "trial=7: the run has no such row; it has 0..2"),
    ("strategy_label", "by_row", "strategy_label=by_row: the run has no such row; did you mean 'by_rows'?"),
    ("layer", "3", "layer=3: the run has no such row; it has ''"),
]
WRONG = [
    ("strategi", "uniform", "no column 'strategi' that rows can be selected by; did you mean 'strategy'?"),
    ("error", "0.5", "no column 'error' that rows can be selected by; the nearest: kernel, trial, layer"),
    ("strategy", "unifrom", "strategy=unifrom: the run has no such row; did you mean 'uniform'?"),
    ("strategy", "by_row", "strategy=by_row: the run has no such row; did you mean 'by_rows'?"),
    ("strategy", "kmeans(restart=4)", "kmeans has no option 'restart'; did you mean 'restarts'?"),
    ("problem", "heads(head=1)", "problem: the column 'head' names heads, not the option 'head'"),
    ("landmarks", "many", "landmarks=many: expected a whole number, or a range as 8..64 step 8"),
    ("landmarks", "4-8", "landmarks=4-8: expected a whole number, or a range as 8..64 step 8; did you mean '4..8'?"),
    ("landmarks", "8..4", "landmarks: '8..4' ends before it begins"),
    ("landmarks", "[4, ]", "landmarks: a value is missing"),
    ("pairing", "bothe", "pairing: 'bothe' is unknown; did you mean 'both'?"),
]


def setUpModule():
    global folder, config, run, rows
    folder = tempfile.TemporaryDirectory()
    config, run = (os.path.join(folder.name, name) for name in ("c.yaml", "run"))
    with open(config, "w", encoding="utf-8") as file:
        file.write(CONFIG)
    program("run", config, "-q", "-o", run)
    with open(os.path.join(run, "rows.csv"), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))


def tearDownModule():
    folder.cleanup()


def program(*arguments, status=0):
    """What it prints, or the text of its error."""
    done = subprocess.run([nysbench.program(), *arguments], capture_output=True, encoding="utf-8",
                          env={**os.environ, "COLUMNS": "200"})
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    if status == 0:
        return done.stdout
    return [line.removeprefix("nysbench: error: ") for line in done.stderr.splitlines() if "error: " in line][0]


def claim(column, text):
    where = json.dumps({column: text})
    return f"claims=[{{says: it, measure: {{metric: error, where: {where}}}, expect: {{value: [0, 1e9]}}}}]"


def rule(column, text):
    return f"exclude={json.dumps({column: text})}"


def cell(row):
    return row["problem"], row["strategy"], row["core"], row["landmarks"]


class Doors(unittest.TestCase):
    def test_same_rows(self):
        for column, text, means in QUESTIONS:
            with self.subTest(question=f"{column}={text}"):
                self.check_rows(f"{column}={text}", column, text, [row for row in rows if means(row)])

    def check_rows(self, question, column, text, meant):
        self.assertTrue(meant)
        cells = {cell(row) for row in meant}
        table = list(csv.DictReader(program("table", run, "errors", "-f", "csv", "--where", question).splitlines()))
        self.assertEqual({cell(row) for row in table}, cells)
        self.assertEqual(sum(int(row["planned"]) for row in table), len(meant))
        frame = nysbench.Run(run).table("errors", where={column: text})
        lines = frame if isinstance(frame, list) else frame.to_dict("records")
        self.assertEqual({cell({**row, "landmarks": str(row["landmarks"])}) for row in lines}, cells)
        compared = json.loads(program("compare", run, "--by", "core", "--where", question, "-f", "json")
                              if len({row["core"] for row in meant}) > 1 else "[]")
        self.assertEqual({str(line["landmarks"]) for line in compared},
                         {row["landmarks"] for row in meant} if compared else set())
        other = os.path.join(folder.name, "other")
        plan = json.loads(program("plan", config, "-f", "json", "--set", rule(column, text), "-o", other)
                          if len(meant) < len(rows) else '[{"rows": 0}]')
        self.assertEqual(plan[0]["rows"], len(rows) - len(meant))
        planned = program("run", config, "--dry-run", "--only", question, "-o", other)
        self.assertIn(f" {len(meant)} are to run", planned)
        part = tempfile.mkdtemp(dir=folder.name)
        program("run", config, "-q", "--set", claim(column, text), "-o", part)
        found = json.loads(program("claims", part, "-f", "json"))[0]["estimate"]
        self.assertAlmostEqual(found, sum(float(row["error"]) for row in meant) / len(meant), delta=1e-6 * abs(found))

    def test_same_error(self):
        for column, text, message in ABSENT + WRONG:
            with self.subTest(question=f"{column}={text}"):
                question = f"{column}={text}"
                for command in (("table", run, "errors"), ("compare", run), ("plot", run, "error")):
                    self.assertEqual(program(*command, "--where", question, status=2), message)
                with self.assertRaises(nysbench.ArgumentError) as failed:
                    nysbench.Run(run).compare(where={column: text})
                self.assertEqual(str(failed.exception), message)
                self.assertEqual(program("run", config, "--only", question, "-o", run, status=2),
                                 f"run: --only '{question}': {message}")
                self.assertTrue(program("plan", config, "--set", claim(column, text), status=2).endswith(message))

    def test_rules(self):
        for column, text, message in WRONG:
            with self.subTest(rule=f"{column}: {text}"):
                self.assertTrue(program("plan", config, "--set", rule(column, text), status=2).endswith(message))
        for column, text, _ in ABSENT:
            with self.subTest(rule=f"{column}: {text}"):
                program("plan", config, "--set", rule(column, text))

    def test_several(self):
        """Conditions on one column add up, those on several are all met; each may stand by itself."""
        def listed(*options):
            return {cell(row)
                    for row in csv.DictReader(program("table", run, "errors", "-f", "csv", *options).splitlines())}
        meant = {cell(row) for row in rows if row["strategy"].startswith("kmeans") and row["landmarks"] in ("4", "16")}
        self.assertEqual(listed("--where", "strategy=k-means, again, landmarks=4, landmarks=16"), meant)
        self.assertEqual(listed("--where", "strategy=kmeans", "--where", "landmarks=4", "--where", "landmarks=16"),
                         meant)
        frame = nysbench.Run(run).table("errors", where={"strategy": ["k-means, again"], "landmarks": [4, 16]})
        lines = frame if isinstance(frame, list) else frame.to_dict("records")
        self.assertEqual({cell({**row, "landmarks": str(row["landmarks"])}) for row in lines}, meant)
        planned = program("run", config, "--dry-run", "--only", "strategy=k-means, again, landmarks=4, landmarks=16",
                          "-o",
                          os.path.join(folder.name, "other"))
        self.assertIn(f" {sum(cell(row) in meant for row in rows)} are to run", planned)


if __name__ == "__main__":
    tap.main()
