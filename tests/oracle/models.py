# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts that experiments/models is made of, without the models: functions of layers, readers of weights and texts,
effects of an attention on small random models, and the server of such a model.

usage: models.py NYSBENCH WORK_FOLDER

Prints TAP. Layers and effects are computed once more in double precision with SciPy, files are written here byte by
byte as their formats say. Tolerance: 1e-5 of the largest number, a hundred float32 roundings, where not said otherwise.
"""
import collections
import gzip
import hashlib
import io
import json
import math
import os
import pickle
import re
import struct
import subprocess
import sys
import types
import zipfile

import numpy as np
from scipy import signal, special, stats

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MODELS = os.path.join(ROOT, "experiments", "models")
sys.path[:0] = [MODELS, os.path.join(ROOT, "python"), os.path.join(ROOT, "tests", "python")]
WORK = sys.argv[2]
os.environ["NYSBENCH_MODELS"] = WORK

import effect
import golden
import heads
import layers
import nysbench
import read
import weights
import whisper
from measures import Tap
from smollm2 import SmolLM2Passkey, SmolLM2Variable
from vit import ViTRegions, cubic, linear_between, transposed_convolution
from whisper import WhisperWords, word_errors

TAP = Tap()
TOLD = golden.Teller()
golden.PLACES.insert(0, (re.escape(WORK), "/WORK"))
RNG = np.random.default_rng(20260719)


def normal(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def close(name, found, truth, tolerance=1e-5):
    found, truth = np.asarray(found, np.float64), np.asarray(truth, np.float64)
    worst = np.abs(found - truth).max() / max(np.abs(truth).max(), 1e-300)
    TAP.check(found.shape == truth.shape and worst <= tolerance, name, f"{worst:.3g} > {tolerance:.3g}")


def refused(name, kind, function, *arguments):
    """With an error, which is told."""
    try:
        function(*arguments)
        TAP.check(False, name, "no error")
    except kind as error:
        TAP.check(True, name)
        TOLD.tell(error)


def slow_attention(q, k, v, causal):
    """One query at a time, double precision."""
    out = np.zeros(q.shape)
    for head, row in np.ndindex(q.shape[:2]):
        keys, values = (x[head * len(k) // len(q)].astype(np.float64)[:row + 1 if causal else None] for x in (k, v))
        out[head, row] = special.softmax(keys @ q[head, row] / math.sqrt(q.shape[-1])) @ values
    return out


def check_layers():
    x = np.linspace(-6, 6, 20001, dtype=np.float32)
    close("erf is SciPy's to 4e-7", layers.erf(x), special.erf(x.astype(np.float64)), 4e-7)
    close("gelu", layers.gelu(x), x * stats.norm.cdf(x), 1e-6)
    close("silu", layers.silu(x), x * special.expit(x.astype(np.float64)))
    x, gain, shift = normal(7, 11) + 2.385, normal(11), normal(11)
    exact = x.astype(np.float64)
    close("layer norm", layers.layer_norm(x, gain, shift, 1e-3),
          (exact - exact.mean(1, keepdims=True)) / np.sqrt(exact.var(1, keepdims=True) + 1e-3) * gain + shift)
    close("root mean square norm", layers.rms_norm(x, gain, 1e-3),
          exact / np.sqrt((exact**2).mean(1, keepdims=True) + 1e-3) * gain)
    x = normal(3, 13, 8)
    turned = (x[..., :4] + 1j * x[..., 4:]) * np.exp(1j * np.arange(13)[:, None] * 50.0 ** (-np.arange(4) / 4))
    close("rotary embedding turns pairs", layers.rotary(x, 50.0), np.concatenate([turned.real, turned.imag], -1))
    x, kernel, bias = normal(4, 10), normal(5, 4, 3), normal(5)
    for stride in (1, 2):
        padded = np.pad(x, ((0, 0), (1, 1)))
        truth = [signal.correlate(padded, w, "valid")[:, ::stride] + b for w, b in zip(kernel, bias)]
        close(f"convolution of stride {stride}", layers.conv1d(x, kernel, bias, stride).T, np.concatenate(truth))
    x = normal(6, 12)
    close("split and merge are inverse", layers.merge(layers.split(x, 3)), x, 0)
    q, k, v = normal(4, 9, 5) * 3, normal(2, 9, 5), normal(2, 9, 5)
    for causal in (False, True):
        truth = slow_attention(q, k, v, causal)
        close(f"exact attention, grouped, causal {causal}", layers.exact_attention(0, q, k, v, causal), truth)
        layers.WHOLE, layers.BLOCK = 8, 4
        close(f"the same in blocks of queries, causal {causal}", layers.exact_attention(0, q, k, v, causal), truth)
        layers.WHOLE, layers.BLOCK = 2048, 512


def field(number, data):
    """A field of a protocol buffer: an integer below 128, or bytes."""
    if isinstance(data, int):
        return bytes([number << 3, data])
    size = len(data)
    return bytes([number << 3 | 2]) + (bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])) + data


def written(name, data):
    path = os.path.join(WORK, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def text(data, kind):
    return struct.pack("<" + kind, len(data)) + data


def check_readers():
    a, b = normal(2, 3), normal(4)
    path = os.path.join(WORK, "a.safetensors")
    weights.write_safetensors(path, {"a": a[:, ::-1], "b": b}, source="a text")
    found = weights.safetensors(path)
    TAP.check(list(found) == ["a", "b"] and (found["a"] == a[:, ::-1]).all() and (found["b"] == b).all(), "safetensors")
    raw = field(9, a.tobytes())
    tensor = field(1, 2) + field(1, 3) + field(2, 1) + field(8, b"matrix") + raw
    node = field(1, b"x") + field(1, b"matrix") + field(3, b"/layer/MatMul") + field(4, b"MatMul")
    graph = field(1, node) + field(5, tensor) + field(5, field(1, 1) + field(2, 7) + field(8, b"integers"))
    tensors, nodes = weights.onnx(written("a.onnx", field(1, 8) + field(7, graph)))
    TAP.check(list(tensors) == ["matrix"] and (tensors["matrix"] == a).all(), "ONNX: initializers")
    TAP.check(nodes == {"/layer/MatMul": ["x", "matrix"]}, "ONNX: nodes", nodes)
    half = a.astype(np.float16)
    variables = [(b"encoder/a\0", half, 4), (b"encoder/b\0", b, 0), (b"decoder/c\0", b, 0)]
    packed = b"".join(text(n, "H") + struct.pack("<B", x.ndim) + struct.pack(f"<{x.ndim}I", *x.shape) +
                      struct.pack("<BI", kind, x.nbytes) + x.tobytes() for n, x, kind in variables)
    path = written("model.bin", struct.pack("<I", 6) + text(b"Spec\0", "H") + struct.pack("<II", 3, 3) + packed)
    found = weights.ctranslate2(path, "encoder/")
    TAP.check(sorted(found) == ["encoder/a", "encoder/b"] and (found["encoder/a"] == half).all() and
              found["encoder/a"].dtype == np.float32 and (found["encoder/b"] == b).all(), "CTranslate2")
    refused("CTranslate2: another version", weights.WeightsError, weights.ctranslate2,
            written("old.bin", struct.pack("<I", 5) + text(b"Spec\0", "H") + struct.pack("<I", 3)), "")
    check_gguf()
    check_torch()


class Saved:
    """A tensor as torch.save pickles it: a view of some numbers, which are stored elsewhere under a name."""
    def __init__(self, numbers, name, start, shape, strides):
        self.numbers, self.name, self.view = numbers, name, (start, shape, strides)

    def __reduce__(self):
        return sys.modules["torch._utils"]._rebuild_tensor_v2, ((self.numbers, self.name), *self.view, False, {})


class Saver(pickle.Pickler):
    def persistent_id(self, obj):
        if isinstance(obj, tuple) and len(obj) == 2 and isinstance(obj[0], np.ndarray):
            kind = {"f4": "FloatStorage", "i8": "LongStorage"}[obj[0].dtype.str[1:]]
            return "storage", getattr(sys.modules["torch"], kind), obj[1], "cpu", obj[0].size
        return None


def saved(*objects):
    """Pickles one after the other, with the names of PyTorch in them."""
    torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
    for name in ("FloatStorage", "LongStorage", "BoolStorage"):
        setattr(torch, name, type(name, (), {"__module__": "torch"}))
    exec("def _rebuild_tensor_v2(): pass", {"__name__": "torch._utils"}, vars(utils))
    sys.modules |= {"torch": torch, "torch._utils": utils}
    out = io.BytesIO()
    for obj in objects:
        Saver(out, 2).dump(torch.BoolStorage if obj == "another" else obj)
    del sys.modules["torch"], sys.modules["torch._utils"]
    return out.getvalue()


def check_torch():
    a, b = normal(12), np.arange(-2, 3)
    state = collections.OrderedDict(whole=Saved(a, "0", 0, (3, 4), (4, 1)), turned=Saved(a, "0", 2, (4, 2), (1, 4)),
                                    counts=Saved(b, "1", 0, (5,), (1,)))
    truth = {"whole": a.reshape(3, 4), "turned": np.stack([a[2:6], a[6:10]], axis=1), "counts": b}
    path = os.path.join(WORK, "new.bin")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", saved(state))
        for name, numbers in (("0", a), ("1", b)):
            archive.writestr(f"archive/data/{name}", numbers.tobytes())
    head = saved(119547037146038801333356, 1001, {"little_endian": True}, state, ["1", "0"])
    tail = b"".join(struct.pack("<q", x.size) + x.tobytes() for x in (b, a))
    for what, file in (("a zip file", path), ("before 1.6", written("old.bin", head + tail))):
        found = weights.torch_state(file)
        TAP.check(list(found) == list(truth) and all((found[name] == x).all() for name, x in truth.items()),
                  f"PyTorch's, {what}", found)
    short = struct.pack("<q", 4) + b[:4].tobytes() + struct.pack("<q", 12) + a.tobytes()
    refused("PyTorch's: another size", weights.WeightsError, weights.torch_state, written("short.bin", head + short))
    for what, asked in (("another type", "another"), ("another function", os.getcwd)):
        refused(f"PyTorch's: {what} is not made", weights.WeightsError, weights.torch_state,
                written("asks.bin", saved(1, 2, 3, asked)))


def check_gguf():
    low, high = RNG.integers(0, 16, 16), RNG.integers(0, 16, 16)
    bytes8 = RNG.integers(-128, 128, 32).astype(np.int8)
    blocks = [struct.pack("<2e", 0.375, -1.5) + (low | high << 4).astype(np.uint8).tobytes(),
              struct.pack("<e", 0.125) + bytes8.tobytes(), np.float32([2.385, -7.5, 3, 4, 5, 6]).tobytes()]
    places = [0, 32, 96]
    data = b"".join(block.ljust(64 if i == 1 else 32, b"\0") for i, block in enumerate(blocks))
    pairs = text(b"name", "Q") + struct.pack("<I", 8) + text(b"tiny", "Q")
    pairs += text(b"list", "Q") + struct.pack("<IIQ", 9, 8, 2) + text(b"a", "Q") + text(b"b c", "Q")
    infos = b"".join(text(name, "Q") + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, place)
                     for name, shape, kind, place in zip((b"q4", b"q8", b"f"), ([32], [32], [3, 2]), (3, 8, 0), places))
    head = b"GGUF" + struct.pack("<IQQ", 3, 3, 2) + pairs + infos
    metadata, found = weights.gguf(written("a.gguf", head.ljust(-(-len(head) // 32) * 32, b"\0") + data))
    TAP.check(metadata == {"name": "tiny", "list": ["a", "b c"]}, "GGUF: metadata", metadata)
    TAP.check((found["q4"] == 0.375 * np.concatenate([low, high]) - 1.5).all(), "GGUF: Q4_1")
    TAP.check((found["q8"] == 0.125 * bytes8).all(), "GGUF: Q8_0")
    TAP.check((found["f"] == np.float32([[2.385, -7.5, 3], [4, 5, 6]])).all(), "GGUF: F32")
    infos = text(b"x", "Q") + struct.pack("<IQIQ", 1, 32, 12, 0)
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + infos
    path = written("k.gguf", head + bytes(256))
    refused("GGUF: another type", weights.WeightsError, weights.gguf, path)


def check_reading():
    found = read.prose("Title\n=====\n\n\n\nTwo  words \t here. \n   next\n---\n")
    # NOLINT(wording): the test's
    TAP.check(found == "Title\n\nTwo words here.\nnext\n", "prose without rules and runs of blanks", repr(found))
    TAP.check(read.from_start("a b c", "b", "s") == "b c" and read.from_start("a b c", "@4", "s") == "c", "starts")
    refused("a start that is not there", read.InputError, read.from_start, "a b c", "x", "s")
    path = written("a.html", b"<title>no</title><p>A &amp; <b>B</b><!-- no --></p>")
    TAP.check(read.raw_text(path) == "A & B", "HTML without marks", read.raw_text(path))
    check_sequences()
    samples = np.sin(2 * np.pi * 440 * np.arange(480000) / 16000)
    levels = read.spectrogram(samples)
    bands = read.mel_bands()
    TAP.check(levels.shape == (80, 3000) and levels[:, 1500].argmax() == bands[:, 11].argmax(), "spectrogram of 440 Hz")
    close("the first band, as Slaney's in librosa", bands[0, :3], [0, 0.024862593, 0], 1e-7)
    # Unit area over bins of 40 Hz, where a triangle is wide enough for the sum to be its integral.
    close("bands have unit area", bands[40:].sum(axis=1) * 40, np.ones(40), 0.1)
    close("cubic resampling keeps constants", cubic(37, 16) @ np.ones(37), np.ones(16), 1e-12)
    at = (np.arange(16) + 0.5) * 37 / 16 - 0.5  # lines too, with the slope of Catmull and Rom
    close("and lines, away from the edges", (cubic(37, 16, -0.5) @ np.arange(37))[1:-1], at[1:-1], 1e-12)


def check_sequences():
    """Genes as amino acids, an ester's reaction, and their tokens."""
    table = "sequence_id\tsequence\tv_sequence_start\tj_sequence_end\nA1\tccATGTGGTAATTTGGGAAAcc\t3\t19\n"
    path = written("genes.tsv.gz", gzip.compress(table.replace("cc", "CC").encode()))
    found = read.antibody(path, "A1")
    TAP.check(found == "MW*FG", "amino acids of whole codons between two bases", found)
    refused("a sequence that is not there", read.InputError, read.antibody, path, "A2")
    refused("a base that is unknown", read.InputError, read.amino_acid, "ANG")
    path = written("molecules.csv", b'"c1cc(C(=O)OCC)ccc1Cl","E1"\n"CC(=O)OC","E2"\n"CC(=O)OCCC","P1"\n')
    for name, truth in (("E1", "c1cc(C(=O)OCC)ccc1Cl.CO.O.[OH-].[Na+]>>c1cc(C(=O)O)ccc1Cl"),
                        ("E2", "CC(=O)OC.CO.O.[OH-].[Na+]>>CC(=O)O")):
        found = read.hydrolysis(path, name)
        TAP.check(found == truth and "".join(read.smiles_tokens(found)) == found, f"the reaction of {name}", found)
    refused("a propyl ester", read.InputError, read.hydrolysis, path, "P1")
    refused("a molecule that is not there", read.InputError, read.hydrolysis, path, "E3")
    vocabulary = written("vocab.txt", b"[PAD]\n[CLS]\n[SEP]\nC\n[OH-]\nCl\n>>\n")
    tokens = read.smiles_tokens("C[OH-]Cl>>C")
    found = read.tokens_between(vocabulary, tokens, 6)
    TAP.check(found.tolist() == [1, 3, 4, 5, 6, 2], "tokens between [CLS] and [SEP], cut", found)
    TAP.check(read.tokens_between(vocabulary, tokens, 8) is None, "too few tokens")


