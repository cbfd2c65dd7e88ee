# SPDX-License-Identifier: GPL-3.0-or-later
"""The Triton kernels of nysbench.torch in Triton's interpreter, on a CPU, against the plain operations.

usage: test_torch_kernels.py PROGRAM. The plain operations are given what the kernels have chosen. Then both compute the
same in float32, in another order. A rounding is 6e-8, and sums, exponentials and the ridge's system enlarge it: 1e-5 of
the outputs' norm is allowed, ten times what was seen. In float16 kernels round probabilities and landmarks' values to
5e-4, which plain operations do not: 3e-3 is allowed. bfloat16 is not tested: products of it are wrong in the
interpreter of Triton 3.9.

Choices are compared too. Rounding may decide between two tokens or two groups: one in a hundred may differ.
"""
import importlib.util
import math
import os
import sys
import unittest
from unittest import mock

for package in ("torch", "triton"):
    if importlib.util.find_spec(package) is None:
        print(f"1..0 # SKIP the kernels of nysbench.torch: there is no {package}")
        sys.exit()
os.environ["TRITON_INTERPRET"] = "1"  # which Triton reads when it is imported
import torch

import tap
from nysbench.torch import _near_equal, _near_keys, _ridge_regression, _triton_kernels

torch.set_num_threads(1)
ALLOWED = {torch.float32: 1e-5, torch.float16: 3e-3}
# Heads of queries and of keys, n, d, dv, and rows, queries, landmarks and keys: no multiples of a block.
CASES = {
    "a block of exact queries, heads that share keys": ((4, 2), 203, 24, 10, (17, 130, 41, 150)),
    "several blocks of exact queries": ((2, 2), 301, 16, 16, (75, 260, 90, 200)),
    "all queries and keys": ((2, 1), 97, 20, 33, (40, 97, 50, 97)),
    "one of each": ((1, 1), 19, 5, 3, (1, 1, 1, 1)),
}


def layer(heads, n, d, dv, dtype):
    rng = torch.Generator().manual_seed(3)
    q, k, v = (torch.randn(h, n, size, generator=rng) for h, size in ((heads[0], d), (heads[1], d), (heads[1], dv)))
    return [x.to(dtype) for x in (1.7 * q + 0.5, 1.3 * k + 0.5, v + 1)]


