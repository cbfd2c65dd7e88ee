# SPDX-License-Identifier: GPL-3.0-or-later
"""attention and Attention against NumPy. usage: test_attention.py"""
import copy
import gc
import os
import pickle
import signal
import threading
import unittest
from unittest import mock

import numpy as np

import golden
import nysbench
import reference
import tap
from nysbench import _arguments, _attention, _library
from nysbench._attention import InLibrary

NEW = np.random.default_rng(3)


def draw(heads=4, key_heads=None, n=70, d=16, dv=None, batch=()):
    keys = (*batch, key_heads or heads, n)
    return (NEW.standard_normal((*batch, heads, n, d), np.float32), NEW.standard_normal((*keys, d), np.float32),
            NEW.standard_normal((*keys, dv or d), np.float32))


class Exact(unittest.TestCase):
    def check(self, q, k, v, causal=False, **more):
        formula = lambda *x: reference.exact(*x, causal)
        out = nysbench.attention(q, k, v, "streamed", causal=causal, **more)
        self.assertEqual((out.dtype, out.shape), (np.float32, q.shape[:-1] + v.shape[-1:]))
        self.assertLessEqual(reference.distance(out, formula(*(x.astype(float) for x in (q, k, v)))),
                             reference.tolerance(formula, q, k, v))

    def test_heads(self):
        self.check(*draw())

    def test_mask(self):
        self.check(*draw(), causal=True)

    def test_batches(self):
        self.check(*draw(batch=(3,)))

    def test_grouped_queries(self):
        self.check(*draw(heads=6, key_heads=2))
        self.check(*draw(heads=6, key_heads=2, batch=(2,)), causal=True)

    def test_values_of_another_dimension(self):
        self.check(*draw(dv=5))

    def test_one_token(self):
        self.check(*draw(n=1))

    def test_a_batch_is_its_inputs(self):
        q, k, v = draw(batch=(3,))
        out = nysbench.attention(q, k, v, "streamed")
        for i in range(3):
            np.testing.assert_array_equal(out[i], nysbench.attention(q[i], k[i], v[i], "streamed"))

    def test_any_number_of_threads_gives_the_same_bits(self):
        q, k, v = draw()
        expected = nysbench.attention(q, k, v, "nystrom(landmarks=16)", threads=1)
        for threads in (2, 3, None):
            np.testing.assert_array_equal(nysbench.attention(q, k, v, "nystrom(landmarks=16)", threads=threads),
                                          expected)

    def test_any_layout_and_type_gives_the_same(self):
        q, k, v = (x.astype(np.float16) for x in draw())
        expected = nysbench.attention(*(x.astype(np.float32) for x in (q, k, v)), "streamed")
        swapped = np.ascontiguousarray(np.swapaxes(q, 0, 1).astype(np.float32))  # (n, heads, d), as models have it
        strided = np.zeros((*q.shape[:-1], 2 * q.shape[-1]), np.float32)
        strided[..., ::2] = q
        unaligned = np.frombuffer(b"\0" + q.astype(np.float32).tobytes(),
                                  np.uint8)[1:].view(np.float32).reshape(q.shape)
        read_only = q.astype(np.float32)
        read_only.flags.writeable = False
        for other in (q, q.astype(float), q.astype(">f4"), np.swapaxes(swapped, 0, 1), strided[..., ::2], unaligned,
                      read_only):
            np.testing.assert_array_equal(nysbench.attention(other, k, v, "streamed"), expected)
        self.assertFalse(unaligned.flags.aligned)  # which only some CPUs mind
        self.assertTrue(_arguments.real_array("q", unaligned, np.dtype(np.float32)).flags.aligned)