class Tiny:
    """Three layers of attention and tanh, no norms: everything can be written again in a few lines."""
    name = "tiny"
    layers, heads, key_heads, n, d, causal = 3, 2, 2, 20, 4, False

    def __init__(self):
        rng = np.random.default_rng(7)
        self.w = rng.normal(size=(self.layers, 4, 8, 8)).astype(np.float32) / 2
        self.table = rng.normal(size=(30, 8)).astype(np.float32)

    def start(self, tokens):
        return self.table[tokens]

    def layer(self, index, x, attention):
        q, k, v = (layers.split(x @ w, self.heads) for w in self.w[index, :3])
        return x + np.tanh(layers.merge(attention(index, q, k, v, self.causal)) @ self.w[index, 3])

    def finish(self, x):
        return 2 * x

    def embedding(self, output):
        mean = output.mean(axis=0, dtype=np.float64)
        return mean / np.linalg.norm(mean)


class TinyCausal(Tiny):
    causal = True

    def log_probabilities(self, output):
        return special.log_softmax(output @ self.table.T, axis=1)


def half_values(layer, q, k, v, causal):
    """An attention that is wrong by a known factor: 1 - 2^-(layer + 1) of the exact one."""
    return layers.exact_attention(layer, q, k, v, causal) * np.float32(1 - 0.5 ** (layer + 1))


