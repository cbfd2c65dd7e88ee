# SPDX-License-Identifier: GPL-3.0-or-later
"""Recomputes the outputs of `nysbench forward` with NumPy, in double, from the definition of each attention.

usage: attentions.py NYSBENCH WORK_FOLDER [short]

Prints TAP. Heads are drawn here and written as float32. Tolerances, u = 2^-24:

* Any attention. What becomes of an error in, say, A depends on the rest, so it is measured: the same formula in NumPy's
  float32 differs from that in double by e (Frobenius norm of the layer). 10 e + 10 u of the norm is allowed, since
  NumPy adds in another order and has another exponential.
* Exact attention, each entry. A sum of n terms has an error of at most 6 sqrt(n) u times the sum of their absolute
  values: rounding errors are independent and of mean 0, and six standard deviations are more than ever happens
  (Higham & Mary 2019). So a logit is off by dz = (6 sqrt(d) + 4) u |q|'|k| / sqrt(d), a weight by the factor
  exp(2 dz) and by those of the exponential (8 u) and of its sum, an output by that of its own sum: `bound`, which
  holds where rows hardly count in the norm.
* Published implementations (tests/oracle/golden/nystromformer.py): ten times what Hugging Face's own float32 is off.
* The build in double precision (build/double/nysbench, beside build/nysbench): 1e-12 of the norm. Rounding is 2^-53 =
  1.1e-16; sums of some hundred terms, and an X whose norm is up to 1000 (svd and tikhonov cut there, the iteration has
  no larger one after six steps), leave 1e-14 to 1e-13 of it. Anything that is computed in single precision is off by
  1e-8, and another formula by more.
"""
import functools
import itertools
import json
import os
import struct
import subprocess
import sys

import numpy as np
import scipy.linalg
import scipy.special

from measures import Tap, write_safetensors
from pivoting import Stream, random_pivots

U = 2.0**-24
DOUBLE = 1e-12
GOLDEN = "tests/oracle/golden/nystromformer"
SIZES, DIMENSIONS = (1, 2, 63, 64, 65, 1000), (1, 16, 64, 80, 128)
EXACT = ("naive", "streamed", "streamed(tile=7)")


tap = Tap()


