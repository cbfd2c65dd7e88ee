# SPDX-License-Identifier: GPL-3.0-or-later
"""kernel_ridge with near keys: attention to near keys one by one, and to landmarks in the place of all others, in
operations of PyTorch. On a GPU of CUDA three steps are kernels of _kernels.py: the choice of rows and of keys, and the
answer. docs/method.md has the formulas ("Near keys"); blocks of queries are those of src/layers/near.c.

Which keys are near is a mask, of each head where near=auto chooses: no device is waited for. h, k, m, s and n are as in
_plain.py; w are the keys around a block, and t the strongest keys of an exact query.

1. attend_rows: outputs at the exact queries, their strongest keys, and what keys that are not near receive.
2. place: landmarks as in _plain.py, but that all keys belong to one.
3. fit: of each kind of near keys a prior, features and a ridge, and the kind that leave-one-out finds best.
4. answer: one softmax over landmarks and near keys for all queries, some blocks at a time.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch.utils.checkpoint import checkpoint

from . import _plain
from ._plain import accumulated

KINDS = ("none", "window", "top", "both")
NONE, WINDOW, TOP, BOTH = range(4)  # two bits
# As in src/layers/kernel_ridge_fit.c and near.c.
CHOICE_ORDER, KIND_TIE, LEAST_FAR, CORRECTIONS = (NONE, WINDOW, BOTH, TOP), 0.05, 1e-12, 2
RUN, SIDE, BEFORE = 32, 8, 64  # tokens of a block in a row, patches of a block's side, tokens of a block before patches
AT_A_TIME = 2**24  # numbers of a step of `answer`


@dataclass(frozen=True)
class Neighbourhood:
    """Blocks of n tokens, and the keys around them.

    columns: of an image whose patches are the last tokens, behind `before` others; 0: tokens are a row.
    reach: tokens, or patches, around a block on each side.
    kind: of KINDS, or "auto". top: strongest keys.
    """
    n: int
    kind: str
    reach: int
    top: int
    columns: int
    before: int

    def kinds(self):
        return range(4 if self.top > 0 else 2) if self.kind == "auto" else [KINDS.index(self.kind)]

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


class Choice(NamedTuple):
    """What gradients hold fixed beside the Choice of _plain.py."""
    blocks: torch.Tensor        # (h, k), int64: of the drawn queries nearest to the exact ones
    strongest: torch.Tensor     # (h, k, t), int64
    key_groups: torch.Tensor    # (h, n), int64: the nearest landmark
    query_groups: torch.Tensor  # (h, n), int64: the nearest exact query
    mass: torch.Tensor          # (h, m): what keys of a landmark that are not near receive from the exact queries
    kind: torch.Tensor          # (h), int64: an index of KINDS


class _Seen(NamedTuple):
    """Of b queries in each of B blocks, before a kind is chosen."""
    far: torch.Tensor     # (h, B, b, m): logits of landmarks
    near: torch.Tensor    # (h, B, b, w + t): of near keys
    around: torch.Tensor  # (h or 1, B, 1, w): which of the w are there
    inside: torch.Tensor  # (h, B, b, t): which strongest keys are around the block
    groups: torch.Tensor  # (h, B, 1, w): landmarks of the keys around
    strong: torch.Tensor  # (h, B, b, t): of the strongest
    values: tuple[torch.Tensor, torch.Tensor]  # of both: (h, B, w, dv), (h, B, b, t, dv)


def kernel_ridge(q, k, v, sizes, near, seed, choice=None, kernels=None):
    """Outputs (h, n, dv) in the type of q, and both Choices; those that are given are kept. kernels: _kernels.py, for
    the steps that it has, if nothing is given."""
    plain, mine = choice or (None, None)
    centres, weight, queries, query_groups = (
        kernels.choose_rows(q, sizes, seed) if kernels else _plain.choose_rows(q, sizes, seed, plain))
    if mine is None:
        place = _nearest_points(accumulated(q[:, queries]), centres)
        mine = Choice(near.block_of(queries[place]), *[None] * 5)
    outputs, strongest, received = attend_rows(centres, weight, k, v, near, mine)
    if plain is None:
        placed = received[near.kinds().index(WINDOW) if near.kind == "auto" else 0]
        choose_keys = (kernels or _plain).choose_keys
        plain = choose_keys(k, queries, query_groups, placed / placed.sum(1, keepdim=True), sizes, seed)
    p, inverse = _plain.key_weights(plain, sizes.n)
    landmarks, size = _plain.group_means(plain.key_groups, sizes.landmarks, accumulated(_plain.gather(k, plain.keys)),
                                         p)
    landmarks = accumulated(landmarks.to(q.dtype))
    prior, *_ = _plain.group_sums(plain, sizes.landmarks, accumulated(_plain.gather(v, plain.keys)), p, inverse)
    if mine.kind is None:
        groups = _nearest(k, landmarks, size > 0)
        mine = mine._replace(strongest=strongest, key_groups=groups, query_groups=_nearest(q, centres, None), kind=None)
        kinds = [torch.full_like(groups[:, 0], kind) for kind in near.kinds()]
        masses = [_plain.sum_by(groups, sizes.landmarks, one[..., None])[..., 0] for one in received]
    else:
        kinds, masses = [mine.kind], [mine.mass]
    counts = _plain.sum_by(mine.key_groups, sizes.landmarks, torch.ones_like(q[..., :1], dtype=prior.dtype))[..., 0]
    seen = _see(centres[:, :, None], accumulated(k), accumulated(v), landmarks, near, mine, mine.blocks,
                mine.strongest[:, :, None])
    bias, values, ridge, error = fit(seen, counts, weight, outputs, prior, kinds, masses, plain.ridge)
    if mine.kind is None:
        at = choose_kind(error.detach()) if len(kinds) > 1 else torch.zeros_like(kinds[0])
        bias, values, ridge, kind, mass = (_of_kind(x, at) for x in (
            bias, values, ridge, torch.stack(kinds), torch.stack(masses)))
        plain, mine = plain._replace(ridge=ridge), mine._replace(kind=kind, mass=mass)
    else:
        bias, values = bias[0], values[0]
    answers = kernels.answer_near if kernels else answer
    return answers(q, k, v, landmarks, bias, values, counts, near, mine), (plain, mine)


def _of_kind(x, kind):
    """x (kinds, h, ...) at each head's kind."""
    return x[kind, torch.arange(x.shape[1], device=x.device)]


