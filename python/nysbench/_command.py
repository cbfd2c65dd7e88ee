# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `nysbench` of an installed wheel: becomes the program in the package."""
import os
import signal
import sys


def main():
    """Does not return. Python ignores two signals that the program is to have as a shell gives them."""
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    folder, name = os.path.split(sys.argv[0])
    in_path = next((place for place in os.get_exec_path() if os.access(os.path.join(place, name), os.X_OK)), None)
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nysbench")
    os.execv(program, [name if in_path == folder else sys.argv[0], *sys.argv[1:]])
