# SPDX-License-Identifier: GPL-3.0-or-later
"""kernel_ridge as an operator of PyTorch: opaque to torch.compile, with gradients."""
import contextlib
import importlib
import math
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import List, Optional, Tuple, Union, cast

import torch

from .._arguments import ArgumentError, check_tensors, count_of, seed_of
from .._transformers import full_precision
from . import _near_equal, _near_keys, _ridge_regression
from ._near_equal import KindChoice
from ._near_keys import NearChoice, Neighbourhood, neighbourhood
from ._ridge_regression import Choice, Sizes, usual_keys, usual_rows

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
        it, the "top" keys, which its cluster's exact row gives most, or "both"; "equal": none, a window or both for
        each head, whatever a few exact queries show best, with as many fewer landmarks as cost the same; "auto":
        "both" or "none", whatever leaves a head the lesser error at exact queries.
    window: how many are around a query, beside its own, half of them on each side of its block of 32 queries; on a grid
        the largest square of them; None: 32. top: how many strongest keys, at most n; None: 32; 0: "equal"
        and "auto" choose from "none" and "window".
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

    near="equal" waits for the device, to know how many heads have which near keys: a CUDA graph cannot record it.

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
        around.before, seed_of(seed), around.tolerance, sizes.rows_follow, sizes.keys_follow)
    return outputs


def _sizes(n, landmarks, rows, queries, keys):
    """How many there are of each, as in src/attentions/kernel_ridge.c."""
    landmarks, follow = count_of("landmarks", landmarks), (rows is None, keys is None)
    rows = usual_rows(landmarks) if rows is None else count_of("rows", rows)
    queries = min(n, math.ceil(64 / 5 * rows) if queries is None else count_of("queries", queries))
    keys = min(n, usual_keys(landmarks) if keys is None else count_of("keys", keys))
    if rows > queries:
        raise ArgumentError(f"rows = {rows}, and {queries} of n = {n} queries are sampled")
    if landmarks > keys:
        raise ArgumentError(f"landmarks = {landmarks}, and {keys} of n = {n} keys are sampled")
    return Sizes(n, rows, queries, landmarks, keys, *follow)


def _heads(x):
    """(inputs, heads, n, d) as (h, n, d)."""
    return x.reshape(-1, *x.shape[-2:])


def _grouped(x, heads):
    """Each key head as often as query heads share it: (heads, n, d)."""
    return x.repeat_interleave(heads // x.shape[0], 0)


_Tensors = Tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor,
                 torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor,
                 torch.Tensor, torch.Tensor]


@torch.library.custom_op("nysbench::kernel_ridge", mutates_args=())
def _operator(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, rows: int, queries: int, landmarks: int, keys: int,
              near: str, reach: int, top: int, columns: int, before: int, seed: int,
              tolerance: float = 0.0, rows_follow: bool = False, keys_follow: bool = False) -> _Tensors:
    """The outputs, the Choice, that of near keys, and with near=equal that of kinds; empty where there is none."""
    sizes = Sizes(q.shape[-2], rows, queries, landmarks, keys, rows_follow, keys_follow)
    around = Neighbourhood(sizes.n, near, reach, top, columns, before, tolerance)
    a, b, c = (_heads(x).contiguous() for x in (q, k, v))
    h, kernels = len(a), _kernels if q.is_cuda and _kernels is not None and _kernels.serves(a, c, sizes) else None
    nears, kinds = NearChoice.zeros(q, 0, sizes, around), KindChoice.empty(q, 0, sizes)
    with full_precision(q.device), torch.cuda.device(q.device) if kernels else contextlib.nullcontext():
        if kernels and near == "none":
            out, choice = kernels.kernel_ridge(a, b, c, sizes, seed)
        elif near == "none":
            out, choice = _ridge_regression.kernel_ridge(a, _grouped(b, h), _grouped(c, h), sizes, seed)
        else:
            out, (choice, nears, *others) = _family(near).kernel_ridge(
                a, _grouped(b, h), _grouped(c, h), sizes, around, seed, kernels=kernels)
            kinds = others[0] if others else kinds
    return cast(_Tensors, (out.reshape(*q.shape[:-1], v.shape[-1]), *choice, *nears, *kinds))


