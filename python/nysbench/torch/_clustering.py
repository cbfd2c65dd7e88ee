# SPDX-License-Identifier: GPL-3.0-or-later
"""Tokens drawn and clustered: the landmarks of kernel_ridge and nystrom, the same tokens on every device.

Random numbers are Philox4x32-10 (Salmon, Moraes, Dror & Shaw, SC 2011). A number depends on its seed, role and index
alone, and is computed on the host, so that no device is waited for. A sample of tokens without replacement is a block
of a pseudorandom permutation, which every device computes for itself from the round keys.

Seeds of k-means++ are drawn in batches, by systematic sampling, not one after the other. A group that is left without a
point stays empty. h stands for all heads of all inputs, s for points that are clustered, m for groups.
"""
from __future__ import annotations

import functools
import math

import torch

# Roles: what a number is for.
PERMUTATION, QUERY_SEEDS, KEY_SEEDS, KEY_SAMPLE, POINT_SEEDS = range(5)

ROUNDS = 6  # of the permutation: four are enough against distinguishers (Luby & Rackoff, SIAM J. Comput. 17, 1988)
# Numbers past n are permuted again. They are fewer than sqrt(n) + 1 of n: after so many times none is left but by a
# chance of less than 1e-9 at n = 16, and of 1e-19 at n = 256.
WALKS = 16
BATCHES = 6  # draws of k-means++ seeds, each of several
AT_A_TIME = 4096  # points whose distances are held together
_MASK = 0xFFFFFFFF


def philox(seed, counter):
    """Four words of 32 bits for a seed of 64 bits and a counter of four words."""
    x = list(counter)
    low, high = seed & _MASK, seed >> 32 & _MASK
    for _ in range(10):
        a, b = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [b >> 32 ^ x[1] ^ low, b & _MASK, a >> 32 ^ x[3] ^ high, a & _MASK]
        low, high = (low + 0x9E3779B9) & _MASK, (high + 0xBB67AE85) & _MASK
    return tuple(x)


@functools.lru_cache(maxsize=1024)
def uniforms(seed, role, count):
    """`count` numbers in [0, 1), multiples of 2^-24: single precision has them exactly."""
    return tuple((philox(seed, (i, role, 0, 0))[0] >> 8) * 2.0**-24 for i in range(count))


@functools.lru_cache(maxsize=1024)
def round_keys(seed):
    """ROUNDS words of 31 bits, for `sample`."""
    return tuple(philox(seed, (i, PERMUTATION, 0, 0))[0] >> 1 for i in range(ROUNDS))


def grid_of(n):
    """(a, b) with n <= a b < n + sqrt(n) + 1: the permutation is one of the cells of an a x b grid."""
    a = math.isqrt(n - 1) + 1
    return a, -(-n // a)


def sample(n, count, seed, device):
    """`count` <= n of the numbers 0 ... n-1, without replacement; int64.

    A Feistel network on the grid, whose cells past n are permuted again (Black & Rogaway, CT-RSA 2002).
    """
    at = torch.arange(count, device=device)
    if count == n:
        return at
    a, b = grid_of(n)
    at = _permute(at, a, b, seed)
    for _ in range(WALKS):
        at = torch.where(at < n, at, _permute(at, a, b, seed))
    return at.clamp_max(n - 1)


def _permute(at, a, b, seed):
    row, column = at // b, at % b
    for i, key in enumerate(round_keys(seed)):
        if i % 2:
            column = (column + _mix(row, key)) % b
        else:
            row = (row + _mix(column, key)) % a
    return row * b + column


def _mix(x, key):
    """A hash of 32 bits by two multiplications (constants by C. Wellons, hash-prospector)."""
    x = (x + key) & _MASK
    x = (x ^ (x >> 16)) * 0x7FEB352D & _MASK
    x = (x ^ (x >> 15)) * 0x846CA68B & _MASK
    return x ^ (x >> 16)


def accumulated(x):
    """In the precision of sums: double for float64, else single."""
    return x.to(sums_type(x))


def sums_type(x):
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def gather(x, tokens):
    """x (h, n, ...) at tokens (h or 1, ...)."""
    flat = tokens.expand(x.shape[0], *tokens.shape[1:]).flatten(1)
    return x.gather(1, flat[..., None].expand(-1, -1, x.shape[-1])).unflatten(1, tokens.shape[1:])


def seed_groups(x, w, m, seed, role):
    """Groups (h, s) of the nearest of m seeds by k-means++ in batches: x (h, s, d), w (h, s) > 0.

    Each batch is a systematic sample by the weighted squared distances from the seeds so far, the first batch by those
    from the weighted mean.
    """
    square = x.square().sum(-1)
    mean = (w[..., None] * x).sum(1, keepdim=True) / w.sum(1)[:, None, None]
    distance = (x - mean).square().sum(-1)
    group = torch.zeros(x.shape[:2], dtype=torch.int32, device=x.device)
    known, numbers = 0, uniforms(seed, role, BATCHES)
    for i in range(BATCHES):
        count = (m - known) // (BATCHES - i)
        if count == 0:
            continue
        sums = (w * distance).clamp_min(1e-30).cumsum(1)
        at = (torch.arange(count, device=x.device, dtype=x.dtype) + numbers[i]) / count
        seeds = gather(x, torch.searchsorted(sums, at * sums[:, -1:], right=True).clamp_max(x.shape[1] - 1))
        near, nearest = _squared_distances(x, square, seeds).min(-1)
        nearer = torch.ones_like(near, dtype=torch.bool) if known == 0 else near < distance
        distance = torch.where(nearer, near, distance)
        group = torch.where(nearer, (nearest + known).int(), group)
        known += count
    return group


def _squared_distances(x, square, centres):
    return (square[..., None] - 2 * x @ centres.mT + centres.square().sum(-1)[:, None]).clamp_min(0)


def nearest_groups(x, centres, there=None):
    """Groups (h, s), int64: the nearest centre of each point, of those that are there (h, m), the lowest index among
    equals."""
    square = centres.square().sum(-1)[:, None]
    if there is not None:
        square = torch.where(there[:, None], square, torch.inf)
    return torch.cat([(square - 2 * accumulated(part) @ centres.mT).argmin(-1) for part in x.split(AT_A_TIME, 1)], 1)


def nearest_points(x, centres):
    """The nearest point (h, m) of x (h, s, d) to each centre."""
    return (x.square().sum(-1)[:, None] - 2 * centres @ x.mT).argmin(-1)


def sum_by(group, m, x):
    sums = x.new_zeros(x.shape[0], m, x.shape[-1])
    return sums.scatter_add(1, group.long()[..., None].expand(-1, -1, x.shape[-1]), x)


def group_means(group, m, x, w):
    """Weighted means (h, m, d) and weights (h, m) of the groups; the mean of no point is 0."""
    total = sum_by(group, m, w[..., None])
    return sum_by(group, m, w[..., None] * x) / torch.where(total > 0, total, 1), total[..., 0]
