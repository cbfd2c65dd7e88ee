# SPDX-License-Identifier: GPL-3.0-or-later
"""Where fetch.sh puts things: build/models of the checkout, or the folder that NYSBENCH_MODELS names. Importing it lets the
package nysbench of the checkout be found."""
import importlib.util
import os
import sys

if importlib.util.find_spec("numpy") is None:
    lack = f"{sys.executable} has no NumPy: install it, or put a Python that has it first in PATH (fetch.sh names one)"
    raise ModuleNotFoundError(lack, name="numpy")

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.environ.get("NYSBENCH_MODELS") or os.path.join(HERE, "..", "..", "build", "models")
sys.path.insert(0, os.path.join(HERE, "..", "..", "python"))


class NotFetched(FileNotFoundError):
    """What fetch.sh would have brought is not there."""


def path(*parts):
    """The path of a file under build/models; NotFetched if it is not there."""
    name = os.path.join(ROOT, *parts)
    if not os.path.exists(name):
        raise NotFetched(f"{os.path.normpath(name)} is not there: run experiments/models/fetch.sh")
    return name
