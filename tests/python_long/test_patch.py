# SPDX-License-Identifier: GPL-3.0-or-later
"""Registered attentions in small random models: exact ones leave the outputs, others do there what they do alone.

usage: test_patch.py PROGRAM. Tolerance where an attention is exact: the models with eager attention and with sdpa
differ by e, from rounding alone, which later layers may enlarge; ten times that is allowed, since the library adds in
another order again, and 1e-6 of the largest output, should the two happen to agree.
"""
import unittest

import numpy as np
import torch
import transformers

import golden
import models
import nysbench
import tap

EXACT = "nystrom(strategy=uniform, landmarks={}, core=svd(rcond=machine))"


def causal_llama(**options):
    return models.llama(transformers.LlamaForCausalLM, **options)


def result(model, given):
    with torch.no_grad():
        return model(**given)[0]


def patched(model, given, spec="streamed", layers=None, **options):
    with nysbench.patch(model, spec, layers, **options):
        return result(model, given)


def allowed(model, given):
    """What rounding may change in the outputs."""
    found, before = [], model.config._attn_implementation
    for implementation in ("eager", "sdpa"):
        model.set_attn_implementation(implementation)
        found.append(result(model, given))
    model.set_attn_implementation(before)
    return 10 * float((found[0] - found[1]).abs().max()) + 1e-6 * float(found[0].abs().max())


def whole(name):
    if name == "whisper":
        return models.whisper(), {**models.inputs("whisper"), "decoder_input_ids": models.words(7)}
    return (causal_llama() if name == "llama" else getattr(models, name)()), models.inputs(name)


class Exact(unittest.TestCase):
    def test_streamed_leaves_the_outputs(self):
        for name in ("bert", "llama", "vit", "whisper"):
            for implementation in ("sdpa", "eager"):
                with self.subTest(name, implementation=implementation):
                    model, given = whole(name)
                    model.set_attn_implementation(implementation)
                    before = result(model, given)
                    after = patched(model, given)
                    self.assertLess(float((after - before).abs().max()), allowed(model, given))
                    self.assertFalse(torch.equal(after, before), "the same bits: was it patched?")
                    self.assertTrue(torch.equal(result(model, given), before))

    def test_as_many_landmarks_as_tokens_leave_an_encoder(self):
        """X comes from S by a pseudo-inverse, whose condition enlarges rounding: a thousand times more is allowed."""
        for name, n in (("bert", 40), ("vit", 17)):
            with self.subTest(name):
                model, given = whole(name)
                change = (patched(model, given, EXACT.format(n)) - result(model, given)).abs().max()
                self.assertLess(float(change), 1000 * allowed(model, given))

    def test_layers_that_share_keys_and_values(self):
        """They attend to their own sequence, with the keys and values of an earlier layer."""
        model, given = models.gemma3n(), models.inputs("llama")
        before, after = result(model, given), patched(model, given, layers=[3])
        self.assertLess(float((after - before).abs().max()), allowed(model, given))
        self.assertFalse(torch.equal(after, before), "the same bits: was it patched?")
        layers = nysbench.capture(model, given)
        self.assertEqual(sorted(layers), [0, 1, 2, 3])
        np.testing.assert_array_equal(layers[3].k, layers[1].k)

    def test_a_mask_that_is_given_by_name(self):
        model, given = models.blip2_vision(), models.inputs("vit")
        before, after = result(model, given), patched(model, given)
        self.assertLess(float((after - before).abs().max()), allowed(model, given))
        self.assertFalse(torch.equal(after, before), "the same bits: was it patched?")
        self.assertEqual(sorted(nysbench.capture(model, given)), [0, 1, 2])

    def test_batches(self):
        model, given = models.bert(), {"input_ids": models.words(batch=3)}
        change = (patched(model, given) - result(model, given)).abs().max()
        self.assertLess(float(change), allowed(model, given))

    def test_half_precision_comes_back(self):
        model, given = causal_llama().bfloat16(), models.inputs("llama")
        after = patched(model, given)
        self.assertEqual(after.dtype, torch.bfloat16)
        u = 2.0**-8  # of bfloat16; a few roundings of each of three layers
        self.assertLess(float((after - result(model, given)).abs().max()), 30 * u * float(after.abs().max()))

    def test_scale_of_the_model(self):
        model = models.other("GraniteModel", "GraniteConfig", attention_multiplier=0.7)
        change = (patched(model, models.inputs("llama")) - result(model, models.inputs("llama"))).abs().max()
        self.assertLess(float(change), allowed(model, models.inputs("llama")))


