# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules and functions of PyTorch as attentions: what they are given, in runs, in patched models and in the study
`effect`.

usage: test_modules.py PROGRAM. Known: exact attention in PyTorch leaves a model's outputs, to rounding; values of
another kind do not."""
import copy
import os
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import torch
import transformers

import golden
import models
import nysbench
import tap
from nysbench._functions import digest


PACKAGE = os.path.dirname(os.path.dirname(nysbench.__file__))


def plugin_in(folder):
    """The path of a plug-in with the attention `mine`, from the template."""
    subprocess.run([nysbench.program(), "new", "attention", "mine", "--out", folder], check=True,
                   stdout=subprocess.DEVNULL)
    path = os.path.join(folder, "mine.so")
    subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-I.", "-Isrc", "-shared", "-fPIC",
                    os.path.join(folder, "mine.c"), "-o", path], check=True)
    return path


class Exact(torch.nn.Module):
    """softmax(q k'/sqrt d) v; the weight of 1 is what a gradient is asked of."""

    def __init__(self):
        super().__init__()
        self.weight, self.seen = torch.nn.Parameter(torch.ones(())), []

    def forward(self, q, k, v, causal, scale):
        self.seen.append((type(q), q.dtype, tuple(k.shape), causal))
        scores = self.weight * q @ k.mT * scale
        if causal:
            scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -torch.inf)
        return scores.softmax(-1) @ v


def annotated(q: torch.Tensor, k, v):
    return v.flip(0).flip(0) * torch.ones(())


