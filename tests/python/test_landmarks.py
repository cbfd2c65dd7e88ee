# SPDX-License-Identifier: GPL-3.0-or-later
"""select and measure against NumPy, and against the program on the same data. usage: test_landmarks.py

A strategy's random picks are those of `nysbench select`, exactly; what is deterministic is recomputed here.
"""
import gc
import json
import math
import os
import subprocess
import sys
import tempfile
import threading

import numpy as np

import golden
import nysbench
import reference
import tap

N, D, DV = 60, 8, 5


def draw(seed=1):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((N, D)), rng.standard_normal((N, D)), rng.standard_normal((N, DV))


Q, K, V = draw()


def says(*arguments):
    return subprocess.run([nysbench.program(), *arguments], check=True, capture_output=True, text=True).stdout


class Folder:
    """Q, K, V as files, as the program takes them."""

    def __init__(self, test, causal=False):
        self.place = tempfile.TemporaryDirectory()
        test.addCleanup(self.place.cleanup)
        self.path = self.place.name
        for name, x in zip("qkv", (Q, K, V)):
            np.save(os.path.join(self.path, f"{name}.npy"), x)

    def select(self, strategy, m, side, *more):
        out = os.path.join(self.path, "picks.npy")
        says("select", "--head", self.path, "--strategy", strategy, "--landmarks", str(m), "--side", side, "-o", out,
             *more)
        return np.load(out)


