# SPDX-License-Identifier: GPL-3.0-or-later
"""capture and patch where there is no torch: the package is imported all the same, and a call says what is missing.
Head files are written whole or not at all."""
import os
import subprocess
import sys
import tempfile
from unittest import mock

import numpy as np

import golden
import nysbench
import tap

WITHOUT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "transformers"):
            raise ModuleNotFoundError(f"No module named {name!r}")
sys.meta_path.insert(0, Absent())
import nysbench
"""


def said(call):
    done = subprocess.run([sys.executable, "-c", WITHOUT + call], capture_output=True, text=True)
    return done.returncode, done.stderr


class WithoutTorch(golden.Case):
    def test_import_is_fine(self):
        self.assertEqual(said("assert callable(nysbench.capture) and callable(nysbench.patch)"), (0, ""))

    def test_attention_on_tensors_names_the_package(self):
        status, text = said("import nysbench.torch")
        self.assertEqual(status, 1)
        self.tell(text.splitlines()[-1])

    def test_calls_name_the_packages(self):
        model = "import types; model = types.SimpleNamespace(named_modules=lambda: [])\n"
        for call in ("nysbench.capture(model, {})", "nysbench.patch(model, 'streamed').__enter__()"):
            with self.subTest(call):
                status, text = said(model + call)
                self.assertEqual(status, 1)
                self.tell(text.splitlines()[-1])

    def test_command(self):
        status, text = said(
            "from nysbench.capture import main; sys.exit(main(['folder', '--text', 'a', '-o', 'b']))")
        self.assertEqual((status, text.count("\n")), (2, 1), text)
        self.tell(text)


class Files(golden.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.path = folder.name, os.path.join(folder.name, "heads.safetensors")
        x = np.ones((2, 3, 4), np.float32)
        self.heads = nysbench.capture.Heads(0, "layer.0", x, x, x, [0, 1], [0, 1], False, 0.0, 1.0)

    def test_a_file_takes_the_place_of_the_one_before(self):
        for source in ("one", "another"):
            self.heads.save(self.path, source=source)
            with open(self.path, "rb") as file:
                self.assertIn(f'"source": "{source}"'.encode(), file.read())
        self.assertEqual(os.listdir(self.folder), ["heads.safetensors"])

    def test_a_failure_leaves_what_was_there(self):
        os.mkdir(self.path)
        self.told(nysbench.FileError, self.heads.save, self.path)
        self.assertEqual(os.listdir(self.folder), ["heads.safetensors"])
        os.rmdir(self.path)
        with mock.patch("numpy.ascontiguousarray", side_effect=KeyboardInterrupt):
            self.assertRaises(KeyboardInterrupt, self.heads.save, self.path)
        self.assertEqual(os.listdir(self.folder), [])
        self.told(nysbench.FileError, self.heads.save, os.path.join(self.path, "heads"))


if __name__ == "__main__":
    tap.main()
