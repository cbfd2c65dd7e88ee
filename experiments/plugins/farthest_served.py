# SPDX-License-Identifier: GPL-3.0-or-later
"""farthest.py as a function, for a process that makes all picks of a worker:
command(run="python3 -m nysbench.serve experiments/plugins/farthest_served.py", serve=true)."""
import numpy as np

import nysbench


@nysbench.strategy
def farthest(points, m, seed):
    """Each landmark is the token farthest from those before it (Gonzalez 1985), O(nmd)."""
    picks = [seed % len(points)]
    distance = np.full(len(points), np.inf)
    while len(picks) < m:
        distance = np.minimum(distance, ((points - points[picks[-1]]) ** 2).sum(axis=1))
        distance[picks] = -1
        picks.append(int(distance.argmax()))
    return picks
