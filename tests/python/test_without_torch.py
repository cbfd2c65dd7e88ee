# SPDX-License-Identifier: GPL-3.0-or-later
"""capture and patch where there is no torch: the package is imported all the same, and a call says what is missing."""
import subprocess
import sys
import unittest

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


class WithoutTorch(unittest.TestCase):
    def test_import_is_fine(self):
        self.assertEqual(said("assert callable(nysbench.capture) and callable(nysbench.patch)"), (0, ""))

    def test_calls_name_the_packages(self):
        model = "import types; model = types.SimpleNamespace(named_modules=lambda: [])\n"
        for call in ("nysbench.capture(model, {})", "nysbench.patch(model, 'streamed').__enter__()"):
            with self.subTest(call):
                status, text = said(model + call)
                self.assertEqual(status, 1)
                self.assertIn("ImportError: No module named 'torch': Hugging Face models need the packages", text)

    def test_command(self):
        status, text = said("from nysbench._capture_command import main; sys.exit(main(['folder', '--text', 'a', '-o', 'b']))")
        self.assertEqual((status, text.count("\n")), (2, 1), text)
        self.assertIn("nysbench.capture: error: No module named 'transformers'", text)


if __name__ == "__main__":
    tap.main()
