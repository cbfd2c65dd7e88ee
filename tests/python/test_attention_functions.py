# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions as attentions: in the study `forward`, in nysbench.attention, by nysbench.serve; what they are given, what
they may return, and what is said of what they may not.

Known are exact outputs, by softmax in NumPy; of values as outputs, the values; of times that a function returns,
these."""
import functools
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
import warnings

import numpy as np

import golden
import nysbench
import tap

RNG = np.random.default_rng(7)
Q, K, V = RNG.standard_normal((3, 6, 4, 48, 8)).astype(np.float32)


def exact(q, k, v, scale):
    scores = np.exp(q @ k.transpose(0, 2, 1) * scale)
    return scores / scores.sum(-1, keepdims=True) @ v


def masked(q, k, v, causal):
    scores = np.exp(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
    if causal:
        scores = np.tril(scores)
    return scores / scores.sum(-1, keepdims=True) @ v


def stable(q, k, v, causal):
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[1:], bool)), scores, -np.inf)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    return scores / scores.sum(-1, keepdims=True) @ v


def values(q, k, v):
    return v


def noisy(q, k, v, rng):
    return v + rng.standard_normal(v.shape)


def slow(q, k, v):
    return v, 0.25, "abacus, float3"


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, q, k, v):
        return self.factor * v

    def method(self, q, k, v):
        return self(q, k, v)


def rows_of(attentions, heads=(Q, K, V), **keys):
    """Lists of rows, dicts, by label of the attention."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        run = nysbench.run(study="forward", attentions=attentions, heads={"a layer": heads}, progress=False, **keys)
    columns, found = nysbench.row_arrays(run.folder), {}
    for i, label in enumerate(columns["attention_label"]):
        found.setdefault(label, []).append({name: column[i] for name, column in columns.items()})
    return found, run


def first(attention, **keys):
    (rows,) = rows_of([attention], (Q[0], K[0], V[0]), trials=1, timed=False, **keys)[0].values()
    return rows[0]


