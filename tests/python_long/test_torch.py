# SPDX-License-Identifier: GPL-3.0-or-later
"""nysbench.torch on a CPU: draws, formulas, gradients, what it refuses, and that it errs as the C code does.

usage: test_torch.py PROGRAM. Formulas are computed again here with NumPy, in double, as the header of
src/attentions/kernel_ridge.c has them, of the tokens, groups and weights that the package has chosen. Both sides round
to 1e-16, the condition of the ridge's system is at most 10^4 k, and features and sums leave some hundred roundings:
1e-9 is allowed, and single precision would be off by 1e-6.

Torch and C draw other tokens, so their errors are compared over 50 seeds: the logarithm of the mean error of a file's
heads. Two tests, each at LEVEL divided by their number (Bonferroni), so that equal distributions raise an alarm with
a chance of at most LEVEL:

* Kolmogorov and Smirnov. With s values on both sides P(D >= x) <= e exp(-s x^2) (Wei & Dudley, Statistics & Probability
  Letters 82, 2012).
* Means, by their difference over its standard error, which is nearly normal with 50 values on both sides.

And means differ by no more than 5 %, so that a large spread hides no bias. Luck moves them by 2 %.
"""
import doctest
import importlib.util
import math
import re
import subprocess
import sys
import types
import unittest
from statistics import NormalDist

import numpy as np

if importlib.util.find_spec("torch") is None:
    print("1..0 # SKIP nysbench.torch: there is no torch")
    sys.exit()
import torch
from safetensors.torch import load_file

import nysbench
import nysbench.torch
import tap
from nysbench.torch import _draws, _plain

torch.set_num_threads(1)
SEEDS, LEVEL, MOST_BIAS = 50, 1e-3, 0.05
FILES = {"vit_astronaut_n257_L6": 24, "minilm_us-constitution_n512_L3": 32, "smollm2_opticks_n1024_L15": 32,
         "whisper_librivox-sense_n1500_L3": 48, "vit_picosdeeuropa_n4097_L6": 64}
SHORT = ("vit_astronaut_n257_L6", "minilm_us-constitution_n512_L3", "smollm2_opticks_n1024_L15")
TYPES = (torch.float32, torch.float16, torch.bfloat16)
PAPER = "nystrom(strategy={}, landmarks={}, core=iterative(steps=6, start=paper))"


def heads_of(name):
    tensors = load_file(f"experiments/data/{name}.safetensors")
    return tuple(tensors[x] for x in "qkv")


def drawn(*shapes, dtype=torch.float64, seed=1, grad=False):
    rng = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=rng, dtype=torch.float64).to(dtype).requires_grad_(grad) for shape in shapes]


def errors(q, k, v, attention):
    """The logarithm of the mean relative error of the outputs over heads, of each seed."""
    group = len(q) // len(k)
    exact = torch.nn.functional.scaled_dot_product_attention(
        q.float(), k.float().repeat_interleave(group, 0), v.float().repeat_interleave(group, 0))
    norm = exact.norm(dim=(1, 2))
    found = (attention(seed).float() for seed in range(SEEDS))
    return np.array([math.log(((outputs - exact).norm(dim=(1, 2)) / norm).mean()) for outputs in found])


def of_c(q, k, v, spec):
    arrays = [x.float().numpy() for x in (q, k, v)]
    return errors(q, k, v, lambda seed: torch.from_numpy(nysbench.attention(*arrays, spec, seed=seed, threads=1)))


