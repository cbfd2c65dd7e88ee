# SPDX-License-Identifier: GPL-3.0-or-later
"""Landmarks by what attends to what, for command(run="python3 experiments/plugins/profile_landmarks.py") with
`pairing: both`: key points, fitted so that the attention to them explains some exact rows of all attention, and means of
the queries that attend most to one of these key points: what the strategy `profile` does. O(nm(d + m)), and never all of
S."""
import json
import os
import sys

os.environ["OMP_NUM_THREADS"] = "1"  # so that scikit-learn adds up in the same order each time

import numpy as np
from scipy.linalg import qr
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.cluster import KMeans

folder = sys.argv[-1]
request = json.load(open(folder + "/request.json"))
Q, K = np.load(folder + "/queries.npy"), np.load(folder + "/keys.npy")
(n, d), m = Q.shape, request["m"]


def attention(queries, keys):
    return softmax(queries @ keys.T / np.sqrt(d), axis=1)


# Some exact rows R of attention, at the centres of small groups of queries, each with its group's size as weight.
group = KMeans(min(max(4 * m, 64), n), n_init=1, max_iter=5, random_state=request["seed"]).fit(Q).labels_
group = np.unique(group, return_inverse=True)[1]  # without empty ones, where queries are alike
member = np.eye(group.max() + 1)[group].T
sizes = member.sum(axis=1, keepdims=True)
C, W = member @ Q / sizes, np.sqrt(sizes)
R = attention(C, K)
G = W * R @ (W * R).T

# Keys that carry much attention, each from other queries; shrunk, since few landmarks stand for many.
pivots = qr(W * np.sqrt(R), mode="r", pivoting=True)[1][:m]
shrunk = 0.7 * K[pivots]
ridge = 3e-5 * ((W * attention(C, shrunk)) ** 2).sum()


def residual(x):
    """What the columns of attention at key points x cannot span of these rows, with a small ridge, and its gradient."""
    F = attention(C, x.reshape(m, d))
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
