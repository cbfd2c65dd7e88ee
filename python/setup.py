# SPDX-License-Identifier: GPL-3.0-or-later
"""The wheel takes along what `make` has built beside this folder: the library, and the program, which reads runs.

With them it is a wheel for this machine's kind alone; without them it is pure Python and looks for an installed library.
"""
import re
import shutil
import tempfile
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

HERE = Path(__file__).resolve().parent
BUILT = {HERE.parent / "build" / "libnysbench.so": "libnysbench.so", HERE.parent / "build" / "nysbench": "nysbench"}


def version():
    text = (HERE.parent / "src" / "base" / "version.h").read_text()
    return re.search(r'^#define NB_VERSION "(.*)"$', text, re.M).group(1)


class Build(build_py):
    """Modules, and what was built; not in an editable install, which finds it in ../build."""

    def run(self):
        super().run()
        for source, name in BUILT.items() if not self.editable_mode else ():
            if source.exists():
                shutil.copy(source, Path(self.build_lib) / "nysbench" / name)


class Built(Distribution):
    def has_ext_modules(self):
        return any(source.exists() for source in BUILT)


# What an earlier build left behind would be packed too.
with tempfile.TemporaryDirectory() as folder:
    setup(version=version(), packages=["nysbench"], cmdclass={"build_py": Build}, distclass=Built,
          options={"build": {"build_base": folder}, "egg_info": {"egg_base": folder}})
