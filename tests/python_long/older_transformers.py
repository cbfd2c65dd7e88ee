# SPDX-License-Identifier: GPL-3.0-or-later
"""Attentions in a model of transformers 4, as far back as nysbench takes it: by patch, by name, with gradients.

usage: older_transformers.py PROGRAM, with a Python that has such a version; test_patch.py and test_torch_models.py have
all else, with transformers 5.
"""
import unittest

import torch
import transformers

import nysbench
import nysbench.torch
import tap

RIDGE = "kernel_ridge(landmarks=8, rows=6, near=auto)"
COMMON = dict(hidden_size=48, num_hidden_layers=2, intermediate_size=64, num_attention_heads=4, initializer_range=0.2)
nysbench.torch.register("small_ridge", landmarks=8, rows=6, near="auto")


def vit(**options):
    torch.manual_seed(1)
    config = transformers.ViTConfig(image_size=32, patch_size=4, **COMMON, **options)
    return transformers.ViTModel(config).eval()


class Older(unittest.TestCase):
    def setUp(self):
        self.pixels = torch.randn(1, 3, 32, 32, generator=torch.Generator().manual_seed(2))

    def test_version(self):
        self.assertEqual(transformers.__version__.split(".")[0], "4")

    def test_exact_attention_of_the_library(self):
        model = vit()
        with torch.no_grad():
            before = model(self.pixels)[0]
            with nysbench.patch(model, "streamed"):
                after = model(self.pixels)[0]
        self.assertLess(float((after - before).norm()), 1e-4 * float(before.norm()))
        self.assertFalse(torch.equal(after, before), "the same bits: was it patched?")

    def test_by_patch_and_by_name_with_gradients(self):
        patched, named = vit(), vit(attn_implementation="small_ridge")
        with nysbench.patch(patched, RIDGE, backend="torch"):
            first = patched(self.pixels)[0]
            first.square().sum().backward()
        second = named(self.pixels)[0]
        second.square().sum().backward()
        self.assertTrue(torch.equal(first, second))
        self.assertFalse(torch.equal(first, vit()(self.pixels)[0]))
        for (name, one), (_, other) in zip(patched.named_parameters(), named.named_parameters()):
            if one.grad is not None:
                self.assertTrue(bool(one.grad.isfinite().all()) and torch.equal(one.grad, other.grad), name)

    def test_causal_layers_are_refused(self):
        model = transformers.LlamaModel(transformers.LlamaConfig(
            vocab_size=99, num_key_value_heads=2, attn_implementation="small_ridge", **COMMON)).eval()
        with torch.no_grad(), self.assertRaises(nysbench.ArgumentError):
            model(torch.arange(5, 45)[None])


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    tap.main()