class Pieces(golden.Case):
    def test_pieces_have_the_bits_of_one_pass(self):
        for batch in (), (2,):
            x = draw(heads=4, key_heads=2, n=90, dv=5, batch=batch)
            shapes = [y.shape for y in x]
            attention = nysbench.Attention("merging(window=7, landmarks=9)", *shapes, causal=True)
            whole = attention(*x)
            for _ in range(2):
                cuts = [0, 40, *range(41, 91)]
                pieces = [attention.extend(*(y[..., a:b, :] for y in x)) for a, b in zip(cuts, cuts[1:])]
                np.testing.assert_array_equal(np.concatenate(pieces, axis=-2), whole)
                self.assertGreater(attention.cost.multiplications, 0)
                with self.told(nysbench.ShapeError):
                    attention.extend(*(y[..., :1, :] for y in x))
                attention.restart()

    def test_outputs_go_where_they_are_asked_for(self):
        q, k, v = draw(n=20, dv=3)
        attention = nysbench.Attention("streamingllm", q.shape, k.shape, v.shape, causal=True)
        out = np.empty((4, 2, 3), np.float32)
        self.assertIs(attention.extend(q[:, :2], k[:, :2], v[:, :2], out), out)
        with self.assertRaises(nysbench.ShapeError):
            attention.extend(q[:, :3], k[:, :3], v[:, :3], out)

    def test_what_does_not_fit_is_refused(self):
        q, k, v = draw(n=20)
        shapes = q.shape, k.shape, v.shape
        with self.told(nysbench.ArgumentError):
            nysbench.Attention("streamed", *shapes, causal=True).extend(q[:, :1], k[:, :1], v[:, :1])
        attention = nysbench.Attention("h2o", *shapes, causal=True)
        for wrong in (q[:, :1], k[:, :2], v[:, :1]), (q[0, 0], k[:, :1], v[:, :1]), (q[0], k[0], v[0]):
            with self.assertRaises(nysbench.ShapeError):
                attention.extend(*wrong)
        with self.told(nysbench.ArgumentError):
            attention.extend(q[:, :0], k[:, :0], v[:, :0])

class Approximate(unittest.TestCase):
    def test_nystrom_is_its_formula(self):
        q, k, v = draw(heads=1)
        picks = nysbench.select(q[0], 12, "segment_means", keys=k[0])
        points = picks.queries.points.astype(np.float32), picks.keys.points.astype(np.float32)
        formula = lambda *x: reference.nystrom(*x)
        out = nysbench.attention(q, k, v, "nystrom(strategy=segment_means, landmarks=12, core=svd(rcond=machine))")
        expected = formula(*(x.astype(float) for x in (q[0], k[0], v[0], *points)))
        self.assertLessEqual(reference.distance(out[0], expected),
                             reference.tolerance(formula, q[0], k[0], v[0], *points))

    def test_default_cores_are_better_than_the_mean_of_v(self):
        q, k, v = (np.random.default_rng(1).standard_normal((heads, 256, 32), np.float32) for heads in (8, 2, 2))
        exact = nysbench.attention(q, k, v, "streamed")
        worst = reference.distance(np.broadcast_to(np.repeat(v.mean(1, keepdims=True), 4, axis=0), exact.shape), exact)
        for core in ("svd", "tikhonov", "iterative"):
            out = nysbench.attention(q, k, v, f"nystrom(strategy=kmeans, landmarks=64, core={core})")
            self.assertLess(reference.distance(out, exact), worst, core)

    def test_a_call_has_no_memory(self):
        spec = "nystrom(strategy=uniform, landmarks=8, refresh=10)"
        (q, k, v), (other, *_) = draw(), draw()
        expected = [nysbench.Attention(spec, q.shape)(x, k, v) for x in (q, other)]
        for x, alone in zip((q, other), expected):
            np.testing.assert_array_equal(nysbench.attention(x, k, v, spec), alone)

    def test_an_object_keeps_what_its_attention_keeps(self):
        (q, k, v), (other, *_) = draw(), draw()
        spec = "nystrom(strategy=uniform, landmarks=8, refresh=10)"
        keeps = nysbench.Attention(spec, q.shape)
        first = keeps(q, k, v)
        kept = keeps(other, k, v)
        keeps.restart()
        fresh = keeps(other, k, v)
        self.assertFalse(np.array_equal(kept, fresh))
        np.testing.assert_array_equal(fresh, nysbench.attention(other, k, v, spec))
        np.testing.assert_array_equal(first, nysbench.attention(q, k, v, "nystrom(strategy=uniform, landmarks=8)"))

    def test_seed_and_trial(self):
        q, k, v = draw()
        spec = "performer(features=32)"
        first = nysbench.attention(q, k, v, spec)
        np.testing.assert_array_equal(first, nysbench.attention(q, k, v, spec, seed=20260101, trial=0))
        for other in (dict(seed=1), dict(trial=1)):
            self.assertFalse(np.array_equal(first, nysbench.attention(q, k, v, spec, **other)))

    def test_cost(self):
        q, k, v = draw()
        opened = nysbench.Attention("naive", q.shape, threads=1)
        opened(q, k, v)
        heads, n, d = q.shape
        self.assertEqual(opened.cost.multiplications, 2 * heads * n * n * d)
        self.assertGreater(opened.cost.seconds, 0)
        self.assertGreaterEqual(opened.cost.bytes, 4 * n * n)


