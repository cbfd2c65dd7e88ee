# SPDX-License-Identifier: GPL-3.0-or-later
"""nysbench.effect and nysbench.run with models of this session, against what patch and the model itself give.

usage: test_effect.py PROGRAM. Tolerance where the same pass is made twice: 1e-6, what the order of float32 sums of a
model with threads may change.
"""
import doctest
import io
import unittest
import warnings

import numpy as np
import torch
import transformers

import golden
import models
import nysbench
import tap

TOKENS = 40


def inputs(count):
    return [{"input_ids": torch.randint(5, models.WORDS, (1, TOKENS), generator=torch.Generator().manual_seed(seed))}
            for seed in range(count)]


class Effect(golden.Case):
    def test_encoder(self):
        model, given, spec = models.bert(), inputs(3), "nystrom(strategy=uniform, landmarks=8)"
        found = rows_of(nysbench.effect(model, given, [spec, "streamed"], layers=["all", 1], progress=False))
        self.assertEqual(set(found["status"]), {"ok"})
        self.assertEqual(len(found["status"]), 3 * 2 * 2)
        mine = rows_of(found, source="input-2", layer="1", attention_label=spec)
        seed = nysbench.source_seed("input-2", mine["model"][0])
        with torch.no_grad():
            exact = model(**given[2]).last_hidden_state
            with nysbench.patch(model, spec, layers=[1], seed=seed):
                new = model(**given[2]).last_hidden_state
        self.assertAlmostEqual(mine["model_error"][0], float((new - exact).norm() / exact.norm()), delta=1e-6)
        a, b = exact[0].mean(0).double(), new[0].mean(0).double()
        self.assertAlmostEqual(mine["embedding_distance"][0], 1 - float(a @ b / a.norm() / b.norm()), delta=1e-6)
        self.assertLess(max(rows_of(found, attention_label="streamed")["model_error"]), 1e-5)  # exact, in another order
        self.assertTrue((mine["error"] > 0).all() and (mine["output_error"] > 0).all())

    def test_nothing_is_divided_by_the_error_of_an_exact_function(self):
        def exact(q: torch.Tensor, k, v):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v)

        found = nysbench.effect(models.bert(), inputs(1), [exact, "longformer(window=4)", "longformer(window=8)"],
                                progress=False)
        for metric in "model_error", "output_error":
            baselines = {line["baseline"] for line in found._ask("compare", f"--metric={metric}")}
            self.assertEqual(baselines, {"longformer(window=4, global=1)"}, metric)

    def test_what_cannot_be_replaced_is_an_error(self):
        """A layer that shares keys and values can; a model whose attention no pass calls cannot."""
        found = rows_of(nysbench.effect(models.gemma3n(), inputs(1), ["longformer(window=4)"], layers=[3],
                                        progress=False))
        self.assertGreater(found["model_error"][0], 1e-3)
        with self.told(nysbench.ArgumentError):
            nysbench.effect(models.git(), inputs(1), ["streamed"], progress=False)

    def test_inputs_of_other_lengths(self):
        given = [{"input_ids": models.words(n)} for n in (9, 8)]
        with self.told(nysbench.ShapeError):
            nysbench.effect(models.bert(), given, ["streamed"], progress=False)

    def test_decoder(self):
        model, given = models.llama(transformers.LlamaForCausalLM), inputs(2)
        found = rows_of(nysbench.effect(model, given, ["longformer(window=8)"], progress=False,
                                        sources=["first text", "second"]))
        window = rows_of(found, attention_label="longformer(window=8)", source="first-text")
        with torch.no_grad():
            exact = model(**given[0]).logits[0]
            with nysbench.patch(model, "longformer(window=8)"):
                new = model(**given[0]).logits[0]
        tokens = given[0]["input_ids"][0, 1:]
        loss = [torch.nn.functional.cross_entropy(x[:-1].double(), tokens).item() for x in (new, exact)]
        self.assertAlmostEqual(window["perplexity_ratio"][0], np.exp(loss[0] - loss[1]), delta=1e-5)
        kl = torch.nn.functional.kl_div(new.double().log_softmax(-1), exact.double().log_softmax(-1), log_target=True,
                                        reduction="batchmean")
        self.assertAlmostEqual(window["kl"][0], kl.item(), delta=1e-5)

    def test_captured_heads(self):
        """Sources are inputs, layers are problems; a tensor in bfloat16 is the same as its values."""
        model, given = models.bert(), inputs(6)
        captured = nysbench.capture(model, given, layers=[0, 2])
        run = nysbench.run(heads={"BERT": captured}, strategies=["uniform", "kmeans"],
                           cores="svd(rcond=0.1)", landmarks=8, trials=3, progress=False)
        found = nysbench.row_arrays(run.folder)
        self.assertEqual(set(found["problem_label"]), {"BERT layer 0", "BERT layer 2"})  # NOLINT(wording): labels
        self.assertEqual(len(set(found["source"])), 6)
        self.assertIn("verdict", repr(run))
        with warnings.catch_warnings():  # fewer tokens than d: their layout is known
            warnings.filterwarnings("error", ".*is read as")
            for heads in [one[0].first(3) for one in captured], captured[0][0].first(3):
                nysbench.run(heads=heads, strategies="uniform", cores="svd", landmarks=2, progress=False)
        q = torch.randn(2, TOKENS, 8, dtype=torch.bfloat16)
        one, other = (nysbench.measure(x, x, strategy="kmeans", landmarks=4, cores="svd(rcond=0.1)")
                      for x in (q, q.double().numpy()))
        self.assertEqual([row["error"] for row in one], [row["error"] for row in other])


class Docstrings(unittest.TestCase):
    def test_examples(self):
        names = {"nysbench": nysbench, "torch": torch, "model": models.bert(), "inputs": inputs(2)}
        for name, function in (("effect", nysbench.effect), ("patch", nysbench.patch),
                               ("capture", nysbench.capture.capture)):
            with self.subTest(name):
                test, = doctest.DocTestFinder(recurse=False).find(function, name, globs=dict(names), module=False)
                said = io.StringIO()
                self.assertGreater(len(test.examples), 0)
                self.assertEqual(doctest.DocTestRunner().run(test, out=said.write).failed, 0, said.getvalue())


def rows_of(found, **where):
    """The rows of a run, or of columns, with these values."""
    found = found if isinstance(found, dict) else nysbench.row_arrays(found.folder)
    if not where:
        return found
    chosen = np.all([found[name] == value for name, value in where.items()], axis=0)
    return {name: x[chosen] for name, x in found.items()}


if __name__ == "__main__":
    tap.main()
