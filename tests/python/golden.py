# SPDX-License-Identifier: GPL-3.0-or-later
"""What errors, warnings and answers say is golden: a test tells it, and tap compares what a test has told, once it has
come to its end, with its section of tests/golden/python/FILE.txt. With GOLDEN=renew the sections are written anew.

tests/support/told.sed drops what differs between machines and runs; places of Python and of files, lines of the test
and digests of its functions are dropped here."""
import contextlib
import difflib
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(sys.argv[0]).resolve()
STORED = ROOT / "tests/golden/python" / f"{SCRIPT.stem}.txt"
RENEW = os.environ.get("GOLDEN") == "renew"
MESSAGE = "nysbench: "  # told.sed keeps short decimals of lines that begin so
PLACES = [(re.escape(sys.executable), "PYTHON"), (re.escape(str(ROOT)), "/TREE"),
          (rf"{re.escape(tempfile.gettempdir())}/[\w.-]+", "/WORK"),
          (rf"({re.escape(SCRIPT.name)}, line) \d+", r"\1 #"), (r"\b[0-9a-f]{16}\b", "#" * 16)]


class Teller:
    """What Python, NumPy and other packages say differs between their versions and is not told."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.texts = []

    def tell(self, said):
        """A message: an error or a warning, with its class, or a text."""
        kind = f"{type(said).__name__}: " if isinstance(said, BaseException) else ""
        self.show("\n".join(MESSAGE + line for line in f"{kind}{said}".splitlines()))

    def show(self, answer):
        """A text whose numbers are results."""
        self.texts.append(answer)


class Case(Teller, unittest.TestCase):
    """Tests that tell."""

    def told(self, kind, call=None, *arguments, **options):
        """Asserts that a call, or what stands in the context, raises an error or gives a warning of this kind, and
        tells it. Of warnings those are told that point at the test's file, as those of nysbench do."""
        if call is None:
            return self.caught(kind)
        with self.caught(kind):
            call(*arguments, **options)

    @contextlib.contextmanager
    def caught(self, kind):
        if issubclass(kind, Warning):
            with self.assertWarns(kind) as caught:
                yield caught
            own = [one.message for one in caught.warnings if Path(one.filename).resolve() == SCRIPT]
            self.assertTrue(own)
            for message in own:
                self.tell(message)
        else:
            with self.assertRaises(kind) as caught:
                yield caught
            self.tell(caught.exception)


def sections(act, name, *more, **options):
    """What tests/support/section.sh prints."""
    return subprocess.run(["sh", ROOT / "tests/support/section.sh", act, STORED, name, *more], check=True,
                          stdout=subprocess.PIPE, encoding="utf-8", **options).stdout


def filtered(texts):
    text = "".join(text + "\n" for text in texts)
    for pattern, name in PLACES:
        text = re.sub(pattern, name, text)
    found = subprocess.run(["sed", "-E", "-f", ROOT / "tests/support/told.sed"], input=text, check=True,
                           stdout=subprocess.PIPE, encoding="utf-8", errors="backslashreplace").stdout
    return found and re.sub(f"(?m)^{MESSAGE}", "", found) + "\n"


def difference(name, test):
    """How what a test, if it is a Teller, has told differs from what is stored, as a text; an empty one, where it does
    not."""
    now = filtered(getattr(test, "texts", []))
    if not now and not STORED.exists():
        return ""
    if not RENEW:
        found = "".join(difflib.unified_diff(sections("get", name).splitlines(True), now.splitlines(True),
                                             str(STORED.relative_to(ROOT)), "now"))
        return found and f"{found}if that is meant, tests/golden.sh --renew {SCRIPT.stem}, and commit what it writes"
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write(now)
        file.flush()
        sections("put", name, file.name)
    return ""


def left(names):
    """Sections of tests that there are no more, which GOLDEN=renew drops."""
    if not STORED.exists():
        return []
    if RENEW:
        sections("keep", "", input="\n".join(names) + "\n")
    return sorted(set(re.findall("(?m)^=== (.*)", STORED.read_text(encoding="utf-8"))) - set(names))
