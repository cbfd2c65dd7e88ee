# SPDX-License-Identifier: GPL-3.0-or-later
"""nysbench.torch on a CPU: draws, formulas, gradients, what it refuses, and that it errs as the C code does.

usage: test_torch.py PROGRAM. Formulas are computed again here with NumPy, in double, as the header of
src/attentions/kernel_ridge.c has them, of the tokens, groups and weights that the package has chosen. Both sides round
to 1e-16, the condition of the ridge's system is at most 10^4 k, and features and sums leave some hundred roundings:
1e-9 is allowed, and single precision would be off by 1e-6.

Torch and C draw other tokens, so their errors are compared over 50 seeds: the logarithm of the mean error of a file's
heads. Tests, each at LEVEL divided by the number of all (Bonferroni), so that equal distributions raise an alarm with
a chance of at most LEVEL:

* Kolmogorov and Smirnov. With s values on both sides P(D >= x) <= e exp(-s x^2) (Wei & Dudley, Statistics & Probability
  Letters 82, 2012).
* Means, by their difference over its standard error, which is nearly normal with 50 values on both sides.
* Of near=equal, Fisher's exact test of how often a head has a kind.

And means differ by no more than 5 %, so that a large spread hides no bias. Luck moves them by 2 %.
"""
import dataclasses
import doctest
import importlib.util
import itertools
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
from torch._subclasses.fake_tensor import FakeTensorMode
from safetensors.torch import load_file

import golden
import nysbench
import nysbench.torch
import tap
from nysbench.torch import _clustering, _kernel_ridge, _near_equal, _near_keys, _ridge_regression

torch.set_num_threads(1)
SEEDS, LEVEL, MOST_BIAS = 50, 1e-3, 0.05
FILES = {"vit_astronaut_n257_L6": 24, "minilm_us-constitution_n512_L3": 32, "smollm2_opticks_n1024_L15": 32,
         "whisper_librivox-sense_n1500_L3": 48, "vit_picosdeeuropa_n4097_L6": 64}
SHORT = ("vit_astronaut_n257_L6", "minilm_us-constitution_n512_L3", "smollm2_opticks_n1024_L15")
TYPES = (torch.float32, torch.float16, torch.bfloat16)
NEAR = {"vit_astronaut_n257_L6": ({"near": "both", "grid": "auto"}, {"near": "auto", "grid": "auto", "window": 24},
                                 {"near": "auto", "top": 0}),
        "minilm_us-constitution_n512_L3": ({"near": "top", "top": 20}, {"near": "auto", "window": 4, "top": 4},
                                           {"near": "equal", "landmarks": 64}),
        "smollm2_opticks_n1024_L15": ({"near": "window", "window": 50}, {"near": "both", "window": 9, "top": 7},
                                      {"near": "equal", "landmarks": 64, "window": 9, "top": 7})}
EQUAL = {"vit_astronaut_n257_L6": {"landmarks": 48, "near": "equal", "grid": "auto", "window": 8, "top": 4},
         "minilm_us-constitution_n512_L3": {"landmarks": 64, "near": "equal", "window": 8, "top": 8},
         "smollm2_opticks_n1024_L15": {"landmarks": 104, "near": "equal", "window": 4, "top": 2},
         "whisper_librivox-sense_n1500_L3": {"landmarks": 64, "near": "equal", "window": 32, "top": 8}}
PAPER = "nystrom(strategy={}, landmarks={}, core=iterative(steps=6, start=paper))"


def heads_of(name):
    tensors = load_file(f"experiments/data/{name}.safetensors")
    return tuple(tensors[x] for x in "qkv")


def spec_of(options):
    return f"kernel_ridge({', '.join(f'{name}={value}' for name, value in options.items())})"


def sizes_and_near(n, landmarks, near, rows=None, keys=None, window=None, top=None, grid=None):
    """What the package makes of these options."""
    return (_kernel_ridge._sizes(n, landmarks, rows, None, keys),
            _near_keys.neighbourhood(n, near, window, top, grid))


def options_of(kind, options):
    """C's, for all heads to be of a kind of near=equal with these options."""
    has = {"none": (), "window": ("window", "grid"), "both": ("window", "grid", "top")}[kind.near.kind]
    s = kind.sizes
    return {"landmarks": s.landmarks, "rows": s.rows, "queries": s.queries, "keys": s.keys, "near": kind.near.kind,
            **{name: options[name] for name in has if name in options}}


