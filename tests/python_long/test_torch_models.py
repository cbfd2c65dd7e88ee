# SPDX-License-Identifier: GPL-3.0-or-later
"""nysbench.torch in small random models, by nysbench.patch and as attn_implementation, on the CPU.

usage: test_torch_models.py PROGRAM. What a model's projections are given is compared with what nysbench.torch makes of
the same q, k and v: the same operations, so bit by bit.
"""
import contextlib
import subprocess
import sys
import unittest
from unittest import mock

import torch
import transformers.masking_utils  # before nysbench.torch: Importing has the other order
import transformers.modeling_utils

import golden
import models
import nysbench
import nysbench.torch
import tap

RIDGE, RIDGE_OPTIONS = "kernel_ridge(landmarks=8, rows=6)", {"landmarks": 8, "rows": 6}
EXACT, EXACT_OPTIONS = "kernel_ridge(landmarks=40, rows=40)", {"landmarks": 40, "rows": 40}
nysbench.torch.register("small_ridge", **RIDGE_OPTIONS)
nysbench.torch.register("exact_ridge", **EXACT_OPTIONS)


def caught(model, given, layer=1, name="bert"):
    """What a layer's projection is given: its attention's outputs."""
    found = []
    hook = model.get_submodule(models.PROJECTIONS[name].format(layer)).register_forward_pre_hook(lambda _,
                                                                                                 x: found.append(x[0]))
    model(**given)
    hook.remove()
    return found[0]


def inputs_of_attention(model, given):
    """(q, k, v) of each layer of a model."""
    found = []

    def keep(q, k, v):
        found.append((q, k, v))
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    with torch.no_grad(), nysbench.patch(model, nysbench.attention_function(keep, tensors="torch", grouped=True),
                                         check=False):
        model(**given)
    return [tuple(x[None] for x in one) for one in found]


def flat(outputs):
    return outputs.transpose(1, 2).flatten(2)


