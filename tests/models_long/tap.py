# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that print TAP. Whoever imports this has put experiments/models into sys.path."""
import numpy as np

import effect

# Both sides round each of some thousand operations in a row to float32, and a last layer norm may enlarge what that
# leaves: 1e-5 in the root mean square is 160 roundings.
ROUNDING = 1e-5


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def check(self, good, name, detail=""):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}", flush=True)
        if not good:
            print(f"# {detail}", flush=True)

    def close(self, name, found, truth, most=ROUNDING, least=0.0):
        """The relative error is at most `most`, and at least `least`, where less would say that both are one thing."""
        error = effect.relative(found, truth) if np.shape(found) == np.shape(truth) else np.inf
        self.check(least <= error <= most, f"{name}: {error:.1e}", f"allowed: {least:.1e} to {most:.1e}")

    def finish(self):
        """The plan, as the last line; the exit status."""
        print(f"1..{self.count}")
        return self.failed > 0
