# SPDX-License-Identifier: GPL-3.0-or-later
"""A small random transformer in NumPy whose attention is nysbench's: its output changes by rounding where that is
exact.

usage: test_transformer.py. Tolerance: the model is computed in double precision with softmax attention, and in single
with the formula that is meant, both in NumPy; ten times their distance is allowed, since the library adds in another
order and has another exponential.
"""
import unittest

import numpy as np

import nysbench
import reference
import tap

LAYERS, HEADS, WIDTH, WORDS, TOKENS = 2, 4, 32, 50, 40


def normalised(x):
    x = x - x.mean(axis=-1, keepdims=True)
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + x.dtype.type(1e-5))


def split(x):
    """(n, width) to (heads, n, d), which is not contiguous."""
    return x.reshape(len(x), HEADS, -1).swapaxes(0, 1)


class Transformer:
    """Embedding, and layers of attention and an MLP, each after a LayerNorm and added to what came before."""

    def __init__(self, dtype):
        rng = np.random.default_rng(4)
        weights = lambda *shape: (rng.standard_normal(shape) / np.sqrt(shape[0])).astype(dtype)
        self.embedding, self.positions = weights(WORDS, WIDTH), weights(TOKENS, WIDTH)
        self.layers = [dict(k=weights(WIDTH, WIDTH), v=weights(WIDTH, WIDTH), o=weights(WIDTH, WIDTH),
                            up=weights(WIDTH, 4 * WIDTH), down=weights(4 * WIDTH, WIDTH)) for _ in range(LAYERS)]

    def __call__(self, words, attention):
        x = 6 * (self.embedding[words] + self.positions[:len(words)])
        for w in self.layers:
            y = normalised(x)
            keys = split(y @ w["k"])
            # Queries like keys: a token attends to itself, and S, which nystrom inverts, is well conditioned.
            heads = attention(4 * keys, keys, split(y @ w["v"]))
            x = x + heads.swapaxes(0, 1).reshape(x.shape).astype(x.dtype) @ w["o"]
            x = x + np.maximum(normalised(x) @ w["up"], 0) @ w["down"]
        return normalised(x)


class Replaced(unittest.TestCase):
    words = np.random.default_rng(5).integers(0, WORDS, TOKENS)

    def distance(self, spec, causal=False, formula=reference.exact):
        """From the model in double, and what is allowed."""
        double = Transformer(np.float64)(self.words, lambda *x: reference.exact(*x, causal))
        single = Transformer(np.float32)(self.words, lambda *x: formula(*x, causal))
        changed = Transformer(np.float32)(self.words, lambda *x: nysbench.attention(*x, spec, causal=causal))
        return reference.distance(changed, double), 10 * reference.distance(single, double)

    def test_streamed(self):
        for causal in (False, True):
            found, allowed = self.distance("streamed", causal)
            self.assertLess(allowed, 1e-4)
            self.assertLessEqual(found, allowed)

    def test_nystrom_with_all_tokens(self):
        """S pinv(S) S = S."""
        formula = lambda q, k, v, causal: np.stack([reference.nystrom(*head, *head[:2]) for head in zip(q, k, v)])
        found, allowed = self.distance(f"nystrom(strategy=uniform, landmarks={TOKENS}, core=svd(rcond=machine))",
                                       formula=formula)
        self.assertLess(allowed, 1e-3)
        self.assertLessEqual(found, allowed)

    def test_landmarks_that_are_few_change_it(self):
        found, allowed = self.distance("nystrom(strategy=uniform, landmarks=4, core=svd(rcond=machine))")
        self.assertGreater(found, 100 * allowed)


if __name__ == "__main__":
    tap.main()
