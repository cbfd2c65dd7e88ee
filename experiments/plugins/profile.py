# SPDX-License-Identifier: GPL-3.0-or-later
"""Landmarks by what attends to what, for command(run="python3 experiments/plugins/profile.py") with `pairing: both`:
key points whose columns of attention span some exact rows of it, and means of the queries that attend alike to these
key points. O(nm(d + m)), and never all of S."""
import json
import sys

import numpy as np
from scipy.linalg import qr
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from scipy.special import softmax

folder = sys.argv[-1]
request = json.load(open(folder + "/request.json"))
Q, K = np.load(folder + "/queries.npy"), np.load(folder + "/keys.npy")
(n, d), m, rng = Q.shape, request["m"], np.random.default_rng(request["seed"])


def attention(queries, keys):
    return softmax(queries @ keys.T / np.sqrt(d), axis=1)


def start(x, k):
    """k of the rows as centres, each drawn in proportion to its squared distance from those before it (k-means++)."""
    centres, near = [rng.integers(n)], np.full(n, np.inf)
    while len(centres) < k:
        near = np.minimum(near, ((x - x[centres[-1]]) ** 2).sum(axis=1))
        centres.append(rng.choice(n, p=near / near.sum() if near.any() else None))
    return x[centres]


def means(x, group, k):
    return np.eye(k)[group].T @ x / np.bincount(group, minlength=k)[:, None]


def kmeans(x, k, steps):
    """Lloyd's iteration: the cost, and the group of each row. An empty group gets the row farthest from its centre."""
    centres, group = start(x, k), None
    for _ in range(steps):
        distance = cdist(x, centres, "sqeuclidean")
        before, group, near = group, distance.argmin(axis=1), distance.min(axis=1)
        for empty in np.setdiff1d(np.arange(k), group):
            far = np.where(np.bincount(group, minlength=k)[group] > 1, near, -1).argmax()
            group[far], near[far] = empty, 0
        if np.array_equal(group, before):
            break
        centres = means(x, group, k)
    return near.sum(), group


# Some exact rows R of attention, at the centres of small groups of queries, each with its group's size as weight.
k = min(max(4 * m, 64), n)
group = kmeans(Q, k, 25)[1]
C, W = means(Q, group, k), np.sqrt(np.bincount(group, minlength=k))[:, None]
R = attention(C, K)
G = W * R @ (W * R).T


def residual(x):
    """What the columns of attention at key points x cannot span of these rows, with a small ridge, and its gradient."""
    x = x.reshape(m, d)
    F = attention(C, x)
    A = W * F
    AC = A @ np.linalg.inv(A.T @ A + 3e-5 * (A**2).sum() * np.eye(m))
    GA = G @ AC
    dF = -2 * W * (GA - AC @ (A.T @ GA))
    dx = (F * (dF - (F * dF).sum(axis=1, keepdims=True))).T @ C / np.sqrt(d)
    return 1 - (A * GA).sum() / np.trace(G), dx.ravel() / np.trace(G)


# Key points: from the tokens whose columns are pivots, shrunk, a few steps downhill, whose cost does not depend on n.
pivots = qr(W * np.sqrt(R), mode="r", pivoting=True)[1][:m]
shrunk = 0.7 * K[pivots]
keys = minimize(residual, shrunk.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 10}).x.reshape(m, d)

# Query points: means of the queries that attend alike to these keys.
F = attention(Q, keys)
group = min((kmeans(F, m, 100) for _ in range(4)), key=lambda found: found[0])[1]
np.save(folder + "/query_picks.npy", means(Q, group, m))
np.save(folder + "/key_picks.npy", keys)
