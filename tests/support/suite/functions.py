# SPDX-License-Identifier: GPL-3.0-or-later
"""Attentions for tests/cli/suite.bats: one is good, the others break a promise."""
import numpy as np


def first_keys(q, k, v, keys=8):
    """Softmax over the first keys."""
    scores = q @ k[:, :keys].transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v[:, :keys]


first_keys.cost = lambda n, d, dv, keys: n * keys * (d + dv)
first_keys.sizes = {"keys": range(1, 300)}
first_keys.references = ["none: an example"]


def not_finite(q, k, v):
    out = v.copy()
    out[0, 5, 3] = np.nan
    return out


def changes(q, k, v):
    return v + np.random.default_rng().normal(size=v.shape)


def looks_ahead(q, k, v, causal):
    return np.broadcast_to(v.mean(1, keepdims=True), v.shape)


def idle(q, k, v):
    return v


def dear(q, k, v):
    return v


def picks(keys, m):
    return range(m)


def no_cost(q, k, v):
    return v


for function in not_finite, changes, looks_ahead:
    function.cost = lambda n, d, dv: 2 * n * dv
idle.cost = lambda n, d, dv: n
dear.cost = lambda n, d, dv: n * n * (d + dv)
