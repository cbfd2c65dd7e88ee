# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes tests/golden/huggingface-{a,x,scale}.npy with Hugging Face's own module.

usage: huggingface.py OUT_FOLDER        (needs torch and transformers, from PyPI)

Three heads of 24 x 16-dimensional normal points, segment means of 2, softmax: A of
each head, and X after six steps of NystromformerSelfAttention.iterative_inv on all
heads together, in double. Its start divides A' by the largest column sum of all
heads: that number is `scale`. Made with transformers 5.23.0 and torch 2.15.
"""
import os
import sys

import numpy as np
import torch
from transformers import NystromformerConfig
from transformers.models.nystromformer.modeling_nystromformer import NystromformerSelfAttention

HEADS, N, D, M = 3, 24, 16, 12
rng = np.random.default_rng(20260101)
q, k = (1.5 * torch.from_numpy(rng.standard_normal((1, HEADS, N, D))) for _ in range(2))
landmarks = [x.reshape(1, HEADS, M, N // M, D).mean(dim=-2) for x in (q, k)]
a = torch.softmax(landmarks[0] @ landmarks[1].transpose(-1, -2) / D**0.5, dim=-1)
config = NystromformerConfig(hidden_size=HEADS * D, num_attention_heads=HEADS, num_landmarks=M, segment_means_seq_len=N)
module = NystromformerSelfAttention(config).double()
x = module.iterative_inv(a, n_iter=6)
scale = a.sum(dim=-2).max()
for name, value in (("a", a[0]), ("x", x[0]), ("scale", scale.reshape(1))):
    np.save(os.path.join(sys.argv[1], f"huggingface-{name}.npy"), value.numpy())
