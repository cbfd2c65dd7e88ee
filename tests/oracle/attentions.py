# SPDX-License-Identifier: GPL-3.0-or-later
"""Recomputes the outputs of `nysbench forward` with NumPy, in double, from the definition of each attention.

usage: attentions.py NYSBENCH WORK_FOLDER [short]

Prints TAP. Heads are drawn here and written as float32. Tolerances, u = 2^-24:

* Any. What becomes of an error in, say, A depends on the rest, so it is measured: the same formula in NumPy's float32
  differs from that in double by e (Frobenius norm of the layer). 10 e + 10 u of the norm is allowed, since NumPy adds in
  another order and has another exponential.
* Exact attention, each entry. A sum of n terms has an error of at most 6 sqrt(n) u times the sum of their absolute values: rounding
  errors are independent and of mean 0, and six standard deviations are more than ever happens (Higham & Mary 2019). So
  a logit is off by dz = (6 sqrt(d) + 4) u |q|'|k| / sqrt(d), a weight by the factor exp(2 dz) and by those of the
  exponential (8 u) and of its sum, an output by that of its own sum: `bound`, which holds where rows hardly count in the norm.
"""
import itertools
import json
import os
import struct
import subprocess
import sys

import numpy as np

U = 2.0**-24
GOLDEN = "tests/oracle/golden/nystromformer"
SIZES, DIMENSIONS = (1, 2, 63, 64, 65, 1000), (1, 16, 64, 80, 128)
EXACT = ("naive", "streamed", "streamed(tile=7)")


class Tap:
    def __init__(self):
        self.count, self.bad = 0, 0

    def __call__(self, name, good, detail=""):
        self.count += 1
        self.bad += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}", flush=True)
        if not good:
            print(f"{name}: {detail}", file=sys.stderr)


tap = Tap()


