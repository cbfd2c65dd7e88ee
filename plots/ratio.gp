# SPDX-License-Identifier: GPL-3.0-or-later
# ratio.gp - the ratio of a measure to the baseline's, a panel a model: a curve with intervals for
# each method, a grey dot for each head where style.gp has dots = 1. All panels have the same axes. The curves are shifted
# a little, so that no bar covers another.
#
# A driver script sets data, output, title, x_name, y_name, level_text (what 1 means), bar_text and dot_text (what a bar
# and a dot are), panels[], series[], looks[] (the numbers of the colours: looks.gp), and what ticks.gp takes.
# Data, by numbers: 1 panel, 2 series, 3 whether of a head, 4 x, 5 ratio, 6 and 7 the ends of the
# interval, the ratio itself where there is none.

load "common.gp"
if (!exists("dots")) { dots = !paper } # a style.gp of an older version has none
y_beside = panel_height
narrow = 1
load "ticks.gp"
margin = 0.04 + room_aside

is(p, s, head) = $1 == p && $2 == s && $3 == head
hue(s) = colour(looks[s])
dots_of(p, s) = sprintf(', data using (is(%d, %d, 1) ? at($4, %d) : NaN):5 with points pointtype 7 pointsize %g linecolor rgb "#aaaaaa"', p, s, s, S > 4 ? 0.22 : 0.28)
# Bars are whole (1), cut below (2), above (3) or at both ends (4), where they have no cap.
cut_of(from, to) = 1 + (from < low) + 2 * (to > high)
array caps[4] = ["heads", "head", "backhead", "nohead"]
bars_of(p, s, k) = sprintf(', data using (is(%d, %d, 0) && $7 > $6 && cut_of($6, $7) == %d ? at($4, %d) : NaN):(from = $6 < low ? low : $6):(0):(($7 > high ? high : $7) - from) with vectors %s size screen %g, 90 linewidth %g linecolor rgb hue(%d)', \
    p, s, k, s, caps[k], (S > 4 ? 2.5 : 4.0) / width, S > 4 ? 1.2 : 1.6, s)
curve_style(s) = sprintf('with linespoints linewidth 1.4 dashtype %d %s linecolor rgb hue(%d)', dash(looks[s]), points(looks[s], 0.6), s)
curve_of(p, s) = sprintf(', data using (is(%d, %d, 0) ? at($4, %d) : NaN):5 ', p, s, s) . curve_style(s)

# What all panels reach: points and dots, and bars three times as far; longer ones are cut there.
note(y) = (low = y < low ? y : low, high = y > high ? y : high)
low = 1; high = 1
stats data using (dots || $3 == 0 ? note($5) : 0, 1) nooutput
bar_low = low; bar_high = high
stats data using (bar_low = $6 < bar_low ? $6 : bar_low, bar_high = $7 > bar_high ? $7 : bar_high, 1) nooutput
cut = bar_low < low / 3.0 || bar_high > 3.0 * high
low = bar_low < low / 3.0 ? low / 3.0 : bar_low; high = bar_high > 3.0 * high ? 3.0 * high : bar_high
t = (high / low) ** 0.04; t = t < 1.02 ? 1.02 : t
low = low / t; high = high * t

# The clauses of plot of each panel, and the ends of its curves.
array clauses_of[P]
array ends[P * S]; array there[P * S]; array last_of[S]
array curves_there[S]; array bars_there[4 * S]; array dots_there[S]
count(s, head, from, to) = head ? (dots_there[s] = 1) : (curves_there[s] = 1, to > from ? (bars_there[4 * (s - 1) + cut_of(from, to)] = 1) : 0)
do for [p = 1:P] {
    do for [s = 1:S] { curves_there[s] = 0; dots_there[s] = 0; last_of[s] = -1 }
    do for [i = 1:4 * S] { bars_there[i] = 0 }
    stats data using ($1 == p && (dots || $3 == 0) ? (count(int($2), $3 == 1, $6, $7), \
        $3 == 0 && $4 == values[M] ? (last_of[int($2)] = $5) : 0, 1) : 1) nooutput
    clauses = ""; curves = ""
    do for [s = 1:S] {
        if (dots_there[s]) { clauses = clauses . dots_of(p, s) }
        do for [k = 1:4] { if (bars_there[4 * (s - 1) + k]) { curves = curves . bars_of(p, s, k) } }
        curves = curves . (curves_there[s] ? curve_of(p, s) : "")
        there[(p - 1) * S + s] = curves_there[s]
        ends[(p - 1) * S + s] = M > 1 ? last_of[s] : -1
    }
    clauses_of[p] = clauses . ', 1 with lines linewidth 1.5 linecolor rgb "#000000"' . curves
}
do for [i = 1:P * S] { ends[i] = ends[i] > 0 ? plot_height * log(ends[i] / low) / log(high / low) : -1 }
load "direct.gp"

array texts[3] = [level_text, bar_text . (cut && titled ? "; long ones are cut" : ""), dot_text]
any_bars = 0; any_dots = 0
stats data using ($7 > $6 ? (any_bars = 1) : 0, $3 == 1 ? (any_dots = dots) : 0, 1) nooutput
widest = 24; entries = 1 + any_bars + any_dots
do for [s = 1:S] { if (shown[s] && direct == 0) { entries = entries + 1; widest = strlen(series[s]) > widest ? strlen(series[s]) : widest } }
do for [i = 1:3] { widest = strlen(texts[i]) > widest ? strlen(texts[i]) : widest }
load "page.gp"
do for [format in formats] {
    eval begin
    do for [p = 1:P] {
        load "panel.gp"
        if (log_x) { set logscale x 2 }
        t = log_x ? (real(values[M]) / values[1]) ** margin : margin * (values[M] - values[1])
        if (M < 2) { set xrange [0.5 * values[1]:1.5 * values[1]] } else {
            if (log_x) { set xrange [values[1] / t:values[M] * t] } else { set xrange [values[1] - t:values[M] + t] }
        }
        eval ticks_of_x
        eval scale_y
        if (decades > 2.5) { set ytics 10 ** ceil(decades / 7) } else {
            axis = "y"; from = low; to = high
            numbers = decades > 1.2 ? "1 2 5" : decades > 0.7 ? "1 1.5 2 3 5 7" : decades > 0.4 ? "1 1.2 1.5 2 2.5 3 4 5 6 8" : "1 1.1 1.2 1.3 1.4 1.6 1.8 2 2.5 3 3.5 4 5 6 7 8 9"
            load "numbers.gp"
        }
        clauses = clauses_of[p]
        eval "plot " . clauses[3:*]
        unset label
    }
    set label 1 wrap(x_name, floor(width / 7.5)) at screen 0.5, screen (legend - 7 + 15.0 * x_lines) / height center noenhanced font normal
    eval legend_of(legend - 8, 4, across)
    clauses = ""
    do for [s = 1:S] { clauses = direct > 0 || !shown[s] ? clauses : clauses . ', NaN ' . curve_style(s) . sprintf(' title fits(series[%d])', s) }
    clauses = clauses . ', NaN with lines linewidth 1.5 linecolor rgb "#000000" title fits(texts[1])'
    if (any_bars) { clauses = clauses . ', NaN with lines linewidth 1.6 linecolor rgb "#555555" title fits(texts[2])' }
    if (any_dots) { clauses = clauses . ', NaN with points pointtype 7 pointsize 0.4 linecolor rgb "#aaaaaa" title fits(texts[3])' }
    eval "plot " . clauses[3:*]
    eval end
}
