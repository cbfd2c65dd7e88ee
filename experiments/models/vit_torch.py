# SPDX-License-Identifier: GPL-3.0-or-later
"""The ViT of vit.py in PyTorch, on any device, with heads of any length n = 1 + g^2, and a bundle for machines without
network. Needs PyTorch, NumPy, Pillow, and what fetch.sh brings or a bundle of it.

    python3 experiments/models/vit_torch.py heads build/long --n 16385,65537 --layers 3,6 --sources greentock,garden
    python3 experiments/models/vit_torch.py bundle FOLDER --sources greentock,garden

`heads` writes what heads.py writes, FOLDER/vit-N_SOURCE_LN.safetensors. `bundle` copies the photographs and writes
vit.safetensors, the parameters in half precision (44 MB); `heads --bundle FOLDER` reads them there. In Python:

    model = ViT(read_parameters(bundle), "cuda", torch.float16)
    output = model(read_square(find_photographs(bundle)["garden"], 4097)[None], lambda layer, q, k, v: ...)
"""
import argparse
import importlib.util
import math
import os
import shutil
import sys

import numpy as np

import prepare
import read
import vit
import weights
from heads import numbers, write_layer

if importlib.util.find_spec("torch") is None:
    raise ModuleNotFoundError(f"{sys.executable} has no PyTorch: install it, or take a Python that has it", name="torch")

import torch
from torch.nn import functional

WEIGHTS = "vit.safetensors"
KINDS = "photograph", "test-photograph", "image"


def exact_attention(layer, q, k, v):
    return functional.scaled_dot_product_attention(q, k, v)


class ViT:
    """The model on a device, in one type. An attention is a function of a layer's number and its q, k and v, contiguous
    tensors (images, heads, n, d); it returns one like q."""
    name, layers, heads, d, causal = vit.ViT.name, vit.ViT.layers, vit.ViT.heads, vit.ViT.d, vit.ViT.causal

    def __init__(self, parameters, device="cpu", dtype=torch.float32):
        self._w = {name: torch.tensor(x, device=device, dtype=dtype) for name, x in parameters.items()}
        self._mean, self._deviation = (torch.tensor(x, device=device) for x in (vit.MEAN, vit.DEVIATION))
        self._trained, self._positions = parameters["embeddings.position"], {}

    def _linear(self, x, name):
        return functional.linear(x, self._w[f"{name}.weight"], self._w[f"{name}.bias"])

    def _norm(self, x, name):
        weight, bias = self._w[f"{name}.weight"], self._w[f"{name}.bias"]
        return functional.layer_norm(x, weight.shape, weight, bias, vit.EPS)

    def _position(self, grid):
        if grid not in self._positions:
            found = torch.from_numpy(vit.positions(self._trained, grid))
            self._positions[grid] = found.to(self._w["embeddings.position"])
        return self._positions[grid]

    def start(self, pixels):
        """The hidden states (images, n, 384) that go into layer 0, of bytes (images, 14 g, 14 g, 3)."""
        grid = pixels.shape[1] // vit.PATCH
        x = torch.as_tensor(pixels, device=self._mean.device).float() / 255
        x = ((x - self._mean) / self._deviation).to(self._w["embeddings.position"])
        x = x.reshape(-1, grid, vit.PATCH, grid, vit.PATCH, 3).permute(0, 1, 3, 5, 2, 4).reshape(len(x), grid**2, -1)
        kernel, bias = (self._w[f"embeddings.patch_embeddings.projection.{part}"] for part in ("weight", "bias"))
        x = functional.linear(x, kernel.flatten(1), bias)
        return torch.cat([self._w["embeddings.cls_token"].expand(len(x), -1, -1), x], 1) + self._position(grid)

    def project(self, index, x):
        """q, k and v of a layer, of the hidden states that go into it."""
        inner = self._norm(x, f"encoder.layer.{index}.norm1")
        parts = (self._linear(inner, f"encoder.layer.{index}.attention.attention.{part}") for part in ("query", "key", "value"))
        return tuple(part.unflatten(-1, (self.heads, self.d)).transpose(1, 2).contiguous() for part in parts)

    def layer(self, index, x, attention=exact_attention):
        """The hidden states after a layer."""
        at = f"encoder.layer.{index}"
        out = attention(index, *self.project(index, x)).transpose(1, 2).flatten(2)
        x = x + self._w[f"{at}.layer_scale1.lambda1"] * self._linear(out, f"{at}.attention.output.dense")
        inner = functional.gelu(self._linear(self._norm(x, f"{at}.norm2"), f"{at}.mlp.fc1"))
        return x + self._w[f"{at}.layer_scale2.lambda1"] * self._linear(inner, f"{at}.mlp.fc2")

    def finish(self, x):
        """The encoder's output (images, n, 384), from the hidden states after the last layer."""
        return self._norm(x, "layernorm")

    def __call__(self, pixels, attention=exact_attention):
        x = self.start(pixels)
        for index in range(self.layers):
            x = self.layer(index, x, attention)
        return self.finish(x)


