# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: python3 experiments/models/heads.py MODEL FOLDER (--layers 3,6 [--heads 1,2] | --draw 2[,4]) [OPTION]...

--sources A,B  of these alone        --first N  the first N tokens alone        --half  float16 in place of float32
--like A       with --draw: the layers and heads that are drawn for source A

Writes heads of an exact pass of a model that serve.py knows, after rotary embedding, a file for each source and layer,
FOLDER/MODEL_SOURCE_LN.safetensors, or MODEL_SOURCE_nN_LN.safetensors of the first N tokens: q, k, v as
`heads(file=...)` takes them. --draw takes so many heads of one layer, or of so many, drawn for each source by SHA-256.
Needs NumPy and what fetch.sh brings.
"""
import argparse
import hashlib
import os
import sys

import numpy as np

import packages
import weights
from effect import Effects, names


def numbers(text):
    return [int(number) for number in text.split(",")]


def arguments(words):
    parser = argparse.ArgumentParser(prog="heads.py", usage=__doc__.split("\n")[0].removeprefix("usage: "))
    parser.add_argument("model", choices=names())
    parser.add_argument("folder")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--layers", type=numbers)
    which.add_argument("--draw", type=numbers)
    parser.add_argument("--sources", type=lambda text: text.split(","))
    parser.add_argument("--heads", type=numbers)
    parser.add_argument("--like")
    parser.add_argument("--first", type=int)
    parser.add_argument("--half", action="store_true")
    found = parser.parse_args(words)
    return parser, found


def drawn(model, source, heads, layers=1):
    """So many layers and heads, those whose SHA-256 is least: what the protocol draws for a source."""
    def digest(what, number):
        return hashlib.sha256(f"{model.name} {source} {what} {number}".encode()).digest()

    def least(what, end, count):
        return sorted(sorted(range(end), key=lambda number: digest(what, number))[:count])

    return least("layer", model.layers, layers), least("head", model.heads, heads)


def write_layer(folder, name, model, source, layer, tensors, heads, half, cut=False):
    """Writes q, k and v of a layer, (heads, n, d), to FOLDER/NAME_SOURCE_LN.safetensors, or to
    NAME_SOURCE_nN_LN.safetensors if they are cut; `heads` are the model's numbers."""
    n = f"_n{tensors['q'].shape[1]}" if cut else ""
    path = os.path.join(folder, f"{name}_{source}{n}_L{layer}.safetensors")
    about = {"model": model.name, "source": source, "layer": str(layer), "causal": str(model.causal).lower(),
             "heads": ",".join(map(str, heads))}
    weights.write_safetensors(path, {part: x.astype(np.float16 if half else np.float32) for part, x in tensors.items()},
                              **about)
    print(path, flush=True)


def main(words):
    parser, given = arguments(words)
    effects = Effects(given.model)
    model, sources = effects.model, given.sources or effects.sources
    heads = given.heads or range(model.heads)
    for what, numbers_, end in (("layer", given.layers or [], model.layers), ("head", heads, model.heads)):
        for number in numbers_:
            if not 0 <= number < end:
                parser.error(f"{what} {number}: expected 0 ... {end - 1}")
    for source in [*sources, *([given.like] if given.like else [])]:
        if source not in effects.sources:
            parser.error(f"source {source}: expected one of {', '.join(effects.sources)}")
    for number, end in zip(given.draw or [], (model.heads, model.layers)):
        if not 0 < number <= end:
            parser.error(f"--draw: {number}: expected 1 ... {end}")
    if given.like and not given.draw:
        parser.error("--like: needs --draw")
    if given.first is not None and not 0 < given.first <= model.n:
        parser.error(f"--first {given.first}: expected 1 ... {model.n}")
    os.makedirs(given.folder, exist_ok=True)
    for source in sources:
        layers = given.layers
        if given.draw:
            layers, heads = drawn(model, given.like or source, *given.draw)
        captured = effects.captured(source, layers)
        for layer in layers:
            group = model.heads // model.key_heads
            chosen = {part: x[[head if part == "q" else head // group for head in heads], :given.first]
                      for part, x in captured[layer].items()}
            write_layer(given.folder, given.model, model, source, layer, chosen, heads, given.half,
                        cut=given.first is not None)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except packages.NotFetched as error:
        sys.exit(f"heads.py: {error}")
