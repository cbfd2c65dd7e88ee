# SPDX-License-Identifier: GPL-3.0-or-later
"""Random numbers that are the same on every device: Philox4x32-10 (Salmon, Moraes, Dror & Shaw, SC 2011).

A number depends on its seed, role and index alone, and is computed on the host, so that no device is waited for. A
sample of tokens without replacement is a block of a pseudorandom permutation, which every device computes for itself
from the round keys.
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
