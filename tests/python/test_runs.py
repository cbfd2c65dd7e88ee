# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of a run, against the CSV of `nysbench export`. usage: test_runs.py

What makes a DataFrame of them is tested where pandas is; that it is missing, here.
"""
import copy
import csv
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import numpy as np

import golden
import nysbench
import tap
from nysbench import _result

CONFIG = """
problems: gaussian(n=24, d=4)
strategies: [uniform, kmeans]
landmarks: [4, 24]
cores: [svd, "iterative(steps=2)"]
trials: 2
plots: []
"""

try:
    import pandas
except ImportError:
    pandas = None


def setUpModule():
    global folder, run
    folder = tempfile.TemporaryDirectory()
    run = make(CONFIG, "a run")


def tearDownModule():
    folder.cleanup()


def make(config, name):
    """A run of its own, in a folder with a blank."""
    path = os.path.join(folder.name, name)
    with open(f"{path}.yaml", "w") as file:
        file.write(f"name: {name.replace(' ', '-')}\n{config}")
    subprocess.run([nysbench.program(), "run", f"{path}.yaml", "-q", "-o", path], check=True, capture_output=True)
    return path


def exported(run):
    text = subprocess.run([nysbench.program(), "export", run], check=True, capture_output=True, text=True).stdout
    return list(csv.DictReader(text.splitlines()))


class Arrays(golden.Case):
    def check(self, run):
        found, expected = nysbench.row_arrays(run), exported(run)
        self.assertEqual(list(found), list(expected[0]))
        for column, array in found.items():
            texts = [row[column] for row in expected]
            with self.subTest(column=column):
                self.assertEqual(len(array), len(texts))
                if array.dtype == object:
                    self.assertEqual([text or "" for text in array], texts)
                else:
                    np.testing.assert_array_equal(array, [float(text or "nan") for text in texts])
        return found

    def test_every_cell_is_the_csv_s(self):
        found = self.check(run)
        self.assertEqual(len(found["error"]), 16)
        self.assertEqual(sorted(set(found["strategy_label"])), ["kmeans", "uniform"])
        self.assertEqual(sorted(set(found["core_label"])), ["iterative(steps=2)", "svd"])
        for column, dtype in (("landmarks", np.int64), ("seed", np.int64), ("error", np.float64), ("strategy", object),
                              ("model", object), ("reason", object), ("output_error", np.float64)):
            self.assertEqual(found[column].dtype, dtype, column)

    def test_times_that_are_all_empty(self):
        found = self.check(make(CONFIG + "factors: cur\n", "without B"))
        self.assertEqual(found["forward_s"].dtype, np.float64)
        self.assertTrue(np.isnan(found["forward_s"]).all())

    def test_infinite_numbers(self):
        """Zeros have a cluster of rank 0: mu_block is infinite."""
        zeros = np.zeros((1, 24, 4))
        zeros[0, :12] = np.random.default_rng(1).standard_normal((12, 4))
        heads = os.path.join(folder.name, "heads")
        os.mkdir(heads)
        np.save(os.path.join(heads, "q.npy"), zeros)
        np.save(os.path.join(heads, "k.npy"), zeros)
        found = self.check(
            make(f"study: coherence\nproblems: heads(file=\"{heads}\")\npartitions: segments\nclusters: 2\nplots: []\n",
                 "ranks"))
        self.assertEqual(found["mu_block"].dtype, np.float64)
        self.assertTrue(np.isinf(found["mu_block"]).any())

    def test_mistakes(self):
        self.told(nysbench.FileError, nysbench.row_arrays, os.path.join(folder.name, "nowhere"))
        for path in "/nowhere/nysbench", run, "/etc/passwd":
            with mock.patch.dict(os.environ, NYSBENCH_PROGRAM=path):
                self.told(nysbench.FileError, nysbench.row_arrays, run)

    def test_units(self):
        for column, unit in (("select_s", "s"), ("peak_bytes", "B"), ("tokens_per_s", "1/s"), ("gflops_per_s", "1e9/s"),
                             ("error", None)):
            self.assertEqual(_result.unit(column), unit)

    def test_a_warning_of_the_program_is_one_here(self):
        script = os.path.join(folder.name, "program")
        with open(script, "w") as file:
            file.write(f"#!/bin/sh\necho 'nysbench: warning: rows of two builds' >&2\nexec '{nysbench.program()}' "
                       f"\"$@\"\n")
        os.chmod(script, 0o755)
        with mock.patch.dict(os.environ,
                             NYSBENCH_PROGRAM=script), self.told(UserWarning):
            nysbench.row_arrays(run)


class Plugins(unittest.TestCase):
    """A study of a plug-in: a Run of such an experiment has the plug-in; one of a folder has it if it is named."""

    def test_a_run_needs_its_plugin_to_be_named(self):
        with tempfile.TemporaryDirectory() as work:
            plugin = work + "/norms.so"
            subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-I.", "-Isrc", "-Istrategies", "-shared", "-fPIC",
                            "tests/cli/plugins/norms.c", "-o", plugin],
                           check=True)
            made = nysbench.run(study="norms", plugins=[plugin], problems="gaussian(n=40, d=4)", exponents=[1, 2],
                                trials=2, jobs=1,
                                folder=work + "/r", progress=False)
            for one in (made, copy.copy(made), pickle.loads(pickle.dumps(made)),
                        nysbench.Run(work + "/r", plugins=[plugin])):
                self.assertEqual(len(one.sql("SELECT * FROM run")), 8)
            with self.assertRaisesRegex(nysbench.Error, "add plugins=" + plugin):
                nysbench.Run(work + "/r").sql("SELECT * FROM run")
            with open(work + "/c.yaml", "w") as file:  # a path beside the file, which is found from anywhere
                file.write("study: norms\nplugins: norms.so\nproblems: gaussian(n=40, d=4)\nexponents: [1, 2]\ntrials: "
                           "2\nplots: []\n")
            made = nysbench.run(work + "/c.yaml", jobs=1, folder=work + "/f", progress=False)
            self.assertEqual([os.path.realpath(one) for one in made.plugins], [os.path.realpath(plugin)])
            self.assertEqual(len(made.sql("SELECT * FROM run")), 8)


class Frame(golden.Case):
    def test_without_pandas(self):
        program = "import sys; sys.modules['pandas'] = None; import nysbench; nysbench.rows(sys.argv[1])"
        done = subprocess.run([sys.executable, "-c", program, run], capture_output=True, text=True)
        self.tell(done.stderr.splitlines()[-1])

    @unittest.skipUnless(pandas, "pandas is not installed")
    def test_categories_units_and_meanings(self):
        frame, arrays = nysbench.rows(run), nysbench.row_arrays(run)
        self.assertEqual(list(frame.columns), list(arrays))
        for column in ("strategy", "core", "strategy_label", "status", "model"):
            self.assertEqual(frame[column].dtype.name, "category", column)
        self.assertEqual(list(frame["strategy"]), list(arrays["strategy"]))
        self.assertTrue(frame["model"].isna().all())
        self.assertNotEqual(frame["reason"].dtype.name, "category")
        np.testing.assert_array_equal(frame["error"], arrays["error"])
        self.assertEqual(len(frame.groupby(["strategy", "core"], observed=True)["error"].mean()), 4)
        self.assertEqual((frame.attrs["run"], frame.attrs["units"]["select_s"]), (run, "s"))
        self.tell(frame.attrs["meanings"]["select_s"])


if __name__ == "__main__":
    tap.main()
