# SPDX-License-Identifier: GPL-3.0-or-later
"""The snippets of docs/python.md run, one after another. usage: test_docs.py"""
import contextlib
import doctest
import importlib.util
import io
import json
import os
import re
import subprocess
import tempfile
import unittest
import warnings

import numpy as np

import notebook
import nysbench
import tap

CONFIG = """name: rows
problems: gaussian(n=24, d=4)
strategies: [uniform, kmeans]
landmarks: [4]
cores: [svd]
plots: []
"""


class Snippets(unittest.TestCase):
    def test_all(self):
        with open("docs/python.md") as file:
            snippets = re.findall(r"^```(python.*?)\n(.*?)^```$", file.read(), re.M | re.S)
        self.assertGreater(len(snippets), 6)
        have = {"python": True, "python pandas": importlib.util.find_spec("pandas") is not None, "python torch": False}
        printed, names = io.StringIO(), {}
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed):
            config, run = os.path.join(folder, "rows.yaml"), os.path.join(folder, "run")
            with open(config, "w") as file:
                file.write(CONFIG)
            subprocess.run([nysbench.program(), "run", config, "-q", "-o", run], check=True, capture_output=True)
            for kind, snippet in snippets:
                if have[kind]:
                    exec(compile(snippet.replace("results/NAME", run), "docs/python.md", "exec"), names)
        self.assertIn("'kmeans'?", printed.getvalue())  # instead of what was written
        self.assertEqual(len(names["tokens"]), 16)
        self.assertEqual(names["approximate"].shape, (8, 256, 32))


class Notebook(unittest.TestCase):
    def test_outputs(self):
        """The cells give what is stored; tests/python/notebook.py --renew stores what they give now."""
        stored = notebook.read()
        cells = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
        outputs, values = notebook.run(stored)
        for cell, made, value in zip(cells, outputs, values):
            with self.subTest("".join(cell["source"])):
                self.assertIsNone(notebook.difference(cell["outputs"], made, value))
        self.assertGreaterEqual(sum("<img" in str(made) for made in outputs), 2)
        self.assertGreaterEqual(sum(bool(cell["outputs"]) for cell in cells), 4)

    def test_what_differs_is_found(self):
        """Another number, word or line in a stored output."""
        cells = [cell for cell in notebook.read()["cells"] if cell.get("outputs")]
        text = json.dumps(cells)
        outputs = [cell["outputs"] for cell in cells]
        self.assertEqual([notebook.difference(one, one, None) for one in outputs], [None] * len(outputs))
        for old, new in (("Below", "Above"),
                         ("uniform, ", "kmeans, "),
                         ("error: 0", "error: 1"), ("undecided", "better"), ("kmeans", "k-means")):
            self.assertIn(old, text)
            changed = json.loads(text.replace(old, new))
            self.assertTrue(any(notebook.difference(cell["outputs"], one, None) for cell, one in zip(changed, outputs)),
                            old)
        frame = next(page for one in outputs for output in one
                     for page in ["".join(output.get("data", {}).get("text/html", ""))]
                     if 'class="dataframe"' in page)
        rows = [dict(enumerate(row)) for row in notebook.Texts(frame).rows if row]
        self.assertTrue(notebook.table_alike(frame, rows))
        self.assertFalse(notebook.table_alike(frame, rows[1:]))
        self.assertFalse(notebook.table_alike(frame, [{**row, 0: "other"} for row in rows]))


class Docstrings(unittest.TestCase):
    def test_examples(self):
        left = {"version", "effect", "patch"}  # which tests/python_long/test_effect.py runs, with a model
        names = [name for name in nysbench.__all__ if name not in left
                 and (name != "rows" or importlib.util.find_spec("pandas"))]
        examples = [test for name in names for test in doctest.DocTestFinder(recurse=False).find(
            getattr(nysbench, name), name, globs={"np": np, "nysbench": nysbench, "os": os}, module=False)]
        self.assertGreaterEqual(sum(bool(test.examples) for test in examples), 12)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # landmarks of noise are no better than a constant
            for test in examples:
                with self.subTest(test.name):
                    said = io.StringIO()
                    self.assertEqual(doctest.DocTestRunner().run(test, out=said.write).failed, 0, said.getvalue())


if __name__ == "__main__":
    tap.main()