class AsC(unittest.TestCase):
    TESTS = 2 * (len(FILES) * len(TYPES) + 2 * len(SHORT))

    def assert_alike(self, x, y):
        level = LEVEL / self.TESTS
        both = np.r_[x, y]
        below = [np.searchsorted(np.sort(part), both, "right") / len(part) for part in (x, y)]
        apart = np.abs(below[0] - below[1]).max()
        self.assertGreaterEqual(math.e * math.exp(-len(x) * apart**2), level, f"D = {apart}")
        difference = y.mean() - x.mean()
        noise = math.sqrt((x.var(ddof=1) + y.var(ddof=1)) / len(x))
        self.assertLess(abs(difference) / noise, NormalDist().inv_cdf(1 - level / 2), f"ratio {math.exp(difference)}")
        self.assertLess(abs(difference), math.log1p(MOST_BIAS))

    def test_kernel_ridge(self):
        for name, m in FILES.items():
            layer = heads_of(name)
            c = of_c(*layer, f"kernel_ridge(landmarks={m})")
            for dtype in TYPES:
                with self.subTest(name, dtype=dtype):
                    q, k, v = (x.to(dtype) for x in layer)
                    outputs = nysbench.torch.kernel_ridge(q, k, v, m)
                    self.assertEqual((outputs.dtype, outputs.shape), (dtype, q.shape))
                    self.assert_alike(c, errors(q, k, v, lambda seed: nysbench.torch.kernel_ridge(
                        q, k, v, m, seed=seed)))

    def test_nystrom_of_random_tokens_and_clusters(self):
        specs = {"uniform": "uniform", "kmeans": "kmeans(iterations=10)"}
        for name in SHORT:
            q, k, v = (x.float() for x in heads_of(name))
            for strategy, spec in specs.items():
                with self.subTest(name, strategy=strategy):
                    c = of_c(q, k, v, PAPER.format(spec, FILES[name]))
                    self.assert_alike(c, errors(q, k, v, lambda seed: nysbench.torch.nystrom(
                        q, k, v, FILES[name], strategy=strategy, seed=seed)))

    def test_nystrom_of_segments(self):
        """Nothing is drawn. The formula in float32 is off from that in double by e; C may add in another order."""
        for name, m in zip(SHORT, (24, 64, 33)):
            with self.subTest(name):
                layer = heads_of(name)
                single, double = (nysbench.torch.nystrom(*(x.to(dtype) for x in layer), m)
                                  for dtype in (torch.float32, torch.float64))
                c = torch.from_numpy(nysbench.attention(*(x.float().numpy() for x in layer),
                                                        PAPER.format("segment_means", m), threads=1))
                allowed = 10 * float((single - double).norm() + 2.0**-24 * double.norm())
                self.assertLess(float((c - double).norm()), allowed)
                self.assertLess(allowed, 1e-3 * float(double.norm()))


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def grouped(groups, count, w, x):
    """Weighted means (count, d) of the groups, 0 without a point, and their weights."""
    total = np.array([w[groups == c].sum() for c in range(count)])
    means = [(w[groups == c, None] * x[groups == c]).sum(0) / (total[c] or 1) for c in range(count)]
    return np.array(means), total


def ridge_by_formula(q, k, v, sizes, choice, ridge=None):
    """Of one head: outputs, r (n), pi (n) and the place of the ridge, by leaving each row out if none is given."""
    n, scale = len(q), q.shape[1]**-0.5
    centres, size = grouped(choice.query_groups, sizes.rows, np.ones(sizes.queries), q[choice.queries])
    w = np.maximum(size, 0.25)
    w = w / w.mean()
    rows = softmax(centres @ k.T * scale)
    received = w @ rows / sizes.rows
    share = received / 2 + 1 / (2 * n)
    low, high = 0.0, 1 / share.min()
    for _ in range(200):  # c by bisection: the sum of min(1, c share) grows with it
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(1, middle * share).sum() < sizes.keys else (low, middle)
    inclusion = np.minimum(1, high * share)

    r, pi = received[choice.keys], inclusion[choice.keys]
    p = np.maximum(n * r, 1e-9) / pi
    landmarks, _ = grouped(choice.key_groups, sizes.landmarks, p, k[choice.keys])
    prior, _ = grouped(choice.key_groups, sizes.landmarks, p, v[choice.keys])
    groups = [choice.key_groups == c for c in range(sizes.landmarks)]
    b = np.log([max((1 / pi[g]).sum(), 1e-6) for g in groups])
    mass = np.array([(r[g] / pi[g]).sum() for g in groups])
    mass = mass / mass.sum()
    features = lambda x: softmax(x @ landmarks.T * scale + b)
    mean = w @ features(centres) / sizes.rows
    floor = 1e-6 / sizes.landmarks
    b = b + np.clip(np.log((mass + floor) / (mean + floor)), -2, 2)
    f = features(centres)
    d = 1 / np.maximum(w @ f / sizes.rows, 1e-4 / sizes.landmarks)
    gram, rest = f * d @ f.T, rows @ v - f @ prior
    t = (w * np.diag(gram)).mean()
    off = []
    for penalty in (0.1, 0.01, 0.001, 0.0001):
        system = gram + penalty * t * np.diag(1 / w)
        left = [np.delete(np.arange(sizes.rows), i) for i in range(sizes.rows)]
        off.append(sum(w[i] * ((rest[i] - gram[i, o] @ np.linalg.solve(system[np.ix_(o, o)], rest[o]))**2).sum()
                       for i, o in enumerate(left)))
    best = int(np.argmin(off)) if ridge is None else ridge
    dual = np.linalg.solve(gram + 10.0**-(best + 1) * t * np.diag(1 / w), rest)
    return features(q) @ (prior + d[:, None] * (f.T @ dual)), received, inclusion, best


