# SPDX-License-Identifier: GPL-3.0-or-later
"""kernel_ridge as an operator of PyTorch: opaque to torch.compile, with gradients."""
import contextlib
import importlib
import math
from types import ModuleType
from typing import Optional, Tuple, Union, cast

import torch

from .._arguments import ArgumentError, check_tensors, count_of, seed_of
from .._transformers import full_precision
from . import _near_keys, _ridge_regression
from ._clustering import accumulated
from ._near_keys import NearChoice, Neighbourhood, neighbourhood
from ._ridge_regression import Choice, Sizes

_kernels: Optional[ModuleType] = None
with contextlib.suppress(ImportError):  # no Triton: plain operations
    _kernels = importlib.import_module("._triton_kernels", __package__)


def kernel_ridge(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, landmarks: int = 192, *,
                 rows: Optional[int] = None, queries: Optional[int] = None, keys: Optional[int] = None,
                 near: str = "none", window: Optional[int] = None, top: Optional[int] = None,
                 grid: Union[int, str, None] = None, tolerance: float = 0.0,
                 seed: Optional[int] = None) -> torch.Tensor:
    """Exact outputs at some queries, interpolated to all others by kernel ridge regression.

    q: (heads, n, d) or (inputs, heads, n, d): float16, bfloat16, float32 or float64.
    k, v: the same, of the same type and device; they may have fewer heads, a divisor of those of q, and v another
        dimension.
    landmarks: key landmarks, at most the keys that are sampled.
    rows: exact queries, at most the queries that are drawn; None: 5/12 of the landmarks.
    queries, keys: how many are drawn to be clustered; None: 64/5 of the rows and 32/3 of the landmarks, at most n.
    near: keys to which a query attends itself, while landmarks stand for the others: "none", those in a "window" around
        it, the "top" keys, which its cluster's exact row gives most, or "both"; "auto": "both" or "none", whatever
        leaves a head the lesser error at exact queries.
    window: how many are around a query, beside its own, half of them on each side of its block of 32 queries; on a grid
        the largest square of them; None: 32. top: how many strongest keys, at most n; None: 32; 0: "auto"
        chooses from "none" and "window".
    grid: columns of an image whose patches are the last tokens, row by row, in blocks of 8 x 8; "auto": of the largest
        square; None: tokens are a row.
    tolerance: of "auto", up to 10: heads have near keys only where exact queries give these more than a fifth of their
        weight, or where the relative error without them, estimated at up to 32 queries, is above it; 0: both kinds are
        compared.
    seed: of the draws, which are the same for all heads and inputs, and on all devices; None: 20260101.

    Returns the outputs: the shape of q, with the dimension of v. NaN or Inf in a head makes outputs of this head NaN,
    without an error, and leaves other heads as they are. Every query sees all keys: there is no mask.

    Gradients go through the exact outputs, the features and the ridge; tokens, groups, their weights, near keys, which
    heads have them, and the choice of the ridge are held fixed. The backward pass computes in plain operations and
    keeps (rows + landmarks) n numbers a head, with near keys rows n.

    Raises TypeError, ShapeError and ArgumentError. See `nysbench describe kernel_ridge` for the construction and
    references.

    >>> nysbench.torch.kernel_ridge(*torch.randn(3, 4, 2048, 64), landmarks=48).shape
    torch.Size([4, 2048, 64])
    """
    check_tensors(q, k, v)
    sizes = _sizes(q.shape[-2], landmarks, rows, queries, keys)
    around = neighbourhood(q.shape[-2], near, window, top, grid, tolerance)
    outputs, *_ = torch.ops.nysbench.kernel_ridge(
        q, k, v, sizes.rows, sizes.queries, sizes.landmarks, sizes.keys, near, around.reach, around.top, around.columns,
        around.before, seed_of(seed), around.tolerance)
    return outputs


def _sizes(n, landmarks, rows, queries, keys):
    """How many there are of each, as in src/attentions/kernel_ridge.c."""
    landmarks = count_of("landmarks", landmarks)
    rows = math.ceil(5 * landmarks / 12) if rows is None else count_of("rows", rows)
    queries = min(n, math.ceil(64 / 5 * rows) if queries is None else count_of("queries", queries))
    keys = min(n, math.ceil(32 / 3 * landmarks) if keys is None else count_of("keys", keys))
    if rows > queries:
        raise ArgumentError(f"rows = {rows}, and {queries} of n = {n} queries are sampled")
    if landmarks > keys:
        raise ArgumentError(f"landmarks = {landmarks}, and {keys} of n = {n} keys are sampled")
    return Sizes(n, rows, queries, landmarks, keys)