def recomputed(model, tokens, changed):
    """Hidden states before each layer and after the last."""
    states = [model.table[tokens].astype(np.float64)]
    for index in range(3):
        x = states[-1]
        q, k, v = (layers.split(x @ w.astype(np.float64), 2) for w in model.w[index, :3])
        out = slow_attention(q, k, v, model.causal) * (1 - 0.5 ** (index + 1) if index in changed else 1)
        states.append(x + np.tanh(layers.merge(out) @ model.w[index, 3]))
    return states


def norm_ratio(x, exact):
    return np.linalg.norm(x - exact) / np.linalg.norm(exact)


def tiny_effects(model):
    os.makedirs(os.path.join(WORK, "inputs"), exist_ok=True)
    effect.MODELS["tiny"] = model
    np.savez(os.path.join(WORK, "inputs", "tiny.npz"), **{f"s{i}": RNG.integers(0, 30, 20) for i in range(3)})
    effects = effect.Effects("tiny")
    corpus = RNG.normal(size=(50, 8))
    effects.corpus = None if model.causal else corpus / np.linalg.norm(corpus, axis=1, keepdims=True)
    return effects


def check_effects():
    effects = tiny_effects(Tiny)
    for words, changed in (("1", [1]), ("one(2)", [2]), ("half", [0, 2]), ("all", [0, 1, 2])):
        TAP.check(effect.replaced_layers(words, 3) == changed, f"layers {words}")
        tokens = effects.inputs["s1"]
        exact, new = recomputed(effects.model, tokens, []), recomputed(effects.model, tokens, changed)
        found = effects.effect_of("s1", half_values, changed)
        close(f"{words}: error of the output", found["model_error"], norm_ratio(new[-1], exact[-1]))
        truth = [norm_ratio(*pair) for pair in zip(new[1:], exact[1:])]
        close(f"{words}: errors after layers", found["errors_after"], truth)
        TAP.check(not any(found["errors_after"][:changed[0]]), f"{words}: none before the first")
        close(f"{words}: local error", found["layer_error"], np.mean([0.5 ** (i + 1) for i in changed]))
        u, v = (x[-1].mean(axis=0) / np.linalg.norm(x[-1].mean(axis=0)) for x in (new, exact))
        close(f"{words}: 1 - cosine", found["embedding_distance"], 1 - u @ v, 1e-4)  # a square of what float32 gives
        scores, truth = effects.corpus @ u, effects.corpus @ v
        close(f"{words}: Spearman", found["rank_agreement"], stats.spearmanr(scores, truth)[0], 1e-12)
        same = len(set(np.argsort(-scores)[:10].tolist()) & set(np.argsort(-truth)[:10].tolist())) / 10
        TAP.check(found["top10_overlap"] == same, f"{words}: top 10", (found["top10_overlap"], same))
    found = effects.effect_of("s0", layers.exact_attention, [0, 1, 2])
    TAP.check(found["model_error"] == found["layer_error"] == found["embedding_distance"] == 0 and
              found["rank_agreement"] > 1 - 1e-12, "exact attention has no effect", found)
    for words in ("3", "some", "one(3)", "-1"):
        refused(f"layers {words}: refused", ValueError, effect.replaced_layers, words, 3)
    refused("an attention that is not finite", effect.Diverged, effects.effect_of, "s0",
            lambda layer, q, k, v, causal: q * np.float32(np.nan), [1])
    check_heads(effects)
    check_causal()