def layer_heads(model, pixels, layers):
    """(layer, (q, k, v)) for each of the layers, in ascending order, of an exact pass."""
    x = model.start(pixels)
    for index in range(max(layers) + 1):
        if index in layers:
            yield index, model.project(index, x)
        if index < max(layers):
            x = model.layer(index, x)


def read_parameters(bundle=None):
    """What vit.read_parameters returns, or the same from a bundle, rounded to half precision there."""
    if bundle is None:
        return vit.read_parameters()
    return {name: x.astype(np.float32) for name, x in weights.safetensors(os.path.join(bundle, WEIGHTS)).items()}


def find_photographs(bundle=None):
    """{source: path} of all photographs of inputs.csv, or of those in a bundle."""
    if bundle is None:
        return {row["source"]: read.files(row["file"])[0] for row in prepare.manifest(*KINDS)}
    names = sorted(name for name in os.listdir(bundle) if name.endswith((".jpg", ".png")))
    return {os.path.splitext(name)[0]: os.path.join(bundle, name) for name in names}


def read_square(path, n, enlarge=False):
    """A photograph's middle square for n tokens, bytes (14 g, 14 g, 3); see read.image."""
    return read.image(path, vit.PATCH * math.isqrt(n - 1), enlarge)


def lengths(text):
    found = numbers(text)
    for n in found:
        if n < 2 or math.isqrt(n - 1)**2 != n - 1:
            raise argparse.ArgumentTypeError(f"{n}: expected 1 + g * g, such as 4097 = 1 + 64 * 64")
    return found


def layer_numbers(text):
    found = numbers(text)
    if not all(0 <= number < ViT.layers for number in found):
        raise argparse.ArgumentTypeError(f"{text}: expected numbers 0 ... {ViT.layers - 1}")
    return found


def arguments(words):
    parser = argparse.ArgumentParser(prog="vit_torch.py", description="Heads of the ViT, and its bundle, by PyTorch.")
    commands = parser.add_subparsers(dest="command", required=True)
    heads = commands.add_parser("heads", help="write q, k and v of exact passes")
    bundle = commands.add_parser("bundle", help="write parameters and photographs for a machine without network")
    for command in (heads, bundle):
        command.add_argument("folder")
        command.add_argument("--sources", type=lambda text: text.split(","), required=True, help="photographs of inputs.csv")
    heads.add_argument("--n", type=lengths, required=True, help="numbers of tokens, such as 4097,65537")
    heads.add_argument("--layers", type=layer_numbers, required=True)
    heads.add_argument("--bundle", help="the folder that `bundle` wrote")
    heads.add_argument("--half", action="store_true", help="float16 in the files")
    heads.add_argument("--enlarge", action="store_true", help="allow photographs of fewer pixels than 14 g")
    heads.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", help="default: %(default)s")
    return parser, parser.parse_args(words)


def write_heads(given, paths):
    model = ViT(read_parameters(given.bundle), given.device)
    for n in given.n:
        for source in given.sources:
            pixels = read_square(paths[source], n, given.enlarge)[None]
            for layer, found in layer_heads(model, pixels, given.layers):
                tensors = {name: x[0].cpu().numpy() for name, x in zip("qkv", found)}
                write_layer(given.folder, f"vit-{n}", ViT, source, layer, tensors, range(ViT.heads), given.half)


def write_bundle(given, paths):
    weights.write_safetensors(os.path.join(given.folder, WEIGHTS),
                              {name: x.astype(np.float16) for name, x in vit.read_parameters().items()}, model=ViT.name)
    for source in given.sources:
        shutil.copy(paths[source], os.path.join(given.folder, source + os.path.splitext(paths[source])[1]))


def main(words):
    parser, given = arguments(words)
    paths = find_photographs(given.bundle if given.command == "heads" else None)
    for source in given.sources:
        if source not in paths:
            parser.error(f"source {source}: expected one of {', '.join(paths)}")
    os.makedirs(given.folder, exist_ok=True)
    if given.command == "heads":
        write_heads(given, paths)
    else:
        write_bundle(given, paths)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except OSError as error:
        sys.exit(f"vit_torch.py: {error}")
    except read.InputError as error:
        sys.exit(f"vit_torch.py: {error}; --enlarge allows that")
