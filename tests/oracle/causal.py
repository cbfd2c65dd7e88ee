# SPDX-License-Identifier: GPL-3.0-or-later
"""Recomputes causal attentions over a window and slots with NumPy, in double, token by token from their formulas.

usage: causal.py NYSBENCH WORK_FOLDER

Prints TAP. Layers and single precision's tolerance are those of attentions.py. Merging decides which pair is the least
costly: rounding in single precision may decide otherwise, so its outputs are compared in double
(build/double/nysbench), and in single precision its distance from exact attention, which must be that of the formulas
within a twentieth.

The column `error` of the forward study is compared with S~ formed whole: what the formulas give for the identity beside
V.
"""
import csv
import json
import os
import struct
import subprocess
import sys

import numpy as np

import attentions as base
from attentions import Program, compare_heads, draw, exact, smooth, softmax, tap

CHUNK, BATCH, COORDINATES = 32, 16, 16


class Slots:
    """K, V and what is added to the logit, of everything before the window that a query sees."""
    guide = None  # how many coordinates of V decide; None: all

    def __init__(self, q, k, v, sinks, window):
        self.q, self.k, self.v, self.sinks, self.window = q, k, v, sinks, window
        self.start = 0  # tokens that left the window
        self.keys, self.values, self.bias = [], [], []
        self.received = np.zeros(len(q))

    def ready(self, a):
        """The tokens that leave before a chunk at token a."""
        return range(max(self.start, self.sinks), a - self.window)

    def leave(self, a):
        for j in self.ready(a):
            self.admit_token(j, a)

    def admit_token(self, j, a):
        """Token j leaves; nothing is left of it."""

    def receive(self, total, a):
        """The weights that a chunk's queries, which begin at a, have given to the slots."""

    def outputs(self):
        q, k, v = self.q, self.k, self.v
        out, scale = np.empty((len(q), v.shape[1]), q.dtype), q.dtype.type(1 / np.sqrt(q.shape[1]))
        for a in range(0, len(q), CHUNK):
            self.leave(a)
            self.start = max(self.start, self.left(a))
            first = min(self.sinks, self.start)
            keys = np.concatenate([k[:first], *[x[None] for x in self.keys], k[self.start:]])
            values = np.concatenate([v[:first], *[x[None] for x in self.values], v[self.start:]])
            bias = np.zeros(len(keys), q.dtype)
            bias[first:first + len(self.keys)] = self.bias
            total = 0
            for i in range(a, min(a + CHUNK, len(q))):
                seen = len(keys) - (len(q) - i - 1)
                w = softmax(keys[:seen] @ q[i] * scale + bias[:seen])
                out[i] = w @ values[:seen]
                w = np.pad(w, (0, len(keys) - seen))
                self.received[self.start:] += w[first + len(self.keys):]
                total = total + w[first:first + len(self.keys)]
            self.receive(total, a)
        return out

    def left(self, a):
        return a - self.window

    def put(self, k, v, bias):
        self.keys.append(k)
        self.values.append(v)
        self.bias.append(bias)


class Strided(Slots):
    def __init__(self, q, k, v, sinks, window, stride):
        super().__init__(q, k, v, sinks, window)
        self.stride = stride

    def admit_token(self, j, a):
        if j % self.stride == 0:
            self.put(self.k[j], self.v[j], 0)


class HeavyHitters(Slots):
    """All that left and the sums of their weights; the heaviest stay."""

    def __init__(self, q, k, v, sinks, window, heavy):
        super().__init__(q, k, v, sinks, window)
        self.heavy, self.kept = heavy, []

    def leave(self, a):
        self.kept += list(self.ready(a))
        self.kept = sorted(sorted(self.kept, key=lambda j: -self.received[j])[:self.heavy])
        self.keys, self.values = list(self.k[self.kept]), list(self.v[self.kept])
        self.bias = np.zeros(len(self.kept))

    def receive(self, total, a):
        self.received[self.kept] += total


class Profiled(Slots):
    def profile(self, a):
        q = self.q[:a].astype(float)
        return q.mean(axis=0), q.var(axis=0)

    @property
    def scale(self):
        return 1 / np.sqrt(self.q.shape[1])