class InRuns(golden.Case):
    def test_outputs_and_verdicts(self):
        found, run = rows_of(["streamed", "nystrom(landmarks=4)", exact, noisy], timed=False, trials=3, jobs=2)
        self.assertEqual({label: len(rows) for label, rows in found.items()},
                         {"streamed": 6, "nystrom(landmarks=4)": 6, "exact": 6,
                          "noisy": 18})  # one trial without chance
        self.assertTrue(all(row["status"] == "ok" and row["clock"] == "none" and np.isnan(row["latency_s"]) and
                            np.isnan(row["load"]) for rows in found.values() for row in rows))
        self.assertTrue(all(row["output_error"] < 1e-6 for row in found["exact"]))
        draws = [row["output_error"] for row in found["noisy"]]
        self.assertEqual(len(set(draws)), 18)
        lines = run.compare(metric="output_error", baseline="nystrom(landmarks=4)")
        lines = lines if isinstance(lines, list) else lines.to_dict("records")
        verdicts = {line["method"]: line["verdict"] for line in lines}
        self.assertEqual((verdicts["exact"], verdicts["noisy"]), ("exact", "worse"))

    def test_how_often_one_is_called(self):
        """Once for each input and trial; the first call of one without chance is repeated. The sums of rows, of two
        functions exact but for a factor, take a call more, and are measured only if they are named."""
        calls = {"twice": 0, "drawn": 0}

        def twice(q, k, v, scale):
            calls["twice"] += 1
            return 2 * exact(q, k, v, scale)

        def drawn(q, k, v, scale, rng):
            calls["drawn"] += 1
            return 3 * exact(q, k, v, scale) * (1 + 1e-3 * rng.random())

        for timed in (False, True):
            for metrics, factor in ((None, 1), ("output_error", 1), (["all", "rowsum_deviation"], 2)):
                calls.update(twice=0, drawn=0)
                found, _ = rows_of(["streamed", "nystrom(landmarks=4)", twice, drawn], timed=timed, trials=3, jobs=2,
                                   metrics=metrics, rounds=1)
                trials = 3 if timed else 1  # untimed, one without chance has one
                self.assertEqual(calls, {"twice": 6 * trials * factor + 1, "drawn": 18 * factor}, (timed, metrics))
                sums = {label: [row["rowsum_deviation"] for row in rows] for label, rows in found.items()}
                self.assertTrue(np.all(np.isfinite(sums["streamed"] + sums["nystrom(landmarks=4)"])))
                if factor == 1:
                    self.assertTrue(np.all(np.isnan(sums["twice"] + sums["drawn"])))
                else:
                    np.testing.assert_allclose(sums["twice"], 1, atol=1e-5)
                    np.testing.assert_allclose(sums["drawn"], 2, atol=4e-3)

    def test_sums_of_rows_that_are_named_later_are_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertTrue(np.isnan(first(exact, folder=folder)["rowsum_deviation"]))
            self.assertLess(first(exact, folder=folder, metrics=["rowsum_deviation"])["rowsum_deviation"], 1e-5)

    def test_times(self):
        timed = nysbench.attention_function(values, timed=True, name="timed")
        found, _ = rows_of(["streamed", values, slow, timed], (Q[0], K[0], V[0]), trials=1, rounds=3)
        clocks = {label: (rows[0]["clock"], rows[0]["device"]) for label, rows in found.items()}
        self.assertEqual(clocks,
                         {"streamed": ("pass", None), "values": ("none", None), "slow": ("own", "abacus, float3"),
                                  "timed": ("own", None)})
        self.assertEqual(found["slow"][0]["latency_s"], 0.25)
        self.assertEqual(found["slow"][0]["repeats"], 3)
        self.assertTrue(np.isnan(found["values"][0]["latency_s"]))
        self.assertGreater(found["timed"][0]["latency_s"], 0)
        self.assertNotEqual(found["timed"][0]["latency_s"], 0.25)
        self.assertTrue(found["streamed"][0]["peak_bytes"] > 0 and np.isnan(found["slow"][0]["peak_bytes"]))

    def test_untimed_rows_are_measured_again_for_their_times(self):
        with tempfile.TemporaryDirectory() as folder:
            first("streamed", folder=folder)
            found, _ = rows_of(["streamed"], (Q[0], K[0], V[0]), trials=1, rounds=3, folder=folder)
            self.assertTrue(found["streamed"][0]["latency_s"] > 0)

    def test_callables(self):
        for given, factor in ((lambda q, k, v: 2 * v, 2), (Scaled(3), 3), (Scaled(4).method, 4),
                              (functools.partial(lambda q, k, v, factor: factor * v, factor=5), 5)):
            outputs = nysbench.attention(Q[0], K[0], V[0], given)
            np.testing.assert_array_equal(outputs, np.float32(factor) * V[0])
            expected = np.linalg.norm(outputs - exact(Q[0], K[0], V[0],
                                                      8**-0.5)) / np.linalg.norm(exact(Q[0], K[0], V[0], 8**-0.5))
            self.assertAlmostEqual(first(given)["output_error"], expected, places=5)

    def test_a_change_is_measured_again(self):
        with tempfile.TemporaryDirectory() as folder:
            errors = [first(functools.partial(lambda q, k, v, factor: factor * v, factor=factor),
                            folder=folder)["output_error"]
                      for factor in (1, 2, 1)]
            self.assertNotEqual(errors[0], errors[1])
            self.assertEqual(errors[0], errors[2])

    def test_groups_and_masks(self):
        grouped = nysbench.attention_function(lambda q, k, v: np.repeat(v, len(q) // len(v), 0), grouped=True,
                                              name="grouped")
        found, _ = rows_of([masked, exact, grouped], (Q, K[:, :2], V[:, :2]), causal=True, timed=False)
        self.assertTrue(all(row["status"] == "ok" and row["output_error"] < 1e-6 for row in found["masked"]))
        self.assertTrue(all(row["status"] == "skipped" and "causal" in row["reason"] for row in found["exact"]))
        found, _ = rows_of([exact, values, grouped], (Q, K[:, :2], V[:, :2]), timed=False)
        self.assertTrue(all(row["output_error"] < 1e-6 for row in found["exact"]))
        self.assertEqual([row["output_error"] for row in found["grouped"]],
                         [row["output_error"] for row in found["values"]])

    def test_what_is_wrong_is_a_reason(self):
        def short(q, k, v):
            return v[:, :3]

        def texts(q, k, v):
            return np.full(v.shape, "a")

        def negative(q, k, v):
            return v, -1

        def devices(q, k, v):
            return v, 1.0, 7

        def four(q, k, v):
            return v, 1, "a", 2

        def raises(q, k, v):
            raise ValueError("no luck today")

        def writes(q, k, v):
            q[0] = 0

        def undefined(q, k, v):
            return v * np.nan

        def nothing(q, k, v):
            pass

        def word(q, k, v):
            return "a"

        def leaves(q, k, v):
            sys.exit(3)

        statuses = {function: "diverged" if function is undefined else "failed" for function in
                    (short, texts, negative, devices, four, raises, writes, undefined, nothing, word, leaves)}
        found, _ = rows_of(["streamed", *statuses], (Q[0], K[0], V[0]), trials=1, timed=False)
        self.assertEqual(found["streamed"][0]["status"], "ok")
        for function, status in statuses.items():
            row = found[function.__name__][0]
            self.assertEqual(row["status"], status, row)
            if function is not writes:  # what NumPy says of that
                self.tell(row["reason"])

    def test_what_stands_in_the_wrong_place(self):
        for given in (lambda points, m: range(m)), (lambda q, k, v, power: v):
            self.told(TypeError, first, given)
        with self.told(TypeError):
            nysbench.run(problems="gaussian(n=24, d=4)", strategies=values, cores="svd", landmarks=4, progress=False)
        with self.told(ValueError):
            nysbench.attention_function(values, tensors="jax")

    @unittest.skipUnless(importlib.util.find_spec("cloudpickle"), "needs cloudpickle")
    def test_isolated(self):
        here, factor = os.getpid(), 3

        def closure(q, k, v):
            return factor * v if os.getpid() != here else v

        self.assertEqual(first(closure, isolate=True)["output_error"], first(lambda q, k, v: 3 * v)["output_error"])
        self.assertEqual(first(lambda q, k, v: factor * v, isolate=True)["output_error"],
                         first(lambda q, k, v: 3 * v)["output_error"])
        broken = first(lambda q, k, v: v[:factor], isolate=True)
        self.assertEqual(broken["status"], "failed")
        self.tell(broken["reason"])
        self.assertEqual(first(nysbench.attention_function(values, name="isolated"), isolate=True)["status"], "ok")
        lock = threading.Lock()

        def locked(q, k, v):
            with lock:
                return v

        with self.assertRaises(TypeError):  # which ends with what Python says of a lock
            first(locked, isolate=True)
        self.assertEqual(first(locked)["status"], "ok")

    def test_an_interrupt_keeps_what_is_measured(self):
        code = """
            import sys, threading, signal, time
            import numpy as np
            import nysbench
            signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
            def waits(q, k, v):
                if q.max() > 10:
                    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                    time.sleep(60)
                return v
            x = np.random.default_rng(1).standard_normal((2, 2, 40, 6)) * [[[[1]]], [[[10]]]]
            try:
                nysbench.run(study="forward", heads=(x, x, x), attentions=["streamed", waits], trials=1, timed=False,
                             folder=sys.argv[1], progress=False, jobs=1)
            except KeyboardInterrupt as interrupt:
                print(interrupt)
        """
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-c", textwrap.dedent(code), folder], capture_output=True, text=True,
                                  timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.tell(done.stdout)
            rows = nysbench.row_arrays(folder)
            self.assertEqual(sorted(zip(rows["attention_label"], rows["head"], rows["status"])),
                             [("streamed", 0, "ok"), ("streamed", 2, "ok"), ("waits", 0, "ok"),
                              ("waits", 2, "planned")])

    def test_an_interrupt_of_two_workers_keeps_what_is_measured_beside_the_function(self):
        """No input is complete when the function is interrupted: what others have done of both is kept."""
        code = """
            import glob, signal, sys, tempfile, threading, time
            import numpy as np
            import nysbench
            signal.signal(signal.SIGINT, signal.default_int_handler)
            def waits(q, k, v):
                # both workers wait for an answer: each has started what asks here, and has sent its rows before that
                while len(glob.glob(tempfile.gettempdir() + "/nysbench-scratch-*/*/stderr.txt")) < 2:
                    time.sleep(0.01)
                if sys.argv[2] == "raise":
                    raise KeyboardInterrupt
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                time.sleep(60)
            x = np.random.default_rng(1).standard_normal((2, 2, 40, 6))
            try:
                nysbench.run(study="forward", heads=(x, x, x), attentions=["streamed", "naive", waits], trials=1,
                             timed=False, folder=sys.argv[1], progress=False, jobs=2)
            except KeyboardInterrupt:
                sys.exit(130)
        """
        for how in ("signal", "raise"):
            with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as tmp:
                done = subprocess.run([sys.executable, "-c", textwrap.dedent(code), folder, how], capture_output=True,
                                      text=True, timeout=300, env={**os.environ, "TMPDIR": tmp})
                self.assertEqual(done.returncode, 130, done.stderr)
                rows = nysbench.row_arrays(folder)
                self.assertEqual(sorted(zip(rows["attention_label"], rows["head"], rows["status"])),
                                 [(name, head, "ok") for name in ("naive", "streamed") for head in (0, 2)] +
                                 [("waits", head, "planned") for head in (0, 2)])

    def test_draws_are_those_of_a_call(self):
        """The same source, seed and trial, the same numbers: here, in nysbench.attention, and of an Attention."""
        found, _ = rows_of([noisy], (Q[0], K[0], V[0]), trials=3, timed=False, seed=5)
        of_exact = exact(Q[0].astype(float), K[0], V[0], 8**-0.5)
        for row in found["noisy"]:
            how = {"seed": nysbench.source_seed(row["source"], row["model"], seed=5), "trial": row["trial"]}
            outputs = nysbench.attention(Q[0], K[0], V[0], noisy, **how)
            self.assertAlmostEqual(np.linalg.norm(outputs - of_exact) / np.linalg.norm(of_exact), row["output_error"],
                                   places=6)
            layer = nysbench.Attention(noisy, Q[0].shape, **how)
            for _ in range(2):
                np.testing.assert_array_equal(layer(Q[0], K[0], V[0]), outputs)

    def test_draws_of_what_cannot_be_compared(self):
        lock = threading.Lock()

        def draws(q, k, v, rng):
            return v * rng.random() if lock else v

        one, again = (nysbench.attention(Q, K, V, draws, seed=3) for _ in range(2))
        np.testing.assert_array_equal(one, again)


class Calls(golden.Case):
    def test_batches_seeds_and_places(self):
        np.testing.assert_array_equal(nysbench.attention(Q, K, V, values), V)
        np.testing.assert_array_equal(nysbench.attention(Q[0, 0], K[0, 0], V[0, 0], values), V[0, 0])
        out = np.empty_like(V)
        self.assertIs(nysbench.attention(Q, K, V, values, out=out), out)
        one, again = (nysbench.attention(Q, K, V, noisy, seed=3, trial=1) for _ in range(2))
        np.testing.assert_array_equal(one, again)
        self.assertFalse(np.array_equal(one, nysbench.attention(Q, K, V, noisy, seed=3, trial=2)))
        self.assertTrue(Q.flags.writeable)

    def test_what_is_wrong_is_raised(self):
        with self.told(nysbench.ArgumentError):
            nysbench.attention(Q, K, V, lambda q, k, v: v[:1])
        with self.told(nysbench.ArgumentError):
            nysbench.attention(Q, K, V, values, causal=True)
        odd = V.copy()
        odd[1, 2, 3, 4] = np.nan
        with self.told(nysbench.NumericError):
            nysbench.attention(Q, K, V, lambda q, k, v: odd[1] if np.array_equal(v, V[1]) else v)
        with self.assertRaises(nysbench.NumericError):  # nan or inf, by the CPU
            nysbench.attention(Q, K, np.full_like(V, 3e38), "streamed")
        for returned in None, "a", [[1.0], [1.0, 2.0]]:
            with self.told(nysbench.ArgumentError):
                nysbench.attention(Q, K, V, lambda q, k, v, returned=returned: returned)
        with self.told(nysbench.ArgumentError):
            nysbench.attention(Q, K, V, lambda q, k, v: sys.exit(3))
        with self.told(nysbench.ArgumentError):
            nysbench.attention(Q, K, V, "nystrom(landmarks=4)", strategy=lambda points, m: sys.exit("bye"))
        with self.told(nysbench.ArgumentError):
            nysbench.attention(Q, K, V, values, strategy=lambda points, m: range(m))
        with self.assertRaises(ZeroDivisionError):
            nysbench.attention(Q, K, V, lambda q, k, v: 1 / 0)

    def test_a_strategy_beside_a_program(self):
        """The function picks in this process, and the program makes the rest; picks and draws are the same."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "core.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write("import sys, numpy as np\nA = np.load(sys.argv[-1] + '/A.npy')\n"
                           "np.save(sys.argv[-1] + '/X.npy', np.linalg.pinv(A, rcond=0.01))\n")
            here, elsewhere = ("nystrom(landmarks=8, core=" + core for core in (
                "svd(rcond=0.01))", f"command(run=\"{sys.executable} {path}\"))"))
            for strategy in (lambda points, m: np.arange(m)), (lambda points, m, rng: rng.permutation(len(points))[:m]):
                expected = nysbench.attention(Q[0], K[0], V[0], here, strategy=strategy)
                for _ in range(2):
                    found = nysbench.attention(Q[0], K[0], V[0], elsewhere, strategy=strategy)
                    np.testing.assert_allclose(found, expected, atol=1e-5)

            def broken(points, m):
                raise ZeroDivisionError

            def few(points, m):
                return np.arange(3)

            for spec in here, elsewhere:  # what it raises is its own, wherever the rest is made
                with self.assertRaises(ZeroDivisionError):
                    nysbench.attention(Q[0], K[0], V[0], spec, strategy=broken)
                with self.told(nysbench.ArgumentError):
                    nysbench.attention(Q[0], K[0], V[0], spec, strategy=few)
                nysbench.attention(Q[0], K[0], V[0], spec, strategy=lambda points, m: np.arange(m))

    def test_served(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write("def scaled(q, k, v, factor=1):\n    return factor * v\n")
            package = os.path.dirname(os.path.dirname(nysbench.__file__))
            spec = (f"command(run=\"env PYTHONPATH={package} {sys.executable} -m nysbench.serve {path} scaled "
                    f"factor=0.5\", "
                    "serve=true, label=served)")
            found, _ = rows_of([spec, nysbench.attention_function(lambda q, k, v: v / 2, name="half")],
                               (Q[0], K[0], V[0]),
                               trials=1, rounds=2)
            self.assertEqual(found["served"][0]["output_error"], found["half"][0]["output_error"])
            self.assertEqual(found["served"][0]["clock"], "own")  # nysbench.serve has a clock around the call


class Stepwise:
    """Exact under a mask, piece by piece; `wrong`: by how many tokens it forgets."""

    def __init__(self, wrong=0):
        self.wrong = wrong
        self.restart()

    def restart(self):
        self.k = self.v = None

    def __call__(self, q, k, v, causal):
        return masked(q, k, v, causal)

    def extend(self, q, k, v):
        self.k = k if self.k is None else np.concatenate([self.k, k], axis=1)
        self.v = v if self.v is None else np.concatenate([self.v, v], axis=1)
        scores = q @ self.k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
        n, count = self.k.shape[1], q.shape[1]
        seen = np.arange(n) <= np.arange(n - count, n)[:, None]
        if n > 60:
            seen = seen & (np.arange(n) >= self.wrong)
        scores = np.exp(scores - scores.max(-1, keepdims=True)) * seen
        return scores / scores.sum(-1, keepdims=True) @ self.v


class Steps(golden.Case):
    def test_one_with_a_state(self):
        layer = nysbench.Attention(Stepwise(), Q[0].shape, causal=True)
        one = layer(Q[0], K[0], V[0])
        for _ in range(2):
            pieces = [layer.extend(*(x[0][:, start:end] for x in (Q, K, V))) for start,
                      end in ((0, 40), (40, 41), (41, 48))]
            np.testing.assert_allclose(np.concatenate(pieces, axis=1), one, atol=1e-6)
            layer.restart()
        self.assertTrue(layer.cost.seconds > 0 and np.isnan(layer.cost.bytes))

    def test_what_is_wrong_is_raised(self):
        one = [x[0][:, :1] for x in (Q, K, V)]
        with self.told(nysbench.ArgumentError):
            nysbench.Attention(masked, Q[0].shape, causal=True).extend(*one)
        with self.told(nysbench.ArgumentError):
            nysbench.Attention(Stepwise(), Q[0].shape).extend(*one)
        layer = nysbench.Attention(Stepwise(), Q[0].shape, causal=True)
        layer.extend(*(x[0] for x in (Q, K, V)))
        with self.told(nysbench.ShapeError):
            layer.extend(*one)

    def test_check(self):
        def steps(one):
            return next(check for check in nysbench.check(one) if check.name == "steps")

        self.assertEqual(steps(Stepwise()).passed, True)
        self.show(steps(Stepwise(3)).says)
        without = Stepwise()
        without.restart = None
        self.show(steps(without).says)


class Checks(golden.Case):
    def failed(self, function):
        return {one.name: one.says for one in nysbench.check(function) if not one.passed}

    def test_one_that_looks_ahead_in_one_head_of_twelve(self):
        def leaks(q, k, v, causal):
            scores = np.exp(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
            if causal:
                seen = np.tril(np.ones_like(scores))
                at = np.arange(501, scores.shape[-1] - 1)
                seen[3 % len(q), at, at + 1] = 1
                scores = scores * seen
            return scores / scores.sum(-1, keepdims=True) @ v

        self.show(self.failed(leaks).pop("causal"))

    def test_one_cause_is_told_once_by_the_name_of_the_function(self):
        def broken(q, k, v):
            raise RuntimeError("no luck")

        def twice(points, m):
            return [0] * m

        def wide(F, A):
            return F

        for function, first, others in ((broken, "output", ["cost", "random"]), (twice, "picks", ["traits"]),
                                        (wide, "x", ["traits"])):
            found = self.failed(function)
            self.assertEqual(set(found), {first, *others})
            for says in found.values():
                self.tell(says)

    def test_what_a_pairing_lacks_is_no_failure(self):
        """Where all picks fail, those that fail since they lack what the function takes are passed over."""
        def broken(keys, m):
            raise RuntimeError("no luck")

        self.tell(self.failed(broken)["picks"])

    def test_good_ones_pass(self):
        self.assertEqual(self.failed(stable), {})
        self.tell(repr(nysbench.check(stable)).splitlines()[-1])
        self.assertEqual(self.failed(lambda points, m: range(m)), {})

    def test_huge_norms(self):
        self.tell(self.failed(masked)["output"])

    def test_from_the_shell(self):
        """FILE.py:NAME of an attention, a strategy and a core, good and bad."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write("import numpy as np\nimport nysbench\n@nysbench.strategy\ndef last(points, m):\n    return "
                           "range(len(points) - m, len(points))\n"
                           "def ahead(q, k, v, causal):\n    return np.roll(v, -1, axis=1)\ndef pinv(A):\n    return "
                           "np.linalg.pinv(A)\n"
                           "def needs(q, k, v, power):\n    return v\n")
            environment = {**os.environ, "NYSBENCH_PYTHON": sys.executable}
            for what, status in ((f"{path}:ahead", 1), (path, 0), (f"{path}:pinv", 0), (f"{path}:none", 2),
                                 (f"{path}:needs", 2), (f"{folder}/other.py", 2)):
                done = subprocess.run([nysbench.program(), "check", what], env=environment, capture_output=True,
                                      text=True, timeout=300)
                self.assertEqual(done.returncode, status, done.stdout + done.stderr)
                self.show(done.stdout + done.stderr)

    def test_equal_tokens(self):
        """One that fails only where several tokens are all the same."""
        def spread(q, k, v):
            width = np.ptp(k, axis=1, keepdims=True) if k.shape[1] > 1 else 1
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.broadcast_to((v / np.max(width)).mean(1, keepdims=True), v.shape)

        failed = self.failed(spread)
        self.assertEqual(list(failed), ["output"])
        self.tell(failed["output"])

    def test_threads(self):
        """A program that depends on the number of its threads, and on nothing else."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "threads.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(textwrap.dedent("""
                    import json, sys
                    import numpy as np
                    print('{"ready": 1, "name": "threaded"}', flush=True)
                    for line in sys.stdin:
                        asked = json.loads(line)
                        v = np.load(asked["folder"] + "/v.npy")
                        np.save(asked["folder"] + "/out.npy", v * (1 if "same" in sys.argv else asked["threads"]))
                        print('{"done": "attention"}', flush=True)
                    """))
            for word in "other", "same":
                spec = f'command(run="{sys.executable} {path} {word}", serve=true, deterministic=true, label=threaded)'
                done = subprocess.run([nysbench.program(), "check", "--kind", "attention", spec], capture_output=True,
                                      text=True, timeout=300)
                self.assertEqual(re.findall("FAIL.*, (.*?):", done.stdout), ["output"] * (word == "other"), done.stdout)
                self.show(done.stdout)

    def test_what_depends_on_more_than_its_arguments(self):
        self.tell(self.failed(lambda q, k, v: v * np.random.rand()).pop("output"))
        with self.told(TypeError):
            nysbench.check(lambda x: x)

    def test_what_there_is_nothing_to_check_of(self):
        def no_number(q, k, v):
            return np.copysign(np.nan, -np.ones_like(v))

        checks = nysbench.check(no_number)
        self.assertEqual([one.name for one in checks if not one.passed], ["output"])
        self.show(repr(checks))


if __name__ == "__main__":
    tap.main()
