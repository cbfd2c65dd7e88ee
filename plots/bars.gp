# SPDX-License-Identifier: GPL-3.0-or-later
# bars.gp - the parts of a pass as stacked bars that lie, a panel below the other.
#
# A driver script sets data, output, title, x_name, panels[], series[] (what stands left of a bar) and block[] (which
# block of the data is the bar of a panel and series, -1: there is none). Columns of the data: 1 part, 2 and 3 where it
# begins and ends, in %, 4 the milliseconds of the bar, which stand right of it.

load "looks.gp"

array parts[6] = ["landmarks", "core A, X", "keys B V", "queries F", "output", "rest"]
array hues[6] = [4, 2, 3, 1, 6, 7]

P = |panels|
S = |series|
B = 0
do for [i = 1:P * S] { B = B + (block[i] >= 0) }
array bars[B]; array notes[B]; array panel_of[B]; array place[B]; array most[P]; array block_of[B]
b = 0
do for [p = 1:P] {
    most[p] = 0
    do for [s = 1:S] { if (block[(p - 1) * S + s] >= 0) {
        b = b + 1; most[p] = most[p] + 1
        bars[b] = series[s]; panel_of[b] = p; place[b] = most[p]; block_of[b] = block[(p - 1) * S + s]
        stats data index block_of[b] using 4 nooutput name "MS"
        notes[b] = sprintf("%.3g ms", MS_max)
    } }
}
widest = 10; widest_note = 6
do for [b = 1:B] {
    widest = strlen(bars[b]) > widest ? strlen(bars[b]) : widest
    widest_note = strlen(notes[b]) > widest_note ? strlen(notes[b]) : widest_note
}
letters = paper && widest > 0.45 * room / 6.8 ? floor(0.45 * room / 6.8) : widest # of what stands left of a bar
left = 6.8 * letters + 16
right = 6.8 * widest_note + 16
across = paper ? room - left - right : 420
width = left + across + right
bar_height = paper ? 15 : 18
heading = titled ? 40 : 6
gap = 34
rows = 0
do for [p = 1:P] { rows = rows + most[p] }
foot = 84
height = heading + rows * bar_height + P * gap + foot
top_of(p) = (t = heading + p * gap, sum [i = 1:p - 1] (t = t + most[i] * bar_height, 0), t)

do for [format in formats] {
    eval begin
    set style fill solid 0.85 noborder
    if (titled) { set label 1 title at screen 0.5, screen 1 - 20.0 / height center noenhanced font large }
    do for [p = 1:P] {
        set lmargin at screen left / width
        set rmargin at screen (left + across) / width
        set tmargin at screen 1 - real(top_of(p)) / height
        set bmargin at screen 1 - real(top_of(p) + most[p] * bar_height) / height
        set title panels[p] offset 0, -0.7 noenhanced font small
        set border 1 linecolor rgb "#444444"
        set xrange [0:100]; set yrange [most[p] + 0.5:0.5]
        if (p == P) { set xtics nomirror 0, 20, 100 font small format "%g" } else { set xtics nomirror 0, 20, 100 format "" }
        set ytics () nomirror scale 0 font small noenhanced
        do for [b = 1:B] { if (panel_of[b] == p) {
            set ytics add (dots(bars[b], letters) place[b])
            set label 100 + b notes[b] at graph 1.01, first place[b] left noenhanced font small
        } }
        clauses = ""
        do for [b = 1:B] { if (panel_of[b] == p) { do for [k = 1:|parts|] {
            clauses = clauses . sprintf(', data index %d using ($1 == %d ? 0.5 * ($2 + $3) : NaN):(%d):2:3:(%d - 0.38):(%d + 0.38) with boxxyerror linecolor rgb colour(hues[%d])', block_of[b], k, place[b], place[b], place[b], k)
        } } }
        eval "plot " . clauses[3:*]
        do for [b = 1:B] { unset label 100 + b }
        unset label 1
    }
    set label 1 x_name at screen 0.5, screen (foot - 36.0) / height center noenhanced font normal
    eval legend_of(foot - 46, 1.5, 0)
    set key font normal
    clauses = ""
    do for [k = 1:|parts|] { clauses = clauses . sprintf(', NaN with boxes linecolor rgb colour(hues[%d]) title parts[%d]', k, k) }
    eval "plot " . clauses[3:*]
    eval end
}