class Kernels(unittest.TestCase):
    def test_against_plain_operations(self):
        for name, (heads, n, d, dv, sizes) in CASES.items():
            for dtype, allowed in ALLOWED.items():
                with self.subTest(name, dtype=dtype):
                    q, k, v = layer(heads, n, d, dv, dtype)
                    sizes_ = _ridge_regression.Sizes(n, *sizes)
                    self.assertTrue(_triton_kernels.serves(q, v, sizes_))
                    out, choice = _triton_kernels.kernel_ridge(q, k, v, sizes_, 5)
                    shared = [x.repeat_interleave(heads[0] // heads[1], 0) for x in (k, v)]
                    expected, _ = _ridge_regression.kernel_ridge(q, *shared, sizes_, 5, choice)
                    self.assertEqual((out.dtype, out.shape), (dtype, expected.shape))
                    apart = (out.float() - expected.float()).norm(dim=(1, 2)) / expected.float().norm(dim=(1, 2))
                    self.assertLess(float(apart.max()), allowed)
                    self.assert_alike(choice, _ridge_regression.kernel_ridge(q, *shared, sizes_, 5)[1])

    def assert_alike(self, mine, plain):
        for name, x, y in zip(mine._fields, mine, plain):
            self.assertEqual((x.dtype, x.shape), (y.dtype, y.shape), name)
        self.assertTrue(torch.equal(mine.queries, plain.queries))
        same = mine.keys == plain.keys
        for name, equal in (("query_groups", mine.query_groups == plain.query_groups),
                            ("keys", same), ("key_groups", (mine.key_groups == plain.key_groups)[same]),
                            ("ridge", mine.ridge == plain.ridge)):
            self.assertGreaterEqual(float(equal.float().mean()), 0.99, name)
        for name in ("received", "inclusion"):
            torch.testing.assert_close(getattr(mine, name)[same], getattr(plain, name)[same], rtol=1e-4, atol=0)

    def test_near_keys(self):
        """Given the same tokens, groups and near keys, which some heads have; tokens in a row, and images with and
        without tokens before them whose sides are no multiples of a block's."""
        for n, options, has in (
                (101, {"near": "window", "window": 13}, None), (150, {"near": "top", "top": 5}, None),
                (109, {"near": "both", "grid": 12, "window": 30, "top": 7}, None),
                (149, {"near": "auto", "grid": "auto", "window": 24, "top": 9}, [True, False, False, True]),
                (101, {"near": "auto", "window": 13, "top": 0}, [False, True, False, True])):
            near = _near_keys.neighbourhood(n, **{"window": None, "top": None, "grid": None, **options})
            sizes = _ridge_regression.Sizes(n, 9, 60, 20, 80)
            for dtype, allowed in ALLOWED.items():
                with self.subTest(n=n, dtype=dtype, **options):
                    q, k, v = layer((4, 4), n, 24, 10, dtype)
                    given, chosen, choose = (q, k, v, sizes, near, 5), [], _near_keys.choose

                    def as_stated(*errors, choose=choose, chosen=chosen, has=has):
                        chosen.append(choose(*errors).tolist())
                        return torch.tensor(has)
                    with mock.patch.object(_near_keys, "choose", as_stated):
                        _, choices = _near_keys.kernel_ridge(*given, kernels=_triton_kernels)
                        _, plain = _near_keys.kernel_ridge(*given)
                    self.assert_alike(choices[0], plain[0])
                    self.assertEqual(choices[1].near.tolist(), has or [True] * 4)
                    self.assertEqual(chosen[:1], chosen[1:])
                    expected, _ = _near_keys.kernel_ridge(*given, choices)
                    alone = ~choices[1].near
                    expected[alone] = _ridge_regression.kernel_ridge(q, k, v, sizes, 5, choices[0])[0][alone]
                    with mock.patch.object(_near_keys, "answer", _triton_kernels.answer_near):
                        out, _ = _near_keys.kernel_ridge(*given, choices)
                    self.assertEqual((out.dtype, out.shape), (dtype, expected.shape))
                    apart = (out.float() - expected.float()).norm(dim=(1, 2)) / expected.float().norm(dim=(1, 2))
                    self.assertLess(float(apart.max()), allowed)

    def test_kinds_of_near_keys(self):
        """near=equal, given which head has which: kernels have the same exact queries, and each kind its sizes."""
        near, sizes = (_near_keys.neighbourhood(101, "equal", 4, 2, None),
                       _ridge_regression.Sizes(101, 25, 101, 60, 101, True, True))
        self.assertEqual(len(_near_equal.kinds_of(sizes, near, 24, 10)), 3)
        for dtype, allowed in ALLOWED.items():
            with self.subTest(dtype=dtype):
                q, k, v = layer((4, 4), 101, 24, 10, dtype)
                given, chosen, choose = (q, k, v, sizes, near, 5), [], _near_equal.choose_kinds

                def as_stated(*given, choose=choose, chosen=chosen):
                    chosen.append(choose(*given).tolist())
                    return torch.tensor([2, 0, 1, 2])
                with mock.patch.object(_near_equal, "choose_kinds", as_stated):
                    out, choices = _near_equal.kernel_ridge(*given, kernels=_triton_kernels)
                    _, plain = _near_equal.kernel_ridge(*given)
                self.assertEqual(chosen[0], chosen[1])
                self.assert_alike(choices[0], plain[0])
                self.assertTrue(torch.equal(choices[2].size, plain[2].size))
                with mock.patch.object(_near_keys, "answer", _triton_kernels.answer_near):
                    expected, _ = _near_equal.kernel_ridge(*given, choices)
                self.assertEqual((out.dtype, out.shape), (dtype, expected.shape))
                apart = (out.float() - expected.float()).norm(dim=(1, 2)) / expected.float().norm(dim=(1, 2))
                self.assertLess(float(apart.max()), allowed)

    def test_heads_that_a_few_landmarks_describe(self):
        """Tokens move along a curve: the smallest ridge has the least error, and with it the condition of a head's
        system is up to 10^4 k. Single precision has to choose the same ridge, and may err 5 % more."""
        for rows, landmarks in ((20, 48), (80, 96)):  # one block, and several
            rng = torch.Generator().manual_seed(1)
            steps = torch.randn(2, 300, 3, generator=rng).cumsum(1) / 10
            q, k, v = (torch.tanh(steps @ torch.randn(3, 16, generator=rng)) for _ in range(3))
            sizes = _ridge_regression.Sizes(300, rows, 260, landmarks, 280)
            with self.subTest(rows=rows):
                out, choice = _triton_kernels.kernel_ridge(q, k, v, sizes, 5)
                expected, plain = _ridge_regression.kernel_ridge(q, k, v, sizes, 5, choice._replace(ridge=None))
                self.assertEqual(plain.ridge.tolist(), [len(_ridge_regression.RIDGES) - 1] * 2, "not a hard case")
                self.assertTrue(torch.equal(choice.ridge, plain.ridge))
                exact = torch.nn.functional.scaled_dot_product_attention(q, k, v)
                mine, other = ((x - exact).norm() for x in (out, expected))
                self.assertLess(float(mine / other), 1.05)

    def test_a_head_that_is_not_finite_leaves_the_others(self):
        """Values only: the interpreter raises an error where all distances are NaN."""
        sizes = _ridge_regression.Sizes(60, 4, 40, 8, 50)
        q, k, v = layer((3, 3), 60, 16, 16, torch.float32)
        before, _ = _triton_kernels.kernel_ridge(q, k, v, sizes, 5)
        v[1] = math.nan
        after, _ = _triton_kernels.kernel_ridge(q, k, v, sizes, 5)
        self.assertTrue(after[1].isnan().all())
        self.assertTrue(torch.equal(after[::2], before[::2]))

    def test_what_the_kernels_leave_to_plain_operations(self):
        x, sizes = torch.zeros(1, 9000, 64), _ridge_regression.Sizes(9000, 80, 1024, 192, 2048)
        self.assertTrue(_triton_kernels.serves(x, x, sizes))
        self.assertFalse(_triton_kernels.serves(x.double(), x.double(), sizes))
        self.assertFalse(_triton_kernels.serves(x, x.new_zeros(1, 9000, 300), sizes))
        self.assertFalse(_triton_kernels.serves(x, x, _ridge_regression.Sizes(9000, 80, 1024, 2000, 2048)))


if __name__ == "__main__":
    tap.main()