class Layer:
    """q (heads, n, d), k and v (key heads, n, d and dv) in float32, and the file that holds them."""

    written = 0

    def __init__(self, q, k, v, inputs=0):
        self.q, self.k, self.v = (np.asarray(x, np.float32) for x in (q, k, v))
        self.inputs = inputs
        Layer.written += 1
        self.path = os.path.join(program.work, f"layer{Layer.written}.safetensors")
        shape = (inputs, -1) if inputs else (-1,)
        write_safetensors(self.path,
                          {name: x.reshape(*shape, *x.shape[1:]) for name, x in zip("qkv", (self.q, self.k, self.v))})

    def heads(self, dtype=float):
        """q, k, v of each query head."""
        group = len(self.q) // len(self.k)
        for h in range(len(self.q)):
            yield tuple(x.astype(dtype) for x in (self.q[h], self.k[h // group], self.v[h // group]))


class Program:
    def __init__(self, path, work, dtype=np.float32):
        self.path, self.work, self.dtype = path, work, dtype
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
        if y.dtype != self.dtype:
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


def each_head(layer, dtype, formula):
    return np.stack([formula(*head) for head in layer.heads(dtype)])


def compare(name, layer, spec, formula, causal=False, allowed=None, want=None, **more):
    """formula(dtype) gives the outputs in a precision, `want` those in double, `allowed` what each entry may be off."""
    try:
        y = program.forward(layer, spec, causal, **more)
    except RuntimeError as error:
        return tap.check(False, name, error)
    want, single = formula(float) if want is None else want, formula(np.float32)
    y = y.reshape(-1, *y.shape[-2:])
    if y.shape != want.shape or single.dtype != np.float32:
        return tap.check(False, name, f"shape {y.shape}, expected {want.shape}; {single.dtype}")
    size = np.linalg.norm(want)
    off = np.linalg.norm(y - want) / (10 * np.linalg.norm(single - want) + 10 * U * size)
    entries = 0.0 if allowed is None else (abs(y - want) / each_head(layer, float, allowed)).max()
    return tap.check(off <= 1 and entries <= 1, f"{name}: {off:.2g} of what is allowed",
                     f"norm of the difference {np.linalg.norm(y - want) / size:.2g} of the norm of the output; "
                     f"entries are off by up to {entries:.2g} of their bound")


def compare_exact(name, layer, spec, causal=False, exact_logits=False):
    return compare(name, layer, spec, lambda dtype: each_head(layer, dtype, lambda *head: exact(*head, causal)), causal,
                   lambda *head: bound(*head, causal, exact_logits))


def test_exact(short):
    """Sizes below and above blocks, dimensions, masks."""
    rng = np.random.default_rng(1)
    # Each size with each dimension, half of them under a mask, in a chequered pattern.
    cases = [(n, d, (i + j) % 2 == 1) for (i, n), (j, d) in itertools.product(enumerate(SIZES), enumerate(DIMENSIONS))]
    for n, d, causal in cases[::4] if short else cases:
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
        tap.check(off <= allowed, f"{spec}, rows of S sum to 1{', causal' * causal}: {off:.1f} u off")


def test_threads(specs):
    """The same bytes with 1, 2 and 3 threads, and on files of inputs."""
    rng = np.random.default_rng(3)
    for n, heads in ((65, 1), (1000, 3)):
        layer = draw(rng, n, 64, heads=heads)
        for spec, causal in specs:
            outputs = [program.forward(layer, spec, causal, threads).tobytes() for threads in (1, 2, 3)]
            tap.check(outputs[0] == outputs[1] == outputs[2],
                      f"{spec}, n = {n}{', causal' * causal}: the same bytes with 1, 2 and 3 threads")
    layer = draw(rng, 100, 16, heads=6)
    batch = Layer(layer.q, layer.k, layer.v, inputs=2)
    for spec, causal in specs:
        one, two = program.forward(layer, spec, causal), program.forward(batch, spec, causal)
        tap.check(two.shape == (2, 3, 100, 16) and one.tobytes() == two.tobytes(),
                  f"{spec}: a file of 2 inputs has their outputs{', causal' * causal}")


def segments(n, m):
    """The group of each token: m stretches of n / m tokens, the last ones longer by one if need be."""
    return np.repeat(np.arange(m), [n // m + (j >= m - n % m) for j in range(m)])


def iterate(a, steps, divisor):
    x, identity = a.T / divisor, np.eye(len(a))
    for _ in range(steps):
        ax = a @ x
        x = 0.25 * x @ (13 * identity - ax @ (15 * identity - ax @ (7 * identity - ax)))
    return x


def filtered(a, keep):
    u, s, vt = np.linalg.svd(a)
    return (vt.T * keep(s)) @ u.T


def one(a):
    return abs(a).sum(axis=0).max()


# Each core as a function of A and of the largest |A|_1 of the layer.
CORES = {
    "svd": lambda a, _: filtered(a, lambda s: 1 / s),
    "svd(rcond=0.001)": lambda a, _: filtered(a, lambda s: np.where(s > 1e-3 * s[0], 1 / s, 0)),
    "tikhonov(lambda=0.0001)": lambda a, _: filtered(a, lambda s: s / (s**2 + 1e-4 * s[0] ** 2)),
    "iterative": lambda a, _: iterate(a, 6, one(a) * one(a.T)),
    "iterative(steps=3, start=exact)": lambda a, _: iterate(a, 3, one(a)),
    "iterative(start=worst)": lambda a, _: iterate(a, 6, len(a)),
    "iterative(start=given, scale=5)": lambda a, _: iterate(a, 6, 5),
    "iterative(start=batch)": lambda a, largest: iterate(a, 6, largest),
}


class Landmarks:
    """Those that `nysbench select` picks for each head: tokens (m), or points (m, d)."""

    def __init__(self, layer, strategy, m, pairing=None, causal=False):
        self.picks = []
        out = os.path.join(program.work, "picks.npy")
        for head in range(len(layer.q)):
            sides = []
            for side in ("queries", "keys"):
                command = [program.path, "select", "--head", f"{layer.path}:{head}", "--strategy", strategy,
                           "--landmarks", str(m), "--side", side, "--draws", "shared",
                           f"--causal={str(causal).lower()}", "-o", out]
                subprocess.run(command + (["--pairing", pairing] if pairing else []), check=True, capture_output=True)
                sides.append(np.load(out))
            self.picks.append(sides)

    def place(self, head, q, k):
        return tuple((x[picks] if picks.ndim == 1 else picks).astype(x.dtype)
                     for x, picks in zip((q, k), self.picks[head]))


def factors_of(q, k, head, landmarks, kind="nystromformer", causal=False):
    """F, A, B of a head, A in double, as `forward` has it."""
    scale = q.dtype.type(1 / np.sqrt(q.shape[1]))
    if kind == "cur":
        s = softmax(masked(q @ k.T * scale, causal))
        rows, columns = landmarks.picks[head]
        return s[:, columns], s[np.ix_(rows, columns)].astype(float), s[rows]
    q_landmarks, k_landmarks = landmarks.place(head, q, k)
    a = softmax(q_landmarks.astype(float) @ k_landmarks.astype(float).T / np.sqrt(q.shape[1]))
    return softmax(q @ k_landmarks.T * scale), a, softmax(q_landmarks @ k.T * scale)


def nystrom(layer, dtype, landmarks, core, kind="nystromformer", causal=False):
    """F (X (B V)) of each head; X and what it is multiplied with in double."""
    heads = [(*factors_of(q, k, h, landmarks, kind, causal), v) for h, (q, k, v) in enumerate(layer.heads(dtype))]
    largest = max(one(a) for _, a, _, _ in heads)
    x = [core(a, largest) for _, a, _, _ in heads]
    return np.stack([f @ (y @ (b @ v).astype(float)).astype(dtype) for (f, _, b, v), y in zip(heads, x)])


def smooth(rng, n, d, heads=1, key_heads=None, scale=1.0):
    """Each token is near the one before, so that landmarks stand for something."""
    layer = draw(rng, n, d, heads=heads, key_heads=key_heads)
    for x in (layer.q, layer.k):
        for i in range(1, n):
            x[:, i] = 0.8 * x[:, i - 1] + 0.6 * x[:, i]
    return Layer(scale * layer.q, scale * layer.k, layer.v)


def compare_nystrom(layer, strategy, m, core="iterative", pairing=None, kind="nystromformer", causal=False, name="",
                    spec=None):
    landmarks = Landmarks(layer, strategy, m, pairing, causal)
    function = CORES.get(core) or (lambda a, _: np.eye(len(a)))
    options = f"strategy={strategy}, landmarks={m}, core={core}, factors={kind}, pairing={pairing or 'own'}"
    spec = spec or f"nystrom({options})"
    return compare(f"{spec}{name}{', causal' * causal}", layer, spec,
                   lambda dtype: nystrom(layer, dtype, landmarks, function, kind, causal), causal)


def test_nystrom(short):
    """Strategies, pairings, cores and factors against F X B V, on the landmarks that `nysbench select` picks."""
    rng = np.random.default_rng(4)
    layer, grouped = smooth(rng, 200, 16, heads=2), smooth(rng, 200, 16, heads=4, key_heads=2)
    good = padded_good = True
    for n, m in ((200, 24), (64, 16), (65, 64), (5, 5), (1, 1)):
        small = smooth(rng, n, 16)
        picked = Landmarks(small, "segment_means", m).picks[0][0]
        good &= np.allclose(picked, [small.q[0][segments(n, m) == j].mean(axis=0) for j in range(m)], atol=1e-6)
        picked, zeros = Landmarks(small, "segment_means(padded=true)", m).picks[0][1], -n % m
        padded_good &= np.allclose(picked, np.pad(small.k[0], ((zeros, 0), (0, 0))).reshape(m, -1, 16).mean(axis=1),
                                   atol=1e-6)
    tap.check(good, "segment_means are means of stretches as long as each other")
    tap.check(padded_good, "segment_means(padded=true) are means of stretches behind zeros")
    for core in list(CORES)[1:]:
        compare_nystrom(layer, "segment_means", 24, core)
    some = ("subsample(of=pilot, tokens=90, first=1)", "subsample(of=leverage, tokens=70)",
            "subsample(of=kmeans, tokens=50, take=even)")  # a pass reads these tokens alone, `select` all
    strategies = ("segment_means", "uniform", *some) if short else (
        *some, "subsample(of=profile(rows=30), tokens=80)", "uniform", "group_means", "kmeans(restarts=2)",
        "farthest_point", "orthogonal", "profile", "leverage")
    for strategy in strategies:
        for pairing in ("independent", "joint") if strategy in ("uniform", "kmeans(restarts=2)") else (None,):
            compare_nystrom(layer, strategy, 20, pairing=pairing)
    for pairing in ("queries", "keys"):
        compare_nystrom(grouped, "kmeans", 10, "iterative(start=batch)", pairing)
    for n, m in ((1, 1), (2, 1), (63, 7), (65, 64), (1000, 64), (2050, 300)):
        compare_nystrom(smooth(rng, n, 64), "segment_means", m, name=f", n = {n}")
    for kind, core, causal in (("nocore", "identity", False), ("cur", "svd(rcond=0.001)", False),
                               ("cur", "svd(rcond=0.001)", True), ("cur", "tikhonov(lambda=0.0001)", True)):
        compare_nystrom(grouped, "uniform", 20, core, None, kind, causal)
    for n, m in ((200, 7), (1024, 10)):
        compare_nystrom(smooth(rng, n, 16, heads=2), "kmeans(iterations=10, snap=nearest)", m, "iterative", "queries",
                        spec="gpa", name=f", n = {n}")
    layer = draw(rng, 60, 16, heads=2, scale=2)
    for strategy in ("segment_means", "uniform"):  # F = A = B = S
        compare(f"nystrom({strategy}), m = n: exact attention", layer,
                f"nystrom(strategy={strategy}, landmarks=60, core=svd(rcond=0))",
                lambda dtype: nystrom(layer, dtype, Landmarks(layer, strategy, 60), lambda a, _: np.linalg.inv(a)),
                want=each_head(layer, float, exact))
    test_chunks(smooth(rng, 1500, 32, heads=2))


def test_chunks(layer):
    outputs = {program.forward(layer, f"nystrom(landmarks=50, chunk={c})", threads=t).tobytes()
               for c, t in itertools.product((1, 256, 600, 10**6), (1, 2, 3))}
    tap.check(len(outputs) == 1, "nystrom: the same bytes whatever the chunk and the number of threads")


def convolved(v, weights):
    """Each column of v with the weights, zeros before the first token and after the last."""
    half = len(weights) // 2
    padded = np.pad(v, ((half, half), (0, 0)))
    return sum(w * padded[t:t + len(v)] for t, w in enumerate(weights))


def golden(name):
    return np.load(os.path.join(GOLDEN, f"{name}.npy")).astype(float)


def golden_layer(name, pad=0):
    """The points of a golden file, `pad` zero tokens before them: as a Layer of all inputs."""
    data = open(os.path.join(GOLDEN, f"{name}.safetensors"), "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    points = []
    for tensor in map(json.loads(data[8:8 + size]).get, "qkv"):
        x = np.frombuffer(data, np.float16, offset=8 + size + tensor["data_offsets"][0], count=np.prod(tensor["shape"]))
        x = x.reshape(tensor["shape"])
        points.append(np.pad(x, ((0, 0), (0, 0), (pad, 0), (0, 0))).reshape(-1, x.shape[2] + pad, x.shape[3]))
    return Layer(*points, inputs=tensor["shape"][0])


def test_skip():
    """Kernels of a file, of odd and even width, and the one of least squares, which all inputs of a head share."""
    rng = np.random.default_rng(12)
    layer = draw(rng, 150, 16, 24, heads=6)
    batch = Layer(layer.q, layer.k, layer.v, inputs=2)
    for width in (1, 8, 33, 301):
        kernel, path = rng.standard_normal((6, width)).astype(np.float32), os.path.join(program.work, "kernel.npy")
        np.save(path, kernel[:, None, :, None] if width == 33 else kernel)
        heads = iter([*kernel, *kernel])
        compare_heads(layer, f"skip(of=streamed, kernel=\"{path}\")", lambda q, k, v: exact(q, k, v) +
                      convolved(v, next(heads).astype(q.dtype)), name=f", width {width}")
    of, width = "linear", 9
    plain = program.forward(batch, of).astype(float).reshape(6, 150, 24)
    shifted = [np.stack([convolved(v, row) for row in np.eye(width)]) for _, _, v in layer.heads()]
    rest = each_head(layer, float, exact) - plain
    want = np.empty_like(plain)
    for h in range(3):
        columns = np.concatenate([shifted[h], shifted[h + 3]], axis=1).reshape(width, -1).T
        kernel = np.linalg.lstsq(columns, np.concatenate([rest[h], rest[h + 3]]).ravel(), rcond=None)[0]
        for i in (h, h + 3):
            want[i] = plain[i] + np.tensordot(kernel, shifted[i], 1)
    got = program.forward(batch, f"skip(of={of}, kernel=fitted, width={width})").reshape(want.shape)
    off = np.linalg.norm(got - want) / np.linalg.norm(want) / U
    tap.check(off <= 50, f"skip, fitted to two inputs: {off:.1f} u off")  # sums of few terms, a well-conditioned kernel


def golden_errors(by):
    """What a program is off from Hugging Face's and lucidrains' outputs, in double: name, relative error."""
    facts = json.load(open(os.path.join(GOLDEN, "facts.json")))
    cases = [("layer", "layer", "batch"), ("layer", "layer", "given"), ("mate-one", "mate", "batch"),
             ("mate-two", "mate", "batch"), ("mate-one-exact", "mate", "exact"), ("lucidrains", "lucidrains", "given")]
    for name, kernel, start in cases:
        m, want = facts[name]["landmarks"], golden(name)
        layer = golden_layer(name.replace("-exact", ""), 9 if name == "lucidrains" else 0)
        given = f", scale={facts[name]['scale']}" if start == "given" else ""
        of, kernel = f"nystrom(landmarks={m}, core=iterative(start={start}{given}))", f"{GOLDEN}/{kernel}-kernel.npy"
        y = by.forward(layer, f"skip(of={of}, kernel=\"{kernel}\")")
        y, want = (x.reshape(-1, *x.shape[-2:]) for x in (y, want))
        y = y[:len(want), -want.shape[1]:]
        yield f"golden {name}, start={start}", np.linalg.norm(y - want) / np.linalg.norm(want)


def test_golden():
    single = np.linalg.norm(golden("layer-float32") - golden("layer")) / np.linalg.norm(golden("layer"))
    for name, error in golden_errors(program):
        tap.check(error <= 10 * single, f"{name}: {error / (10 * single):.2g} of what is allowed")


def test_double():
    """The same code in double precision, where that was built too."""
    path = "build/double/nysbench"
    if os.path.realpath(program.path) != os.path.realpath("build/nysbench"):
        return  # another build than the one that it stands beside
    if not os.path.exists(path):
        tap.skip("in double precision", f"there is no {path}: make {path}")
        return
    double = Program(path, program.work, np.float64)
    for name, error in golden_errors(double):
        tap.check(error <= DOUBLE, f"{name}, in double: {error:.1e} off")
    rng = np.random.default_rng(13)
    layer = smooth(rng, 200, 16, heads=4, key_heads=2)

    def check(spec, want, causal=False):
        error = np.linalg.norm(double.forward(layer, spec, causal) - want) / np.linalg.norm(want)
        tap.check(error <= DOUBLE, f"{spec}{', causal' * causal}, in double: {error:.1e} off")

    for spec, causal in itertools.product(EXACT, (False, True)):
        check(spec, each_head(layer, float, lambda *head: exact(*head, causal)), causal)
    for strategy, pairing, kind, core, causal in (
            ("segment_means", None, "nystromformer", "iterative", False),
            ("segment_means", None, "nystromformer", "iterative(start=batch)", False),
            ("segment_means", None, "nystromformer", "svd(rcond=0.001)", False),
            ("kmeans(restarts=2)", "joint", "nystromformer", "iterative(steps=3, start=exact)", False),
            ("kmeans(restarts=2)", "queries", "nystromformer", "tikhonov(lambda=0.0001)", False),
            ("uniform", "independent", "nystromformer", "iterative(start=worst)", False),
            ("uniform", None, "nocore", "identity", False),
            ("uniform", None, "cur", "svd(rcond=0.001)", False),
            ("subsample(of=pilot, tokens=90)", None, "cur", "svd(rcond=0.001)", True),
            ("uniform", None, "cur", "svd(rcond=0.001)", True)):
        landmarks = Landmarks(layer, strategy, 20, pairing, causal)
        function = CORES.get(core) or (lambda a, _: np.eye(len(a)))
        check(f"nystrom(strategy={strategy}, landmarks=20, core={core}, factors={kind}, pairing={pairing or 'own'})",
              nystrom(layer, float, landmarks, function, kind, causal), causal)
    for spec, formula in (*kernel_ridge_cases(), *near_far_cases()):
        check(spec, each_head(layer, float, formula))
    for spec, formula in fitted_cases(layer):
        check(spec, formula(float))


def weighted(weights, v):
    """Rows of weights, divided by their sums, times v; a row of zeros gives 0."""
    sums = weights.sum(axis=1, keepdims=True)
    return weights @ v / np.where(sums > 0, sums, 1)


def seen_softmax(q, k, v, seen):
    return softmax(np.where(seen, q @ k.T * q.dtype.type(1 / np.sqrt(q.shape[1])), -np.inf)) @ v


def window(n, reach, first, causal):
    i, j = np.ogrid[:n, :n]
    seen = (abs(i - j) <= reach) | (i < first) | (j < first)
    return seen & (j <= i) if causal else seen


def elu(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def cosine(n, dtype):
    i, j = np.ogrid[:n, :n]
    return np.cos(np.pi * (i - j) / (2 * n)).astype(dtype)


def compare_heads(layer, spec, formula, causal=False, name=""):
    return compare(f"{spec}{name}{', causal' * causal}", layer, spec, lambda dtype: each_head(layer, dtype, formula),
                   causal)


def test_linear():
    rng = np.random.default_rng(5)
    for n, causal in itertools.product((1, 2, 65, 700), (False, True)):
        layer = draw(rng, n, 16, 24, heads=4, key_heads=2)
        below = np.tril(np.ones((n, n))) if causal else np.ones((n, n))
        compare_heads(layer, "linear",
                      lambda q, k, v: weighted(elu(q) @ elu(k).T * below.astype(q.dtype), v), causal, f", n = {n}")
        compare_heads(layer, "cosformer",
                      lambda q, k, v: weighted(np.maximum(q, 0) @ np.maximum(k, 0).T * cosine(n, q.dtype) *
                                               below.astype(q.dtype), v), causal, f", n = {n}")


def test_longformer():
    rng = np.random.default_rng(6)
    for n, w, first, causal in ((1, 4, 0, False), (65, 0, 0, False), (300, 7, 1, False), (300, 64, 5, True),
                                (1000, 512, 0, True), (1000, 100, 300, False), (513, 33, 257, True)):
        layer = draw(rng, n, 32, heads=2)
        compare_heads(layer, f"longformer(window={w}, global={first})",
                      lambda q, k, v: seen_softmax(q, k, v, window(n, w // 2, first, causal)), causal, f", n = {n}")
    layer = draw(rng, 333, 32, heads=2)
    for causal in (False, True):
        compare_exact(f"longformer, window 2 n{', causal' * causal}: exact attention", layer,
                      "longformer(window=666, global=0)", causal)


def pooled(x, m):
    n = len(x)
    return np.stack([x[j * n // m:(j + 1) * n // m].mean(axis=0, dtype=x.dtype) for j in range(m)])


def test_linformer():
    """The random projection E is read off: where keys and values are unit vectors, a query that is much longer than the
    others has as its output the column of E that it agrees with most."""
    rng = np.random.default_rng(7)
    for n, m in ((1, 1), (65, 7), (700, 256)):
        compare_heads(draw(rng, n, 16, heads=4, key_heads=2), f"linformer(landmarks={m}, projection=pooled)",
                      lambda q, k, v: exact(q, pooled(k, m), pooled(v, m)), name=f", n = {n}")
    compare_exact("linformer, pooled, m = n: exact attention", draw(rng, 100, 32),
                  "linformer(landmarks=100, projection=pooled)")
    n, m, spec = 128, 8, "linformer(landmarks=8)"
    unit = np.eye(n)[None]
    picked = program.forward(Layer(1e6 * rng.standard_normal((1, n, n)), unit, unit), spec)[0]
    e = np.unique(picked, axis=0).astype(float).T
    tap.check(e.shape == (n, m), f"{spec}: a projection on {m} keys", f"{e.shape}")
    layer = draw(rng, n, 16, heads=2)
    compare_heads(layer, spec, lambda q, k, v: exact(q, e.astype(q.dtype).T @ k, e.astype(q.dtype).T @ v))
    z = [e.mean() * np.sqrt(m * e.size), (m * (e**2).mean() - 1) * np.sqrt(e.size / 2)]
    tap.check(max(map(abs, z)) < 5,
              f"{spec}: entries N(0, 1/k), mean and variance {z[0]:.1f} and {z[1]:.1f} standard errors off")


def average(name, layer, spec, seeds, causal=False):
    """Over seeds the outputs' mean is exact attention: within three times its standard error, over all entries. What
    quotients are off beyond that falls faster with the number of features."""
    outputs = np.stack([program.forward(layer, spec, causal, seed=s) for s in range(seeds)]).astype(float)
    want = each_head(layer, float, lambda *head: exact(*head, causal))
    error = np.linalg.norm(outputs.mean(axis=0) - want)
    standard = np.sqrt((outputs.var(axis=0, ddof=1) / seeds).sum())
    tap.check(0 < error <= 3 * standard, f"{name}: the mean over seeds is {error / standard:.2f} standard errors off")
    return np.sqrt((abs(outputs - want) ** 2).mean())


def test_performer():
    rng = np.random.default_rng(8)
    layer = draw(rng, 60, 16, heads=2, scale=0.35)
    for orthogonal, causal in (("true", False), ("false", False), ("true", True)):
        errors = [average(f"performer(features={r}, orthogonal={orthogonal}){', causal' * causal}", layer,
                          f"performer(features={r}, orthogonal={orthogonal})", 16, causal) for r in (128, 2048)]
        tap.check(3 < errors[0] / errors[1] < 5.5,
                  f"performer, orthogonal={orthogonal}{', causal' * causal}: 16 times the features, "
                  f"{errors[0] / errors[1]:.2f} times less error")
    n = 90
    unit = Layer(layer.q[:1].repeat(2, 1)[:, :n], layer.k[:1].repeat(2, 1)[:, :n], np.eye(n)[None])
    for causal in (False, True):
        weights = program.forward(unit, "performer", causal)[0].astype(float)
        off = abs(weights.sum(axis=1) - 1).max() / U
        good = (weights >= 0).all() and (not causal or not np.triu(weights, 1).any())
        tap.check(good and off <= 12 * np.sqrt(n),
                  f"performer: weights are none below 0 and sum to 1{', causal' * causal}: {off:.1f} u off")
    extreme = Layer(40 * layer.q, 40 * layer.k, layer.v)
    tap.check(np.isfinite(program.forward(extreme, "performer")).all(), "performer: no overflow where logits are large")


def test_clustered():
    """Queries of a group have the same output, so the groups can be read off it."""
    rng = np.random.default_rng(9)
    q = 2 * rng.standard_normal((1, 10, 16)).repeat(30, 1) + rng.standard_normal((1, 300, 16))
    layer = Layer(q, rng.standard_normal((1, 300, 16)), rng.standard_normal((1, 300, 20)))
    for clusters, iterations, bits in ((1, 10, 0), (10, 1000, 0), (37, 1000, 0), (10, 10, 63)):
        spec = f"clustered(clusters={clusters}, iterations={iterations}, bits={bits})"
        group = np.unique(program.forward(layer, spec)[0], axis=0, return_inverse=True)[1].ravel()
        centres = np.stack([q[0, group == j].mean(axis=0) for j in range(group.max() + 1)])
        tap.check(len(centres) == clusters, f"{spec}: as many groups", f"{len(centres)}")
        if bits == 0 and iterations > 100:
            near = ((q[0, :, None] - centres) ** 2).sum(axis=2)
            tap.check((near[range(300), group] <= near.min(axis=1) * (1 + 1e-5)).all(),
                      f"{spec}: every query is in the group of the nearest mean")
        compare_heads(layer, spec, lambda q, k, v: exact(
            np.stack([q[group == j].mean(axis=0, dtype=q.dtype) for j in range(len(centres))]), k, v)[group])
    for top in (1, 32, 300):
        compare_heads(layer, f"clustered(clusters=1, top={top})", lambda q, k, v: improved(q, k, v, top))
    for top in (0, 9):
        compare_exact(f"clustered, as many groups as queries, top = {top}: exact attention", layer,
                      f"clustered(clusters=300, iterations=100, top={top})")


def improved(q, k, v, top):
    """One group: what its mean gives to its strongest keys is divided among them by each query itself."""
    scale = q.dtype.type(1 / np.sqrt(q.shape[1]))
    weights = softmax(q.mean(axis=0, dtype=q.dtype) @ k.T * scale)
    strongest = np.argsort(-(q.astype(float).mean(axis=0) @ k.T.astype(float)))[:top]
    rest = weights.copy()
    rest[strongest] = 0
    return rest @ v + weights[strongest].sum() * (softmax(q @ k[strongest].T * scale) @ v[strongest])


def seeds(x, count, batches, weights, stream):
    """k-means++, or batches of its draws, the first by the distance from the mean; weights None: 1."""
    w, taken, distance = np.ones(len(x)) if weights is None else weights, [], np.inf
    if not batches:
        taken.append(stream.below(len(x)) if weights is None else stream.draw(w))
    near = x[taken] if taken else w[None] @ x / w.sum()
    for left in range(batches or count - 1, 0, -1):
        size = (count - len(taken)) // left
        if size:
            nearest = ((x[:, None] - near) ** 2).sum(axis=2).min(axis=1)
            distance = np.minimum(distance, nearest) if taken else nearest
            new = stream.distinct(w * distance, size) if batches else [stream.draw(w * distance)]
            distance = distance if taken else np.inf  # that from the mean is forgotten
            taken, near = [*taken, *new], x[new]
    return taken


def kmeans(x, count, steps, batches, weights, stream):
    """The group of each point after some Lloyd steps, and the groups' means. Weights None: 1."""
    centres = x[seeds(x, count, batches, weights, stream)]
    weights = np.ones(len(x)) if weights is None else weights
    for _ in range(steps):
        group = ((x[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        centres = np.stack([weights[group == j] @ x[group == j] / weights[group == j].sum() for j in range(count)])
    return group, centres


def inclusion(share, count):
    """min(1, c share) with the sum `count`."""
    order = np.sort(share)[::-1]
    for full in range(count + 1):
        c = (count - full) / order[full:].sum()
        if c * order[full] <= 1:
            return np.minimum(1, c * share)


def left_out(gram, penalty, t):
    """What each row is off where it is predicted from the others."""
    off = np.empty_like(t)
    for i in range(len(t)):
        rest = np.arange(len(t)) != i
        off[i] = t[i] - gram[i, rest] @ np.linalg.solve(gram[np.ix_(rest, rest)] + np.diag(penalty[rest]), t[rest])
    return off


def ridge_dual(gram, t, w, o):
    """M^-1 T by the ridge that leaves least of rows left out, among equals the largest; and how much that is."""
    unit, best, least = w @ np.diag(gram) / len(w), None, np.inf
    for ridge in [10.0**-i for i in range(1, o["ridges"] + 1)] if o["ridge"] == "loo" else [o["ridge"]]:
        error = w @ (left_out(gram, ridge * unit / w, t) ** 2).sum(axis=1)
        if error < (1 - 1e-6) * least:
            best, least = ridge, error
    return np.linalg.solve(gram + np.diag(best * unit / w), t), least


def rows_of(o, m):
    return int(np.ceil(5 * m / 12)) if o["rows"] == "auto" else o["rows"]


def sample_size(o, name, centres, n):
    each = {"queries": 64 / 5, "keys": 32 / 3}[name]
    return int(min(np.ceil(each * centres) if o[name] == "auto" else o[name], n))


def equal_sizes(q, v, o, window):
    """Landmarks and exact rows of a head without near keys, with a window and with both, if that can be paid."""
    n, d, each, top = len(q), q.shape[1], q.shape[1] + v.shape[1], min(o.get("top", 32), len(q))

    def price(m, rows, near, top):
        far = n * (rows + m) * each + 3 * sample_size(o, "keys", m, n) * m * d
        return far + near * (n * m * d + (window.sum() + 2 * n * top) * each + (top > 0) * n * rows * d)
    sizes = [(o["landmarks"], rows_of(o, o["landmarks"]))]
    fewer = range(1, sizes[0][0] + 1)
    paid = [m for m in fewer if price(m, rows_of(o, m), True, 0) <= price(*sizes[0], False, 0)]
    if paid:
        sizes.append((paid[-1], rows_of(o, paid[-1])))
        paid = [m for m in fewer if price(m, sizes[1][1], True, top) <= price(*sizes[0], False, 0)] if top else []
    return sizes + [(paid[-1], sizes[1][1])] if len(sizes) > 1 and paid else sizes


KINDS_CHOSEN = set()


def equal_kind(q, k, v, o, drawn, w, c, tokens):
    """Of near=equal: options, rows, weights, centres and tokens of a head of the kind that is chosen for it."""
    n, kinds = len(q), ["none", "window", "both"]
    window = around(n, o.get("window", 32), o.get("grid"))
    sizes = equal_sizes(q, v, o, window)

    def spread(items, count):
        chosen = [items[i * len(items) // count] for i in range(count)]
        return chosen + [x for x in items if x not in chosen]
    best = 0
    if len(sizes) > 1:
        few = sizes[1][1]
        seen = min(few, 16)
        order = spread(list(range(len(c))), few)
        order = spread(order[:few], seen) + order[few:]
        w, c, tokens = w[order], c[order], tokens[order]
        own = np.maximum(np.bincount(nearest(drawn, c[:few]), minlength=few), 1)
        own = own * few / own.sum()
        first = own[:seen] / own[:seen].mean()
        r = softmax(logits(c[:seen], k))
        taken, scores = np.zeros(r.shape, bool), []
        strongest = np.zeros(r.shape, bool)
        np.put_along_axis(strongest, np.argsort(-r, axis=1, kind="stable")[:, :o.get("top", 32)], True, axis=1)
        for near in (taken, window[tokens[:seen]], strongest)[:len(sizes)]:
            taken = taken | near
            far = np.where(taken, 0, r)
            received = first @ far
            t = far @ v - np.outer(far.sum(axis=1), received @ v / max(received.sum(), U))
            gram = far / np.where(received > 0, received, 1) @ far.T
            error = left_out(gram, 1e-3 * max(first @ np.diag(gram) / len(first), 1e-8) / first, t)
            scores.append(first @ (error**2).sum(axis=1))
        if len(sizes) == 3:
            scores[2] = np.sqrt(scores[1] * scores[2])
        best = int(np.argmin([score / m for score, (m, _) in zip(scores, sizes)]))
        if best:
            w, c, tokens = own, c[:few], tokens[:few]
    KINDS_CHOSEN.add(kinds[best])
    o = {key: value for key, value in o.items() if key not in ("near", *["top"] * (best < 2))}
    return {**o, "landmarks": sizes[best][0], **({"near": kinds[best]} if best else {})}, len(w), w, c, tokens


def kernel_ridge(q, k, v, o, spec):
    """Exact outputs at some queries, interpolated, beside near keys or without; small systems in double. o: the
    options, spec: all of them as text, but for those of near keys."""
    dtype, n, m = q.dtype.type, len(q), o["landmarks"]
    rows = rows_of(o, m)
    queries, keys = sample_size(o, "queries", rows, n), sample_size(o, "keys", m, n)
    of_queries = Stream(0, "queries", spec, rows)
    drawn = np.array(of_queries.choose(queries, n))
    group, c = kmeans(q[drawn].astype(float), rows, 1, o["batches"], np.ones(queries), of_queries)
    tokens = drawn[nearest_left(q[drawn].astype(float), c)]
    w, c = np.bincount(group) * rows / queries, c.astype(dtype)
    if o.get("near") == "equal":
        o, rows, w, c, tokens = equal_kind(q, k, v, o, q[drawn], w, c, tokens)
        m = o["landmarks"]
        keys = sample_size(o, "keys", m, n)
    r = softmax(logits(c, k))
    outputs, received = r @ v, (w.astype(dtype) @ r).astype(float) / rows
    top = min(o.get("top", 32), n) * (o.get("near") in ("top", "both", "auto"))
    window = around(n, o.get("window", 32), o.get("grid")) * (o.get("near") in ("window", "both", "auto"))
    strongest = np.zeros((rows, n), bool)
    np.put_along_axis(strongest, np.argsort(-r, axis=1, kind="stable")[:, :top], True, axis=1)
    at_centres, near = strongest | window[tokens], strongest[nearest(q, c)] | window

    def place(received):
        """Sampled keys with 1/pi and their groups; landmarks and the prior of their values."""
        stream = Stream(0, "keys", spec, m)
        start = stream.uniform()
        share = received / 2 + 0.5 / n if o["sampling"] == "received" else np.full(n, 1 / n)
        pi = inclusion(share, keys) if keys < n else np.ones(n)
        kept = np.searchsorted(np.cumsum(pi), start + np.arange(keys), side="right") if keys < n else np.arange(n)
        p = (np.maximum(n * received[kept], 1e-9) if o["weighted"] else 1) / pi[kept]
        group, l = kmeans(k[kept].astype(float), m, 2, o["batches"], p, stream)
        prior = np.stack([p[group == j] @ v[kept][group == j] / p[group == j].sum() for j in range(m)]) * o["prior"]
        return kept, 1 / pi[kept], group, l.astype(dtype), prior

    def fit(weigh, b, mass, prior, corrections):
        """weigh: what queries x with the near keys `near` give to landmarks and to near keys. Returns all outputs as a
        function of x and near, and what exact outputs that are left out are off, squared."""
        for _ in range(corrections * o["mass"]):
            mean = w @ weigh(c, at_centres, b, float)[0] / rows
            b = b + np.clip(np.log((mass + 1e-6 / m) / (mean + 1e-6 / m)), -2, 2)
        f, own = weigh(c, at_centres, b, float)
        d = 1 / np.maximum(w @ f / rows, 1e-4 / m) if o["normalised"] else np.ones(m)
        dual, error = ridge_dual((f * d) @ f.T, outputs - own @ v - f @ prior, w, o)
        y = prior + d[:, None] * (f.T @ dual)

        def answer(x, near, dtype):
            f, own = weigh(x, near, b, dtype)
            return f @ y.astype(dtype) + own @ v
        return answer, error

    def without():
        kept, inverse, group, l, prior = place(received)
        mass = np.bincount(group, received[kept] * inverse)

        def weigh(x, near, b, dtype):
            return softmax(logits(x, l, dtype) + b.astype(dtype)), np.zeros((len(x), n), dtype)
        bias = np.log(np.bincount(group, inverse)) if o["counts"] else np.zeros(m)
        return fit(weigh, bias, mass / mass.sum(), prior, 1)

    def beside():
        far = (w.astype(dtype) @ np.where(at_centres, 0, r)).astype(float) / rows + 1e-12
        *_, l, prior = place(far / far.sum())
        member = np.eye(m)[nearest(k, l)]

        def weigh(x, near, b, dtype):
            with np.errstate(divide="ignore"):
                counts = np.log(member.sum(axis=0) - near @ member)
            z = softmax(np.hstack((logits(x, l, dtype) + (counts + b).astype(dtype),
                                   np.where(near, logits(x, k, dtype), -np.inf).astype(dtype))))
            return z[:, :m], z[:, m:]
        return fit(weigh, np.zeros(m), far @ member, prior, 2)

    if "near" not in o:
        return without()[0](q, near, dtype)
    if o["near"] != "auto":
        return beside()[0](q, near, dtype)
    if o.get("tolerance"):
        probes = drawn[of_queries.choose(min(rows, 32), queries)]
        sharp = len(probes) // 2
        probes[:sharp] = np.argsort(-np.sum(q * (k - k.mean(axis=0)), axis=1), kind="stable")[:sharp]
        exact = softmax(logits(q[probes], k, float)) @ v
        weights = np.where(np.arange(len(probes)) < sharp, 1, (n - sharp) / (len(probes) - sharp))

        def estimate(answer):
            rest, whole = (weights @ np.sum(x**2, axis=1)
                           for x in (answer(q[probes], near[probes], float) - exact, exact))
            return rest / whole
        much_near = 1 - np.sum(w @ np.where(at_centres, 0, r)) / rows > 0.2
        chosen, _ = beside() if much_near else without()
        if not much_near and estimate(chosen) > o["tolerance"]**2:
            chosen, _ = beside()
        out = chosen(q, near, dtype)
        if o.get("limit") and estimate(chosen) > o["limit"]**2:
            count = int(np.ceil(n * (1 - o["limit"]**2 / estimate(chosen))))
            distance = ((q.astype(float) - c[nearest(q, c)]) ** 2).sum(axis=1)
            farthest = np.argsort(-distance.astype(dtype), kind="stable")[:count]
            out[farthest] = softmax(logits(q[farthest], k)) @ v
        return out
    (plain, error), (with_near, near_error) = without(), beside()
    if max(error, near_error) < 1.5**2 * min(error, near_error):
        probes = drawn[of_queries.choose(rows, queries)]
        exact = softmax(logits(q[probes], k, float)) @ v
        error, near_error = (np.sqrt(left_out) * np.linalg.norm(answer(q[probes], near[probes], float) - exact)
                             for answer, left_out in ((plain, error), (with_near, near_error)))
    return (with_near if near_error <= 1.1**2 * error else plain)(q, near, dtype)


def logits(x, y, dtype=None):
    dtype = np.dtype(dtype or x.dtype).type
    return x.astype(dtype) @ y.astype(dtype).T * dtype(1 / np.sqrt(x.shape[1]))


KERNEL_RIDGE = {"landmarks": 20, "rows": 9, "queries": 150, "keys": 120, "init": "plusplus", "batches": 6,
                "sampling": "received",
                "weighted": True, "counts": True, "mass": True, "prior": True, "normalised": True,
                "ridge": "loo", "ridges": 4}


def with_options(changed):
    """A spec with all options, and its formula of a head."""
    o = {**KERNEL_RIDGE, **changed}

    def text(options):
        return f"kernel_ridge({', '.join(f'{key}={str(value).lower()}' for key, value in options.items())})"
    drawn = text({key: value for key, value in o.items()
                  if key not in ("near", "window", "top", "grid", "tolerance", "limit")})
    return text(o), lambda q, k, v: kernel_ridge(q, k, v, o, drawn)


def kernel_ridge_cases():
    for changed in ({}, {"batches": 0}, {"weighted": False}, {"counts": False}, {"mass": False}, {"prior": False},
                    {"normalised": False}, {"sampling": "uniform"}, {"ridge": 0.25}, {"ridges": 7, "rows": 40},
                    {"queries": 1000, "keys": 1000}, {"queries": "auto", "keys": "auto", "landmarks": 12},
                    {"landmarks": 1, "rows": 1},
                    {"landmarks": 70, "rows": 50, "queries": 50, "keys": 70}):
        yield with_options(changed)


def test_kernel_ridge():
    """The draws are those of the program; rows are left out one by one and the rest is fitted again."""
    rng = np.random.default_rng(14)
    layer = smooth(rng, 200, 16, heads=2, key_heads=1, scale=1.5)
    x = smooth(rng, 200, 16, heads=2, scale=0.4)
    sink = Layer(x.q + 1, np.where(np.arange(200)[:, None] < 3, 0.2 * x.k + 0.8, x.k), x.v)  # small ridges are best
    for spec, formula in kernel_ridge_cases():
        compare_heads(layer, spec, formula)
        compare_heads(sink, spec, formula, name=", with a sink")
    for n in (1, 2, 65, 300):
        compare_exact(f"kernel_ridge, as many landmarks and rows as tokens, n = {n}: exact attention",
                      draw(rng, n, 16), f"kernel_ridge(landmarks={n}, rows={n})")
    test_near_far()


def around(n, window, grid=None):
    """Row i: which keys are in the window of query i."""
    i = np.arange(n)
    if grid is None:  # blocks of 32 queries
        first, reach = i // 32 * 32, window // 2
        return (i >= first[:, None] - reach) & (i < first[:, None] + 32 + reach)
    columns = int(np.sqrt(n)) if grid == "auto" else grid  # blocks of 8 x 8 patches behind the first tokens
    before = n - columns**2 if grid == "auto" else n % columns
    reach, patch = int((np.sqrt(window + 1) - 1) / 2), i - before
    near = np.outer(patch < 0, patch < 0) | np.outer(patch >= 0, patch >= 0)
    for x in (patch // columns, patch % columns):
        first = x // 8 * 8
        near &= np.outer(patch < 0, patch < 0) | (x >= first[:, None] - reach) & (x < first[:, None] + 8 + reach)
    return near


def nearest_left(x, centres):
    """For each centre the nearest of the points that no centre before has taken."""
    distance, taken = ((centres[:, None] - x) ** 2).sum(axis=2), []
    for row in distance:
        row[taken] = np.inf
        taken.append(int(row.argmin()))
    return taken


def nearest(x, centres):
    return ((x[:, None].astype(float) - centres.astype(float)) ** 2).sum(axis=2).argmin(axis=1)


def near_far_cases():
    for changed in ({"near": "window"}, {"near": "window", "window": 9}, {"near": "window", "window": 0},
                    {"near": "top"},
                    {"near": "top", "top": 1}, {"near": "both", "window": 20, "top": 5},
                    {"near": "both", "mass": False},
                    {"near": "both", "prior": False, "weighted": False, "sampling": "uniform", "normalised": False},
                    {"near": "window", "window": 8, "grid": "auto"}, {"near": "both", "window": 0, "grid": 12},
                    {"near": "both", "window": 25, "top": 3, "grid": 7},
                    {"near": "both", "ridge": 0.25, "queries": 1000, "keys": 1000, "rows": 40, "landmarks": 70},
                    {"near": "both", "landmarks": 1, "rows": 1}, {"near": "auto"}, {"near": "auto", "top": 0},
                    {"near": "auto", "window": 8, "top": 0, "grid": "auto", "landmarks": 12, "rows": 9},
                    {"near": "auto", "window": 0, "top": 3, "landmarks": 40, "rows": 30},
                    {"near": "auto", "tolerance": 10}, {"near": "auto", "top": 0, "tolerance": 1e-6},
                    {"near": "auto", "tolerance": 0.3, "rows": 40}, {"near": "auto", "tolerance": 0.1, "rows": 1},
                    {"near": "auto", "tolerance": 10, "limit": 0.1}, {"near": "auto", "tolerance": 0.01, "limit": 0.03},
                    {"near": "auto", "top": 0, "tolerance": 0.1, "limit": 1e-6}, {"near": "equal"},
                    {"near": "equal", "window": 8, "top": 4, "landmarks": 80, "rows": "auto", "keys": "auto"},
                    {"near": "equal", "window": 8, "top": 0, "grid": "auto", "landmarks": 90, "rows": 30}):
        yield with_options(changed)


def test_near_far():
    """Grouped keys, values of another dimension, lengths that no block divides; what is near is exact."""
    rng = np.random.default_rng(15)
    layer = smooth(rng, 200, 16, heads=2, key_heads=1, scale=1.5)
    narrow = Layer(layer.q[:, :171], layer.k[:, :171], layer.v[:, :171, :7])
    for spec, formula in near_far_cases():
        compare_heads(layer, spec, formula)
        if "grid=auto" not in spec:
            compare_heads(narrow, spec, formula, name=", n = 171, dv = 7")
    many = smooth(rng, 96, 16, heads=60)  # near keys help some heads, the probes decide about others
    for changed in ({"near": "auto"}, {"near": "auto", "top": 3}, {"near": "auto", "top": 0, "window": 9},
                    {"near": "auto", "tolerance": 0.2}, {"near": "auto", "top": 0, "tolerance": 0.3},
                    {"near": "auto", "tolerance": 0.2, "limit": 0.15}):
        compare_heads(many, *with_options({**changed, "landmarks": 12, "rows": 8, "queries": 90}), name=", 60 heads")
    for changed in ({}, {"top": 0}, {"landmarks": 80, "keys": 90}, {"rows": 20, "queries": 60}, {"window": 40},
                    {"window": 0, "top": 96}):
        compare_heads(many, *with_options({"near": "equal", "window": 4, "top": 3, "landmarks": 60, "rows": "auto",
                                           "queries": "auto", "keys": "auto", **changed}), name=", 60 heads")
    sharp = Layer(40 * many.q, many.k, many.v)  # keys receive down to 1e-45, whose inverse is no number
    compare_heads(sharp, *with_options({"near": "equal", "window": 4, "top": 0, "landmarks": 60, "rows": "auto",
                                        "queries": "auto", "keys": "auto"}), name=", 60 sharp heads")
    tap.check(KINDS_CHOSEN == {"none", "window", "both"}, f"near=equal chooses all kinds: {sorted(KINDS_CHOSEN)}")
    for n in (1, 2, 65, 300):
        for near in (f"near=window, window={2 * n}", f"near=top, top={n}", "near=both, window=1000000, top=1",
                     "near=both, top=1000"):
            compare_exact(f"kernel_ridge({near}), n = {n}: exact attention", draw(rng, n, 16),
                          f"kernel_ridge(landmarks=1, rows=1, {near})")


def fitted(q, k, v, head, landmarks, spec, drawn, ridge, keep):
    """W fitted to exact outputs at the landmarks' queries and others that are drawn, by QR of F and a root of the
    ridge."""
    dtype, n, scale = q.dtype.type, len(q), q.dtype.type(1 / np.sqrt(q.shape[1]))
    q_landmarks, k_landmarks = landmarks.place(head, q, k)
    stream = Stream(0, "rows", spec, len(k_landmarks))
    tokens = np.array(stream.choose(min(n, max(1024, drawn)), n))
    x = q[tokens]
    distance = ((x[:, None].astype(float) - q_landmarks) ** 2).sum(axis=2).min(axis=1)
    taken = stream.distinct(distance, drawn)
    points = np.vstack([q_landmarks, x[taken]])
    tokens = tokens[taken]
    nearest = ((x[:, None].astype(float) - points) ** 2).sum(axis=2).argmin(axis=1)
    weights = np.maximum(1, np.bincount(nearest, minlength=len(points)))[:, None]
    f, o = softmax(points @ k_landmarks.T * scale).astype(float), (softmax(points @ k.T * scale) @ v).astype(float)
    mean = (weights * o).sum(axis=0) / weights.sum()
    f, t = np.sqrt(weights) * f, np.sqrt(weights) * (o - mean)
    unit = np.linalg.norm(f, 2)

    def solve(rows, ridge):
        m = f.shape[1]
        return np.linalg.lstsq(np.vstack([f[rows], np.sqrt(ridge) * unit * np.eye(m)]),
                               np.vstack([t[rows], np.zeros((m, t.shape[1]))]), rcond=None)[0]

    def error(ridge):
        others = [np.arange(len(t)) != i for i in range(len(q_landmarks), len(t))]
        return sum(((t[~rest] - f[~rest] @ solve(rest, ridge)) ** 2).sum() for rest in others)

    if ridge == "auto":
        third = 1e-9 if error(1e-7) < error(1e-5) else 1e-3
        ridge = min((1e-5, 1e-7, third), key=error)
    w = solve(np.full(len(t), True), ridge) + mean
    y = softmax(q @ k_landmarks.T * scale) @ w.astype(dtype)
    if keep:  # these rows are exact
        y[tokens] = exact(q[tokens], k, v)
    return y


# Strategy with all its options, landmarks, rows, ridge, keep_rows.
FITTED = (("segment_means", 20, "auto", "auto", False), ("uniform(strided=false)", 40, 60, "auto", True),
          ("segment_means", 7, 200, 0.01, False), ("segment_means", 1, 1, "auto", False),
          ("uniform(strided=false)", 20, 30, 1e-10, False), ("segment_means", 40, 30, 0, False))


def fitted_cases(layer):
    """Specs with all options, and their formulas of all heads."""
    for strategy, m, rows, ridge, keep in FITTED:
        core = f"fitted(rows={rows}, ridge={ridge}, keep_rows={str(keep).lower()})"
        spec = (f"nystrom(strategy={strategy}, landmarks={m}, core={core}, factors=nystromformer, pairing=own, "
                "chunk=256, refresh=1, keep=points)")
        landmarks = Landmarks(layer, strategy, m)
        drawn = (m + 1) // 2 if rows == "auto" else rows
        yield spec, lambda dtype, a=(landmarks, spec, drawn, ridge, keep): np.stack(
            [fitted(q, k, v, h, *a) for h, (q, k, v) in enumerate(layer.heads(dtype))])


def test_fitted():
    """Passes of a core that is fitted to exact outputs; the draws are those of the program, and rows are left out."""
    rng = np.random.default_rng(15)
    layer, far = smooth(rng, 200, 16, heads=2, key_heads=1), smooth(rng, 200, 16, scale=1.5)
    few = Layer(layer.q, np.repeat(layer.k[:, ::10], 10, axis=1), layer.v)  # small ridges are best
    for one, name in ((layer, ""), (far, ", large logits"), (few, ", keys of 20 kinds")):
        for spec, formula in fitted_cases(one):
            compare(spec + name, one, spec, formula)


def blocks_seen(n, block, reach, first, last):
    """Which blocks of keys each block of queries sees, without random ones."""
    count = -(-n // block)
    i, j = np.ogrid[:count, :count]
    everywhere = (np.arange(count) < first) | (np.arange(count) >= count - last)
    return (abs(i - j) <= reach) | everywhere[:, None] | everywhere


def test_bigbird():
    """Where the values are unit vectors, the outputs are the weights, and tell which blocks were drawn."""
    rng = np.random.default_rng(10)
    for n, block, wide, all_seeing in ((1, 64, 1, 0), (200, 16, 3, 2), (333, 64, 4, 3), (700, 100, 1, 1)):
        half = min(all_seeing, -(-n // block)) // 2
        first = min(all_seeing, -(-n // block)) - half
        seen = blocks_seen(n, block, wide // 2, first, half).repeat(block, 0).repeat(block, 1)[:n, :n]
        spec = f"bigbird(block={block}, window={wide}, global={all_seeing}, random=0)"
        compare_heads(draw(rng, n, 16, heads=2), spec, lambda q, k, v: seen_softmax(q, k, v, seen),
                      name=f", n = {n}")
    compare_exact("bigbird that sees all: exact attention", draw(rng, 200, 16), "bigbird(block=16, window=27)")
    n, block, spec = 330, 20, "bigbird(block=20, window=3, global=2, random=2)"
    layer = draw(rng, n, 16, heads=2)
    weights = program.forward(Layer(layer.q, layer.k, np.eye(n)[None].repeat(2, 0)), spec)
    count, without = -(-n // block), blocks_seen(n, block, 1, 1, 1)
    padded = np.pad(weights, ((0, 0), (0, count * block - n), (0, count * block - n)))
    seen = padded.reshape(2, count, block, count, block).max(axis=(2, 4)) > 0
    drawn = (seen & ~without).sum(axis=2)
    tap.check((seen | ~without).all() and (drawn[:, 1:-1] == 2).all() and not drawn[:, [0, -1]].any(),
              f"{spec}: two blocks are drawn for each block between the global ones", f"{drawn}")
    tap.check((seen[0] != seen[1]).any(), f"{spec}: each head has draws of its own")
    whole = seen.repeat(block, 1).repeat(block, 2)[:, :n, :n]
    pairs = iter([*whole, *whole])
    compare_heads(layer, spec, lambda *head: seen_softmax(*head, next(pairs)))


def test_hyperattention():
    rng = np.random.default_rng(11)
    layer = draw(rng, 200, 16, heads=2)
    for options in ("block=256, sample=0", "block=32, sample=200", "sample=999"):
        spec = f"hyperattention({options})"
        compare_exact(f"{spec}, which sees all: exact attention", layer, spec)
    average("hyperattention(block=16, sample=100)", layer, "hyperattention(block=16, sample=100)", 30)
    unit = Layer(layer.q[:1], layer.k[:1], np.eye(200)[None])
    weights = program.forward(unit, "hyperattention(block=16, sample=30)")
    off = abs(weights.astype(float).sum(axis=2) - 1).max() / U
    tap.check((weights >= 0).all() and off < 200,
              f"hyperattention: weights are none below 0 and sum to 1: {off:.1f} u off")


def test_reformer():
    """Where the values are unit vectors, the outputs are the weights, and tell who sees whom, and how often."""
    rng = np.random.default_rng(13)
    q, k = rng.standard_normal((2, 2, 300, 16))
    unit = Layer(q, k, np.eye(300)[None].repeat(2, 0))
    for n, spec, sizes in ((300, "reformer(rounds=1, chunk=30)", {60}),
                           (300, "reformer(rounds=1, chunk=64)", {128, 108})):
        seen = program.forward(unit, spec) > 0
        tap.check(set(seen.sum(axis=2).ravel()) == sizes, f"{spec}: a query sees two chunks",
                  f"{set(seen.sum(axis=2).ravel())}")
        turns = iter([*seen, *seen])
        compare_heads(unit, spec, lambda *head: seen_softmax(*head, next(turns)))
        longer = Layer(*(x * rng.uniform(0.3, 3, (2, n, 1)) for x in (q, k)), unit.v)
        tap.check(((program.forward(longer, spec) > 0) == seen).all(),
                  f"{spec}: who sees whom is a matter of directions")
    for (q, k, _), w in zip(unit.heads(), program.forward(unit, "reformer(rounds=3, chunk=64)").astype(float)):
        times = w / np.exp(q @ k.T / 4)
        times /= times.max(axis=1, keepdims=True, where=times > 0, initial=0)
        whole = np.min([abs(times * most - np.round(times * most)).max(axis=1) for most in (1, 2, 3)], axis=0)
        tap.check(whole.max() < 1e-4 and times.min() == 0, "reformer: a pair counts as often as it meets",
                  f"{whole.max():.2g}")
    # Ten directions, far apart: a query sees all keys of its own.
    centres = np.linalg.qr(rng.standard_normal((16, 16)))[0][:10]
    points = 5 * centres.repeat(30, 0)[None, rng.permutation(300)] + 1e-3 * rng.standard_normal((1, 300, 16))
    spec = "reformer(rounds=1, chunk=60, buckets=4096)"
    compare_exact(f"{spec}: of far clusters it is exact attention", Layer(points, 20 * points, unit.v[:1]), spec)


def test_skeinformer():
    """Where the values are unit vectors, the outputs are the weights, and tell which rows and columns were drawn."""
    rng = np.random.default_rng(12)
    q, k = rng.standard_normal((2, 2, 300, 16))
    unit = Layer(q, k, np.eye(300)[None].repeat(2, 0))
    spec = "skeinformer(columns=40, rows=30)"
    weights = program.forward(unit, spec)
    drawn = []
    for (q, k, v), w in zip(unit.heads(), weights.astype(float)):
        exact_rows = abs(w - exact(q, k, v)).max(axis=1) < 50 * U
        others = abs(w - np.median(w, axis=1, keepdims=True))[~exact_rows].max(axis=0) < U
        drawn.append((exact_rows, ~others))
    tap.check(all(rows.sum() == 30 and columns.sum() == 40 for rows, columns in drawn),
              f"{spec}: 30 exact rows and 40 columns", f"{[(rows.sum(), columns.sum()) for rows, columns in drawn]}")
    turns = iter(2 * drawn)
    compare_heads(unit, spec, lambda *head: sketched(*head, *next(turns)))
    # Half of the keys have no value: they are drawn last.
    half = Layer(unit.q, unit.k, unit.v * (np.arange(300) % 2)[None, :, None])
    w = program.forward(half, "skeinformer(columns=150, exact=false)")[0]
    tap.check((abs(w - np.median(w[:, 1::2], axis=1, keepdims=True))[:, 1::2].max(axis=0) > U).sum() > 140,
              "skeinformer: keys without a value are drawn last")
    layer = draw(rng, 300, 16, heads=4, key_heads=2)
    for options in ("columns=300, rows=1", "columns=1, rows=300"):
        compare_exact(f"skeinformer({options}), which sees all: exact attention", layer, f"skeinformer({options})")


def sketched(q, k, v, rows, columns):
    """Each other key has the mean of the columns' logits, but in the exact rows."""
    logits = q @ k.T * q.dtype.type(1 / np.sqrt(q.shape[1]))
    own = np.where(columns, logits, logits[:, columns].mean(axis=1, keepdims=True))
    return softmax(np.where(rows[:, None], logits, own)) @ v


def monarch(q, k, v, b, steps):
    """L and R as whole arrays, L[j, m, l] and R[m, j, i]; tokens behind the last one are masked."""
    n, d = q.shape
    scale, blocks = q.dtype.type(1 / np.sqrt(d)), -(-n // b)
    real = np.arange(blocks * b).reshape(blocks, b) < n
    q, k, v = (np.pad(x, ((0, blocks * b - n), (0, 0))).reshape(blocks, b, -1) for x in (q, k, v))
    left = np.broadcast_to(np.eye(blocks, dtype=q.dtype), (b, blocks, blocks))
    for _ in range(steps):
        weight = np.einsum("jml->mj", left) + q.dtype.type(1e-12)
        logits = np.einsum("jml,ljd,mid->mji", left, q, k) * scale / weight[:, :, None]
        right = softmax(np.where(real[:, None], logits, -np.inf))
        entropy = (right * np.log(np.where(right > 0, right, 1))).sum(axis=2)
        logits = np.einsum("mji,mid,ljd->jlm", right, k, q) * scale - entropy.T[:, None]
        left = softmax(logits).transpose(0, 2, 1) * real.T[:, None]
    return np.einsum("jml,mji,mie->lje", left, right, v).reshape(-1, v.shape[2])[:n]


def test_monarch():
    rng = np.random.default_rng(16)
    for n, b, steps in ((1, 1, 1), (65, 8, 1), (65, 8, 3), (300, 100, 2), (300, 7, 2), (301, 17, 4)):
        layer = smooth(rng, n, 16, heads=4, key_heads=2, scale=1.5)
        narrow = Layer(layer.q, layer.k, layer.v[:, :, :5])
        for x, name in ((layer, f", n = {n}"), (narrow, f", n = {n}, dv = 5")):
            compare_heads(x, f"monarch(block={b}, steps={steps})", lambda *head: monarch(*head, b, steps), name=name)
    compare_heads(draw(rng, 90, 16, 24), "monarch", lambda *head: monarch(*head, 9, 2), name=", n = 90")
    for b, steps in itertools.product((1, 200, 1000), (1, 3)):
        spec = f"monarch(block={b}, steps={steps})"
        compare_exact(f"{spec}, blocks of one token, or of all: exact attention", draw(rng, 200, 16), spec)


def delta(q, k, v, every, causal, inner):
    """Another attention's outputs, corrected by the exact output of the first query of each `every`."""
    out, first = inner(q, k, v), np.arange(len(q)) // every * every
    return out + (exact(q, k, v, causal) - out)[first]


def test_delta():
    rng = np.random.default_rng(17)
    layer = draw(rng, 300, 16, 24, heads=4, key_heads=2)
    for every, w, first, causal in ((1, 6, 1, True), (7, 6, 1, True), (64, 40, 4, True), (64, 40, 4, False),
                                    (1000, 10, 0, False), (3, 0, 0, True)):
        inner = functools.partial(seen_softmax, seen=window(300, w // 2, first, causal))
        compare_heads(layer, f"delta(of=longformer(window={w}, global={first}), every={every})",
                      lambda q, k, v: delta(q, k, v, every, causal, inner), causal)
    for causal in (False, True):
        compare_exact(f"delta, every query{', causal' * causal}: exact attention", layer,
                      "delta(of=longformer(window=2, global=0), every=1)", causal)


def informer(q, k, v, drawn, queries):
    scores = np.stack([q[i] @ k[drawn[i]].T for i in range(len(q))]) * q.dtype.type(1 / np.sqrt(q.shape[1]))
    top = np.argsort(-(scores.max(axis=1) - scores.mean(axis=1)), kind="stable")[:queries]
    out = v.mean(axis=0, keepdims=True).repeat(len(q), 0)
    out[top] = exact(q[top], k, v)
    return out


def test_informer():
    """The draws are those of the program."""
    rng = np.random.default_rng(18)
    for n, queries, samples in ((65, 9, 4), (300, "auto", "auto"), (300, 280, 1)):
        layer, spec = draw(rng, n, 16, 24, heads=4, key_heads=2), f"informer(queries={queries}, samples={samples})"
        stream, automatic = Stream(0, "keys", spec, 0), int(5 * np.ceil(np.log(n)))
        u, count = (automatic if x == "auto" else x for x in (queries, samples))
        drawn = np.array([[stream.below(n) for _ in range(count)] for _ in range(n)])
        compare_heads(layer, spec, lambda *head: informer(*head, drawn, u), name=f", n = {n}")
    compare_exact("informer, all queries: exact attention", layer, "informer(queries=300)")


RCOND = 2.0**-20


def attention_matching(q, k, v, drawn, keys):
    """Highest attention keys, two steps of projected gradient descent, least squares; the small systems in double."""
    x, scale = q[drawn], q.dtype.type(1 / np.sqrt(q.shape[1]))
    z = x @ k.T * scale
    weights, largest = softmax(z), z.max(axis=1, keepdims=True)
    kept = np.argsort(-(weights.astype(float) ** 2).sum(axis=0), kind="stable")[:keys]
    a = np.exp((z[:, kept] - largest).astype(float))
    mass = np.exp((z - largest).astype(float)).sum(axis=1)
    w = np.clip(np.linalg.lstsq(a, mass, rcond=RCOND)[0], np.exp(-3), np.exp(3))
    for _ in range(2):
        w = np.clip(w - a.T @ (a @ w - mass) / np.linalg.norm(a, 2) ** 2, np.exp(-3), np.exp(3))
    features = softmax(z[:, kept].astype(float) + np.log(w))
    values = np.linalg.lstsq(features, (weights @ v).astype(float), rcond=RCOND)[0].astype(q.dtype)
    return softmax(q @ k[kept].T * scale + np.log(w).astype(q.dtype)) @ values


def test_attention_matching():
    """The draws are those of the program. Few keys and few coordinates, so that least squares is well conditioned, but
    for more keys than reference queries, where the least values are asked for."""
    rng = np.random.default_rng(19)
    layer = smooth(rng, 300, 16, heads=4, key_heads=2, scale=1.5)
    narrow = Layer(layer.q[:, :171], layer.k[:, :171], layer.v[:, :171, :7])
    for keys, queries in ((1, 3), (12, "auto"), (20, 300), (40, 30), (5, 1)):
        spec = f"attention_matching(keys={keys}, queries={queries}, rcond={RCOND})"
        for x in (layer, narrow):
            n = x.q.shape[1]
            count = min(n, 4 * keys if queries == "auto" else queries)
            drawn = Stream(0, "queries", spec, 0).choose(count, n)
            compare_heads(x, spec, lambda *head: attention_matching(*head, drawn, keys), name=f", n = {n}")


def tome(q, k, v, keys, class_token):
    """Bipartite soft matching in rounds; each key that is left is a list of tokens, its key and value their means."""
    groups = [[i] for i in range(len(k))]
    while len(groups) > keys:
        means = np.stack([k[g].mean(axis=0) for g in groups])
        unit = means / np.linalg.norm(means, axis=1, keepdims=True)
        cosine = unit[::2] @ unit[1::2].T
        best = cosine.max(axis=1)
        best[:class_token] = -np.inf
        count = min(len(groups) - keys, (len(groups) - class_token) // 2)
        merged = np.argsort(-best, kind="stable")[:count]
        targets = [list(g) for g in groups[1::2]]
        for i in merged:
            targets[cosine[i].argmax()] += groups[2 * i]
        groups = [g for i, g in enumerate(groups[::2]) if i not in merged] + targets
    means, values = (np.stack([x[g].mean(axis=0) for g in groups]) for x in (k, v))
    sizes = np.log([len(g) for g in groups]).astype(q.dtype)
    return softmax(q @ means.T * q.dtype.type(1 / np.sqrt(q.shape[1])) + sizes) @ values


def test_tome():
    rng = np.random.default_rng(20)
    layer = smooth(rng, 301, 16, heads=4, key_heads=2, scale=1.5)
    narrow = Layer(layer.q[:, :200], layer.k[:, :200], layer.v[:, :200, :7])
    for keys, token in itertools.product((2, 9, 100, 170, 260), (False, True)):
        for x in (layer, narrow):
            n = x.q.shape[1]
            if keys <= n:
                compare_heads(x, f"tome(keys={keys}, class_token={str(token).lower()})",
                              lambda *head: tome(*head, keys, token), name=f", n = {n}")
    compare_exact("tome that merges none: exact attention", narrow, "tome(keys=200)")


def wildcat(q, k, v, keys, stream):
    """The coreset and its weights in double, from the kernel whole."""
    n, d = k.shape
    x = k.astype(float) - k.astype(float).mean(axis=0)
    longest = [np.linalg.norm(p.astype(float), axis=1).max() for p in (x, q)]
    w0 = scipy.special.lambertw
    b = np.sqrt(d) * np.log(n) / (longest[0] * longest[1]) + 2
    rho = np.sqrt(1 + np.exp(w0(2 / np.e**2).real + 2))
    x /= np.sqrt(longest[0] / longest[1] * b / (2 * w0(b / (2 * rho)).real))
    kernel = np.exp(x @ x.T / np.sqrt(d))
    chosen = random_pivots(kernel, keys, stream, 1, False)
    w = np.linalg.solve(kernel[np.ix_(chosen, chosen)], kernel[chosen])
    values = (w @ np.hstack([v, np.ones((n, 1))])).astype(q.dtype)
    y = softmax(q @ k[chosen].T * q.dtype.type(1 / np.sqrt(d))) @ values
    return np.clip(np.where(y[:, -1:] > 1e-20, y[:, :-1] / y[:, -1:], 0), v.min(axis=0), v.max(axis=0))


def test_wildcat():
    """The draws are those of the program. Coresets so small that the kernel of theirs is well conditioned."""
    rng = np.random.default_rng(21)
    layer = smooth(rng, 300, 16, heads=4, key_heads=2, scale=1.5)
    narrow = Layer(layer.q[:, :171], layer.k[:, :171], layer.v[:, :171, :7])
    ranges = Layer(3 * layer.q, layer.k, layer.v > 0.5)  # outputs leave the range of the values
    for keys, x in itertools.product((1, 5, 40, 90), (layer, narrow, ranges)):
        spec = f"wildcat(keys={keys})"
        compare_heads(x, spec, lambda *head: wildcat(*head, keys, Stream(0, "keys", spec)),
                      name=f", n = {x.q.shape[1]}")


def rounded(x, name):
    """To half precision and back, by NumPy's float16, or by the bits of a float32."""
    if name == "float16":
        return x.astype(np.float16).astype(np.float32)
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def half(q, k, v, name, logits, causal):
    q, k, v = (rounded(x, name) for x in (q, k, v))
    z = q @ k.T * np.float32(1 / np.sqrt(q.shape[1]))
    z = masked(rounded(z, name) if logits == "half" else z, causal)
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return rounded(rounded(e, name) @ v / e.sum(axis=1, keepdims=True), name)


def test_half():
    """A rounding may go the other way where single precision is off in its last bits: one entry in fifty, by one unit
    of half precision of the sum of what values of either sign add."""
    rng = np.random.default_rng(22)
    layer = draw(rng, 300, 16, 24, heads=4, key_heads=2, scale=1.5)
    tiny = Layer(layer.q, layer.k, layer.v * np.float32(1e-5))  # below the least normal number of float16
    huge = Layer(layer.q, layer.k, layer.v * np.float32(1e5))  # above its largest
    for x, name, logits, causal in itertools.product((layer, tiny, huge), ("bfloat16", "float16"), ("single", "half"),
                                                     (False, True)):
        if x is huge and name == "float16":
            continue
        spec = f"half(format={name}, logits={logits})"
        want = each_head(x, np.float32, lambda *head: half(*head, name, logits, causal))
        allowed = each_head(x, float, lambda q, k, v: exact(q, k, abs(v), causal))
        y = program.forward(x, spec, causal).reshape(want.shape)
        unit = 2.0**-7 if name == "bfloat16" else 2.0**-10
        off = abs(y - want)
        units = (off / (unit * allowed + 2.0**-24)).max()
        tap.check(units <= 1.01 and (off > 0).mean() < 0.02,
                  f"{spec}{', causal' * causal}, values of {abs(x.v).max():.1g}: {(off > 0).mean():.1e} of entries off",
                  f"by up to {units:.3g} units")
    try:
        program.forward(huge, "half(format=float16)")
        tap.check(False, "half: values above the range of float16 are refused")
    except RuntimeError as error:
        tap.check("coordinate" in str(error), "half: values above the range of float16 are refused", error)


def lower_resolution(q, k, v, factor, columns, interpolation, weighted):
    """Squares as sets of tokens, and what each is to each patch, as matrices."""
    n, d = q.shape
    rows = n // columns
    before = n - rows * columns

    def sides(side):
        count, patch = -(-side // factor), np.arange(side)
        member = (patch // factor == np.arange(count)[:, None]).astype(float)
        if interpolation == "nearest":
            return member, member.T
        place = np.clip((patch + 0.5) / factor - 0.5, 0, count - 1)
        return member, np.maximum(0, 1 - abs(place[:, None] - np.arange(count)))

    (of_rows, to_rows), (of_columns, to_columns) = sides(rows), sides(columns)
    member = scipy.linalg.block_diag(np.eye(before), np.kron(of_rows, of_columns))
    sizes = member.sum(axis=1)
    means = [(member @ x / sizes[:, None]).astype(q.dtype) for x in (q, k, v)]
    bias = np.log(sizes).astype(q.dtype) if weighted else q.dtype.type(0)
    low = softmax(means[0] @ means[1].T * q.dtype.type(1 / np.sqrt(d)) + bias) @ means[2]
    return scipy.linalg.block_diag(np.eye(before), np.kron(to_rows, to_columns)).astype(q.dtype) @ low


def test_lower_resolution():
    """Pictures of 17 x 17 behind a token, and of other sides; squares that are cut off at the edges."""
    rng = np.random.default_rng(23)
    layer = smooth(rng, 290, 16, heads=4, key_heads=2, scale=1.5)
    narrow = Layer(layer.q[:, :256], layer.k[:, :256], layer.v[:, :256, :7])
    for factor, grid, interpolation, weighted in ((2, "auto", "bilinear", True), (3, "auto", "nearest", True),
                                                  (5, 23, "bilinear", False), (4, 290, "bilinear", True),
                                                  (100, "auto", "bilinear", True), (2, 256, "nearest", False)):
        spec = (f"lower_resolution(factor={factor}, grid={grid}, interpolation={interpolation}, "
                f"weighted={str(weighted).lower()})")
        for x in (layer, narrow):
            n = x.q.shape[1]
            columns = int(np.sqrt(n)) if grid == "auto" else grid
            if columns <= n:
                compare_heads(x, spec, lambda *head: lower_resolution(*head, factor, columns, interpolation, weighted),
                              name=f", n = {n}")
    compare_exact("lower_resolution of squares of one patch: exact attention", layer, "lower_resolution(factor=1)")


# What is tested beside exact attention and that from landmarks, where the program has it.
OTHERS = {"linear": test_linear, "longformer": test_longformer, "linformer": test_linformer, "skip": test_skip,
          "performer": test_performer, "clustered": test_clustered, "bigbird": test_bigbird,
          "hyperattention": test_hyperattention, "skeinformer": test_skeinformer, "reformer": test_reformer,
          "kernel_ridge": test_kernel_ridge, "monarch": test_monarch, "delta": test_delta,
          "informer": test_informer, "attention_matching": test_attention_matching, "tome": test_tome,
          "wildcat": test_wildcat, "half": test_half, "lower_resolution": test_lower_resolution}
SLOW = "performer", "hyperattention"


def main():
    short = sys.argv[3:] == ["short"]
    test_exact(short)
    test_extremes()
    test_nystrom(short)
    test_fitted()
    test_golden()
    if not short:
        test_double()
    for name, test in OTHERS.items():
        if name in program.attentions and not (short and name in SLOW):
            test()
    specs = [*itertools.product(EXACT, (False, True)), ("nystrom(landmarks=20, core=iterative(start=exact))", False),
             ("nystrom(strategy=uniform, factors=cur, landmarks=9)", True)]
    test_threads(specs)
    print(f"1..{tap.count}")
    return tap.failed > 0


if __name__ == "__main__":
    program = Program(*sys.argv[1:3])
    sys.exit(main())
