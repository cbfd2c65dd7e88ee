# SPDX-License-Identifier: GPL-3.0-or-later
"""nysbench.suite: functions of this session get the number that the program computes, at the sizes that their cost
allows. usage: test_suite.py
"""
import json
import os
import tempfile

import numpy as np

import golden
import nysbench
import tap

TINY = "tests/support/suite/tiny.json"


def mean(q, k, v):
    return np.broadcast_to(v.mean(axis=1, keepdims=True), v.shape)


def first_keys(q, k, v, keys=8):
    """Softmax over the first keys."""
    scores = q @ k[:, :keys].transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v[:, :keys]


def cost(n, d, dv, keys):
    return n * keys * (d + dv)


def largest(keys, m):
    return np.argsort(-np.linalg.norm(keys, axis=1))[:m]


def suite(method, **more):
    return nysbench.suite(method, heads=TINY, progress=False, **more)


class Suite(golden.Case):
    def test_sizes(self):
        """The largest size that is cheap enough: as many keys as a share of the tokens."""
        with tempfile.TemporaryDirectory() as folder:
            found = suite(first_keys, cost=cost, sizes={"keys": range(1, 100)}, folder=folder, tuned="none")
            with open(os.path.join(folder, "first_keys.json"), encoding="utf-8") as file:
                self.assertEqual(json.load(file), found)
        taken = {(one["model"], one["share"]): one for one in found["settings"]}
        self.assertEqual({key: one["multiplications"] for key, one in taken.items()},
                         {(model, share): heads * n * (n // share) * width for share in (4, 8, 16, 32)
                          for model, heads, n, width in (("minilm", 2, 256, 64), ("vit", 2, 257, 128))})
        self.assertEqual((found["method"]["counted"], found["method"]["label"], found["method"]["tuned"]),
                         (False, "first_keys", "none"))
        self.assertEqual([found["method"][key] for key in ("linear", "trained", "sees", "declared")],
                         [True, False, "all", ["linear"]])
        self.show(repr(found))

    def test_mean(self):
        """The mean of V has the error that stands for refusals."""
        found = suite(mean, cost=lambda n, d, dv: 2 * n * dv)
        other = suite("longformer")
        refused = {(one["file"], at): one["errors"][at] for one in other["inputs"]
                   for at, why in enumerate(one.get("refused", [])) if why and one["model"] != "smollm2"}
        errors = {(one["file"], at): error for one in found["inputs"] for at, error in enumerate(one["errors"])}
        self.assertGreater(len(refused), 4)
        for key, error in refused.items():
            self.assertAlmostEqual(errors[key] / error, 1, places=5)

    def test_mistakes(self):
        self.told(nysbench.ArgumentError, suite, first_keys)
        for sizes in {"key": [1]}, [1], {"keys": []}, {"keys": [10000]}:
            with self.subTest(sizes):
                self.told(nysbench.ArgumentError, suite, first_keys, cost=cost, sizes=sizes)
        self.told(nysbench.ArgumentError, suite, first_keys, cost=lambda n, d, dv, keys: 1, sizes={"keys": [1]})
        with self.told(nysbench.ArgumentError):
            suite("kmeans", cost=cost)
        for name in "kmaens", "nystrm":
            self.told(nysbench.ArgumentError, suite, name)
        self.told(TypeError, suite, 3)
        for function in largest, nysbench.strategy(largest):
            self.told(nysbench.ArgumentError, suite, function)

    def test_refused(self):
        """What returns something else each time, or NaN."""
        calls = []

        def changes(q, k, v):
            calls.append(1)
            return v + len(calls)

        for function in changes, (lambda q, k, v: v * np.nan):
            self.told(nysbench.ArgumentError, suite, function, cost=lambda n, d, dv: 2 * n * dv)


if __name__ == "__main__":
    tap.main()