class Layer:
    """q (heads, n, d), k and v (key heads, n, d and dv) in float32, and the file that holds them."""

    written = 0

    def __init__(self, q, k, v, inputs=0):
        self.q, self.k, self.v = (np.asarray(x, np.float32) for x in (q, k, v))
        self.inputs = inputs
        Layer.written += 1
        self.path = os.path.join(program.work, f"layer{Layer.written}.safetensors")
        header, data = {}, b""
        for name, x in zip("qkv", (self.q, self.k, self.v)):
            shape = x.shape if not inputs else (inputs, x.shape[0] // inputs, *x.shape[1:])
            header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + x.nbytes]}
            data += x.tobytes()
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(self.path, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text + data)

    def heads(self, dtype=float):
        """q, k, v of each query head."""
        group = len(self.q) // len(self.k)
        for h in range(len(self.q)):
            yield tuple(x.astype(dtype) for x in (self.q[h], self.k[h // group], self.v[h // group]))


class Program:
    def __init__(self, path, work):
        self.path, self.work, self.missing = path, work, {}
        os.makedirs(work, exist_ok=True)
        listed = subprocess.run([path, "list", "attentions"], capture_output=True, text=True).stdout
        self.attentions = [line.split()[0] for line in listed.splitlines() if line.strip()]

    def forward(self, layer, spec, causal=False, threads=2, **more):
        """The outputs (heads, n, dv)."""
        out = os.path.join(self.work, "out.npy")
        options = [word for key, value in more.items() for word in (f"--{key}", str(value))]
        done = subprocess.run([self.path, "forward", "--head", getattr(layer, "path", layer), "--attention", spec,
                               f"--causal={str(causal).lower()}", "--threads", str(threads), *options, "-o", out],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{spec}: exit status {done.returncode}: {done.stderr.strip()}")
        y = np.load(out)
        if y.dtype != np.float32:
            raise RuntimeError(f"{spec}: the output is {y.dtype}")
        return y


def draw(rng, n, d, dv=None, heads=1, key_heads=None, scale=1.0):
    key_heads = key_heads or heads
    return Layer(scale * rng.standard_normal((heads, n, d)), scale * rng.standard_normal((key_heads, n, d)),
                 rng.standard_normal((key_heads, n, dv or d)))


def softmax(x):
    x = np.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)


def masked(z, causal):
    return np.where(np.tril(np.ones(z.shape, bool)), z, -np.inf) if causal else z


def exact(q, k, v, causal=False):
    return softmax(masked(q @ k.T * q.dtype.type(1 / np.sqrt(q.shape[1])), causal)) @ v


def bound(q, k, v, causal=False, exact_logits=False):
    """What rounding may do to each entry of exact attention's output."""
    n, d = q.shape
    p = softmax(masked(q @ k.T / np.sqrt(d), causal))
    dz = 0.0 if exact_logits else (6 * np.sqrt(d) + 4) * U * np.where(p > 0, abs(q) @ abs(k).T, 0).max(1) / np.sqrt(d)
    relative = np.expm1(2 * dz) + (2 * 6 * np.sqrt(n) + 16) * U
    return np.reshape(relative, (-1, 1)) * (p @ abs(v)) + 1e-30


def compare(name, layer, spec, formula, causal=False, allowed=None, **more):
    """formula(q, k, v) gives a head's output in the precision of its arguments; `allowed` what each entry may be off."""
    try:
        y = program.forward(layer, spec, causal, **more)
    except RuntimeError as error:
        return tap(name, False, error)
    want = np.stack([formula(*head) for head in layer.heads()])
    single = np.stack([formula(*head) for head in layer.heads(np.float32)])
    y = y.reshape(-1, *y.shape[-2:])
    if y.shape != want.shape or single.dtype != np.float32:
        return tap(name, False, f"shape {y.shape}, expected {want.shape}; {single.dtype}")
    size = np.linalg.norm(want)
    off = np.linalg.norm(y - want) / (10 * np.linalg.norm(single - want) + 10 * U * size)
    entries = 0.0 if allowed is None else (abs(y - want) / np.stack([allowed(*head) for head in layer.heads()])).max()
    return tap(f"{name}: {off:.2g} of what is allowed", off <= 1 and entries <= 1,
               f"norm of the difference {np.linalg.norm(y - want) / size:.2g} of the norm of the output; "
               f"entries are off by up to {entries:.2g} of their bound")


def compare_exact(name, layer, spec, causal=False, exact_logits=False):
    return compare(name, layer, spec, lambda q, k, v: exact(q, k, v, causal), causal,
                   lambda q, k, v: bound(q, k, v, causal, exact_logits))


def test_exact(short):
    """Sizes below and above blocks, dimensions, masks."""
    rng = np.random.default_rng(1)
    cases = list(itertools.product(SIZES, DIMENSIONS, (False, True)))
    for n, d, causal in cases[::7] if short else cases:
        layer = draw(rng, n, d, scale=1.2)
        for spec in EXACT if d == 64 else EXACT[:2]:
            compare_exact(f"{spec}, n = {n}, d = {d}{', causal' * causal}", layer, spec, causal)
    for d, dv, causal in ((64, 48, False), (16, 80, True), (80, 1, True), (1, 16, False)):
        layer = draw(rng, 200, d, dv)
        for spec in EXACT:
            compare_exact(f"{spec}, d = {d}, dv = {dv}{', causal' * causal}", layer, spec, causal)
    layer = draw(rng, 300, 16, 24, heads=8, key_heads=2)
    for spec, causal in itertools.product(EXACT, (False, True)):
        compare_exact(f"{spec}, 8 query heads on 2 key heads{', causal' * causal}", layer, spec, causal)


def test_extremes():
    """Logits of +-1e4, which are integers here and so exact; keys that are all the same; rows of S that sum to 1."""
    rng = np.random.default_rng(2)
    signs = rng.choice([-1.0, 1.0], (1, 700, 64))
    q = 1250 * rng.choice([-1.0, 1.0], (1, 700, 64))
    k = np.where(rng.random((1, 700, 1)) < 0.3, np.sign(q[:, rng.integers(700, size=700)]), signs)
    k[0, ::5] = -np.sign(q[0, ::5])
    v = rng.standard_normal((1, 700, 64))
    order = np.argsort(k[0] @ q[0, 0])
    ones = np.ones((1, 700, 64))
    layers = {"logits of 1e4": Layer(q, k, v), "the largest last": Layer(q[:, :1].repeat(700, 1), k[:, order], v),
              "the largest first": Layer(q[:, :1].repeat(700, 1), k[:, order[::-1]], v),
              "keys all the same": Layer(q, k[:, :1].repeat(700, 1), v), "sums of rows": Layer(q, k, ones),
              "keys and queries 0": Layer(0 * q, 0 * k, v)}
    assert abs(q[0] @ k[0].T / 8).max() == 1e4
    for (name, layer), spec, causal in itertools.product(layers.items(), EXACT, (False, True)):
        compare_exact(f"{spec}, {name}{', causal' * causal}", layer, spec, causal, exact_logits=True)
    layer = draw(rng, 1000, 80, scale=1.5)
    layer = Layer(layer.q, layer.k, np.ones((1, 1000, 3)))
    for spec, causal in itertools.product(EXACT, (False, True)):
        off = abs(program.forward(layer, spec, causal) - 1).max() / U
        allowed = 2 * 6 * np.sqrt(1000)  # the sum that divides, and that of the products
        tap(f"{spec}, rows of S sum to 1{', causal' * causal}: {off:.1f} u off", off <= allowed)


def test_threads(specs):
    """The same bytes with 1, 2 and 3 threads, and on files of inputs."""
    rng = np.random.default_rng(3)
    for n, heads in ((65, 1), (1000, 3)):
        layer = draw(rng, n, 64, heads=heads)
        for spec, causal in specs:
            outputs = [program.forward(layer, spec, causal, threads).tobytes() for threads in (1, 2, 3)]
            tap(f"{spec}, n = {n}{', causal' * causal}: the same bytes with 1, 2 and 3 threads",
                outputs[0] == outputs[1] == outputs[2])
    layer = draw(rng, 100, 16, heads=6)
    batch = Layer(layer.q, layer.k, layer.v, inputs=2)
    for spec, causal in specs:
        one, two = program.forward(layer, spec, causal), program.forward(batch, spec, causal)
        tap(f"{spec}: a file of 2 inputs has their outputs{', causal' * causal}",
            two.shape == (2, 3, 100, 16) and one.tobytes() == two.tobytes())


def main():
    short = sys.argv[3:] == ["short"]
    test_exact(short)
    test_extremes()
    test_threads(list(itertools.product(EXACT, (False, True))))
    print(f"1..{tap.count}")
    return tap.bad > 0


if __name__ == "__main__":
    program = Program(*sys.argv[1:3])
    sys.exit(main())
