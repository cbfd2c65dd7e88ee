# SPDX-License-Identifier: GPL-3.0-or-later
# ratio.gp - the ratio of a measure to the baseline's, a panel a model: a curve with intervals for
# each method, a grey dot for each head. The curves are shifted a little, so that no bar covers another.
#
# A driver script sets data, output, title, x_name, y_name, baseline (its name), panels[], series[] and
# looks[] (the numbers of the colours: looks.gp).
# Data, by numbers: 1 panel, 2 series, 3 whether of a head, 4 x, 5 ratio, 6 and 7 the ends of the
# interval, the ratio itself where there is none.

load "common.gp"
y_beside = panel_height
stats data using (learn($4), 1) nooutput
narrow = 1
load "ticks.gp"

# Shares of the axis: the least distance of two values of x, and by how much series s is shifted.
gap = M < 2 ? 1 : log_x ? logarithmic : linear
step = S < 2 ? 0 : 0.6 * gap / S
step = step > 0.02 && M > 1 ? 0.02 : step
shift(s) = (s - 0.5 * (S + 1)) * step
at(x, s) = M < 2 ? x * (1 + shift(s)) : log_x ? x * (real(landmarks[M]) / landmarks[1]) ** shift(s) : x + shift(s) * (landmarks[M] - landmarks[1])
margin = 0.04 + 0.5 * S * step

is(p, s, head) = $1 == p && $2 == s && $3 == head
hue(s) = colour(looks[s])
dots_of(p, s) = sprintf(', data using (is(%d, %d, 1) ? at($4, %d) : NaN):5 with points pointtype 7 pointsize %g linecolor rgb "#aaaaaa"', p, s, s, S > 4 ? 0.22 : 0.28)
bars_of(p, s) = sprintf(', data using (is(%d, %d, 0) && $7 > $6 ? at($4, %d) : NaN):6:(0):($7 - $6) with vectors heads size screen %g, 90 linewidth %g linecolor rgb hue(%d)', p, s, s, (S > 4 ? 2.5 : 4.0) / width, S > 4 ? 1.2 : 1.6, s)
curve_style(s) = sprintf('with linespoints linewidth 1.4 dashtype %d pointtype symbol(looks[%d]) pointsize 0.6 linecolor rgb hue(%d)', dash(looks[s]), s, s)
curve_of(p, s) = sprintf(', data using (is(%d, %d, 0) ? at($4, %d) : NaN):5 ', p, s, s) . curve_style(s)

# What each panel reaches, its clauses of plot, and the ends of its curves.
array lows[P]; array highs[P]; array clauses_of[P]
array ends[P * S]; array there[P * S]; array last_of[S]
array curves_there[S]; array bars_there[S]; array dots_there[S]
note(y) = (low = y < low ? y : low, high = y > high ? y : high)
count(s, head, bar) = head ? (dots_there[s] = 1) : bar ? (curves_there[s] = 1, bars_there[s] = 1) : (curves_there[s] = 1)
do for [p = 1:P] {
    low = 1; high = 1
    do for [s = 1:S] { curves_there[s] = 0; bars_there[s] = 0; dots_there[s] = 0; last_of[s] = -1 }
    stats data using ($1 == p ? (note($5), note($6), note($7), count(int($2), $3 == 1, $7 > $6), \
        $3 == 0 && $4 == landmarks[M] ? (last_of[int($2)] = $5) : 0, 1) : 1) nooutput
    t = (high / low) ** 0.04; t = t < 1.02 ? 1.02 : t
    low = low / t; high = high * t
    clauses = ""; curves = ""
    do for [s = 1:S] {
        if (dots_there[s]) { clauses = clauses . dots_of(p, s) }
        curves = curves . (bars_there[s] ? bars_of(p, s) : "") . (curves_there[s] ? curve_of(p, s) : "")
        there[(p - 1) * S + s] = curves_there[s]
        ends[(p - 1) * S + s] = last_of[s] > 0 && M > 1 ? plot_height * log(last_of[s] / low) / log(high / low) : -1
    }
    lows[p] = low; highs[p] = high
    clauses_of[p] = clauses . ', 1 with lines linewidth 1.5 linecolor rgb "#000000"' . curves
}
load "direct.gp"

array texts[3] = [sprintf("1: %s", baseline), paper ? "95 % interval, sources and trials" : "95 % t interval over sources and trials", "a head, geometric mean over trials"]
any_bars = 0
stats data using ($7 > $6 ? (any_bars = 1, 1) : 1) nooutput
widest = 24; entries = 2 + any_bars
do for [s = 1:S] { if (shown[s] && direct == 0) { entries = entries + 1; widest = strlen(series[s]) > widest ? strlen(series[s]) : widest } }
do for [i = 1:3] { widest = strlen(texts[i]) > widest ? strlen(texts[i]) : widest }
load "page.gp"
do for [format in formats] {
    eval begin
    do for [p = 1:P] {
        load "panel.gp"
        low = lows[p]; high = highs[p]
        if (log_x) { set logscale x 2 }
        t = log_x ? (real(landmarks[M]) / landmarks[1]) ** margin : margin * (landmarks[M] - landmarks[1])
        if (M < 2) { set xrange [0.5 * landmarks[1]:1.5 * landmarks[1]] } else {
            if (log_x) { set xrange [landmarks[1] / t:landmarks[M] * t] } else { set xrange [landmarks[1] - t:landmarks[M] + t] }
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
    clauses = clauses . ', NaN with points pointtype 7 pointsize 0.4 linecolor rgb "#aaaaaa" title fits(texts[3])'
    eval "plot " . clauses[3:*]
    eval end
}
