# SPDX-License-Identifier: GPL-3.0-or-later
"""What checks have in common: each yields a line for whatever is wrong, and is a test of TAP."""
import sys


def run(checks):
    """Runs checks by their names, with what is wrong on standard error. Returns the exit status."""
    print(f"1..{len(checks)}")
    bad = False
    for number, (name, check) in enumerate(checks.items(), 1):
        offenders = list(check())
        print(f"{'not ok' if offenders else 'ok'} {number} - {name}")
        for offender in offenders:
            print(offender, file=sys.stderr)
        bad = bad or bool(offenders)
    return int(bad)
