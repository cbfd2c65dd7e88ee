# SPDX-License-Identifier: GPL-3.0-or-later
"""The package as it is installed: how it finds the library, and that it and the header agree. usage: test_package.py"""
import ast
import base64
import csv
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from importlib import metadata
from pathlib import Path

import golden
import nysbench
import tap
from nysbench import _arguments, _library

HEADER = "src/api/nysbench.h"
COMMAND = os.path.join(os.path.dirname(sys.executable), "nysbench")


class Syntax(unittest.TestCase):
    def test_of_the_oldest_python(self):
        for path in Path(nysbench.__file__).parent.glob("*.py"):
            with self.subTest(path.name):
                ast.parse(path.read_text(), feature_version=(3, 9))


class Header(unittest.TestCase):
    def test_statuses_have_the_header_s_numbers(self):
        text = re.search(r"typedef enum \{(.*?)\} nysbench_status;", Path(HEADER).read_text(), re.S).group(1)
        names = re.findall(r"NYSBENCH_E\w+", text)
        classes = {"EINVAL": "ArgumentError", "ENOMEM": "OutOfMemoryError", "EDIM": "ShapeError",
                   "ENUMERIC": "NumericError",
                   "EIO": "FileError", "EBUG": "InternalError", "EHOST": "HostError"}
        self.assertEqual({i + 1: classes[name[9:]] for i, name in enumerate(names)},
                         {status: kind.__name__ for status, kind in _arguments._CLASSES.items()})

    def test_the_api_number_is_the_header_s(self):
        self.assertIn(f"#define NYSBENCH_API {_library.API}\n", Path(HEADER).read_text())


class Command(unittest.TestCase):
    """The command nysbench beside this Python."""

    def run_in(self, folder, path, *arguments):
        return subprocess.run([COMMAND, *arguments], cwd=folder, env={**os.environ, "PATH": path}, capture_output=True,
                              text=True)

    def test_is_the_program(self):
        done = self.run_in("/", os.environ["PATH"], "--version")
        self.assertEqual((done.returncode, done.stdout), (0, f"nysbench {nysbench.version}\n"))
        self.assertEqual(self.run_in("/", os.environ["PATH"], "nonsense").returncode, 2)

    def test_is_called_by_its_name_alone_where_that_is_in_path(self):
        beside = os.path.dirname(COMMAND)
        with tempfile.TemporaryDirectory() as folder:
            for path, name in ((f"{beside}:/usr/bin:/bin", "nysbench"), (f"/usr/bin:/bin:{folder}", COMMAND)):
                shutil.rmtree(os.path.join(folder, "nysbench-demo"), ignore_errors=True)
                done = self.run_in(folder, path, "demo")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(f" {name} compare ", done.stdout)

    def test_what_the_program_reads_is_in_the_package(self):
        with tempfile.TemporaryDirectory() as folder:
            for words in (["help", "config"], ["new", "strategy", "mine"],
                          ["plan", "experiments/01-error-vs-landmarks.yaml"]):
                self.assertEqual(self.run_in(folder, os.environ["PATH"], *words).returncode, 0, words)
            script = ("import nysbench; row, = "
                      "nysbench.measure('experiments/data/vit_astronaut_n257_L6.safetensors:0', "
                      "strategy='uniform', landmarks=8, cores='svd'); print(row['status'])")
            done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.stdout, "ok\n", done.stderr)