class Out(golden.Case):
    def test_out_takes_the_outputs(self):
        q, k, v = draw(dv=3)
        out = np.full((4, 70, 3), np.nan, np.float32)
        self.assertIs(nysbench.attention(q, k, v, "streamed", out=out), out)
        np.testing.assert_array_equal(out, nysbench.attention(q, k, v, "streamed"))

    def test_out_may_be_beside_an_input_but_not_on_it(self):
        q, k, v = draw()
        room = np.empty(2 * q.size, np.float32)
        first, second, across = room[:q.size], room[q.size:], room[q.size - 1:-1]
        for one, other in ((first, second), (second, first)):
            one[:] = q.ravel()
            found = nysbench.attention(one.reshape(q.shape), k, v, "streamed", out=other.reshape(q.shape))
            np.testing.assert_array_equal(found, nysbench.attention(q, k, v, "streamed"))
            for arrays in ((one.reshape(q.shape), k, v), (q, one.reshape(q.shape), v), (q, k, one.reshape(q.shape))):
                self.told(nysbench.ArgumentError, nysbench.attention, *arrays, "streamed", out=across.reshape(q.shape))

    def test_mistakes(self):
        q, k, v = draw()
        read_only = np.empty_like(q)
        read_only.flags.writeable = False
        for kind, out in ((nysbench.ArgumentError, np.empty(q.shape)),
                          (nysbench.ArgumentError, np.empty_like(q).swapaxes(0, 1)),
                          (nysbench.ArgumentError, read_only), (nysbench.ArgumentError, q.tolist()),
                          (nysbench.ShapeError, np.empty((4, 70, 15), np.float32)), (nysbench.ArgumentError, q)):
            self.told(kind, nysbench.attention, q, k, v, "streamed", out=out)


class Mistakes(golden.Case):
    def test_shapes(self):
        q, k, v = draw()
        for arrays in ((q[0, 0], k[0, 0], v[0, 0]), (q[None], k, v), (q, k[:, 1:], v[:, 1:]),
                       (q[None].repeat(2, 0), k[None], v[None]), (q, k[..., 1:], v), (q, k[1:], v[1:]),
                       (q, k[1:3], v)):
            with self.subTest([x.shape for x in arrays]):
                self.told(nysbench.ShapeError, nysbench.attention, *arrays, "streamed")
        self.told(nysbench.ArgumentError, nysbench.attention, q[:, :0], k[:, :0], v[:, :0], "streamed")
        self.told(TypeError, nysbench.Attention, "streamed", q)
        self.told(TypeError, nysbench.Attention, "streamed", q.shape, 3)
        opened = nysbench.Attention("streamed", q.shape)
        self.told(nysbench.ShapeError, opened, q[:, 1:], k, v)

    def test_a_copy_would_be_freed_twice(self):
        opened = nysbench.Attention("streamed", (4, 70, 16))
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            self.told(TypeError, copied, opened)

    def test_numbers(self):
        q, k, v = draw()
        for x in np.nan, np.inf, 1e300:
            wrong = k.astype(float)
            wrong[2, 3, 4] = x
            self.told(nysbench.NumericError, nysbench.attention, q, wrong, v, "streamed")
        self.told(TypeError, nysbench.attention, q, k + 1j, v, "streamed")
        nysbench.attention(q, k, v, "streamed")

    def test_specs(self):
        q, k, v = draw()
        for kind, spec, more in (
                (nysbench.ArgumentError, "nystrm", {}), (nysbench.ArgumentError, "nystrom(landmark=4)", {}),
                (nysbench.ArgumentError, "nystrom(landmarks=71)", {}),
                (nysbench.ArgumentError, "nystrom(landmarks=4)", dict(causal=True)),
                (nysbench.ArgumentError, "streamed", dict(threads=0)),
                (nysbench.ArgumentError, "streamed", dict(threads=100000)),
                (nysbench.ArgumentError, "streamed", dict(trial=-1)), (TypeError, 3, {}), (TypeError, ["streamed"], {}),
                (TypeError, "streamed", dict(causal="false")), (TypeError, "streamed", dict(threads=1.5))):
            with self.subTest(spec=spec, **more):
                self.told(kind, nysbench.attention, q, k, v, spec, **more)