class Formulas(unittest.TestCase):
    def assert_near(self, x, y, message=None):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-9 * np.abs(y).max(), err_msg=str(message))

    def test_kernel_ridge(self):
        """Sharp heads, where keys are certain to be sampled, and flat ones; all keys; points of which some are the
        same, so that groups are empty; one landmark; a token."""
        for n, d, dv, sizes, sharp, different in (
                (150, 8, 5, (9, 80, 20, 100), 6, 150), (150, 8, 5, (9, 80, 20, 100), 2.385, 150),
                (150, 8, 5, (9, 80, 20, 100), 0.1, 150),
                (97, 3, 4, (17, 97, 40, 97), 1.7, 97), (97, 3, 4, (17, 70, 40, 80), 1.7, 11),
                (31, 5, 1, (1, 13, 1, 11), 1, 31), (1, 4, 3, (1, 1, 1, 1), 1, 1)):
            sizes = _plain.Sizes(n, *sizes)
            q, k, v = (x.repeat(1, -(-n // different), 1)[:, :n] for x in drawn(
                (3, different, d), (3, different, d), (3, different, dv), seed=n))
            out, choice = _plain.kernel_ridge(sharp * q, k, v, sizes, 7)
            self.assertEqual(choice.queries.unique().numel(), sizes.queries)
            for h in range(3):
                with self.subTest(sizes=sizes, sharp=sharp, head=h):
                    mine = types.SimpleNamespace(**{name: (x if name == "queries" else x[h]).numpy()
                                                    for name, x in choice._asdict().items()})
                    head = [x[h].numpy() for x in (sharp * q, k, v)]
                    expected, received, inclusion, ridge = ridge_by_formula(*head, sizes, mine)
                    self.assert_near(mine.received, received[mine.keys])
                    self.assert_near(mine.inclusion, inclusion[mine.keys])
                    self.assertEqual(mine.ridge, ridge)
                    self.assert_near(out[h].numpy(), expected)
                    self.assertTrue((np.diff(mine.keys) >= (inclusion[mine.keys][1:] < 1)).all(), "a key twice")

    def test_bounds(self):
        """Groups that no clustering gives: keys by what they receive, down to nothing, and others mixed. So features
        and their correction reach their bounds."""
        sizes = _plain.Sizes(150, 9, 80, 20, 150)
        q, k, v = drawn((1, 150, 8), (1, 150, 8), (1, 150, 5))
        _, choice = _plain.kernel_ridge(30 * q, k, v, sizes, 7)
        groups = choice.received.argsort().argsort() * 20 // 150
        mixed = torch.arange(150) % 3 == 0
        groups[0, mixed] = 15 + torch.arange(150)[mixed] % 5
        choice = choice._replace(key_groups=groups.int())
        for ridge in range(4):
            choice = choice._replace(ridge=torch.tensor([ridge]))
            out, _ = _plain.kernel_ridge(30 * q, k, v, sizes, 7, choice)
            mine = types.SimpleNamespace(**{name: (x if name == "queries" else x[0]).numpy()
                                            for name, x in choice._asdict().items()})
            expected, *_ = ridge_by_formula(*(x[0].numpy() for x in (30 * q, k, v)), sizes, mine, ridge)
            self.assert_near(out[0].numpy(), expected)

    def test_the_operator_is_the_construction(self):
        """Heads of all inputs side by side, those that share keys too, with the sizes of the C code."""
        q, k, v = drawn((2, 4, 90, 6), (2, 2, 90, 6), (2, 2, 90, 3))
        out = nysbench.torch.kernel_ridge(q, k, v, 7, seed=3)
        sizes = _plain.Sizes(90, 3, 39, 7, 75)  # 3 = ceil(35/12), 39 = ceil(64/5 3), 75 = ceil(32/3 7)
        for i in range(2):
            for h in range(4):
                alone, _ = _plain.kernel_ridge(q[i, h, None], k[i, h // 2, None], v[i, h // 2, None], sizes, 3)
                self.assert_near(out[i, h].numpy(), alone[0].numpy(), (i, h))
        three = nysbench.torch.kernel_ridge(q[1], k[1], v[1], 7, seed=3)
        self.assert_near(three.numpy(), out[1].numpy())
        self.assertFalse(torch.equal(out, nysbench.torch.kernel_ridge(q, k, v, 7, seed=4)))
        stated = nysbench.torch.kernel_ridge(q, k, v, 7, rows=3, queries=39, keys=75, seed=20260101)
        self.assertTrue(torch.equal(nysbench.torch.kernel_ridge(q, k, v, 7), stated))

    def test_nystrom(self):
        n, m = 103, 10  # segments of ten tokens, the last three of eleven
        q, k, v = drawn((2, 4, n, 6), (2, 2, n, 6), (2, 2, n, 3))
        ends = np.cumsum([0] + [10] * 7 + [11] * 3)
        at = _draws.sample(n, m, 5, "cpu").numpy()
        landmarks = {"segment_means": lambda x: np.array([x[a:b].mean(0) for a, b in zip(ends, ends[1:])]),
                     "uniform": lambda x: x[at]}
        for strategy, pick in landmarks.items():
            for steps in (1, 6):
                out = nysbench.torch.nystrom(q, k, v, m, strategy=strategy, steps=steps, seed=5)
                for i in range(2):
                    for h in range(4):
                        x, y, z = q[i, h].numpy(), k[i, h // 2].numpy(), v[i, h // 2].numpy()
                        sides = (x, pick(y)), (pick(x), pick(y)), (pick(x), y)
                        f, a, b = (softmax(s @ t.T / math.sqrt(6)) for s, t in sides)
                        inverse, one = a.T / (np.abs(a).sum(0).max() * np.abs(a).sum(1).max()), np.eye(m)
                        for _ in range(steps):
                            ax = a @ inverse
                            inverse = inverse @ (13 * one - ax @ (15 * one - ax @ (7 * one - ax))) / 4
                        self.assert_near(out[i, h].numpy(), f @ inverse @ b @ z, (strategy, steps, i, h))

    def test_clusters_are_those_of_their_centres(self):
        """After enough of Lloyd's iterations each token's centre is the nearest mean."""
        x, = drawn((3, 200, 4))
        one = torch.ones_like(x[..., 0])
        groups = _plain.seed_groups(x, one, 12, _draws.uniforms(3, _draws.POINT_SEEDS, _plain.BATCHES))
        self.assertEqual([len(g.unique()) for g in groups], [12] * 3)
        for _ in range(100):
            means, _ = _plain.group_means(groups, 12, x, one)
            groups = _plain.nearest_groups(x, means)
        for h in range(3):
            means, _ = grouped(groups[h].numpy(), 12, np.ones(200), x[h].numpy())
            apart = ((x[h].numpy()[:, None] - means)**2).sum(2)
            np.testing.assert_array_equal(groups[h].numpy(), apart.argmin(1))


class Draws(unittest.TestCase):
    def test_philox(self):
        """Known answers of Random123 (kat_vectors)."""
        ones = 2**32 - 1
        for seed, counter, expected in ((0, [0] * 4, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
                                        (2**64 - 1, [ones] * 4, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD))):
            self.assertEqual(_draws.philox(seed, counter), expected)

    def test_samples_have_no_token_twice(self):
        sizes = list(range(1, 40)) + [63, 64, 65, 255, 256, 257, 1000, 1023, 4097, 8282, 65537]
        for n in sizes:
            for count in sorted({1, -(-n // 3), n - 1, n} - {0}):
                at = _draws.sample(n, count, n, "cpu")
                self.assertEqual((at.dtype, len(at), at.unique().numel()), (torch.int64, count, count), (n, count))
                self.assertTrue(0 <= int(at.min()) and int(at.max()) < n, (n, count))

    def test_samples_are_uniform(self):
        """Over 3000 seeds all tokens are drawn equally often (chi squared), and a pair as often as chance has it."""
        n, count, seeds = 90, 30, 3000
        times, pairs = torch.zeros(n), 0
        for seed in range(seeds):
            at = _draws.sample(n, count, seed, "cpu")
            times[at] += 1
            pairs += int(((at == 0) | (at == 1)).sum() == 2)
        expected, variance = seeds / 3, seeds * (1 / 3) * (2 / 3)
        chi = float(((times - expected)**2).sum()) / variance * (n - 1) / n
        self.assertLess(abs(chi - (n - 1)), 6 * math.sqrt(2 * (n - 1)))
        both = count * (count - 1) / (n * (n - 1))
        self.assertLess(abs(pairs - seeds * both), 6 * math.sqrt(seeds * both * (1 - both)))

    def test_a_seed_is_its_sample(self):
        one, same, other = (_draws.sample(500, 100, seed, "cpu") for seed in (5, 5, 2**63 - 6))
        self.assertTrue(torch.equal(one, same))
        self.assertFalse(torch.equal(one, other))
        self.assertEqual(_draws.sample(500, 50, 5, "cpu").tolist(), one[:50].tolist())

    def test_uniform_numbers(self):
        numbers = np.array(_draws.uniforms(9, _draws.KEY_SEEDS, 4000))
        self.assertTrue((0 <= numbers).all() and (numbers < 1).all() and (numbers * 2**24 % 1 == 0).all())
        self.assertLess(abs(numbers.mean() - 0.5), 6 / math.sqrt(12 * 4000))
        self.assertNotEqual(tuple(numbers[:6]), _draws.uniforms(9, _draws.QUERY_SEEDS, 6))


class Gradients(unittest.TestCase):
    SIZES, OPTIONS = _plain.Sizes(20, 3, 12, 5, 15), {"landmarks": 5, "rows": 3, "queries": 12, "keys": 15, "seed": 4}

    def layer(self, dtype=torch.float64):
        return drawn((2, 20, 3), (1, 20, 3), (1, 20, 2), dtype=dtype, grad=True)

    def test_plain_operations(self):
        q, k, v = drawn((1, 20, 3), (1, 20, 3), (1, 20, 2), grad=True)
        _, choice = _plain.kernel_ridge(q, k, v, self.SIZES, 4)
        self.assertTrue(torch.autograd.gradcheck(
            lambda *x: _plain.kernel_ridge(*x, self.SIZES, 4, choice)[0], (q, k, v)))

    def test_nystrom(self):
        for strategy in ("segment_means", "uniform", "kmeans"):
            with self.subTest(strategy):
                self.assertTrue(torch.autograd.gradcheck(
                    lambda *x: nysbench.torch.nystrom(*x, 4, strategy=strategy, iterations=2), self.layer()))

    def expected(self, q, k, v):
        """Outputs and gradients of the plain operations."""
        shared = [x.repeat_interleave(2, 0) for x in (k, v)]
        _, choice = _plain.kernel_ridge(q.detach(), *(x.detach() for x in shared), self.SIZES, 4)
        out, _ = _plain.kernel_ridge(q, *shared, self.SIZES, 4, choice)
        return out, torch.autograd.grad(out.square().sum(), (q, k, v))

    def assert_same(self, function, layer):
        out, expected = self.expected(*layer)
        mine = function(*layer)
        torch.testing.assert_close(mine, out, rtol=1e-10, atol=1e-12)
        for x, y in zip(torch.autograd.grad(mine.square().sum(), layer), expected):
            torch.testing.assert_close(x, y, rtol=1e-10, atol=1e-12)

    def test_operator(self):
        self.assert_same(lambda *x: nysbench.torch.kernel_ridge(*x, **self.OPTIONS), self.layer())

    def test_half_precision_has_gradients(self):
        layer = self.layer(torch.bfloat16)
        out = nysbench.torch.kernel_ridge(*layer, **self.OPTIONS)
        for x, gradient in zip(layer, torch.autograd.grad(out.float().square().sum(), layer)):
            self.assertEqual(gradient.dtype, torch.bfloat16)
            self.assertTrue(gradient.isfinite().all() and bool(gradient.any()), x.shape)

    def test_compiled(self):
        def compiled(function):
            return torch.compile(lambda *x: 2 * function(*x), backend="aot_eager", fullgraph=True)

        ridge = compiled(lambda *x: nysbench.torch.kernel_ridge(*x, **self.OPTIONS))
        self.assert_same(lambda *x: ridge(*x) / 2, self.layer())
        for strategy in ("segment_means", "uniform", "kmeans"):
            layer, landmarks = self.layer(), lambda *x: nysbench.torch.nystrom(*x, 4, strategy=strategy)
            torch.testing.assert_close(compiled(landmarks)(*layer), 2 * landmarks(*layer))

    def test_operator_check(self):
        q, k, v = self.layer()
        torch.library.opcheck(torch.ops.nysbench.kernel_ridge.default, (q, k, v, 3, 12, 5, 15, 4))
        for strategy in ("segment_means", "uniform", "kmeans"):
            torch.library.opcheck(torch.ops.nysbench.nystrom.default, (q, k, v, 4, strategy, 6, 12, 3, 4))

    def test_shapes_without_data(self):
        layer = [x.to("meta") for x in self.layer()]
        for function in (nysbench.torch.kernel_ridge, nysbench.torch.nystrom):
            self.assertEqual(function(*layer, landmarks=4).shape, (2, 20, 2))

    def test_autocast(self):
        layer = self.layer(torch.float32)
        for name, function in (("kernel_ridge", lambda: nysbench.torch.kernel_ridge(*layer, **self.OPTIONS)),
                               ("nystrom", lambda: nysbench.torch.nystrom(*layer, 4))):
            with self.subTest(name):
                expected = function()
                gradients = torch.autograd.grad(expected.square().sum(), layer)
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    found = function()
                self.assertEqual(found.dtype, torch.float32)
                self.assertTrue(torch.equal(found, expected))
                for x, y in zip(torch.autograd.grad(found.square().sum(), layer), gradients):
                    self.assertTrue(torch.equal(x, y))


class Inputs(unittest.TestCase):
    def test_what_is_refused(self):
        q, k, v = drawn((2, 50, 4), (1, 50, 4), (1, 50, 3))
        shape = nysbench.ShapeError
        both = (
            ((q.numpy(), k, v), {}, TypeError, "q: expected a tensor of PyTorch, not ndarray"),
            ((q, None, v), {}, TypeError, "k: expected a tensor of PyTorch, not NoneType"),
            ((q, k, v.float()), {}, nysbench.ArgumentError, "one type of .* not float64, float64, float32"),
            ((q.long(), k.long(), v.long()), {}, nysbench.ArgumentError, "not int64, int64, int64"),
            ((q, k.to("meta"), v), {}, nysbench.ArgumentError, "one device, not cpu, meta, cpu"),
            ((q[0], k[0], v[0]), {}, shape, r"\(heads, n, d\) or .* not q \(50, 4\)"),
            ((q[None], k, v), {}, shape, r"all three alike, not q \(1, 2, 50, 4\), k \(1, 50, 4\)"),
            ((q, k[:, :49], v), {}, shape, r"as many in all three: q \(2, 50, 4\), k \(1, 49, 4\)"),
            ((q[None], k[None], v.expand(2, 1, 50, 3)), {}, shape, "inputs and tokens"),
            ((q, k[..., :3], v), {}, shape, r"same dimension: q \(2, 50, 4\), k \(1, 50, 3\)"),
            ((q, k.expand(2, -1, -1), v), {}, shape, "the same heads"),
            ((q, k.repeat(3, 1, 1), v.repeat(3, 1, 1)), {}, shape, "divides that of the queries"),
            ((q, k[:0], v[:0]), {}, shape, "the same heads"),
            ((q[:, :0], k[:, :0], v[:, :0]), {}, shape, "nothing to attend to"),
            ((q, k, v[..., :0]), {}, shape, r"nothing to attend to: .* v \(1, 50, 0\)"),
            ((q, k, v), {"landmarks": 0}, nysbench.ArgumentError, "landmarks"),
            ((q, k, v), {"landmarks": 2.5}, TypeError, "landmarks"),
            ((q, k, v), {"landmarks": 5, "seed": -1}, nysbench.ArgumentError, "seed"),
        )
        for name in ("kernel_ridge", "nystrom"):
            for given, options, kind, text in both:
                with self.subTest(name, text=text):
                    attention = getattr(nysbench.torch, name)
                    self.assertRaisesRegex(kind, text, attention, *given, **{"landmarks": 5, **options})
        for name, options, text in (
                ("kernel_ridge", {"landmarks": 51}, "landmarks = 51, and 50 of n = 50 keys are sampled"),
                ("kernel_ridge", {"landmarks": 8, "keys": 7}, "landmarks = 8, and 7 of n = 50 keys are sampled"),
                ("kernel_ridge", {"landmarks": 8, "rows": 9, "queries": 8},
                 "rows = 9, and 8 of n = 50 queries are sampled"),
                ("kernel_ridge", {"rows": 0}, "rows"),
                ("nystrom", {"landmarks": 51}, "landmarks = 51, and there are 50 tokens"),
                ("nystrom", {"landmarks": 21, "tokens": 20, "strategy": "kmeans"},
                 "landmarks = 21, and there are 20 tokens"),
                ("nystrom", {"strategy": "kmean"}, "expected one of segment_means, uniform, kmeans, not 'kmean'"),
                ("nystrom", {"steps": 0}, "steps"), ("nystrom", {"iterations": 0}, "iterations")):
            with self.subTest(name, **options):
                self.assertRaisesRegex(nysbench.ArgumentError, text, getattr(nysbench.torch, name), q, k, v, **options)

    def test_a_head_that_is_not_finite_leaves_the_others(self):
        for change, name in enumerate("qkv"):
            for bad in (math.nan, math.inf):
                layer = drawn((2, 3, 80, 8), (2, 3, 80, 8), (2, 3, 80, 4), dtype=torch.float32)
                before = nysbench.torch.kernel_ridge(*layer, 12)
                layer[change][1, 1] = bad
                after = nysbench.torch.kernel_ridge(*layer, 12)
                with self.subTest(name, bad=bad):
                    self.assertTrue(after[1, 1].isnan().all())
                    self.assertTrue(torch.equal(after[0], before[0]) and torch.equal(after[1, ::2], before[1, ::2]))

    def test_a_key_that_is_not_finite_reaches_all_outputs_of_its_head(self):
        layer = drawn((2, 80, 8), (2, 80, 8), (2, 80, 4), dtype=torch.float32)
        layer[1][1, 17, 3] = math.nan
        out = nysbench.torch.kernel_ridge(*layer, 12)
        self.assertTrue(out[1].isnan().all() and out[0].isfinite().all())

    def test_equal_tokens(self):
        """Queries and keys are all the same: each output is the mean of the values."""
        point, v = drawn((1, 1, 8), (1, 90, 5))
        x = point.expand(1, 90, 8)
        out = nysbench.torch.kernel_ridge(x, x, v, 10)
        torch.testing.assert_close(out, v.mean(1, keepdim=True).expand(1, 90, 5), rtol=0, atol=1e-5)
        for strategy in ("segment_means", "uniform", "kmeans"):
            self.assertTrue(nysbench.torch.nystrom(x, x, v, 10, strategy=strategy).isfinite().all(), strategy)

    def test_strides_do_not_matter(self):
        q, k, v = drawn((2, 60, 3, 8), (2, 60, 3, 8), (2, 60, 3, 4), dtype=torch.float32)
        layer = [x.transpose(1, 2) for x in (q, k, v)]
        for function in (nysbench.torch.kernel_ridge, nysbench.torch.nystrom):
            torch.testing.assert_close(function(*layer, 12), function(*(x.contiguous() for x in layer), 12))


class Manual(unittest.TestCase):
    def test_snippet_and_docstrings(self):
        with open("docs/python.md", encoding="utf-8") as file:
            snippet, = [text for text in re.findall(r"^```python torch\n(.*?)^```$", file.read(), re.M | re.S)
                        if "nysbench.torch" in text]
        names = {}
        exec(compile(snippet, "docs/python.md", "exec"), names)
        self.assertEqual(names["outputs"].shape, names["exact"].shape)
        self.assertEqual(names["simpler"].shape, names["exact"].shape)
        example, = doctest.DocTestFinder().find(nysbench.torch.kernel_ridge,
                                                globs={"nysbench": nysbench, "torch": torch})
        self.assertEqual(doctest.DocTestRunner().run(example), (0, 1))

    def test_nysbench_alone_imports_no_torch(self):
        script = "import sys, nysbench; print({'torch', 'triton', 'nysbench.torch'} & set(sys.modules))"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("set()\n", ""))


if __name__ == "__main__":
    tap.main()
