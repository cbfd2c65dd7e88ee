# SPDX-License-Identifier: GPL-3.0-or-later
"""The formulas in NumPy."""
import numpy as np

U32 = 2.0**-24


def softmax(z):
    z = np.exp(z - z.max(axis=-1, keepdims=True))
    return z / z.sum(axis=-1, keepdims=True)


def scores(q, k, causal=False):
    """S of softmax attention, of the dtype of q; any number of heads."""
    z = q @ np.swapaxes(k, -1, -2) / np.asarray(np.sqrt(q.shape[-1]), q.dtype)
    if causal:
        z = np.where(np.tril(np.ones(z.shape[-2:], bool)), z, np.asarray(-np.inf, z.dtype))
    return softmax(z)


def exact(q, k, v, causal=False):
    """Softmax attention; heads of a group share the key head."""
    group = q.shape[-3] // k.shape[-3]
    k, v = np.repeat(k, group, axis=-3), np.repeat(v, group, axis=-3)
    return scores(q, k, causal) @ v


def nystrom(q, k, v, query_points, key_points):
    """F (pinv(A) (B v)) of one head; pinv in double, as in the library."""
    a = scores(query_points.astype(float), key_points.astype(float))
    x = np.linalg.pinv(a).astype(q.dtype)
    return scores(q, key_points) @ (x @ (scores(query_points, k) @ v))


def distance(x, y):
    """Relative, in the Frobenius norm of all heads together."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    return np.linalg.norm(x - y) / np.linalg.norm(y)


def tolerance(formula, *arrays):
    """What single precision costs: ten times what the formula in NumPy's is off, since NumPy adds in another order and
    has another exponential, and 10 u of the norm."""
    return 10 * distance(formula(*(x.astype(np.float32) for x in arrays)),
                         formula(*(x.astype(float) for x in arrays))) + 10 * U32