class Others(unittest.TestCase):
    def attention_outputs(self, model, given, layers=None, spec=None, **options):
        """What reaches the projections after the attentions."""
        found = {}
        hooks = [model.get_submodule(f"encoder.layer.{i}.attention.output.dense").register_forward_pre_hook(
            lambda _, x, i=i: found.update({i: x[0][0]})) for i in range(3)]
        patched(model, given, spec, layers, **options) if spec else result(model, given)
        for hook in hooks:
            hook.remove()
        return found

    def test_a_layer_has_the_outputs_of_nysbench_attention(self):
        model, given, spec = models.bert(), models.inputs("bert"), "nystrom(strategy=uniform, landmarks=8)"
        before = self.attention_outputs(model, given)
        for options in ({}, {"seed": 3}, {"trial": 2}, {"threads": 1}):
            with self.subTest(**options):
                after = self.attention_outputs(model, given, [1], spec, **options)
                heads = nysbench.capture(model, given, layers=[1])[1]
                expected = nysbench.attention(heads.q, heads.k, heads.v, spec, **options)
                expected = expected.swapaxes(0, 1).reshape(40, -1)
                np.testing.assert_array_equal(after[1].numpy(), expected)
                self.assertTrue(torch.equal(after[0], before[0]))
                self.assertGreater(float((after[1] - before[1]).abs().max()), 1e-3)
                self.assertGreater(float((after[2] - before[2]).abs().max()), 1e-3)

    def test_causal_attention_does_not_look_ahead(self):
        model, ids = causal_llama(), models.words()
        changed = ids.clone()
        changed[0, 30:] = 6
        a, b = (patched(model, {"input_ids": x}, "longformer") for x in (ids, changed))
        self.assertTrue(torch.equal(a[:, :30], b[:, :30]))
        self.assertFalse(torch.equal(a[:, 30:], b[:, 30:]))

    def test_contexts_are_nested(self):
        model, given = models.bert(), models.inputs("bert")
        few, many = "nystrom(strategy=uniform, landmarks=4)", "nystrom(strategy=uniform, landmarks=16)"
        alone = [self.attention_outputs(model, given, [0], few)[0], self.attention_outputs(model, given, [0], many)[0]]
        with nysbench.patch(model, few, [0, 2]):
            with nysbench.patch(model.encoder, many, [0]):
                inner = self.attention_outputs(model, given)
            outer = self.attention_outputs(model, given)
            heads = nysbench.capture(model, given, layers=[1, 2])
        self.assertTrue(torch.equal(inner[0], alone[1]))
        self.assertTrue(torch.equal(outer[0], alone[0]))
        expected = nysbench.attention(heads[2].q, heads[2].k, heads[2].v, few).swapaxes(0, 1).reshape(40, -1)
        np.testing.assert_array_equal(outer[2].numpy(), expected)
        plain = nysbench.capture(model, given, layers=[1])[1]
        self.assertFalse(np.array_equal(plain.q, heads[1].q), "captured behind a patched layer")

    def test_an_exception_leaves_the_model_as_it_was(self):
        model, given = models.bert(attn_implementation="eager"), models.inputs("bert")
        before = result(model, given)
        with self.assertRaises(KeyError):
            with nysbench.patch(model, "streamed"):
                with nysbench.patch(model, EXACT.format(4), [1]):
                    raise KeyError
        self.assertEqual(model.config._attn_implementation, "eager")
        self.assertTrue(torch.equal(result(model, given), before))
        from transformers.masking_utils import AttentionMaskInterface
        from transformers.modeling_utils import AttentionInterface
        for table in (AttentionInterface(), AttentionMaskInterface()):
            self.assertFalse([name for name in table.keys() if name.startswith("nysbench-")])

    def test_another_model_with_the_same_config_stays(self):
        first, given = models.bert(), models.inputs("bert")
        second = transformers.BertModel(first.config).eval()
        before = result(second, given)
        with nysbench.patch(first, EXACT.format(4)):
            result(first, given)
            self.assertTrue(torch.equal(result(second, given), before))