class TiltedSegments(Profiled):
    def __init__(self, q, k, v, sinks, window, segment, tilted=True):
        super().__init__(q, k, v, sinks, window)
        self.segment, self.tilted = segment, tilted

    def left(self, a):
        begin = min(self.sinks, max(a - self.window, 0))
        return begin + max(0, a - self.window - begin) // self.segment * self.segment

    def leave(self, a):
        for j in range(max(self.start, self.sinks), self.left(a), self.segment):
            k, v = (x[j:j + self.segment].astype(float) for x in (self.k, self.v))
            if not self.tilted:
                self.put(k.mean(axis=0), v.mean(axis=0), np.log(self.segment))
                continue
            mean, var = self.profile(a)
            logits = k @ mean * self.scale
            p = softmax(logits)
            key = p @ k
            spread = p @ k**2 - key**2
            log_sum = np.log(np.exp(logits - logits.max()).sum()) + logits.max()
            self.put(key, p @ v, log_sum - key @ mean * self.scale + self.scale**2 / 2 * var @ spread)


class Merging(Profiled):
    """Landmarks are dicts; each loss is computed from their points, whenever one is asked for."""

    def __init__(self, q, k, v, sinks, window, landmarks, protected=0):
        super().__init__(q, k, v, sinks, window)
        self.most, self.all, self.refreshed, self.protected = landmarks, [], 0, int(protected * landmarks)

    def refresh(self, a):
        mean, var = self.profile(a)
        k, v = self.k[:a].astype(float), self.v[:a, :self.guide].astype(float)
        for x in self.all:
            x["mass"] += self.scale * (mean - self.mean) @ x["k"]
        weight = self.scale**2 * var * k.var(axis=0)
        self.mean, self.deviation = mean, self.scale * np.sqrt(var)
        self.key_rows = np.argsort(-weight, kind="stable")[:COORDINATES]
        self.value_rows = np.argsort(-v.var(axis=0), kind="stable")[:COORDINATES]
        self.ratio = weight.sum() / weight[self.key_rows].sum()
        self.trade = 0.1 * (v**2).sum(axis=1).mean() * len(self.value_rows) / v.shape[1]
        self.refreshed = a

    def gaps(self, x, y):
        dk = (((x["k"] - y["k"]) * self.deviation)[self.key_rows] ** 2).sum()
        return dk, ((x["v"] - y["v"])[self.value_rows] ** 2).sum()

    def merge(self, others, some, target):
        """The least costly pairs of `some` merge until `target` are left; those with most attention of all do not."""
        order = np.argsort([-x["attention"] for x in others + some], kind="stable")[:self.protected] - len(others)
        kept = [i for i in order if i >= 0][:BATCH // 4 if others else None]
        for i, x in enumerate(some):
            x["stays"] = i in kept
        mass, attention = np.array([x["mass"] for x in some]), np.array([x["attention"] for x in some])
        for x, u in zip(some, softmax(mass) + attention / (attention.sum() + 1e-30)):
            x["u"] = max(u, 1e-30)
        some = list(some)
        while len(some) > target:
            pairs = []
            for i, x in enumerate(some):
                for j in () if x["stays"] else (j for j in range(i) if not some[j]["stays"]):
                    dk, dv = self.gaps(x, some[j])
                    h = x["u"] * some[j]["u"] / (x["u"] + some[j]["u"])
                    pairs.append((h**2 * dk * (dv + self.trade * dk), i, j))
            _, i, j = min(pairs)
            x, y = some.pop(i), some[j]
            dk, _ = self.gaps(x, y)
            a = 1 / (1 + np.exp(y["mass"] - x["mass"]))
            merged = {name: a * x[name] + (1 - a) * y[name] for name in ("k", "v", "spread")}
            some[j] = {**merged, "stays": False, "spread": merged["spread"] + a * (1 - a) * dk, "u": x["u"] + y["u"],
                       "mass": np.logaddexp(x["mass"], y["mass"]), "attention": x["attention"] + y["attention"]}
        return some

    def leave(self, a):
        ready = self.ready(a)
        if len(ready) and a >= 1.25 * self.refreshed:
            self.refresh(a)
        for b in range(ready.start, ready.stop, BATCH):
            new = [{"k": self.k[j].astype(float), "v": self.v[j].astype(float), "spread": 0.0,
                    "mass": self.scale * self.mean @ self.k[j], "attention": self.received[j] / (a - j)}
                   for j in range(b, min(b + BATCH, ready.stop))]
            if len(new) > max(BATCH // 2, self.most - len(self.all)):
                new = self.merge(self.all, new, max(BATCH // 2, self.most - len(self.all)))
            self.all += new
        if len(self.all) > self.most:
            self.all = self.merge([], self.all, self.most)
        self.keys, self.values = [x["k"] for x in self.all], [x["v"] for x in self.all]
        self.bias = [x["mass"] - self.scale * self.mean @ x["k"] + self.ratio * x["spread"] / 2 for x in self.all]

    def receive(self, total, a):
        pace = min(1, CHUNK / max(64, a / 4))
        for x, sum_of in zip(self.all, total if len(self.all) else []):
            x["attention"] += pace * (sum_of / CHUNK - x["attention"])


def moba(q, k, v, block, top, window, sinks):
    """Softmax over what each query sees."""
    n = len(q)
    seen = np.tril(np.ones((n, n), bool))
    for i in range(n):
        whole = max(0, i - window - sinks) // block
        means = k[sinks:sinks + whole * block].reshape(whole, block, k.shape[1]).mean(axis=1)
        hidden = np.argsort(-(means @ q[i]), kind="stable")[top:]
        for b in hidden:
            seen[i, sinks + b * block:sinks + (b + 1) * block] = False
    return base.seen_softmax(q, k, v, seen)


def quest(q, k, v, page, top):
    """Softmax over the own page and those with the largest bound of a product."""
    n, d = q.shape
    seen = np.tril(np.ones((n, n), bool))
    for i in range(n):
        keys = k[:i // page * page].reshape(-1, page, d)
        bound = np.maximum(keys.min(axis=1) * q[i], keys.max(axis=1) * q[i]).sum(axis=1)
        for b in np.argsort(-bound, kind="stable")[top:]:
            seen[i, b * page:(b + 1) * page] = False
    return base.seen_softmax(q, k, v, seen)


def sparq(q, k, v, window, tokens, components, sinks):
    n = len(q)
    seen = np.tril(np.ones((n, n), bool))
    for i in range(n):
        a = i // CHUNK * CHUNK
        far = k[sinks:max(sinks, a - window)]
        if len(far) <= tokens:
            continue
        by = np.argsort(-np.abs(q[i]) * k[:a].std(axis=0), kind="stable")[:components]
        scores = (far[:, by] * q[i, by]).sum(axis=1)  # equal keys have equal scores
        seen[i, sinks + np.argsort(-scores, kind="stable")[tokens:]] = False
    return base.seen_softmax(q, k, v, seen)


def block_sparse(q, k, v, block, top, window, sinks):
    n = len(q)
    seen = np.tril(np.ones((n, n), bool))
    weights = softmax(base.masked(q @ k.T / np.sqrt(q.shape[1]), True))
    for a in range(0, n, CHUNK):
        whole = max(0, a - window - sinks) // block
        mass = weights[a:a + CHUNK, sinks:sinks + whole * block].sum(axis=0).reshape(whole, block).sum(axis=1)
        for b in np.argsort(-mass, kind="stable")[top:]:
            seen[a:a + CHUNK, sinks + b * block:sinks + (b + 1) * block] = False
    return base.seen_softmax(q, k, v, seen)


def sparq_published(q, k, v, tokens, components, local):
    """alpha y + (1 - alpha) mean of the values, of each query over the tokens up to its own."""
    out, d = np.empty((len(q), v.shape[1]), q.dtype), q.shape[1]
    for i in range(len(q)):
        keys, values = k[:i + 1], v[:i + 1]
        by = np.argsort(-abs(q[i]), kind="stable")[:components]
        temperature = np.sqrt(d * abs(q[i, by]).sum() / abs(q[i]).sum())
        logits = (keys[:, by] * q[i, by]).sum(axis=1) / temperature
        last = np.arange(i + 1) > i - local
        chosen = np.lexsort((-logits, ~last))[:tokens]
        alpha = softmax(logits)[chosen].sum()
        y = softmax(keys[chosen] @ q[i] * q.dtype.type(1 / np.sqrt(d))) @ values[chosen]
        out[i] = alpha * y + (1 - alpha) * values.mean(axis=0)
    return out


def tova(layer, dtype, tokens):
    """All heads of one input; they keep the same tokens."""
    heads, kept = list(layer.heads(dtype)), []
    out = [np.empty((len(q), v.shape[1]), dtype) for q, _, v in heads]
    for i in range(layer.q.shape[1]):
        kept, total = [*kept, i], 0
        for (q, k, v), y in zip(heads, out):
            w = softmax(k[kept] @ q[i] * dtype(1 / np.sqrt(q.shape[1])))
            y[i] = w @ v[kept]
            total = total + w
        if len(kept) > tokens:
            del kept[np.argmin(total)]
    return np.stack(out)


def snapkv(q, k, v, prompt, tokens, window, kernel, pooling):
    """Softmax over what each query sees."""
    window = min(window, prompt)
    far, seen = prompt - window, np.tril(np.ones((len(q), len(q)), bool))
    votes = softmax(base.masked(q @ k.T * q.dtype.type(1 / np.sqrt(q.shape[1])), True))[far:prompt, :far].sum(axis=0)
    around = np.pad(votes, (kernel // 2, kernel - 1 - kernel // 2))
    around = np.stack([around[j:j + far] for j in range(kernel)])
    pooled = around.max(axis=0) if pooling == "largest" else around.mean(axis=0)
    hidden = np.argsort(-pooled, kind="stable")[tokens:]
    seen[prompt:, hidden] = False
    return base.seen_softmax(q, k, v, seen)


def curdkv(q, k, v, prompt, tokens, sinks, scores="norms", of="product", local=16, ridge=0.0, guide=None):
    """Softmax over what each query sees; leverage from the singular vectors."""
    def score(x):
        if scores == "leverage":
            u, s, _ = np.linalg.svd(x.astype(float), full_matrices=False)
            return (u**2 * s**2 / (s**2 + ridge * (s**2).sum() / len(s))).sum(axis=1)
        squares = (x**2).sum(axis=1)
        stretch = np.arange(prompt) // (local or prompt)
        return squares / np.bincount(stretch, squares)[stretch].astype(x.dtype)

    of_keys, of_values = score(k[:prompt]), score(v[:prompt, :guide])
    chosen = {"product": of_keys * of_values, "mean": (of_keys + of_values) / 2, "keys": of_keys,
              "values": of_values}[of]
    chosen[:sinks] = np.inf
    seen = np.tril(np.ones((len(q), len(q)), bool))
    seen[prompt:, np.argsort(-chosen, kind="stable")[tokens:]] = False
    return base.seen_softmax(q, k, v, seen)


CHOSEN = [(moba, {"block": 8, "top": 2, "window": 0, "sinks": 0}),
          (moba, {"block": 7, "top": 5, "window": 20, "sinks": 3}),
          (quest, {"page": 16, "top": 2}), (quest, {"page": 7, "top": 5}), (quest, {"page": 1, "top": 20}),
          (snapkv, {"prompt": 150, "tokens": 20, "window": 16, "kernel": 1, "pooling": "mean"}),
          (snapkv, {"prompt": 133, "tokens": 9, "window": 7, "kernel": 5, "pooling": "mean"}),
          (snapkv, {"prompt": 100, "tokens": 30, "window": 300, "kernel": 7, "pooling": "largest"}),
          (snapkv, {"prompt": 64, "tokens": 11, "window": 1, "kernel": 4, "pooling": "largest"}),
          (curdkv, {"prompt": 150, "tokens": 30, "sinks": 4}),
          (curdkv, {"prompt": 100, "tokens": 20, "sinks": 0, "of": "mean", "local": 7}),
          (curdkv, {"prompt": 133, "tokens": 9, "sinks": 20, "of": "keys", "local": 0}),
          (curdkv, {"prompt": 120, "tokens": 25, "sinks": 1, "of": "values", "local": 50}),
          (curdkv, {"prompt": 150, "tokens": 30, "sinks": 4, "scores": "leverage"}),
          (curdkv, {"prompt": 150, "tokens": 30, "sinks": 4, "scores": "leverage", "of": "keys"}),
          (curdkv, {"prompt": 140, "tokens": 40, "sinks": 0, "scores": "leverage", "of": "mean", "ridge": 0.5}),
          (sparq, {"window": 9, "tokens": 12, "components": 3, "sinks": 3}),
          (sparq, {"window": 40, "tokens": 5, "components": 50, "sinks": 50}),
          (sparq_published, {"tokens": 12, "components": 3, "local": 4}),
          (sparq_published, {"tokens": 40, "components": 50, "local": 0}),
          (sparq_published, {"tokens": 9, "components": 1, "local": 9}),
          (block_sparse, {"block": 8, "top": 3, "window": 10, "sinks": 4}),
          (block_sparse, {"block": 1, "top": 9, "window": 0, "sinks": 0})]
CASES = [("streamingllm(window={window}, sinks={sinks})", Slots, {}),
         ("strided(window={window}, sinks={sinks}, stride={stride})", Strided, {"stride": 7}),
         ("h2o(window={window}, sinks={sinks}, heavy={heavy})", HeavyHitters, {"heavy": 13}),
         ("tilted_segments(window={window}, sinks={sinks}, segment={segment})", TiltedSegments, {"segment": 9}),
         ("tilted_segments(window={window}, sinks={sinks}, segment={segment}, tilted=false)", TiltedSegments,
          {"segment": 20, "tilted": False})]
MERGING = "merging(window={window}, sinks={sinks}, landmarks={landmarks}, protected={protected})"


def layers():
    rng = np.random.default_rng(38)
    yield smooth(rng, 333, 24, heads=2, key_heads=1, scale=1.5)
    yield draw(rng, 200, 5, 40, scale=2)
    text = base.Layer(*(x[:2, :400] for x in read("experiments/data/smollm2_opticks_n1024_L15.safetensors")))
    yield base.Layer(text.q, text.k[:1], text.v[:1])


def read(path):
    """q, k and v of a head file."""
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    for tensor in map(json.loads(data[8:8 + size]).get, "qkv"):
        start, end = tensor["data_offsets"]
        yield np.frombuffer(data[8 + size + start:8 + size + end], np.float16).reshape(tensor["shape"])


def relative(y, want):
    return np.linalg.norm(y - want) / np.linalg.norm(want)


def outputs(layer, kind, **options):
    return base.each_head(layer, float, lambda *head: kind(*head, **options).outputs())


def matrix(kind, q, k, v, options):
    """S~, as the formulas have it with this V."""
    both = np.hstack([v, np.eye(len(q))])
    if kind is curdkv:
        return curdkv(q, k, both, **options, guide=v.shape[1])[:, v.shape[1]:]
    if kind in (moba, quest, snapkv, sparq, sparq_published, block_sparse):
        return kind(q, k, both, **options)[:, v.shape[1]:]
    head = kind(q, k, both, **options)
    head.guide = v.shape[1]
    return head.outputs()[:, v.shape[1]:]


def matrix_error(layer, kind, options):
    heads = list(layer.heads(float))
    s = np.array([softmax(base.masked(q @ k.T / np.sqrt(q.shape[1]), True)) for q, k, _ in heads])
    return relative(np.array([matrix(kind, *head, options) for head in heads]), s)


def measured_errors(program, layer, specs):
    """The column `error` of the forward study, spec by spec."""
    config, run = (os.path.join(program.work, name) for name in ("matrix.yaml", "matrix"))
    labelled = [f"{spec[:-1]}, label=s{i})" for i, spec in enumerate(specs)]
    with open(config, "w", encoding="utf-8") as f:
        json.dump({"study": "forward", "problems": f'heads(file="{layer.path}", causal=true)', "attentions": labelled,
                   "rounds": 1, "seconds": 0.001, "trials": 1, "plots": [], "metrics": ["error"]}, f)
    subprocess.run([program.path, "run", config, "--fresh", "--quiet", "--out", run], check=True, capture_output=True)
    with open(os.path.join(run, "rows.csv"), encoding="utf-8", newline="") as f:
        found = {row["attention_label"]: row["error"] for row in csv.DictReader(f)}
    return [float(found[f"s{i}"]) for i in range(len(specs))]


def check_matrices(program, double, layer, cases):
    """In single precision rounding of the weights, and for merging other decisions too, as for outputs."""
    wanted = [matrix_error(layer, kind, options) for _, kind, options in cases]
    for made, allowed in ((program, 1e-5), (double, base.DOUBLE)):
        if not made:
            continue
        for (spec, kind, _), want, error in zip(cases, wanted,
                                                measured_errors(made, layer, [spec for spec, *_ in cases])):
            off = abs(error - want) / (want if kind is Merging and made is program else 1)
            tap.check(off <= (0.05 if kind is Merging and made is program else allowed),
                      f"|S - S~| of {spec}, n = {layer.q.shape[1]}, {made.dtype.__name__}: {off:.1e} off")


def in_double(double, layer, spec, want):
    error = relative(double.forward(layer, spec, True), want)
    tap.check(error <= base.DOUBLE, f"{spec}, n = {layer.q.shape[1]}, in double: {error:.1e} off")


def check_layer(program, double, layer):
    cases = []
    for window, sinks in ((9, 3), (0, 0), (40, 50)):
        for spec, kind, more in CASES:
            options = {"window": window, "sinks": sinks, **more}
            spec = spec.format(**options)
            compare_heads(layer, spec, lambda *head: kind(*head, **options).outputs(), True,
                          f", n = {layer.q.shape[1]}")
            if double:
                in_double(double, layer, spec, outputs(layer, kind, **options))
            cases.append((spec, kind, options))
    for formula, options in CHOSEN:
        spec = f"{formula.__name__}({', '.join(f'{key}={value}' for key, value in options.items())})"
        compare_heads(layer, spec, lambda *head: formula(*head, **options), True, f", n = {layer.q.shape[1]}")
        if double:
            in_double(double, layer, spec, base.each_head(layer, float, lambda *head: formula(*head, **options)))
        cases.append((spec, formula, options))
    for tokens in (1, 20, 90):
        base.compare(f"tova(tokens={tokens}), n = {layer.q.shape[1]}", layer, f"tova(tokens={tokens})",
                     lambda dtype: tova(layer, dtype, tokens), True)
        if double:
            in_double(double, layer, f"tova(tokens={tokens})", tova(layer, float, tokens))
    right = base.each_head(layer, float, lambda *head: exact(*head, causal=True))
    for window, sinks, landmarks, protected in ((9, 3, 12, 0), (0, 0, 30, 0.3), (40, 4, 5, 0), (20, 4, 17, 0.9)):
        options = {"window": window, "sinks": sinks, "landmarks": landmarks, "protected": protected}
        spec, want = MERGING.format(**options), outputs(layer, Merging, **options)
        if double:
            in_double(double, layer, spec, want)
        ratio = relative(program.forward(layer, spec, True), right) / relative(want, right)
        tap.check(0.95 < ratio < 1.05, f"{spec}, n = {layer.q.shape[1]}: {ratio:.4f} times the error of its formulas")
        cases.append((spec, Merging, options))
    check_matrices(program, double, layer, cases)


def check_equal_keys():
    """Of tokens with the same key the earlier ones are chosen."""
    layer = draw(np.random.default_rng(3), 300, 6, 5)
    layer = base.Layer(layer.q, layer.k[:, np.arange(300) % 7], layer.v)
    options = {"window": 20, "tokens": 25, "components": 4, "sinks": 2}
    compare_heads(layer, "sparq(window=20, tokens=25, components=4, sinks=2)", lambda *head: sparq(*head, **options),
                  True,
                  ", equal keys")


def main():
    path = "build/double/nysbench"
    program, double = base.program, None
    if os.path.realpath(program.path) == os.path.realpath("build/nysbench"):
        if os.path.exists(path):
            double = Program(path, program.work, np.float64)
        else:
            tap.skip("in double precision", f"there is no {path}: make {path}")
    for layer in layers():
        check_layer(program, double, layer)
    check_equal_keys()
    print(f"1..{tap.count}")
    return tap.failed > 0


if __name__ == "__main__":
    base.program = Program(*sys.argv[1:3])
    sys.exit(main())
