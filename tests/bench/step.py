#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""PYTHONPATH=python step.py - how long the last tokens of n take, one at a time, in a layer of 9 query and 3 key heads,
d = 64, normal numbers, one thread: exact attention in NumPy, exact in this library (a window of n), and attentions with
1/8 of the multiplications. Means over steps in turn, of CPU time, for what a state takes every 32 tokens counts too.
Prints CSV."""
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read once, when NumPy is imported

import time

import nysbench
import numpy as np

HEADS, KEY_HEADS, D, STEPS = 9, 3, 64, 192
EXACT = "streamingllm(window=1048576)"
SPECS = {2048: ["streamingllm(window=111)", "h2o(window=46, heavy=64)", "merging(window=38, landmarks=44)"],
         4096: ["streamingllm(window=244)", "h2o(window=113, heavy=128)", "merging(window=106, landmarks=89)"],
         8192: ["streamingllm(window=508)", "h2o(window=248, heavy=256)", "merging(window=234, landmarks=179)"]}


def numpy_step(q, k, v, t):
    """The output of token t (heads, 1, d)."""
    q = q[:, t].reshape(KEY_HEADS, HEADS // KEY_HEADS, D)
    logits = q @ k[:, :t + 1].swapaxes(1, 2) / np.float32(np.sqrt(D))
    weights = np.exp(logits - logits.max(axis=2, keepdims=True))
    return (weights @ v[:, :t + 1] / weights.sum(axis=2, keepdims=True)).reshape(HEADS, 1, D)


def main():
    print("n,attention,step_ms,times_as_fast,times_as_fast_as_numpy")
    for n, specs in SPECS.items():
        q, k, v = (np.random.default_rng(n).standard_normal((h, n, D), np.float32)
                   for h in (HEADS, KEY_HEADS, KEY_HEADS))
        steps, names = {"NumPy": lambda t: numpy_step(q, k, v, t)}, {"NumPy": "exact, NumPy", EXACT: "exact"}
        for spec in [EXACT, *specs]:
            layer = nysbench.Attention(spec, q.shape, k.shape, v.shape, causal=True, threads=1)
            layer.extend(*(x[:, :n - STEPS] for x in (q, k, v)))
            steps[spec] = lambda t, layer=layer: layer.extend(*(x[:, t:t + 1] for x in (q, k, v)))
        seconds = dict.fromkeys(steps, 0.0)
        for t in range(n - STEPS, n):
            out = {}
            for spec, step in steps.items():
                began = time.process_time()
                out[spec] = step(t)
                seconds[spec] += time.process_time() - began
            if not np.allclose(out["NumPy"], out[EXACT], atol=1e-4):
                raise SystemExit(f"step.py: the exact outputs of token {t} differ")
        for spec, total in seconds.items():
            name, ratios = names.get(spec, spec), [seconds[exact] / total for exact in (EXACT, "NumPy")]
            print(f'{n},"{name}",{1e3 * total / STEPS:.3g},{ratios[0]:.3g},{ratios[1]:.3g}')


main()