class Refused(golden.Case):
    def refuses(self, model, given, *arguments, error=nysbench.ArgumentError, **options):
        """And tells why."""
        with self.assertRaises(error) as raised:
            patched(model, given, *arguments, **options)
        self.show(models.reason(raised.exception))

    def test_masks_and_scores(self):
        given = {"input_ids": models.words(batch=2)}
        mask = torch.ones(2, 40, dtype=torch.int64)
        mask[1, 30:] = 0
        for model in (models.bert(), causal_llama(), causal_llama(attn_implementation="eager")):
            self.refuses(model, {**given, "attention_mask": mask})
        windows = models.other("MistralModel", "MistralConfig", sliding_window=16)
        self.refuses(windows, given)
        self.refuses(models.other("Gemma2Model", "Gemma2Config", attn_implementation="eager"), given)

    def test_scores_that_no_word_is_about(self):
        with models.with_queries(lambda q: q + 0.01) as model:
            self.refuses(model, models.inputs("llama"))
            patched(model, models.inputs("llama"), check=False)

    def test_the_check_is_in_full_precision(self):
        """Whatever is around: queries that are 0.1 % larger are refused, and the model's own are not."""
        for around in (torch.autocast("cpu", dtype=torch.bfloat16), models.coarse_products()):
            with self.subTest(around=around), around:
                patched(causal_llama(), models.inputs("llama"))
                with models.with_queries(lambda q: 1.001 * q) as model:
                    self.refuses(model, models.inputs("llama"))

    def test_a_patch_that_no_pass_has_used(self):
        self.refuses(models.git(), models.inputs("llama"), "streamed", [0])
        with self.told(nysbench.ArgumentError), nysbench.patch(models.bert(), "streamed"):
            pass
        bert = models.bert(is_decoder=True, add_cross_attention=True)
        cross = bert.encoder.layer[1].crossattention
        with self.told(nysbench.ArgumentError):
            with nysbench.patch(cross, "streamed"), torch.no_grad():
                cross(torch.zeros(1, 40, models.WIDTH), encoder_hidden_states=torch.ones(1, 40, models.WIDTH))

    def test_calls_that_cannot_be_met(self):
        model, given = models.bert(), models.inputs("bert")
        self.refuses(model, given, "streamed", [1, 9])
        self.refuses(model, given, "streamed", [])
        for wrong in (1, "1", [1.5], [None]):
            self.refuses(model, given, "streamed", wrong, error=TypeError)
        self.refuses("bert", given, error=TypeError)
        self.refuses(model, given, "nothing")
        self.refuses(model, {**given, "output_attentions": True})
        self.refuses(models.bert().train(), given)
        self.refuses(model, given, "nystrom(landmarks=41)")
        self.refuses(models.mamba(), given)
        self.refuses(torch.nn.Linear(3, 3), {"input": torch.zeros(3)})
        self.refuses(causal_llama(), self.continued())

    def continued(self):
        with torch.no_grad():
            cache = causal_llama()(models.words(), use_cache=True).past_key_values
        return {"input_ids": models.words(1), "past_key_values": cache}

    def test_no_gradient_is_no_silence(self):
        model = models.bert()
        with nysbench.patch(model, "streamed", [1]):
            found = model(models.words())[0]
        with self.told(RuntimeError):
            found.sum().backward()


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    tap.main()
