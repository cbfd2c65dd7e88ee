# SPDX-License-Identifier: GPL-3.0-or-later
"""words.py - picks the first tokens, if its words came as they were given."""
import os
import sys
import npy
assert sys.argv[1] == "$(touch pwned)`touch pwned`;touch" and sys.argv[2] == "pwned" and os.getcwd() == sys.argv[-1]
npy.save("picks.npy", "<i8", (3,), range(3))
