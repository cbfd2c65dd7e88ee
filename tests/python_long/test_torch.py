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
import dataclasses
import doctest
import importlib.util
import math
import re
import subprocess
import sys
import types
import unittest
from statistics import NormalDist
from unittest import mock

import numpy as np

if importlib.util.find_spec("torch") is None:
    print("1..0 # SKIP nysbench.torch: there is no torch")
    sys.exit()
import torch
from safetensors.torch import load_file

import golden
import nysbench
import nysbench.torch
import tap
from nysbench.torch import _clustering, _near_keys, _ridge_regression

torch.set_num_threads(1)
SEEDS, LEVEL, MOST_BIAS = 50, 1e-3, 0.05
FILES = {"vit_astronaut_n257_L6": 24, "minilm_us-constitution_n512_L3": 32, "smollm2_opticks_n1024_L15": 32,
         "whisper_librivox-sense_n1500_L3": 48, "vit_picosdeeuropa_n4097_L6": 64}
SHORT = ("vit_astronaut_n257_L6", "minilm_us-constitution_n512_L3", "smollm2_opticks_n1024_L15")
TYPES = (torch.float32, torch.float16, torch.bfloat16)
NEAR = {"vit_astronaut_n257_L6": ({"near": "both", "grid": "auto"}, {"near": "auto", "grid": "auto", "window": 24},
                                 {"near": "auto", "top": 0}),
        "minilm_us-constitution_n512_L3": ({"near": "top", "top": 20}, {"near": "auto", "window": 4, "top": 4}),
        "smollm2_opticks_n1024_L15": ({"near": "window", "window": 50}, {"near": "both", "window": 9, "top": 7})}
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
    TESTS = 2 * (len(FILES) * len(TYPES) + sum(len(cases) for cases in NEAR.values()) * len(TYPES) + 2 * len(SHORT))

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

    def test_near_keys(self):
        for name, cases in NEAR.items():
            layer, m = heads_of(name), FILES[name]
            for options in cases:
                c = of_c(*layer, f"kernel_ridge(landmarks={m}, {', '.join(f'{x}={y}' for x, y in options.items())})")
                for dtype in TYPES:
                    with self.subTest(name, dtype=dtype, **options):
                        q, k, v = (x.to(dtype) for x in layer)
                        self.assert_alike(c, errors(q, k, v, lambda seed: nysbench.torch.kernel_ridge(
                            q, k, v, m, seed=seed, **options)))

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


def inclusion_by_formula(received, sizes):
    share = received / 2 + 1 / (2 * sizes.n)
    low, high = 0.0, 1 / share.min()
    for _ in range(200):  # c by bisection: the sum of min(1, c share) grows with it
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(1, middle * share).sum() < sizes.keys else (low, middle)
    return np.minimum(1, high * share)


def ridge_by_formula(q, k, v, sizes, choice, ridge=None):
    """Of one head: outputs, r (n), pi (n) and the place of the ridge, by leaving each row out if none is given."""
    n, scale = len(q), q.shape[1]**-0.5
    centres, size = grouped(choice.query_groups, sizes.rows, np.ones(sizes.queries), q[choice.queries])
    w = np.maximum(size, 0.25)
    w = w / w.mean()
    rows = softmax(centres @ k.T * scale)
    received = w @ rows / sizes.rows
    inclusion = inclusion_by_formula(received, sizes)
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


def blocks_of(n, columns):
    """Lists of tokens: blocks of 32, or of 64 tokens before an image's patches and of squares of 8 x 8 of these."""
    if not columns:
        return [list(range(i, min(i + 32, n))) for i in range(0, n, 32)]
    before, rows = n % columns, n // columns
    return [list(range(i, min(i + 64, before))) for i in range(0, before, 64)] + [
        [before + i * columns + j for i in range(a, min(a + 8, rows)) for j in range(b, min(b + 8, columns))]
        for a in range(0, rows, 8) for b in range(0, columns, 8)]


def around(block, n, reach, columns):
    """The keys around a block: those that are at most `reach` from one of its tokens, to each side of an image."""
    before = n % columns if columns else 0
    if not columns:
        return {j for j in range(n) if min(abs(j - i) for i in block) <= reach}
    if block[0] < before:
        return set(range(before))
    place = lambda token: divmod(token - before, columns)
    apart = lambda i, j: max(abs(a - b) for a, b in zip(place(i), place(j)))
    return {j for j in range(before, n) if min(apart(i, j) for i in block) <= reach}


