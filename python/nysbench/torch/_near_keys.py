# SPDX-License-Identifier: GPL-3.0-or-later
"""kernel_ridge with near keys: attention to near keys one by one, and to landmarks in the place of all others, in
operations of PyTorch. On a GPU of CUDA three steps are kernels of _triton_kernels.py: the choice of rows and of keys,
and the answer. docs/method.md has the formulas ("Near keys"); blocks of queries are those of src/layers/near.c.

Which keys are near is a mask, and so is which heads have any where near=auto chooses: no device is waited for. h, k, m
and n are as in _ridge_regression.py; w are the keys around a block, and t the strongest keys of an exact query.

1. attend_rows: outputs at the exact queries, their strongest keys, and what keys receive, all and those not near.
2. fit_landmarks: landmarks are placed as in _ridge_regression.py, by what keys receive that are not near, and all keys
   belong to one; then features and a ridge. near=auto also fits landmarks without near keys, and chooses; with a
   tolerance, by how much near keys receive, and by what landmarks leave alone.
3. answer: one softmax over landmarks and near keys for all queries, some blocks at a time.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch.utils.checkpoint import checkpoint

from .._arguments import LARGEST_INT, ArgumentError, integer, number
from . import _ridge_regression
from ._clustering import accumulated, gather, nearest_groups, nearest_points, sample, sum_by, sums_type
from ._ridge_regression import attention_rows, corrected, place_landmarks, regress, weighted_mean

KINDS = ("none", "window", "top", "both", "auto", "equal")
# As in src/layers/kernel_ridge_fit.c and near.c.
CLEARLY, NEAR_TIE, MUCH_NEAR, LEAST_FAR, CORRECTIONS, TOLERANT_PROBES = 1.5, 1.1, 0.2, 1e-12, 2, 32
RUN, SIDE, BEFORE = 32, 8, 64  # tokens of a block in a row, patches of a block's side, tokens of a block before patches
NO_WINDOW = -RUN // 2  # the reach with which no key is around a block of a row, its own neither
AT_A_TIME = 2**24  # numbers of a step of `answer`
# As in src/attentions/kernel_ridge.c.
USUAL_NEAR, MOST_BEFORE, MOST_COLUMNS = 32, 8, 2**20
_HAVE = {"window": "a window", "grid": "a window, which a grid shapes", "top": "top keys"}


@dataclass(frozen=True)
class Neighbourhood:
    """Blocks of n tokens, and the keys around them.

    columns: of an image whose patches are the last tokens, behind `before` others; 0: tokens are a row.
    reach: tokens, or patches, around a block on each side, or NO_WINDOW.
    kind: of KINDS. top: strongest keys. tolerance: of "auto", see kernel_ridge; 0: none.
    """
    n: int
    kind: str
    reach: int
    top: int
    columns: int
    before: int
    tolerance: float = 0.0

    def pairs(self):
        """How many there are of a query and a key around its block."""
        if not self.columns:
            return _pairs(self.n, RUN, self.reach)
        rows, columns = self._sides()
        return self.before**2 + _pairs(rows, SIDE, self.reach) * _pairs(columns, SIDE, self.reach)

    def _blocks_before(self):
        return -(-self.before // BEFORE)

    def _sides(self):
        return (self.n - self.before) // self.columns, self.columns

    def blocks(self):
        if not self.columns:
            return -(-self.n // RUN)
        down, across = (-(-side // SIDE) for side in self._sides())
        return self._blocks_before() + down * across

    def block_of(self, token):
        if not self.columns:
            return token // RUN
        row, column = (token - self.before) // self.columns, (token - self.before) % self.columns
        square = row // SIDE * -(-self.columns // SIDE) + column // SIDE
        return torch.where(token < self.before, token // BEFORE, self._blocks_before() + square)

    def queries(self, block):
        """The tokens (..., b) of blocks (...), and which of them are there; the others are any tokens."""
        at, mine = self._around(block, 0)
        if not self.before:
            return at, mine
        token = block[..., None] * BEFORE + torch.arange(min(BEFORE, self.before), device=block.device)
        return self._either(block, (token.clamp_max(self.before - 1), token < self.before), (at, mine))

    def keys(self, block):
        """The keys (..., w) around blocks (...), and which of them are there; the others are any keys."""
        around = self._around(block, self.reach)
        if not self.before:
            return around
        token = torch.arange(self.before, device=block.device).expand(*block.shape, -1)
        return self._either(block, (token, torch.ones_like(token, dtype=torch.bool)), around)

    def _around(self, block, reach):
        if not self.columns:
            return _span(block * RUN, RUN, reach, self.n)
        (rows, columns), across = self._sides(), -(-self.columns // SIDE)
        square = (block - self._blocks_before()).clamp_min(0)
        (i, of_rows), (j, of_columns) = (_span(first * SIDE, SIDE, reach, size) for first, size in (
            (square // across, rows), (square % across, columns)))
        token = self.before + i[..., :, None] * columns + j[..., None, :]
        return token.flatten(-2), (of_rows[..., :, None] & of_columns[..., None, :]).flatten(-2)

    def _either(self, block, before, patches):
        """Of the tokens before the patches or of these, filled to one length."""
        size = max(before[0].shape[-1], patches[0].shape[-1])
        first = (block < self._blocks_before())[..., None]
        fill = [[torch.nn.functional.pad(x, (0, size - x.shape[-1])) for x in part] for part in (before, patches)]
        return torch.where(first, fill[0][0], fill[1][0]), torch.where(first, fill[0][1], fill[1][1])

    def holds(self, block, token):
        """Whether tokens are around blocks."""
        if not self.columns:
            return ((token - block * RUN) >= -self.reach) & ((token - block * RUN) < RUN + self.reach)
        across, square = -(-self.columns // SIDE), block - self._blocks_before()
        row = (token - self.before) // self.columns - square // across * SIDE
        column = (token - self.before) % self.columns - square % across * SIDE
        near = [(x >= -self.reach) & (x < SIDE + self.reach) for x in (row, column)]
        return torch.where(square < 0, token < self.before, (token >= self.before) & near[0] & near[1])


def _span(first, length, reach, size):
    """Places (..., w) around `length` places from `first` on, of 0 ... size-1, and which of them are in reach."""
    first, width = first[..., None], min(length + 2 * reach, size)
    at = (first - reach).clamp(0, size - width) + torch.arange(width, device=first.device)
    return at, (at >= first - reach) & (at < first + length + reach)


def _pairs(size, length, reach):
    """How many there are of one of 0 ... size-1 and one around its block of `length` places."""
    return sum(min(length, size - first) * (min(first + length + reach, size) - max(first - reach, 0))
               for first in range(0, size, length))


def neighbourhood(n, near, window, top, grid, tolerance=0.0):
    """Near keys of n tokens, with the options of src/attentions/kernel_ridge.c."""
    if near not in KINDS:
        raise ArgumentError(f"near: expected one of {', '.join(KINDS[:-1])} and {KINDS[-1]}, not {near!r}")
    for name, value, kinds in (("window", window, "window"), ("grid", grid, "window"), ("top", top, "top")):
        if value is not None and near not in (kinds, "both", "equal", "auto"):
            raise ArgumentError(f"near={near}, {name}={value}: near={kinds}, both, equal and auto have {_HAVE[name]}")
    tolerance = number("tolerance", tolerance, 0, 10)
    if tolerance and near != "auto":
        raise ArgumentError(f"near={near}, tolerance={tolerance}: near=auto alone has a tolerance")
    width = USUAL_NEAR if window is None else integer("window", window, 0, LARGEST_INT)
    least = 0 if near in ("auto", "equal") else 1  # without top keys these choose from none and window
    strongest = USUAL_NEAR if top is None else integer("top", top, least, LARGEST_INT)
    strongest = min(n, strongest) if near not in ("none", "window") else 0
    if grid is None:
        return Neighbourhood(n, near, NO_WINDOW if near == "top" else min(width // 2, n), strongest, 0, 0,
                             tolerance)
    if grid == "auto":
        columns = math.isqrt(n)
        if n - columns * columns > MOST_BEFORE:
            raise ArgumentError(f"grid = auto, and n = {n} is not a square and up to {MOST_BEFORE} tokens before it")
        before = n - columns * columns
    else:
        columns = integer("grid", grid, 2, MOST_COLUMNS)
        if columns > n:
            raise ArgumentError(f"grid = {columns} columns, and there are {n} tokens")
        before = n % columns
    return Neighbourhood(n, near, min((math.isqrt(width + 1) - 1) // 2, n), strongest, columns, before, tolerance)


class NearChoice(NamedTuple):
    """What gradients hold fixed beside the Choice of _ridge_regression.py, in which r of heads with near keys is that
    of keys that are not near, divided by its sum."""
    blocks: torch.Tensor        # (h, k), int64: of the drawn queries nearest to the exact ones
    strongest: torch.Tensor     # (h, k, t), int64
    key_groups: torch.Tensor    # (h, n), int64: the nearest landmark; 0 in heads without near keys
    query_groups: torch.Tensor  # (h, n), int64: the nearest exact query
    mass: torch.Tensor          # (h, m): what a landmark's keys receive that are not near; 0 in heads without near keys
    near: torch.Tensor          # (h), bool: whether a head has near keys

    @staticmethod
    def shapes(sizes, near):
        """Of what a head has."""
        return (sizes.rows,), (sizes.rows, near.top), (sizes.n,), (sizes.n,), (sizes.landmarks,), ()

    @classmethod
    def zeros(cls, q, h, sizes, near):
        types = *[torch.int64] * 4, sums_type(q), torch.bool
        return cls(*(q.new_zeros((h, *shape), dtype=dtype) for shape, dtype in zip(cls.shapes(sizes, near), types)))


class _Seen(NamedTuple):
    """Of b queries in each of B blocks, whether or not a head has near keys."""
    far: torch.Tensor     # (h, B, b, m): logits of landmarks
    near: torch.Tensor    # (h, B, b, w + t): of near keys
    around: torch.Tensor  # (h or 1, B, 1, w): which of the w are there
    inside: torch.Tensor  # (h, B, b, t): which strongest keys are around the block
    groups: torch.Tensor  # (h, B, 1, w): landmarks of the keys around
    strong: torch.Tensor  # (h, B, b, t): of the strongest
    values: tuple[torch.Tensor, torch.Tensor]  # of both: (h, B, w, dv), (h, B, b, t, dv)


class Fit(NamedTuple):
    """What interpolates the outputs of heads."""
    landmarks: torch.Tensor  # (h, m, d)
    counts: torch.Tensor     # (h, m): the keys of a landmark; without near keys 1, since the bias has them
    bias: torch.Tensor       # (h, m)
    values: torch.Tensor     # (h, m, dv)
    error: torch.Tensor      # (h): of the exact outputs, each left out, squared


def kernel_ridge(q, k, v, sizes, near, seed, choice=None, rows=None, kernels=None):
    """Outputs (h, n, dv) in the type of q, and both Choices; those that are given are kept, and so are Rows. kernels:
    _triton_kernels.py, for the steps that it has, if no choice is given."""
    plain, mine = choice or (None, None)
    rows = rows or choose_rows(q, sizes, seed, plain, kernels)
    queries, centres, weight = rows.queries, rows.centres, rows.weight
    if mine is None:
        mine = NearChoice(blocks_of_rows(q, rows, near), *[None] * 5)
    outputs, strongest, received, far = attend_rows(centres, weight, k, v, near, mine)
    exact = centres, weight, outputs
    if choice:
        found, *_ = fit_landmarks(exact, k, v, near, sizes, plain, mine)
    else:
        def draw_keys(received):
            return (kernels or _ridge_regression).choose_keys(k, queries, rows.groups, received, sizes, seed)
        mine = mine._replace(strongest=strongest, query_groups=nearest_groups(q, centres),
                             near=torch.ones_like(far[:, 0], dtype=torch.bool))
        beside = fit_landmarks(exact, k, v, near, sizes, draw_keys(far / far.sum(1, keepdim=True)), mine, far)
        found, plain, mine = beside
        if near.kind == "auto":
            without = fit_without_near_keys(exact, k, v, sizes, draw_keys(received), mine)
            if near.tolerance:
                chosen = (1 - far.sum(1) > MUCH_NEAR) | need_near(without[0], q, k, v, queries, sizes.rows,
                                                                  near.tolerance, seed)
            else:
                at_probes = _probe_errors(without[0], found, q, k, v, near, mine, queries, seed)
                chosen = choose([without[0].error, found.error], at_probes)
            found, plain, mine = (_where(chosen, *pair) for pair in zip(without, beside))
    answers = kernels.answer_near if kernels else answer
    return answers(q, k, v, found.landmarks, found.bias, found.values, found.counts, near, mine), (plain, mine)


def choose_rows(q, sizes, seed, choice, kernels):
    return kernels.choose_rows(q, sizes, seed) if kernels else _ridge_regression.choose_rows(q, sizes, seed, choice)


def blocks_of_rows(q, rows, near):
    """Blocks (h, k) of the drawn queries nearest to the exact ones."""
    return near.block_of(rows.queries[nearest_points(accumulated(q[:, rows.queries]), rows.centres)])


def _where(chosen, without, beside):
    """Of two records that of each head (h): with near keys, if they are chosen for it, or without."""
    return type(beside)(*(y if x is y else torch.where(chosen.view(-1, *[1] * (x.ndim - 1)), y, x)
                          for x, y in zip(without, beside)))


def fit_without_near_keys(exact, k, v, sizes, plain, mine):
    """What fit_landmarks has of heads without near keys."""
    landmarks, _, *of_groups = place_landmarks(k, v, plain, sizes)
    bias, values, ridge, error = _ridge_regression.fit(exact, landmarks, *of_groups)
    mine = mine._replace(near=torch.zeros_like(mine.near), key_groups=torch.zeros_like(mine.key_groups),
                         mass=torch.zeros_like(mine.mass))
    return Fit(landmarks, torch.ones_like(bias), bias, values, error), plain._replace(ridge=ridge), mine


def fit_landmarks(exact, k, v, near, sizes, plain, mine, far=None):
    """The Fit of heads that have near keys and of others (mine.near) from their keys and groups, and both Choices with
    what they lack: a ridge, and each key's landmark with what these receive from far (h, n). exact: the exact queries
    with their weights and outputs."""
    centres, weight, outputs = exact
    landmarks, size, prior, sampled, mass = place_landmarks(k, v, plain, sizes)
    if mine.key_groups is None:
        groups = nearest_groups(k, landmarks, size > 0)
        mine = mine._replace(key_groups=groups, mass=sum_by(groups, sizes.landmarks, far[..., None])[..., 0])
    seen = _see(centres[:, :, None], accumulated(k), accumulated(v), landmarks, near, mine, mine.blocks,
                mine.strongest[:, :, None])
    has, each = mine.near[:, None], torch.ones_like(k[..., :1], dtype=prior.dtype)
    counts = torch.where(has, sum_by(mine.key_groups, sizes.landmarks, each)[..., 0], 1)
    bias, values, ridge, error = fit(seen, mine.near, counts, torch.where(has, 0, sampled.log()),
                                     torch.where(has, mine.mass, mass), weight, outputs, prior, plain.ridge)
    return Fit(landmarks, counts, bias, values, error), plain._replace(ridge=ridge), mine


def attend_rows(centres, weight, k, v, near, choice):
    """Outputs (h, k, dv) at the centres, their strongest keys (h, k, t), and what keys (h, n) receive from them on
    average, and where they are not near."""
    rows = attention_rows(centres, k)
    outputs = rows @ accumulated(v)
    if choice.near is not None:  # all else is chosen
        return outputs, choice.strongest, None, None
    rows = rows.detach()
    strongest = rows.topk(near.top, -1).indices
    rest = without_window(rows, near, choice.blocks).scatter(2, strongest, 0)
    received, far = (weighted_mean(x, weight) for x in (rows, rest))
    return outputs, strongest, received, far + LEAST_FAR


def without_window(rows, near, blocks):
    """Rows (h, k, n) with 0 for the keys around the blocks (h, k)."""
    keys, around = near.keys(blocks)
    return rows.masked_fill(torch.zeros_like(rows).scatter_add(2, keys, around.to(rows.dtype)) > 0, 0)


def _see(x, k, v, landmarks, near, choice, blocks, strongest):
    """Of queries x (h, B, b, d) in blocks (h or 1, B), with the strongest keys (h, B, b, t)."""
    scale = x.shape[-1]**-0.5
    keys, around = near.keys(blocks)
    groups = choice.key_groups[..., None]
    logits = torch.cat([x @ gather(k, keys).mT, (gather(k, strongest) @ x[..., None])[..., 0]], -1)
    return _Seen(x @ landmarks[:, None].mT * scale, logits * scale, around[:, :, None],
                 near.holds(blocks[:, :, None, None], strongest), gather(groups, keys)[:, :, None, :, 0],
                 gather(groups, strongest)[..., 0], (gather(v, keys), gather(v, strongest)))


def _see_tokens(q, tokens, k, v, landmarks, near, choice, blocks):
    """Of the queries at tokens (B, b) in blocks (B)."""
    strongest = gather(choice.strongest, choice.query_groups[:, tokens])
    return _see(accumulated(q[:, tokens]), k, v, landmarks, near, choice, blocks[None], strongest)


def _logits(seen, counts, near):
    """Logits (h, B, b, m + w + t): of the landmarks with the numbers of keys that they stand for, and of the near keys
    of heads that have them."""
    near = near[:, None, None, None]
    around, strong = seen.around & near, ~seen.inside & near  # keys that are both are counted with those around
    left = counts[:, None, None]
    for groups, mask in ((seen.groups, around), (seen.strong, strong)):
        taken = counts.new_zeros(*groups.shape[:3], counts.shape[-1])
        left = left - taken.scatter_add(3, groups, mask.to(counts.dtype).expand(groups.shape))
    mask = torch.cat([around.expand(*strong.shape[:3], -1), strong], -1)
    return torch.cat([seen.far + left.log(), torch.where(mask, seen.near, -torch.inf)], -1)


def _weigh(seen, logits, bias):
    """Features (h, B, b, m), and outputs (h, B, b, dv) of the near keys."""
    m, w = bias.shape[-1], seen.groups.shape[-1]
    p = torch.softmax(logits + torch.nn.functional.pad(bias, (0, logits.shape[-1] - m))[:, None, None], -1)
    around, strong = p[..., m:m + w] @ seen.values[0], p[..., None, m + w:] @ seen.values[1]
    return p[..., :m], around + strong[..., 0, :]


def fit(seen, near, counts, bias, mass, weight, outputs, prior, ridge=None):
    """With near keys where these (h) are, from the bias before it is corrected: b (h, m), the landmarks' values (h, m,
    dv), each head's ridge, and its error where each exact output is left out, squared (h)."""
    logits = _logits(seen, counts, near)
    for i in range(CORRECTIONS):
        features, _ = _weigh(seen, logits, bias)
        better = corrected(bias, mass, weighted_mean(features[:, :, 0], weight))
        bias = torch.where(near[:, None], better, bias) if i > 0 else better  # once without near keys
    features, beside = (x[:, :, 0] for x in _weigh(seen, logits, bias))
    return bias, *regress(features, weight, outputs - beside - features @ prior, prior, ridge)


