# SPDX-License-Identifier: GPL-3.0-or-later
"""Heads of small random models: against the weights and outputs that the models themselves return, and in files.

usage: test_capture.py PROGRAM. Tolerances, u = 2^-24: a score is a sum of d products, off by
6 sqrt(d) u |q| |k| / sqrt(d) in either of two computations (six standard deviations of independent roundings), so the
logarithm of a weight is off by twice that, dz, and by some 20 u of exponential and sum; an output, a mean of values, by
twice that part of the largest.
"""
import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import safetensors
import safetensors.numpy
import torch
import transformers

import golden
import models
import nysbench
import tap
from nysbench.capture import main

U = 2.0**-24
MANUAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/models.md")
NAMES = ("bert", "llama", "vit", "whisper")


def make(name, **options):
    model = getattr(models, name)(**options)
    return model.get_encoder() if name == "whisper" else model


def weights(q, k, causal):
    """softmax(q k'/sqrt d) of (heads, n, d), in double, and the part of a weight that rounding may change."""
    q, k = q.astype(float), np.repeat(k.astype(float), len(q) // len(k), axis=0)
    d = q.shape[-1]
    z = q @ k.swapaxes(1, 2) / d**0.5
    longest = (np.linalg.norm(q, axis=-1).max() * np.linalg.norm(k, axis=-1).max()) / d**0.5
    if causal:
        z[:, ~np.tri(z.shape[-1], dtype=bool)] = -np.inf
    p = np.exp(z - z.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True), 2 * (6 * d**0.5 + 4) * U * longest + 20 * U


def outputs(q, k, v, causal):
    """(n, heads dv), and what rounding may change in an output."""
    p, part = weights(q, k, causal)
    v = np.repeat(v.astype(float), len(q) // len(v), axis=0)
    return (p @ v).swapaxes(0, 1).reshape(q.shape[1], -1), 2 * part * np.abs(v).max()


class OfModels(golden.Case):
    """nysbench.capture of a model in memory."""

    def test_weights_and_outputs_are_the_models(self):
        for name in NAMES:
            for implementation in ("sdpa", "eager"):
                with self.subTest(name, implementation=implementation):
                    self.agree(name, make(name, attn_implementation=implementation))

    def agree(self, name, model):
        given = models.inputs(name)
        layers = nysbench.capture(model, given)
        self.assertEqual(list(layers), [0, 1, 2])
        self.assertEqual({one.causal for one in layers.values()}, {name == "llama"})
        for number, one in layers.items():
            p, after = models.expected(name, model, given, number)
            found, part = weights(one.q, one.k, one.causal)
            self.assertGreater(p.max(), 3 / p.shape[-1], "the model's attention is uniform: no test")
            self.assertLess(np.abs(found - p).max(), part)
            values, most = outputs(one.q, one.k, one.v, one.causal)
            self.assertLess(np.abs(values - after).max(), most)
            self.assertLess(most, 1e-2 * np.abs(after).max(), "any output would pass")
            self.assertTrue(0 < one.error <= one.allowed < 1e-4)

    def test_groups_are_kept(self):
        given, model = models.inputs("llama"), models.llama()
        whole = nysbench.capture(model, given, layers=[1])[1]
        self.assertEqual((whole.q.shape, whole.k.shape, whole.v.shape), ((6, 40, 8), (2, 40, 8), (2, 40, 8)))
        for heads, key_heads, kept in (([0, 1, 4, 5], [0, 1], 2), ([0, 3], [0, 1], 2), ([1, 2], [0], 1),
                                       ([0, 1, 3], [0, 0, 1], 3), ([3, 0], [1, 0], 2), ([0, 3, 1, 4], [0, 1, 0, 1], 4)):
            with self.subTest(heads=heads):
                one = nysbench.capture(model, given, layers=[1], heads=heads)[1]
                self.assertEqual((one.heads, one.key_heads, len(one.k)), (heads, key_heads, kept))
                np.testing.assert_array_equal(one.q, whole.q[heads])
                for h, row in enumerate(np.repeat(np.arange(kept), len(heads) // kept)):
                    np.testing.assert_array_equal(one.k[row], whole.k[heads[h] // 3])
                    np.testing.assert_array_equal(one.v[row], whole.v[heads[h] // 3])

    def test_scale_is_undone(self):
        """Granite multiplies scores by a number of its own, Whisper its queries before they come."""
        model = models.other("GraniteModel", "GraniteConfig", attention_multiplier=0.7)
        one = nysbench.capture(model, models.inputs("llama"))[2]
        p, _ = models.expected("llama", model, models.inputs("llama"), 2)
        found, part = weights(one.q, one.k, True)
        self.assertLess(np.abs(found - p).max(), part)

    def test_model_is_left_as_it_was(self):
        from transformers.modeling_utils import AttentionInterface
        model, given, names = models.bert(), models.inputs("bert"), set(AttentionInterface().keys())
        with torch.no_grad():
            before = model(**given).last_hidden_state
            nysbench.capture(model, given)
            self.refuses(model, given, layers=[7])
            self.assertTrue(torch.equal(model(**given).last_hidden_state, before))
        self.assertEqual(model.config._attn_implementation, "sdpa")
        self.assertEqual(set(AttentionInterface().keys()), names)
        self.assertFalse([module for module in model.modules() if module._forward_pre_hooks])

    def test_several_inputs(self):
        model = models.bert()
        found = nysbench.capture(model, [{"input_ids": models.words(n)} for n in (9, 1)], layers=[0])
        self.assertEqual([one[0].q.shape for one in found], [(4, 9, 12), (4, 1, 12)])

    def test_an_interrupt_keeps_what_is_captured(self):
        model, given, passes = models.bert(), [{"input_ids": models.words(n)} for n in (9, 8, 7)], []

        def interrupt(*_):
            passes.append(1)
            if len(passes) == 3:
                raise KeyboardInterrupt
        expected = nysbench.capture(model, given)
        hook = model.register_forward_pre_hook(interrupt)
        with self.told(KeyboardInterrupt):
            nysbench.capture(model, given)
        with tempfile.TemporaryDirectory() as top:
            folder = os.path.join(top, "heads")

            def passes_of(given, **options):
                passes[:] = [0] * 3  # no more interrupts
                return nysbench.capture(model, given, folder=folder, **options), len(passes) - 3
            passes.clear()
            with self.told(KeyboardInterrupt):
                nysbench.capture(model, given, folder=folder)
            found, count = passes_of(given)
            self.assertEqual(count, 1)
            for one, other in zip(found, expected):
                self.assertEqual(list(one), list(other))
                for number in other:
                    facts, others = vars(one[number]), vars(other[number])
                    for name in "qkv":
                        np.testing.assert_array_equal(facts.pop(name), others.pop(name))
                    self.assertEqual(facts, others)
            self.assertEqual([passes_of(given)[1], passes_of(given[0])[1]], [0, 0])
            self.assertEqual([passes_of(given, layers=[1])[1], passes_of(given, heads=[0])[1]], [3, 3])
            with torch.no_grad():
                next(model.parameters()).mul_(2)
            self.assertEqual(passes_of(given)[1], 3)
            for name in os.listdir(folder):
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(b"PK")
            with self.told(nysbench.FileError):
                passes_of(given)
            with self.told(nysbench.FileError):
                nysbench.capture(model, given, folder=os.path.join(folder, name))
        hook.remove()

    def test_cross_attention_is_left_out(self):
        given = {"encoder_hidden_states": torch.randn(1, 7, models.WIDTH), "input_ids": models.words(7)}
        found = nysbench.capture(models.whisper().get_decoder(), given)
        self.assertEqual([one.module for one in found.values()], ["layers.0.self_attn", "layers.1.self_attn"])
        self.assertTrue(all(one.causal for one in found.values()))

    def refuses(self, model, given, **options):
        """And tells why."""
        with self.assertRaises(nysbench.ArgumentError) as raised:
            nysbench.capture(model, given, **options)
        self.show(models.reason(raised.exception))

    def test_padding_is_refused(self):
        for make_one in (models.bert, models.llama):
            for implementation in ("sdpa", "eager"):
                for hidden in (slice(30, 40), slice(0, 10)):
                    with self.subTest(make_one.__name__, implementation=implementation, hidden=hidden):
                        mask = torch.ones(1, 40, dtype=torch.int64)
                        mask[:, hidden] = 0
                        self.refuses(make_one(attn_implementation=implementation), {"input_ids": models.words(),
                                     "attention_mask": mask})

    def test_other_scores_are_refused(self):
        given = {"input_ids": models.words()}
        t5 = transformers.T5Config(vocab_size=99, d_model=48, d_kv=8, num_heads=6, num_layers=2, d_ff=64)
        for model in (
                models.other("MistralModel", "MistralConfig", sliding_window=16),
                models.other("Gemma2Model", "Gemma2Config", attn_implementation="eager"),
                models.other("GptOssModel", "GptOssConfig", num_local_experts=2, num_experts_per_tok=1),
                transformers.T5EncoderModel(t5).eval(), models.modernbert(), models.llama4(),
                models.llama().bfloat16(), models.llama().train()):
            with self.subTest(type(model).__name__):
                self.refuses(model, given)
        for model in (models.other("MistralModel", "MistralConfig", sliding_window=40), models.modernbert(80),
                      models.llama4(40)):
            self.assertTrue(nysbench.capture(model, given))

    def test_what_no_word_says_is_found_in_the_numbers(self):
        """An eager attention that tells nobody what it does to the scores."""
        for change in (lambda q: 1.001 * q, lambda q: 20 * torch.tanh(q / 20), lambda q: q + 0.01):
            with models.with_queries(change) as model:
                self.refuses(model, models.inputs("llama"))

    def test_the_check_is_in_full_precision(self):
        """Whatever is around: halves are refused, and queries that are 0.1 % larger are more than rounding."""
        for name in "bert", "llama":
            with self.subTest(name), torch.autocast("cpu", dtype=torch.bfloat16):
                self.refuses(make(name), models.inputs(name))
        given = models.inputs("llama")
        with models.llama_attends(lambda own, *x, **options: (own(*x, **options)[0].half(), None)) as model:
            self.refuses(model, given)
        with models.with_queries(lambda q: 1.001 * q) as model, models.coarse_products():
            self.refuses(model, given)
            self.assertEqual(torch.get_float32_matmul_precision(), "medium")

    def test_masks_of_ones_own_are_refused(self):
        seen = torch.ones(40, 40, dtype=torch.bool)
        seen[3, 5] = False
        biased = torch.zeros(40, 40)
        biased[3, 5] = -0.5
        chunks = torch.block_diag(*[torch.ones(n, n) for n in (10, 23, 7)]).bool()
        for mask in seen, biased, chunks, chunks.tril():
            with self.subTest(mask):
                self.refuses(models.bert(), {"input_ids": models.words(), "attention_mask": mask[None, None]})

    def test_calls_that_cannot_be_met(self):
        given, model = models.inputs("llama"), models.llama()
        self.refuses(model, given, layers=[0, 3, 9])
        self.refuses(model, given, heads=[6])
        self.refuses(model, given, heads=[1, 1])
        self.refuses(model, {"input_ids": models.words(batch=2)})
        self.refuses(models.mamba(), given)
        self.refuses(torch.nn.Linear(3, 3).eval(), {"input": torch.zeros(3)})
        self.refuses(models.whisper(), {**models.inputs("whisper"), "decoder_input_ids": models.words(3)})
        with torch.no_grad():
            cache = model(**given, use_cache=True).past_key_values
        self.refuses(model, {"input_ids": models.words(5), "past_key_values": cache})


    def test_arguments_of_other_types(self):
        given, model = models.inputs("bert"), models.bert()
        for wrong in (torch.tensor(3), models.words(), [models.words()], "a text", ["a text"], 3, None, [[given]]):
            with self.subTest(wrong=wrong), self.told(TypeError):
                nysbench.capture(model, wrong)
        for wrong in (1, "1", [1.5], [True], ["1"], [None]):
            for name in ("layers", "heads"):
                with self.subTest(name,
                                  wrong=wrong), self.told(TypeError):
                    nysbench.capture(model, given, **{name: wrong})
        self.refuses(model, given, layers=[])
        for wrong in ("MiniLM", None, transformers.BertModel, given):
            with self.subTest(wrong=wrong), self.told(TypeError):
                nysbench.capture(wrong, given)
        found = nysbench.capture(model, given)
        for wrong in ([], found, found[0], [found]):
            with self.subTest(wrong=wrong), self.told(TypeError):
                nysbench.capture.save("x.safetensors", wrong)
        self.assertRaises(TypeError, found[0].first, 1.5)
        for count in (0, -1, 41):
            self.assertRaises(nysbench.ArgumentError, found[0].first, count)


class InFiles(golden.Case):
    """The command, and what the program makes of its files."""

    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        os.chdir(cls.work.name)
        cls.files = models.save(".")

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.work.cleanup()

    def command(self, *arguments):
        """(status, lines on standard output, standard error)."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main([str(a) for a in arguments])
        return status, out.getvalue().splitlines(), err.getvalue()

    def tell_error(self, err):
        """Without what transformers says before and libraries at its end."""
        error, = (line for line in err.splitlines() if line.startswith("nysbench.capture: "))
        self.tell(re.sub("( inputs| can load| is no recording): .*", r"\1", error))

    def written(self, *arguments):
        status, lines, err = self.command(*arguments)
        self.assertEqual(status, 0, err)
        return [line.partition(": ")[0] for line in lines]

    def read(self, path):
        with safetensors.safe_open(path, "np") as file:
            return safetensors.numpy.load_file(path), file.metadata()

    def test_the_program_computes_the_models_outputs(self):
        for name, kind in (("bert", "text"), ("llama", "text"), ("vit", "image"), ("whisper", "audio")):
            with self.subTest(name):
                file, = self.written(name, f"--{kind}", self.files[kind][0], "--layers", 1, "-o", f"{name}.safetensors")
                command = [PROGRAM, "forward", "--head", file, "-o", "out.npy"]
                subprocess.run(command, check=True, capture_output=True)
                x, metadata = self.read(file)
                found = np.load("out.npy").swapaxes(0, 1).reshape(x["q"].shape[1], -1)
                expected, most = outputs(x["q"], x["k"], x["v"], name == "llama")
                self.assertLess(np.abs(found - expected).max(), most)
                after = models.expected(name, make(name), self.model_inputs(name), 1)[1]
                self.assertLess(np.abs(found - after).max(), most)

    def model_inputs(self, name):
        """What a user of transformers would give the model for the first input."""
        if name in ("bert", "llama"):
            with open("one.txt") as file:
                found = transformers.AutoTokenizer.from_pretrained(name)(file.read(), return_tensors="pt")
            return {"input_ids": found["input_ids"]}
        if name == "vit":
            from PIL import Image
            reader = transformers.AutoImageProcessor.from_pretrained(name)
            return dict(reader(Image.open("one.png"), return_tensors="pt"))
        import soundfile
        sound, rate = soundfile.read("one.wav", dtype="float32")
        reader = transformers.WhisperFeatureExtractor.from_pretrained(name)
        return {"input_features": reader(sound, sampling_rate=rate, return_tensors="pt")["input_features"]}

    def test_an_interrupted_file_goes_on(self):
        capture_globals = main.__globals__
        texts, asked, pass_of = self.files["text"][:2], [], capture_globals["_captured"]

        def interrupted(*given):
            asked.append(1)
            if len(asked) == 2:
                raise KeyboardInterrupt
            return pass_of(*given)

        words = ("bert", "--text", *texts, "--layers", 1, "--tokens", 8, "-o", "together.safetensors")
        expected, _ = self.read(*self.written(*words[:-1], "whole.safetensors"))
        capture_globals["_captured"] = interrupted
        try:
            status, _, err = self.command(*words)
            self.assertEqual((status, os.path.exists("together.safetensors")), (130, False))
            self.tell(err)
            found, _ = self.read(*self.written(*words))
        finally:
            capture_globals["_captured"] = pass_of
        self.assertEqual((len(asked), os.path.exists("together.safetensors.kept")), (3, False))
        for name in expected:
            np.testing.assert_array_equal(found[name], expected[name])

    def test_metadata_reach_the_rows(self):
        with open("bert/README.md", "w") as card:
            card.write("---\nlanguage: en\nlicense: apache-2.0\n---\n# A model\n")
        file, = self.written("bert", "--text", "work=one.txt", "--layers", 2, "--heads", "3,0", "--tokens", 16,
                             "--source-licence", "public domain", "-o", "meta.safetensors")
        _, metadata = self.read(file)
        wanted = {"model": "bert", "layer": "2", "heads": "3,0", "kv_heads": "3,0", "causal": "false", "n": "16",
                  "d": "12", "tokens": "16", "source": "work", "input": "work", "licence": "apache-2.0",
                  "layout": "heads,n,d", "source_licence": "public domain",  # NOLINT(wording): an option's value
                  "module": "encoder.layer.2.attention.self",
                  "architecture": "BertModel, 3 layers, 4 heads"}  # NOLINT(wording): metadata
        self.assertEqual({key: metadata.get(key) for key in wanted}, wanted)
        self.assertRegex(metadata["revision"], "^sha256:[0-9a-f]{64}$")
        self.assertRegex(metadata["input_sha256"], "^[0-9a-f]{64}$")
        row = self.row(file, 1)
        self.assertEqual([row[key] for key in ("model", "layer", "source", "n", "d")], ["bert", "2", "work", 16, 12])

    def row(self, file, head):
        """What a row tells of its head, also one that is skipped under the head's mask."""
        command = [PROGRAM, "measure", "--head", f"{file}:{head}", "-s", "uniform", "-m", "4", "-c", "svd",
                   "--metrics=error", "-j"]
        return json.loads(subprocess.run(command, check=False, capture_output=True, text=True).stdout)

    def test_inputs_in_one_file_are_stacked(self):
        names = self.written("bert", "--text", "one.txt", "b=two.txt", "--layers", "0,2", "--tokens", 20,
                             "-o", "all.safetensors")
        self.assertEqual(names, ["all_L0.safetensors", "all_L2.safetensors"])
        alone, = self.written("bert", "--text", "two.txt", "--layers", 2, "--tokens", 20, "-o", "alone.safetensors")
        x, metadata = self.read(names[1])
        self.assertEqual((x["q"].shape, metadata["sources"]), ((2, 4, 20, 12), "one b"))
        for name, values in self.read(alone)[0].items():
            np.testing.assert_array_equal(x[name][1], values)
        self.assertEqual([self.row(names[1], h)["source"] for h in (0, 3, 4)], ["one", "one", "b"])

    def test_a_folder_has_a_file_of_each_input_and_layer(self):
        with open("table.csv", "w") as file:
            file.write('kind,file,name,source,licence\ntext,one.txt,first,"A work, ch. 1",CC0\ntext,two.txt,,,\n')
        names = self.written("llama", "--inputs", "table.csv", "--layers", "0,1", "--heads", "0,3",
                             "--model-name", "Llama (small)", "--source-licence", "MIT", "--licence", "none",
                             "--revision", "r1", "--dtype", "float16", "-o", "set")
        self.assertEqual(names, [f"set/Llama-small-_{name}_n60_L{layer}.safetensors"
                                 for name in ("first", "two") for layer in (0, 1)])
        keys = ("model", "source", "source_licence", "licence", "revision", "kv_heads")
        facts = [[self.read(name)[1].get(key) for key in keys] for name in names[1:3]]
        # NOLINT(wording): the table's value
        self.assertEqual(facts, [["Llama (small)", "A work, ch. 1", "CC0", "none", "r1", "0,1"],
                                 ["Llama (small)", "two", "MIT", "none", "r1", "0,1"]])
        exact, = self.written("llama", "--text", "one.txt", "--layers", 1, "--heads", "0,3", "-o", "exact.safetensors")
        for name, values in self.read(names[1])[0].items():
            np.testing.assert_array_equal(values, self.read(exact)[0][name].astype(np.float16))
        self.assertEqual(self.row(names[1], 0)["source"], "A work, ch. 1")  # NOLINT(wording): the table's value

    def test_byte_order_marks_are_no_content(self):
        """Excel and Notepad begin files with one."""
        with open("one.txt") as text, open("marked.txt", "w", encoding="utf-8-sig") as file:
            file.write(text.read())
        with open("marked.csv", "w", encoding="utf-8-sig", newline="") as file:
            file.write("kind,file\r\ntext,marked.txt\r\n")
        files = [self.written("bert", *given, "--layers", 0, "-o", f"{name}.safetensors")[0] for name, given in
                 (("plain", ["--text", "one.txt"]), ("marked", ["--text", "marked.txt"]),
                  ("table", ["--inputs", "marked.csv"]))]
        digests = [self.read(file)[1]["input_sha256"] for file in files]
        self.assertEqual(digests, digests[:1] * 3)

    def test_the_same_call_writes_the_same_bytes(self):
        for name in ("x.safetensors", "y.safetensors"):
            self.written("vit", "--image", "one.png", "two.png", "--layers", 1, "-o", name)
        with open("x.safetensors", "rb") as x, open("y.safetensors", "rb") as y:
            self.assertEqual(x.read(), y.read())

    def test_tokens_of_a_recording_are_cut(self):
        whole, = self.written("whisper", "--audio", "one.wav", "--layers", 0, "-o", "whole.safetensors")
        cut, = self.written("whisper", "--audio", "one.wav", "--layers", 0, "--tokens", 20, "-o", "cut.safetensors")
        self.assertEqual(self.read(cut)[1]["cut"], "first 20 of 50 tokens")  # NOLINT(wording): metadata
        self.assertNotIn("cut", self.read(whole)[1])
        np.testing.assert_array_equal(self.read(cut)[0]["k"], self.read(whole)[0]["k"][:, :20])

    def test_a_recording_at_another_rate(self):
        """A tone is the same at 8 and at 16 kHz, and gives the same heads."""
        import soundfile
        from nysbench.capture import _resampled
        q, tone = {}, lambda rate: np.sin(2 * np.pi * 440 * np.arange(rate) / rate).astype(np.float32)
        for a, b in ((8000, 16000), (16000, 8000)):  # exact but for rounding: there are whole periods
            np.testing.assert_allclose(_resampled(tone(a), a, b), tone(b), atol=1e-5)
        for rate in (8000, 16000):
            soundfile.write(f"tone{rate}.wav", tone(rate), rate)
            file, = self.written("whisper", "--audio", f"tone{rate}.wav", "--layers", 0, "-o", f"{rate}.safetensors")
            q[rate] = self.read(file)[0]["q"]
        self.assertLess(np.abs(q[8000] - q[16000]).max(), 1e-2 * np.abs(q[16000]).max())  # samples of 16 bits

    def test_a_part_alone(self):
        status, _, err = self.command("bert", "--text", "one.txt", "--part", "encoder", "-o", "part.safetensors")
        self.assertEqual(status, 2)
        self.tell(err)
        status, _, err = self.command("bert", "--text", "one.txt", "--part", "tail", "-o", "part.safetensors")
        self.assertEqual(status, 2)
        self.tell(err)

    def test_errors_are_sentences(self):
        os.makedirs("empty", exist_ok=True)
        with open("broken.png", "w") as file:
            file.write("no image")
        with open("bad.csv", "w") as file:
            file.write("kind,path\ntext,one.txt\n")
        with open("worse.csv", "w") as file:
            file.write("kind,file\nvideo,one.txt\n")
        for arguments in (
                ["bert"], ["bert", "--text", "absent.txt"], ["bert", "--text", "one.txt", "--tokens", 100],
                ["bert", "--text", "one.txt", "./one.txt"], ["bert", "--text", "one.txt", "--image", "one.png"],
                ["bert", "--text", "a b=one.txt"], ["empty", "--text", "one.txt"],
                ["bert", "--text", "one.txt", "--layers", 5], ["vit", "--image", "broken.png"],
                ["whisper", "--audio", "one.txt"], ["whisper", "--audio", "one.wav", "--tokens", 60],
                ["bert", "--inputs", "bad.csv"], ["bert", "--inputs", "worse.csv"], ["bert", "--text", "one.png"],
                ["bert", "--inputs", "one.png"], ["bert", "--text", "one.txt", "--tokens", 1],
                ["bert", "--text", "one.txt", "short.txt"]):
            with self.subTest(arguments):
                with open("short.txt", "w") as file:
                    file.write("word1 word2 word3 word4 word5")
                status, _, err = self.command(*arguments, "-o", "none.safetensors")
                self.assertEqual(status, 2)
                self.tell_error(err)
                self.assertFalse([name for name in os.listdir() if name.startswith("none")])

    def test_weights_that_are_missing(self):
        x = safetensors.numpy.load_file("bert/model.safetensors")
        shutil.copytree("bert", "headless")
        kept = {name: values for name, values in x.items() if "layer.1.attention.self.query" not in name}
        safetensors.numpy.save_file(kept, "headless/model.safetensors", {"format": "pt"})
        status, _, err = self.command("headless", "--text", "one.txt", "-o", "none.safetensors")
        self.assertEqual(status, 2)
        self.tell_error(err)

    def test_what_stands_in_the_place_of_a_file(self):
        """What git leaves where Git LFS is not installed, and what else is no file of weights."""
        for name, content in (("pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"),
                              ("page", "<!DOCTYPE html>\n"), ("nothing", "")):
            shutil.copytree("bert", name)
            for path in (f"{name}/model.safetensors", f"{name}.txt"):
                with open(path, "w") as file:
                    file.write(content)
        for arguments in (["pointer", "--text", "one.txt"], ["bert", "--text", "pointer.txt"],
                          ["bert", "--inputs", "pointer.txt"], ["page", "--text", "one.txt"],
                          ["nothing", "--text", "one.txt"]):
            with self.subTest(arguments):
                status, _, err = self.command(*arguments, "-o", "none.safetensors")
                self.assertEqual(status, 2)
                self.tell_error(err)
        status, _, err = self.command("bert", "--text", "one.txt", "-o", "one.txt")
        self.assertEqual(status, 2)
        self.tell(err)

    def test_the_manual(self):
        """Its snippets, one after the other, with a small model in the place of theirs."""
        shutil.copytree("bert", "MiniLM")
        with open(MANUAL) as file:
            snippets = re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)
        known = {}
        for snippet in snippets:
            exec(snippet, known)
        self.assertEqual(self.read("heads.safetensors")[1]["source"], "Moby-Dick")
        with torch.no_grad():
            before = known["model"](**known["inputs"]).last_hidden_state
        self.assertGreater(float((known["changed"] - before).abs().max()), 1e-3)

    def test_python_m(self):
        command = [sys.executable, "-m", "nysbench.capture", "bert", "--text", "one.txt", "-o", "m.safetensors"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 3)
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    tap.main()
