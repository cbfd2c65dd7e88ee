# SPDX-License-Identifier: GPL-3.0-or-later
"""kernel_ridge of many heads at once in Triton: what _ridge_regression.py computes, in sixteen launches, and three
steps of _near_keys.py: the choice of rows and of keys, and the answer.

What touches all n tokens (_rows, _received, _answer, _answer_near) is divided among programs by blocks of tokens. What
does not (seeds, groups, small systems) has a program for each head, or for a few groups of a head, and blocks of
points: the points of a head come from the L2 cache. Products of half precision have half-precision operands and
single-precision sums; those of float32 are sums of three products of ten bits each (tf32x3), nearly as exact as single
precision.

Arrays are contiguous: q (h, n, D), k and v (h / G, n, D or DV), where G heads share a key head. P... is a power of two
that holds a size, at least 16 where it is a side of a product. A program that stores what it loads again has a barrier
in between.
"""
from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

from ._clustering import BATCHES, KEY_SAMPLE, KEY_SEEDS, QUERY_SEEDS, WALKS, grid_of, round_keys, uniforms
from ._ridge_regression import (CAP_ROUNDS, FEATURE_FLOOR, LEAST_COUNT, LEAST_RECEIVED, LEAST_SIZE, MOST_CORRECTION,
                                RIDGES, SHARE_FLOOR, TIE, Choice, Rows)

LOG2E = 1.4426950408889634
TYPES = (torch.float16, torch.bfloat16, torch.float32)
# A program holds all landmarks of a head in shared memory, and points of 128 tokens.
MOST_OPERAND_BYTES, MOST_DIMENSION = 2**17, 256
FAR = tl.constexpr(1e30)


@triton.jit
def _mix(x, key):
    x = x + key.to(tl.uint32)
    x = (x ^ (x >> 16)) * 0x7FEB352D
    x = (x ^ (x >> 15)) * 0x846CA68B
    return x ^ (x >> 16)


@triton.jit
def _permuted(at, a, b, k0, k1, k2, k3, k4, k5):
    """As _permute of _clustering.py."""
    row, column = at // b, at % b
    row = (row + _mix(column, k0) % a) % a
    column = (column + _mix(row, k1) % b) % b
    row = (row + _mix(column, k2) % a) % a
    column = (column + _mix(row, k3) % b) % b
    row = (row + _mix(column, k4) % a) % a
    column = (column + _mix(row, k5) % b) % b
    return row * b + column


@triton.jit(do_not_specialize=["n", "s", "a", "b", "k0", "k1", "k2", "k3", "k4", "k5"])
def _draw_queries(Q, TOKENS, X, n, s, a, b, k0, k1, k2, k3, k4, k5, D: tl.constexpr, PD: tl.constexpr,
                  WALKS: tl.constexpr, B: tl.constexpr):
    """TOKENS (s): a sample of the n tokens, and X (h, s, D) the queries there."""
    h, i = tl.program_id(0).to(tl.int64), tl.program_id(1) * B + tl.arange(0, B)
    at = i
    if s < n:
        rows, columns = a.to(tl.uint32), b.to(tl.uint32)
        cell = _permuted(i.to(tl.uint32), rows, columns, k0, k1, k2, k3, k4, k5)
        walks = 0
        while (tl.max(cell.to(tl.int32), 0) >= n) & (walks < WALKS):
            cell = tl.where(cell.to(tl.int32) < n, cell, _permuted(cell, rows, columns, k0, k1, k2, k3, k4, k5))
            walks += 1
        at = tl.minimum(cell.to(tl.int32), n - 1)
    if h == 0:
        tl.store(TOKENS + i, at.to(tl.int64), mask=i < s)
    d = tl.arange(0, PD)
    ok = (i[:, None] < s) & (d < D)
    tl.store(X + (h * s + i[:, None]) * D + d, tl.load(Q + (h * n + at[:, None]) * D + d, mask=ok, other=0), mask=ok)


@triton.jit
def _points(X, h, i, s, d, D: tl.constexpr):
    return tl.load(X + (h * s + i[:, None]) * D + d, mask=(i[:, None] < s) & (d < D), other=0)


@triton.jit
def _put_points(X, h, i, s, d, x, D: tl.constexpr):
    tl.store(X + (h * s + i[:, None]) * D + d, x, mask=(i[:, None] < s) & (d < D))