def check_heads(effects):
    found = effects.heads("s2", [2, 0])
    states = recomputed(effects.model, effects.inputs["s2"], [])
    for number, name in enumerate("qkv"):
        truth = np.concatenate([layers.split(states[i] @ effects.model.w[i, number], 2) for i in (2, 0)])
        close(f"heads: {name}", found[name], truth)
    captured = effects.captured("s2", [2, 0])
    TAP.check(all(np.array_equal(np.concatenate([captured[i][name] for i in (2, 0)]), found[name]) for name in "qkv"),
              "captured: as heads, layer by layer", captured.keys())
    digests = [hashlib.sha256(f"{effects.model.name} s2 layer {i}".encode()).digest() for i in range(3)]
    TAP.check(heads.drawn(effects.model, "s2", 1, 2)[0] == sorted(sorted(range(3), key=digests.__getitem__)[:2]),
              "drawn: the layers whose digests are least", heads.drawn(effects.model, "s2", 1, 2))


def check_causal():
    effects = tiny_effects(TinyCausal)
    tokens = effects.inputs["s0"]
    found = effects.effect_of("s0", half_values, [0, 2])
    outputs = (2 * recomputed(effects.model, tokens, changed)[-1] for changed in ([], [0, 2]))
    exact, new = (special.log_softmax(output @ effects.model.table.T, axis=1) for output in outputs)
    perplexity = [math.exp(-np.mean([row[token] for row, token in zip(x, tokens[1:])])) for x in (new, exact)]
    close("ratio of perplexities", found["perplexity_ratio"], perplexity[0] / perplexity[1])
    truth = np.mean([stats.entropy(np.exp(p), np.exp(q)) for p, q in zip(exact, new)])
    close("KL divergence", found["kl"], truth, 1e-4)  # a difference of what float32 gives
    TAP.check("task_error" not in found, "no task, no error of a task", found)
    check_passkey()


