# SPDX-License-Identifier: GPL-3.0-or-later
"""kernel_ridge(near=equal): each head has no near keys, a window or both, with as many landmarks as cost the same.

The construction is that of src/layers/kernel_ridge_kind.c and docs/method.md ("Near keys"). h, k, m and n are as in
_ridge_regression.py.

1. kinds_of: sizes of each kind, by its price.
2. choose_kinds: of all heads at once, what leaves least of up to CHOOSING exact outputs, each left out, where every key
   is a landmark.
3. The heads of each kind together, from the same draws, in the operations or kernels of their kind.

Before step 3 the host waits for the device, once, to know how many heads each kind has: tensors have their sizes on the
host. CUDA graphs cannot hold that.
"""
from __future__ import annotations

import functools
from dataclasses import replace
from typing import NamedTuple

import torch
from torch.nn.functional import pad

from .._arguments import ArgumentError
from . import _near_keys, _ridge_regression
from ._clustering import accumulated, nearest_groups, sum_by, sums_type
from ._near_keys import NearChoice, Neighbourhood, blocks_of_rows, choose_rows, without_window
from ._ridge_regression import Choice, Rows, Sizes, attention_rows, leave_out

CHOOSING, PENALTY = 16, 1e-3  # as in src/attentions/kernel_ridge.c and src/layers/kernel_ridge_kind.c


class Kind(NamedTuple):
    """What heads of a kind have."""
    sizes: Sizes
    near: Neighbourhood


class KindChoice(NamedTuple):
    """What gradients hold fixed beside both other Choices. All have the sizes of heads without near keys; what other
    heads have less is filled with zeros."""
    kind: torch.Tensor  # (h), int64: an index of kinds_of
    size: torch.Tensor  # (h, k): of the Rows that heads with near keys have

    @classmethod
    def empty(cls, q, h, sizes):
        return cls(q.new_empty(h, dtype=torch.int64), q.new_empty(h, sizes.rows, dtype=sums_type(q)))


@functools.lru_cache(maxsize=1024)
def kinds_of(sizes, near, d, dv):
    """One to three Kinds: without near keys, with a window, with both, as far as a landmark can be paid beside them."""
    none = Kind(sizes, replace(near, kind="none", top=0))
    most = _price(none, d, dv)
    window = _afford(most, sizes, replace(near, kind="window", top=0), d, dv)
    few = replace(sizes, rows=window.sizes.rows, rows_follow=False)
    both = _afford(most, few, replace(near, kind="both"), d, dv)
    if window.sizes.landmarks == 0:
        return (none,)
    return (none, window) if near.top == 0 or both.sizes.landmarks == 0 else (none, window, both)


def _price(kind, d, dv):
    """As in src/attentions/kernel_ridge.c, an integer."""
    s, near, each = kind.sizes, kind.near, d + dv
    far = s.n * (s.rows + s.landmarks) * each + 3 * s.keys * s.landmarks * d
    if near.kind == "none":
        return far
    strongest = 2 * s.n * near.top * each + (s.n * s.rows * d if near.top > 0 else 0)
    return far + s.n * s.landmarks * d + near.pairs() * each + strongest


def _afford(most, sizes, near, d, dv):
    """The Kind with the most landmarks that cost no more, maybe none."""
    few, many = 0, sizes.landmarks + 1
    while many - few > 1:
        middle = (few + many) // 2
        costly = _price(Kind(sizes.with_landmarks(middle), near), d, dv) > most
        few, many = (few, middle) if costly else (middle, many)
    return Kind(sizes.with_landmarks(few), near)


def kernel_ridge(q, k, v, sizes, near, seed, choice=None, kernels=None):
    """As _near_keys.kernel_ridge, with three Choices."""
    plain, mine, chosen = choice or (None, None, None)
    kinds = kinds_of(sizes, near, q.shape[-1], v.shape[-1])
    every = choose_rows(q, sizes, seed, plain, kernels)
    fewer = every if len(kinds) == 1 else _fewer_rows(q, every, kinds[1].sizes.rows, chosen)
    if chosen is None:
        chosen = KindChoice(choose_kinds(q, k, v, fewer, kinds), _widened(fewer.size, every.size.shape[1:]))
    order, outs, choices = chosen.kind.argsort(stable=True), [], []
    for kind, heads in zip(kinds, order.split(_counts(chosen.kind, len(kinds)))):
        if len(heads) == 0:
            continue
        rows = every if kind.near.kind == "none" else fewer
        rows = Rows(rows.centres[heads], rows.size[heads], rows.queries, rows.groups[heads])
        given = choice and (Choice(plain.queries, *_narrowed(plain[1:], heads, Choice.shapes(kind.sizes))),
                            NearChoice(*_narrowed(mine, heads, NearChoice.shapes(kind.sizes, kind.near))))
        out, its = _attend(q[heads], k[heads], v[heads], kind, seed, given, rows, kernels)
        outs.append(out)
        choices.append(its)
    back = order.argsort()
    if choice is None:
        plain = Choice(every.queries, *_joined([its[1:] for its, _ in choices], Choice.shapes(sizes), back))
        mine = NearChoice(*_joined([its for _, its in choices], NearChoice.shapes(sizes, near), back))
    return torch.cat(outs)[back], (plain, mine, chosen)