class Finding(golden.Case):
    """A copy of the package's modules alone, so that it has no library beside it."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)
        (self.folder / "nysbench").mkdir()
        for module in Path(nysbench.__file__).parent.glob("*.py"):
            shutil.copy(module, self.folder / "nysbench")

    def imported(self, **environment):
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("NYSBENCH", "PYTHON"))}
        return subprocess.run([sys.executable, "-c", "import nysbench._library; print(nysbench._library.path)"],
                              cwd="/",
                              env={**clean, "PYTHONPATH": str(self.folder), **environment}, capture_output=True,
                              text=True)

    def compiled(self, source):
        (self.folder / "other.c").write_text(source)
        subprocess.run(["cc", "-shared", "-fPIC", self.folder / "other.c", "-o", self.folder / "other.so"], check=True)
        return str(self.folder / "other.so")

    def refused(self, done):
        self.tell(done.stderr.partition("ImportError: ")[2])

    def test_the_wheel_has_the_library_and_the_program(self):
        self.assertEqual(Path(_library.path).name, "libnysbench.so")
        self.assertEqual(Path(_library.path).parent, Path(nysbench.__file__).resolve().parent)
        self.assertEqual(Path(nysbench.program()).parent, Path(_library.path).parent)
        self.assertEqual(metadata.version("nysbench"), nysbench.version)

    def test_named(self):
        self.assertEqual(self.imported(NYSBENCH_LIBRARY=_library.path).stdout.strip(), _library.path)

    def test_in_a_checkout(self):
        found = self.imported(PYTHONPATH=str(Path("python").resolve())).stdout.strip()
        self.assertEqual(found, str(Path("build/libnysbench.so").absolute()))

    def test_nowhere(self):
        self.refused(self.imported())
        self.refused(self.imported(NYSBENCH_LIBRARY="/nowhere.so"))

    def test_no_library(self):
        self.refused(self.imported(NYSBENCH_LIBRARY="/etc/passwd"))
        self.refused(self.imported(NYSBENCH_LIBRARY=self.compiled("int f;")))

    def test_another_api(self):
        source = f"int nysbench_api(void) {{ return {_library.API + 1}; }}"
        self.refused(self.imported(NYSBENCH_LIBRARY=self.compiled(source)))

    def test_needs_numpy_alone(self):
        program = ("import sys, nysbench; others = {'pandas', 'torch', 'transformers', 'scipy'}; "
                   "print(sorted({name.partition('.')[0] for name in sys.modules} & others))")
        self.assertEqual(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout, "[]\n")


class Wheel(unittest.TestCase):
    """What python/backend.py packs, where there is no build beside it."""

    def packed(self, hook):
        """The wheel's name, and its files by name."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-c", f"import sys, backend; backend.{hook}(sys.argv[1])", folder],
                           cwd="python", env={**os.environ, "NYSBENCH_BUILD": "/nowhere"}, check=True)
            wheel, = Path(folder).iterdir()
            with zipfile.ZipFile(wheel) as file:
                return wheel.name, {name: file.read(name) for name in file.namelist()}

    def test_its_record_has_each_file_and_its_digest(self):
        for hook in ("build_wheel", "build_editable"):
            _, files = self.packed(hook)
            record = f"nysbench-{nysbench.version}.dist-info/RECORD"
            recorded = {name: (digest, size) for name, digest, size in csv.reader(io.StringIO(files[record].decode()))}
            self.assertEqual(recorded.pop(record), ("", ""))
            self.assertEqual(recorded, {
                name: (f"sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')}",
                       str(len(data))) for name, data in files.items() if name != record})

    def test_without_a_build_it_is_pure_python(self):
        name, files = self.packed("build_wheel")
        self.assertEqual(name, f"nysbench-{nysbench.version}-py3-none-any.whl")
        info = f"nysbench-{nysbench.version}.dist-info/"
        self.assertIn(b"Root-Is-Purelib: true\n", files[info + "WHEEL"])
        self.assertNotIn(info + "entry_points.txt", files)
        here = {path.relative_to("python").as_posix() for path in Path("python/nysbench").rglob("*")
                if path.is_file() and path.suffix != ".pyc"}
        self.assertEqual({name for name in files if not name.startswith(info)}, here)

    def test_an_editable_one_names_the_sources(self):
        _, files = self.packed("build_editable")
        self.assertEqual(files["nysbench.pth"].decode(), f"{Path('python').resolve()}\n")


if __name__ == "__main__":
    tap.main()
