# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole experiments from a session: the program's rows, functions as strategies, and how a run ends. usage:
test_run.py"""
import contextlib
import copy
import functools
import html
import importlib.util
import io
import json
import os
import pickle
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import warnings
from pathlib import Path
from unittest import mock

import numpy as np

import golden
import nysbench
import tap
from nysbench._functions import digest, unfollowed

INPUTS, HEADS, N, D = 3, 2, 40, 6
RNG = np.random.default_rng(11)
Q, K, V = (RNG.standard_normal((INPUTS, HEADS, N, D)) for _ in range(3))
SAME = {"heads": {"a layer": (Q, K, V)}, "cores": "svd(rcond=0.01)", "landmarks": [4, 8], "trials": 2,
        "progress": False}


def evenly(points, m):
    """What `uniform(strided=true)` picks."""
    return ((np.arange(m) + 0.5) * len(points) / m).astype(int)


def first(keys, m):
    return np.arange(m)


def run(strategies, **more):
    return nysbench.run(strategies=strategies, **{**SAME, **more})


def column(run, name, **where):
    arrays = nysbench.row_arrays(run.folder)
    return arrays[name][np.all([arrays[key] == value for key, value in where.items()], axis=0)] if where \
        else arrays[name]


def matplotlib_works():
    try:
        importlib.import_module("matplotlib.figure")
    except ImportError:
        return False
    return True


def processes(text):
    """Those whose command line or environment has a text."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if text.encode() in (place / "cmdline").read_bytes() + (place / "environ").read_bytes():
                found.append(int(place.name))
    return found


def gone(text):
    """Whether they end within a minute, which a kill of the session gives a loaded machine."""
    for _ in range(1200):
        if not processes(text):
            return True
        time.sleep(0.05)
    return False


def records(table):
    """The lines of what is a DataFrame where there is pandas."""
    return table if isinstance(table, list) else table.to_dict("records")


class Folders(golden.Case):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = os.path.join(place.name, "run")