def _attend(q, k, v, kind, seed, choice, rows, kernels):
    """As _near_keys.kernel_ridge, of heads of a kind."""
    if kind.near.kind != "none":
        return _near_keys.kernel_ridge(q, k, v, kind.sizes, kind.near, seed, choice, rows, kernels)
    if kernels:
        out, plain = kernels.kernel_ridge(q, k, v, kind.sizes, seed, rows)
    else:
        out, plain = _ridge_regression.kernel_ridge(q, k, v, kind.sizes, seed, choice and choice[0], rows)
    return out, (plain, NearChoice.zeros(q, len(q), kind.sizes, kind.near))


def _counts(kind, count):
    """How many heads each of the kinds has, for which the host waits where there are several."""
    if count == 1:
        return [len(kind)]
    if kind.is_cuda and torch.cuda.is_current_stream_capturing():
        raise ArgumentError("near=equal waits for the device, to know how many heads have near keys, and a CUDA graph "
                            "cannot hold that; the other kinds wait for nothing")
    return torch.stack([(kind == i).sum() for i in range(count)]).tolist()


def _widened(x, shape):
    """x (h, ...) with zeros behind its numbers, of such a shape of each head."""
    missing = [length - mine for length, mine in zip(shape, x.shape[1:])]
    return pad(x, [count for length in reversed(missing) for count in (0, length)])


def _narrowed(record, heads, shapes):
    """Of a record's fields those of some heads, without what is behind these shapes."""
    return [x[(slice(None), *map(slice, shape))][heads] for x, shape in zip(record, shapes)]


def _joined(records, shapes, back):
    """The fields of all heads, from records of the heads of each kind."""
    return [torch.cat([_widened(x, shape) for x in fields])[back] for shape, *fields in zip(shapes, *records)]


def _fewer_rows(q, rows, count, chosen):
    """Some of the Rows, spread over all of them, each with the drawn queries that are nearest to it, one at least."""
    centres = rows.centres[:, _spread(count, rows.size.shape[1], q.device)]
    if chosen is not None:
        return rows._replace(centres=centres, size=chosen.size[:, :count])
    groups = nearest_groups(q[:, rows.queries], centres)
    size = sum_by(groups, count, torch.ones_like(groups, dtype=rows.size.dtype)[..., None])[..., 0]
    return rows._replace(centres=centres, size=size.clamp_min(1))


def _spread(count, among, device):
    return torch.arange(count, device=device) * among // count


def choose_kinds(q, k, v, rows, kinds):
    """The kind (h), int64: an index of kinds. rows: those of heads with near keys."""
    if len(kinds) == 1:
        return torch.zeros(len(q), dtype=torch.int64, device=q.device)
    expected = expected_errors(q, k, v, rows, kinds)
    return torch.where(expected.isnan(), torch.inf, expected).argmin(1)


def expected_errors(q, k, v, rows, kinds):
    """What is compared (h, kinds): squared errors, which are in inverse proportion to the landmarks."""
    some = _spread(min(CHOOSING, rows.size.shape[1]), rows.size.shape[1], q.device)
    rows = rows._replace(centres=rows.centres[:, some], size=rows.size[:, some])
    far, values, near = attention_rows(rows.centres, k), accumulated(v), kinds[-1].near
    strongest = far.topk(near.top, -1).indices
    errors = [_left_out(far, rows.weight, values)]
    far = without_window(far, near, blocks_of_rows(q, rows, near))
    errors.append(_left_out(far, rows.weight, values))
    if len(kinds) == 3:
        # A centre's strongest keys are in part those of other queries of its group.
        errors.append(errors[1].sqrt() * _left_out(far.scatter(2, strongest, 0), rows.weight, values).sqrt())
    return torch.stack([error / kind.sizes.landmarks for error, kind in zip(errors, kinds)], 1)


def _left_out(far, weight, v):
    """Squared errors (h) of the outputs of keys that are not near, each left out and regressed on the others by such
    rows of S, far (h, k, n)."""
    least = torch.finfo(far.dtype).tiny
    received = (weight[:, None] @ far)[:, 0]
    mean = received[:, None] @ v / received.sum(1).clamp_min(least)[:, None, None]
    gram = far / received.clamp_min(least)[:, None] @ far.mT
    rest = far @ v - far.sum(2, keepdim=True) * mean
    return leave_out(gram, weight, rest, weight.new_full((len(far), 1), PENALTY))[1][:, 0]