class TinyPasskey(TinyCausal):
    """With the task of SmolLM2Passkey: the last five tokens."""
    DIGITS, answer, task_error = SmolLM2Passkey.DIGITS, SmolLM2Passkey.answer, SmolLM2Passkey.task_error


def check_passkey():
    """A key of which the changed model says two digits: the others are one off what it says."""
    effects = tiny_effects(TinyPasskey)
    tokens, said = effects.inputs["s0"], []
    for place, off in zip(range(15, 20), (1, 0, 1, 0, 1)):
        output = recomputed(effects.model, tokens, [0, 2])[-1]
        said.append((output[place - 1] @ effects.model.table.T).argmax())
        tokens[place] = (said[-1] + off) % 30
    TAP.check(effects.model.answer(output).tolist() == said, "pass key: what is said in the place of each digit", said)
    effects.inputs = {"s0": tokens}
    found = effects.effect_of("s0", half_values, [0, 2])
    TAP.check(found["task_error"] == 0.6, "pass key: three of five digits are wrong", found)
    check_variable(effects)


def check_variable(effects):
    """Of the digits that exact attention gets right, how many are wrong; the others do not count."""
    truth = effects.inputs["s0"][-5:]
    for right, wrong, error in (([0, 1, 2], [0, 4], 1 / 3), ([3], [], 0), ([], [0], None)):
        exact, new = truth + 1, truth.copy()
        exact[right] = truth[right]
        new[wrong] += 1
        found = SmolLM2Variable.task_error(effects.model, new, types.SimpleNamespace(input=truth, answer=exact))
        TAP.check(found == error, f"a variable: right {right}, then wrong {wrong}", found)


