# SPDX-License-Identifier: GPL-3.0-or-later
"""Landmarks by what attends to what, for command(run="python3 experiments/plugins/profile_landmarks.py") with `pairing: both`:
key points, fitted so that the attention to them explains some exact rows of all attention, and means of the queries that attend most to one of
these key points: what the strategy `profile` does. O(nm(d + m)), and never all of S."""
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


def kmeans(x, k):
    """The group of each row, at most 5 steps after k-means++; an empty group gets the row farthest from its centre."""
    centres, near, group = [rng.integers(n)], np.full(n, np.inf), None
    while len(centres) < k:
        near = np.minimum(near, ((x - x[centres[-1]]) ** 2).sum(axis=1))
        centres.append(rng.choice(n, p=near / near.sum() if near.any() else None))
    centres = x[centres]
    for _ in range(5):
        distance = cdist(x, centres, "sqeuclidean")
        before, group, near = group, distance.argmin(axis=1), distance.min(axis=1)
        for empty in np.setdiff1d(np.arange(k), group):
            far = np.where(np.bincount(group, minlength=k)[group] > 1, near, -1).argmax()
            group[far], near[far] = empty, 0
        if np.array_equal(group, before):
            break
        centres = np.eye(k)[group].T @ x / np.bincount(group)[:, None]
    return group


# Some exact rows R of attention, at the centres of small groups of queries, each with its group's size as weight.
k = min(max(4 * m, 64), n)
group = kmeans(Q, k)
sizes = np.bincount(group)[:, None]
C, W = np.eye(k)[group].T @ Q / sizes, np.sqrt(sizes)
R = attention(C, K)
G = W * R @ (W * R).T

# Keys that carry much attention, each from other queries; shrunk, since few landmarks stand for many.
pivots = qr(W * np.sqrt(R), mode="r", pivoting=True)[1][:m]
shrunk = 0.7 * K[pivots]
ridge = 3e-5 * ((W * attention(C, shrunk)) ** 2).sum()


def residual(x):
    """What the columns of attention at key points x cannot span of these rows, with a small ridge, and its gradient."""
    x = x.reshape(m, d)
    F = attention(C, x)
    A = W * F
    AC = A @ np.linalg.inv(A.T @ A + ridge * np.eye(m))
    GA = G @ AC
    dF = -2 * W * (GA - AC @ (A.T @ GA))
    dx = (F * (dF - (F * dF).sum(axis=1, keepdims=True))).T @ C / np.sqrt(d)
    return 1 - (A * GA).sum() / np.trace(G), dx.ravel() / np.trace(G)


# Key points: a few steps downhill, whose cost does not depend on n. Query points: means of the queries, weighted by how
# much they attend to each of these.
keys = minimize(residual, shrunk.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 10}).x.reshape(m, d)
F = attention(Q, keys)
weights = (F / F.max(axis=0)) ** 4
np.save(folder + "/query_picks.npy", weights.T @ Q / weights.sum(axis=0)[:, None])
np.save(folder + "/key_picks.npy", keys)
