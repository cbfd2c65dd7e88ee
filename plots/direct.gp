# SPDX-License-Identifier: GPL-3.0-or-later
# direct.gp - labels beside the ends of curves, where they fit in all panels and all curves end at the right edge; else,
# and for all else, there is the legend.
#
# Before it is loaded: series[], there[] of panel after panel (whether the curve is drawn there), ends[] likewise
# (heights of the ends above the bottom of the panel, in units; -1 where a curve does not end at the right edge),
# plot_height (of a panel, in units). Afterwards: direct, the units that the labels take on the right (0: there are none,
# and the legend has all names), ends[] of the labels, which are moved up and down by at most `furthest`, so that they do
# not touch, and shown[], whether a curve is drawn in any panel.

label_height = 13
furthest = 14
direct = 0
t = 0; early = 0
array shown[S]
do for [s = 1:S] {
    shown[s] = 0
    do for [p = 1:P] { if (there[(p - 1) * S + s]) { shown[s] = 1; early = early || ends[(p - 1) * S + s] < 0 } }
    if (shown[s]) { t = t + 1; direct = strlen(series[s]) > direct ? strlen(series[s]) : direct }
}
direct = 6.4 * direct + 8
direct = t < 1 || t > 6 || early || direct > 0.34 * panel_width ? 0 : direct
array were[S]
do for [p = 1:P] { if (direct > 0) {
    first = (p - 1) * S
    do for [s = 1:S] { were[s] = ends[first + s] }
    do for [pass = 1:40] { do for [a = 1:S] { do for [b = 1:S] {
        if (a != b && ends[first + a] >= 0 && ends[first + b] >= 0) {
            t = ends[first + a] - ends[first + b]
            if (t >= 0 && t < label_height && (t > 0 || a < b)) {
                t = 0.5 * (label_height + 0.05 - t)
                ends[first + a] = ends[first + a] + t
                ends[first + b] = ends[first + b] > t ? ends[first + b] - t : 0
            }
        }
    } } }
    do for [a = 1:S] { if (ends[first + a] >= 0) {
        if (abs(ends[first + a] - were[a]) > furthest || ends[first + a] > plot_height) { direct = 0 }
        do for [b = 1:S] { if (a != b && ends[first + b] >= 0 && abs(ends[first + a] - ends[first + b]) < label_height - 0.5) { direct = 0 } }
    } }
} }
