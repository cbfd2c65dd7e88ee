# SPDX-License-Identifier: GPL-3.0-or-later
"""nystrom: attention from landmarks, F (X (B V)), with six steps towards the pseudo-inverse (Xiong et al., AAAI 2021).

An operator of PyTorch, opaque to torch.compile, with gradients: the backward pass computes the outputs again.

F = softmax(Q K~'/sqrt d), A = softmax(Q~ K~'/sqrt d) and B = softmax(Q~ K'/sqrt d); F and B are never stored: each is a
call of PyTorch's exact attention. Landmarks, A and X are in single precision, in double for float64.
"""
from __future__ import annotations

from typing import Optional, Tuple

import torch
import torch.nn.functional as F

from .._transformers import full_precision
from .._arguments import ArgumentError, check_tensors, count_of, seed_of
from ._clustering import POINT_SEEDS, accumulated, group_means, nearest_groups, sample, seed_groups

STRATEGIES = ("segment_means", "uniform", "kmeans")


def nystrom(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, landmarks: int = 64, *, strategy: str = "segment_means",
            steps: int = 6, tokens: int = 1024, iterations: int = 10, seed: Optional[int] = None) -> torch.Tensor:
    """Attention from landmarks, as Nystromformer has it.

    q, k, v, seed: as for kernel_ridge.
    landmarks: m, at most n, and for kmeans at most `tokens`.
    strategy: segment_means; uniform: tokens drawn uniformly, the same for queries and keys; kmeans: queries and keys of
        a group of tokens, averaged.
    steps: of the iteration towards the pseudo-inverse of A, which starts at A'/(|A|_1 |A|_inf).
    tokens, iterations: kmeans clusters [q; k] of so many tokens, drawn uniformly (at most n), in so many of Lloyd's
        iterations from seeds by k-means++.

    Returns the outputs: the shape of q, with the dimension of v. Gradients hold tokens and groups fixed. Raises
    TypeError, ShapeError and ArgumentError.
    """
    check_tensors(q, k, v)
    m, steps = count_of("landmarks", landmarks), count_of("steps", steps)
    iterations = count_of("iterations", iterations)
    most = min(q.shape[-2], count_of("tokens", tokens)) if strategy == "kmeans" else q.shape[-2]
    if strategy not in STRATEGIES:
        raise ArgumentError(f"strategy: expected one of {', '.join(STRATEGIES)}, not {strategy!r}")
    if m > most:
        raise ArgumentError(f"landmarks = {m}, and there are {most} tokens to choose from")
    outputs, _ = torch.ops.nysbench.nystrom(q, k, v, m, strategy, steps, most, iterations, seed_of(seed))
    return outputs


@torch.library.custom_op("nysbench::nystrom", mutates_args=())
def _operator(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, landmarks: int, strategy: str, steps: int, tokens: int,
              iterations: int, seed: int) -> Tuple[torch.Tensor, torch.Tensor]:
    """The outputs, and with kmeans the groups of the tokens, (inputs heads, tokens)."""
    with full_precision(q.device):
        groups = torch.empty(0, dtype=torch.int32, device=q.device)
        if strategy == "kmeans":
            groups = _groups(q, k, landmarks, tokens, iterations, seed)
        return _attend(q, k, v, landmarks, strategy, steps, tokens, seed, groups), groups


@_operator.register_fake
def _(q, k, v, landmarks, strategy, steps, tokens, iterations, seed):
    groups = (q.shape[:-2].numel(), tokens) if strategy == "kmeans" else (0,)
    return q.new_empty(*q.shape[:-1], v.shape[-1]), q.new_empty(groups, dtype=torch.int32)


def _setup_context(ctx, inputs, output):
    q, k, v, *ctx.options = inputs
    ctx.save_for_backward(q, k, v, output[1])


def _backward(ctx, gradient, _):
    q, k, v, groups = ctx.saved_tensors
    landmarks, strategy, steps, tokens, _, seed = ctx.options
    with torch.enable_grad(), full_precision(q.device):
        inputs = [x.detach().requires_grad_() for x in (q, k, v)]
        outputs = _attend(*inputs, landmarks, strategy, steps, tokens, seed, groups)
        return (*torch.autograd.grad(outputs, inputs, gradient), *[None] * 6)


_operator.register_autograd(_backward, setup_context=_setup_context)


def _attend(q, k, v, m, strategy, steps, tokens, seed, groups):
    x, y, z = (a[None] if a.ndim == 3 else a for a in (q, k, v))
    shared = x.shape[1] // y.shape[1]
    of_queries, of_keys = _landmarks(x, y.repeat_interleave(shared, 1), m, strategy, tokens, seed, groups)
    inverse = _iterate(torch.softmax(of_queries @ of_keys.mT * x.shape[-1]**-0.5, -1), steps)
    # Heads that share keys are one head with more landmarks.
    kept = of_queries.to(q.dtype).reshape(len(x), y.shape[1], shared * m, -1)
    outputs = F.scaled_dot_product_attention(kept, y, z).reshape(len(x), x.shape[1], m, -1)
    values = (inverse @ outputs.to(inverse.dtype)).to(q.dtype)
    outputs = F.scaled_dot_product_attention(x, of_keys.to(q.dtype), values)
    return outputs.reshape(*q.shape[:-1], v.shape[-1])


def _landmarks(q, k, m, strategy, tokens, seed, groups):
    """Of queries and keys, both (inputs, heads, m, d)."""
    n = q.shape[-2]
    if strategy == "uniform":
        at = sample(n, m, seed, q.device)
        return accumulated(q[..., at, :]), accumulated(k[..., at, :])
    if strategy == "segment_means":
        short, longer = n // m, n % m  # the last segments are longer by a token
        return tuple(torch.cat([part.unflatten(-2, (-1, length)).mean(-2) for part, length in (
            (x[..., :(m - longer) * short, :], short), (x[..., (m - longer) * short:, :], short + 1))
            if part.shape[-2]], -2) for x in (accumulated(q), accumulated(k)))
    points = _sampled(q, k, tokens, seed)
    one = torch.ones_like(points[0][..., 0])
    return tuple(group_means(groups, m, x, one)[0].unflatten(0, q.shape[:2]) for x in points)


def _sampled(q, k, tokens, seed):
    """Queries and keys (inputs heads, tokens, d) of a sample of the tokens."""
    at = sample(q.shape[-2], tokens, seed, q.device)
    return tuple(accumulated(x[..., at, :]).flatten(0, -3) for x in (q, k))


def _groups(q, k, m, tokens, iterations, seed):
    """Clusters of the sampled tokens' [q; k]: (inputs heads, tokens)."""
    x = torch.cat(_sampled(q, k.repeat_interleave(q.shape[-3] // k.shape[-3], -3), tokens, seed), -1)
    one = torch.ones_like(x[..., 0])
    group = seed_groups(x, one, m, seed, POINT_SEEDS)
    for _ in range(iterations - 1):
        group = nearest_groups(x, group_means(group, m, x, one)[0]).int()
    return group


def _iterate(a, steps):
    """X towards the pseudo-inverse of a (..., m, m)."""
    one = torch.eye(a.shape[-1], dtype=a.dtype, device=a.device)
    x = a.mT / (a.sum(-2).amax(-1) * a.sum(-1).amax(-1))[..., None, None]
    for _ in range(steps):
        ax = a @ x
        x = 0.25 * x @ (13 * one - ax @ (15 * one - ax @ (7 * one - ax)))
    return x
