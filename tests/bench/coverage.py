# SPDX-License-Identifier: GPL-3.0-or-later
"""How often the interval of a sampled error holds the error of all rows.

usage: coverage.py FILE.safetensors[:HEAD]...

On each head (all of a file's, without :HEAD), without its mask, for three choices of landmarks, the shares of all rows
in |S - F X B|^2 and |S|^2 (X by six steps) are computed once, and 4000 samples of k rows drawn from them. Prints CSV:
the share of samples in which
    error +- 1.96 error_se                          (plain)
    error * exp(+- 1.96 error_se / error)           (log)
    error +- t error_se, t Student's for k - 1 rows (student)
    error * exp(+- 2.5 error_se / error)            (wide)
holds the error of all rows; and on which side the plain one misses it.
"""
import json
import struct
import sys

import numpy as np
from scipy import stats

SAMPLES, SIZES = 4000, (64, 128, 256)


def load(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    q, k = (np.frombuffer(data[slice(*header[name]["data_offsets"])],
                          dtype={"F16": "<f2", "F32": "<f4"}[header[name]["dtype"]])
            .reshape(header[name]["shape"]).astype(float) for name in "qk")
    return q, np.repeat(k, len(q) // len(k), axis=0)


def kernel(q, k):
    scores = q @ k.T / np.sqrt(q.shape[1])
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


def landmarks(strategy, m, q, k, rng):
    if strategy == "segment_means":
        parts = np.array_split(np.arange(len(q)), m)
        return np.array([q[p].mean(axis=0) for p in parts]), np.array([k[p].mean(axis=0) for p in parts])
    tokens = rng.choice(len(q), m, replace=False)
    return q[tokens], k[tokens]


def squares(q, k, strategy, m, rng):
    """Of each row: of S - F X B, and of S."""
    ql, kl = landmarks(strategy, m, q, k, rng)
    s, f, a, b = kernel(q, k), kernel(q, kl), kernel(ql, kl), kernel(ql, k)
    x, identity = a.T / (np.abs(a).sum(axis=0).max() * np.abs(a).sum(axis=1).max()), np.eye(m)
    for _ in range(6):
        y = a @ x
        x = x @ (13 * identity - y @ (15 * identity - y @ (7 * identity - y))) / 4
    return ((s - f @ x @ b) ** 2).sum(axis=1), (s**2).sum(axis=1)


def estimates(a, b, k, rng):
    """The errors of samples, and their standard errors: the jackknife's of sampled.c."""
    n = len(a)
    chosen = np.argsort(rng.random((SAMPLES, n)), axis=1)[:, :k]
    a, b = a[chosen], b[chosen]
    total_a, total_b = a.sum(axis=1, keepdims=True), b.sum(axis=1, keepdims=True)
    without = np.sqrt(np.maximum(0, total_a - a) / (total_b - b))
    spread = ((without - without.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return np.sqrt(total_a / total_b)[:, 0], np.sqrt((1 - k / n) * (k - 1) / k * spread)


def main():
    rng = np.random.default_rng(20261122)
    print("file,head,n,strategy,m,k,plain,log,student,wide,below,above")
    for argument in sys.argv[1:]:
        path, _, head = argument.partition(":")
        q, k = load(path)
        for h in [int(head)] if head else range(len(q)):
            for strategy, m in (("uniform", 16), ("segment_means", 16), ("segment_means", 64)):
                a, b = squares(q[h], k[h], strategy, m, rng)
                truth = np.sqrt(a.sum() / b.sum())
                for size in (size for size in SIZES if 2 * size <= len(a)):
                    e, se = estimates(a, b, size, rng)
                    t = stats.t.ppf(0.975, size - 1)
                    held = [np.mean(np.abs(e - truth) <= 1.96 * se),
                            np.mean(np.abs(np.log(truth / e)) <= 1.96 * se / e),
                            np.mean(np.abs(e - truth) <= t * se), np.mean(np.abs(np.log(truth / e)) <= 2.5 * se / e),
                            np.mean(e + 1.96 * se < truth), np.mean(e - 1.96 * se > truth)]
                    print(f"{path.split('/')[-1]},{h},{len(a)},{strategy},{m},{size}," +
                          ",".join(f"{share:.3f}" for share in held), flush=True)


if __name__ == "__main__":
    main()
