# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a run is: a bar of tqdm, one line of a terminal, a display of a notebook, lines in a file. usage:
test_progress.py"""
import contextlib
import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import termios
import types
import unittest
import warnings
from unittest import mock

import tap
from nysbench._program import Progress

LINES = ["nysbench: 16 scenes to run with 2 workers: about 0.1 s",  # NOLINT(wording): lines of a test's program
         "nysbench: 10 %, 1 of 16 scenes, 54 of 528 rows, 1.1 s left",
         "nysbench: warning: slow", "first",  # NOLINT(wording): lines of a test's program
         "nysbench: 100 %, 16 of 16 scenes, 528 of 528 rows, 1.6 s"]
WARNINGS = ["\n".join(LINES[2:4])[len("nysbench: warning: "):]]
RUN = """import nysbench
nysbench.run(problems="gaussian(n=24, d=4)", strategies=["uniform", "kmeans"], cores="svd", landmarks=4, trials=8)"""


@contextlib.contextmanager
def packages(*there):
    """As if tqdm and ipywidgets were installed only if they are named."""
    with mock.patch("importlib.util.find_spec", lambda name: name in there or None):
        yield


def shown(lines=LINES, **choices):
    """What is printed on standard output and error, and the Progress."""
    out, err = io.StringIO(), io.StringIO()
    err.isatty = lambda: choices.get("terminal", False)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), Progress(choices.get("wanted", True),
                                                                                    ["a note"]) as progress:
        for line in lines:
            progress.line(line)
    return out.getvalue(), err.getvalue(), progress


class Shown(unittest.TestCase):
    def test_log(self):
        with packages():
            out, err, progress = shown()
        self.assertEqual((out, err.splitlines()), ("", ["a note", LINES[0][10:], LINES[1][10:], LINES[4][10:]]))
        self.assertEqual(progress.warnings, WARNINGS)

    def test_nothing(self):
        with packages("tqdm"):
            out, err, progress = shown(wanted=False)
        self.assertEqual((out, err, progress.warnings), ("", "", WARNINGS))

    def test_terminal(self):
        """One line, written anew."""
        with packages():
            _, err, _ = shown(terminal=True)
        self.assertEqual(err, f"a note\n{LINES[0][10:]}\n\r{LINES[1][10:]}\033[K\r{LINES[4][10:]}\033[K\n")

    def test_tqdm(self):
        bar = mock.Mock(n=0)
        bar.update.side_effect = lambda more: setattr(bar, "n", bar.n + more)
        auto = types.SimpleNamespace(tqdm=mock.Mock(return_value=bar))
        with packages("tqdm"), mock.patch.dict(sys.modules, {"tqdm": types.ModuleType("tqdm"), "tqdm.auto": auto}):
            _, err, _ = shown()
        auto.tqdm.assert_called_once_with(total=528, unit="row")
        self.assertEqual([call.args for call in bar.update.call_args_list], [(54,), (474,)])
        bar.close.assert_called_once_with()
        self.assertNotIn("rows", err)

    def test_notebook(self):
        """Nothing on standard error, which a notebook colours red; one output that is replaced. tqdm needs widgets
        there, or it warns."""
        display = types.SimpleNamespace(Pretty=lambda text: text, display=mock.Mock())
        shell = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(kernel=1), display=display)
        for there in ((), ("tqdm",)):
            display.display.reset_mock()
            with packages(*there), mock.patch.dict(sys.modules, {"IPython": shell, "IPython.display": display}):
                out, err, _ = shown()
            self.assertEqual((out.splitlines(), err), (["a note", LINES[0][10:]], ""))
            display.display.assert_called_once_with(LINES[1][10:], display_id=True)
            display.display.return_value.update.assert_called_once_with(LINES[4][10:])
        bar = types.SimpleNamespace(tqdm=mock.Mock(return_value=mock.Mock(n=0)))
        with packages("tqdm", "ipywidgets"), mock.patch.dict(sys.modules,
                                                             {"IPython": shell, "IPython.display": display, "tqdm": bar,
                                                              "tqdm.auto": bar}):
            shown()
        bar.tqdm.assert_called_once_with(total=528, unit="row")


class Runs(unittest.TestCase):
    def test_of_a_program(self):
        """On a terminal the rows are one line, or tqdm's bar; nothing breaks a line but the last count."""
        main, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
        process = subprocess.Popen([sys.executable, "-c", RUN], stdout=subprocess.DEVNULL, stderr=other)
        os.close(other)
        text = b""
        with contextlib.suppress(OSError):
            while part := os.read(main, 65536):
                text += part
        os.close(main)
        self.assertEqual(process.wait(), 0, text)
        lines = [line for line in text.decode().split("\r\n") if " rows" in line or "row/s" in line]
        self.assertEqual(len(lines), 1, text)
        self.assertRegex(lines[0], r"16( of |/)16\b")

    def test_into_a_file(self):
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()) as err, packages():
            warnings.simplefilter("ignore")
            exec(RUN)
        self.assertRegex(err.getvalue(), r"(?m)^100 %, .*rows")


if __name__ == "__main__":
    tap.main()