def check_regions():
    """The parts of the decoder by their definitions, and what its regions have in common."""
    x, kernel, bias = normal(3, 4, 5), normal(3, 2, 4, 4), normal(2)
    truth = np.zeros((2, 8, 10))
    for c, o, i, j, k, l in np.ndindex(3, 2, 4, 5, 4, 4):
        if 0 <= 2 * i + k - 1 < 8 and 0 <= 2 * j + l - 1 < 10:
            truth[o, 2 * i + k - 1, 2 * j + l - 1] += float(x[c, i, j]) * float(kernel[c, o, k, l])
    close("a transposed convolution", transposed_convolution(x, kernel, bias), truth + bias[:, None, None])
    for size, to in ((8, 14), (16, 28), (5, 3)):
        values = normal(size)
        places = (np.arange(to) + 0.5) * size / to - 0.5
        close(f"{size} numbers interpolated to {to}", linear_between(size, to) @ values,
              np.interp(places, np.arange(size), values))
    model = ViTRegions.__new__(ViTRegions)
    model._grid, outputs = 2, normal(5, 6)
    sizes = (6, 4, 3, 2, 1)
    model._w = {"decoder.final_conv.weight": normal(1, 2, 1, 1), "decoder.final_conv.bias": normal(1)}
    for step in (1, 2, 3):
        kernel = normal(sizes[step - 1], sizes[step], 4, 4)
        model._w |= {f"decoder.upconv{step}.weight": kernel, f"decoder.upconv{step}.bias": normal(sizes[step])}
        for part in ("weight", "bias", "running_mean", "running_var"):
            model._w[f"decoder.bn{step}.{part}"] = normal(sizes[step]) ** 2
    close("a map of importance", model.heat(outputs), importance(model, outputs))
    model.heat = lambda output: output
    answer = model.answer(np.array([[2, 9.9], [10, 12]]))
    TAP.check(answer.tolist() == [[False, False], [False, True]], "regions: above 0.8 of the range", answer)
    exact = types.SimpleNamespace(answer=np.array([[True, True], [True, False]]))
    found = ViTRegions.task_error(model, np.array([[True, False], [True, True]]), exact)
    TAP.check(found == 0.5, "regions: two of four pixels in common", found)


def importance(model, outputs):
    """The decoder's map, point by point."""
    w, x = model._w, outputs[1:].reshape(model._grid, model._grid, -1).transpose(2, 0, 1).astype(np.float64)
    for step in "123":
        x = np.stack([sum(signal.convolve2d(np.kron(one, [[1, 0], [0, 0]]), kernel[c, o]) for c, one in enumerate(x))
                      for kernel in [w[f"decoder.upconv{step}.weight"]] for o in range(kernel.shape[1])])
        x = x[:, 1:-2, 1:-2]
        for o in range(len(x)):
            mean, variance, scale, shift, bias = (w[f"decoder.{name}"][o] for name in (
                f"bn{step}.running_mean", f"bn{step}.running_var", f"bn{step}.weight", f"bn{step}.bias",
                f"upconv{step}.bias"))
            x[o] = np.maximum(scale * (x[o] + bias - mean) / np.sqrt(variance + 1e-5) + shift, 0)
    last = sum(one * w["decoder.final_conv.weight"][0, o, 0, 0] for o, one in enumerate(x))
    places = (np.arange(14 * model._grid) + 0.5) * len(last) / (14 * model._grid) - 0.5
    rows = np.array([np.interp(places, np.arange(len(last)), row) for row in last])
    both = np.array([np.interp(places, np.arange(len(last)), column) for column in rows.T]).T
    return special.expit(both + w["decoder.final_conv.bias"])


def fewest(said, truth):
    """Edits, by their definition."""
    if not said or not truth:
        return len(said) + len(truth)
    return min(fewest(said[1:], truth) + 1, fewest(said, truth[1:]) + 1,
               fewest(said[1:], truth[1:]) + (said[0] != truth[0]))


def check_words():
    words = whisper.words(" Press 1, please; don't\nSTOP.")
    TAP.check(words == ["press", "1", "please", "don't", "stop"], "words of a text", words)
    for _ in range(20):
        said, truth = (RNG.integers(0, 3, size).tolist() for size in (RNG.integers(0, 6), RNG.integers(1, 6)))
        found = word_errors(said, truth)
        TAP.check(found == fewest(said, truth) / len(truth), "word errors are the fewest edits", (said, truth, found))


