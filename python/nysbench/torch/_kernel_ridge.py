# SPDX-License-Identifier: GPL-3.0-or-later
"""kernel_ridge as an operator of PyTorch: opaque to torch.compile, with gradients."""
import math
from typing import Optional, Tuple

import torch

from .._attention_interface import full_precision
from .._errors import ArgumentError
from . import _plain
from ._arguments import check_layer, count, seed_of

try:
    from . import _kernels
except ImportError:  # no Triton: plain operations
    _kernels = None


def kernel_ridge(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, landmarks: int = 192, *,
                 rows: Optional[int] = None, queries: Optional[int] = None, keys: Optional[int] = None,
                 seed: Optional[int] = None) -> torch.Tensor:
    """Exact outputs at some queries, interpolated to all others by kernel ridge regression.

    q: (heads, n, d) or (inputs, heads, n, d): float16, bfloat16, float32 or float64.
    k, v: the same, of the same type and device; they may have fewer heads, a divisor of those of q, and v another
        dimension.
    landmarks: key landmarks, at most the keys that are sampled.
    rows: exact queries, at most the queries that are drawn; None: 5/12 of the landmarks.
    queries, keys: how many are drawn to be clustered; None: 64/5 of the rows and 32/3 of the landmarks, at most n.
    seed: of the draws, which are the same for all heads and inputs, and on all devices; None: 20260101.

    Returns the outputs: the shape of q, with the dimension of v. NaN or Inf in a head makes outputs of this head NaN,
    without an error, and leaves other heads as they are. Every query sees all keys: there is no mask.

    Gradients go through the exact outputs, the features and the ridge; tokens, groups, their weights and the choice of
    the ridge are held fixed. The backward pass computes in plain operations and keeps (rows + landmarks) n numbers a
    head.

    Raises TypeError, ShapeError and ArgumentError. See `nysbench describe kernel_ridge` for the construction and
    references.

    >>> nysbench.torch.kernel_ridge(*torch.randn(3, 4, 2048, 64), landmarks=48).shape
    torch.Size([4, 2048, 64])
    """
    check_layer(q, k, v)
    sizes = _sizes(q.shape[-2], landmarks, rows, queries, keys)
    outputs, *_ = torch.ops.nysbench.kernel_ridge(q, k, v, sizes.rows, sizes.queries, sizes.landmarks, sizes.keys,
                                                  seed_of(seed))
    return outputs


def _sizes(n, landmarks, rows, queries, keys):
    """How many there are of each, as in src/attentions/kernel_ridge.c."""
    landmarks = count("landmarks", landmarks)
    rows = math.ceil(5 * landmarks / 12) if rows is None else count("rows", rows)
    queries = min(n, math.ceil(64 / 5 * rows) if queries is None else count("queries", queries))
    keys = min(n, math.ceil(32 / 3 * landmarks) if keys is None else count("keys", keys))
    if rows > queries:
        raise ArgumentError(f"rows = {rows}, and {queries} of n = {n} queries are sampled")
    if landmarks > keys:
        raise ArgumentError(f"landmarks = {landmarks}, and {keys} of n = {n} keys are sampled")
    return _plain.Sizes(n, rows, queries, landmarks, keys)


def _heads(x):
    """(inputs, heads, n, d) as (h, n, d)."""
    return x.reshape(-1, *x.shape[-2:])


def _grouped(x, heads):
    """Each key head as often as query heads share it: (heads, n, d)."""
    return x.repeat_interleave(heads // x.shape[0], 0)


@torch.library.custom_op("nysbench::kernel_ridge", mutates_args=())
def _operator(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, rows: int, queries: int, landmarks: int, keys: int,
              seed: int) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor,
                                  torch.Tensor, torch.Tensor]:
    """The outputs and the Choice."""
    sizes = _plain.Sizes(q.shape[-2], rows, queries, landmarks, keys)
    a, b, c = (_heads(x).contiguous() for x in (q, k, v))
    if q.is_cuda and _kernels is not None and _kernels.serves(a, c, sizes):
        with torch.cuda.device(q.device):
            out, choice = _kernels.kernel_ridge(a, b, c, sizes, seed)
    else:
        with full_precision(q.device):
            out, choice = _plain.kernel_ridge(a, _grouped(b, len(a)), _grouped(c, len(a)), sizes, seed)
    return (out.reshape(*q.shape[:-1], v.shape[-1]), *choice)


@_operator.register_fake
def _(q, k, v, rows, queries, landmarks, keys, seed):
    h = math.prod(q.shape[:-2])
    def index(*shape, dtype=torch.int64):
        return q.new_empty(shape, dtype=dtype)
    def weight(*shape):
        return q.new_empty(shape, dtype=torch.float64 if q.dtype == torch.float64 else torch.float32)
    return (q.new_empty(*q.shape[:-1], v.shape[-1]), index(queries), index(h, queries, dtype=torch.int32),
            index(h, keys), index(h, keys, dtype=torch.int32), weight(h, keys), weight(h, keys), index(h))


def _setup_context(ctx, inputs, output):
    q, k, v, *ctx.sizes, ctx.seed = inputs
    ctx.save_for_backward(q, k, v, *output[1:])


def _backward(ctx, gradient, *_):
    """Through the plain operations, with the choice of the forward pass."""
    q, k, v, *choice = ctx.saved_tensors
    rows, queries, landmarks, keys = ctx.sizes
    sizes = _plain.Sizes(q.shape[-2], rows, queries, landmarks, keys)
    with torch.enable_grad(), full_precision(q.device):
        inputs = [x.detach().requires_grad_() for x in (q, k, v)]
        a, b, c = (_heads(x) for x in inputs)
        b, c = _grouped(b, len(a)), _grouped(c, len(a))
        out, _ = _plain.kernel_ridge(a, b, c, sizes, ctx.seed, _plain.Choice(*choice))
        return (*torch.autograd.grad(out, inputs, _heads(gradient)), *[None] * 5)


_operator.register_autograd(_backward, setup_context=_setup_context)
