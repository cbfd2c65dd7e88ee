# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: python3 experiments/models/heads.py MODEL FOLDER --layers 3,6 [--sources A,B] [--heads 1,2] [--half]

Writes heads of an exact pass of a model that serve.py knows, after rotary embedding, to FOLDER/MODEL_SOURCE_LN.safetensors,
a file for each source (default: all) and layer: q, k, v as `heads(file=...)` takes them, float32, or float16 with --half.
Needs NumPy and what fetch.sh brings.
"""
import argparse
import os
import sys

import numpy as np

import packages
import weights
from effect import LONG, MODELS, Effects


def numbers(text):
    return [int(number) for number in text.split(",")]


def arguments(words):
    parser = argparse.ArgumentParser(prog="heads.py", usage=__doc__.split("\n")[0].removeprefix("usage: "))
    parser.add_argument("model", choices=[*MODELS, *LONG])
    parser.add_argument("folder")
    parser.add_argument("--layers", type=numbers, required=True)
    parser.add_argument("--sources", type=lambda text: text.split(","))
    parser.add_argument("--heads", type=numbers)
    parser.add_argument("--half", action="store_true")
    found = parser.parse_args(words)
    return parser, found


def write_layer(folder, name, model, source, layer, tensors, heads, half):
    """Writes q, k and v of a layer, (heads, n, d), to FOLDER/NAME_SOURCE_LN.safetensors; `heads` are the model's numbers."""
    path = os.path.join(folder, f"{name}_{source}_L{layer}.safetensors")
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
    for what, numbers_, end in (("layer", given.layers, model.layers), ("head", heads, model.heads)):
        for number in numbers_:
            if not 0 <= number < end:
                parser.error(f"{what} {number}: expected 0 ... {end - 1}")
    for source in sources:
        if source not in effects.sources:
            parser.error(f"source {source}: expected one of {', '.join(effects.sources)}")
    os.makedirs(given.folder, exist_ok=True)
    for source in sources:
        for layer in given.layers:
            found = effects.heads(source, [layer])
            group = model.heads // model.key_heads
            chosen = {name: x[[head if name == "q" else head // group for head in heads]] for name, x in found.items()}
            write_layer(given.folder, given.model, model, source, layer, chosen, heads, given.half)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except packages.NotFetched as error:
        sys.exit(f"heads.py: {error}")