class TinyWords(WhisperWords):
    """Two layers of a decoder with random parameters, width 8, and words a ... j."""
    heads, d = 2, 4

    def __init__(self):
        shapes = {"self_attention/linear_0": (24, 8), "self_attention/linear_1": (8, 8), "attention/linear_0": (8, 8),
                  "attention/linear_1": (16, 8), "attention/linear_2": (8, 8), "ffn/linear_0": (32, 8),
                  "ffn/linear_1": (8, 32)}
        self._w = {"decoder/embeddings/weight": normal(13, 8), "decoder/position_encodings/encodings": normal(300, 8),
                   **self._norms("decoder")}
        for at in ("decoder/layer_0/", "decoder/layer_1/"):
            for name, shape in shapes.items():
                self._w |= {at + name + "/weight": normal(*shape) / 2, at + name + "/bias": normal(shape[0])}
            for name in ("self_attention", "attention", "ffn"):
                self._w |= self._norms(at + name)
        self._w["decoder/embeddings/weight"][10] *= 3  # so that some transcripts end
        self._depth, self._never, self._never_first = 2, [0, 11, 12], [10, 1]
        self._vocabulary = [*"\u0120abcdefghi", "<|endoftext|>", "<|startoftranscript|>", "<|notimestamps|>"]

    @staticmethod
    def _norms(at):
        return {at + "/layer_norm/gamma": 1 + normal(8) / 9, at + "/layer_norm/beta": normal(8)}


def decoded(model, output, tokens):
    """Scores after these tokens, in double precision and without anything kept."""
    w = {name: array.astype(np.float64) for name, array in model._w.items()}

    def norm(x, name):
        x = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
        return x * w[name + "/layer_norm/gamma"] + w[name + "/layer_norm/beta"]

    def linear(x, name):
        return x @ w[name + "/weight"].T + w[name + "/bias"]

    def attended(q, k, v, causal):
        out = slow_attention(*(x.reshape(len(x), 2, 4).transpose(1, 0, 2) for x in (q, k, v)), causal)
        return out.transpose(1, 0, 2).reshape(len(q), 8)

    x = w["decoder/embeddings/weight"][tokens] + w["decoder/position_encodings/encodings"][:len(tokens)]
    for at in ("decoder/layer_0/", "decoder/layer_1/"):
        q, k, v = np.split(linear(norm(x, at + "self_attention"), at + "self_attention/linear_0"), 3, axis=1)
        x = x + linear(attended(q, k, v, True), at + "self_attention/linear_1")
        k, v = np.split(linear(output, at + "attention/linear_1"), 2, axis=1)
        q = linear(norm(x, at + "attention"), at + "attention/linear_0")
        x = x + linear(attended(q, k, v, False), at + "attention/linear_2")
        y = linear(norm(x, at + "ffn"), at + "ffn/linear_0")
        x = x + linear(y * stats.norm.cdf(y), at + "ffn/linear_1")
    return norm(x, "decoder")[-1] @ w["decoder/embeddings/weight"].T


def check_transcripts():
    """Each token has the highest score of those that may come, after those before; the end comes where it has it."""
    lengths, whisper.MOST = set(), 12
    for _ in range(8):
        model, output = TinyWords(), normal(9, 8)
        found, tokens = model.transcript(output), [11, 12]
        for place in range(len(found) + 1):
            scores = decoded(model, output, tokens)
            scores[[*model._never, *(model._never_first if place == 0 else [])]] = -np.inf
            told = found[place] if place < len(found) else 10
            tokens.append(told)
            if place < whisper.MOST:
                TAP.check(scores.argmax() == told, f"transcript: token {place}", (found, scores))
        lengths.add(len(found))
    TAP.check(len(lengths) > 1, "transcripts differ in length", lengths)


TINY_SERVER = """
import sys
sys.argv[0] = "serve.py"
sys.path[:0] = [{tests!r}, {models!r}]
sys.argv[1:] = ["nysbench", {work!r}]
import models, serve, effect
effect.MODELS["tiny"] = models.Tiny
serve.SECONDS["tiny"] = 0.5
effect.library_attention = models.spoken
serve.QUESTIONS["nan"] = lambda *_: {{"kl": float("nan")}}
sys.exit(serve.main(["tiny"]))
"""


def spoken(model, spec, seed, trial, plugins):
    """What specs are to the server of the tiny model."""
    if spec == "refused":
        raise effect.Refused("refused")
    if spec == "diverged":
        raise effect.Diverged("diverged")
    if spec != "half":
        raise ValueError(f"{spec}, {seed}, {trial}")
    print("noise")
    return half_values


