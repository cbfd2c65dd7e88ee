# SPDX-License-Identifier: GPL-3.0-or-later
"""experiments/40-gpu.yaml on a CPU, on one short head: attentions of PyTorch that time themselves.

usage: test_gpu.py PROGRAM. Known: exact attention of PyTorch in float32 is exact attention, to rounding."""
import csv
import os
import subprocess
import sys
import tempfile
import unittest

import nysbench
import tap


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
            self.assertIn(f"which={label}: there is no GPU", rows.pop(label)["reason"])
        for label, row in rows.items():
            with self.subTest(label):
                found = row["status"], row["clock"], row["device"]
                self.assertEqual(found, ("ok", "own", "cpu, float32"), row["reason"])
                self.assertGreater(float(row["latency_s"]), 0)
                self.assertLess(float(row["output_error"]), float(row["baseline_mean"]))
        self.assertLess(float(rows["exact"]["output_error"]), 1e-5)


if __name__ == "__main__":
    tap.main()
