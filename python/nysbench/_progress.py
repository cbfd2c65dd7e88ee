# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a run is, from the lines that the program prints."""
import re
import sys

from ._arrays import flag


class Progress:
    """Takes the program's lines on standard error: what it warns of and what went wrong are kept, the rest is shown, by tqdm
    where that is installed."""

    def __init__(self, wanted, notes):
        self.wanted, self.notes = flag("progress", wanted), notes
        self.warnings, self.errors, self.last, self.bar = [], [], None, None

    def __enter__(self):
        for note in self.notes if self.wanted else ():
            print(note, file=sys.stderr)
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
        rows = re.search(r"(\d+) of (\d+) rows", text)
        bar = self._bar(int(rows[2])) if rows else None
        if bar is None:
            print(text, file=sys.stderr)
        else:
            bar.update(int(rows[1]) - bar.n)

    def _bar(self, rows):
        """tqdm's, of so many rows; None where it is not installed."""
        if self.bar is None:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return None
            self.bar = tqdm(total=rows, unit="row")
        return self.bar

    def __exit__(self, *_):
        if self.bar is not None:
            self.bar.close()
