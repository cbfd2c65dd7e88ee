# SPDX-License-Identifier: GPL-3.0-or-later
"""What another attention in some layers of a model does to its output.

    effects = Effects("minilm")
    effects.effect("us-constitution", "nystrom(strategy=kmeans, landmarks=32)", "half")

An exact pass of a source is made once and kept; a changed one begins at the first layer that is replaced.
"""
import os
from collections import OrderedDict
from functools import cached_property

import numpy as np

import packages
from antiberty import AntiBERTy
from layers import exact_attention
from minilm import MiniLM
from rxnmapper import RXNMapper
from smollm2 import SmolLM2, SmolLM2Passkey, SmolLM2Variable
from vit import ViT, ViTRegions
from whisper import Whisper, WhisperWords

MODELS = {"minilm": MiniLM, "vit": ViT, "whisper": Whisper, "smollm2": SmolLM2,
          "antiberty": AntiBERTy, "rxnmapper": RXNMapper}
LONG = {"minilm-512": (MiniLM, 512),
        "vit-1025": (ViT, 1025), "vit-4097": (ViT, 4097), "vit-8282": (ViT, 8282),
        **{f"smollm2-{n}": (SmolLM2, n) for n in (1024, 2048, 4096, 8192)}}
TASKS = {"vit-regions": ViTRegions, "whisper-words": WhisperWords,
         "smollm2-passkey": SmolLM2Passkey, "smollm2-variable": SmolLM2Variable}
PARTS = ("", "-test", "-replication")  # of the split, in names: development has none
KEPT = 2  # exact passes that are kept; one of smollm2 takes 180 MB with its probabilities
TOP = 10
ROWS = 64  # of probabilities that are worked on at a time


def names():
    """Of the models on the sources of each part: minilm, minilm-test, minilm-replication."""
    return [name + part for part in PARTS for name in (*MODELS, *LONG, *TASKS)]


def without_part(name):
    """minilm, of any of these."""
    return name.removesuffix(PARTS[1]).removesuffix(PARTS[2])


class Diverged(ArithmeticError):
    """The attention's outputs are not finite."""


class Refused(ValueError):
    """The attention has no form for such heads."""


def relative(x, exact):
    """|x - exact| / |exact|, Frobenius, summed in double precision."""
    exact = exact.astype(np.float64)
    return float(np.linalg.norm(x - exact) / np.linalg.norm(exact))


def ranks(scores):
    return np.argsort(np.argsort(scores)).astype(np.float64)


def rank_agreement(scores, exact):
    """Spearman's correlation of two rows of scores without ties."""
    return float(np.corrcoef(ranks(scores), ranks(exact))[0, 1])


def top_overlap(scores, exact, top=TOP):
    """The share of the highest of one row of scores that is among the highest of the other."""
    return len(set(np.argsort(scores)[-top:]) & set(np.argsort(exact)[-top:])) / top


def negative_log_likelihood(log_probabilities, tokens):
    """The mean over the tokens but the first, nats."""
    return -float(log_probabilities[np.arange(len(tokens) - 1), tokens[1:]].mean(dtype=np.float64))


def divergence(exact, new):
    """The mean over rows of sum p (ln p - ln q), from ln p and ln q, nats."""
    total = 0.0
    for row in range(0, len(exact), ROWS):
        p, q = exact[row:row + ROWS], new[row:row + ROWS]
        total += float((np.exp(p) * (p - q)).sum(dtype=np.float64))
    return total / len(exact)


def replaced_layers(text, count):
    """Numbers of layers, of "one(I)" or I, "half" (every other one, from the first) or "all"."""
    text = str(text)
    if text in ("all", "half"):
        return list(range(0, count, 2 if text == "half" else 1))
    number = text[4:-1] if text.startswith("one(") and text.endswith(")") else text
    if not number.isdigit() or int(number) >= count:
        raise ValueError(f"layers '{text}': expected half, all, or one of 0 ... {count - 1}")
    return [int(number)]