def _respond(seen, near, counts, bias, values):
    """Outputs (h, B, b, dv)."""
    features, beside = _weigh(seen, _logits(seen, counts, near), bias)
    return beside + features @ values[:, None]


def _probe_errors(without, beside, q, k, v, near, choice, queries, seed):
    """Squared errors (h) of the Fit without near keys, and of the one with them, at k of the drawn queries."""
    k, v = accumulated(k), accumulated(v)
    probes = queries[sample(len(queries), choice.blocks.shape[1], seed, q.device)]
    at_probes = accumulated(q[:, probes])
    exact = attention_rows(at_probes, k) @ v
    seen = _see_tokens(q, probes[:, None], k, v, beside.landmarks, near, choice, near.block_of(probes))
    found = (_ridge_regression.answer(at_probes, without.landmarks, without.bias, without.values),
             _respond(seen, choice.near, beside.counts, beside.bias, beside.values)[:, :, 0])
    return [(outputs - exact).square().sum((1, 2)) for outputs in found]


def need_near(without, q, k, v, queries, rows, tolerance, seed):
    """Which heads (h) have near keys: those where the Fit without them has a relative error above the tolerance, as
    estimated at some of the drawn queries and as many that look most at themselves, the largest q'(k - mean k). The
    former stand for all queries but the latter."""
    n, drawn = q.shape[1], queries[sample(len(queries), min(rows, TOLERANT_PROBES), seed, q.device)]
    sharp = len(drawn) // 2
    x, k = accumulated(q), accumulated(k)
    looks = (x * (k - k.mean(1, keepdim=True))).sum(-1).topk(sharp).indices
    at_probes = x.take_along_dim(torch.cat([looks, drawn[sharp:].expand(len(x), -1)], 1)[..., None], 1)
    exact = attention_rows(at_probes, k) @ accumulated(v)
    rest = _ridge_regression.answer(at_probes, without.landmarks, without.bias, without.values) - exact
    stands_for = torch.ones_like(exact[0, :, 0])
    stands_for[sharp:] = (n - sharp) / (len(drawn) - sharp)
    square, whole = (y.square().sum(-1) @ stands_for for y in (rest, exact))
    return ~(square <= tolerance**2 * whole)


