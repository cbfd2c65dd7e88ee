# SPDX-License-Identifier: GPL-3.0-or-later
"""RXNMapper's language model of chemical reactions (Schwaller et al., Science Advances 2021): ALBERT, a BERT whose 12
layers have the same weights, 8 heads of dimension 32 (PyPI rxnmapper, MIT). A token is an atom, a bond or another sign
of a reaction's SMILES; an input has [CLS] first and [SEP] last."""
import packages
import weights
from bert import Bert

FOLDER = ("packages", "rxnmapper", "models", "transformers", "albert_heads_8_uspto_all_1310k")
LAYER = "encoder.albert_layer_groups.0.albert_layers.0."
# BERT's name of a part of a layer, and ALBERT's.
PARTS = {**{f"attention.self.{part}": f"attention.{part}" for part in ("query", "key", "value")},
         "attention.output.dense": "attention.dense", "attention.output.LayerNorm": "attention.LayerNorm",
         "intermediate.dense": "ffn", "output.dense": "ffn_output", "output.LayerNorm": "full_layer_layer_norm"}


class RXNMapper(Bert):
    name = "RXNMapper"
    layers, heads, key_heads, d = 12, 8, 8, 32

    def __init__(self, n=112):
        super().__init__(n, weights.torch_state(packages.path(*FOLDER, "pytorch_model.bin")), "albert.")

    def _weight(self, name):
        if name.startswith("encoder.layer."):
            part, kind = name.split(".", 3)[3].rsplit(".", 1)
            name = f"{LAYER}{PARTS[part]}.{kind}"
        return super()._weight(name)

    def start(self, tokens):
        """The hidden states (n, 256) that go into layer 0: embeddings of 128 numbers, widened."""
        return self._linear(super().start(tokens), "encoder.embedding_hidden_mapping_in")