def library_attention(model, spec, seed, trial, plugins=()):
    """A function as exact_attention of one attention of nysbench; each layer is its first pass. One thread."""
    import nysbench
    shapes = [(heads, model.n, model.d) for heads in (model.heads, model.key_heads, model.key_heads)]
    how = {"threads": 1, "seed": seed, "trial": trial, "plugins": plugins}
    try:
        opened = nysbench.Attention(spec, *shapes, causal=model.causal, **how)
    except nysbench.ArgumentError as error:
        if not model.causal:
            raise
        nysbench.Attention(spec, *shapes, **how)  # what is wrong with the spec itself is an error
        raise Refused(str(error)) from error

    def attention(layer, q, k, v, causal):
        opened.restart()
        try:
            return opened(q, k, v)
        except nysbench.NumericError as error:
            raise Diverged(str(error)) from error
        except nysbench.ArgumentError as error:
            raise Refused(str(error)) from error

    return attention


class Exact:
    """The pass of a source with the model's own attention: hidden[i] goes into layer i, the last goes into finish."""

    def __init__(self, model, tokens, attention):
        self.input, self._attention = tokens, attention
        self.heads = {}  # out of exact attention, by layer
        self.hidden = [model.start(tokens)]
        for index in range(model.layers):
            self.hidden.append(model.layer(index, self.hidden[-1], self._seen))
        self.output = model.finish(self.hidden[-1])
        self.log_probabilities = model.log_probabilities(self.output) if model.causal else None
        self.embedding = None if model.causal else model.embedding(self.output)
        self.answer = model.answer(self.output) if hasattr(model, "answer") else None

    def _seen(self, layer, q, k, v, causal):
        self.heads[layer] = self._attention(layer, q, k, v, causal)
        return self.heads[layer]


