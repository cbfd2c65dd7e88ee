# SPDX-License-Identifier: GPL-3.0-or-later
"""AntiBERTy, a language model of antibodies (Ruffolo, Gray, Sulam, arXiv:2112.07782): BERT of 8 layers, 8 heads of
dimension 64 (PyPI antiberty, MIT). A token is an amino acid; an input has [CLS] first and [SEP] last."""
import packages
import weights
from bert import Bert

FOLDER = ("packages", "antiberty", "trained_models")


class AntiBERTy(Bert):
    name = "AntiBERTy"
    layers, heads, key_heads, d = 8, 8, 8, 64

    def __init__(self, n=128):
        path = packages.path(*FOLDER, "AntiBERTy_md_smooth", "pytorch_model.bin")
        super().__init__(n, weights.torch_state(path), "bert.")
