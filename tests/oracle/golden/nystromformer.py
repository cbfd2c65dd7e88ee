# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes tests/oracle/golden/nystromformer/: layers as Hugging Face and lucidrains compute them.

usage: nystromformer.py OUT_FOLDER        (needs torch, transformers and nystrom-attention, from PyPI)

q, k and v (inputs, heads, n, d) are float16 in a safetensors file, so that float32 and double begin with the same
numbers; the modules' projections are replaced by ones that hand these over. Outputs are those before the heads are
merged, with the convolution of v.

    layer        2 inputs, 4 heads, n = 96, d = 16, 16 landmarks, kernel 9: layer.npy, and in single precision
                 layer-float32.npy
    mate-one     the first input, with another one beside it (n = 32, 8 landmarks, kernel 5), and
    mate-two     the same first input with a third. The start of the iteration divides by the largest column sum of
                 all heads and inputs, so the first input's output, all that is kept, is not the same in both:
                 mate-one.npy, mate-two.npy; mate-one-exact.npy divides by each head's own largest column sum
    lucidrains   n = 39, 16 landmarks, kernel 7: nine zero tokens stand before the first; the start divides by the
                 largest row sum too, which is 1 but for rounding
    NAME-kernel.npy  (heads, kernel): the weights of the convolution
    facts.json   each output's landmarks, and `scale`, the number that A' is divided by

Made with transformers 5.23.0, nystrom-attention 0.0.14 and torch 2.15.0.
"""
import json
import os
import struct
import sys

import numpy as np
import torch
from nystrom_attention import NystromAttention
from nystrom_attention import nystrom_attention as lucidrains
from transformers import NystromformerConfig
from transformers.models.nystromformer.modeling_nystromformer import NystromformerSelfAttention

out = sys.argv[1]
rng = np.random.default_rng(20260101)
facts = {}


def points(inputs, heads, n, d, scale):
    """q, k, v with some structure along the sequence: each token is near the one before it."""
    x = rng.standard_normal((3, inputs, heads, n, d))
    for i in range(1, n):
        x[..., i, :] = 0.8 * x[..., i - 1, :] + 0.6 * x[..., i, :]
    x[:2] *= scale
    return torch.from_numpy(x.astype(np.float16))


def keep(name, value):
    np.save(os.path.join(out, name + ".npy"), value.detach().numpy())


def keep_points(name, x):
    header, data = {"__metadata__": {"source": "normal numbers"}}, b""
    for tensor, value in zip("qkv", x.numpy()):
        raw = value.astype("<f2").tobytes()
        header[tensor] = {"dtype": "F16", "shape": value.shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(out, name + ".safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


class Part(torch.nn.Module):
    """In the place of a projection: the part-th third of the hidden states, which are [q, k, v]."""

    def __init__(self, part):
        super().__init__()
        self.part = part

    def forward(self, x):
        return x.chunk(3, dim=-1)[self.part].contiguous()


def hidden(x):
    """(3, inputs, heads, n, d) as hidden states (inputs, n, 3 heads d)."""
    three, inputs, heads, n, d = x.shape
    return x.permute(1, 3, 0, 2, 4).reshape(inputs, n, three * heads * d)


def apart(y, heads):
    """(inputs, n, heads d) as (inputs, heads, n, d)."""
    return y.reshape(*y.shape[:2], heads, -1).transpose(1, 2).contiguous()


def hugging_face(name, x, m, kernel, option="original", dtype=torch.float64):
    _, _, heads, n, d = x.shape
    torch.manual_seed(1)  # the same weights of the convolution for all of one shape
    config = NystromformerConfig(hidden_size=heads * d, num_attention_heads=heads, num_landmarks=m,
                                 segment_means_seq_len=n, conv_kernel_size=kernel)
    module = NystromformerSelfAttention(config).eval()
    module.query, module.key, module.value = (Part(i) for i in range(3))
    module.init_option = option  # what the config's own option leads to raises an error
    seen = []
    inverse = module.iterative_inv
    module.iterative_inv = lambda a: inverse(seen.append(a) or a)
    module = module.to(dtype)
    with torch.no_grad():
        y = apart(module(hidden(x).to(dtype))[0], heads)
    facts[name] = {"landmarks": m, "scale": float(seen[0].sum(dim=-2).max())}
    if option == "exact":
        del facts[name]["scale"]
    return y, module.conv.weight[:, 0, :, 0].float()


layer = points(2, 4, 96, 16, 1.25)
keep_points("layer", layer)
y, weights = hugging_face("layer", layer, 16, 9)
keep("layer", y)
keep("layer-kernel", weights)
keep("layer-float32", hugging_face("layer-float32", layer, 16, 9, dtype=torch.float32)[0])

first = points(1, 2, 32, 16, 1.0)
for name, scale in (("mate-one", 1.0), ("mate-two", 3.0)):
    mates = torch.cat([first, points(1, 2, 32, 16, scale)], dim=1)
    keep_points(name, mates)
    y, weights = hugging_face(name, mates, 8, 5)
    keep(name, y[0])
    keep("mate-kernel", weights)
    if name == "mate-one":
        keep("mate-one-exact", hugging_face("mate-one-exact", mates, 8, 5, "exact")[0][0])

x = points(1, 2, 39, 16, 1.25)
keep_points("lucidrains", x)
torch.manual_seed(2)
module = NystromAttention(dim=3 * 32, dim_head=16, heads=2, num_landmarks=16, pinv_iterations=6, residual_conv_kernel=7)
module.to_qkv, module.to_out = torch.nn.Identity(), torch.nn.Identity()
seen = []
inverse = lucidrains.moore_penrose_iter_pinv
lucidrains.moore_penrose_iter_pinv = lambda a, steps: inverse(seen.append(a) or a, steps)
module = module.double().eval()
with torch.no_grad():
    keep("lucidrains", apart(module(hidden(x).double()), 2))
keep("lucidrains-kernel", module.res_conv.weight[:, 0, :, 0].float())
facts["lucidrains"] = {"landmarks": 16, "scale": float(seen[0].sum(dim=-1).max() * seen[0].sum(dim=-2).max())}

with open(os.path.join(out, "facts.json"), "w") as file:
    json.dump(facts, file, indent=1)
    file.write("\n")