class Rows(Folders):
    def test_same_as_the_program(self):
        """Of the same arrays in a file, but for times."""
        found = run(["uniform", "kmeans"], folder=self.folder)
        again = self.folder + "-again"
        subprocess.run([nysbench.program(), "run", os.path.join(self.folder, "experiment.yaml"), "-q", "-o", again],
                       check=True,
                       capture_output=True)
        one, other = nysbench.row_arrays(found.folder), nysbench.row_arrays(again)
        self.assertEqual(list(one), list(other))
        self.assertEqual(len(one["error"]), INPUTS * HEADS * 2 * 2 * 2)
        for name in one:
            if not name.endswith("_s"):
                np.testing.assert_array_equal(one[name], other[name], name)
        self.assertEqual(set(one["source"]), {"input-0", "input-1", "input-2"})
        self.assertEqual(set(one["problem_label"]), {"a layer"})

    def test_function_and_its_twin_in_c(self):
        found = run(["uniform(strided=true)", evenly], folder=self.folder)
        for m in SAME["landmarks"]:
            twin, own = (column(found, "error", strategy_label=label, landmarks=m)
                         for label in ("uniform(strided=true)", "evenly"))
            self.assertEqual(len(own), INPUTS * HEADS)
            np.testing.assert_array_equal(own, twin[: len(own)])

    def test_shapes_and_types(self):
        """A head alone, heads, float32 and float16, keys that heads share; float16 is exact here."""
        q, k, v = (np.round(x[0] * 16) / 16 for x in (Q, K, V))
        for given in ((q[0], k[0], v[0]), (q, k[:1], v[:1]), (q[0], k[0])):
            wide = run("uniform(strided=true)", heads=given, trials=1)
            narrow = run("uniform(strided=true)", heads=[x.astype(np.float16) for x in given], trials=1)
            np.testing.assert_array_equal(column(wide, "error"), column(narrow, "error"))
            measured = nysbench.measure(*given, strategy="uniform(strided=true)", landmarks=4, cores=SAME["cores"])
            np.testing.assert_array_equal(column(wide, "error", landmarks=4), [row["error"] for row in measured])

    def test_lists_of_inputs(self):
        """(q, k, v) of each, as tuples or dicts, are those of the stacked arrays."""
        expected = column(run("uniform(strided=true)"), "error")
        inputs = list(zip(Q, K, V))
        for given in (inputs, [dict(zip("qkv", one)) for one in inputs], ([*Q], [*K], [*V]),
                      [x.tolist() for x in (Q, K, V)]):
            found = run("uniform(strided=true)", heads={"a layer": given})
            self.assertEqual(set(column(found, "source")), {"input-0", "input-1", "input-2"})
            np.testing.assert_array_equal(column(found, "error"), expected)
        heads = run("uniform(strided=true)", heads=[(q[0], k[0]) for q, k in zip(Q, K)])  # one of each input
        self.assertEqual((set(column(heads, "source")), set(column(heads, "head"))),
                         ({"input-0", "input-1", "input-2"}, {0, 1, 2}))

    def test_a_doubtful_layout(self):
        """Heads behind tokens, as FlashAttention has them, of several inputs as of one."""
        q, k = (np.random.default_rng(1).standard_normal((2, 3, 20, 8, 4)))
        for given in (q, k), (q[0], k[0]):
            with self.told(UserWarning):
                run("uniform(strided=true)", heads=given, landmarks=4)

    def test_what_gives_its_values_in_an_order_is_a_list(self):
        found = run((name for name in ["uniform", "kmeans"]), landmarks=dict.fromkeys([8, 4]).keys(),
                    sources=iter("abc"))
        self.assertEqual(set(column(found, "strategy")),
                         {"uniform(strided=false)", column(run("kmeans"), "strategy")[0]})
        self.assertEqual((set(column(found, "landmarks")), set(column(found, "source"))), ({4, 8}, {"a", "b", "c"}))

    def test_what_is_not_allowed_and_what_is_not_there(self):
        found = run(["uniform", "kmeans"], folder=self.folder)
        for ask in (lambda: found.compare(metric="eror"), lambda: found.compare(baseline="unifrom"),
                    lambda: found.table("erors"),
                    lambda: found.sql("SELECT eror FROM run")):
            self.assertRaises(nysbench.ArgumentError, ask)
        self.assertRaises(nysbench.FileError, nysbench.Run(self.folder + "-nowhere").compare)
        self.told(TypeError, lambda: found.compare(full="no"))
        self.told(TypeError, lambda: found.compare(by_model="no"))

    def test_messages_name_keywords(self):
        """Where the command line has options: of an error of the program, and of an answer to a question."""
        config = self.folder + ".yaml"
        Path(config).write_text("problems: gaussian(n=30, d=4)\nstrategies: [kmeans, \"uniform\"]\ncores: "
                                "[svd, fitted]\nlandmarks: 5\ntrials: 2\nplots: []\n")
        found = nysbench.run(config, folder=self.folder, progress=False)
        with self.told(nysbench.ArgumentError):
            nysbench.run(config, draws="shared", folder=self.folder, progress=False)
        asked = subprocess.run([nysbench.program(), "run", config, "--set", "draws=shared", "-o", self.folder],
                               capture_output=True, check=False, encoding="utf-8")
        self.show(asked.stderr)
        nysbench.run(config, draws="shared", folder=self.folder, fresh=True, progress=False)
        with self.told(nysbench.ArgumentError):
            nysbench.run(config, trials=-1, folder=self.folder, progress=False)
        for line in records(found.compare(by="core")):
            self.tell(line["why"])

    def test_mistakes_are_told_by_keywords(self):
        """Where the command line has options, also in what belongs to a mistake: a hint, how the command is used."""
        keys = {"problems": "gaussian(n=24, d=4)", "strategies": ["uniform", "kmeans"], "cores": "svd", "landmarks": 4,
                "plots": [], "progress": False}
        found = nysbench.run(folder=self.folder, **keys)
        nowhere = f"{self.folder}/nowhere"
        for ask in (
                lambda: found.compare(by="no"),
                lambda: found.compare(metric="no"),
                lambda: found.compare(confounded="no"),
                lambda: found.compare(pool="no"),
                lambda: found.compare(failures="no"),
                lambda: found.compare(margin="no"),
                lambda: found.compare(resamples=-1),
                lambda: found.compare(where={"strategy": "kmeans"}),
                lambda: found.compare(poool=1),
                lambda: found.plot("ratio", m=4),
                lambda: found.plot("ratio", trial=0),
                lambda: found.plot("ratio", width="page"),
                lambda: found.plot("ratio", dots="no"),
                lambda: found.report(nowhere),
                lambda: found.report(f"{nowhere}/a.html"),
                lambda: nysbench.run(jobs=-1, **keys),
                lambda: nysbench.run(retry="no", **keys),
                lambda: nysbench.run(jobs=0, timeout=3, **keys),
                lambda: nysbench.suite("kmeans", tuned="no", progress=False)):
            with self.told(nysbench.ArgumentError) as raised:
                ask()
            self.assertNotRegex(str(raised.exception), r"(^| )--?\w|usage:")
        found.to_latex(self.folder + ".tex", where={"trial": 0})
        self.assertIn("Exploratory (where)", Path(self.folder + ".tex").read_text())

    def test_config_from_a_file(self):
        path = self.folder + ".yaml"
        Path(path).write_text(
            "problems: gaussian(n=30, d=4)\nstrategies: kmeans\ncores: svd\nlandmarks: 5\nplots: []\n")
        found = nysbench.run(path, strategies=["uniform", first_points], trials=2, folder=self.folder, progress=False)
        self.assertEqual(set(column(found, "strategy_label")), {"uniform", "first_points"})
        self.assertIn("first_points", found.config)

    def test_keys_of_a_config(self):
        found = run(["uniform", "segment_means"], landmarks=range(4, 9, 4), seed=np.int64(5),
                    claims=[{"says": "better", "compare": {"strategy": ["segment_means", "uniform"], "metric": "error"},
                             "expect": {"ratio": [0, 1]}}])
        self.assertEqual(set(column(found, "landmarks")), {4, 8})
        self.assertEqual(set(column(found, "seed")), {5})
        self.assertEqual(len(found.claims()), 1)


