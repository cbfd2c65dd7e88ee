# SPDX-License-Identifier: GPL-3.0-or-later
"""nysbench.torch on a GPU of CUDA: graphs, torch.compile, autocast, gradients, kernels against plain operations.

usage: test_torch_cuda.py PROGRAM. Without such a GPU all tests on the device are skipped, and say so. That no call
waits for the device is tested without one too: PyTorch's fake tensors, on a pretended device cuda, have no numbers, so
that who asks for one gets an error; and an operation that also has a tensor of the CPU would copy.

Of the kernels 1e-4 of the outputs' norm is allowed in float32, and in half precision four roundings of its type, for
probabilities and landmarks' values, which plain operations do not round.
"""
import importlib.util
import math
import sys
import unittest

if importlib.util.find_spec("torch") is None:
    print("1..0 # SKIP nysbench.torch on a GPU: there is no torch")
    sys.exit()
import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import nysbench
import nysbench.torch
import tap
from nysbench.torch import _kernel_ridge, _near_equal, _near_keys, _nystrom, _ridge_regression

torch.set_num_threads(1)
ALLOWED = {torch.float32: 1e-4, torch.float16: 4 * 2.0**-11, torch.bfloat16: 4 * 2.0**-8}
RIDGE = {"landmarks": 40, "seed": 3}
ATTENTIONS = {
    "kernel_ridge": lambda *x: nysbench.torch.kernel_ridge(*x, **RIDGE),
    "near=auto": lambda *x: nysbench.torch.kernel_ridge(*x, **RIDGE, near="auto", grid="auto"),
    "segment_means": lambda *x: nysbench.torch.nystrom(*x, 40),
    "kmeans": lambda *x: nysbench.torch.nystrom(*x, 40, strategy="kmeans"),
    "near=equal": lambda *x: nysbench.torch.kernel_ridge(*x, 90, near="equal", window=8, top=4, seed=3)}
WITHOUT_A_WAIT = {name: attention for name, attention in ATTENTIONS.items() if name != "near=equal"}


def layer(device, dtype=torch.float32, grad=False):
    """Two inputs of 257 tokens, four heads that share two of keys. Heads look near, and near=auto gives near
    keys to all but one."""
    rng = torch.Generator().manual_seed(3)
    drawn = [torch.randn(2, heads, 257, size, generator=rng) for heads, size in ((4, 24), (2, 24), (2, 10))]
    slope = torch.linspace(0, 4, 257)[:, None]
    return [x.to(device, dtype).requires_grad_(grad) for x in (drawn[0] + slope, drawn[1] + slope, drawn[2] + 1)]


class OnTheDevice(TorchDispatchMode):
    """Refuses operations with tensors on more than the device."""
    operations = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **kwargs or {})
        self.operations += 1
        devices = {x.device.type for x in tree_leaves((args, kwargs, out)) if isinstance(x, torch.Tensor)}
        assert devices <= {"cuda"}, f"{function}: {devices}"
        return out


