# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/building.bats asks in Python: for_building.py FUNCTION ARGUMENT..."""
import sys


def check_count(screen):
    shown = open(screen, newline="").read()
    assert "\n" not in shown and shown.endswith("\r"), shown
    counts = shown.replace("\x1b[K", "").split("\r")[:-1]
    assert len(counts) > 300 and all(count.startswith("  cc ") for count in counts), counts[:3]
    assert any(count.endswith("  src/base/text.c") for count in counts), counts[:3]


globals()[sys.argv[1]](*sys.argv[2:])
