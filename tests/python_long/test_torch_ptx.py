# SPDX-License-Identifier: GPL-3.0-or-later
"""The Triton kernels of nysbench.torch are compiled for GPUs of CUDA, on a machine without one.

usage: test_torch_ptx.py PROGRAM. Triton's interpreter, by which test_torch_kernels.py computes, takes programs that the
compiler refuses. Each launch of a pass is compiled with its types and constants. A program may have as much shared
memory as a multiprocessor gives to one, by NVIDIA's tables: 163 KiB of the A100 (8.0), 227 KiB of the H100 (9.0).
"""
import importlib.util
import math
import sys
import unittest
from unittest import mock

for package in ("torch", "triton"):
    if importlib.util.find_spec(package) is None:
        print(f"1..0 # SKIP the kernels of nysbench.torch, compiled: there is no {package}")
        sys.exit()
import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import tap
from nysbench.torch import _near_keys, _ridge_regression, _triton_kernels

SHARED = {80: 163 * 2**10, 90: 227 * 2**10}
N, HEADS, D = 4097, 24, 64
POINTERS = {torch.float16: "*fp16", torch.float32: "*fp32", torch.int32: "*i32", torch.int64: "*i64",
            torch.bool: "*i1"}


def launched(function):
    """(kernel, arguments, constants and options) of each launch, none of which is made."""
    found = []

    class Launcher:
        def __init__(self, kernel):
            self.kernel = kernel

        def __getitem__(self, grid):
            return lambda *arguments, **others: found.append((self.kernel, arguments, others))
    kernels = {name: Launcher(x) for name, x in vars(_triton_kernels).items()
               if isinstance(x, triton.runtime.jit.JITFunction)}
    with mock.patch.multiple(_triton_kernels, **kernels):
        function()
    return found


def compiled(kernel, arguments, others, target):
    options = {name: others[name] for name in ("num_warps", "num_stages") if name in others}
    given = {**dict(zip(kernel.arg_names, arguments)), **others}
    signature, constants = {}, {}
    for place, parameter in enumerate(kernel.params):
        x = given[parameter.name]
        if parameter.is_constexpr or x is None:
            signature[parameter.name], constants[(place,)] = "constexpr", x
        else:
            signature[parameter.name] = (POINTERS[x.dtype] if torch.is_tensor(x) else "i32" if isinstance(x, int)
                                         else "fp32")
    return triton.compile(ASTSource(kernel, signature, constants, {}), target=GPUTarget("cuda", target, 32),
                          options=options)


class Kernels(unittest.TestCase):
    def assert_compiled(self, function, target, expected):
        found = launched(function)
        self.assertEqual(len(found), expected)
        for kernel, *given in found:
            with self.subTest(kernel.__name__, target=target):
                self.assertLessEqual(compiled(kernel, *given, target).metadata.shared, SHARED[target])

    def test_a_pass(self):
        """One block of exact queries, and several."""
        for landmarks, dtype, target in ((104, torch.float16, 90), (192, torch.float32, 80)):
            rows = math.ceil(5 * landmarks / 12)
            sizes = _ridge_regression.Sizes(N, rows, math.ceil(64 / 5 * rows), landmarks, math.ceil(32 / 3 * landmarks))
            points = torch.empty(HEADS, N, D, dtype=dtype)
            self.assertTrue(_triton_kernels.serves(points, points, sizes))
            self.assert_compiled(lambda: _triton_kernels.kernel_ridge(points, points, points, sizes, 1), target, 16)

    def test_near_keys(self):
        """Tokens in a row, and an image."""
        for grid, dtype, target in ((None, torch.float32, 80), ("auto", torch.float16, 90)):
            near = _near_keys.neighbourhood(N, "auto", None, None, grid)
            points = torch.empty(HEADS, N, D, dtype=dtype)
            landmarks, numbers = torch.empty(HEADS, 104, D), torch.empty(HEADS, 104)
            choice = _near_keys.NearChoice(*(torch.empty(shape, dtype=torch.int64) for shape in (
                (HEADS, 44), (HEADS, 44, near.top), (HEADS, N), (HEADS, N))), numbers,
                torch.empty(HEADS, dtype=torch.bool))
            self.assert_compiled(lambda: _triton_kernels.answer_near(
                points, points, points, landmarks, numbers, landmarks, numbers, near, choice), target, 1)


if __name__ == "__main__":
    tap.main()
