# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a run is, from the lines that the program prints."""
import importlib.util
import re
import shutil
import sys

from ._arrays import flag


class Progress:
    """Takes the program's lines on standard error: what it warns of and what went wrong are kept, the rest is shown: as a
    bar of tqdm where that is installed, else in one line that is written anew; in a file, a line each. A notebook shows
    them as what it displays, since it colours standard error as if something had gone wrong."""

    def __init__(self, wanted, notes):
        self.wanted, self.notes = flag("progress", wanted), notes
        self.warnings, self.errors, self.last, self.shown = [], [], None, None

    def __enter__(self):
        if self.wanted:
            for note in self.notes:
                print(note, file=sys.stdout if _notebook() else sys.stderr)
        return self

    def line(self, text):
        kind, _, rest = text.partition(": ")[2].partition(": ")
        if kind in ("warning", "error"):
            self.last = getattr(self, kind + "s")
            self.last.append(rest)
        elif not text.startswith("nysbench: ") and self.last:
            self.last[-1] += "\n" + text  # the message goes on
        elif self.wanted:
            self._show(text)

    def _show(self, text):
        text = text.removeprefix("nysbench: ")
        rows = re.search(r"(\d+) of (\d+) rows", text)
        if not rows:
            print(text, file=sys.stdout if _notebook() else sys.stderr)
            return
        if self.shown is None:
            self.shown = _shower(int(rows[2]))
        self.shown.update(int(rows[1]), text)

    def __exit__(self, *_):
        if self.shown is not None:
            self.shown.close()


def _notebook():
    """IPython's shell where it is a notebook's, which displays things; else None."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell if hasattr(shell, "kernel") else None


def _shower(rows):
    """What shows the progress of so many rows."""
    notebook = _notebook()
    has_tqdm = importlib.util.find_spec("tqdm") is not None
    if has_tqdm and (notebook is None or importlib.util.find_spec("ipywidgets") is not None):
        return _Bar(rows)
    return _Display() if notebook else _Line() if sys.stderr.isatty() else _Log()


class _Bar:
    def __init__(self, rows):
        from tqdm.auto import tqdm
        self.bar = tqdm(total=rows, unit="row")

    def update(self, done, _):
        self.bar.update(done - self.bar.n)

    def close(self):
        self.bar.close()


class _Display:
    """One output of a notebook's cell, which is replaced."""

    def __init__(self):
        self.handle = None

    def update(self, _, text):
        from IPython.display import Pretty, display
        shown = Pretty(text)
        if self.handle is None:
            self.handle = display(shown, display_id=True)
        else:
            self.handle.update(shown)

    def close(self):
        pass


class _Line:
    """A line of a terminal."""

    def update(self, _, text):
        room = shutil.get_terminal_size().columns - 1
        print(f"\r{text[:room]}\033[K", end="", file=sys.stderr, flush=True)

    def close(self):
        print(file=sys.stderr)


class _Log:
    def update(self, _, text):
        print(text, file=sys.stderr)

    def close(self):
        pass
