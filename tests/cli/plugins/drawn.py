# SPDX-License-Identifier: GPL-3.0-or-later
"""drawn.py - tokens drawn for every pairing."""
def drawn(points, queries, keys, m, rng):
    one, two = (rng.permutation(len(keys if points is None else points))[:m] for _ in range(2))
    return (one, two) if points is None else one
