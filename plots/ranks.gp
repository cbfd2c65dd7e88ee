# SPDX-License-Identifier: GPL-3.0-or-later
# ranks.gp - critical-difference diagrams: methods on an axis of mean ranks, bars over those that differ
# by no more than the critical difference, a panel a number of landmarks.
#
# A driver script sets data, output, title, subtitle, bar_text (what bars mean; '': there are none), panels[], series[]
# (the methods), looks[] (the numbers of their colours: looks.gp) and block[] (which block of the data a method is in a panel, -1: it is not there). Columns of the
# data: 1 rank, 2 level from the top, 3 side (0 left), 4 and 5 the end of the bar that begins there and its layer (-1:
# there is none); of the panel: 6 how many methods, 7 the critical difference (0: no test), 8 layers of bars.

load "looks.gp"
if (bar_text ne "") { subtitle = subtitle . " | " . bar_text }
P = |panels|; S = |series|
of(p, s) = block[(p - 1) * S + s]
array ranked[P]; array difference[P]; array layers[P]
do for [p = 1:P] { do for [s = 1:S] { if (of(p, s) >= 0) {
    stats data index of(p, s) using (methods = $6, critical = $7, deep = $8, 1) nooutput
    ranked[p] = methods; difference[p] = critical; layers[p] = deep
} } }

# In pixels, down from the top of a panel: its title, the ruler, the axis, bars, names.
longest = paper && room < 600 ? 14 : 32
widest = 8
do for [s = 1:S] { widest = strlen(series[s]) > widest ? strlen(series[s]) : widest }
widest = widest > longest ? longest : widest
side = (paper ? 40 : 30) + 6.9 * widest
axis_width = paper && 2 * side + 320 > room ? room - 2 * side : 320
panel_width = 2 * side + axis_width
most = 0; layer_most = 0
do for [p = 1:P] {
    most = ranked[p] > most ? ranked[p] : most
    layer_most = layers[p] > layer_most ? layers[p] : layer_most
}
tests = 0
do for [p = 1:P] { tests = tests + (difference[p] > 0) }
ruler = 40; axis = tests ? 78 : 52; bars = axis + 14; bar_step = 9
names_top = bars + bar_step * layer_most + 10; name_step = 18
panel_height = names_top + name_step * ((most + 1) / 2) + 16
columns = P == 1 || panel_width > 760 || (paper && 2 * panel_width > room) ? 1 : 2
rows = (P + columns - 1) / columns
narrow = 6.4 * strlen(subtitle) + 40
width = columns * panel_width + 20; width = paper ? room : width < narrow ? narrow : width
left_space = 0.5 * (width - columns * panel_width)
heading = titled ? 62 : 4
height = heading + rows * panel_height

at(p, rank) = side + axis_width * (rank - 1.0) / (ranked[p] - 1)
level(n) = -(names_top + name_step * (n + 0.5))
edge(right) = right > 0 ? panel_width - side + 14 : side - 14
nearer(right) = right > 0 ? 6 : -6

do for [format in formats] {
    eval begin
    unset border; unset tics
    if (titled) { set label 1 dots(title, int(width / 8.2)) at screen 0.5, screen 1 - 20.0 / height center noenhanced font large }
    if (titled) { set label 2 subtitle at screen 0.5, screen 1 - 42.0 / height center noenhanced font small textcolor rgb "#444444" }
    do for [p = 1:P] {
        column_of = (p - 1) % columns
        row_of = (p - 1) / columns
        set lmargin at screen (left_space + column_of * panel_width) / width
        set rmargin at screen (left_space + (column_of + 1) * panel_width) / width
        set tmargin at screen 1 - real(heading + row_of * panel_height) / height
        set bmargin at screen 1 - real(heading + (row_of + 1) * panel_height) / height
        set xrange [0:panel_width]; set yrange [-panel_height:0]
        set label 3 panels[p] at 0.5 * panel_width, -14 center noenhanced font normal
        set arrow 1 from at(p, 1), -axis to at(p, ranked[p]), -axis nohead linewidth 1.2 linecolor rgb "#444444"
        unit = ceil(ranked[p] / 12.0)
        do for [r = 1:ranked[p]] { if ((r - 1) % unit == 0 || r == ranked[p]) {
            set arrow 10 + r from at(p, r), -axis to at(p, r), -axis + 5 nohead linewidth 1.2 linecolor rgb "#444444"
            set label 10 + r sprintf("%d", r) at at(p, r), -axis + 13 center font small
        } }
        if (difference[p] > 0 && difference[p] <= ranked[p] - 1) {
            set arrow 2 from at(p, 1), -ruler to at(p, 1 + difference[p]), -ruler heads size 4, 90 linewidth 1.2
        }
        if (difference[p] > 0) {
            set label 4 sprintf("critical difference %.2f", difference[p]) at (difference[p] <= ranked[p] - 1 ? at(p, 1 + difference[p]) + 8 : at(p, 1)), -ruler left font small
        }
        bars_of = ""; names_of = ""
        do for [s = 1:S] { if (of(p, s) >= 0) {
            from = sprintf(', data index %d using ', of(p, s))
            names_of = names_of . from . '(at(p, $1)):(-axis):(0):(level($2) + axis) with vectors nohead linewidth 1.2 linecolor rgb "#888888"' \
                . from . '(at(p, $1)):(level($2)):(edge($3) - at(p, $1)):(0) with vectors nohead linewidth 1.2 linecolor rgb "#888888"' \
                . from . sprintf('(at(p, $1)):(-axis) with points pointtype symbol(looks[%d]) pointsize 0.8 linecolor rgb colour(looks[%d])', s, s)
            stats data index of(p, s) using (y = $2, right = $3, layer = $5, 0) nooutput
            if (layer >= 0) {
                bars_of = bars_of . from . '(at(p, $1) - 4):(-bars - bar_step * $5):(at(p, $4) - at(p, $1) + 8):(0) with vectors nohead linewidth 4 linecolor rgb "#333333"'
            }
            if (right) { set label 1000 + s dots(series[s], longest) at edge(1) + nearer(1), level(y) left noenhanced font normal }
            else { set label 1000 + s dots(series[s], longest) at edge(0) + nearer(0), level(y) right noenhanced font normal }
        } }
        clauses = bars_of . names_of
        eval "plot " . clauses[3:*]
        unset label; unset arrow
    }
    eval end
}