def _nearest_points(x, centres):
    """The nearest point (h, k) of x (h, s, d) to each centre."""
    return (x.square().sum(-1)[:, None] - 2 * centres @ x.mT).argmin(-1)


def _nearest(x, centres, there):
    """The nearest centre (h, n), int64, of those that are there, some points at a time."""
    square = centres.square().sum(-1)[:, None]
    if there is not None:
        square = torch.where(there[:, None], square, torch.inf)
    return torch.cat([(square - 2 * accumulated(part) @ centres.mT).argmin(-1)
                      for part in x.split(_plain.AT_A_TIME, 1)], 1)


def attend_rows(centres, weight, k, v, near, choice):
    """Outputs (h, k, dv) at the centres, their strongest keys (h, k, t), and for each kind what keys that are not near
    receive from them on average (kinds, h, n)."""
    rows = torch.softmax(centres @ accumulated(k).mT * centres.shape[-1]**-0.5, -1)
    outputs = rows @ accumulated(v)
    if choice.kind is not None:  # all else is chosen
        return outputs, choice.strongest, None
    rows, weight = rows.detach(), weight[:, None]
    strongest = rows.topk(near.top, -1).indices
    keys, around = near.keys(choice.blocks)
    received = []
    for kind in near.kinds():
        rest = rows
        if kind & WINDOW:
            rest = rest.masked_fill(torch.zeros_like(rest).scatter_add(2, keys, around.to(rest.dtype)) > 0, 0)
        if kind & TOP:
            rest = rest.scatter(2, strongest, 0)
        received.append((weight @ rest)[:, 0] / weight.shape[-1] + LEAST_FAR)
    return outputs, strongest, torch.stack(received)


def _gather(x, at):
    """x (h, n, ...) at tokens (h or 1, ...)."""
    flat = at.expand(x.shape[0], *at.shape[1:]).flatten(1)
    return x.gather(1, flat[..., None].expand(-1, -1, x.shape[-1])).unflatten(1, at.shape[1:])