class Patched(golden.Case):
    def setUp(self):
        self.model, self.given = models.bert(), models.inputs("bert")
        self.qkv = inputs_of_attention(self.model, self.given)[1]

    def test_a_layer_has_the_outputs_of_the_package(self):
        for spec, expected in (
                (RIDGE, lambda **seed: nysbench.torch.kernel_ridge(*self.qkv, **RIDGE_OPTIONS, **seed)),
                ("kernel_ridge(landmarks=8, rows=auto, keys=30, queries=20, label=\"mine, (8)\")",
                 lambda **seed: nysbench.torch.kernel_ridge(*self.qkv, landmarks=8, keys=30, queries=20, **seed)),
                ("kernel_ridge(landmarks=8, rows=6, near=both, window=0, top=3, grid=8)",
                 lambda **seed: nysbench.torch.kernel_ridge(*self.qkv, **RIDGE_OPTIONS, near="both", window=0, top=3,
                                                            grid=8, **seed)),
                ("kernel_ridge(landmarks=8, rows=6, near=auto, window=auto, grid=none)",
                 lambda **seed: nysbench.torch.kernel_ridge(*self.qkv, **RIDGE_OPTIONS, near="auto", **seed)),
                ("kernel_ridge(landmarks=8, rows=6, near=equal, top=0)",
                 lambda **seed: nysbench.torch.kernel_ridge(*self.qkv, **RIDGE_OPTIONS, near="equal", top=0, **seed)),
                ("nystrom(landmarks=8)", lambda **seed: nysbench.torch.nystrom(*self.qkv, landmarks=8, **seed)),
                ("nystrom(strategy=uniform, landmarks=8, core=iterative(steps=3))",
                 lambda **seed: nysbench.torch.nystrom(*self.qkv, landmarks=8, strategy="uniform", steps=3, **seed))):
            for seed in ({}, {"seed": 3}):
                with self.subTest(spec, **seed), torch.no_grad(), nysbench.patch(self.model, spec, [1], backend="torch",
                                                                                 **seed):
                    self.assertTrue(torch.equal(caught(self.model, self.given), flat(expected(**seed))))

    def test_trials_are_other_draws(self):
        found = []
        for trial in (0, 1, 2):
            with torch.no_grad(), nysbench.patch(self.model, RIDGE, [1], backend="torch", trial=trial):
                found.append(caught(self.model, self.given))
        self.assertFalse(any(torch.equal(found[i], found[j]) for i, j in ((0, 1), (0, 2), (1, 2))))

    def test_it_is_chosen_where_the_library_would_convert_or_stop_gradients(self):
        expected = flat(nysbench.torch.kernel_ridge(*self.qkv, **RIDGE_OPTIONS))

        def is_torch(**options):
            with nysbench.patch(self.model, RIDGE, [1], **options):
                return torch.equal(caught(self.model, self.given).detach(), expected)
        with torch.no_grad():
            self.assertFalse(is_torch())
            self.assertTrue(is_torch(backend="torch"))
        self.assertTrue(is_torch())
        self.assertFalse(is_torch(backend="c"))
        self.model.requires_grad_(False)
        self.assertFalse(is_torch())
        attention = self.model.encoder.layer[1].attention.self  # as in the first pass of a checkpoint of gradients
        attention.training, attention.dropout.p = True, 0.0
        self.assertTrue(is_torch())

    def test_half_precision_on_the_cpu_without_arrays(self):
        for dtype, u in ((torch.bfloat16, 2.0**-8), (torch.float16, 2.0**-11)):
            model = models.bert().to(dtype)
            q, k, v = inputs_of_attention(model, self.given)[1]
            with self.subTest(dtype), torch.no_grad(), mock.patch("torch.Tensor.numpy",
                                                                  side_effect=AssertionError("a copy to NumPy")):
                with nysbench.patch(model, RIDGE, [1]):
                    found = caught(model, self.given)
                self.assertEqual(found.dtype, dtype)
                self.assertTrue(torch.equal(found, flat(nysbench.torch.kernel_ridge(q, k, v, **RIDGE_OPTIONS))))
                wide = flat(nysbench.torch.kernel_ridge(q.float(), k.float(), v.float(), **RIDGE_OPTIONS))
                self.assertLess(float((found - wide).abs().max()), 4 * u * float(wide.abs().max()))

    def test_nothing_waits_for_the_device(self):
        """Of tensors on the device `meta`, which have no numbers, whoever asks for one gets an error."""
        named = models.bert(attn_implementation="small_ridge")
        given = {name: x.to("meta") for name, x in self.given.items()}
        self.assertEqual(named.to("meta")(**given)[0].device.type, "meta")
        with nysbench.patch(self.model.to("meta"), RIDGE, check=False):
            self.assertEqual(self.model(**given)[0].device.type, "meta")

    def test_checkpoints_of_gradients(self):
        """Their passes without gradients and with them are of the same attention: so are the gradients."""
        found = []
        for checkpoints in (None, {"use_reentrant": True}):
            model = models.bert(attention_probs_dropout_prob=0.0, hidden_dropout_prob=0.0).train()
            if checkpoints:
                model.gradient_checkpointing_enable(checkpoints)
            with nysbench.patch(model, RIDGE):
                outputs = model(**self.given)[0]
                outputs[..., 0].sum().backward()
            found.append((outputs.detach(), model.encoder.layer[1].attention.self.query.weight.grad))
        for plain, checkpointed in zip(*found):
            self.assertTrue(torch.equal(plain, checkpointed))
            self.assertGreater(float(plain.abs().max()), 1e-4)

    def test_autocast(self):
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16), nysbench.patch(self.model, RIDGE):
            self.assertTrue(bool(self.model(**self.given)[0].isfinite().all()))

    def test_others_stay_with_the_library(self):
        model = self.model.bfloat16()
        for spec in ("nystrom(strategy=kmeans, landmarks=8)", "nystrom(strategy=uniform(strided=true), landmarks=8)",
                     "nystrom(landmarks=8, core=iterative(steps=6, start=exact))",
                     "nystrom(landmarks=8, core=svd(rcond=1e-3))",
                     "nystrom(landmarks=log2)", "kernel_ridge(landmarks=8, ridge=0.1)", "streamed"):
            with self.subTest(spec):
                with torch.no_grad(), nysbench.patch(model, spec):
                    self.assertTrue(bool(model(**self.given)[0].isfinite().all()))
                with self.told(nysbench.ArgumentError):
                    with nysbench.patch(model, spec, backend="torch"):
                        pass

    def test_mistakes(self):
        for spec, options in (
                (RIDGE, {"backend": "cuda"}), (RIDGE, {"backend": "torch", "threads": 2}),
                (RIDGE, {"backend": "torch", "strategy": len}), (lambda q, k, v: v, {"backend": "torch"}),
                ("kernel_ridge(landmarks=8, rows=[1, 2])", {"backend": "torch"}),
                ("kernel_ridge(landmarks=8, landmarks=8)", {"backend": "torch"})):
            with self.subTest(spec=spec), self.told(nysbench.ArgumentError):
                with nysbench.patch(self.model, spec, **options):
                    pass
        with self.told(nysbench.ArgumentError):
            model = models.llama()
            with torch.no_grad(), nysbench.patch(model, RIDGE, backend="torch"):
                model(**models.inputs("llama"))

    def test_grouped_keys(self):
        model, given = models.llama(), models.inputs("llama")
        for layer in model.layers:
            layer.self_attn.is_causal = False
        q, k, v = inputs_of_attention(model, given)[0]
        with torch.no_grad(), nysbench.patch(model, RIDGE, backend="torch"):
            found = caught(model, given, 0, "llama")
        k, v = (x.repeat_interleave(3, 1) for x in (k, v))
        expected = flat(nysbench.torch.kernel_ridge(q, k, v, **RIDGE_OPTIONS))
        self.assertLess(float((found - expected).abs().max()), 1e-5 * float(expected.abs().max()))

    def test_scale_of_the_model(self):
        """With as many landmarks as keys and as many rows as queries nothing is left but the ridge, at most 1e-3
        here."""
        for layer in self.model.encoder.layer:
            layer.attention.self.scaling = 0.05
        with torch.no_grad():
            before = self.model(**self.given)[0]
            with nysbench.patch(self.model, EXACT, backend="torch"):
                patched = self.model(**self.given)[0]
            self.model.set_attn_implementation("exact_ridge")
            named = self.model(**self.given)[0]
        for after in (patched, named):
            self.assertLess(float((after - before).abs().max()), 1e-3 * float(before.abs().max()))
            self.assertFalse(torch.equal(after, before), "the same bits: was it patched?")


