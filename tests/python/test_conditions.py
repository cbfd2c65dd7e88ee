# SPDX-License-Identifier: GPL-3.0-or-later
"""One question, COLUMN=VALUE, through each door: --where of table, compare and plot, --only of run, `exclude` and the
`where` of a claim in a config, and where= in Python select the same rows, or fail with the same text.
usage: test_conditions.py
"""
import csv
import json
import os
import re
import subprocess
import tempfile

import golden
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

# Questions that mean no row, or nothing. Rules of `exclude` may mean no row.
ABSENT = [
    ("strategy", "segment_means"),
    ("strategy", "kmeans(restarts=3)"),
    ("landmarks", "5"),
    ("landmarks", "[4, 5..7]"),
    ("trial", "7"),
    ("strategy_label", "by_row"),
    ("layer", "3"),
]
WRONG = [
    ("strategi", "uniform"),
    ("error", "0.5"),
    ("strategy", "unifrom"),
    ("strategy", "by_row"),
    ("strategy", "kmeans(restart=4)"),
    ("problem", "heads(head=1)"),
    ("landmarks", "many"),
    ("landmarks", "4-8"),
    ("landmarks", "8..4"),
    ("landmarks", "[4, ]"),
    ("pairing", "bothe"),
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


class Doors(golden.Case):
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
        self.assertIn(str(len(meant)), re.findall(r"\d+", planned))
        part = tempfile.mkdtemp(dir=folder.name)
        program("run", config, "-q", "--set", claim(column, text), "-o", part)
        found = json.loads(program("claims", part, "-f", "json"))[0]["estimate"]
        self.assertAlmostEqual(found, sum(float(row["error"]) for row in meant) / len(meant), delta=1e-6 * abs(found))

    def test_same_error(self):
        for column, text in ABSENT + WRONG:
            with self.subTest(question=f"{column}={text}"):
                question = f"{column}={text}"
                with self.told(nysbench.ArgumentError) as failed:
                    nysbench.Run(run).compare(where={column: text})
                message = str(failed.exception)
                for command in (("table", run, "errors"), ("compare", run), ("plot", run, "error")):
                    self.assertEqual(program(*command, "--where", question, status=2), message)
                self.assertEqual(program("run", config, "--only", question, "-o", run, status=2),
                                 f"run: --only '{question}': {message}")
                self.assertTrue(program("plan", config, "--set", claim(column, text), status=2).endswith(message))

    def test_rules(self):
        for column, text in WRONG:
            with self.subTest(rule=f"{column}: {text}"):
                message = program("table", run, "errors", "--where", f"{column}={text}", status=2)
                self.assertTrue(program("plan", config, "--set", rule(column, text), status=2).endswith(message))
        for column, text in ABSENT:
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
        self.assertIn(str(sum(cell(row) in meant for row in rows)), re.findall(r"\d+", planned))


if __name__ == "__main__":
    tap.main()