class Effects:
    """A model with its sources, the arrays of build/models/inputs."""

    def __init__(self, name):
        path = packages.path("inputs", name + ".npz")
        self.inputs = np.load(path)
        self.sources = self.inputs.files
        name = without_part(name)
        self.model = LONG[name][0](LONG[name][1]) if name in LONG else (MODELS | TASKS)[name]()
        # NumPy takes minutes for a long layer; the library's exact attention differs by its rounding, some 1e-7.
        self._attention = exact_attention if name in MODELS else library_attention(self.model, "streamed", 0, 0)
        self._kept = OrderedDict()
        self._name, self._embedded_at = name, path.replace(".npz", "-embeddings.npy")

    @cached_property
    def corpus(self):
        """The embeddings that a source's is compared with: MiniLM's documents, the sources of longer inputs, or None."""
        if self._name == "minilm":
            return np.load(packages.path("inputs", "corpus.npz"))["embeddings"]
        return self._embeddings(self._embedded_at) if self._name in LONG and not self.model.causal else None

    def _embeddings(self, path):
        """Those of all sources, from a file that the first call makes."""
        if not os.path.exists(path):
            made = np.array([self.exact(source).embedding for source in self.sources])
            with open(f"{path}.{os.getpid()}", "wb") as file:
                np.save(file, made)
            os.replace(file.name, path)
        return np.load(path)

    def exact(self, source):
        if source not in self._kept:
            while len(self._kept) >= KEPT:
                self._kept.popitem(last=False)
            self._kept[source] = Exact(self.model, self.inputs[source], self._attention)
        self._kept.move_to_end(source)
        return self._kept[source]

    def effect(self, source, spec, layers, seed=20260101, trial=0, plugins=()):
        """What the attention `spec` of nysbench, or of its plug-ins, does in `layers`, numbers or what replaced_layers takes.

        Returns a dict:
          model_error         |output - exact| / |exact| of the final hidden states
          errors_after        the same of the hidden states after each layer, a list; 0 before the first replaced one
          layer_error         the mean over the replaced layers of the relative error of the heads' outputs, against
                              exact attention of the same q, k, v
          embedding_distance  1 - cosine of the pooled embedding and the exact one (encoders)
          rank_agreement      Spearman's, of the corpus by cosine with the source; its embeddings are exact ones (MiniLM's
                              documents; the sources of longer inputs)
          top10_overlap       the share of the ten nearest documents that stay among them (MiniLM)
          perplexity_ratio    new / exact, over the source's tokens but the first (causal)
          kl                  mean over tokens of KL(exact || new) of the next token, nats (causal)
          task_error          the share of what its task asks for that the model gets wrong (the models of TASKS)

        Raises Diverged, Refused, and nysbench's errors for a spec that is not allowed.
        """
        layers = replaced_layers(layers, self.model.layers) if isinstance(layers, (str, int)) else layers
        return self.effect_of(source, library_attention(self.model, spec, seed, trial, plugins), layers)

    def effect_of(self, source, attention, layers):
        """effect, of a function as exact_attention."""
        exact, local = self.exact(source), []

        def measured(layer, q, k, v, causal):
            if layer not in layers:
                return self._attention(layer, q, k, v, causal)
            out = attention(layer, q, k, v, causal)
            same = exact.heads[layer] if layer == min(layers) else self._attention(layer, q, k, v, causal)
            local.append(relative(out, same))
            return out

        x, after = exact.hidden[min(layers)], [0.0] * min(layers)
        for index in range(min(layers), self.model.layers):
            x = self.model.layer(index, x, measured)
            if not np.isfinite(x).all():
                raise Diverged(f"hidden states after layer {index} are not finite")
            after.append(relative(x, exact.hidden[index + 1]))
        output = self.model.finish(x)
        found = {"model_error": relative(output, exact.output), "errors_after": after,
                 "layer_error": float(np.mean(local))}
        found |= self._foretold(exact, output) if self.model.causal else self._embedded(exact, output)
        if exact.answer is not None:
            found["task_error"] = self.model.task_error(self.model.answer(output), exact)
        return found

    def _embedded(self, exact, output):
        embedding = self.model.embedding(output)
        found = {"embedding_distance": float(((embedding - exact.embedding) ** 2).sum() / 2)}
        if self.corpus is not None:
            scores, exact_scores = self.corpus @ embedding, self.corpus @ exact.embedding
            found["rank_agreement"] = rank_agreement(scores, exact_scores)
            if len(self.corpus) > TOP:
                found["top10_overlap"] = top_overlap(scores, exact_scores)
        return found

    def _foretold(self, exact, output):
        new = self.model.log_probabilities(output)
        more = negative_log_likelihood(new, exact.input) - negative_log_likelihood(exact.log_probabilities, exact.input)
        return {"perplexity_ratio": float(np.exp(more)), "kl": divergence(exact.log_probabilities, new)}

    def heads(self, source, layers):
        """{"q", "k", "v"} of the exact pass, float32 (layers x heads, n, d), layer after layer."""
        exact, seen = self.exact(source), {"q": [], "k": [], "v": []}

        def keep(layer, q, k, v, causal):
            for name, array in (("q", q), ("k", k), ("v", v)):
                seen[name].append(array)
            return exact.heads[layer]

        for layer in layers:
            self.model.layer(layer, exact.hidden[layer], keep)
        return {name: np.concatenate(arrays) for name, arrays in seen.items()}

    def captured(self, source, layers):
        """{layer: {"q", "k", "v"}}, (heads, n, d) each, of an exact pass that ends with the last of these layers."""
        found = {}

        def keep(layer, q, k, v, causal):
            if layer in layers:
                found[layer] = {"q": q, "k": k, "v": v}
            return self._attention(layer, q, k, v, causal)

        x = self.model.start(self.inputs[source])
        for index in range(max(layers) + 1):
            x = self.model.layer(index, x, keep)
        return found