class Named(unittest.TestCase):
    def test_a_layer_has_the_outputs_of_the_package(self):
        nysbench.torch.register("my_ridge", **RIDGE_OPTIONS, seed=3)
        nysbench.torch.register("my_means", nysbench.torch.nystrom, landmarks=8)
        given = models.inputs("bert")
        q, k, v = inputs_of_attention(models.bert(), given)[0]
        for name, expected in (("my_ridge", nysbench.torch.kernel_ridge(q, k, v, **RIDGE_OPTIONS, seed=3)),
                               ("my_means", nysbench.torch.nystrom(q, k, v, landmarks=8))):
            with self.subTest(name), torch.no_grad():
                model = models.bert(attn_implementation=name)
                self.assertTrue(torch.equal(caught(model, given, 0), flat(expected)))

    def test_half_precision(self):
        model = models.bert(attn_implementation="small_ridge").bfloat16()
        self.assertEqual(model(**models.inputs("bert"))[0].dtype, torch.bfloat16)


class Compiled(unittest.TestCase):
    """torch.compile keeps the attention: outputs and gradients are those of the model as it is, bit by bit."""

    def test_by_name_in_one_graph(self):
        nysbench.torch.register("near_ridge", **RIDGE_OPTIONS, near="auto")
        self.compiles(models.bert(attn_implementation="near_ridge"), fullgraph=True)

    def test_by_patch(self):
        model = models.bert()
        with nysbench.patch(model, RIDGE, backend="torch"):
            self.compiles(model)

    def compiles(self, model, **options):
        found = []
        for one in (model, torch.compile(model, backend="aot_eager", **options)):
            outputs = one(**models.inputs("bert"))[0]
            outputs[..., 0].sum().backward()
            weight = model.encoder.layer[1].attention.self.query.weight
            found.append((outputs.detach(), weight.grad))
            weight.grad = None
        for plain, compiled in zip(*found):
            self.assertTrue(torch.equal(plain, compiled))
            self.assertGreater(float(plain.abs().max()), 1e-4)


