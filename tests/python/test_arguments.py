# SPDX-License-Identifier: GPL-3.0-or-later
"""What all calls of the package have in common: truth values, doubts about layouts, and where warnings point. usage:
test_arguments.py"""
import inspect
import linecache
import os
import tempfile
import warnings
from pathlib import Path
from unittest import mock

import numpy as np

import golden
import nysbench
import tap
from nysbench.capture import Heads

X = np.random.default_rng(1).standard_normal((2, 40, 6))
SMALL = {"heads": (X, X, X), "cores": "svd(rcond=0.01)", "landmarks": 4, "trials": 1, "progress": False}


def run(**more):
    return nysbench.run(**{**SMALL, "strategies": "uniform", **more})


def patched(**more):
    with nysbench.patch(None, "streamed", **more):
        pass


def mean(q, k, v):
    return np.broadcast_to(v.mean(axis=1, keepdims=True), v.shape)


CALLS = {  # with a truth value each, by the name that `public` gives the call
    "Attention": lambda **more: nysbench.Attention("streamed", X.shape, **more),
    "Heads": lambda **more: Heads(0, "a", X, X, X, [0, 1], [0, 1], error=0, allowed=0, **more),
    "Run": lambda **more: nysbench.Run(".", **more),
    "Run.compare": lambda **more: run(strategies=["uniform", "kmeans"]).compare(**more),
    "attention": lambda **more: nysbench.attention(X, X, X, "streamed", **more),
    "attention_function": lambda **more: nysbench.attention_function(mean, **more),
    "effect": lambda **more: nysbench.effect(None, [], "streamed", **more),
    "measure": lambda **more: nysbench.measure(X, X, strategy="uniform", landmarks=4, cores="svd", **more),
    "patch": patched,
    "run": run,
    "suite": lambda **more: nysbench.suite("kmeans", **more),
    "select": lambda **more: nysbench.select(X, 4, "uniform", **more),
}


def public():
    """Pairs of a name and a callable of the package: functions, classes and their methods."""
    for name in nysbench.__all__:
        one = getattr(nysbench, name)
        if callable(one):
            yield name, one
        if inspect.isclass(one):
            yield from ((f"{name}.{method}", found) for method,
                        found in vars(one).items() if inspect.isfunction(found) and method[0] != "_")
    yield "Heads", Heads


def flags():
    """Pairs of a call and a parameter that is a truth value, by the annotations of all that is public."""
    for name, one in public():
        try:
            parameters = inspect.signature(one).parameters.values()
        except ValueError:  # exceptions
            continue
        yield from ((name, parameter.name) for parameter in parameters
                   if "bool" in str(parameter.annotation) and "Mapping" not in str(parameter.annotation))


class TruthValues(golden.Case):
    def test_what_is_none_is_refused(self):
        """The text "false" would count as true."""
        found = [(call, name) for call, name in flags() if call != "Check"]  # which the package returns
        self.assertEqual({call for call, _ in found}, set(CALLS))
        for call, name in found:
            for wrong in "false", 2, [True], np.array([1.5, 2]):
                with self.subTest(call=call, name=name, wrong=wrong):
                    self.told(TypeError, CALLS[call], **{name: wrong})

    def test_those_of_a_dict_too(self):
        for wrong in "trained", [True], {"trained": "false"}:
            with self.subTest(wrong=wrong):
                self.told(TypeError, CALLS["suite"], declare=wrong)

    def test_numbers_that_are_one_or_zero_are_truth_values(self):
        for given in 1, np.True_, np.int64(1), True:
            self.assertTrue(Heads(0, "a", X, X, X, [0, 1], [0, 1], given, 0, 0).causal is True)
        one, other = (nysbench.attention(X, X, X, "streamed", causal=causal) for causal in (np.int8(1), True))
        np.testing.assert_array_equal(one, other)


class Layouts(golden.Case):
    """Heads behind tokens, as FlashAttention has them."""

    CALLS = {
        "points": lambda q: nysbench.select(q, 2, "uniform"),
        "q": lambda q: nysbench.measure(q, q, q, strategy="uniform", landmarks=2, cores="svd(rcond=0.01)"),
        "attention": lambda q: nysbench.attention(q, q, q, "streamed"),
        "a function": lambda q: nysbench.attention(q, q, q, mean),
        "an Attention": lambda q: nysbench.Attention("streamed", q.shape)(q, q, q),
        "its extend": lambda q: nysbench.Attention("merging", q.shape, causal=True).extend(q, q, q),
        "heads: q": lambda q: run(heads=(q, q, q), landmarks=2),
        "heads 'a': q": lambda q: run(heads={"a": [(one, one, one) for one in q.reshape(-1, *q.shape[-3:])]},
                                      landmarks=2),
    }

    def doubts(self, call, q):
        """How many there are, which are told."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.filterwarnings("always", ".*is read as")
            warnings.filterwarnings("ignore", "(?!.*is read as)")
            call(q)
        for one in caught:
            self.tell(one.message)
        return len(caught)

    def test_tokens_before_heads_are_doubted(self):
        many = np.random.default_rng(2).standard_normal((3, 20, 8, 4))
        for name, call in self.CALLS.items():
            for q in (many, many[0]):
                with self.subTest(name=name, shape=q.shape):
                    self.assertEqual(self.doubts(call, q), 1)

    def test_heads_before_tokens_are_not(self):
        q = np.random.default_rng(2).standard_normal((3, 8, 20, 4))
        for name, call in self.CALLS.items():
            for one in (q, q[0], q[0, 0, :2]) if name in ("points", "q", "attention") else (q, q[0]):
                with self.subTest(name=name, shape=one.shape):
                    self.assertEqual(self.doubts(call, one), 0)


class Warnings(golden.Case):
    def check(self, call):
        """All warnings point at a line of this file that calls nysbench, and are told."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        self.assertTrue(caught)
        for one in caught:
            self.assertEqual(one.filename, __file__)
            self.assertIn("nysbench.", linecache.getline(__file__, one.lineno))
            self.tell(one.message)

    def test_they_point_at_the_user_s_line(self):
        def picky(points, m):
            raise LookupError("none")

        def reader(points, m):
            with open("/dev/null" * bool(m)) as file:
                return range(m + len(file.read()))
        q, few = np.zeros((20, 8, 4)), {"strategy": "uniform", "landmarks": 4}
        with tempfile.TemporaryDirectory() as folder:
            stub = Path(folder, "stub")
            stub.write_text("#!/bin/sh\necho 'nysbench: warning: of the program' >&2\necho '[]'\n")
            stub.chmod(0o755)
            self.check(lambda: nysbench.run(strategies=["uniform", picky], **SMALL))
            self.check(lambda: nysbench.run(strategies=["uniform", reader], folder=os.path.join(folder, "a"), **SMALL))
            self.check(lambda: nysbench.attention(q, q, q, "streamed"))
            self.check(lambda: nysbench.select(q[None], 2, "uniform"))
            self.check(lambda: nysbench.measure(X[0], X[1], cores="svd(rcond=machine)", **few))
            with mock.patch.dict(os.environ, NYSBENCH_PROGRAM=str(stub)):
                self.check(lambda: nysbench.row_arrays(folder))
                self.check(lambda: nysbench.Run(folder).claims())


if __name__ == "__main__":
    tap.main()