def _see(x, k, v, landmarks, near, choice, blocks, strongest):
    """Of queries x (h, B, b, d) in blocks (h or 1, B), with the strongest keys (h, B, b, t)."""
    scale = x.shape[-1]**-0.5
    keys, around = near.keys(blocks)
    groups = choice.key_groups[..., None]
    logits = torch.cat([x @ _gather(k, keys).mT, (_gather(k, strongest) @ x[..., None])[..., 0]], -1)
    return _Seen(x @ landmarks[:, None].mT * scale, logits * scale, around[:, :, None],
                 near.holds(blocks[:, :, None, None], strongest), _gather(groups, keys)[:, :, None, :, 0],
                 _gather(groups, strongest)[..., 0], (_gather(v, keys), _gather(v, strongest)))


def _logits(seen, counts, kind):
    """Logits (h, B, b, m + w + t) for each head's kind: of the landmarks with the numbers of keys that they stand for,
    and of near keys."""
    kind = kind[:, None, None, None]
    around, strong = seen.around & (kind & WINDOW > 0), (kind & TOP > 0).expand(seen.strong.shape)
    # Keys that are both are counted with those around.
    strong = strong & ~(seen.inside & (kind & WINDOW > 0))
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


def fit(seen, counts, weight, outputs, prior, kinds, masses, ridge=None):
    """Of each kind: b (kinds, h, m), the landmarks' values (kinds, h, m, dv), the ridges (kinds, h), and the errors
    where each exact output is left out (kinds, h)."""
    found = []
    for kind, mass in zip(kinds, masses):
        logits, bias = _logits(seen, counts, kind), torch.zeros_like(counts)
        for _ in range(CORRECTIONS):
            features, _ = _weigh(seen, logits, bias)
            bias = _plain.corrected(bias, mass, _plain.mean_feature(features[:, :, 0], weight))
        features, beside = (x[:, :, 0] for x in _weigh(seen, logits, bias))
        found.append((bias, *_plain.regress(features, weight, outputs - beside - features @ prior, prior, ridge)))
    return tuple(torch.stack(part) for part in zip(*found))


def choose_kind(error):
    """The kind (h) of the least error (kinds, h), squared; ties go to the first of CHOICE_ORDER."""
    error = error.sqrt()
    chosen, least = torch.full_like(error[0], WINDOW, dtype=torch.int64), error.amin(0)
    for kind in reversed([kind for kind in CHOICE_ORDER if kind < len(error)]):
        chosen = torch.where(error[kind] <= (1 + KIND_TIE) * least, kind, chosen)
    return chosen


def answer(q, k, v, landmarks, bias, values, counts, near, choice):
    """Outputs (h, n, dv) in the type of q."""
    h, n, d = q.shape
    blocks = torch.arange(near.blocks(), device=q.device)
    tokens, there = near.queries(blocks)
    width, keys = tokens.shape[1], near.keys(blocks[:1])[0].shape[1]
    each = h * (width * (landmarks.shape[1] + keys + near.top * (1 + d + v.shape[-1])) + keys * (d + v.shape[-1]))
    step = max(1, AT_A_TIME // each)

    def some(q, k, v, landmarks, bias, values, first):
        at = tokens[first:first + step]
        owner = choice.query_groups[:, at]
        strongest = _gather(choice.strongest, owner)
        seen = _see(accumulated(q[:, at]), accumulated(k), accumulated(v), landmarks, near, choice,
                    blocks[None, first:first + step], strongest)
        features, beside = _weigh(seen, _logits(seen, counts, choice.kind), bias)
        return (beside + features @ values[:, None]).to(q.dtype)
    parts = []
    for first in range(0, len(blocks), step):
        given = (q, k, v, landmarks, bias, values, first)
        # A backward pass computes each step again.
        parts.append(checkpoint(some, *given, use_reentrant=False, preserve_rng_state=False)
                     if torch.is_grad_enabled() else some(*given))
    found = torch.where(there[..., None], torch.cat(parts, 1), 0).flatten(1, 2)
    return found.new_zeros(h, n, found.shape[-1]).index_add(1, tokens.flatten(), found)