class WithoutDevice(unittest.TestCase):
    def asks_nothing(self, function):
        with FakeTensorMode(allow_non_fake_inputs=False):
            given = [torch.empty(4, 257, size, device="cuda") for size in (24, 24, 10)]
            with OnTheDevice() as mode:
                out = function(*given)
        self.assertEqual((out.device.type, out.shape), ("cuda", (4, 257, 10)))
        self.assertGreater(mode.operations, 20)

    def test_no_call_waits(self):
        sizes = _ridge_regression.Sizes(257, 9, 80, 20, 100)
        self.asks_nothing(lambda *x: _ridge_regression.kernel_ridge(*x, sizes, 1)[0])
        for kind in ("window", "top", "both", "auto"):
            for grid in (None,) if kind == "top" else (None, "auto", 6):
                with self.subTest(kind, grid=grid):
                    near = _near_keys.neighbourhood(257, kind, None, None, grid)
                    self.asks_nothing(lambda *x, near=near: _near_keys.kernel_ridge(*x, sizes, near, 1)[0])
        sizes, near = (_ridge_regression.Sizes(257, 38, 257, 90, 257, True, True),
                       _near_keys.neighbourhood(257, "equal", 8, 4, None))
        kinds = _near_equal.kinds_of(sizes, near, 24, 10)

        def choose(q, k, v):
            rows = _ridge_regression.choose_rows(q, sizes, 1, None)
            kind = _near_equal.choose_kinds(q, k, v, _near_equal._fewer_rows(q, rows, kinds[1].sizes.rows, None), kinds)
            return v + kind[:, None, None]
        self.assertEqual(len(kinds), 3)
        self.asks_nothing(choose)
        for strategy in _nystrom.STRATEGIES:
            def attend(*x, strategy=strategy):
                groups = _nystrom._groups(*x[:2], 20, 100, 4, 1) if strategy == "kmeans" else None
                return _nystrom._attend(*x, 20, strategy, 6, 100, 1, groups)
            with self.subTest(strategy):
                self.asks_nothing(attend)

    def test_the_test_sees_a_wait_and_a_copy(self):
        self.assertRaises(DataDependentOutputException, self.asks_nothing, lambda q, k, v: v * q[0, 0, 0].item())
        self.assertRaisesRegex(AssertionError, "cpu", self.asks_nothing,
                               lambda q, k, v: v[:, torch.arange(257).to(v.device)])


class Same(unittest.TestCase):
    """What a device computes under several conditions; test_torch.py has more of the CPU."""
    device = "cpu"

    def test_compiled(self):
        for name, attention in ATTENTIONS.items():
            with self.subTest(name):
                found = []
                for one in (attention, torch.compile(attention, backend="aot_eager", fullgraph=True)):
                    given = layer(self.device, grad=True)
                    out = one(*given)
                    found.append((out, *torch.autograd.grad(out.square().sum(), given)))
                for plain, compiled in zip(*found):
                    torch.testing.assert_close(compiled, plain, rtol=0, atol=1e-4 * float(plain.detach().abs().max()))

    def test_autocast(self):
        given = layer(self.device)
        for name, attention in ATTENTIONS.items():
            with self.subTest(name), torch.autocast(self.device, dtype=torch.bfloat16):
                found = attention(*given)
                with torch.autocast(self.device, enabled=False):
                    expected = attention(*given)
                self.assertEqual(found.dtype, torch.float32)
                torch.testing.assert_close(found, expected, rtol=0, atol=1e-4 * float(expected.abs().max()))

    def test_grouped_keys(self):
        q, k, v = layer(self.device)
        for name, attention in ATTENTIONS.items():
            with self.subTest(name):
                shared, apart = attention(q, k, v), attention(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1))
                torch.testing.assert_close(shared, apart, rtol=0, atol=1e-4 * float(apart.abs().max()))

    def test_given_choice(self):
        """The operator's outputs are those of the plain operations on the CPU with its tokens, groups and near keys,
        and its gradients are theirs."""
        for near in ("none", "auto", "equal"):
            for dtype, allowed in ALLOWED.items():
                with self.subTest(near=near, dtype=dtype):
                    given = layer(self.device, dtype, grad=True)
                    sizes = _ridge_regression.Sizes(257, 17, 218, 40, 257, near == "equal")
                    window, top, grid = {"none": (None, None, None), "auto": (None, None, "auto"),
                                         "equal": (4, 2, None)}[near]
                    around = _near_keys.neighbourhood(257, near, window, top, grid)
                    out, *choice = torch.ops.nysbench.kernel_ridge(
                        *given, sizes.rows, sizes.queries, sizes.landmarks, sizes.keys, near, around.reach, around.top,
                        around.columns, around.before, 3, 0, sizes.rows_follow)
                    gradients = torch.autograd.grad(out.float().square().sum(), given)
                    copies = [x.detach().cpu().requires_grad_() for x in given]
                    q, k, v = (_kernel_ridge._heads(x) for x in copies)
                    k, v = _kernel_ridge._grouped(k, len(q)), _kernel_ridge._grouped(v, len(q))
                    plain, mine, kinds = (kind(*(x.cpu() for x in part)) for kind, part in (
                        (_ridge_regression.Choice, choice[:7]), (_near_keys.NearChoice, choice[7:13]),
                        (_near_equal.KindChoice, choice[13:])))
                    expected, _ = (_ridge_regression.kernel_ridge(q, k, v, sizes, 3, plain) if near == "none" else
                                   _near_keys.kernel_ridge(q, k, v, sizes, around, 3, (plain, mine)) if near == "auto"
                                   else _near_equal.kernel_ridge(q, k, v, sizes, around, 3, (plain, mine, kinds)))
                    expected = expected.reshape(out.shape)
                    self.assert_apart(out, expected, allowed)
                    for x, y in zip(gradients, torch.autograd.grad(expected.float().square().sum(), copies)):
                        self.assert_apart(x, y, 4 * allowed)

    def assert_apart(self, x, y, allowed):
        self.assertEqual((x.dtype, x.device.type), (y.dtype, self.device))
        self.assertLess(float((x.cpu().double() - y.double()).norm() / y.double().norm()), allowed)

    def test_half_precision_errs_little_more(self):
        q, k, v = layer(self.device)
        exact = torch.nn.functional.scaled_dot_product_attention(
            *(x.double() for x in (q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1))))
        error = lambda out: float((out.double() - exact).norm() / exact.norm())
        for name, attention in ATTENTIONS.items():
            single = error(attention(q, k, v))
            for dtype, allowed in list(ALLOWED.items())[1:]:
                with self.subTest(name, dtype=dtype):
                    self.assertLess(error(attention(*(x.to(dtype) for x in (q, k, v)))), 1.2 * single + allowed)