@triton.jit(do_not_specialize=["s", "m", "u0", "u1", "u2", "u3", "u4", "u5"])
def _seed(X, W, GROUP, DISTANCE, SQUARE, SUMS, s, m, u0, u1, u2, u3, u4, u5, D: tl.constexpr, PD: tl.constexpr,
          PS: tl.constexpr, PC: tl.constexpr, BATCHES: tl.constexpr, WEIGHTED: tl.constexpr, PREC: tl.constexpr,
          B: tl.constexpr, BL: tl.constexpr, BS: tl.constexpr):
    """GROUP (h, s): the nearest of m seeds by k-means++ in batches. W (h, s) weights, unless all are 1.

    DISTANCE, SQUARE, SUMS (h, s): room for squared distances from the seeds so far, squared lengths, running weighted
    sums.
    """
    h, d, j = tl.program_id(0).to(tl.int64), tl.arange(0, PD), tl.arange(0, PC)
    X, W, GROUP = X + h * s * D, W + h * s, GROUP + h * s
    DISTANCE, SQUARE, SUMS = DISTANCE + h * s, SQUARE + h * s, SUMS + h * s
    total, mean = 0.0, tl.zeros([PD], tl.float32)
    for at in range(0, s, BL):
        i = at + tl.arange(0, BL)
        x = _points(X, 0, i, s, d, D).to(tl.float32)
        w = tl.load(W + i, mask=i < s, other=0) if WEIGHTED else (i < s).to(tl.float32)
        mean += tl.sum(x * w[:, None], 0)
        total += tl.sum(w, 0)
        tl.store(SQUARE + i, tl.sum(x * x, 1), mask=i < s)
    mean = mean / total
    for at in range(0, s, BL):
        i = at + tl.arange(0, BL)
        apart = tl.where(d < D, _points(X, 0, i, s, d, D).to(tl.float32) - mean, 0)
        tl.store(DISTANCE + i, tl.sum(apart * apart, 1), mask=i < s)
    every, block, place = tl.arange(0, PS), tl.arange(0, PS // BS), tl.arange(0, BS)
    weight = tl.load(W + every, mask=every < s, other=0) if WEIGHTED else (every < s).to(tl.float32)
    known = 0
    for batch in range(BATCHES):
        count = (m - known) // (BATCHES - batch)
        if count > 0:
            u = tl.where(batch == 0, u0, tl.where(batch == 1, u1, tl.where(batch == 2, u2, tl.where(
                batch == 3, u3, tl.where(batch == 4, u4, u5)))))
            tl.debug_barrier()
            distance = tl.load(DISTANCE + every, mask=every < s, other=0)
            sums = tl.cumsum(tl.where(every < s, tl.maximum(weight * distance, 1e-30), 0), 0)
            tl.store(SUMS + every, sums, mask=every < s)
            aim = (j + u) / count * tl.max(sums, 0)
            tl.debug_barrier()
            # The first point whose running sum passes the aim: its block, and its place there.
            end = block * BS + BS - 1
            ends = tl.load(SUMS + end, mask=end < s, other=FAR)
            first = tl.minimum(tl.sum((ends[None, :] <= aim[:, None]).to(tl.int32), 1) * BS, s - 1)
            inside = first[:, None] + place[None, :]
            before_aim = tl.load(SUMS + inside, mask=inside < s, other=FAR) <= aim[:, None]
            seed = tl.minimum(first + tl.sum(before_aim.to(tl.int32), 1), s - 1)
            new = j < count
            c = tl.load(X + seed[:, None] * D + d, mask=new[:, None] & (d < D), other=0)
            square = tl.where(new, tl.sum(c.to(tl.float32) * c.to(tl.float32), 1), FAR)
            for at in range(0, s, B):
                i = at + tl.arange(0, B)
                apart = square[None, :] - 2 * tl.dot(_points(X, 0, i, s, d, D), tl.trans(c), input_precision=PREC)
                near, nearest = tl.min(apart, 1, return_indices=True)
                near = tl.maximum(near + tl.load(SQUARE + i, mask=i < s, other=0), 0)
                before = tl.load(DISTANCE + i, mask=i < s, other=0)
                before = tl.where(known > 0, before, FAR)
                nearer = (near >= before) == 0  # NaN has a group too
                tl.store(DISTANCE + i, tl.where(nearer, near, before), mask=i < s)
                tl.store(GROUP + i, nearest + known, mask=(i < s) & nearer)
            known += count


@triton.jit(do_not_specialize=["s", "m"])
def _nearest(X, C, GROUP, s, m, D: tl.constexpr, PD: tl.constexpr, PREC: tl.constexpr, B: tl.constexpr,
             BM: tl.constexpr):
    """GROUP (h, s): the nearest of the centres C (h, m, D), float32, the lowest index among equals."""
    h, i, d = tl.program_id(0).to(tl.int64), tl.program_id(1) * B + tl.arange(0, B), tl.arange(0, PD)
    x = _points(X, h, i, s, d, D)
    least, best = tl.full([B], FAR, tl.float32), tl.zeros([B], tl.int32)
    for at in range(0, m, BM):
        j = at + tl.arange(0, BM)
        c = _points(C, h, j, m, d, D)
        square = tl.where(j < m, tl.sum(c * c, 1), FAR)
        apart = square[None, :] - 2 * tl.dot(x.to(tl.float32), tl.trans(c), input_precision=PREC)
        near, nearest = tl.min(apart, 1, return_indices=True)
        best = tl.where(near < least, at + nearest, best)
        least = tl.minimum(near, least)
    tl.store(GROUP + h * s + i, best, mask=i < s)


@triton.jit(do_not_specialize=["s", "m"])
def _group_means(X, V, GROUP, W, INVERSE, R, CENTRE, SIZE, VALUE, COUNT, MASS, s, m, LEAST: tl.constexpr,
                 D: tl.constexpr, PD: tl.constexpr, DV: tl.constexpr, PV: tl.constexpr, WEIGHTED: tl.constexpr,
                 VALUES: tl.constexpr, PREC: tl.constexpr, B: tl.constexpr, BM: tl.constexpr):
    """Of the groups: weighted means CENTRE (h, m, D), 0 without a point, and their weights SIZE (h, m).

    If VALUES, also means of V, VALUE (h, m, DV), and sums of 1/pi, COUNT, and of r/pi, MASS (h, m).
    """
    h, j = tl.program_id(0).to(tl.int64), tl.program_id(1) * BM + tl.arange(0, BM)
    d, l = tl.arange(0, PD), tl.arange(0, PV)
    points, size = tl.zeros([BM, PD], tl.float32), tl.zeros([BM, B], tl.float32)
    if VALUES:
        values = tl.zeros([BM, PV], tl.float32)
        count, mass = tl.zeros([BM, B], tl.float32), tl.zeros([BM, B], tl.float32)
    for at in range(0, s, B):
        i = at + tl.arange(0, B)
        mine = (tl.load(GROUP + h * s + i, mask=i < s, other=-1)[None, :] == j[:, None]).to(tl.float32)
        w = tl.load(W + h * s + i, mask=i < s, other=0) if WEIGHTED else (i < s).to(tl.float32)
        points += tl.dot(mine, _points(X, h, i, s, d, D).to(tl.float32) * w[:, None], input_precision=PREC)
        size += mine * w[None, :]
        if VALUES:
            values += tl.dot(mine, _points(V, h, i, s, l, DV).to(tl.float32) * w[:, None], input_precision=PREC)
            mine *= tl.load(INVERSE + h * s + i, mask=i < s, other=0)[None, :]
            count += mine
            mass += mine * tl.load(R + h * s + i, mask=i < s, other=0)[None, :]
    total = tl.sum(size, 1)
    divisor = tl.where(total > 0, total, 1)[:, None]
    centre = (points / divisor).to(CENTRE.dtype.element_ty)
    tl.store(CENTRE + (h * m + j[:, None]) * D + d, centre, mask=(j[:, None] < m) & (d < D))
    tl.store(SIZE + h * m + j, total, mask=j < m)
    if VALUES:
        tl.store(VALUE + (h * m + j[:, None]) * DV + l, values / divisor, mask=(j[:, None] < m) & (l < DV))
        tl.store(COUNT + h * m + j, tl.maximum(tl.sum(count, 1), LEAST), mask=j < m)
        tl.store(MASS + h * m + j, tl.sum(mass, 1), mask=j < m)


@triton.jit
def _with_logits(top, total, sums, x):
    """Logits (base 2) more of an online softmax: their numerators, the largest logit of each row, the sum, and the
    unnormalised output, to which the numerators' values are to be added."""
    higher = tl.maximum(top, tl.max(x, 1))
    p = tl.exp2(x - higher[:, None])
    fade = tl.exp2(top - higher)
    return p, higher, total * fade + tl.sum(p, 1), sums * fade[:, None]


@triton.jit
def _with_block(top, total, sums, x, value, PREC: tl.constexpr):
    """Keys more of an online softmax, the same of all rows."""
    p, top, total, sums = _with_logits(top, total, sums, x)
    return top, total, sums + tl.dot(p.to(value.dtype), value, input_precision=PREC)


@triton.jit(do_not_specialize=["k", "n", "each", "G"])
def _rows(C, K, V, TOP, TOTAL, OUT, scale, k, n, each, G, D: tl.constexpr, PD: tl.constexpr, DV: tl.constexpr,
          PV: tl.constexpr, PREC: tl.constexpr, R: tl.constexpr, B: tl.constexpr):
    """Attention of R exact queries to `each` of the keys: largest logit (base 2), sum, and unnormalised output."""
    h, part, parts = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.num_programs(1)
    g, i, d, l = h // G, tl.program_id(2) * R + tl.arange(0, R), tl.arange(0, PD), tl.arange(0, PV)
    c = _points(C, h, i, k, d, D)
    top, total, sums = tl.full([R], -FAR, tl.float32), tl.zeros([R], tl.float32), tl.zeros([R, PV], tl.float32)
    end = tl.minimum(n, (part + 1) * each)
    for at in range(part * each, end, B):
        j = at + tl.arange(0, B)
        key, value = _points(K, g, j, n, d, D), _points(V, g, j, n, l, DV)
        x = tl.where(j[None, :] < end, tl.dot(c, tl.trans(key), input_precision=PREC) * scale, -FAR)
        top, total, sums = _with_block(top, total, sums, x, value, PREC)
    at = (h * parts + part) * k + i
    tl.store(TOP + at, top, mask=i < k)
    tl.store(TOTAL + at, total, mask=i < k)
    tl.store(OUT + at[:, None] * DV + l, sums, mask=(i[:, None] < k) & (l < DV))


@triton.jit(do_not_specialize=["k", "parts"])
def _join(TOP, TOTAL, PARTS, SIZE, OUT, LOGSUM, WEIGHT, k, parts, LEAST: tl.constexpr, DV: tl.constexpr,
          PV: tl.constexpr, PK: tl.constexpr, PP: tl.constexpr):
    """Joins the parts of _rows: OUT (h, k, DV), LOGSUM (h, k) in base 2; WEIGHT (h, k) from the groups' sizes."""
    h, i, l, j = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.arange(0, PV), tl.arange(0, PK)
    part = tl.arange(0, PP)
    at = (h * parts + part) * k + i
    tops = tl.load(TOP + at, mask=part < parts, other=-FAR)
    top = tl.max(tops, 0)
    fade = tl.exp2(tops - top)
    total = tl.sum(fade * tl.load(TOTAL + at, mask=part < parts, other=0), 0)
    sums = tl.load(PARTS + at[:, None] * DV + l, mask=(part[:, None] < parts) & (l < DV), other=0)
    tl.store(OUT + (h * k + i) * DV + l, tl.sum(fade[:, None] * sums, 0) / total, mask=l < DV)
    tl.store(LOGSUM + h * k + i, top + tl.log2(total))
    sizes = tl.where(j < k, tl.maximum(tl.load(SIZE + h * k + j, mask=j < k, other=0), LEAST), 0)
    tl.store(WEIGHT + h * k + i, tl.sum(tl.where(j == i, sizes, 0), 0) * k / tl.sum(sizes, 0))


@triton.jit(do_not_specialize=["k", "n", "G"])
def _received(C, K, LOGSUM, WEIGHT, OUT, scale, k, n, G, D: tl.constexpr, PD: tl.constexpr, PREC: tl.constexpr,
              R: tl.constexpr, B: tl.constexpr):
    """OUT (h, n): the weighted mean of the exact queries' rows of S."""
    h, j, d = tl.program_id(1).to(tl.int64), tl.program_id(0) * B + tl.arange(0, B), tl.arange(0, PD)
    key = _points(K, h // G, j, n, d, D)
    sums = tl.zeros([B], tl.float32)
    for at in range(0, k, R):
        i = at + tl.arange(0, R)
        logsum = tl.load(LOGSUM + h * k + i, mask=i < k, other=0)
        w = tl.load(WEIGHT + h * k + i, mask=i < k, other=0)
        x = tl.dot(key, tl.trans(_points(C, h, i, k, d, D)), input_precision=PREC) * scale - logsum[None, :]
        sums += tl.sum(tl.exp2(x) * w[None, :], 1)
    tl.store(OUT + h * n + j, sums / k, mask=j < n)


@triton.jit(do_not_specialize=["n", "count", "u"])
def _sample_keys(R, UPTO, FACTOR, n, count, u, CAPS: tl.constexpr, B: tl.constexpr):
    """UPTO (h, n): how many tokens up to each are taken by a systematic sample of `count`; FACTOR (h): c of its pi."""
    h, factor, more, rounds = tl.program_id(0).to(tl.int64), count + 0.0, 1, 0
    while (rounds < CAPS) & (more > 0):
        rest, certain = tl.zeros([B], tl.float32), tl.zeros([B], tl.float32)
        for at in range(0, n, B):
            j = at + tl.arange(0, B)
            share = tl.load(R + h * n + j, mask=j < n, other=0) / 2 + 0.5 / n
            full = factor * share >= 1
            certain += tl.where(full & (j < n), 1.0, 0.0)
            rest += tl.where(full | (j >= n), 0.0, share)
        better = (count - tl.sum(certain, 0)) / tl.maximum(tl.sum(rest, 0), 1e-30)
        more = (better > factor * (1 + 1e-6)).to(tl.int32)
        factor = better
        rounds += 1
    sum = 0.0
    for at in range(0, n, B):
        j = at + tl.arange(0, B)
        share = tl.load(R + h * n + j, mask=j < n, other=0) / 2 + 0.5 / n
        pi = tl.where(j < n, tl.minimum(factor * share, 1), 0)
        sums = sum + tl.cumsum(pi, 0)
        # The sum is `count` to rounding only: the last token takes what is left.
        upto = tl.where(j >= n - 1, count, tl.minimum(tl.ceil(sums - u), count)).to(tl.int32)
        tl.store(UPTO + h * n + j, upto, mask=j < n)
        sum = tl.max(sums, 0)
    tl.store(FACTOR + h, factor)


@triton.jit(do_not_specialize=["n", "s", "G"])
def _gather_keys(K, V, R, UPTO, FACTOR, TOKENS, PI, XK, XV, RECEIVED, P, INVERSE, n, s, G, LEAST: tl.constexpr,
                 ALL: tl.constexpr, D: tl.constexpr, PD: tl.constexpr, DV: tl.constexpr, PV: tl.constexpr,
                 B: tl.constexpr):
    """TOKENS, PI (h, s): the tokens that UPTO (h, n) takes, or all, and their pi; keys, values and weights there."""
    h, i = tl.program_id(0).to(tl.int64), tl.program_id(1) * B + tl.arange(0, B)
    d, l = tl.arange(0, PD), tl.arange(0, PV)
    if ALL:
        at = tl.minimum(i, n - 1)
        pi = tl.full([B], 1.0, tl.float32)
    else:  # the first token up to which more than i are taken
        low, at, width = tl.zeros([B], tl.int32), tl.zeros([B], tl.int32) + (n - 1), n
        while width > 0:
            middle = (low + at) // 2
            passed = tl.load(UPTO + h * n + middle) > i
            at = tl.where(passed, middle, at)
            low = tl.where(passed, low, tl.minimum(middle + 1, at))
            width = width // 2
    received = tl.load(R + h * n + at)
    if not ALL:
        pi = tl.minimum(tl.load(FACTOR + h) * (received / 2 + 0.5 / n), 1)
    tl.store(TOKENS + h * s + i, at.to(tl.int64), mask=i < s)
    tl.store(PI + h * s + i, pi, mask=i < s)
    tl.store(RECEIVED + h * s + i, received, mask=i < s)
    tl.store(INVERSE + h * s + i, 1 / pi, mask=i < s)
    tl.store(P + h * s + i, tl.maximum(n * received, LEAST) / pi, mask=i < s)
    key, value = (i[:, None] < s) & (d < D), (i[:, None] < s) & (l < DV)
    from_ = (h // G) * n + at
    key_at, value_at = (h * s + i[:, None]) * D + d, (h * s + i[:, None]) * DV + l
    tl.store(XK + key_at, tl.load(K + from_[:, None] * D + d, mask=key, other=0), mask=key)
    tl.store(XV + value_at, tl.load(V + from_[:, None] * DV + l, mask=value, other=0), mask=value)


@triton.jit
def _feature_block(c, L, h, bias, scale, m, d, j, D: tl.constexpr, PREC: tl.constexpr):
    """softmax(c L'/sqrt d + b): rows of features (base 2)."""
    x = tl.dot(c, tl.trans(_points(L, h, j, m, d, D)), input_precision=PREC) * scale + bias[None, :]
    x = tl.exp2(x - tl.max(x, 1)[:, None])
    return x / tl.sum(x, 1)[:, None]


@triton.jit(do_not_specialize=["k", "m"])
def _features(C, WEIGHT, OUTPUTS, L, PRIOR, COUNT, MASS, BIAS, SCALE, SCALED, REST, scale, k, m, SHARE: tl.constexpr,
              MOST: tl.constexpr, FLOOR: tl.constexpr, D: tl.constexpr, PD: tl.constexpr, DV: tl.constexpr,
              PV: tl.constexpr, PM: tl.constexpr, PREC: tl.constexpr, R: tl.constexpr, BM: tl.constexpr):
    """BIAS (h, m) in base 2, SCALE (h, m), SCALED (h, k, m) = F sqrt(D), REST (h, k, DV) = O - F Y0."""
    h, d, l, j = tl.program_id(0).to(tl.int64), tl.arange(0, PD), tl.arange(0, PV), tl.arange(0, PM)
    bias = tl.log2(tl.load(COUNT + h * m + j, mask=j < m, other=1))
    bias = tl.where(j < m, bias, -FAR)
    mass = tl.load(MASS + h * m + j, mask=j < m, other=0)
    mass = mass / tl.sum(mass, 0)
    mean = tl.zeros([PM], tl.float32)
    for sweep in range(2):
        if sweep == 1:
            change = tl.log((mass + SHARE / m) / (mean + SHARE / m))
            bias += tl.where(j < m, tl.minimum(tl.maximum(change, -MOST), MOST) * 1.4426950408889634, 0)
        mean = tl.zeros([PM], tl.float32)
        for at in range(0, k, R):
            i = at + tl.arange(0, R)
            f = _feature_block(_points(C, h, i, k, d, D), L, h, bias, scale, m, d, j, D, PREC)
            w = tl.load(WEIGHT + h * k + i, mask=i < k, other=0)
            mean += tl.sum(f * w[:, None], 0)
        mean = mean / k
    root = tl.rsqrt(tl.maximum(mean, FLOOR / m))
    tl.store(BIAS + h * m + j, bias, mask=j < m)
    tl.store(SCALE + h * m + j, root, mask=j < m)
    for at in range(0, k, R):
        i = at + tl.arange(0, R)
        f = _feature_block(_points(C, h, i, k, d, D), L, h, bias, scale, m, d, j, D, PREC)
        tl.store(SCALED + (h * k + i[:, None]) * m + j, f * root[None, :], mask=(i[:, None] < k) & (j < m))
    tl.debug_barrier()
    for at in range(0, k, R):
        i = at + tl.arange(0, R)
        rest = _points(OUTPUTS, h, i, k, l, DV)
        for first in range(0, m, BM):
            e = first + tl.arange(0, BM)
            prior = _points(PRIOR, h, e, m, l, DV) / tl.load(SCALE + h * m + e, mask=e < m, other=1)[:, None]
            rest -= tl.dot(_points(SCALED, h, i, k, e, m), prior, input_precision=PREC)
        tl.store(REST + (h * k + i[:, None]) * DV + l, rest, mask=(i[:, None] < k) & (l < DV))


@triton.jit
def _root_of_inverse(x, size, P: tl.constexpr):
    """U (P x P), upper triangular, with U U' = x^-1, by Cholesky's factors of a positive definite x; beyond `size`
    what x has there, the identity."""
    i = tl.arange(0, P)
    for step in range(size):
        column = tl.sum(tl.where(i[None, :] == step, x, 0), 1)
        root = tl.rsqrt(tl.sum(tl.where(i == step, column, 0), 0))
        column = tl.where(i == step, 1, column) * root  # of U down to `step`, of the Cholesky factor below
        below = tl.where(i > step, column, 0)
        rest = tl.where(i[:, None] == step, 0, x) - column[:, None] * below[None, :]
        x = tl.where(i[None, :] == step, column[:, None], rest)
    return tl.where(i[:, None] <= i[None, :], x, 0)


@triton.jit
def _block(X, at, row, column, k, P: tl.constexpr):
    i, j = row * P + tl.arange(0, P), column * P + tl.arange(0, P)
    return tl.load(X + at + i[:, None] * k + j, mask=(i[:, None] < k) & (j < k), other=0)


@triton.jit
def _put_block(X, at, row, column, k, x, P: tl.constexpr):
    i, j = row * P + tl.arange(0, P), column * P + tl.arange(0, P)
    tl.store(X + at + i[:, None] * k + j, x, mask=(i[:, None] < k) & (j < k))


@triton.jit(do_not_specialize=["k", "m"])
def _ridges(SCALED, WEIGHT, REST, SYSTEM, HALF, DUAL, ERROR, k, m, l0: tl.constexpr, l1: tl.constexpr,
            l2: tl.constexpr, l3: tl.constexpr, DV: tl.constexpr, PV: tl.constexpr, PREC: tl.constexpr, P: tl.constexpr,
            BM: tl.constexpr, BLOCKS: tl.constexpr):
    """DUAL (h, ridges, k, DV) = M^-1 T and ERROR (h, ridges), leave-one-out. SYSTEM (h, ridges, k, k) is room for M,
    HALF (h, ridges, k, DV) for U' T.

    M becomes U, upper triangular, with U U' = M^-1, in blocks of P x P from M's lower ones and zeros above: with p the
    present one, U_pp is the root of the inverse of M_pp, M_ip <- M_ip U_pp for i other than p, and M_ij -= M_ip M_jp'
    for j > p where i <= p (U) or i >= j (M).
    """
    h, r, ridges = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.num_programs(1)
    at, own = (h * ridges + r) * k * k, tl.arange(0, P)
    same, unit = own[:, None] == own[None, :], 0.0
    for a in range(BLOCKS):
        i = a * P + own
        w = tl.load(WEIGHT + h * k + i, mask=i < k, other=0)
        for b in range(BLOCKS):
            gram = tl.zeros([P, P], tl.float32)
            if b <= a:
                for c in range(0, m, BM):
                    e = c + tl.arange(0, BM)
                    x, y = _points(SCALED, h, i, k, e, m), _points(SCALED, h, b * P + own, k, e, m)
                    gram += tl.dot(x, tl.trans(y), input_precision=PREC)
            if b == a:
                unit += tl.sum(tl.sum(tl.where(same, gram, 0), 1) * w, 0) / k
            _put_block(SYSTEM, at, a, b, k, gram, P)
    tl.debug_barrier()
    penalty = unit * tl.where(r == 0, l0, tl.where(r == 1, l1, tl.where(r == 2, l2, l3)))
    for p in range(BLOCKS):
        i = p * P + own
        size = tl.minimum(P, k - p * P)
        w = tl.load(WEIGHT + h * k + i, mask=i < k, other=1)
        # Each diagonal block gets its penalty when its turn comes: what is subtracted before commutes with it.
        x = _block(SYSTEM, at, p, p, k, P) + tl.where(same, (penalty / w)[:, None], 0)
        beyond = (own[:, None] >= size) | (own[None, :] >= size)
        root = _root_of_inverse(tl.where(beyond, same.to(tl.float32), x), size, P)
        tl.debug_barrier()
        _put_block(SYSTEM, at, p, p, k, root, P)
        for a in range(BLOCKS):
            if a != p:
                x = tl.dot(_block(SYSTEM, at, a, p, k, P), root, input_precision=PREC)
                tl.debug_barrier()
                _put_block(SYSTEM, at, a, p, k, x, P)
        tl.debug_barrier()
        for b in range(p + 1, BLOCKS):
            for a in range(BLOCKS):
                if (a <= p) | (a >= b):
                    x = _block(SYSTEM, at, a, b, k, P)
                    x -= tl.dot(_block(SYSTEM, at, a, p, k, P), tl.trans(_block(SYSTEM, at, b, p, k, P)),
                                input_precision=PREC)
                    _put_block(SYSTEM, at, a, b, k, x, P)
        tl.debug_barrier()
    l, error = tl.arange(0, PV), 0.0
    for b in range(BLOCKS):
        half = tl.zeros([P, PV], tl.float32)
        for a in range(b + 1):
            rest = _points(REST, h, a * P + own, k, l, DV)
            half += tl.dot(tl.trans(_block(SYSTEM, at, a, b, k, P)), rest, input_precision=PREC)
        _put_points(HALF, h * ridges + r, b * P + own, k, l, half, DV)
    tl.debug_barrier()
    for a in range(BLOCKS):
        i = a * P + own
        dual, diagonal = tl.zeros([P, PV], tl.float32), tl.zeros([P], tl.float32)
        for b in range(a, BLOCKS):
            root = _block(SYSTEM, at, a, b, k, P)
            dual += tl.dot(root, _points(HALF, h * ridges + r, b * P + own, k, l, DV), input_precision=PREC)
            diagonal += tl.sum(root * root, 1)
        off = tl.where(i < k, tl.load(WEIGHT + h * k + i, mask=i < k, other=0), 0)
        left = dual / tl.where(i < k, diagonal, 1)[:, None]
        error += tl.sum(off * tl.sum(left * left, 1), 0)
        _put_points(DUAL, h * ridges + r, i, k, l, dual, DV)
    tl.store(ERROR + h * ridges + r, error)


@triton.jit(do_not_specialize=["k", "m"])
def _values(SCALED, SCALE, PRIOR, DUAL, ERROR, OUT, RIDGE, k, m, RIDGES: tl.constexpr, TIE: tl.constexpr,
            DV: tl.constexpr, PV: tl.constexpr, PREC: tl.constexpr, B: tl.constexpr, BM: tl.constexpr):
    """OUT (h, m, DV) = Y0 + D F M^-1 T with the ridge of the least error; RIDGE (h)."""
    h, j, l = tl.program_id(0).to(tl.int64), tl.program_id(1) * BM + tl.arange(0, BM), tl.arange(0, PV)
    best, least = 0, tl.load(ERROR + h * RIDGES)
    for r in range(1, RIDGES):
        error = tl.load(ERROR + h * RIDGES + r)
        less = error < (1 - TIE) * least
        best = tl.where(less, r, best)
        least = tl.where(less, error, least)
    sums = tl.zeros([BM, PV], tl.float32)
    for at in range(0, k, B):
        i = at + tl.arange(0, B)
        feature, row = (i[None, :] < k) & (j[:, None] < m), (i[:, None] < k) & (l < DV)
        scaled = tl.load(SCALED + (h * k + i[None, :]) * m + j[:, None], mask=feature, other=0)
        dual = tl.load(DUAL + ((h * RIDGES + best) * k + i[:, None]) * DV + l, mask=row, other=0)
        sums += tl.dot(scaled, dual, input_precision=PREC)
    root = tl.load(SCALE + h * m + j, mask=j < m, other=0)
    out = _points(PRIOR, h, j, m, l, DV) + root[:, None] * sums
    tl.store(OUT + (h * m + j[:, None]) * DV + l, out.to(OUT.dtype.element_ty), mask=(j[:, None] < m) & (l < DV))
    if tl.program_id(1) == 0:
        tl.store(RIDGE + h, best.to(tl.int64))


@triton.jit(do_not_specialize=["m", "n"])
def _answer(Q, L, BIAS, Y, OUT, scale, m, n, D: tl.constexpr, PD: tl.constexpr, DV: tl.constexpr, PV: tl.constexpr,
            PREC: tl.constexpr, B: tl.constexpr, BM: tl.constexpr, ONCE: tl.constexpr, EACH: tl.constexpr):
    """OUT (h, n, DV) = softmax(q L'/sqrt d + b) Y, the bias in base 2, for EACH blocks of queries. ONCE: BM >= m."""
    h, d, l, j = tl.program_id(1).to(tl.int64), tl.arange(0, PD), tl.arange(0, PV), tl.arange(0, BM)
    if ONCE:
        landmarks, values = tl.trans(_points(L, h, j, m, d, D)), _points(Y, h, j, m, l, DV)
        bias = tl.load(BIAS + h * m + j, mask=j < m, other=-FAR)
    for block in range(EACH):
        i = (tl.program_id(0) * EACH + block) * B + tl.arange(0, B)
        q = _points(Q, h, i, n, d, D)
        if ONCE:
            x = tl.dot(q, landmarks, input_precision=PREC) * scale + bias[None, :]
            p = tl.exp2(x - tl.max(x, 1)[:, None])
            total = tl.sum(p, 1)
            sums = tl.dot(p.to(values.dtype), values, input_precision=PREC)
        else:
            top, total, sums = tl.full([B], -FAR, tl.float32), tl.zeros([B], tl.float32), tl.zeros([B, PV], tl.float32)
            for at in range(0, m, BM):
                e = at + j
                bias = tl.load(BIAS + h * m + e, mask=e < m, other=-FAR)
                x = tl.dot(q, tl.trans(_points(L, h, e, m, d, D)), input_precision=PREC) * scale + bias[None, :]
                top, total, sums = _with_block(top, total, sums, x, _points(Y, h, e, m, l, DV), PREC)
        out = (sums / total[:, None]).to(OUT.dtype.element_ty)
        tl.store(OUT + (h * n + i[:, None]) * DV + l, out, mask=(i[:, None] < n) & (l < DV))


@triton.jit
def _around(KEYS, AROUND, block, i, w):
    """The keys at places i of those around a block, and which of them are there."""
    there = tl.load(AROUND + block * w + i, mask=i < w, other=0) != 0
    return tl.load(KEYS + block * w + i, mask=there, other=-1), there


@triton.jit
def _strong(STRONG, KEYS, AROUND, owner, ok, block, place, w, around, t, B: tl.constexpr, BW: tl.constexpr):
    """The key at a place of each query's strongest, and whether it is not one of those around the block."""
    key = tl.load(STRONG + owner * t + place, mask=ok, other=0)
    inside = tl.zeros([B], tl.int32)
    for at in range(0, around, BW):
        window, _ = _around(KEYS, AROUND, block, at + tl.arange(0, BW), w)
        inside += tl.sum((key[:, None] == window[None, :]).to(tl.int32), 1)
    return key, ok & (inside == 0)


@triton.jit(do_not_specialize=["n", "m", "k", "b", "w", "t"])
def _answer_near(Q, K, V, L, BIAS, Y, COUNT, NEAR, TOKENS, THERE, KEYS, AROUND, OWNER, STRONG, GROUP, OUT, scale, n, m,
                 k, b, w, t, D: tl.constexpr, PD: tl.constexpr, DV: tl.constexpr, PV: tl.constexpr, PREC: tl.constexpr,
                 B: tl.constexpr, BW: tl.constexpr, BM: tl.constexpr):
    """OUT (h, n, DV) of a block of queries: one softmax over near keys, if NEAR (h), and over the landmarks, each with
    the number COUNT (h, m) of its keys less those that are near.

    TOKENS (blocks, b) are the block's queries if THERE, KEYS (blocks, w) the keys around if AROUND, OWNER (h, n) the
    nearest exact queries, STRONG (h, k, t) their strongest keys, GROUP (h, n) the keys' landmarks. The bias is in base
    2.
    """
    block, h = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    i, d, l = tl.arange(0, B), tl.arange(0, PD), tl.arange(0, PV)
    ok = tl.load(THERE + block * b + i, mask=i < b, other=0) != 0
    token = tl.load(TOKENS + block * b + i, mask=ok, other=n)
    q = _points(Q, h, token, n, d, D)
    owner = h * k + tl.load(OWNER + h * n + token, mask=ok, other=0)
    near = tl.load(NEAR + h) != 0
    around, strongest = tl.where(near, w, 0), tl.where(near, t, 0)
    top, total, sums = tl.full([B], -FAR, tl.float32), tl.zeros([B], tl.float32), tl.zeros([B, PV], tl.float32)
    for at in range(0, around, BW):
        key, there = _around(KEYS, AROUND, block, at + tl.arange(0, BW), w)
        key = tl.where(there, key, n)
        x = tl.dot(q, tl.trans(_points(K, h, key, n, d, D)), input_precision=PREC) * scale
        x = tl.where(there[None, :], x, -FAR)
        top, total, sums = _with_block(top, total, sums, x, _points(V, h, key, n, l, DV), PREC)
    for place in range(strongest):
        key, beside = _strong(STRONG, KEYS, AROUND, owner, ok, block, place, w, around, t, B, BW)
        key = tl.where(beside, key, n)
        x = tl.sum(q.to(tl.float32) * _points(K, h, key, n, d, D).to(tl.float32), 1) * scale
        x = tl.where(beside, x, -FAR)
        p, top, total, sums = _with_logits(top, total, sums, x[:, None])
        sums += p * _points(V, h, key, n, l, DV).to(tl.float32)
    for first in range(0, m, BM):
        j = first + tl.arange(0, BM)
        left = tl.zeros([B, BM], tl.float32) + tl.load(COUNT + h * m + j, mask=j < m, other=0)[None, :]
        for at in range(0, around, BW):
            key, there = _around(KEYS, AROUND, block, at + tl.arange(0, BW), w)
            group = tl.load(GROUP + h * n + key, mask=there, other=-1)
            left -= tl.sum((group[:, None] == j[None, :]).to(tl.float32), 0)[None, :]
        for place in range(strongest):
            key, beside = _strong(STRONG, KEYS, AROUND, owner, ok, block, place, w, around, t, B, BW)
            group = tl.load(GROUP + h * n + key, mask=beside, other=-1)
            left -= (group[:, None] == j[None, :]).to(tl.float32)
        bias = tl.load(BIAS + h * m + j, mask=j < m, other=0)
        x = tl.dot(q, tl.trans(_points(L, h, j, m, d, D)), input_precision=PREC) * scale + bias[None, :]
        x = tl.where(left > 0, x + tl.log2(tl.maximum(left, 1)), -FAR)
        top, total, sums = _with_block(top, total, sums, x, _points(Y, h, j, m, l, DV), PREC)
    out = (sums / total[:, None]).to(OUT.dtype.element_ty)
    tl.store(OUT + (h * n + token[:, None]) * DV + l, out, mask=ok[:, None] & (l < DV))


def serves(q, v, sizes):
    """Whether the kernels take such tensors (h, n, d): else _ridge_regression.py does."""
    wide = max(q.shape[-1], v.shape[-1])
    return (q.dtype in TYPES and wide <= MOST_DIMENSION
            and _side(sizes.landmarks) * _side(q.shape[-1]) * q.element_size() <= MOST_OPERAND_BYTES)


def _side(size):
    return max(16, triton.next_power_of_2(size))


def _exact():
    """Of products in single precision: as exact as it."""
    return "ieee" if torch.version.hip else "tf32x3"


def _short(dtype):
    """Of products of which one side is rounded to this type, or is to be: with ten bits where it has no more."""
    return _exact() if dtype == torch.float32 else "tf32"


def kernel_ridge(q, k, v, sizes, seed, rows=None):
    """As _ridge_regression.kernel_ridge without a choice; k and v (h / G, n, ...) may have fewer heads."""
    return _Pass(q, k, v, sizes, seed).run(rows)


def choose_rows(q, sizes, seed):
    """As _ridge_regression.choose_rows without a choice."""
    rows = _Pass(q, q, q, sizes, seed).choose_rows()
    return rows._replace(centres=rows.centres.float())


def choose_keys(k, queries, query_groups, received, sizes, seed):
    """As _ridge_regression.choose_keys."""
    keys, inclusion, _, _, of_keys, _, _, groups = _Pass(k, k, k, sizes, seed).choose_keys(received)
    return Choice(queries, query_groups, keys, groups, of_keys, inclusion, None)


def answer_near(q, k, v, landmarks, bias, values, counts, near, choice):
    """As _near_keys.answer, but that values have the type of q."""
    (h, n, d), m, dv = q.shape, landmarks.shape[1], v.shape[-1]
    blocks = torch.arange(near.blocks(), device=q.device)
    (tokens, there), (keys, around) = near.queries(blocks), near.keys(blocks)
    out = torch.empty(h, n, dv, dtype=q.dtype, device=q.device)
    b, w = tokens.shape[1], keys.shape[1]
    _answer_near[(len(blocks), h)](
        q, k, v, landmarks.to(q.dtype).contiguous(), bias * LOG2E, values.to(q.dtype).contiguous(), counts, choice.near,
        tokens, there, keys, around, choice.query_groups, choice.strongest, choice.key_groups, out,
        LOG2E / math.sqrt(d), n, m, choice.strongest.shape[1], b, w, near.top, D=d, PD=_side(d), DV=dv, PV=_side(dv),
        PREC=_short(q.dtype), B=_side(b), BW=32, BM=min(64, _side(m)), num_warps=max(4, _side(b) // 8), num_stages=1)
    return out


class _Pass:
    """The launches of one call, and what they share."""

    def __init__(self, q, k, v, sizes, seed):
        self.q, self.k, self.v, self.sizes, self.seed = q, k, v, sizes, seed
        self.h, self.d, self.dv = q.shape[0], q.shape[-1], v.shape[-1]
        self.group = self.h // k.shape[0]
        self.key = dict(D=self.d, PD=_side(self.d))
        self.value = dict(DV=self.dv, PV=_side(self.dv))
        self.scale = LOG2E / math.sqrt(self.d)
        self.exact, self.short = _exact(), _short(q.dtype)

    def room(self, *shape, dtype=torch.float32):
        return torch.empty(self.h, *shape, dtype=dtype, device=self.q.device)

    def run(self, rows=None):
        s, rows = self.sizes, rows or self.choose_rows()
        centres = rows.centres.to(self.q.dtype)  # exactly
        outputs, weight, logsum = self.attend_rows(centres, rows.size)
        received = self.receive(centres, logsum, weight)
        keys, inclusion, xk, xv, of_keys, p, inverse, key_groups = self.choose_keys(received)
        prior, count, mass = self.room(s.landmarks, self.dv), self.room(s.landmarks), self.room(s.landmarks)
        landmarks, _ = self.group_means(xk, key_groups, p, s.landmarks, self.q.dtype, xv, inverse, of_keys, prior,
                                        count, mass)
        bias, values, ridge = self.fit(centres, weight, outputs, landmarks, prior, count, mass)
        out = self.answer(landmarks, bias, values)
        return out, Choice(rows.queries, rows.groups, keys, key_groups, of_keys, inclusion, ridge)

    def choose_keys(self, received):
        s, sampled = self.sizes, self.sample_keys(received)
        x, p = sampled[2], sampled[5]
        groups = self.seed_groups(x, p, s.landmarks, KEY_SEEDS)
        moved, _ = self.group_means(x, groups, p, s.landmarks, torch.float32)
        _nearest[(self.h, triton.cdiv(s.keys, 64))](
            x, moved, groups, s.keys, s.landmarks, **self.key, PREC=self.short, B=64, BM=32)
        return *sampled, groups

    def seed_groups(self, x, w, m, role):
        s = x.shape[1]
        groups = self.room(s, dtype=torch.int32)
        _seed[(self.h,)](
            x, x if w is None else w, groups, self.room(s), self.room(s), self.room(s), s, m,
            *uniforms(self.seed, role, BATCHES), **self.key, PS=max(128, triton.next_power_of_2(s)),
            PC=_side(-(-m // BATCHES)), BATCHES=BATCHES, WEIGHTED=w is not None, PREC=self.short, B=128,
            BL=256 if x.dtype == torch.float32 else 512, BS=64, num_warps=8)
        return groups

    def group_means(self, x, groups, w, m, dtype, v=None, inverse=None, received=None, value=None, count=None,
                    mass=None):
        centre, size = self.room(m, self.d, dtype=dtype), self.room(m)
        _group_means[(self.h, triton.cdiv(m, 16))](
            x, v, groups, w, inverse, received, centre, size, value, count, mass, x.shape[1], m, LEAST=LEAST_COUNT,
            **self.key, **self.value, WEIGHTED=w is not None, VALUES=v is not None, PREC=self.short, B=128, BM=16,
            num_warps=4)
        return centre, size

    def choose_rows(self):
        s = self.sizes
        queries = torch.empty(s.queries, dtype=torch.int64, device=self.q.device)
        x = self.room(s.queries, self.d, dtype=self.q.dtype)
        _draw_queries[(self.h, triton.cdiv(s.queries, 64))](
            self.q, queries, x, s.n, s.queries, *grid_of(s.n), *round_keys(self.seed), **self.key,
            WALKS=WALKS, B=64)
        groups = self.seed_groups(x, None, s.rows, QUERY_SEEDS)
        centres, size = self.group_means(x, groups, None, s.rows, self.q.dtype)
        return Rows(centres, size, queries, groups)

    def attend_rows(self, centres, size):
        s, k = self.sizes, self.sizes.rows
        block, tile = 64, 32 if k <= 32 else 64
        # Four programs for each multiprocessor of the largest GPUs, and at least four blocks of keys for each program.
        parts = max(1, min(triton.cdiv(s.n, 4 * block), 528 // (self.h * triton.cdiv(k, tile)) + 1))
        each = triton.cdiv(triton.cdiv(s.n, parts), block) * block
        parts = triton.cdiv(s.n, each)
        top, total, sums = self.room(parts, k), self.room(parts, k), self.room(parts, k, self.dv)
        _rows[(self.h, parts, triton.cdiv(k, tile))](
            centres, self.k, self.v, top, total, sums, self.scale, k, s.n, each, self.group, **self.key, **self.value,
            PREC=self.short, R=tile, B=block, num_warps=4)
        outputs, logsum, weight = self.room(k, self.dv), self.room(k), self.room(k)
        _join[(self.h, k)](
            top, total, sums, size, outputs, logsum, weight, k, parts, LEAST=LEAST_SIZE, **self.value, PK=_side(k),
            PP=_side(parts), num_warps=2)
        return outputs, weight, logsum

    def receive(self, centres, logsum, weight):
        received = self.room(self.sizes.n)
        _received[(triton.cdiv(self.sizes.n, 128), self.h)](
            centres, self.k, logsum, weight, received, self.scale, self.sizes.rows, self.sizes.n, self.group,
            **self.key, PREC=self.short, R=32, B=128, num_warps=4)
        return received

    def sample_keys(self, received):
        s, every = self.sizes, self.sizes.keys == self.sizes.n
        upto, factor = self.room(1 if every else s.n, dtype=torch.int32), self.room()
        if not every:
            block = min(4096, max(128, triton.next_power_of_2(s.n)))
            _sample_keys[(self.h,)](
                received, upto, factor, s.n, s.keys, uniforms(self.seed, KEY_SAMPLE, 1)[0],
                CAPS=CAP_ROUNDS, B=block, num_warps=max(4, block // 256))
        tokens, inclusion = self.room(s.keys, dtype=torch.int64), self.room(s.keys)
        xk, xv = self.room(s.keys, self.d, dtype=self.k.dtype), self.room(s.keys, self.dv, dtype=self.v.dtype)
        of_keys, p, inverse = self.room(s.keys), self.room(s.keys), self.room(s.keys)
        _gather_keys[(self.h, triton.cdiv(s.keys, 64))](
            self.k, self.v, received, upto, factor, tokens, inclusion, xk, xv, of_keys, p, inverse, s.n, s.keys,
            self.group, LEAST=LEAST_RECEIVED, ALL=every, **self.key, **self.value, B=64)
        return tokens, inclusion, xk, xv, of_keys, p, inverse

    def fit(self, centres, weight, outputs, landmarks, prior, count, mass):
        k, m, ridges = self.sizes.rows, self.sizes.landmarks, len(RIDGES)
        bias, scale, scaled, rest = self.room(m), self.room(m), self.room(k, m), self.room(k, self.dv)
        _features[(self.h,)](
            centres, weight, outputs, landmarks, prior, count, mass, bias, scale, scaled, rest, self.scale, k, m,
            SHARE=SHARE_FLOOR, MOST=MOST_CORRECTION, FLOOR=FEATURE_FLOOR, **self.key, **self.value, PM=_side(m),
            PREC=self.short, R=16, BM=64, num_warps=8)
        block = _side(k) if k <= 64 else 32
        system, error = self.room(ridges, k, k), self.room(ridges)
        half, dual = self.room(ridges, k, self.dv), self.room(ridges, k, self.dv)
        _ridges[(self.h, ridges)](
            scaled, weight, rest, system, half, dual, error, k, m, *RIDGES, **self.value,
            PREC=self.exact if k <= block else "ieee", P=block, BM=32, BLOCKS=triton.cdiv(k, block), num_warps=4,
            num_stages=1)
        values, ridge = self.room(m, self.dv, dtype=self.q.dtype), self.room(dtype=torch.int64)
        _values[(self.h, triton.cdiv(m, 32))](
            scaled, scale, prior, dual, error, values, ridge, k, m, RIDGES=ridges, TIE=TIE, **self.value,
            PREC=self.exact, B=32, BM=32)
        return bias, values, ridge

    def answer(self, landmarks, bias, values):
        n, m = self.sizes.n, self.sizes.landmarks
        out = torch.empty(*self.q.shape[:2], self.dv, dtype=self.q.dtype, device=self.q.device)
        once = _side(m) * max(_side(self.d), _side(self.dv)) * self.q.element_size() <= 2**14
        _answer[(triton.cdiv(n, 64 * 8), self.h)](
            self.q, landmarks, bias, values, out, self.scale, m, n, **self.key, **self.value, PREC=self.short,
            BM=_side(m) if once else 64, ONCE=once, B=64, EACH=8, num_warps=4)
        return out