class Functions(golden.Case):
    """In this process: what they return is what a strategy in C picks, what they raise is raised."""

    def test_tokens_points_and_groups(self):
        def evenly(points, m):
            return ((np.arange(m) + 0.5) * len(points) / m).astype(int)
        strided = nysbench.select(Q, 7, "uniform(strided=true)", keys=K)
        np.testing.assert_array_equal(nysbench.select(Q, 7, evenly, keys=K).tokens, strided.tokens)
        segments = nysbench.select(Q, 6, lambda points, m: nysbench.Groups(np.arange(N) * m // N), keys=K)
        np.testing.assert_array_equal(segments.queries.groups, np.repeat(np.arange(6), 10))
        np.testing.assert_allclose(segments.keys.points, K.reshape(6, 10, D).mean(1),
                                   rtol=1e-14)  # ten terms in another order
        free = nysbench.select(Q, 3, lambda points, m: points[:m] + 1, keys=K)
        np.testing.assert_array_equal(free.queries.points, Q[:3] + 1)
        np.testing.assert_array_equal(free.keys.points, K[:3] + 1)

    def test_sides(self):
        last = nysbench.select(Q, 4, lambda keys, m: keys[:, 0].argsort()[-m:], keys=K, pairing="keys")
        np.testing.assert_array_equal(last.tokens, K[:, 0].argsort()[-4:])
        two = nysbench.select(Q, 4, lambda queries, keys, m: (queries[:, 0].argsort()[:m], keys[:, 0].argsort()[:m]),
                              keys=K, pairing="both")
        np.testing.assert_array_equal(two.queries.tokens, Q[:, 0].argsort()[:4])
        np.testing.assert_array_equal(two.keys.tokens, K[:, 0].argsort()[:4])

    def test_measured(self):
        def evenly(points, m):
            return ((np.arange(m) + 0.5) * len(points) / m).astype(int)

        def pinv(A):
            return np.linalg.pinv(A, rcond=0.01)
        own = nysbench.measure(Q, K, V, strategy=evenly, landmarks=7, cores=["svd(rcond=0.01)", pinv])
        twin, = nysbench.measure(Q, K, V, strategy="uniform(strided=true)", landmarks=7, cores="svd(rcond=0.01)")
        self.assertEqual(own[0]["error"], twin["error"])
        self.assertAlmostEqual(own[1]["error"], twin["error"], delta=1e-12)  # the same cut-off, another LAPACK routine
        self.assertEqual([(row["strategy"], row["core"][:4]) for row in own], [("evenly", "svd("), ("evenly", "pinv")])

    def test_seeds_are_a_run_s(self):
        def drawn(points, m, rng):
            return rng.permutation(len(points))[:m]
        run = nysbench.run(heads=(Q, K, V), strategies=[drawn], cores="svd(rcond=0.01)", landmarks=7, trials=2,
                           progress=False)
        rows = nysbench.row_arrays(run.folder)
        for trial in range(2):
            row, = nysbench.measure(Q, K, V, strategy=drawn, landmarks=7, cores="svd(rcond=0.01)", trial=trial,
                                    problem=rows["problem"][0],
                                    seed=nysbench.source_seed(rows["source"][0], rows["model"][0]))
            self.assertEqual(row["error"], rows["error"][trial])

    def test_what_goes_wrong(self):
        def broken(points, m):
            raise LookupError
        with self.assertRaises(LookupError):
            nysbench.select(Q, 3, broken, keys=K)
        with self.assertRaises(LookupError):
            nysbench.measure(Q, K, strategy=broken, landmarks=3, cores="svd(rcond=0.01)")
        with self.assertRaises(ZeroDivisionError):
            nysbench.measure(Q, K, strategy="uniform", landmarks=3, cores=["svd(rcond=0.01)", lambda A: 1 / 0])
        with self.told(nysbench.ArgumentError):
            nysbench.measure(Q, K, strategy="uniform", landmarks=3, cores=lambda A: A[:2, :2])
        with self.told(UserWarning):
            nysbench.measure(Q, K, strategy="uniform", landmarks=3, cores="iterative(start=given, scale=0.03)")
        with self.told(UserWarning):
            row, = nysbench.measure(Q, K, strategy="uniform", landmarks=3, cores=lambda A: A * np.nan)
        self.assertEqual(row["status"], "diverged")
        for function, kind in (
                (lambda points, m: range(2), nysbench.ArgumentError),
                (lambda points, m: [1, 1, 2], nysbench.ArgumentError),
                (lambda points, m: [1, N, 2], nysbench.ArgumentError),
                (lambda points, m: np.full((m, points.shape[1]), np.nan), nysbench.NumericError),
                (lambda points, m: nysbench.Groups([0] * N), nysbench.ArgumentError),
                (lambda points, m: None, nysbench.ArgumentError), (lambda points, m: "abc", nysbench.ArgumentError),
                (lambda points, m: sys.exit(3), nysbench.ArgumentError)):
            with self.told(kind):
                nysbench.select(Q, 3, function, keys=K)
            with self.told(kind):
                nysbench.measure(Q, K, strategy=function, landmarks=3, cores=["svd(rcond=0.03)", lambda A: A])
        with self.told(TypeError):
            nysbench.measure(Q, K, strategy=lambda A: A, landmarks=3, cores="svd")
        with self.assertRaises(KeyboardInterrupt):
            nysbench.select(Q, 3, interrupted, keys=K)


    def test_functions_end_within_another(self):
        """Python may collect one that has raised while the library calls another."""
        def broken(points, m):
            raise LookupError

        def collecting(points, m):
            gc.collect()
            return range(m)
        for _ in range(20):
            with self.assertRaises(LookupError):
                nysbench.select(Q, 3, broken, keys=K)
            np.testing.assert_array_equal(nysbench.select(Q, 3, collecting, keys=K).tokens, range(3))


def interrupted(points, m):
    raise KeyboardInterrupt


class Several(golden.Case):
    def test_heads_in_turn(self):
        """Numbered as in a file; key heads are shared."""
        rng = np.random.default_rng(4)
        q, k = rng.standard_normal((2, 4, N, D)), rng.standard_normal((2, 2, N, D))
        rows = nysbench.measure(q, k, k, strategy="kmeans", landmarks=5, cores="svd(rcond=0.1)")
        self.assertEqual([row["head"] for row in rows], list(range(8)))
        alone, = nysbench.measure(q[1, 3], k[1, 1], k[1, 1], strategy="kmeans", landmarks=5, cores="svd(rcond=0.1)",
                                  head=7)
        self.assertEqual(rows[7]["error"], alone["error"])
        picks = nysbench.select(q, 5, "kmeans", keys=k)
        self.assertEqual([len(picks), len(picks[0])], [2, 4])
        np.testing.assert_array_equal(picks[1][3].queries.points,
                                      nysbench.select(q[1, 3], 5, "kmeans", keys=k[1, 1], head=7).queries.points)
        with self.told(nysbench.ShapeError):
            nysbench.measure(q, rng.standard_normal((2, 3, N, D)), strategy="uniform", landmarks=5)


class Select(golden.Case):
    def test_tokens_of_one_set_are_an_array_of_indices(self):
        tokens = nysbench.select(Q, 7, "uniform").tokens
        self.assertEqual((tokens.dtype, tokens.shape, len(set(tokens))), (np.int64, (7,), 7))
        self.assertTrue(0 <= tokens.min() and tokens.max() < N)

    def test_pivoted_cholesky_of_the_gram_matrix(self):
        residual, pivots = Q @ Q.T, []
        for _ in range(6):
            pivots.append(int(np.argmax(np.diag(residual))))
            column = residual[:, pivots[-1]]
            residual = residual - np.outer(column, column) / column[pivots[-1]]
        picks = nysbench.select(Q, 6, "greedy_cholesky(of=gram)")
        self.assertEqual(sorted(picks.tokens), sorted(pivots))
        np.testing.assert_array_equal(picks.points, Q[picks.tokens])
        self.assertIs(picks.queries, picks.keys)

    def test_groups_and_their_means(self):
        picks = nysbench.select(Q, 4, "kmeans", keys=K)
        self.assertEqual(picks.kind, "groups")
        for side, x in ((picks.queries, Q), (picks.keys, K)):
            self.assertEqual((side.groups.dtype, side.groups.shape), (np.int64, (N,)))
            means = [x[side.groups == g].mean(axis=0) for g in range(4)]
            # Means of at most N numbers below 4, added in another order: N u of that, u = 1.1e-16.
            np.testing.assert_allclose(side.points, means, rtol=0, atol=N * 4 * 2.0**-53)
        self.told(nysbench.ArgumentError, lambda: picks.tokens)
        self.told(nysbench.ArgumentError, lambda: picks.points)

    def test_picks_are_those_of_the_program(self):
        folder = Folder(self)
        for strategy, pairing in (("uniform", None), ("kmeans(restarts=2)", "independent"), ("leverage", None),
                                  ("pilot", None)):
            more = () if pairing is None else ("--pairing", pairing)
            picks = nysbench.select(Q, 9, strategy, keys=K, pairing=pairing, seed=5, trial=2)
            for side in ("queries", "keys"):
                with self.subTest(strategy=strategy, side=side):
                    found = getattr(picks, side)
                    expected = folder.select(strategy, 9, side, "--seed", "5", "--trial", "2", "--draws", "shared",
                                             *more)
                    np.testing.assert_array_equal(found.tokens if expected.ndim == 1 else found.points, expected)

    def test_the_seed_of_what_names_none_is_the_library_s(self):
        from nysbench import _arguments, _landmarks
        self.assertEqual(_landmarks._Request.new().seed, _arguments.SEED)

    def test_seed_and_trial_move_random_picks(self):
        first = nysbench.select(Q, 10, "uniform").tokens
        np.testing.assert_array_equal(first, nysbench.select(Q, 10, "uniform", seed=20260101, trial=0).tokens)
        for other in (dict(seed=1), dict(trial=1), dict(seed=2**63 - 1), dict(trial=999999)):  # the largest too
            self.assertFalse(np.array_equal(first, nysbench.select(Q, 10, "uniform", **other).tokens))

    def test_a_head_of_a_file(self):
        path = Folder(self).path
        for draws, seed in (("source", nysbench.source_seed(path)), ("shared", None)):
            picks = nysbench.select(path, 5, "uniform", draws=draws)
            np.testing.assert_array_equal(picks.tokens, nysbench.select(Q, 5, "uniform", keys=K, seed=seed).tokens)
        np.testing.assert_array_equal(nysbench.select(path, 5, "uniform").tokens,
                                      nysbench.select(path, 5, "uniform", draws="source").tokens)
        for given in ((path, "both"), (Q, "source")):
            with self.told(nysbench.ArgumentError):
                nysbench.select(given[0], 5, "uniform", draws=given[1])

    def test_any_layout_and_type_gives_the_same(self):
        expected = nysbench.select(Q.astype(np.float16), 6, "kmeans", keys=K.astype(np.float16)).queries.points
        half, other = Q.astype(np.float16), K.astype(np.float16)
        read_only = half.astype(float)
        read_only.flags.writeable = False
        wide = np.zeros((2 * N, D + 3))
        wide[::2, 1:-2] = half
        for x in (half.astype(np.float32), half.astype(">f8"), np.asfortranarray(half, float), wide[::2, 1:-2],
                  read_only,
                  half.astype(float).tolist()):
            np.testing.assert_array_equal(nysbench.select(x, 6, "kmeans", keys=other).queries.points, expected)

    def test_a_name_of_a_file_that_is_not_utf_8(self):
        path = os.path.join(os.fsencode(Folder(self).path), b"h\xff")
        os.symlink(b".", path)
        picks = nysbench.select(os.fsdecode(path), 8, "uniform", draws="shared")
        np.testing.assert_array_equal(picks.tokens, nysbench.select(Q, 8, "uniform", keys=K).tokens)

    def test_results_outlive_the_next_call(self):
        picks = nysbench.select(Q, 6, "uniform")
        before = picks.tokens.copy(), picks.points.copy()
        for seed in range(20):
            nysbench.select(K, 12, "kmeans", seed=seed)
        np.testing.assert_array_equal(picks.tokens, before[0])
        np.testing.assert_array_equal(picks.points, before[1])

    def test_threads_give_what_one_gives(self):
        expected = [nysbench.select(Q, 8, "kmeans", keys=K, seed=seed).queries.points for seed in range(8)]
        found = [None] * 8

        def work(seed):
            for _ in range(5):
                found[seed] = nysbench.select(Q, 8, "kmeans", keys=K, seed=seed).queries.points

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for a, b in zip(found, expected):
            np.testing.assert_array_equal(a, b)

    def test_mistakes(self):
        nan = Q.copy()
        nan[3, 2], inf = np.nan, np.full_like(K, np.inf)
        self.told(nysbench.ShapeError, nysbench.select, Q[:, 0], 3, "uniform")
        self.told(nysbench.ShapeError, nysbench.select, Q, 3, "uniform", keys=K[1:])
        self.told(nysbench.NumericError, nysbench.select, nan, 3, "uniform")
        self.told(nysbench.NumericError, nysbench.select, Q, 3, "uniform", keys=inf)
        self.told(nysbench.ArgumentError, nysbench.select, Q, 3, "kmean")
        self.told(nysbench.ArgumentError, nysbench.select, Q, 3, "kmeans(restart=2)")
        self.told(nysbench.ArgumentError, nysbench.select, Q, 61, "uniform")
        self.told(nysbench.ArgumentError, nysbench.select, Q, 0, "uniform")
        self.told(nysbench.ArgumentError, nysbench.select, Q, 3, "uniform", seed=-1)
        self.told(nysbench.ArgumentError, nysbench.select, Q, 3, "uniform", keys=K, pairing="jiont")
        self.told(nysbench.ArgumentError, nysbench.select, Q, 3, "uniform\0")
        self.told(nysbench.ArgumentError, nysbench.select, Q, 3, "command(run=true)")
        self.told(nysbench.ArgumentError, nysbench.select, np.ma.masked_less(Q, 0), 3, "uniform")
        self.told(nysbench.FileError, nysbench.select, "/nowhere.safetensors", 3, "uniform")
        self.told(nysbench.ArgumentError, nysbench.select, "experiments/data/vit_astronaut_n257_L6.safetensors", 3,
                  "uniform")
        self.told(TypeError, nysbench.select, Q + 1j, 3, "uniform")
        self.told(TypeError, nysbench.select, Q > 0, 3, "uniform")
        self.told(TypeError, nysbench.select, Q, 3.0, "uniform")
        self.told(TypeError, nysbench.select, Q, True, "uniform")
        self.told(TypeError, nysbench.select, Q, 3, None)
        self.told(nysbench.ArgumentError, nysbench.select, Q, 3, "uniform\ud800")
        self.told(TypeError, nysbench.select, Q, 3, "uniform", causal="false")
        self.assertTrue(issubclass(nysbench.ArgumentError, ValueError) and issubclass(nysbench.ShapeError, ValueError))
        self.assertTrue(issubclass(nysbench.FileError, OSError) and issubclass(nysbench.OutOfMemoryError, MemoryError))
        self.assertEqual(len(nysbench.select(Q, 3, "uniform").tokens), 3)  # an error leaves nothing behind


class Measure(golden.Case):
    def error(self, query_points, key_points):
        """Of F pinv(A) B, relative, and of its output."""
        s = reference.scores(Q, K)
        approximation = reference.nystrom(Q, K, np.eye(N), query_points, key_points)
        return reference.distance(approximation, s), reference.distance(approximation @ V, s @ V)

    def check(self, row, query_points, key_points):
        error, output_error = self.error(query_points, key_points)
        # Both in double; pinv multiplies rounding by |X|, here below 1e3, so 1e-10 is a thousand times what is
        # expected.
        self.assertAlmostEqual(row["error"], error, delta=1e-10 * error)
        self.assertAlmostEqual(row["output_error"], output_error, delta=1e-10 * output_error)

    def test_the_error_of_a_strategy(self):
        picks = nysbench.select(Q, 8, "kmeans", keys=K)
        row, = nysbench.measure(Q, K, V, strategy="kmeans", landmarks=8, cores="svd(rcond=machine)")
        self.assertEqual((row["status"], row["landmarks"], row["n"], row["d"]), ("ok", 8, N, D))
        self.check(row, picks.queries.points, picks.keys.points)

    def test_the_error_of_landmarks_of_ones_own(self):
        tokens, points = np.array([3, 1, 40, 22, 9]), np.random.default_rng(2).standard_normal((5, D))
        row, = nysbench.measure(Q, K, V, query_landmarks=tokens, cores=["svd(rcond=machine)"])
        self.check(row, Q[tokens], K[tokens])
        row, = nysbench.measure(Q, K, V, query_landmarks=points, key_landmarks=K[tokens], cores=["svd(rcond=machine)"])
        self.check(row, points, K[tokens])
        row, = nysbench.measure(Q, K, V, query_landmarks=tokens[::-1].astype(np.int16), key_landmarks=tokens.tolist(),
                                cores="svd(rcond=machine)")
        self.check(row, Q[tokens[::-1]], K[tokens])

    def test_rows_are_those_of_the_program(self):
        times = {name for name in nysbench.measure(Q, K, V, strategy="uniform", landmarks=8)[0] if name.endswith("_s")}
        lines = says("measure", "--head", Folder(self).path, "--strategy", "uniform", "--landmarks", "8", "--seed", "3",
                     "--draws", "shared", "--json")
        expected = [json.loads(line) for line in lines.splitlines()]
        same = dict(problem=expected[0]["problem"], head=expected[0]["head"])  # some cores draw rows by it
        rows = nysbench.measure(Q, K, V, strategy="uniform", landmarks=8, seed=3, **same)
        self.assertEqual(len(rows), len(expected))
        for row, other in zip(rows, expected):
            self.assertEqual(list(row), list(other))
            for column in set(row) - times - {"problem", "source", "experiment"}:
                with self.subTest(core=row["core"], column=column):
                    a, b = row[column], other[column]
                    self.assertTrue(a == b or (b is None and (a is None or math.isnan(a))), f"{a} {b}")

    def test_a_core_worse_than_the_constant_matrix_is_a_warning(self):
        with self.told(UserWarning):
            row, = nysbench.measure(Q, K, strategy="uniform", landmarks=8, cores="svd(rcond=machine)")
        self.assertGreaterEqual(row["error"], row["baseline_mean"])

    def test_empty_cells(self):
        row, = nysbench.measure(Q, K, strategy="uniform", landmarks=8, cores="svd(rcond=machine)")
        self.assertTrue(math.isnan(row["output_error"]))
        self.assertIsNone(row["model"])

    def test_metrics_cores_factors_and_mask(self):
        rows = nysbench.measure(Q, K, strategy="uniform", landmarks=8, cores=["svd", "tikhonov(lambda=0.1)"],
                                metrics=["error"])
        self.assertEqual(len(rows), 2)
        self.assertTrue(math.isnan(rows[0]["spectral_error"]))
        self.assertFalse(math.isnan(nysbench.measure(Q, K, strategy="uniform", landmarks=8,
                                                     cores="svd(rcond=machine)")[0]["spectral_error"]))
        cur, = nysbench.measure(Q, K, strategy="uniform", landmarks=8, cores="svd(rcond=machine)", factors="cur")
        self.assertEqual(cur["factors"], "cur")
        masked, = nysbench.measure(Q, K, strategy="uniform", landmarks=8, cores="svd(rcond=machine)", factors="cur",
                                   causal=True)
        self.assertNotEqual(cur["error"], masked["error"])

    def test_one_set_of_points(self):
        row, = nysbench.measure(Q, strategy="uniform", landmarks=4, cores="svd(rcond=machine)")
        tokens = nysbench.select(Q, 4, "uniform").tokens
        gram, c = Q @ Q.T, (Q @ Q.T)[:, tokens]
        approximation = c @ np.linalg.pinv(c[tokens]) @ c.T
        # In double; rounding is multiplied by the condition of the block, below 1e4 for 4 normal points in 8
        # dimensions.
        self.assertAlmostEqual(row["error"], reference.distance(approximation, gram), delta=1e-10)

    def test_mistakes(self):
        t = np.arange(5)
        self.told(nysbench.ArgumentError, nysbench.measure, Q, K, strategy="uniform")
        self.told(nysbench.ArgumentError, nysbench.measure, Q, K, query_landmarks=t, landmarks=5)
        self.told(nysbench.ShapeError, nysbench.measure, Q, K, query_landmarks=t, key_landmarks=t[1:])
        self.told(nysbench.ShapeError, nysbench.measure, Q, K, query_landmarks=Q[:5, 1:], key_landmarks=K[:5])
        self.told(nysbench.ShapeError, nysbench.measure, Q, K, query_landmarks=Q[:5, 0])
        self.told(nysbench.ArgumentError, nysbench.measure, Q, K, query_landmarks=t + 56)
        self.told(nysbench.ArgumentError, nysbench.measure, Q, K, key_landmarks=t + 56)
        self.told(nysbench.ArgumentError, nysbench.measure, "experiments/data/vit_astronaut_n257_L6.safetensors",
                  query_landmarks=t)
        self.told(nysbench.ArgumentError, nysbench.measure, Q, K, query_landmarks=np.arange(61))
        self.told(nysbench.ArgumentError, nysbench.measure, Q, K, query_landmarks=Q[:4])
        self.told(nysbench.ArgumentError, nysbench.measure, Q, K, key_landmarks=K[:4])
        self.told(TypeError, nysbench.measure, Q, K, query_landmarks=t, cores=3)
        self.told(TypeError, nysbench.measure, Q, K, query_landmarks=t, metrics=[3])
        self.told(nysbench.ArgumentError, nysbench.measure, Q, K, query_landmarks=t, cores=())
        self.told(nysbench.ArgumentError, nysbench.measure, Q, K, query_landmarks=t, metrics=[])
        self.told(nysbench.ArgumentError, nysbench.measure, Q, K, query_landmarks=t * 0)
        self.told(nysbench.ShapeError, nysbench.measure, Q, K, V[1:], strategy="uniform", landmarks=5)
        self.told(nysbench.ArgumentError, nysbench.measure, Q, K, strategy="uniform", landmarks=5, cores="svdd")
        self.told(nysbench.ArgumentError, nysbench.measure, Q, K, strategy="uniform", landmarks=5, metrics="eror")
        self.told(nysbench.ArgumentError, nysbench.measure, Q, K, strategy="uniform", landmarks=5, factors="nystrom")


class Names(golden.Case):
    def test_what_the_program_lists(self):
        for kind, plural in (("strategy", "strategies"), ("attention", "attentions"), ("core", "cores"),
                             ("problem", "problems")):
            listed = [line.split(None, 1) for line in says("list", plural).splitlines() if line]
            self.assertEqual(nysbench.names(kind), [name for name, _ in listed])
            self.assertEqual(nysbench.summary(kind, listed[0][0]), listed[0][1].strip())
        self.assertEqual(nysbench.strategies(), nysbench.names("strategy"))

    def test_describe_is_the_program_s(self):
        self.assertEqual(nysbench.describe("kmeans").strip(), says("describe", "kmeans").strip())
        self.assertIn("partition", nysbench.describe("kmeans", "partition"))
        self.assertNotIn("(strategy)", nysbench.describe("kmeans", "partition"))

    def test_version_is_the_program_s(self):
        self.assertIn(nysbench.version, says("--version"))

    def test_mistakes(self):
        self.told(nysbench.ArgumentError, lambda: nysbench.names("stratgy"))
        self.told(nysbench.ArgumentError, lambda: nysbench.describe("kmean"))
        self.told(nysbench.ArgumentError, lambda: nysbench.summary("strategy", "kmean"))
        self.assertRaises(TypeError, lambda: nysbench.names(None))


if __name__ == "__main__":
    tap.main()