class Training(unittest.TestCase):
    """The loss of a small model falls, and its queries, keys and values have gradients in all steps."""

    def test_by_patch(self):
        self.trains(models.bert(), lambda model: nysbench.patch(model, RIDGE))

    def test_by_name_in_half_precision(self):
        self.trains(models.bert(attn_implementation="small_ridge").bfloat16(), lambda model: contextlib.nullcontext())

    def test_in_training_mode_without_dropout(self):
        model = models.bert(attention_probs_dropout_prob=0.0).train()
        self.trains(model, lambda model: nysbench.patch(model, "nystrom(landmarks=8)"))

    def trains(self, model, around):
        words, wanted = models.words(batch=4), torch.arange(4)
        steps, losses = torch.optim.Adam(model.parameters(), lr=2e-3), []
        with around(model):
            for _ in range(6):
                steps.zero_grad()
                loss = torch.nn.functional.cross_entropy(model(words).last_hidden_state.float().mean(1), wanted)
                loss.backward()
                attention = model.encoder.layer[1].attention.self
                for part in (attention.query, attention.key, attention.value):
                    self.assertTrue(bool(part.weight.grad.isfinite().all()) and bool(part.weight.grad.any()))
                steps.step()
                losses.append(float(loss.detach()))
        self.assertLess(losses[-1], 0.6 * losses[0])


class Refused(golden.Case):
    def refuses(self, model, given):
        with self.told(nysbench.ArgumentError), torch.no_grad():
            model(**given)

    def test_by_name(self):
        given, name = {"input_ids": models.words(batch=2)}, {"attn_implementation": "small_ridge"}
        mask = torch.ones(2, 40, dtype=torch.int64)
        mask[1, 30:] = 0
        self.refuses(models.bert(**name), {**given, "attention_mask": mask})
        self.refuses(models.llama(**name), given)
        self.refuses(models.other("MistralModel", "MistralConfig", sliding_window=16, **name), given)
        self.refuses(models.modernbert(attn_implementation="small_ridge"), given)
        self.refuses(models.bert(**name).train(), given)
        self.refuses(models.bert(**name), {**given, "output_attentions": True})
        self.refuses(models.bert(attn_implementation="nysbench_kernel_ridge"), given)
        model = models.llama()
        with torch.no_grad():
            cache = model(models.words(), use_cache=True).past_key_values
        model.set_attn_implementation("small_ridge")
        self.refuses(model, {"input_ids": models.words(1), "past_key_values": cache})

    def test_registering(self):
        for arguments in ("sdpa",), ("eager",), ("a/b",), ("mine", len):
            self.told(nysbench.ArgumentError, nysbench.torch.register, *arguments)
        with self.assertRaises(TypeError):
            nysbench.torch.register("mine", landmark=3)


class Importing(unittest.TestCase):
    def test_the_name_is_there_once_transformers_is(self):
        """In a process of its own, which imports transformers later; here it is imported before."""
        program = """
import sys, nysbench.torch
assert "transformers" not in sys.modules
from transformers.modeling_utils import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface
assert "nysbench_kernel_ridge" in AttentionInterface().keys()
assert "nysbench_kernel_ridge" in AttentionMaskInterface().keys()"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    tap.main()
