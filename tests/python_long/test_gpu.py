# SPDX-License-Identifier: GPL-3.0-or-later
"""experiments/40-gpu.yaml and tests/bench/gpu.py on a CPU, on short heads: attentions of PyTorch are timed.

usage: test_gpu.py PROGRAM. Known: exact attention of PyTorch in float32 is exact attention, to rounding. The bench
reads a ViT of random parameters, whose heads mean nothing: that there is a row for each attention is looked at, not
what is in it."""
import csv
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from PIL import Image
from safetensors.numpy import save_file

import nysbench
import tap

WIDTH = 384


class Experiment(unittest.TestCase):
    def test_on_a_cpu(self):
        heads = sorted(name for name in os.listdir("experiments/data/test") if name.startswith("vit-test_"))
        with tempfile.TemporaryDirectory() as folder:
            path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
            command = [nysbench.program(), "run", "experiments/40-gpu.yaml", "--quiet", "--out", folder + "/run",
                       "--set", f"problems=heads(file=experiments/data/test/{heads[0]})", "--set", "trials=1"]
            ended = subprocess.run(command, env={**os.environ, "PATH": path}, stdout=subprocess.DEVNULL, check=False)
            self.assertEqual(ended.returncode, 1)  # rows that need a GPU fail
            with open(folder + "/run/rows.csv", encoding="utf-8") as file:
                rows = {row["attention_label"]: row for row in csv.DictReader(file)}
        self.assertEqual(len(rows), 8)
        for label in ("cudnn", "flash", "efficient"):
            self.assertEqual(rows[label]["status"], "failed")
            self.assertIn(f"which={label}:", rows.pop(label)["reason"])
        for label, row in rows.items():
            with self.subTest(label):
                found = row["status"], row["clock"], row["device"]
                self.assertEqual(found, ("ok", "own", "cpu, float32"), row["reason"])
                self.assertGreater(float(row["latency_s"]), 0)
                self.assertLess(float(row["output_error"]), float(row["baseline_mean"]))
        self.assertLess(float(rows["exact"]["output_error"]), 1e-5)


def write_bundle(folder):
    """What vit_torch.py bundle writes, of random parameters and photographs."""
    rng = np.random.default_rng(1)
    shapes = {"embeddings.position": (1 + 37 * 37, WIDTH), "embeddings.cls_token": (1, 1, WIDTH), **linear(
        "embeddings.patch_embeddings.projection", WIDTH, 3, 14, 14), **pair("layernorm")}
    for i in range(12):
        at = f"encoder.layer.{i}"
        shapes |= pair(f"{at}.norm1") | pair(f"{at}.norm2")
        shapes |= linear(f"{at}.mlp.fc1", 4 * WIDTH, WIDTH) | linear(f"{at}.mlp.fc2", WIDTH, 4 * WIDTH)
        for part in ("attention.query", "attention.key", "attention.value", "output.dense"):
            shapes |= linear(f"{at}.attention.{part}", WIDTH, WIDTH)
        shapes |= {f"{at}.layer_scale{j}.lambda1": (WIDTH,) for j in (1, 2)}
    save_file({name: (0.05 * rng.standard_normal(shape)).astype(np.float16) for name, shape in shapes.items()},
              os.path.join(folder, "vit.safetensors"))
    for source in ("one", "two"):
        pixels = rng.integers(0, 256, (240, 230, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(os.path.join(folder, f"{source}.png"))


def linear(name, *shape):
    return {f"{name}.weight": shape, f"{name}.bias": shape[:1]}


def pair(name):
    return linear(name, WIDTH)


class Bench(unittest.TestCase):
    EXACT = {"exact"}
    APPROXIMATE = {"kernel_ridge(landmarks=104)", "kernel_ridge(landmarks=192)", "nystrom(landmarks=64)",
                   "nystrom(landmarks=64, strategy=kmeans)"}
    NEAR = {"kernel_ridge(landmarks=104, near=auto, grid=auto)"}

    def test_on_a_cpu(self):
        with tempfile.TemporaryDirectory() as folder:
            write_bundle(folder)
            command = [sys.executable, "tests/bench/gpu.py", folder + "/out", "--bundle", folder,
                       "--sources", "one,two", "--n", "257", "--models", "257", "--heads", "6", "--device", "cpu",
                       "--minutes", "1000"]  # a busy machine leaves nothing out
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            found = {}
            for part in ("times", "models", "errors"):
                with open(f"{folder}/out/gpu_{part}.csv", encoding="utf-8") as file:
                    found[part] = list(csv.DictReader(file))
        for part, expected, each in (("times", self.EXACT | self.APPROXIMATE | self.NEAR, 1),
                                     ("models", self.EXACT | self.APPROXIMATE, 1),
                                     ("errors", self.APPROXIMATE | self.NEAR, 2 * 12 * 6)):
            with self.subTest(part):
                names = [row["attention"] for row in found[part]]
                self.assertEqual({name: names.count(name) for name in names}, dict.fromkeys(expected, each))
        self.assertTrue(all(float(row["ms_eager"]) > 0 for row in found["times"] + found["models"]))
        self.assertTrue(all(float(row["error_0"]) > 0 for row in found["errors"]))


if __name__ == "__main__":
    tap.main()
