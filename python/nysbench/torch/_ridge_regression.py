# SPDX-License-Identifier: GPL-3.0-or-later
"""kernel_ridge of many heads at once in operations of PyTorch, on any device, without a wait for the host.

The construction is that of src/attentions/kernel_ridge.c, whose header has the formulas, but for the clusters
(_clustering.py). h stands for all heads of all inputs, k for the exact queries, m for the landmarks.

1. choose_rows: exact queries are the centres of groups of drawn queries.
2. attend_rows: their outputs, and the attention that each key receives from them.
3. choose_keys, place_landmarks: landmarks are the weighted centres of groups of keys, which are sampled by what they
   receive.
4. fit: softmax features of the landmarks, a prior from the groups' values, and a ridge that leave-one-out chooses.
5. answer: the outputs of all queries.
"""
from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch

from ._clustering import (KEY_SAMPLE, KEY_SEEDS, QUERY_SEEDS, accumulated, gather, group_means, nearest_groups, sample,
                          seed_groups, sum_by, sums_type, uniforms)

RIDGES = (1e-1, 1e-2, 1e-3, 1e-4)
CAP_ROUNDS = 8
AT_A_TIME = 4096  # queries that are answered together
# As in src/attentions/kernel_ridge.c and src/linalg/kernel_ridge.c.
LEAST_RECEIVED, FEATURE_FLOOR, SHARE_FLOOR, MOST_CORRECTION, TIE = 1e-9, 1e-4, 1e-6, 2.0, 1e-6
LEAST_UNIT = 1e-8
# The weights of a group without points: of an exact query, in points, and of a landmark.
LEAST_SIZE, LEAST_COUNT = 0.25, 1e-6


@dataclass(frozen=True)
class Sizes:
    """n tokens, k exact queries among so many drawn, m landmarks among so many sampled keys.

    rows_follow, keys_follow: whether these are as many as usual for the landmarks, where other sizes are tried.
    """
    n: int
    rows: int
    queries: int
    landmarks: int
    keys: int
    rows_follow: bool = False
    keys_follow: bool = False

    def with_landmarks(self, landmarks):
        return replace(self, landmarks=landmarks,
                       rows=usual_rows(landmarks) if self.rows_follow else self.rows,
                       keys=min(self.n, usual_keys(landmarks)) if self.keys_follow else self.keys)


def usual_rows(landmarks):
    return math.ceil(5 * landmarks / 12)


def usual_keys(landmarks):
    return math.ceil(32 / 3 * landmarks)


class Rows(NamedTuple):
    """Exact queries, the centres of groups of drawn ones."""
    centres: torch.Tensor  # (h, k, d), rounded to the type of the queries
    size: torch.Tensor     # (h, k): how many queries each stands for
    queries: torch.Tensor  # (drawn)
    groups: torch.Tensor   # (h, drawn)

    @property
    def weight(self):
        """(h, k), of mean 1."""
        size = self.size.clamp_min(LEAST_SIZE)
        return size * (size.shape[1] / size.sum(1, keepdim=True))


class Choice(NamedTuple):
    """What gradients hold fixed: tokens, their groups and weights, and each head's ridge."""
    queries: torch.Tensor       # (drawn), int64: the same for all heads
    query_groups: torch.Tensor  # (h, drawn), int32
    keys: torch.Tensor          # (h, sampled), int64
    key_groups: torch.Tensor    # (h, sampled), int32
    received: torch.Tensor      # (h, sampled): r, the mean attention from the exact queries
    inclusion: torch.Tensor     # (h, sampled): pi, the probability of being sampled
    ridge: torch.Tensor         # (h), int64: an index of RIDGES

    @staticmethod
    def shapes(sizes):
        """Of what a head has, behind `queries`."""
        return (sizes.queries,), *[(sizes.keys,)] * 4, ()

    @classmethod
    def empty(cls, q, h, sizes):
        types = torch.int32, torch.int64, torch.int32, *[sums_type(q)] * 2, torch.int64
        return cls(q.new_empty(sizes.queries, dtype=torch.int64), *(
            q.new_empty((h, *shape), dtype=dtype) for shape, dtype in zip(cls.shapes(sizes), types)))


def kernel_ridge(q, k, v, sizes, seed, choice=None, rows=None):
    """Outputs (h, n, dv) in the type of q, and the Choice; a Choice and Rows that are given are kept.

    q, k: (h, n, d), v: (h, n, dv). Small systems are solved in double precision if q has it, else in single.
    """
    rows = rows or choose_rows(q, sizes, seed, choice)
    outputs, received = attend_rows(rows.centres, rows.weight, k, v)
    if choice is None:
        choice = choose_keys(k, rows.queries, rows.groups, received.detach(), sizes, seed)
    landmarks, _, *sums = place_landmarks(k, v, choice, sizes)
    bias, values, ridge, _ = fit((rows.centres, rows.weight, outputs), landmarks, *sums, choice.ridge)
    return answer(q, landmarks, bias, values), choice._replace(ridge=ridge)


