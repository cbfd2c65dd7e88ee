# SPDX-License-Identifier: GPL-3.0-or-later
"""BERT (Devlin et al., NAACL 2019), whose layers norm after each sum, by the names that its weights have: what models
of that kind share. An input is n token numbers, without padding."""
import numpy as np

from layers import gelu, layer_norm, linear, merge, split

EPS = 1e-12


class Bert:
    """Models of this kind say how many heads they have, and hand over their weights and what stands before the names."""
    causal = False

    def __init__(self, n, w, prefix=""):
        self.n, self._w, self._prefix = n, w, prefix

    def _weight(self, name):
        return self._w[self._prefix + name]

    def _linear(self, x, name):
        return linear(x, self._weight(name + ".weight"), self._weight(name + ".bias"))

    def _norm(self, x, name):
        return layer_norm(x, self._weight(name + ".LayerNorm.weight"), self._weight(name + ".LayerNorm.bias"), EPS)

    def start(self, tokens):
        """The hidden states (n, width) that go into layer 0."""
        x = self._weight("embeddings.word_embeddings.weight")[tokens]
        x = x + self._weight("embeddings.token_type_embeddings.weight")[0]
        return self._norm(x + self._weight("embeddings.position_embeddings.weight")[:len(tokens)], "embeddings")

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
