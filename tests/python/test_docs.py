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
        self.assertIn("did you mean 'kmeans'?", printed.getvalue())
        self.assertEqual(len(names["tokens"]), 16)
        self.assertEqual(names["approximate"].shape, (8, 256, 32))


class Notebook(unittest.TestCase):
    def test_cells(self):
        with open("docs/notebook.ipynb") as file:
            cells = ["".join(cell["source"]) for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
        before, names = os.getcwd(), {}
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            os.chdir(folder)  # it needs no checkout
            try:
                for cell in cells:
                    exec(compile(cell, "docs/notebook.ipynb", "exec"), names)
                self.assertTrue(os.path.exists("comparison.tex"))
            finally:
                os.chdir(before)
        self.assertIn("sinks_and_norm", repr(names["run"]))
        self.assertIn("<img", names["run"]._repr_html_())


class Docstrings(unittest.TestCase):
    def test_examples(self):
        left = {"version", "effect", "patch"}  # which tests/python_long/test_effect.py runs, with a model
        names = [name for name in nysbench.__all__ if name not in left and (name != "rows" or importlib.util.find_spec("pandas"))]
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