def check_server():
    effects = tiny_effects(Tiny)
    effects.corpus = None  # the server has none of the tiny model
    program = TINY_SERVER.format(tests=os.path.dirname(os.path.abspath(__file__)), models=MODELS, work=WORK)
    file = os.path.join(WORK, "heads.safetensors")
    ask = {"do": "effect", "source": 1, "layers": [0, 2], "attention": "half", "seed": 5, "trial": 2}
    questions = [{"do": "describe"}, ask, *({**ask, "attention": spec} for spec in ("refused", "diverged", "other")),
                 {**ask, "source": 7}, {"do": "dance"}, {"do": "nan"},
                 {"do": "heads", "source": 2, "layers": [2, 0], "file": file}]
    lines = [json.dumps(question) for question in questions] + ["JSON"]
    asked = "".join(line + "\n" for line in lines)
    done = subprocess.run([sys.executable, "-c", program], input=asked, text=True, capture_output=True)
    TAP.check(done.returncode == 0, "the server ends well", done.stderr)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    TAP.check(answers[0] == {"ready": 1} and len(answers) == len(lines) + 1, "a line for each question", done.stdout)
    described, found, skipped, diverged, wrong, range_, unknown, nan, heads, garbled = answers[1:]
    TAP.check(described == {"model": "tiny", "layers": 3, "heads": 2, "key_heads": 2, "n": 20, "d": 4, "dv": 4,
                            "causal": False, "sources": ["s0", "s1", "s2"], "seconds": 0.5}, "describe", described)
    truth = effects.effect_of("s1", half_values, [0, 2])
    TAP.check(set(found) == {"model_error", "layer_error", "embedding_distance"}, "effect: its columns", found)
    for name in found:
        close(f"effect: {name}", found[name], truth[name])
    TAP.check(skipped == {"skipped": "refused"} and diverged == {"diverged": "diverged"}, "skipped and diverged")
    TAP.check(wrong == {"error": "ValueError: other, 5, 2"}, "a failing attention", wrong)
    TAP.check(range_["error"].startswith("IndexError"), "a source that is not there", range_)
    TAP.check(list(unknown) == ["error"], "an unknown question", unknown)
    TOLD.tell(unknown["error"])
    TAP.check(nan.get("error", "").startswith("ValueError: "), "NaN, which JSON has not", nan)
    TAP.check(heads == {} and all((weights.safetensors(file)[name] == array).all()
                                  for name, array in effects.heads("s2", [2, 0]).items()), "heads: the file")
    TAP.check(garbled["error"].startswith("JSONDecodeError"), "what is no JSON", garbled)
    TAP.check("noise" in done.stderr, "what is printed goes to standard error", done.stderr)
    bare = subprocess.run([sys.executable, os.path.join(MODELS, "serve.py"), "minilm"], capture_output=True, text=True,
                          env={**os.environ, "NYSBENCH_MODELS": os.path.join(WORK, "none")}, stdin=subprocess.DEVNULL)
    TAP.check(bare.returncode == 2 and "run experiments/models/fetch.sh" in bare.stderr and not bare.stdout,
              "models that are not there", bare.stderr)


def check_library():
    """Replaced by exact attention of the checkout's libnysbench: the output stays, to float32 rounding."""
    for model in (Tiny, TinyCausal):
        effects = tiny_effects(model)
        found = effects.effect("s0", "streamed", "all")
        TAP.check(0 < found["model_error"] < 1e-5, f"streamed, causal {model.causal}", found)
    effects = tiny_effects(Tiny)
    # What is cut off is 1e-4 of A; what is kept makes 1e-4 / 6e-8 times as much of a float32 rounding.
    found = effects.effect("s0", "nystrom(strategy=uniform, landmarks=20, core=svd(rcond=1e-4))", "all")
    TAP.check(0 < found["model_error"] < 2e-3, "nystrom with all tokens as landmarks", found)
    spec = "nystrom(strategy=uniform, landmarks=3, core=svd)"
    one, same, other = (effects.effect("s0", spec, "all", 5, trial) for trial in (0, 0, 1))
    TAP.check(one == same and one != other, "the same trial, the same numbers; another one, others")
    kept, anew = (effects.effect("s0", f"nystrom(strategy=segment_means, landmarks=4, refresh={refresh})", "all")
                  for refresh in (9, 1))
    TAP.check(kept == anew, "nothing is kept from layer to layer")
    effects = tiny_effects(TinyCausal)
    refused("no causal form: refused", effect.Refused, effects.effect, "s0", "nystrom(landmarks=4)", "all")
    refused("a spec that is wrong is an error", nysbench.ArgumentError, effects.effect, "s0", "nystrom(landmarks=none)",
            "all")


def main():
    os.makedirs(WORK, exist_ok=True)
    for check in (check_layers, check_readers, check_reading, check_effects, check_words, check_regions,
                  check_transcripts, check_server, check_library):
        check()
    changed = "" if TAP.failed else golden.difference("what is refused", TOLD)
    TAP.check(not changed, "what errors say is golden", changed)
    print(f"1..{TAP.count}")
    return TAP.failed > 0


if __name__ == "__main__":
    sys.exit(main())