def in_numpy(q, k, v, causal):
    assert isinstance(q, np.ndarray)
    scores = np.exp(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
    scores = np.tril(scores) if causal else scores
    return scores / scores.sum(-1, keepdims=True) @ v


def pick(points, m, rng):
    return rng.choice(len(points), m, replace=False)


def rows_of(run):
    columns = nysbench.row_arrays(run.folder)
    return [{name: column[i] for name, column in columns.items()} for i in range(len(columns["status"]))]


class Modules(golden.Case):
    def test_what_they_are_given(self):
        q, k, v = np.random.default_rng(1).standard_normal((3, 4, 20, 8)).astype(np.float32)
        exact = nysbench.attention(q, k[:2], v[:2], "streamed", causal=True)
        module = Exact()
        np.testing.assert_allclose(nysbench.attention(q, k[:2], v[:2], module, causal=True), exact, atol=2e-6)
        half = Exact().to(torch.bfloat16)
        np.testing.assert_allclose(nysbench.attention(q, k[:2], v[:2], half, causal=True), exact, atol=0.1)
        self.assertEqual([one.seen[0] for one in (module, half)],
                         [(torch.Tensor, dtype, (4, 20, 8), True) for dtype in (torch.float32, torch.bfloat16)])
        np.testing.assert_array_equal(nysbench.attention(q, k, v, annotated), v)
        tensors = nysbench.attention_function(lambda q, k, v: v.mul(2).to(torch.float64), tensors="torch")
        np.testing.assert_array_equal(nysbench.attention(q, k, v, tensors), 2 * v)
        with self.told(nysbench.ArgumentError):
            nysbench.attention(q, k, v, Linearly())

    def test_identity(self):
        one = Exact()
        other = copy.deepcopy(one)
        self.assertEqual(digest(one), digest(other))
        other.weight.data += 1e-3
        self.assertNotEqual(digest(one), digest(other))

    def test_verdict(self):
        q, k, v = np.random.default_rng(2).standard_normal((3, 6, 2, 64, 8))
        run = nysbench.run(study="forward", attentions=["kernel_ridge(landmarks=8)", Linearly(8), Exact()],
                           heads={"x": (q, k, v)},
                           timed=False, progress=False)
        lines = run.compare(metric="output_error", baseline="kernel_ridge(landmarks=8)")
        lines = lines if isinstance(lines, list) else lines.to_dict("records")
        self.assertEqual({line["method"]: line["verdict"] for line in lines}["Linearly"], "worse")


class Linearly(torch.nn.Module):
    def __init__(self, width=3):
        super().__init__()
        torch.manual_seed(5)
        self.inner = torch.nn.Linear(8, width)

    def forward(self, q, k, v):
        return self.inner(v)


class Models(golden.Case):
    def test_patched(self):
        for model, given in ((models.bert(), {"input_ids": torch.arange(24)[None]}),
                             (models.llama(), {"input_ids": torch.arange(24)[None]})):
            with torch.no_grad():
                own = model(**given)[0]
                for attention in (Exact(), in_numpy):
                    with nysbench.patch(model, attention):
                        found = model(**given)[0]
                    self.assertLess(float((found - own).abs().max() / own.abs().max()), 1e-4)
                if isinstance(model, transformers.BertModel):
                    with nysbench.patch(model, annotated):
                        self.assertGreater(float((model(**given)[0] - own).abs().max()), 1e-2)
                else:
                    with self.told(nysbench.ArgumentError):
                        with nysbench.patch(model, annotated):
                            model(**given)

    def test_gradients(self):
        model, given, module = models.bert(), {"input_ids": torch.arange(24)[None]}, Exact()
        with nysbench.patch(model, module):
            model(**given)[0].square().sum().backward()
        gradient = model.encoder.layer[0].attention.self.query.weight.grad
        self.assertTrue(bool(gradient.isfinite().all()) and float(gradient.abs().max()) > 0)
        self.assertNotEqual(float(module.weight.grad), 0)
        with nysbench.patch(model, in_numpy):
            with self.told(RuntimeError):
                model(**given)[0].sum().backward()

    def test_draws_are_those_of_runs(self):
        """In a patched model, the seed of nb.run's row in the same trial: of arrays and of tensors."""
        seen = []

        def remember(x):
            seen.append(x)

        remember.__module__ = "numpy"  # installed, for the digest: what has been seen is no part of the function

        def in_numpy(q, k, v, seed):
            remember(seed)
            return v

        def in_torch(q: torch.Tensor, k, v, seed):
            remember(seed)
            return v

        model, given = models.bert(), {"input_ids": torch.arange(24)[None]}
        for function in (in_numpy, in_torch):
            found = nysbench.run(study="forward", attentions=function, heads=tuple(torch.randn(3, 2, 20, 8)), trials=2,
                                 timed=False, seed=9, progress=False)
            rows = nysbench.row_arrays(found.folder)
            seed = nysbench.source_seed(rows["source"][0], rows["model"][0] or None, 9)
            ran = set(seen)
            self.assertEqual(len(ran), 2)
            for trial in range(2):
                with torch.no_grad(), nysbench.patch(model, function, seed=seed, trial=trial):
                    model(**given)
            self.assertEqual(set(seen), ran)
            seen.clear()

    def test_programs_and_plugins(self):
        """In patch and effect: a program gives what the function in it gives, a plug-in what the program `forward`
        gives."""
        model, inputs = models.bert(), [{"input_ids": torch.arange(i, i + 24)[None]} for i in range(2)]
        with tempfile.TemporaryDirectory() as folder, torch.no_grad():
            path, plugin = os.path.join(folder, "mine.py"), plugin_in(folder)
            with open(path, "w", encoding="utf-8") as file:
                file.write("import numpy as np\ndef mean(q, k, v):\n    return np.broadcast_to(v.mean(1, "
                           "keepdims=True), v.shape)\n"
                           "def first(points, m):\n    return range(m)\n")
            serve = (f"command(run=\"env PYTHONPATH={PACKAGE} {sys.executable} -m nysbench.serve {path} {{}}\", "
                     "serve=true, deterministic=true)")
            program, picked = serve.format(
                "mean"), f"nystrom(strategy={serve.format('first')}, landmarks=8, label=served)"
            mean = lambda q, k, v: np.broadcast_to(v.mean(1, keepdims=True), v.shape)
            for spec, how, same in ((program, {}, (mean, {})),
                                    (picked, {}, ("nystrom(landmarks=8)", {"strategy": lambda points, m: range(m)}))):
                found = []
                for attention, more in ((spec, how), same):
                    with nysbench.patch(model, attention, **more):
                        found.append(model(**inputs[0])[0])
                self.assertTrue(torch.equal(*found), spec)
            with nysbench.patch(model, "mine", plugins=[plugin]):
                self.assertFalse(torch.equal(model(**inputs[0])[0], found[0]))
            def first(points, m):
                return range(m)

            run = nysbench.effect(model, inputs, [program, picked, "mine", mean, "nystrom(landmarks=8)"],
                                  strategy=first, plugins=[plugin], progress=False)
            columns = nysbench.row_arrays(run.folder)
            self.assertEqual(set(columns["status"]), {"ok"}, set(columns["reason"]))
            errors = dict(zip(columns["attention_label"], zip(columns["model_error"], columns["output_error"])))
            self.assertEqual(len(errors), 5)
            np.testing.assert_allclose(errors["nystrom(landmarks=8, strategy=first)"], errors["served"], rtol=1e-5)
            of_program, = (pair for label, pair in errors.items() if label.startswith("command"))
            np.testing.assert_allclose(of_program, errors["lambda"], rtol=1e-5)
            self.assertTrue(all(min(pair) > 0 for pair in errors.values()))

    def test_the_manual_s_verdict(self):
        """A function of three lines against kernel_ridge on heads of eight texts of 1,024 tokens."""
        with open("docs/python.md", encoding="utf-8") as file:
            snippet, = (text for text in re.findall(r"^```python torch\n(.*?)^```$", file.read(), re.M | re.S)
                        if "def pooled" in text)  # NOLINT(wording): code
        inputs = [{"input_ids": torch.randint(5, models.WORDS, (1, 1024), generator=torch.Generator().manual_seed(i))}
                  for i in range(8)]
        names = {"nb": nysbench, "torch": torch, "model": models.bert(max_position_embeddings=1024), "inputs": inputs}
        exec(compile(snippet, "docs/python.md", "exec"), names)
        lines = names["run"].compare(metric="output_error")
        line, = lines if isinstance(lines, list) else lines.to_dict("records")
        self.assertEqual((line["method"], line["baseline"], line["sources"]),
                         ("pooled", "kernel_ridge(landmarks=64)", 8))
        self.assertIn(line["verdict"], ("better", "worse"))

    def test_what_goes_wrong_in_a_process(self):
        q = np.zeros((2, 20, 8), np.float32)
        for spec, how in (
                ("command(run=\"/bin/false\")", {}), ("command(run=\"/bin/cat\"", {}),
                ("nothing", {"plugins": ["/no/such.so"]}), ("command(run=\"/bin/true\")", {"causal": True})):
            with self.told(nysbench.Error):
                nysbench.attention(q, q, q, spec, **how)
        with self.told(nysbench.NumericError):
            bad = q.copy()
            bad[0, 3, 1] = np.nan
            nysbench.attention(q, bad, q, "command(run=\"/bin/true\")")

    def test_what_cannot_be_had_is_an_error_before_the_run(self):
        model, inputs = models.llama(), [{"input_ids": torch.arange(24)[None]}]
        for attention in "nystrom(landmarks=8)", annotated:
            with self.told(nysbench.ArgumentError):
                nysbench.effect(model, inputs, ["streamed", attention], progress=False)

    def test_effect(self):
        model, inputs = models.bert(), [{"input_ids": torch.arange(i, i + 24)[None]} for i in range(2)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            run = nysbench.effect(model, inputs, [Exact(), in_numpy, Linearly(), "nystrom(landmarks=8)"], strategy=pick,
                                  progress=False)
        found = {}
        for row in rows_of(run):
            found.setdefault(row["attention_label"], []).append(row)
        self.assertEqual(set(found), {"Exact", "in_numpy", "Linearly", "nystrom(landmarks=8, strategy=pick)"})
        for name in ("Exact", "in_numpy"):
            self.assertTrue(all(row["model_error"] < 1e-4 and row["output_error"] < 1e-4 for row in found[name]),
                            found[name])
        self.assertTrue(all(row["model_error"] > 0 and row["error"] > 0
                            for row in found["nystrom(landmarks=8, strategy=pick)"]))
        self.assertTrue(all(row["status"] == "failed" and "mat1 and mat2" in row["reason"]
                            for row in found["Linearly"]))


if __name__ == "__main__":
    tap.main()