def _heads(x):
    """(inputs, heads, n, d) as (h, n, d)."""
    return x.reshape(-1, *x.shape[-2:])


def _grouped(x, heads):
    """Each key head as often as query heads share it: (heads, n, d)."""
    return x.repeat_interleave(heads // x.shape[0], 0)


def _no_near_keys(q):
    """A NearChoice, empty."""
    number = accumulated(q[:0]).dtype
    return NearChoice(*(q.new_empty(0, dtype=dtype) for dtype in (*[torch.int64] * 4, number, torch.bool)))


_Tensors = Tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor,
                 torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]


@torch.library.custom_op("nysbench::kernel_ridge", mutates_args=())
def _operator(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, rows: int, queries: int, landmarks: int, keys: int,
              near: str, reach: int, top: int, columns: int, before: int, seed: int,
              tolerance: float = 0.0) -> _Tensors:
    """The outputs, the Choice, and that of near keys, empty without them."""
    sizes = Sizes(q.shape[-2], rows, queries, landmarks, keys)
    around = Neighbourhood(sizes.n, near, reach, top, columns, before, tolerance)
    a, b, c = (_heads(x).contiguous() for x in (q, k, v))
    nears = _no_near_keys(q)
    kernels = _kernels if q.is_cuda and _kernels is not None and _kernels.serves(a, c, sizes) else None
    with full_precision(q.device), torch.cuda.device(q.device) if kernels else contextlib.nullcontext():
        if kernels and near == "none":
            out, choice = kernels.kernel_ridge(a, b, c, sizes, seed)
        elif near == "none":
            out, choice = _ridge_regression.kernel_ridge(a, _grouped(b, len(a)), _grouped(c, len(a)), sizes, seed)
        else:
            out, (choice, nears) = _near_keys.kernel_ridge(
                a, _grouped(b, len(a)), _grouped(c, len(a)), sizes, around, seed, kernels=kernels)
    return cast(_Tensors, (out.reshape(*q.shape[:-1], v.shape[-1]), *choice, *nears))


@_operator.register_fake
def _(q, k, v, rows, queries, landmarks, keys, near, reach, top, columns, before, seed, tolerance=0.0):
    h, n = math.prod(q.shape[:-2]), q.shape[-2]
    def index(*shape, dtype=torch.int64):
        return q.new_empty(shape, dtype=dtype)
    def weight(*shape):
        return q.new_empty(shape, dtype=torch.float64 if q.dtype == torch.float64 else torch.float32)
    nears = _no_near_keys(q)
    if near != "none":
        shapes = (h, rows), (h, rows, top), (h, n), (h, n), (h, landmarks), (h,)
        nears = (x.new_empty(shape) for x, shape in zip(nears, shapes))
    return (q.new_empty(*q.shape[:-1], v.shape[-1]), index(queries), index(h, queries, dtype=torch.int32),
            index(h, keys), index(h, keys, dtype=torch.int32), weight(h, keys), weight(h, keys), index(h), *nears)


def _setup_context(ctx, inputs, output):
    q, k, v, *ctx.options = inputs
    ctx.save_for_backward(q, k, v, *output[1:])


def _backward(ctx, gradient, *_):
    """Through the plain operations, with the choice of the forward pass."""
    q, k, v, *choice = ctx.saved_tensors
    rows, queries, landmarks, keys, near, reach, top, columns, before, seed, tolerance = ctx.options
    sizes = Sizes(q.shape[-2], rows, queries, landmarks, keys)
    around = Neighbourhood(sizes.n, near, reach, top, columns, before, tolerance)
    plain, nears = Choice(*choice[:7]), NearChoice(*choice[7:])
    with torch.enable_grad(), full_precision(q.device):
        inputs = [x.detach().requires_grad_() for x in (q, k, v)]
        a, b, c = (_heads(x) for x in inputs)
        b, c = _grouped(b, len(a)), _grouped(c, len(a))
        if near == "none":
            out, _ = _ridge_regression.kernel_ridge(a, b, c, sizes, seed, plain)
        else:
            out, _ = _near_keys.kernel_ridge(a, b, c, sizes, around, seed, (plain, nears))
        return (*torch.autograd.grad(out, inputs, _heads(gradient)), *[None] * 11)


_operator.register_autograd(_backward, setup_context=_setup_context)
