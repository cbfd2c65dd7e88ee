# SPDX-License-Identifier: GPL-3.0-or-later
# numbers.gp - ticks of a logarithmic axis at given numbers and their multiples by powers of ten; at even steps where
# fewer than two of these are on it.
#
# Before it is loaded: axis, "x" or "y", and its ends, from and to; beyond, how many times farther a tick may be (not
# set: 1); numbers, from 1 on.

if (!exists("beyond")) { beyond = 1 }
found = 0
add = "set " . axis . "tics add (t)"
eval "set " . axis . "tics ()"
do for [e = floor(log10(from)):ceil(log10(to))] { do for [f in numbers] {
    t = real(f) * 10.0 ** e
    if (t >= from / beyond && t <= to * beyond) { eval add; found = found + 1 }
} }
if (found < 2) { unit = step_of(from, to); do for [e = ceil(from / unit):floor(to / unit)] { t = e * unit; eval add } }
beyond = 1