@unittest.skipUnless(torch.cuda.is_available(), "there is no GPU of CUDA")
class SameOnCuda(Same):
    device = "cuda"

    def test_kernels_are_there(self):
        self.assertIsNotNone(_kernel_ridge._kernels, "there is no triton")

    def test_draws(self):
        """Queries of a seed are the same on both devices."""
        options = 17, 100, 40, 200, "none", 0, 0, 0, 0, 3
        one, other = (torch.ops.nysbench.kernel_ridge(*layer(device), *options)[1] for device in ("cpu", "cuda"))
        self.assertTrue(torch.equal(one, other.cpu()))

    def test_cuda_graphs(self):
        """A graph of one call, replayed with other inputs, gives what a call gives, and so it waits for nothing."""
        for name, attention in WITHOUT_A_WAIT.items():
            for dtype in (torch.float16, torch.float32):
                with self.subTest(name, dtype=dtype):
                    given = layer("cuda", dtype)
                    stream = torch.cuda.Stream()
                    stream.wait_stream(torch.cuda.current_stream())
                    with torch.cuda.stream(stream):
                        attention(*given)
                    torch.cuda.current_stream().wait_stream(stream)
                    graph = torch.cuda.CUDAGraph()
                    with torch.cuda.graph(graph):
                        out = attention(*given)
                    for x in given:
                        x.copy_(x.flip(0).clone())
                    graph.replay()
                    torch.cuda.synchronize()
                    expected = attention(*given)
                    torch.testing.assert_close(out, expected, rtol=0, atol=1e-2 * float(expected.abs().max()))

    def test_a_graph_is_refused(self):
        given = layer("cuda")
        ATTENTIONS["near=equal"](*given)
        with self.assertRaises(nysbench.ArgumentError), torch.cuda.graph(torch.cuda.CUDAGraph()):
            ATTENTIONS["near=equal"](*given)

    def test_without_a_wait(self):
        """PyTorch raises an error for what it knows to wait."""
        for name, attention in WITHOUT_A_WAIT.items():
            with self.subTest(name):
                given = layer("cuda")
                attention(*given)
                torch.cuda.set_sync_debug_mode("error")
                try:
                    out = attention(*given)
                finally:
                    torch.cuda.set_sync_debug_mode("default")
                self.assertFalse(math.isnan(float(out.sum())))


if __name__ == "__main__":
    tap.main()