def choose(left_out, at_probes):
    """Which heads (h) have near keys, from squared errors (h) without them and with them: those where near keys leave a
    lesser error, or one that is hardly greater. What leave-one-out does not tell clearly the probes decide with it, by
    the geometric mean of both errors."""
    unclear = torch.maximum(*left_out) < CLEARLY**2 * torch.minimum(*left_out)
    without, beside = (torch.where(unclear, x.sqrt() * y.sqrt(), x) for x, y in zip(left_out, at_probes))
    return beside <= NEAR_TIE**2 * without


def answer(q, k, v, landmarks, bias, values, counts, near, choice):
    """Outputs (h, n, dv) in the type of q."""
    h, n, d = q.shape
    blocks = torch.arange(near.blocks(), device=q.device)
    tokens, there = near.queries(blocks)
    width, keys = tokens.shape[1], near.keys(blocks[:1])[0].shape[1]
    each = h * (width * (landmarks.shape[1] + keys + near.top * (1 + d + v.shape[-1])) + keys * (d + v.shape[-1]))
    step = max(1, AT_A_TIME // each)

    def some(q, k, v, landmarks, bias, values, first):
        at = slice(first, first + step)
        seen = _see_tokens(q, tokens[at], accumulated(k), accumulated(v), landmarks, near, choice, blocks[at])
        return _respond(seen, choice.near, counts, bias, values).to(q.dtype)
    parts = []
    for first in range(0, len(blocks), step):
        given = (q, k, v, landmarks, bias, values, first)
        # A backward pass computes each step again.
        parts.append(checkpoint(some, *given, use_reentrant=False, preserve_rng_state=False)
                     if torch.is_grad_enabled() else some(*given))
    found = torch.where(there[..., None], torch.cat(parts, 1), 0).flatten(1, 2)
    return found.new_zeros(h, n, found.shape[-1]).index_add(1, tokens.flatten(), found)
