# SPDX-License-Identifier: GPL-3.0-or-later
"""Farthest-point sampling for command(run="python3 experiments/plugins/farthest.py"):
each landmark is the token farthest from those before it (Gonzalez 1985), O(nmd)."""
import json
import sys

import numpy as np

folder = sys.argv[-1]
request = json.load(open(folder + "/request.json"))
points = np.load(folder + "/points.npy")
picks = [request["seed"] % len(points)]
distance = np.full(len(points), np.inf)
while len(picks) < request["m"]:
    distance = np.minimum(distance, ((points - points[picks[-1]]) ** 2).sum(axis=1))
    distance[picks] = -1
    picks.append(int(distance.argmax()))
np.save(folder + "/picks.npy", np.array(picks))