def near_by_formula(q, k, v, sizes, near, placed, mine, probes):
    """Of one head, as "Near keys" of docs/method.md has them: outputs, whether it has near keys and how that is found,
    the ridges with the least error of leaving each row out (all, where all keys are near), and r (n) without near keys
    and with them. placed: which keys are sampled, and their groups, without near keys and with them."""
    n, scale, m = len(q), q.shape[1]**-0.5, sizes.landmarks
    nearest = lambda x, y: ((x[:, None] - y)**2).sum(2).argmin(1)
    drawn = placed[1].queries
    centres, size = grouped(placed[1].query_groups, sizes.rows, np.ones(sizes.queries), q[drawn])
    w = np.maximum(size, 0.25)
    w = w / w.mean()
    rows = softmax(centres @ k.T * scale)
    strongest = [set(np.argsort(-row)[:near.top]) for row in rows]
    blocks = blocks_of(n, near.columns)
    block_of = {token: block for block, tokens in enumerate(blocks) for token in tokens}
    windows = [around(block, n, near.reach, near.columns) if near.kind != "top" else set() for block in blocks]
    # The block of the nearest drawn query: two may be equally near.
    apart = ((centres[:, None] - q[drawn])**2).sum(2)
    nearest_blocks = [{block_of[token] for token in drawn[row <= row.min() + 1e-9]} for row in apart]
    assert all(block in those for block, those in zip(mine.blocks, nearest_blocks)), "not the nearest"

    owner = nearest(q, centres)
    at_rows = [sorted(windows[block] | strongest[i]) for i, block in enumerate(mine.blocks)]
    at_queries = [sorted(windows[block_of[i]] | strongest[owner[i]]) for i in range(n)]

    def place(plain, received):
        """Landmarks, the prior of their values, and the weight, number and r of the keys of each."""
        r, pi = received[plain.keys], inclusion_by_formula(received, sizes)[plain.keys]
        p = np.maximum(n * r, 1e-9) / pi
        landmarks, weight = grouped(plain.key_groups, m, p, k[plain.keys])
        prior, _ = grouped(plain.key_groups, m, p, v[plain.keys])
        return landmarks, prior, weight, *(np.bincount(plain.key_groups, x, m) for x in (1 / pi, r / pi))

    def fit(weigh, b, mass, prior, corrections):
        """The outputs of queries with such near keys, the ridges, and the error."""
        for _ in range(corrections):
            mean = w @ np.array([weigh(x, its, b)[0] for x, its in zip(centres, at_rows)]) / sizes.rows
            b = b + np.clip(np.log((mass + 1e-6 / m) / (mean + 1e-6 / m)), -2, 2)
        f, beside = (np.array(part) for part in zip(*(weigh(x, its, b) for x, its in zip(centres, at_rows))))
        d = 1 / np.maximum(w @ f / sizes.rows, 1e-4 / m)
        gram, left = f * d @ f.T, rows @ v - beside - f @ prior
        t = max((w * np.diag(gram)).mean(), 1e-8)
        duals, errors = [], []
        for ridge in range(4):
            inverse = np.linalg.inv(gram + 10.0**-(ridge + 1) * t * np.diag(1 / w))
            duals.append(inverse @ left)
            errors.append((w[:, None] * (duals[-1] / np.diag(inverse)[:, None])**2).sum())
        best = int(np.argmin(errors))
        values = prior + d[:, None] * (f.T @ duals[best])
        ridges = [i for i, error in enumerate(errors) if error <= (1 + 1e-9) * errors[best]]

        def answer(queries):
            pairs = [weigh(q[i], at_queries[i], b) for i in queries]
            return np.array([own + f @ values for f, own in pairs])
        return answer, ridges, errors[best]

    def without():
        landmarks, prior, _, counts, mass = place(placed[0], received)

        def weigh(x, its, b):
            return softmax((landmarks @ x * scale + b)[None])[0], 0 * v[0]
        return fit(weigh, np.log(np.maximum(counts, 1e-6)), mass / mass.sum(), prior, 1)

    def with_near_keys():
        landmarks, prior, weight, *_ = place(placed[1], far / far.sum())
        group = nearest(k, np.where(weight[:, None] > 0, landmarks, 1e9))

        def weigh(x, its, b):
            """f (m), and the output of the near keys."""
            left = np.bincount(group, minlength=m) - np.bincount(group[its], minlength=m)
            others, own = landmarks @ x * scale + b, k[its] @ x * scale
            most = np.r_[others[left > 0], own].max()
            others, own = left * np.exp(np.minimum(others - most, 0)), np.exp(own - most)
            z = others.sum() + own.sum()
            return others / z, own @ v[its] / z
        return fit(weigh, np.zeros(m), np.bincount(group, far, m), prior, 2)

    rest = rows.copy()
    for row, its in zip(rest, at_rows):
        row[its] = 0
    received, far = w @ rows / sizes.rows, w @ rest / sizes.rows + 1e-12
    both = received, far / far.sum()
    beside, its_ridges, its_error = with_near_keys()
    if near.kind != "auto":
        return beside(range(n)), True, "stated", its_ridges, both
    alone, ridges, error = without()
    how = "left out"
    if near.tolerance and 1 - far.sum() > 0.2:
        return beside(range(n)), True, "much weight", its_ridges, both
    if near.tolerance:
        looks = np.argsort(-((q * (k - k.mean(0))).sum(1)))[:len(probes) // 2]
        others = probes[len(looks):]
        square, whole = np.zeros(2), np.zeros(2)
        for i, its in enumerate((looks, others)):
            exact = softmax(q[its] @ k.T * scale) @ v
            square[i], whole[i] = ((alone(its) - exact)**2).sum(), (exact**2).sum()
        stands_for = np.array([1, (n - len(looks)) / len(others)])
        if square @ stands_for > near.tolerance**2 * (whole @ stands_for):
            return beside(range(n)), True, "tolerance", its_ridges, both
        return alone(range(n)), False, "tolerance", ridges, both
    if max(error, its_error) < 2.25 * min(error, its_error):
        how, exact = "probes", softmax(q[probes] @ k.T * scale) @ v
        error, its_error = (math.sqrt(one) * np.linalg.norm(answer(probes) - exact)
                            for one, answer in ((error, alone), (its_error, beside)))
    if its_error <= 1.21 * error:
        return beside(range(n)), True, how, its_ridges, both
    return alone(range(n)), False, how, ridges, both


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
            sizes = _ridge_regression.Sizes(n, *sizes)
            q, k, v = (x.repeat(1, -(-n // different), 1)[:, :n] for x in drawn(
                (3, different, d), (3, different, d), (3, different, dv), seed=n))
            out, choice = _ridge_regression.kernel_ridge(sharp * q, k, v, sizes, 7)
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

    def test_near_keys(self):
        """Tokens in a row, and images with and without tokens before them whose sides are no multiples of a block's;
        windows of nothing and wider than all; as many strongest keys as there are. Heads look near, and far too, so
        that near=auto chooses both, by what is left out and by probes."""
        found = set()
        for n, options, sharp in (
                (150, {"near": "window"}, 2.385), (150, {"near": "window", "window": 0}, 6),
                (150, {"near": "top", "top": 9}, 2.385), (150, {"near": "both", "window": 11, "top": 20}, 2.385),
                (150, {"near": "both", "window": 400, "top": 200}, 2.385), (31, {"near": "both"}, 1.7),
                (173, {"near": "both", "grid": 17, "window": 8, "top": 5}, 2.385),
                (149, {"near": "window", "grid": "auto", "window": 30}, 1.7),
                (190, {"near": "top", "top": 3}, 6), (190, {"near": "both", "grid": 70, "window": 40}, 2.385),
                (150, {"near": "auto", "top": 9}, 2.385), (150, {"near": "auto", "top": 0}, 2.385),
                (150, {"near": "auto", "top": 3, "window": 8}, 0.5), (31, {"near": "auto", "top": 1}, 0.1),
                (150, {"near": "auto", "top": 0, "window": 2}, 0.3),
                (150, {"near": "auto", "top": 5, "tolerance": 0.3}, 1.2),
                (150, {"near": "auto", "top": 0, "tolerance": 0.2}, 0.3),
                (300, {"near": "auto", "top": 1, "window": 2, "tolerance": 0.3}, 0.3),
                (300, {"near": "auto", "top": 0, "window": 2, "tolerance": 0.03}, 0.3),
                (149, {"near": "auto", "grid": "auto", "window": 24}, 0.5)):
            sizes = _ridge_regression.Sizes(n, 9, 30, 12, n - 1 if n < 40 else 80)
            q, k, v = drawn((3, n, 8), (3, n, 8), (3, n, 5), seed=n)
            q = sharp * (q + torch.linspace(0, 3, n, dtype=q.dtype)[:, None])
            k = k + torch.linspace(0, 3, n, dtype=k.dtype)[:, None]
            near = _near_keys.neighbourhood(n, **{"near": None, "window": None, "top": None, "grid": None, **options})
            out, choices = _near_keys.kernel_ridge(q, k, v, sizes, near, 7)
            _, alone = _ridge_regression.kernel_ridge(q, k, v, sizes, 7)
            kind = near.kind if near.kind != "auto" else "both" if near.top > 0 else "window"
            _, (beside, _) = _near_keys.kernel_ridge(q, k, v, sizes, dataclasses.replace(near, kind=kind), 7)
            probes = alone.queries[_clustering.sample(30, 9, 7, "cpu")].numpy()
            for h in range(3):
                with self.subTest(n=n, head=h, **options):
                    plain, mine, *placed = (types.SimpleNamespace(
                        **{name: (x if name == "queries" else x[h]).numpy() for name, x in choice._asdict().items()})
                        for choice in (*choices, alone, beside))
                    expected, has, how, ridges, received = near_by_formula(
                        *(x[h].numpy() for x in (q, k, v)), sizes, near, placed, mine, probes)
                    for name in alone._fields[:-1]:
                        self.assertTrue((getattr(plain, name) == getattr(placed[has], name)).all(), name)
                    self.assert_near(plain.received, received[has][plain.keys])
                    self.assert_near(plain.inclusion, inclusion_by_formula(received[has], sizes)[plain.keys])
                    found.add((how, has))
                    self.assertEqual(mine.near, has)
                    self.assertIn(plain.ridge, ridges)
                    self.assert_near(out[h].numpy(), expected)
        # NOLINT(wording): words of near_by_formula
        chosen = {(how, has) for how in ("left out", "probes", "tolerance") for has in (0, 1)}
        self.assertEqual(found, {("stated", True), ("much weight", True), *chosen})  # NOLINT(wording): likewise

    def test_choice(self):
        """Of near keys, by squared errors: left out without them and with them, and at probes."""
        for *errors, has in ((1, 2.26, 1, 0, False), (2.26, 1, 0, 1, True), (1, 1.2, 1, 1.2, True),
                             (1, 1.22, 1, 1.22, False), (1, 2, 2, 1, True), (1, 2, 1, 0.8, False), (0, 0, 0, 0, True),
                             (math.nan, 1, 1, 1, False), (1, math.nan, 1, 1, False)):
            errors = torch.tensor(errors)[:, None]
            self.assertEqual(_near_keys.choose(errors[:2], errors[2:]).tolist(), [has], errors)

    def test_a_head_has_what_its_kind_gives(self):
        """near=auto: with near keys to the last bit, without them to rounding, since sums have more terms that are 0.
        Tokens and groups are those of the kind, and exact queries those of all kinds."""
        for name, m, options, kind in (("vit_astronaut_n257_L6", 24, {"top": 0}, "window"),
                                       ("vit_astronaut_n257_L6", 24, {"window": 8, "top": 2}, "both"),
                                       ("minilm_us-constitution_n512_L3", 32, {"window": 4, "top": 4}, "both")):
            q, k, v = (x.double() for x in heads_of(name))
            n = q.shape[1]
            sizes = _ridge_regression.Sizes(n, 12, 154, m, n // 2)
            given = {"window": None, "top": None, "grid": None, **options}
            auto = _near_keys.neighbourhood(n, "auto", **given)
            beside = _near_keys.neighbourhood(n, kind, **{**given, "top": given["top"] or None})
            found, (choice, mine) = _near_keys.kernel_ridge(q, k, v, sizes, auto, 3)
            near, (of_near, _) = _near_keys.kernel_ridge(q, k, v, sizes, beside, 3)
            plain, of_plain = _ridge_regression.kernel_ridge(q, k, v, sizes, 3)
            with self.subTest(name, **options):
                self.assertEqual(len(mine.near.unique()), 2)
                self.assertTrue(torch.equal(found[mine.near], near[mine.near]))
                self.assert_near(found[~mine.near].numpy(), plain[~mine.near].numpy())
                self.assertTrue(torch.equal(choice.queries, of_plain.queries))
                self.assertTrue(torch.equal(of_near.query_groups, of_plain.query_groups))
                for field, x, *kinds in list(zip(choice._fields, choice, of_near, of_plain))[1:-1]:
                    for y, its in zip(kinds, (mine.near, ~mine.near)):
                        self.assertTrue(torch.equal(x[its], y[its]), field)

    def test_all_keys_are_near(self):
        """Then outputs are those of exact attention, whatever landmarks are."""
        q, k, v = drawn((2, 4, 150, 8), (2, 2, 150, 8), (2, 2, 150, 5))
        shared = [x.repeat_interleave(2, 1) for x in (k, v)]
        exact = torch.nn.functional.scaled_dot_product_attention(q, *shared)
        for options in ({"near": "window", "window": 300}, {"near": "both", "top": 150},
                        {"near": "window", "window": 900, "grid": 10}):
            self.assert_near(nysbench.torch.kernel_ridge(q, k, v, 7, **options).numpy(), exact.numpy(), options)

    def test_steps_of_the_answer(self):
        """One block at a time has the same outputs, to rounding."""
        layer, options = drawn((2, 210, 8), (2, 210, 8), (2, 210, 5)), {"near": "auto", "grid": 14}
        whole = nysbench.torch.kernel_ridge(*layer, 7, **options)
        with mock.patch.object(_near_keys, "AT_A_TIME", 1):
            self.assert_near(nysbench.torch.kernel_ridge(*layer, 7, **options).numpy(), whole.numpy())

    def test_bounds(self):
        """Groups that no clustering gives: keys by what they receive, down to nothing, and others mixed. So features
        and their correction reach their bounds."""
        sizes = _ridge_regression.Sizes(150, 9, 80, 20, 150)
        q, k, v = drawn((1, 150, 8), (1, 150, 8), (1, 150, 5))
        _, choice = _ridge_regression.kernel_ridge(30 * q, k, v, sizes, 7)
        groups = choice.received.argsort().argsort() * 20 // 150
        mixed = torch.arange(150) % 3 == 0
        groups[0, mixed] = 15 + torch.arange(150)[mixed] % 5
        choice = choice._replace(key_groups=groups.int())
        for ridge in range(4):
            choice = choice._replace(ridge=torch.tensor([ridge]))
            out, _ = _ridge_regression.kernel_ridge(30 * q, k, v, sizes, 7, choice)
            mine = types.SimpleNamespace(**{name: (x if name == "queries" else x[0]).numpy()
                                            for name, x in choice._asdict().items()})
            expected, *_ = ridge_by_formula(*(x[0].numpy() for x in (30 * q, k, v)), sizes, mine, ridge)
            self.assert_near(out[0].numpy(), expected)

    def test_the_operator_is_the_construction(self):
        """Heads of all inputs side by side, those that share keys too, with the sizes of the C code."""
        q, k, v = drawn((2, 4, 90, 6), (2, 2, 90, 6), (2, 2, 90, 3))
        out = nysbench.torch.kernel_ridge(q, k, v, 7, seed=3)
        sizes = _ridge_regression.Sizes(90, 3, 39, 7, 75)  # 3 = ceil(35/12), 39 = ceil(64/5 3), 75 = ceil(32/3 7)
        for i in range(2):
            for h in range(4):
                alone, _ = _ridge_regression.kernel_ridge(
                    q[i, h, None], k[i, h // 2, None], v[i, h // 2, None], sizes, 3)
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
        at = _clustering.sample(n, m, 5, "cpu").numpy()
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
        groups = _clustering.seed_groups(x, one, 12, 3, _clustering.POINT_SEEDS)
        self.assertEqual([len(g.unique()) for g in groups], [12] * 3)
        for _ in range(100):
            means, _ = _clustering.group_means(groups, 12, x, one)
            groups = _clustering.nearest_groups(x, means)
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
            self.assertEqual(_clustering.philox(seed, counter), expected)

    def test_samples_have_no_token_twice(self):
        sizes = list(range(1, 40)) + [63, 64, 65, 255, 256, 257, 1000, 1023, 4097, 8282, 65537]
        for n in sizes:
            for count in sorted({1, -(-n // 3), n - 1, n} - {0}):
                at = _clustering.sample(n, count, n, "cpu")
                self.assertEqual((at.dtype, len(at), at.unique().numel()), (torch.int64, count, count), (n, count))
                self.assertTrue(0 <= int(at.min()) and int(at.max()) < n, (n, count))

    def test_samples_are_uniform(self):
        """Over 3000 seeds all tokens are drawn equally often (chi squared), and a pair as often as chance has it."""
        n, count, seeds = 90, 30, 3000
        times, pairs = torch.zeros(n), 0
        for seed in range(seeds):
            at = _clustering.sample(n, count, seed, "cpu")
            times[at] += 1
            pairs += int(((at == 0) | (at == 1)).sum() == 2)
        expected, variance = seeds / 3, seeds * (1 / 3) * (2 / 3)
        chi = float(((times - expected)**2).sum()) / variance * (n - 1) / n
        self.assertLess(abs(chi - (n - 1)), 6 * math.sqrt(2 * (n - 1)))
        both = count * (count - 1) / (n * (n - 1))
        self.assertLess(abs(pairs - seeds * both), 6 * math.sqrt(seeds * both * (1 - both)))

    def test_a_seed_is_its_sample(self):
        one, same, other = (_clustering.sample(500, 100, seed, "cpu") for seed in (5, 5, 2**63 - 6))
        self.assertTrue(torch.equal(one, same))
        self.assertFalse(torch.equal(one, other))
        self.assertEqual(_clustering.sample(500, 50, 5, "cpu").tolist(), one[:50].tolist())

    def test_uniform_numbers(self):
        numbers = np.array(_clustering.uniforms(9, _clustering.KEY_SEEDS, 4000))
        self.assertTrue((0 <= numbers).all() and (numbers < 1).all() and (numbers * 2**24 % 1 == 0).all())
        self.assertLess(abs(numbers.mean() - 0.5), 6 / math.sqrt(12 * 4000))
        self.assertNotEqual(tuple(numbers[:6]), _clustering.uniforms(9, _clustering.QUERY_SEEDS, 6))


class Gradients(unittest.TestCase):
    SIZES = _ridge_regression.Sizes(20, 3, 12, 5, 15)
    OPTIONS = {"landmarks": 5, "rows": 3, "queries": 12, "keys": 15, "seed": 4}

    def layer(self, dtype=torch.float64):
        return drawn((2, 20, 3), (1, 20, 3), (1, 20, 2), dtype=dtype, grad=True)

    def test_plain_operations(self):
        q, k, v = drawn((1, 20, 3), (1, 20, 3), (1, 20, 2), grad=True)
        _, choice = _ridge_regression.kernel_ridge(q, k, v, self.SIZES, 4)
        self.assertTrue(torch.autograd.gradcheck(
            lambda *x: _ridge_regression.kernel_ridge(*x, self.SIZES, 4, choice)[0], (q, k, v)))

    def test_near_keys(self):
        q, k, v = drawn((1, 40, 3), (1, 40, 3), (1, 40, 2), grad=True)
        sizes = _ridge_regression.Sizes(40, 3, 12, 5, 15)
        for options in ({"near": "window", "window": 2}, {"near": "top", "top": 2}, {"near": "both", "top": 3},
                        {"near": "auto", "top": 2, "grid": 6}):
            near = _near_keys.neighbourhood(40, **{"window": None, "top": None, "grid": None, **options})
            for has in {True, near.kind != "auto"}:
                with mock.patch.object(_near_keys, "choose", lambda *_, has=has: torch.tensor([has])):
                    _, choice = _near_keys.kernel_ridge(q, k, v, sizes, near, 4)
                with self.subTest(has=has, **options), mock.patch.object(_near_keys, "AT_A_TIME", 1):  # in steps
                    self.assertTrue(torch.autograd.gradcheck(
                        lambda *x: _near_keys.kernel_ridge(*x, sizes, near, 4, choice)[0], (q, k, v)))

    def test_nystrom(self):
        for strategy in ("segment_means", "uniform", "kmeans"):
            with self.subTest(strategy):
                self.assertTrue(torch.autograd.gradcheck(
                    lambda *x: nysbench.torch.nystrom(*x, 4, strategy=strategy, iterations=2), self.layer()))

    def expected(self, q, k, v, near=None):
        """Outputs and gradients of the plain operations."""
        shared = [x.repeat_interleave(2, 0) for x in (k, v)]
        function, place = (_ridge_regression, ()) if near is None else (_near_keys, (near,))
        _, choice = function.kernel_ridge(q.detach(), *(x.detach() for x in shared), self.SIZES, *place, 4)
        out, _ = function.kernel_ridge(q, *shared, self.SIZES, *place, 4, choice)
        return out, torch.autograd.grad(out.square().sum(), (q, k, v))

    def assert_same(self, function, layer, near=None):
        out, expected = self.expected(*layer, near)
        mine = function(*layer)
        torch.testing.assert_close(mine, out, rtol=1e-10, atol=1e-12)
        for x, y in zip(torch.autograd.grad(mine.square().sum(), layer), expected):
            torch.testing.assert_close(x, y, rtol=1e-10, atol=1e-12)

    def test_operator(self):
        self.assert_same(lambda *x: nysbench.torch.kernel_ridge(*x, **self.OPTIONS), self.layer())
        for kind in ("window", "top", "both", "auto"):
            near = _near_keys.neighbourhood(20, kind, None, None, 4 if kind != "top" else None)
            with self.subTest(kind):
                self.assert_same(lambda *x: nysbench.torch.kernel_ridge(
                    *x, **self.OPTIONS, near=kind, grid=4 if kind != "top" else None), self.layer(), near)

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
        near = compiled(lambda *x: nysbench.torch.kernel_ridge(*x, **self.OPTIONS, near="auto"))
        self.assert_same(lambda *x: near(*x) / 2, self.layer(), _near_keys.neighbourhood(20, "auto", None, None, None))
        for strategy in ("segment_means", "uniform", "kmeans"):
            layer, landmarks = self.layer(), lambda *x: nysbench.torch.nystrom(*x, 4, strategy=strategy)
            torch.testing.assert_close(compiled(landmarks)(*layer), 2 * landmarks(*layer))

    def test_operator_check(self):
        q, k, v = self.layer()
        for near in (("none", 0, 0, 0, 0), ("window", 2, 0, 0, 0), ("top", -16, 3, 0, 0), ("auto", 1, 3, 6, 2),
                     ("auto", 1, 0, 6, 2)):
            torch.library.opcheck(torch.ops.nysbench.kernel_ridge.default, (q, k, v, 3, 12, 5, 15, *near, 4))
        torch.library.opcheck(torch.ops.nysbench.kernel_ridge.default,
                              (q, k, v, 3, 12, 5, 15, "auto", 1, 3, 6, 2, 4, 0.3))
        for strategy in ("segment_means", "uniform", "kmeans"):
            torch.library.opcheck(torch.ops.nysbench.nystrom.default, (q, k, v, 4, strategy, 6, 12, 3, 4))

    def test_shapes_without_data(self):
        layer = [x.to("meta") for x in self.layer()]
        for function in (nysbench.torch.kernel_ridge, nysbench.torch.nystrom):
            self.assertEqual(function(*layer, landmarks=4).shape, (2, 20, 2))
        for grid in (None, 6, "auto"):  # nothing asks for a number on the device
            self.assertEqual(nysbench.torch.kernel_ridge(*layer, 4, near="auto", grid=grid).shape, (2, 20, 2))
            sizes, near = self.SIZES, _near_keys.neighbourhood(20, "auto", None, None, grid)
            shared = [x.detach().repeat_interleave(2, 0) for x in layer[1:]]
            self.assertEqual(_near_keys.kernel_ridge(layer[0].detach(), *shared, sizes, near, 4)[0].shape, (2, 20, 2))

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


class Inputs(golden.Case):
    def test_what_is_refused(self):
        q, k, v = drawn((2, 50, 4), (1, 50, 4), (1, 50, 3))
        shape = nysbench.ShapeError
        both = (
            ((q.numpy(), k, v), {}, TypeError),
            ((q, None, v), {}, TypeError),
            ((q, k, v.float()), {}, nysbench.ArgumentError),
            ((q.long(), k.long(), v.long()), {}, nysbench.ArgumentError),
            ((q, k.to("meta"), v), {}, nysbench.ArgumentError),
            ((q[0], k[0], v[0]), {}, shape),
            ((q[None], k, v), {}, shape),
            ((q, k[:, :49], v), {}, shape),
            ((q[None], k[None], v.expand(2, 1, 50, 3)), {}, shape),
            ((q, k[..., :3], v), {}, shape),
            ((q, k.expand(2, -1, -1), v), {}, shape),
            ((q, k.repeat(3, 1, 1), v.repeat(3, 1, 1)), {}, shape),
            ((q, k[:0], v[:0]), {}, shape),
            ((q[:, :0], k[:, :0], v[:, :0]), {}, shape),
            ((q, k, v[..., :0]), {}, shape),
            ((q, k, v), {"landmarks": 0}, nysbench.ArgumentError),
            ((q, k, v), {"landmarks": 2.5}, TypeError),
            ((q, k, v), {"landmarks": 5, "seed": -1}, nysbench.ArgumentError),
        )
        for name in ("kernel_ridge", "nystrom"):
            for given, options, kind in both:
                with self.subTest(name, shapes=[getattr(x, "shape", x) for x in given], **options):
                    self.told(kind, getattr(nysbench.torch, name), *given, **{"landmarks": 5, **options})
        for name, options in (
                ("kernel_ridge", {"landmarks": 51}), ("kernel_ridge", {"landmarks": 8, "keys": 7}),
                ("kernel_ridge", {"landmarks": 8, "rows": 9, "queries": 8}), ("kernel_ridge", {"rows": 0}),
                ("kernel_ridge", {"landmarks": 5, "near": "far"}), ("kernel_ridge", {"landmarks": 5, "window": 3}),
                ("kernel_ridge", {"landmarks": 5, "near": "top", "grid": 3}),
                ("kernel_ridge", {"landmarks": 5, "near": "window", "top": 3}),
                ("kernel_ridge", {"landmarks": 5, "near": "both", "window": -1}),
                ("kernel_ridge", {"landmarks": 5, "near": "both", "top": 0}),
                ("kernel_ridge", {"landmarks": 5, "near": "both", "grid": 1}),
                ("kernel_ridge", {"landmarks": 5, "near": "both", "grid": 51}), ("nystrom", {"landmarks": 51}),
                ("nystrom", {"landmarks": 21, "tokens": 20, "strategy": "kmeans"}), ("nystrom", {"strategy": "kmean"}),
                ("nystrom", {"steps": 0}), ("nystrom", {"iterations": 0})):
            with self.subTest(name, **options):
                self.told(nysbench.ArgumentError, getattr(nysbench.torch, name), q, k, v, **options)

    def test_a_grid_needs_an_image(self):
        self.told(nysbench.ArgumentError, nysbench.torch.kernel_ridge, *drawn(*[(1, 60, 4)] * 3), 5, near="auto",
                  grid="auto")

    def test_a_head_that_is_not_finite_leaves_the_others(self):
        for change, name, near in ((i, name, near) for i, name in enumerate("qkv") for near in ("none", "auto")):
            for bad in (math.nan, math.inf):
                layer = drawn((2, 3, 80, 8), (2, 3, 80, 8), (2, 3, 80, 4), dtype=torch.float32)
                before = nysbench.torch.kernel_ridge(*layer, 12, near=near)
                layer[change][1, 1] = bad
                after = nysbench.torch.kernel_ridge(*layer, 12, near=near)
                with self.subTest(name, bad=bad, near=near):
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
