# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/texts.bats asks in Python: for_texts.py FUNCTION ARGUMENT..."""
import json
import sys


def check_clean(rows, *files):
    assert len(json.load(open(files[0], encoding="utf-8"))) == int(rows)
    for name in files:
        text = open(name, "rb").read().decode("utf-8")
        assert all(c in "\n\t" or (c >= " " and not "\x7f" <= c < "\xa0") for c in text), name


globals()[sys.argv[1]](*sys.argv[2:])
