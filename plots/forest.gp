# SPDX-License-Identifier: GPL-3.0-or-later
# forest.gp - a line a strategy, the best on top: ratios on a logarithmic axis, by problem
# and their mean.
#
# A driver script sets data, output, title, subtitle, x_name, level_text (what 1 means), heading_1 and heading_2 (of two
# columns of text on the right, "" where there are none), panels[], the first of which is all of them, and by line, from
# below: series[], oracle[] (1: its name is grey) and, with headings, gap[] and select[], the texts. Data, by numbers: 1 the panel, 2 the
# line, 3 the ratio, 4 that of the subspace part, 0 where there is none, 5 whether the baseline has the same
# pairing, 6 and 7 the ends of its interval, 0 where there is none; bar_text says what that is.

load "looks.gp"
P = |panels| - 1 # problems
L = |series|
array open_symbols[8] = [6, 4, 8, 12, 10, 2, 1, 3]
grey = P <= 8 ? "#808080" : "#bbbbbb"

# What is there.
subspace = 0; fixed = 1; low = 1; high = 1
see(x) = (low = x < low ? x : low, high = x > high ? x : high)
bars = 0
stats data using (see($3), $7 > $6 ? (bars = 1, see($6), see($7)) : 0, $4 > 0 ? (subspace = 1, see($4)) : 0, $5 == 0 ? (fixed = 0) : 0, $3) nooutput

widest = 10
do for [i = 1:L] { widest = strlen(series[i]) > widest ? strlen(series[i]) : widest }
letters = paper ? floor(0.38 * room / 7) : 64
widest = widest > letters ? letters : widest
left = 20 + 7.0 * widest
columns_of_text = strlen(heading_1) && !(paper && room < 600)
right = columns_of_text ? 190 : 30
width = paper ? room : left + right + 560
key_widest = 30
do for [p = 1:P] { key_widest = strlen(panels[p + 1]) > key_widest ? strlen(panels[p + 1]) : key_widest }
key_widest = strlen(level_text) > key_widest ? strlen(level_text) : key_widest
entries = (P <= 8 ? P : 1) + 2 + subspace + !fixed + bars
across = columns_of_legend(key_widest, entries)
legend = 14 + 19 * ceil(entries / real(across))
heading = titled ? 66 : columns_of_text ? 26 : 6; below = 52
height = heading + 21 * L + below + legend

edge = (high / low) ** 0.03; edge = edge < 1.01 ? 1.01 : edge
low = low / edge; high = high * edge

do for [format in formats] {
    eval begin
    set lmargin at screen left / width; set rmargin at screen 1 - real(right) / width
    set tmargin at screen 1 - real(heading) / height; set bmargin at screen real(below + legend) / height
    set border 1 linecolor rgb "#444444"
    set logscale x; set xrange [low:high]; set yrange [0.4:L + 0.6]
    unset ytics
    set xtics nomirror font small
    decades = log10(high / low)
    dense = decades * 560 / (width - left - right) # as on a screen
    numbers = decades > 3 ? "1" : dense > 1.2 ? "1 2 5" : dense > 0.5 ? "1 1.5 2 3 4 5 6 8" : dense > 0.2 ? "1 1.1 1.2 1.3 1.4 1.5 1.7 2 2.5 3 4 5 6 7 8 9" \
        : "1 1.05 1.1 1.15 1.2 1.3 1.4 1.5 1.6 1.8 2 2.2 2.5 2.7 3 3.5 4 4.5 5 5.5 6 6.5 7 7.5 8 8.5 9 9.5"
    axis = "x"; from = low; to = high
    load "numbers.gp"
    set format x "%g"
    set grid xtics linecolor rgb "#dddddd" linetype 1 linewidth 0.5
    set xlabel x_name offset 0, 0.4 font normal noenhanced
    if (titled) { set label 1 dots(title, int(width / 8.2)) at screen 0.5, screen 1 - 20.0 / height center noenhanced font large }
    if (titled) { set label 2 dots(subtitle, int(width / 6.2)) at screen 0.5, screen 1 - 40.0 / height center noenhanced font small textcolor rgb "#444444" }
    if (columns_of_text) { set label 3 heading_1 at screen 1 - 90.0 / width, screen 1 - (heading - 4.0) / height right noenhanced font small }
    if (columns_of_text) { set label 4 heading_2 at screen 1 - 14.0 / width, screen 1 - (heading - 4.0) / height right noenhanced font small }
    do for [i = 1:L] {
        set label 100 + i dots(series[i], letters) at graph -0.01, first i right noenhanced font normal textcolor rgb (oracle[i] ? "#777777" : "#000000")
        if (columns_of_text) { set label 1000 + i gap[i] at screen 1 - 90.0 / width, first i right noenhanced font normal }
        if (columns_of_text) { set label 2000 + i select[i] at screen 1 - 14.0 / width, first i right noenhanced font normal }
        set arrow i from graph 0, first i to graph 1, first i nohead linewidth 0.5 linecolor rgb "#eeeeee" back
    }
    set arrow L + 1 from 1, graph 0 to 1, graph 1 nohead linecolor rgb "#444444" back
    clauses = ""; keys = ""
    do for [p = 1:P] {
        look = sprintf("with points pointtype %d pointsize %g linewidth 1.2 linecolor rgb grey", P <= 8 ? open_symbols[p] : 7, P <= 8 ? 0.7 : 0.35)
        clauses = clauses . sprintf(", data using ($1 == %d ? $3 : NaN):2 ", p + 1) . look
        if (P <= 8 || p == 1) { keys = keys . ", NaN " . look . (P <= 8 ? sprintf(" title fits(panels[%d])", p + 1) : ' title "one problem"') }
    }
    look = 'with points pointtype 9 pointsize 0.9 linecolor rgb colour(2)'
    if (subspace) { clauses = clauses . ', data using ($4 > 0 ? $4 : NaN):2 ' . look; keys = keys . ', NaN ' . look . ' title "subspace part, mean over all"' }
    if (bars) {
        look = 'linewidth 1.6 linecolor rgb colour(1)'
        clauses = clauses . sprintf(', data using ($1 == 1 && $7 > $6 ? $6 : NaN):2:($7 - $6):(0) with vectors heads size screen %g, 90 ', 4.0 / width) . look
        keys = keys . ', NaN with lines ' . look . ' title fits(bar_text)'
    }
    look = 'with points pointtype 7 pointsize 1.1 linecolor rgb colour(1)'
    clauses = clauses . ', data using ($1 == 1 && $5 == 1 ? $3 : NaN):2 ' . look
    keys = keys . ', NaN ' . look . ' title "' . (subspace ? "error, " : "") . 'mean over all"'
    look = 'with points pointtype 6 pointsize 1.1 linewidth 2 linecolor rgb colour(1)'
    if (!fixed) { clauses = clauses . ', data using ($1 == 1 && $5 == 0 ? $3 : NaN):2 ' . look; keys = keys . ', NaN ' . look . ' title "' . fits("the same, over a baseline of another pairing") . '"' }
    keys = keys . ', NaN with lines linewidth 1.2 linecolor rgb "#444444" title fits(level_text)'
    eval "plot " . clauses[3:*]
    unset label; unset arrow; unset xlabel
    eval legend_of(legend, 1, across)
    eval "plot " . keys[3:*]
    eval end
    set tics
}
