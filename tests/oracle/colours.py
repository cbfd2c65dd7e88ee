# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the colours of figures (plots/looks.gp) as they look to people who see two colours alone, and in grey.

usage: colours.py NYSBENCH WORK_FOLDER

Prints TAP. Distances are those of CIE L*a*b* (1976), in which 2.3 is just noticed; neighbouring lines want more, 12
here. Who lacks a kind of cones is simulated by Machado, Oliveira & Fernandes (A physiologically-based model for
simulation of color vision deficiency, IEEE TVCG 2009), table 1, severity 1, in linear RGB. Contrast is that of WCAG 2.
"""
import itertools
import re
import sys

import numpy as np

FIRST = 8  # so many curves are told apart by colour, point and dash
VISIONS = {
    "all cones": np.eye(3),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                            [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                              [-0.011820, 0.042940, 0.968881]]),
    "tritanopia": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                            [0.004733, 0.691367, 0.303900]]),
}
TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
                   [0.0193339, 0.1191920, 0.9503041]])
WHITE = np.array([0.95047, 1.0, 1.08883])  # D65


def linear(colour):
    c = np.array([int(colour[i:i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    x = TO_XYZ @ np.clip(rgb, 0, 1) / WHITE
    f = np.where(x > (6 / 29) ** 3, np.cbrt(x), x / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(a, b):
    low, high = sorted((TO_XYZ[1] @ linear(a), TO_XYZ[1] @ linear(b)))
    return (high + 0.05) / (low + 0.05)


def read(text, name):
    items = re.search(rf"^array {name}\[\d+\] = \[(.*)\]$", text, re.MULTILINE).group(1)
    return [item.strip(' "') for item in items.split(",")]


told = []


def tell(good, what):
    told.append(good)
    print(f"{'ok' if good else 'not ok'} {len(told)} - {what}")


with open("plots/looks.gp", encoding="utf-8") as script:
    looks = script.read()
colours, symbols, dashes = (read(looks, name) for name in ("colours", "symbols", "dashes"))
pairs = list(itertools.combinations(range(FIRST), 2))

for vision, matrix in VISIONS.items():
    seen = [lab(matrix @ linear(c)) for c in colours]
    least, i, j = min((np.linalg.norm(seen[i] - seen[j]), i, j) for i, j in pairs)
    tell(least >= 12, f"{vision}: the first {FIRST} are at least 12 apart: {colours[i]} and {colours[j]}, {least:.1f}")

# In grey two of the same dash differ in lightness.
grey = [lab(linear(c))[0] for c in colours]
alike = [(abs(grey[i] - grey[j]), i, j) for i, j in pairs if dashes[i % len(dashes)] == dashes[j % len(dashes)]]
least, i, j = min(alike)
tell(least >= 10, f"grey: of those with the same dash, {colours[i]} and {colours[j]} differ least: {least:.1f}")
tell(len(set(dashes)) == len(dashes) >= 4, f"{len(dashes)} dashes, all different")
tell(len(set(symbols[:FIRST])) == FIRST, f"{FIRST} points, all different")

for page in ("#ffffff", "#111111"):
    least, colour = min((contrast(c, page), c) for c in colours)
    tell(least >= 2, f"on {page} each colour has a contrast of 2: {colour}, {least:.2f}")
print(f"1..{len(told)}")
sys.exit(not all(told))