def choose_rows(q, sizes, seed, choice):
    """The Rows, of the choice's groups if it is given."""
    queries = sample(sizes.n, sizes.queries, seed, q.device) if choice is None else choice.queries
    x = accumulated(q[:, queries])
    if choice is None:
        groups = seed_groups(x, torch.ones_like(x[..., 0]), sizes.rows, seed, QUERY_SEEDS)
    else:
        groups = choice.query_groups
    centres, size = group_means(groups, sizes.rows, x, torch.ones_like(x[..., 0]))
    return Rows(accumulated(centres.to(q.dtype)), size, queries, groups)


def choose_keys(k, queries, query_groups, received, sizes, seed):
    """The Choice, without the ridge."""
    keys, inclusion = sample_keys(received, sizes, seed)
    choice = Choice(queries, query_groups, keys, keys, received.gather(1, keys), inclusion, None)
    return choice._replace(key_groups=_key_groups(gather(k, keys), choice, sizes, seed))


def attend_rows(centres, weight, k, v):
    """Outputs (h, k, dv) at the centres (h, k, d), and what keys receive from them on average (h, n)."""
    rows = attention_rows(centres, k)
    return rows @ accumulated(v), weighted_mean(rows, weight)


def attention_rows(x, k):
    """softmax(x k'/sqrt d) (h, k, n)."""
    return torch.softmax(x @ accumulated(k).mT * x.shape[-1]**-0.5, -1)


def weighted_mean(rows, weight):
    """Of rows (h, k, ...) with weights (h, k) of mean 1."""
    return (weight[:, None] @ rows)[:, 0] / weight.shape[1]


def inclusion_probabilities(received, count):
    """min(1, c (r/2 + 1/(2n))) (h, n) with the sum `count`."""
    share = received / 2 + 0.5 / received.shape[1]
    factor = torch.full_like(share[:, :1], count)
    for _ in range(CAP_ROUNDS):
        certain = factor * share >= 1
        rest = torch.where(certain, 0, share).sum(1, keepdim=True)
        factor = (count - certain.sum(1, keepdim=True)) / rest.clamp_min(1e-30)
    return (factor * share).clamp_max(1)


def sample_keys(received, sizes, seed):
    """Tokens (h, keys) of a systematic sample, and their inclusion probabilities."""
    if sizes.keys == sizes.n:
        tokens = torch.arange(sizes.n, device=received.device).expand(received.shape[0], -1)
        return tokens.contiguous(), torch.ones_like(received)
    inclusion = inclusion_probabilities(received, sizes.keys)
    sums = inclusion.double().cumsum(1)
    at = torch.arange(sizes.keys, device=received.device) + uniforms(seed, KEY_SAMPLE, 1)[0]
    # The sum is `keys` to rounding only.
    at = at.double().expand(received.shape[0], -1).contiguous()
    tokens = torch.searchsorted(sums, at, right=True).clamp_max(sizes.n - 1)
    return tokens, inclusion.gather(1, tokens)


def key_weights(choice, n):
    """(p, 1/pi), both (h, keys): p = n r / pi."""
    inverse = 1 / choice.inclusion
    return (n * choice.received).clamp_min(LEAST_RECEIVED) * inverse, inverse


def _key_groups(k, choice, sizes, seed):
    x = accumulated(k)
    p, _ = key_weights(choice, sizes.n)
    group = seed_groups(x, p, sizes.landmarks, seed, KEY_SEEDS)
    centres, _ = group_means(group, sizes.landmarks, x, p)
    return nearest_groups(x, centres).int()


def place_landmarks(k, v, choice, sizes):
    """The landmarks (h, m, d) and the weights of their groups of keys (h, m); of these groups, the mean value (h, m,
    dv), the number of keys, and what these receive (h, m)."""
    p, inverse = key_weights(choice, sizes.n)
    landmarks, size = group_means(choice.key_groups, sizes.landmarks, accumulated(gather(k, choice.keys)), p)
    values = accumulated(gather(v, choice.keys))
    return accumulated(landmarks.to(k.dtype)), size, *_group_sums(choice, sizes.landmarks, values, p, inverse)


