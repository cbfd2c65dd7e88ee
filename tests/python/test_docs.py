# SPDX-License-Identifier: GPL-3.0-or-later
"""The snippets of docs/python.md run, one after another. usage: test_docs.py"""
import contextlib
import importlib.util
import io
import os
import re
import subprocess
import tempfile
import unittest

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


if __name__ == "__main__":
    tap.main()
