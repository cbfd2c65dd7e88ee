# SPDX-License-Identifier: GPL-3.0-or-later
"""A model's program for the effect study: a random transformer of three layers, in NumPy.

usage: tiny_model.py NYSBENCH [causal] [shared] [flat] [without=KEY]

NYSBENCH computes the replaced attentions. With `causal` it is a language model, else an encoder with an embedding and a
corpus; with `shared`, the two query heads of a layer share one key head; with `flat`, the queries of the heads that it
writes are all alike. without=KEY leaves KEY out of what an attention does.

The functions are used by tests/oracle/effect.py too."""
import json
import struct
import subprocess
import sys

import numpy as np

LAYERS, HEADS, N, D, SOURCES, TOKENS = 3, 2, 24, 8, 6, 40
WIDTH = HEADS * D


class Model:
    def __init__(self, causal=False, key_heads=HEADS):
        rng = np.random.default_rng(7)
        draw = lambda *shape: rng.normal(size=shape) / np.sqrt(shape[-2])
        self.causal, self.key_heads = causal, key_heads
        self.layers = [{"q": 2.5 * draw(WIDTH, WIDTH), "k": draw(WIDTH, key_heads * D), "v": draw(WIDTH, key_heads * D),
                        "o": draw(WIDTH, WIDTH), "up": draw(WIDTH, 2 * WIDTH), "down": draw(2 * WIDTH, WIDTH)}
                       for _ in range(LAYERS)]
        self.words = rng.normal(size=(TOKENS, WIDTH))
        self.places = 0.3 * rng.normal(size=(N, WIDTH))
        self.sources = rng.integers(TOKENS, size=(SOURCES, N))
        self.corpus = rng.normal(size=(30, WIDTH))
        self.exact = {}

    def run(self, source, attend):
        """Hidden states, and q, k, v of each layer: attend(layer, q, k, v) -> outputs (HEADS, N, D)."""
        x, seen = self.words[self.sources[source]] + self.places, []
        for number, w in enumerate(self.layers):
            y = norm(x)
            q, k, v = (split(y @ w[name]).astype(np.float32) for name in "qkv")
            seen.append((q, k, v))
            x = x + attend(number, q, k, v).transpose(1, 0, 2).reshape(N, WIDTH) @ w["o"]
            x = x + np.tanh(norm(x) @ w["up"]) @ w["down"]
        return norm(x), seen

    def exact_pass(self, source):
        if source not in self.exact:
            self.exact[source] = self.run(source, lambda layer, q, k, v: softmax_attention(q, k, v, self.causal))
        return self.exact[source]


def norm(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def split(x):
    return x.reshape(N, -1, D).transpose(1, 0, 2)


def softmax_attention(q, k, v, causal):
    q, k, v = (x.astype(float) for x in (q, k, v))
    k, v = (np.repeat(x, len(q) // len(x), axis=0) for x in (k, v))
    s = q @ k.transpose(0, 2, 1) / np.sqrt(D)
    if causal:
        s = np.where(np.tril(np.ones((N, N), bool)), s, -np.inf)
    s = np.exp(s - s.max(-1, keepdims=True))
    return s / s.sum(-1, keepdims=True) @ v


def relative(a, b):
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


def ranks(x):
    return np.argsort(np.argsort(x))


def embedding_effects(model, new, old):
    a, b = (x.mean(0) / np.linalg.norm(x.mean(0)) for x in (new, old))
    corpus = model.corpus / np.linalg.norm(model.corpus, axis=1, keepdims=True)
    top = lambda u: set(np.argsort(-(corpus @ u))[:10])
    return {"embedding_distance": float(((a - b) ** 2).sum() / 2),
            "rank_agreement": float(np.corrcoef(ranks(corpus @ a), ranks(corpus @ b))[0, 1]),
            "top10_overlap": len(top(a) & top(b)) / 10}


def token_effects(model, source, new, old):
    def logs(x):
        y = x @ model.words.T / np.sqrt(WIDTH)
        return y - y.max(-1, keepdims=True) - np.log(np.exp(y - y.max(-1, keepdims=True)).sum(-1, keepdims=True))
    new, old, ids = logs(new), logs(old), model.sources[source]
    loss = lambda y: -y[np.arange(N - 1), ids[1:]].mean()
    return {"perplexity_ratio": float(np.exp(loss(new) - loss(old))),
            "kl": float((np.exp(old) * (old - new)).sum(-1).mean()),
            "task_error": float((new[:-1].argmax(-1) != old[:-1].argmax(-1)).mean())}


def effects(model, source, layers, attention):
    """What the effect study asks, with attention(q, k, v) -> outputs in these layers."""
    errors = []

    def attend(number, q, k, v):
        exact = softmax_attention(q, k, v, model.causal)
        if number not in layers:
            return exact
        out = attention(q, k, v).astype(float)
        errors.append(relative(out, exact))
        return out
    new, old = model.run(source, attend)[0], model.exact_pass(source)[0]
    more = token_effects(model, source, new, old) if model.causal else embedding_effects(model, new, old)
    return {"model_error": relative(new, old), "layer_error": float(np.mean(errors)), **more}


def write_safetensors(path, tensors, metadata=None):
    header, at = {"__metadata__": metadata} if metadata else {}, 0
    for name, x in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(x.shape), "data_offsets": [at, at + 4 * x.size]}
        at += 4 * x.size
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for x in tensors.values():
            file.write(np.ascontiguousarray(x, np.float32).tobytes())


def by_nysbench(program, causal, spec, seed, trial, plugins=()):
    def attention(q, k, v):
        write_safetensors("layer.safetensors", {"q": q, "k": k, "v": v}, {"causal": "true" if causal else "false"})
        done = subprocess.run([program, "forward", "--head", "layer.safetensors", "--attention", spec, "--threads=1",
                               "--seed", str(seed), "--trial", str(trial), "-o", "out.npy",
                               *(f"--plugin={plugin}" for plugin in plugins)], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.splitlines()[0])
        return np.load("out.npy")
    return attention


def describe(model):
    return {"model": "tiny", "layers": LAYERS, "heads": HEADS, "key_heads": model.key_heads, "n": N, "d": D,
            "causal": model.causal, "sources": [f"text {i}" for i in range(SOURCES)], "seconds": 0.01}


def write_heads(model, question, flat):
    seen = model.exact_pass(question["source"])[1]
    q, k, v = (np.concatenate([seen[layer][i] for layer in question["layers"]]) for i in range(3))
    if flat:
        q = np.repeat(q[:, :1], N, 1)
    write_safetensors(question["file"], {"q": q, "k": k, "v": v})
    return {}


def answer(model, program, words, question):
    if question["do"] == "describe":
        return describe(model)
    if question["do"] == "heads":
        return write_heads(model, question, "flat" in words)
    told = effects(model, question["source"], question["layers"],
                   by_nysbench(program, model.causal, question["attention"], question["seed"], question["trial"],
                               question.get("plugins", ())))
    return {name: value for name, value in told.items() if f"without={name}" not in words}


def main(program, *words):
    model = Model("causal" in words, 1 if "shared" in words else HEADS)
    print('{"ready": 1}', flush=True)
    for line in sys.stdin:
        try:
            said = answer(model, program, words, json.loads(line))
        except Exception as error:
            said = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