def _group_sums(choice, m, v, p, inverse):
    """Of the groups of keys: the mean of v by p (h, m, dv), the number of keys, and what these receive (h, m)."""
    parts = torch.cat([v * p[..., None], torch.stack([p, inverse, choice.received * inverse], -1)], -1)
    sums = sum_by(choice.key_groups, m, parts)
    value, (p, count, mass) = sums[..., :-3], sums[..., -3:].unbind(-1)
    return value / torch.where(p > 0, p, 1)[..., None], count.clamp_min(LEAST_COUNT), mass / mass.sum(1, keepdim=True)


def fit(exact, landmarks, prior, count, mass, ridge=None):
    """b (h, m), the landmarks' values (h, m, dv), each head's ridge, which leave-one-out chooses if it is None, and its
    error where each exact output is left out, squared (h). exact: the exact queries with their weights and outputs."""
    centres, weight, outputs = exact
    logits, bias = centres @ landmarks.mT * centres.shape[-1]**-0.5, count.log()
    features = torch.softmax(logits + bias[:, None], -1)
    bias = corrected(bias, mass, weighted_mean(features, weight))
    features = torch.softmax(logits + bias[:, None], -1)
    return bias, *regress(features, weight, outputs - features @ prior, prior, ridge)


def corrected(bias, mass, mean):
    """b (h, m), so that features receive on average (mean) what the keys do that they stand for (mass)."""
    floor = SHARE_FLOOR / bias.shape[1]
    return bias + ((mass + floor) / (mean + floor)).log().clamp(-MOST_CORRECTION, MOST_CORRECTION)


def regress(features, weight, rest, prior, ridge):
    """The landmarks' values (h, m, dv) from what the prior leaves of the outputs, rest (h, k, dv), each head's ridge,
    and its error where each row is left out, squared (h)."""
    scale = weighted_mean(features, weight).clamp_min(FEATURE_FLOOR / features.shape[-1]).rsqrt()
    scaled = features * scale[:, None]
    penalties = torch.stack([weight.new_full(weight.shape[:1], penalty) for penalty in RIDGES], 1)
    if ridge is not None:
        penalties = penalties.gather(1, ridge[:, None])
    dual, error = leave_out(scaled @ scaled.mT, weight, rest, penalties)
    at = torch.zeros_like(error[:, :1], dtype=torch.int64)
    if ridge is None:
        ridge = _least(error.detach())
        at = ridge[:, None]
    dual = dual.gather(1, at[..., None, None].expand(-1, 1, *dual.shape[2:]))
    return prior + scale[..., None] * (scaled.mT @ dual[:, 0]), ridge, error.gather(1, at)[:, 0]


def leave_out(gram, weight, rest, penalties):
    """M^-1 T (h, ridges, k, dv) and the squared leave-one-out errors (h, ridges) for M = G + lambda t diag(1/w), t the
    weighted mean of the diagonal of G. gram: G (h, k, k), rest: T (h, k, dv), penalties: lambda (h, ridges).

    In double precision, where the device has it: the condition of M is up to 10^4 k.
    """
    precise = gram.dtype if gram.device.type == "mps" else torch.float64
    eye = torch.eye(gram.shape[1], dtype=precise, device=gram.device)
    unit = (weight * gram.diagonal(dim1=1, dim2=2)).mean(1).clamp_min(LEAST_UNIT)
    penalty = (unit[:, None] * penalties)[..., None] / weight[:, None]
    system = gram[:, None].to(precise) + torch.diag_embed(penalty.to(precise))
    half = torch.linalg.solve_triangular(torch.linalg.cholesky_ex(system)[0], eye, upper=False)
    inverse = half.mT @ half
    dual = inverse @ rest[:, None].to(precise)
    off = dual / inverse.diagonal(dim1=2, dim2=3)[..., None]
    return dual.to(gram.dtype), (weight[:, None, :, None] * off.square()).sum((2, 3)).to(gram.dtype)


def _least(error):
    """The index of the least error (h, ridges), the first among those that are equal to rounding."""
    best, least = torch.zeros_like(error[:, 0], dtype=torch.int64), error[:, 0]
    for i in range(1, error.shape[1]):
        less = error[:, i] < (1 - TIE) * least
        best, least = torch.where(less, i, best), torch.where(less, error[:, i], least)
    return best


def answer(q, landmarks, bias, values):
    """softmax(q L'/sqrt d + b) values, in the type of q."""
    parts = (torch.softmax(accumulated(x) @ landmarks.mT * q.shape[-1]**-0.5 + bias[:, None], -1) @ values
             for x in q.split(AT_A_TIME, 1))
    return torch.cat([part.to(q.dtype) for part in parts], 1)