def _family(near):
    return _near_equal if near == "equal" else _near_keys


@_operator.register_fake
def _(q, k, v, rows, queries, landmarks, keys, near, reach, top, columns, before, seed, tolerance=0.0,
      rows_follow=False, keys_follow=False):
    h = math.prod(q.shape[:-2])
    sizes = Sizes(q.shape[-2], rows, queries, landmarks, keys)
    around = Neighbourhood(sizes.n, near, reach, top, columns, before)
    return (q.new_empty(*q.shape[:-1], v.shape[-1]), *Choice.empty(q, h, sizes),
            *NearChoice.zeros(q, 0 if near == "none" else h, sizes, around),
            *KindChoice.empty(q, h if near == "equal" else 0, sizes))


def _setup_context(ctx, inputs, output):
    q, k, v, *ctx.options = inputs
    ctx.save_for_backward(q, k, v, *output[1:])


def _backward(ctx, gradient, *_):
    q, k, v, *choice = ctx.saved_tensors
    find = torch.ops.nysbench.kernel_ridge_backward if ctx.options[4] == "equal" else _gradients
    return (*find(gradient, q, k, v, choice, *ctx.options), *[None] * 13)


def _gradients(gradient, q, k, v, choice, rows, queries, landmarks, keys, near, reach, top, columns, before, seed,
               tolerance, rows_follow, keys_follow):
    """Through the plain operations, with the choice of the forward pass."""
    sizes = Sizes(q.shape[-2], rows, queries, landmarks, keys, rows_follow, keys_follow)
    around = Neighbourhood(sizes.n, near, reach, top, columns, before, tolerance)
    plain, nears, kinds = Choice(*choice[:7]), NearChoice(*choice[7:13]), KindChoice(*choice[13:])
    with torch.enable_grad(), full_precision(q.device):
        inputs = [x.detach().requires_grad_() for x in (q, k, v)]
        a, b, c = (_heads(x) for x in inputs)
        b, c = _grouped(b, len(a)), _grouped(c, len(a))
        if near == "none":
            out, _ = _ridge_regression.kernel_ridge(a, b, c, sizes, seed, plain)
        else:
            given = (plain, nears, kinds) if near == "equal" else (plain, nears)
            out, _ = _family(near).kernel_ridge(a, b, c, sizes, around, seed, given)
        return torch.autograd.grad(out, inputs, _heads(gradient))


@torch.library.custom_op("nysbench::kernel_ridge_backward", mutates_args=())
def _backward_operator(gradient: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor,
                       choice: List[torch.Tensor], rows: int, queries: int, landmarks: int, keys: int, near: str,
                       reach: int, top: int, columns: int, before: int, seed: int, tolerance: float, rows_follow: bool,
                       keys_follow: bool) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """_gradients, opaque to torch.compile: near=equal has tensors whose sizes the device chooses."""
    stream = torch.cuda.current_stream(q.device) if q.is_cuda else None

    def find():
        with torch.cuda.stream(stream):
            return _gradients(gradient, q, k, v, choice, rows, queries, landmarks, keys, near, reach, top, columns,
                              before, seed, tolerance, rows_follow, keys_follow)
    with ThreadPoolExecutor(1) as thread:  # in the thread of an operator nothing has gradients
        found = thread.submit(find).result()
    return cast(Tuple[torch.Tensor, torch.Tensor, torch.Tensor], tuple(x.contiguous() for x in found))


@_backward_operator.register_fake
def _(gradient, q, k, v, choice, *options):
    return tuple(x.new_empty(x.shape) for x in (q, k, v))


_operator.register_autograd(_backward, setup_context=_setup_context)