def work_of_choice(n, dv, kinds):
    """The multiplications that nb_kernel_ridge_kind_work of src/layers/kernel_ridge_kind.c counts."""
    k = min(16, kinds[1].sizes.rows)
    return k * n + len(kinds) * (2 * k * n + n + 4 * k * dv + n * dv + k**2 * (n + dv) + math.floor(k**3 / 2 + 0.5))


def kinds_chosen(q, k, v, sizes, near, seed):
    """Of the operator: the kind of each head, an index of kinds_of."""
    *_, kind, _ = torch.ops.nysbench.kernel_ridge(
        q, k, v, sizes.rows, sizes.queries, sizes.landmarks, sizes.keys, near.kind, near.reach, near.top, near.columns,
        near.before, seed, 0, sizes.rows_follow, sizes.keys_follow)
    return kind.tolist()


def fisher(x, y, size):
    """Fisher's exact test, of two sides: x and y of `size` each."""
    ways = [math.comb(size, i) * math.comb(size, x + y - i) for i in range(x + y + 1)]
    return sum(way for way in ways if way <= ways[x]) / sum(ways)


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
    OF_KINDS = 3 * 12  # kinds and heads
    TESTS = 2 * (len(FILES) * len(TYPES) + sum(len(cases) for cases in NEAR.values()) * len(TYPES) + 2 * len(SHORT)
                 ) + OF_KINDS

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
                options = {"landmarks": m, **options}
                c = of_c(*layer, spec_of(options))
                for dtype in TYPES:
                    with self.subTest(name, dtype=dtype, **options):
                        q, k, v = (x.to(dtype) for x in layer)
                        self.assert_alike(c, errors(q, k, v, lambda seed: nysbench.torch.kernel_ridge(
                            q, k, v, seed=seed, **options)))

    def test_kinds(self):
        """near=equal chooses each kind for a head in as many of the seeds as C does, which is seen from C's
        multiplications: those of a kind are near to each other, and those of kinds far apart. Heads are decided one
        way or the other, and some are not."""
        of_heads = []
        for name, options in EQUAL.items():
            q, k, v = (x.float() for x in heads_of(name))
            sizes, near = sizes_and_near(q.shape[1], **options)
            kinds = _near_equal.kinds_of(sizes, near, q.shape[2], v.shape[2])
            self.assertEqual(len(kinds), 3)
            mine = np.array([kinds_chosen(q, k, v, sizes, near, seed) for seed in range(SEEDS)])
            expected = self.multiplications_of_kinds(q, k, v, options, kinds)
            c = np.array([self.multiplications(q, k, v, spec_of(options), seed) for seed in range(SEEDS)])
            apart = np.abs(c[..., None] - expected)
            self.assertLess(apart.min(2).max(), np.diff(np.sort(expected)).min() / 2)
            of_heads += [[int((which[:, h] == kind).sum()) for which in (mine, apart.argmin(2))]
                         for h in range(len(q)) for kind in range(3)]
        for pair in of_heads:
            self.assertGreater(fisher(*pair, SEEDS), LEVEL / self.TESTS, of_heads)
        self.assertEqual(len(of_heads), self.OF_KINDS)
        either = np.array(of_heads).reshape(-1, 3, 2)
        self.assertTrue((either.sum((0, 2)) > 0).all(), "a kind is never chosen")
        self.assertTrue(((0 < either) & (either < SEEDS)).any(), "each head has one kind for all seeds")

    def multiplications(self, q, k, v, spec, seed):
        """Of each head alone."""
        shared, found = len(q) // len(k), []
        attention = nysbench.Attention(spec, q[:1].shape, k[:1].shape, v[:1].shape, threads=1, seed=seed)
        for h in range(len(q)):
            attention(q[h, None], k[h // shared, None], v[h // shared, None])
            found.append(attention.cost.multiplications)
        return found

    def multiplications_of_kinds(self, q, k, v, options, kinds):
        """What near=equal takes for a head of each kind, about: what the kind alone takes, the choice among kinds, and
        passes over the drawn queries. Two are for the exact queries that a head with near keys has not, one, which
        finds tokens in their places, for a head without them, and one for the weights of fewer."""
        (_, n, d), few, found = q.shape, kinds[1].sizes.rows, []
        near = kinds[1].near.pairs() / n + kinds[2].near.top
        choice = work_of_choice(n, v.shape[2], kinds) + min(16, few) * near * v.shape[2]
        for kind in kinds:
            rows, every = kind.sizes.rows, kinds[0].sizes.rows
            passes = few + 1 + (every if kind.near.kind == "none" else 2 * (every - rows))
            alone, = self.multiplications(q[:1], k[:1], v[:1], spec_of(options_of(kind, options)), 0)
            found.append(alone + choice + passes * kind.sizes.queries * d)
        return np.array(found)

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


def near_by_formula(q, k, v, sizes, near, placed, mine, probes, rows=None):
    """Of one head, as "Near keys" of docs/method.md has them: outputs, whether it has near keys and how that is found,
    the ridges with the least error of leaving each row out (all, where all keys are near), and r (n) without near keys
    and with them. placed: which keys are sampled, and their groups, without near keys and with them. rows: the exact
    queries with the size of each, unless all groups have one."""
    n, scale, m = len(q), q.shape[1]**-0.5, sizes.landmarks
    nearest = lambda x, y: ((x[:, None] - y)**2).sum(2).argmin(1)
    drawn = placed[1].queries
    centres, size = rows or grouped(placed[1].query_groups, sizes.rows, np.ones(sizes.queries), q[drawn])
    w = np.maximum(size, 0.25)
    w = w / w.mean()
    rows = softmax(centres @ k.T * scale)
    strongest = [set(np.argsort(-row)[:near.top]) for row in rows]
    blocks = blocks_of(n, near.columns)
    block_of = {token: block for block, tokens in enumerate(blocks) for token in tokens}
    windows = [around(block, n, near.reach, near.columns) if near.kind != "top" else set() for block in blocks]
    allowed = nearest_blocks(centres, q[drawn], drawn, blocks)
    assert all(block in those for block, those in zip(mine.blocks, allowed)), "not the nearest"

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


def sizes_by_formula(n, d, dv, landmarks, near, rows=None, keys=None):
    """The landmarks and exact queries of each kind, the most that are as cheap as without near keys."""
    pairs = sum(len(block) * len(around(block, n, near.reach, near.columns)) for block in blocks_of(n, near.columns))

    def price(m, k, has, top):
        sampled = min(n, math.ceil(32 / 3 * m)) if keys is None else keys
        far = n * (k + m) * (d + dv) + 3 * sampled * m * d
        return far + has * (n * m * d + (pairs + 2 * n * top) * (d + dv) + (top > 0) * n * k * d)
    usual = lambda m: math.ceil(5 * m / 12) if rows is None else rows
    found = [(landmarks, usual(landmarks))]
    for top in [0, near.top][:1 + (near.top > 0)]:
        k = lambda m: usual(m) if top == 0 else found[1][1]
        paid = [m for m in range(1, landmarks + 1) if price(m, k(m), True, top) <= price(*found[0], False, 0)]
        if not paid:
            break
        found.append((paid[-1], k(paid[-1])))
    return found


def nearest_blocks(centres, x, tokens, blocks):
    """Which blocks the drawn queries x at tokens that are nearest to a centre have: two may be equally near."""
    block_of = {token: i for i, block in enumerate(blocks) for token in block}
    apart = ((centres[:, None] - x)**2).sum(2)
    return [{block_of[token] for token in tokens[row <= row.min() + 1e-9]} for row in apart]


def kind_by_formula(q, k, v, sizes, near, choice, placed):
    """Of one head, as "Near keys" of docs/method.md has it: the errors of the kinds that are compared, and the exact
    queries that heads with near keys have, with the size of each. sizes: of sizes_by_formula; placed: the blocks of
    these queries."""
    n, scale, (few, total) = len(q), q.shape[1]**-0.5, (sizes[1][1], sizes[0][1])
    nearest = lambda x, y: ((x[:, None] - y)**2).sum(2).argmin(1)
    centres, _ = grouped(choice.query_groups, total, np.ones(len(choice.queries)), q[choice.queries])
    centres = centres[[i * total // few for i in range(few)]]
    size = np.maximum(np.bincount(nearest(q[choice.queries], centres), minlength=few), 1)
    first = [i * few // min(few, 16) for i in range(min(few, 16))]
    w = size[first] / size[first].mean()
    blocks = blocks_of(n, near.columns)
    allowed = nearest_blocks(centres, q[choice.queries], choice.queries, blocks)
    assert all(block in those for block, those in zip(placed, allowed)), "not the nearest"
    far, errors = softmax(centres[first] @ k.T * scale), []
    strongest = np.argsort(-far)[:, :near.top]
    its = [[], [list(around(blocks[placed[i]], n, near.reach, near.columns)) for i in first], strongest]
    for keys in its[:len(sizes)]:
        for row, one in zip(far, keys):
            row[one] = 0
        r = w @ far
        t = far @ v - far.sum(1)[:, None] * (r @ v / max(r.sum(), 1e-300))
        gram = far / np.where(r > 0, r, 1) @ far.T
        inverse = np.linalg.inv(gram + 1e-3 * max((w * np.diag(gram)).mean(), 1e-8) * np.diag(1 / w))
        errors.append((w[:, None] * (inverse @ t / np.diag(inverse)[:, None])**2).sum())
    if len(errors) == 3:
        errors[2] = math.sqrt(errors[1] * errors[2])
    return [error / m for error, (m, _) in zip(errors, sizes)], (centres, size)


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

    def test_equal_cost(self):
        """near=equal: sizes, kind and outputs of each head; tokens in a row and images, rows and keys as they follow
        and as asked for; what has no window that can be paid, and no strongest keys. Heads that look near, far and
        both, so that all kinds are chosen."""
        found = set()
        for n, m, options, sharp in (
                (150, 90, {"window": 8, "top": 3}, 1.2), (150, 90, {"window": 2, "top": 1}, 0.3),
                (150, 90, {"window": 8, "top": 0}, 0.6), (300, 150, {}, 2.385), (31, 20, {}, 1), (150, 5, {}, 1),
                (173, 120, {"window": 8, "top": 5, "grid": 17}, 0.5), (149, 120, {"window": 24, "grid": "auto"}, 1),
                (150, 100, {"window": 4, "top": 2, "rows": 30, "keys": 120}, 1.7),
                (300, 150, {"window": 0, "top": 300}, 0.5), (300, 140, {"window": 4, "top": 2}, 6)):
            q, k, v = drawn((6, n, 8), (6, n, 8), (6, n, 5), seed=n)
            slope = torch.linspace(0, 3, n, dtype=q.dtype)[:, None] * torch.tensor([0, 0.5, 1, 2, 0, 0])[:, None, None]
            q, k = sharp * (q + slope), k + slope
            angle = torch.arange(n, dtype=q.dtype) * (2 * math.pi / n)
            for x in (q, k):  # the last two heads look at what is around them
                x[4:, :, :2] = torch.tensor([4, 10])[:, None, None] * torch.stack([angle.cos(), angle.sin()], 1)
            sizes, near = sizes_and_near(n, m, "equal", **options)
            kinds = _near_equal.kinds_of(sizes, near, 8, 5)
            asked = {name: options.get(name) for name in ("rows", "keys")}
            expected = sizes_by_formula(n, 8, 5, m, near, **asked)
            self.assertEqual([(kind.sizes.landmarks, kind.sizes.rows) for kind in kinds], expected)
            out, (plain, mine, chosen) = _near_equal.kernel_ridge(q, k, v, sizes, near, 7)
            blocks, errors = [[]] * len(q), torch.zeros(len(q), 1)
            if len(kinds) > 1:
                every = _ridge_regression.choose_rows(q, sizes, 7, None)
                fewer = _near_equal._fewer_rows(q, every, kinds[1].sizes.rows, chosen)
                blocks = _near_keys.blocks_of_rows(q, fewer, near).tolist()
                errors = _near_equal.expected_errors(q, k, v, fewer, kinds)
            for h in range(len(q)):
                with self.subTest(n=n, head=h, **options):
                    head = [x[h].numpy() for x in (q, k, v)]
                    its, kind = kinds[chosen.kind[h]], int(chosen.kind[h])
                    its_plain, its_mine = (types.SimpleNamespace(**{
                        name: (x if name == "queries" else x[h]).numpy() for name, x in record._asdict().items()})
                        for record in (plain, mine))
                    for name in ("keys", "key_groups", "received", "inclusion"):
                        x = getattr(its_plain, name)
                        self.assertFalse(x[its.sizes.keys:].any(), name)
                        setattr(its_plain, name, x[:its.sizes.keys])
                    its_mine.blocks = its_mine.blocks[:its.sizes.rows]
                    shares, rows = kind_by_formula(
                        *head, expected, near, its_plain, blocks[h]) if len(kinds) > 1 else ([0], None)
                    self.assert_near(errors[h].numpy(), shares)
                    self.assertLessEqual(shares[kind], (1 + 1e-9) * min(shares), shares)
                    found.add((len(kinds), kind))
                    if kind == 0:
                        outputs, *_ = ridge_by_formula(*head, sizes, its_plain)
                    else:
                        np.testing.assert_array_equal(chosen.size[h, :its.sizes.rows].numpy(), rows[1])
                        outputs, *_ = near_by_formula(*head, its.sizes, its.near, [None, its_plain], its_mine, None,
                                                      rows)
                    self.assertEqual(bool(mine.near[h]), kind > 0)
                    self.assert_near(out[h].numpy(), outputs)
        self.assertEqual(found, {(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)})

    def test_an_exact_query_without_queries(self):
        """Where tokens are the same some groups are empty, and a query that is nearest to none counts as one."""
        q, = drawn((2, 11, 6))
        sizes = _ridge_regression.Sizes(99, 30, 99, 60, 99)
        q = q.repeat(1, 9, 1)
        fewer = _near_equal._fewer_rows(q, _ridge_regression.choose_rows(q, sizes, 3, None), 20, None)
        self.assertTrue((fewer.size == 1).any())
        self.assertTrue((fewer.size.sum(1) > 99).all() and (fewer.size >= 1).all())
        torch.testing.assert_close(fewer.weight, fewer.size * (20 / fewer.size.sum(1, keepdim=True)))

    def test_sizes_at_equal_cost(self):
        """Those of the C code: what it predicts for near=equal is what it predicts for the cheapest kind with sizes of
        the package, and the choice, as src/layers/kernel_ridge_kind.c counts it."""
        cheapest = set()
        for n, d, m, options in (
                (300, 8, 120, {}), (257, 16, 130, {"grid": "auto", "window": 24}),
                (200, 32, 90, {"window": 4, "top": 5}),
                (333, 8, 150, {"window": 7, "top": 3}), (190, 24, 101, {"grid": 17, "window": 8, "top": 2}),
                (151, 8, 97, {"top": 0}), (200, 16, 100, {"rows": 33, "window": 9, "top": 1}),
                (211, 8, 77, {"keys": 160, "window": 2, "top": 4}), (90, 8, 20, {}), (275, 20, 140, {"window": 0})):
            sizes, near = sizes_and_near(n, m, "equal", **options)
            kinds = _near_equal.kinds_of(sizes, near, d, d)
            specs = [{"landmarks": m, "near": "equal", **options}, *(options_of(kind, options) for kind in kinds)]
            run = nysbench.run(study="forward", problems=[f"gaussian(n={n}, d={d})"], timed=False, trials=1,
                               attentions=[spec_of({**its, "label": i}) for i, its in enumerate(specs)], progress=False)
            rows = run.rows
            formula = {int(label): flops / 2 for label, flops in zip(rows["attention_label"], rows["flops_formula"])}
            with self.subTest(n=n, **options):
                of_kinds = [formula[i + 1] for i in range(len(kinds))]
                choice = work_of_choice(n, d, kinds) if len(kinds) > 1 else 0
                self.assertEqual(formula[0], choice + min(of_kinds))
                cheapest.add((len(kinds), int(np.argmin(of_kinds))))
        self.assertEqual({kind for _, kind in cheapest}, {0, 1, 2}, cheapest)

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

    def test_kinds(self):
        """near=equal, with heads of all kinds."""
        q, k, v = drawn((3, 34, 3), (3, 34, 3), (3, 34, 2), grad=True)
        given = *sizes_and_near(34, 30, "equal", window=0, top=1), 4
        kinds = mock.patch.object(_near_equal, "choose_kinds", lambda *_: torch.tensor([2, 0, 1]))
        with kinds:
            _, choice = _near_equal.kernel_ridge(q, k, v, *given)
        self.assertTrue(torch.autograd.gradcheck(
            lambda *x: _near_equal.kernel_ridge(*x, *given, choice)[0], (q, k, v), fast_mode=True))
        with kinds:
            out = nysbench.torch.kernel_ridge(q, k, v, 30, near="equal", window=0, top=1, seed=4)
        mine, expected = (torch.autograd.grad(x.square().sum(), (q, k, v)) for x in (
            out, _near_equal.kernel_ridge(q, k, v, *given, choice)[0]))
        for x, y in zip(mine, expected):
            torch.testing.assert_close(x, y, rtol=1e-10, atol=1e-12)

    def test_nystrom(self):
        for strategy in ("segment_means", "uniform", "kmeans"):
            with self.subTest(strategy):
                self.assertTrue(torch.autograd.gradcheck(
                    lambda *x: nysbench.torch.nystrom(*x, 4, strategy=strategy, iterations=2), self.layer()))

    def expected(self, q, k, v, near=None):
        """Outputs and gradients of the plain operations."""
        shared = [x.repeat_interleave(2, 0) for x in (k, v)]
        function, place = (_ridge_regression, ()) if near is None else (_kernel_ridge._family(near.kind), (near,))
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
        for kind in ("window", "top", "both", "auto", "equal"):
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
        equal = compiled(lambda *x: nysbench.torch.kernel_ridge(*x, 30, near="equal", window=0, top=1))
        layer = drawn((2, 34, 3), (1, 34, 3), (1, 34, 2), grad=True)
        found, expected = ((x, *torch.autograd.grad(x.square().sum(), layer)) for x in (
            equal(*layer) / 2, nysbench.torch.kernel_ridge(*layer, 30, near="equal", window=0, top=1)))
        for x, y in zip(found, expected):
            torch.testing.assert_close(x, y, rtol=1e-10, atol=1e-12)
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
        q, k, v = drawn((2, 34, 3), (1, 34, 3), (1, 34, 2), grad=True)
        torch.library.opcheck(torch.ops.nysbench.kernel_ridge.default,
                              (q, k, v, 13, 34, 30, 34, "equal", 0, 1, 0, 0, 4, 0, True, True))
        for strategy in ("segment_means", "uniform", "kmeans"):
            torch.library.opcheck(torch.ops.nysbench.nystrom.default, (q, k, v, 4, strategy, 6, 12, 3, 4))

    def test_shapes_without_data(self):
        layer = [x.to("meta") for x in self.layer()]
        for function in (nysbench.torch.kernel_ridge, nysbench.torch.nystrom):
            self.assertEqual(function(*layer, landmarks=4).shape, (2, 20, 2))
        self.assertEqual(nysbench.torch.kernel_ridge(*layer, 4, near="equal").shape, (2, 20, 2))
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
                ("kernel_ridge", {"landmarks": 5, "near": "equal", "top": -1}),
                ("kernel_ridge", {"landmarks": 5, "near": "equal", "tolerance": 0.1}),
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
        for (change, name), options in itertools.product(enumerate("qkv"), (
                {"landmarks": 12}, {"landmarks": 12, "near": "auto"}, {"landmarks": 60, "near": "equal", "window": 0})):
            for bad in (math.nan, math.inf):
                layer = drawn((2, 3, 80, 8), (2, 3, 80, 8), (2, 3, 80, 4), dtype=torch.float32)
                before = nysbench.torch.kernel_ridge(*layer, **options)
                layer[change][1, 1] = bad
                after = nysbench.torch.kernel_ridge(*layer, **options)
                with self.subTest(name, bad=bad, **options):
                    self.assertTrue(after[1, 1].isnan().all())
                    self.assertTrue(torch.equal(after[0], before[0]) and torch.equal(after[1, ::2], before[1, ::2]))

    def test_a_graph_of_heads_of_several_kinds(self):
        """near=equal waits for the device, which a CUDA graph forbids; not where near keys cannot be paid."""
        with mock.patch("torch.cuda.is_current_stream_capturing", lambda: True):
            with FakeTensorMode(allow_non_fake_inputs=False):
                layer = [torch.empty(4, 257, size, device="cuda") for size in (24, 24, 10)]
                for landmarks, refused in ((3, False), (200, True)):
                    given = *layer, *sizes_and_near(257, landmarks, "equal"), 1
                    if refused:
                        self.told(nysbench.ArgumentError, _near_equal.kernel_ridge, *given)
                    else:
                        self.assertEqual(_near_equal.kernel_ridge(*given)[0].shape, (4, 257, 10))

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
