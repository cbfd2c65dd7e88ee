# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `nysbench` of an installed wheel: becomes the program in the package."""
import os
import sys


def main():
    """Does not return. What the program prints calls it as the user did: by its name alone where that is in PATH."""
    folder, name = os.path.split(sys.argv[0])
    first = next((place for place in os.get_exec_path() if os.access(os.path.join(place, name), os.X_OK)), None)
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nysbench")
    os.environ.setdefault("NYSBENCH_PYTHON", sys.executable)  # which has the package
    os.execv(program, [name if first == folder else sys.argv[0], *sys.argv[1:]])