class Functions(Folders):
    def test_pairing_is_what_functions_look_at(self):
        found = run(["uniform", "kmeans", first])
        self.assertEqual(set(column(found, "pairing")), {"keys"})
        self.assertEqual(len(found.notes), 1)
        self.tell(found.notes[0])
        self.assertEqual(set(column(run(["uniform", first_points]), "pairing")), {"joint"})
        self.assertEqual(set(column(run(["uniform", lambda queries, keys, m: range(m)]), "pairing")), {"joint"})
        self.assertEqual(set(column(run([first], pairing="joint"), "pairing")), {"joint"})
        generator = np.random.default_rng(1)  # which cannot be told from another: a function of its own in each call
        found = run([lambda keys, m: generator.permutation(len(keys))[:m]])
        self.assertEqual(set(column(found, "pairing")), {"keys"})

    def test_what_is_done_is_not_done_again(self):
        path = os.path.join(os.path.dirname(self.folder), "picks")

        def counted(points, m):
            if len(points) == N:  # and not when the program asks how long a pick takes
                with open(path, "a") as file:
                    file.write(".")
            return range(m)

        with self.told(UserWarning):
            run(["uniform", counted], folder=self.folder)
        calls = INPUTS * HEADS * 2 + 1  # the first twice: whether it returns the same
        self.assertEqual(os.path.getsize(path), calls)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # it is said once in a folder, and not of one that goes with the Run
            run(["uniform", counted, "kmeans"], folder=self.folder)
            self.assertEqual(os.path.getsize(path), calls)
            run(["uniform", counted])

    def test_what_is_known_of_programs_is_said_once_in_a_folder_that_stays(self):
        picker = Path(self.folder + ".py")
        picker.write_text(
            "import json, numpy\nnumpy.save('picks.npy', numpy.arange(json.load(open('request.json'))['m']))\n")
        command = f'command(run="{sys.executable} {picker}", deterministic=true)'
        with self.told(UserWarning):
            run(command, folder=self.folder, trials=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            run(command, folder=self.folder)
            run(command)

    def test_a_changed_function_is_another(self):
        def from_token(start):
            return lambda points, m: np.arange(start, start + m)
        one = column(run([from_token(0)], folder=self.folder), "error")
        other = column(run([from_token(3)], folder=self.folder), "error")
        self.assertFalse(np.array_equal(one, other))

    def test_callables_without_a_name(self):
        """A functools.partial, an object, a method, a cached function and a lambda pick what their function picks."""
        shifted = functools.partial(first_from, start=3)
        with self.told(UserWarning):
            found = run([shifted, functools.partial(first_from, start=5), From(3), From(3).pick,
                         functools.lru_cache(first_points),
                         lambda points, m: range(3, 3 + m), functools.partial(From(0, most=4))])
        picks = {label: column(found, "error", strategy_label=label).tolist()
                 for label in set(column(found, "strategy_label"))}
        self.assertEqual(set(picks), {"first_from(start=3)", "first_from(start=5)", "From", "pick", "first_points",
                                      "lambda", "From 2"})
        for label in "From", "pick", "lambda":
            self.assertEqual(picks[label], picks["first_from(start=3)"], label)
        self.assertNotEqual(picks["first_from(start=5)"], picks["first_from(start=3)"])
        self.assertEqual(nysbench.select(Q[0, 0], 4, shifted).tokens.tolist(), [3, 4, 5, 6])
        self.assertEqual(nysbench.select(Q[0, 0], 4, From(3)).tokens.tolist(), [3, 4, 5, 6])
        wide = {"cores": [functools.partial(pinv_cut, rcond=0.01)], "strategies": "uniform(strided=true)", "trials": 1}
        self.assertEqual(set(column(nysbench.run(**{**SAME, **wide}), "core_label")), {"pinv_cut(rcond=0.01)"})
        with self.told(UserWarning):
            row, = nysbench.measure(Q[0, 0], K[0, 0], strategy=From(3), landmarks=4, cores=wide["cores"])
        self.assertEqual((row["strategy"], row["core"]), ("From", "pinv_cut(rcond=0.01)"))

    def test_nothing_of_a_run_is_executed(self):
        """Its folder may be on a file system without programs, and have a colon in its name."""
        found = run(["uniform", first_points], folder=self.folder + ":1")
        self.assertEqual(set(column(found, "status")), {"ok"})
        programs = [path for path in found.folder.rglob("*") if path.is_file() and path.stat().st_mode & 0o111]
        self.assertEqual(programs, [])

    def test_exceptions_are_reasons(self):
        def picky(points, m):
            if m == 8:
                raise LookupError("not <eight>")
            return range(m)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = run(["uniform", picky])
        self.assertEqual(len(caught), 1, [str(one.message) for one in caught])
        self.tell(caught[0].message)
        self.assertEqual(set(column(found, "status", strategy_label="picky", landmarks=8)), {"failed"})
        self.assertEqual(set(column(found, "status", strategy_label="picky", landmarks=4)), {"ok"})

    def test_warnings_of_a_program_that_fails_are_sentences(self):
        """The commands that repeat its rows in a shell are no part of them."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run(["uniform", 'command(run="false")'])
        self.assertTrue(caught)
        for one in caught:
            self.assertNotIn("\n", str(one.message))
            self.tell(one.message)

    def test_exceptions_with_odd_texts_are_reasons(self):
        def odd(points, m):
            raise ValueError("a\0b\udce9") if m == 4 else Mute()
        with self.told(UserWarning):
            found = run(["uniform", odd])
        for m in 4, 8:
            reason, = set(column(found, "reason", strategy_label="odd", landmarks=m))
            self.tell(reason)

    def test_random_functions_are_seeded(self):
        def drawn(points, m, rng):
            return rng.permutation(len(points))[:m]
        one, other = run([drawn], jobs=1), run([drawn], jobs=3)
        np.testing.assert_array_equal(column(one, "error"), column(other, "error"))
        self.assertEqual(len(set(column(one, "error"))), INPUTS * HEADS * 2 * 2)

    def test_what_draws_without_rng_is_told(self):
        """By a second call on one head; the exceptions are those that are the same, but for rounding, or name seed or
        rng."""
        calls = []

        def drawn(points, m):
            return np.random.permutation(len(points))[:m]

        def moved(points, m):
            return points[:m] + np.random.standard_normal((m, points.shape[1]))

        def shaken(points, m):
            return points[:m] * (1 + 1e-9 * np.random.standard_normal())

        def once(points, m):
            calls.append(m)
            if len(calls) > 1:
                raise LookupError
            return range(m)

        def inverse(A):
            return np.linalg.pinv(A, rcond=0.01) + np.random.standard_normal(A.shape)
        for function in drawn, moved, once:
            with self.subTest(function), self.told(UserWarning):
                run([function])
        with self.told(UserWarning):
            run("uniform", cores=inverse)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            run([shaken, first_points, lambda points, m, seed: np.random.permutation(len(points))[:m]])

    def test_functions_without_a_result_are_told(self):
        """Means of keys are no tokens, and the pairing that they need is named."""
        with self.told(UserWarning):
            run(["uniform", means])
        found = run([means], pairing="shared_keys", factors="nocore", cores="identity")
        self.assertEqual(set(column(found, "status")), {"ok"})

    @unittest.skipUnless(importlib.util.find_spec("cloudpickle"), "needs cloudpickle")
    def test_isolated(self):
        """In processes of their own, with the closure; the same rows, also from the shell."""
        here, shift = os.getpid(), 3

        def shifted(points, m):
            assert os.getpid() != here
            return np.arange(shift, shift + m)

        def same(points, m):
            return np.arange(3, 3 + m)

        def inverse(A):
            assert os.getpid() != here
            return np.linalg.pinv(A, rcond=shift / 100)

        one, other = run([shifted], isolate=True, folder=self.folder), run([same])
        np.testing.assert_array_equal(column(one, "error"), column(other, "error"))
        for strategy, cores in ((lambda points, m: np.arange(shift, shift + m), SAME["cores"]), (shifted, inverse)):
            again = run([strategy], cores=cores, isolate=True)
            self.assertEqual(set(column(again, "status")), {"ok"})
            np.testing.assert_allclose(column(again, "error"), column(run([same], cores="svd(rcond=0.03)") if
                                                                      cores is inverse else other, "error"), rtol=1e-6)
        command = one.config.splitlines()[1].removeprefix("# From the shell: ").replace("nysbench run",
                                                                                        f"{nysbench.program()} run")
        done = subprocess.run(["sh", "-c", f"{command} -q -o {self.folder}2"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        np.testing.assert_array_equal(column(nysbench.Run(self.folder + "2"), "error"), column(other, "error"))

    @unittest.skipUnless(importlib.util.find_spec("ml_dtypes"), "needs ml_dtypes")
    def test_bfloat16(self):
        import ml_dtypes
        q = Q[0, 0].astype(ml_dtypes.bfloat16)
        found = [run("uniform(strided=true)", heads=(x, x), trials=1) for x in (q, q.astype(np.float64))]
        np.testing.assert_array_equal(*(column(one, "error") for one in found))

    def test_a_core(self):
        def pinv(A):
            return np.linalg.pinv(A, rcond=0.01)
        found = run("uniform(strided=true)", cores=["svd(rcond=0.01)", pinv], trials=1)
        own = column(found, "error", core_label="pinv")
        twin = column(found, "error")[column(found, "core_label") != "pinv"]
        # both cut at the same singular values, none of which is within rounding of the cut-off
        np.testing.assert_allclose(own, twin, rtol=1e-9)

    def test_refused(self):
        for problem in ((lambda points: 3), (lambda points, m, power: 3), (lambda points, *m: 3), np.argsort,
                        functools.partial(first_from), dict.get):
            self.told(TypeError, run, [problem])
        self.told(nysbench.ArgumentError, run, "kmean")
        self.told(nysbench.ArgumentError, run, "uniform", landmark=3)
        self.told(nysbench.ShapeError, run, "uniform", heads=(Q, K[0]))
        self.told(nysbench.ShapeError, run, "uniform", heads={"x": (Q, K[..., :5])})
        self.told(nysbench.NumericError, run, "uniform", heads=(Q * np.nan, K))
        self.told(TypeError, run, "uniform", heads=(Q,))
        self.told(nysbench.ArgumentError, run, "uniform", sources=["a"])
        self.told(nysbench.ArgumentError, run, "uniform", heads={})
        self.told(nysbench.ShapeError, run, "uniform", heads=([Q[0, 0], Q[0, 0, :30]], [K[0, 0], K[0, 0, :30]]))
        self.told(nysbench.ShapeError, run, "uniform", heads={"x": [(Q[0], K[0]), (Q[0, :, :30], K[0, :, :30])]})
        self.told(nysbench.ArgumentError, run, "uniform", heads={"x": [[Q[0], K[0]], [Q[1], K[1]]]})
        self.told(nysbench.ArgumentError, run, "uniform", heads={"x": ((Q[0], K[0]), (Q[1], K[1]))})
        self.told(nysbench.ShapeError, run, "uniform", heads={"x": [(Q, K)]})
        self.told(TypeError, run, {"uniform", "kmeans"})
        self.told(TypeError, run, "uniform", sources={"a", "b", "c"})
        self.told(TypeError, run, "uniform", sources=3)
        self.told(TypeError, run, "uniform", seed=3j)
        self.told(TypeError, run, "uniform", plots=[b"error"])
        self.told(TypeError, run, "uniform", causal="false")
        self.told(TypeError, run, "uniform", causal=2)
        self.told(TypeError, run, "uniform", isolate="no")
        self.told(TypeError, run, "uniform", progress="no")


class Names(Folders):
    def test_names_that_differ_in_case_or_signs_stay_apart(self):
        one, other = (Q[:1], K[:1]), (Q[1:2], K[1:2])
        heads = {"L1": one, "l1": other, "a layer": one, "A-layer": other}
        found = run(["uniform"], heads=heads, trials=1, draws="shared", folder=self.folder)
        alone = [run(["uniform"], heads=given, trials=1, draws="shared") for given in heads.values()]
        errors = {model: [e for e, m in zip(column(found, "error"), column(found, "model")) if m == model]
                  for model in heads}
        for name, run_of_one in zip(heads, alone):
            self.assertEqual(errors[name], list(column(run_of_one, "error")), name)
        self.assertEqual(len(os.listdir(os.path.join(self.folder, "heads"))), len(heads))
        with self.told(nysbench.ArgumentError):
            run(["uniform"], heads={"x layer 1": one, "x": {1: one}})

    def test_sources_with_blanks_stay_apart(self):
        names = ["a b", "a-b", "é [c]"]
        found = run(["uniform"], trials=1, sources=names)
        self.assertEqual(sorted(set(column(found, "source"))), sorted(names))
        one = run(["uniform"], heads={"x": (Q[0], K[0])}, trials=1, sources="Moby-Dick, chapter 1")
        self.assertEqual(set(column(one, "source")), {"Moby-Dick, chapter 1"})
        with self.told(nysbench.ArgumentError):
            run(["uniform"], sources=["a", " ", "c"])


class Answers(Folders):
    @classmethod
    def setUpClass(cls):
        cls.found = nysbench.run(**{**SAME,
                                    "heads": {"<b>layer</b>": tuple(np.concatenate([x, -x]) for x in (Q, K, V))}},
                               strategies=["uniform", "kmeans", "segment_means"],
                                 sources=[f"text {i}" for i in range(6)])

    def program(self, *words):
        return json.loads(subprocess.run([nysbench.program(), *words, "-f", "json"], check=True, capture_output=True,
                                         text=True).stdout)

    def test_compare(self):
        lines, full = records(self.found.compare()), self.program("compare", str(self.found.folder))
        for column in ("ratio", "joint_low", "joint_high", "verdict", "why", "sources"):
            self.assertEqual([line[column] for line in lines],
                             [line[column] for line in full if line["model"] == "all"], column)
        self.assertEqual([line["method"] for line in lines[:2]], ["kmeans", "segment_means"])
        self.assertEqual({line["sources"] for line in lines}, {6})
        self.assertEqual({line["method"]
                          for line in records(self.found.compare("kmeans", where={"landmarks": [4]}))},
                         {"uniform", "segment_means"})
        self.assertIn("icc", records(self.found.compare(full=True))[0])

    def test_columns_of_a_comparison(self):
        """They are the same whatever the data, tell all lines apart, are no more than a notebook shows, and have a
        meaning each."""
        few = nysbench.run(problems=["gaussian(n=24, d=4)", "gaussian(n=30, d=4)"], strategies=["uniform", "kmeans"],
                           trials=2,
                           cores=["svd", "iterative"], landmarks=[4, 6], pairing=["joint", "queries"], progress=False)
        model = Path(self.folder).with_name("tiny_model.py")
        shutil.copy("tests/support/tiny_model.py", model)
        problem = f'live_model(run="{sys.executable} {model} {nysbench.program()}", layers=[1, half], source=[0, 1])'
        layers = nysbench.run(study="effect", problems=problem, progress=False,
                              attentions=["nystrom(landmarks=4)", "longformer(window=6)"])
        timed = nysbench.run(study="forward", problems="gaussian(n=30, d=4)",
                             attentions=["naive", "nystrom(landmarks=4)"],
                             heads=[1, 2], rounds=1, trials=2, progress=False)
        described = nysbench._result.described_columns()
        for found, settings in ((self.found, {"kernel", "pairing", "core"}), (few, {"kernel", "pairing", "core"}),
                                (layers, set()), (timed, {"setting_heads", "threads"})):
            lines, full = records(found.compare()), records(found.compare(full=True))
            wanted = {"method", "baseline", "metric", "model", "input", "ratio", "joint_low", "joint_high",
                      "family", "verdict", "why", "heads_differ", "disturbed", "sources", "pairing", "t_p"}
            self.assertLessEqual(wanted | settings, set(lines[0]))
            self.assertLessEqual(len(lines[0]), 20)
            keys = [tuple(str(line[name]) for name in lines[0] if name not in ("ratio", "joint_low", "joint_high"))
                    for line in lines]
            self.assertEqual(len(set(keys)), len(keys), keys)
            meanings = nysbench._result._meanings(full)
            self.assertEqual([name for name in full[0] if not meanings.get(name)], [])
            self.assertEqual([name for name in meanings if name not in nysbench._result._MEANINGS
                              and name.removeprefix("setting_") not in described], [])
        self.assertEqual(list(records(few.compare())[0]), list(records(self.found.compare())[0]))
        self.assertEqual({line["pairing"] for line in records(few.compare())}, {"joint", "queries"})
        self.assertEqual({line["pairing"] for line in records(layers.compare())}, {None})
        self.assertEqual([line["t_p"] for line in records(self.found.compare())],
                         [line["t_p"] for line in self.program("compare", str(self.found.folder))])
        self.assertEqual({line["input"] for line in records(layers.compare())}, {"layers = 1", "layers = half"})
        for why in sorted({line["why"] for line in records(few.compare())}):
            self.tell(why)
        self.assertEqual({line["model"] for line in records(few.compare())}, {"all"})
        self.assertEqual(len({line["model"] for line in records(few.compare(by_model=True))}), 3)

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "needs pandas")
    def test_attributes_of_a_comparison(self):
        ratios = self.found.compare()
        self.assertEqual(ratios.attrs["units"], {})
        self.assertEqual(set(ratios.attrs["meanings"]), set(ratios.columns))
        unsure = self.found.compare(where={"landmarks": 4})
        self.assertTrue(all(isinstance(one, str) or one is None for one in unsure["why"]), unsure["why"])
        self.tell(ratios.attrs["meanings"]["t_p"])
        seconds = self.found.compare(metric="select_s", scale="difference")
        self.assertEqual(seconds.attrs["units"], dict.fromkeys(("difference", "joint_low", "joint_high"), "s"))

    def test_tables_and_queries(self):
        self.assertEqual(records(self.found.table("errors"))[0]["median"],
                         self.program("table", str(self.found.folder), "errors")[0]["median"])
        self.assertIn("errors", self.found.tables())
        count, = records(self.found.sql("SELECT count(*) AS n FROM run ORDER BY n"))
        self.assertEqual(count["n"], len(column(self.found, "error")))
        self.found.to_latex(self.folder + ".tex")
        self.assertIn("\\toprule", Path(self.folder + ".tex").read_text())
        self.assertTrue(self.found.report(self.folder + ".html").exists())

    def test_shown(self):
        self.assertIn("segment_means", repr(self.found))
        page = self.found._repr_html_()
        self.assertIn("<td>kmeans</td>", page)
        self.assertNotIn("<b>layer</b>", page)

    def test_html_shows_what_print_shows(self):
        """Heading with the baseline, which way is better, marks, warnings, why a line has no result, notes, and the
        figure."""
        found = run(["uniform", "kmeans", "subsample(of=kmeans, tokens=6)", lambda keys, m: range(m)], landmarks=8,
                    trials=4,
                    heads=(np.concatenate([Q, Q]), np.concatenate([K, K])))
        with sqlite3.connect(
                found.folder / "results.sqlite") as store:  # one head better, one worse, and four trials that say so
            store.execute(
                "UPDATE results SET error = CASE WHEN strategy LIKE 'uniform%' THEN 0.5 WHEN head % 2 THEN 0.7 ELSE "
                "0.2 END "
                          "+ 1e-3 * (position % 7) WHERE status = 'ok'")
        self.show(repr(found))
        printed, page = repr(found).split(), found._repr_html_()
        self.assertEqual(html.unescape(re.sub(r"<[^>]*>", " ", page)).split()[:len(printed)], printed)
        self.assertTrue("<img " in page or "matplotlib" in page)

    def test_one_strategy_or_none_to_compare(self):
        """Then cores are compared, and a repr is never an error."""
        cores = run("kmeans", cores=["svd(rcond=0.01)", "iterative"])
        self.assertIn("iterative", repr(cores))
        self.assertIn("<td>iterative</td>", cores._repr_html_())
        self.show(repr(run("kmeans")).splitlines()[0])
        self.assertIn("<td>kmeans</td>", run("kmeans")._repr_html_())
        both = run(["kmeans", "uniform"], cores=["svd(rcond=0.01)", "iterative"])
        self.assertEqual({line["strategy"] for line in records(both.compare(by="core"))}, {"kmeans", "uniform"})
        self.assertEqual(len(records(both.compare(confounded="pairing"))), 4)

    def test_a_figure_that_needs_the_config_of_a_function(self):
        """`spectrum` makes the heads again: of a run of this session at once, of a folder if programs=True says so."""
        found = nysbench.run(problems="gaussian(n=24, d=4)", strategies=["uniform", lambda points, m: range(m)],
                             cores="svd", landmarks=4, trials=1, progress=False, folder=self.folder)
        drawn = [len(run.plot("spectrum")._scripts) for run in (found, copy.copy(found),
                                                                pickle.loads(pickle.dumps(found)))]
        self.assertEqual(drawn, [1, 1, 1])
        opened = nysbench.Run(self.folder)
        with self.told(nysbench.FileError):
            opened.plot("spectrum")
        self.assertEqual(len(opened.plot("spectrum", programs=True)._scripts), 1)
        self.assertEqual(len(nysbench.Run(self.folder, programs=True).plot("spectrum")._scripts), 1)
        with self.told(nysbench.FileError):
            found.plot("spectrum", programs=False)

    def test_a_query_is_never_a_folder(self):
        for query in "SELECT", "", "rows":
            self.told(nysbench.ArgumentError, self.found.sql, query)
        self.assertEqual([list(line.values()) for line in records(self.found.sql("SELECT(1)"))], [[1]])

    def test_figure_beside_a_broken_matplotlib(self):
        """Debian's, built for NumPy 1, beside NumPy 2 from PyPI: the figure is gnuplot's, which is said; where there is
        no matplotlib nothing is said."""
        package = Path(self.folder) / "matplotlib"
        package.mkdir(parents=True)
        loaded = [name for name in sys.modules if name.partition(".")[0] == "matplotlib" or name == "nysbench._figures"]
        with mock.patch.dict(sys.modules), mock.patch.object(sys, "path", [self.folder, *sys.path]):
            for name in loaded:
                del sys.modules[name]
            (package / "__init__.py").write_text("raise ImportError('built for NumPy 1')")
            importlib.invalidate_caches()
            with self.told(UserWarning):
                plot = self.found.plot("ratio")
            self.assertEqual((plot.figure, plot.axes), (None, []))
            sys.modules["matplotlib"] = None
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                self.assertEqual(self.found.plot("ratio").axes, [])

    def test_figure(self):
        """matplotlib's has the numbers of the comparison, a panel for each figure; without it, it is gnuplot's."""
        plot, path = self.found.plot("ratio", strategies=["uniform", "kmeans"]), self.folder + ".svg"
        plot.save(path)
        self.assertIn("<svg", Path(path).read_text())
        self.assertIn("<img", plot._repr_html_())
        self.assertEqual(len(plot.axes), matplotlib_works())
        for axes in plot.axes:
            curve, = (line for line in axes.containers if line.get_label() == "kmeans")
            ratios = [line["ratio"] for line in records(self.found.compare()) if line["method"] == "kmeans"]
            np.testing.assert_allclose(curve[0].get_ydata(), ratios, rtol=1e-12)  # written with 17 digits
            self.assertEqual(list(curve[0].get_xdata()), SAME["landmarks"])
        self.assertEqual(len(self.found.plot("error").axes), len(plot.axes))
        if plot.axes:
            forest, = self.found.plot("forest").axes
            self.assertEqual([label.get_text() for label in forest.get_yticklabels()],
                             ["segment_means", "kmeans", "uniform"][::-1])
            ranks = self.found.plot("ranks")
            self.assertEqual(len(ranks.axes), len(SAME["landmarks"]))
        with self.told(nysbench.ArgumentError):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.found.plot("steps")

    def test_too_few_sources(self):
        why, = {line["why"] for line in records(run(["uniform", "kmeans"]).compare())}
        self.tell(why)

    def test_copies_have_the_results(self):
        """Also when the original is gone; of a folder that stays, a pickle has the path."""
        for make in (copy.copy, copy.deepcopy, lambda found: pickle.loads(pickle.dumps(found))):
            found = run("uniform")
            errors, again, folder = column(found, "error"), make(found), found.folder
            del found
            self.assertEqual(folder.exists(), again.folder == folder)
            np.testing.assert_array_equal(column(again, "error"), errors)
            heads = re.search(r'heads\(file=\\"(.*?)\\"', again.config)[1]
            self.assertTrue(heads.startswith(str(again.folder)) and os.path.exists(heads), heads)
            folder = again.folder
            del again
            self.assertFalse(folder.exists())
        kept = pickle.loads(pickle.dumps(run("uniform", folder=self.folder)))
        self.assertEqual(str(kept.folder), self.folder)

    def test_a_child_of_fork_removes_nothing(self):
        found = run("uniform")
        child = os.fork()
        if child == 0:
            try:
                del found
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        self.assertTrue(found.folder.exists())

    def test_a_figure_keeps_its_run(self):
        plot = run(["uniform", "kmeans"]).plot("ratio")
        plot.save(self.folder + ".svg")
        self.assertIn("<svg", Path(self.folder + ".svg").read_text())

    def test_removed_with_the_run(self):
        found = run("uniform")
        folder = found.folder
        del found
        self.assertFalse(folder.exists())


class Ends(Folders):
    """How a session ends: an interrupt keeps what is measured, and no process is left, whatever ends it."""

    SCRIPT = """
        import os, signal, sys, threading, time
        import numpy as np
        import nysbench
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
        def slow(points, m):
            if m == 8 and len(points) == 40:
                {act}
            return range(m)
        x = np.random.default_rng(1).standard_normal((40, 6))
        try:
            nysbench.run(heads=(x, x, x), strategies=["uniform", slow], cores="svd(rcond=0.01)", landmarks=[4, 8],
                         trials=1, folder=sys.argv[1], progress=False, jobs=2)
        except KeyboardInterrupt:
            print("interrupted")
    """

    def session(self, act):
        return subprocess.Popen([sys.executable, "-c", textwrap.dedent(self.SCRIPT).format(act=act), self.folder],
                                stdout=subprocess.PIPE, text=True)

    def test_interrupt(self):
        # A signal to the process may reach a thread of OpenBLAS, and then wakes no sleep of the main one.
        with self.session(
                "signal.pthread_kill(threading.main_thread().ident, signal.SIGINT); time.sleep(60)") as process:
            self.assertEqual(process.communicate(timeout=300)[0], "interrupted\n")
        self.assertTrue(gone(self.folder))
        self.assertIn("uniform", set(column(nysbench.Run(self.folder), "strategy_label")))

    def test_kill(self):
        with self.session("os.kill(os.getpid(), signal.SIGKILL)") as process:
            process.communicate(timeout=300)
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.assertTrue(gone(self.folder), processes(self.folder))

    def test_folders_of_killed_sessions(self):
        """They go with the next session on the same machine; those of living sessions and of other machines stay."""
        code = ("import os, signal; from nysbench._program import make_folder; "
                "print(make_folder('run'), make_folder('session'), flush=True); {}")
        with tempfile.TemporaryDirectory() as tmp:
            environment = {**os.environ, "TMPDIR": tmp}

            def call(act):
                return subprocess.Popen([sys.executable, "-c", code.format(act)], env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

            with call("input()") as living:
                kept = living.stdout.readline().split()
                with call("os.kill(os.getpid(), signal.SIGKILL)") as killed:
                    left = killed.communicate()[0].split()
                host = re.search("nysbench-run-([0-9a-f]{8})-", left[0])[1]
                theirs = left[0].replace(host, f"{int(host, 16) ^ 1:08x}")
                os.mkdir(theirs)
                self.assertTrue(all(map(os.path.isdir, left + kept)))
                with call("") as last:
                    last.communicate()
                self.assertEqual([os.path.isdir(x) for x in [*left, *kept, theirs]], [False, False, True, True, True])
                living.communicate("\n")

    def test_a_long_path_of_temporary_files(self):
        """A socket's path has 107 bytes at most."""
        with tempfile.TemporaryDirectory() as tmp:
            folder = os.path.join(tmp, "x" * 120)
            os.mkdir(folder)
            code = ("import nysbench, numpy as np; x = np.eye(12, 4); "
                    "print(nysbench.run(heads=(x, x, x), strategies=['uniform', {}], cores='svd', landmarks=4, "
                    "trials=1, progress=False).rows['status'].tolist())")
            found = subprocess.run([sys.executable, "-c", code.format("lambda points, m: range(m)")],
                                   env={**os.environ, "TMPDIR": folder}, capture_output=True,
                                   text=True, check=False)
            self.assertEqual(found.stdout, "['ok', 'ok']\n", found.stderr)
            self.assertEqual(os.listdir(folder), [])


class Identity(unittest.TestCase):
    def same(self, one, other):
        self.assertEqual(digest(one), digest(other))

    def different(self, one, other):
        self.assertNotEqual(digest(one), digest(other))

    def test_closures_defaults_and_constants(self):
        def made(x, y=0):
            def function(points, m, z=y):
                return x
            return function
        self.same(made(1), made(1))
        self.different(made(1), made(2))
        self.different(made(1), made(1, 1))
        self.same(made(np.arange(3)), made(np.arange(3)))
        self.different(made(np.arange(3)), made(np.arange(3.0)))
        self.different(made({"a": [1]}), made({"a": [2]}))
        self.different(lambda m: 1, lambda m: 1.0)
        self.different(made(made(1)), made(made(2)))
        self.same(made(np.argsort), made(np.argsort))
        self.different(made(np.argsort), made(np.add))
        self.same(functools.partial(made, 1), functools.partial(made, 1))
        self.different(functools.partial(made, 1), functools.partial(made, 2))

    def test_globals_that_are_referred_to(self):
        source = "def helper(x): return x + constant\ndef function(points, m): return [helper(i) for i in range(m)]\n"

        def function(constant, unused=0, text=source):
            names = {"__name__": "__main__", "constant": constant, "unused": unused}
            exec(text, names)
            return names["function"]
        self.same(function(1), function(1, unused=1))
        self.different(function(1), function(2))
        self.different(function(1), function(1, text=source.replace("x +", "x -")))
        self.same(function(1), function(1, text="\n" + source))

    def test_objects(self):
        class Picker:
            def __init__(self, x):
                self.x = x

            def pick(self, points, m):
                return self.x
        self.same(Picker(1).pick, Picker(1).pick)
        self.different(Picker(1).pick, Picker(2).pick)

    def test_what_cannot_be_told_is_another_each_time(self):
        for thing in np.random.default_rng(1), io.StringIO("x"), object():
            with self.subTest(thing):
                self.different(lambda m: thing, lambda m: thing)

    def digests(self, function, *changes):
        """Of a function, before the first change and after each."""
        found = [digest(function)]
        for change in changes:
            change()
            found.append(digest(function))
        return found

    def test_imports_in_a_body(self):
        """Also of what the imported module imports, of a package's modules, and before one is loaded."""
        with tempfile.TemporaryDirectory() as folder:
            sys.path.insert(0, folder)
            self.addCleanup(sys.path.remove, folder)
            files = [Path(folder, name)
                     for name in ("one_of_test_run.py", "two_of_test_run.py", "pack_of_test_run/three.py")]
            files[2].parent.mkdir()
            (files[2].parent / "__init__.py").write_text("from .three import x\n")
            files[2].write_text("x = 1\n")
            files[1].write_text("y = 1\n")
            files[0].write_text(
                "def f():\n    from two_of_test_run import y\n    import pack_of_test_run\n    return y\n")

            def mine(points, m):
                from one_of_test_run import f
                return f()
            found = self.digests(mine, lambda: mine(None, 1),
                                 *(functools.partial(file.write_text, "z = 1\n") for file in files[::-1]))
            self.assertEqual(found[0], found[1])
            self.assertEqual(len(set(found)), 4, found)

    def test_files_and_variables_that_constants_name(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "weights.txt")
            Path(path).write_text("1")
            os.environ["MINE_OF_TEST_RUN"] = "1"
            self.addCleanup(os.environ.pop, "MINE_OF_TEST_RUN")

            def reads(points, m):
                return np.loadtxt(path)

            def of_path(points, m, path=Path(path)):
                return path.read_text()

            def variable(points, m):
                return int(os.environ["MINE_OF_TEST_RUN"])

            def logs(points, m):
                with open(path, "a") as file:
                    file.write("mine")

            def other(points, m):
                with open(os.path.join(folder, "weights" + str(m))) as file:
                    return file.read()

            def asks(points, m):
                return os.environ.get("MINE_OF_TEST_RUN", "mine"), "HOME" in os.environ, os.getenv("MINE_OF_TEST_RUN")

            def any_variable(points, m, name="MINE_OF_TEST_RUN"):
                return os.environ[name] + "mine", "HOME"

            def all_variables(points, m):
                return dict(os.environ), os.getenv("HOME")

            def one_of_two(points, m):
                return np.loadtxt(path), np.loadtxt(folder + "/weights" + str(m))

            def through_another(points, m):
                return read(path)

            def read(name):
                return np.loadtxt(name)

            def by_another(points, m):
                return np.loadtxt(folder + str(m)), reads(points, m)

            def one_of_many(points, m):
                return [np.loadtxt(name) for name in (path, path + "2")]

            def table(points, m):
                return np.read_feather(folder + str(m)), subprocess.run(["cat", folder + str(m)])
            for function, change, changed, names in (
                    (asks, lambda: os.environ.update(MINE_OF_TEST_RUN="3"), True, []),
                    (any_variable, lambda: None, False, ["environ"]),
                    (all_variables, lambda: None, False, ["environ"]),
                    (one_of_two, lambda: Path(path).write_text("5"), True, ["loadtxt"]),
                    (through_another, lambda: Path(path).write_text("6"), True, []),
                    (by_another, lambda: Path(path).write_text("7"), True, ["loadtxt"]),
                    (one_of_many, lambda: Path(path).write_text("8"), True, []),
                    (table, lambda: None, False, ["read_feather", "subprocess"]),
                    (reads, lambda: Path(path).write_text("2"), True, []),
                    (of_path, lambda: Path(path).write_text("3"), True, []),
                    (variable, lambda: os.environ.update(MINE_OF_TEST_RUN="2"), True, []),
                    (logs, lambda: Path(path).write_text("4"), False, ["open"]),
                    (other, lambda: Path(folder, "weights3").write_text("4"), False, ["open"])):
                with self.subTest(function.__name__):
                    one, again, new = self.digests(function, lambda: None, change)
                    self.assertEqual((one == again, one == new), (True, not changed))
                    self.assertEqual(unfollowed(function), names)

    def test_modules_of_the_user(self):
        with tempfile.TemporaryDirectory() as folder:
            sys.path.insert(0, folder)
            self.addCleanup(sys.path.remove, folder)
            found = []
            for text in "x = 1\n", "x = 1\n", "x = 2\n":
                Path(folder, "mine_of_test_run.py").write_text(text)
                import mine_of_test_run
                found.append(digest(lambda m: mine_of_test_run.x))
            self.assertEqual(found[0], found[1])
            self.assertNotEqual(found[1], found[2])


def means(keys, m):
    return np.stack([part.mean(0) for part in np.array_split(keys, m)])


def first_points(points, m):
    return range(m)


def first_from(points, m, start):
    return np.arange(start, start + m)


def pinv_cut(A, rcond):
    return np.linalg.pinv(A, rcond=rcond)


class Mute(Exception):
    def __str__(self):
        raise LookupError


class From:
    """Its attributes have the names of a strategy's."""

    def __init__(self, function, most=8):
        self.function, self.most, self.kind, self.given = function, most, "mine", None

    def pick(self, points, m):
        return first_from(points, m, self.function)

    def __call__(self, points, m):
        if m > self.most:
            raise ValueError(f"no {m}")
        return self.pick(points, m)


if __name__ == "__main__":
    tap.main()
