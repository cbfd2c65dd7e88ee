# SPDX-License-Identifier: GPL-3.0-or-later
"""The wheel takes along what `make` has built beside this folder, or what is in $NYSBENCH_BUILD: the library, the
program and what the program reads.

With them it has a command, and is for this machine's kind alone; without them it is pure Python and looks for an
installed library.
"""
import os
import re
import shutil
import tempfile
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools below 70
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("NYSBENCH_BUILD", HERE.parent / "build"))
READ = ("docs", "experiments", "plots", "templates")  # by the program, beside itself
BUILT = [path for path in (BUILD / name for name in ("libnysbench.so", "nysbench", *READ)) if path.exists()]
PROGRAM = BUILD / "nysbench" in BUILT


def version():
    text = (HERE.parent / "src" / "base" / "version.h").read_text()
    return re.search(r'^#define NB_VERSION "(.*)"$', text, re.M).group(1)


class Build(build_py):
    """Modules, and what was built; not in an editable install, which finds it in ../build."""

    def run(self):
        super().run()
        for path in () if self.editable_mode else BUILT:
            to = Path(self.build_lib) / "nysbench" / path.name
            if path.is_dir():
                shutil.copytree(path, to, ignore=shutil.ignore_patterns(".*", "__pycache__"), dirs_exist_ok=True)
            else:
                shutil.copy(path, to)


class Built(Distribution):
    def has_ext_modules(self):
        return bool(BUILT)


class Wheel(bdist_wheel):
    """For any Python 3: no module of it is compiled."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


# What an earlier build left behind would be packed too.
with tempfile.TemporaryDirectory() as folder:
    setup(version=version(), packages=["nysbench", "nysbench.torch"],
          package_data={"nysbench": ["py.typed", "bridge/*"]}, cmdclass={"build_py": Build, "bdist_wheel": Wheel},
          distclass=Built,
          entry_points={"console_scripts": ["nysbench = nysbench._command:main"]} if PROGRAM else {},
          options={"build": {"build_base": folder}, "egg_info": {"egg_base": folder}})