class Threads(unittest.TestCase):
    def in_threads(self, work, count=6):
        failures = []

        def guarded(i):
            try:
                work(i)
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_calls_of_many_threads(self):
        layers = [draw() for _ in range(6)]
        spec = "nystrom(strategy=kmeans, landmarks=8)"
        expected = [nysbench.attention(*layer, spec, threads=2) for layer in layers]

        def work(i):
            for _ in range(20):
                np.testing.assert_array_equal(nysbench.attention(*layers[i], spec, threads=2), expected[i])

        self.in_threads(work)

    def test_one_object_shared_by_threads(self):
        layers = [draw(n=400) for _ in range(6)]
        spec = "nystrom(landmarks=16)"
        opened = nysbench.Attention(spec, layers[0][0].shape, threads=2)
        expected = [nysbench.attention(*layer, spec) for layer in layers]

        def work(i):
            for _ in range(20):
                np.testing.assert_array_equal(opened(*layers[i]), expected[i])

        self.in_threads(work)

    def test_fork(self):
        q, k, v = draw()
        spec = "nystrom(landmarks=8)"
        expected = nysbench.attention(q, k, v, spec, threads=2)
        opened = nysbench.Attention(spec, q.shape, threads=2)
        child = os.fork()
        if child == 0:
            same = np.array_equal(nysbench.attention(q, k, v, spec, threads=2), expected)
            same = same and np.array_equal(opened(q, k, v), expected)
            del opened
            gc.collect()
            os._exit(0 if same else 1)
        watch = threading.Timer(60, os.kill, (child, signal.SIGKILL))  # where it waits for threads that it has not
        watch.start()
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        watch.cancel()
        np.testing.assert_array_equal(opened(q, k, v), expected)

    def test_a_child_frees_nothing_of_other_threads(self):
        """To free an attention waits for its threads, which the child lacks: for ever, where one of its own has their
        place."""
        freed, opened, finish = [], threading.Event(), threading.Event()

        def hold():
            nysbench.attention(*draw(), "nystrom(landmarks=8)", threads=2)
            nysbench.select(draw()[0][0], 8, "uniform")
            opened.set()
            finish.wait()

        freeing = [mock.patch.object(owner.__del__, "__defaults__", (freed.append, *owner.__del__.__defaults__[1:]))
                   for owner in (InLibrary, _library.Handle)]
        thread = threading.Thread(target=hold)
        thread.start()
        self.assertTrue(opened.wait(60))
        with freeing[0], freeing[1]:
            child = os.fork()
            if child == 0:
                gc.collect()
                os._exit(len(freed))
        finish.set()
        thread.join()
        self.assertEqual(os.waitpid(child, 0)[1], 0)


class Kept(unittest.TestCase):
    def opened(self, calls):
        """How many attentions the calls open, in a thread of their own."""
        count, one = [], nysbench._attention.Attention

        class Counted(one):
            def __init__(self, *arguments, **more):
                count.append(self)
                super().__init__(*arguments, **more)

        def work():
            _attention.Attention = Counted
            try:
                calls()
                self.held = len(_attention._opened())
            finally:
                _attention.Attention = one

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return len(count)

    def test_the_latest_stay_open(self):
        layer = draw(n=8)
        seeds = lambda *numbers: [nysbench.attention(*layer, "streamed", seed=seed) for seed in numbers]
        self.assertEqual(self.opened(lambda: seeds(*[1] * 5)), 1)
        self.assertEqual(self.opened(lambda: seeds(*range(8), *range(8))), 8)
        self.assertEqual(self.opened(lambda: seeds(*range(8), 0, 8, 0, 1)), 10)
        self.assertEqual(self.held, 8)

    def test_what_holds_much_memory_does_not(self):
        layer = draw(heads=1, n=4500, d=4)  # S takes 81 MB
        self.assertEqual(self.opened(lambda: nysbench.attention(*layer, "naive", threads=1)), 1)
        self.assertEqual(self.held, 0)


class OneHead(unittest.TestCase):
    def test_matrices(self):
        x = np.random.default_rng(3).standard_normal((3, 40, 8)).astype(np.float32)
        expected, out = nysbench.attention(*x[:, None], "streamed", causal=True)[0], np.empty((40, 8), np.float32)
        np.testing.assert_array_equal(nysbench.attention(*x, "streamed", causal=True), expected)
        self.assertIs(nysbench.attention(*x, "streamed", causal=True, out=out), out)
        np.testing.assert_array_equal(out, expected)


class Functions(unittest.TestCase):
    def test_landmarks_of_a_function(self):
        """Called from the threads of the pass; the same bits as its twin in C."""
        x = np.random.default_rng(3).standard_normal((3, 4, 64, 8)).astype(np.float32)
        calls = []

        def evenly(points, m):
            calls.append(m)
            return ((np.arange(m) + 0.5) * len(points) / m).astype(int)
        own = nysbench.attention(*x, "nystrom(landmarks=16, core=iterative)", strategy=evenly, threads=2)
        twin = nysbench.attention(*x, "nystrom(landmarks=16, core=iterative, strategy=uniform(strided=true))")
        np.testing.assert_array_equal(own, twin)
        self.assertEqual(calls, [16] * 4)

    def test_what_it_raises(self):
        def broken(points, m):
            raise LookupError
        with self.assertRaises(LookupError):
            nysbench.attention(*np.ones((3, 2, 32, 4)), "nystrom(landmarks=4)", strategy=broken)


if __name__ == "__main__":
    tap.main()
