# SPDX-License-Identifier: GPL-3.0-or-later
# curves.gp - curves, marks, levels and clouds over any x, a panel a problem.
#
# A driver script sets data, output, title, panels[], series[], styles[] (curve with bars, dashed: such one; line, faint:
# black, without points or bars; mark: points; level: a height all across; cloud; grey: one behind all; ring: around points; shadow: dashed in the
# colour of another; upright: a line at x), looks[] (the numbers of the colours: looks.gp), block[] (which block of the
# data a panel and series has, -1: none), x_name, y_name, and any of
#   x_scale      the logarithm's base; 0, or not set: linear
#   level_text   what a line at y = 1 means
#   columns_wanted   of panels
#   shadow       what that style means
#   upright      what a line at x = 1 means
#   bar_text     what bars mean; '', or not set: there are none
#   powers       1: thin lines of slope 1 and 2
#   end_text     lines go on as m grows and not to the right, so that their ends at the largest m are large, as it says
# and what ticks.gp takes, where x has its numbers at its values; where there is one value, curves stand side by side.
# Columns of the data: 1 count, 2 x, 3 y, 4 and 5 the ends of the bar.

do for [name in "x_scale columns_wanted powers"] {
    if (!exists(name)) { eval name . " = 0" }
}
do for [name in "level_text shadow upright bar_text end_text"] { if (!exists(name)) { eval name . " = ''" } }
ticks = exists("values")
load "common.gp"
y_beside = y_span

if (columns_wanted > 0 && !paper) {
    columns = columns_wanted
    rows = (P + columns - 1) / columns
    panel_width = columns == 1 ? 660 : columns == 2 ? 450 : 345
    width = left_space + columns * panel_width + 10
    letters_of_panel = floor((panel_width - 20) / 6.6)
}
of(p, s) = block[(p - 1) * S + s]
array present[S]
do for [s = 1:S] { seen = 0; do for [p = 1:P] { seen = seen + (of(p, s) >= 0) }; present[s] = seen }

stats data using 2 nooutput name "ALL"
size_of_clouds = ALL_records < 400 ? 0.9 : 0.35
curve(s) = styles[s] eq "curve" || styles[s] eq "dashed"
black(s) = styles[s] eq "line" || styles[s] eq "faint"

# What each panel reaches, and all of them across.
array y_low[P]; array y_high[P]
x_low = 0; x_high = 0; any_bars = 0
see_x(x) = x > 0 ? (x_low = x_low > 0 && x_low < x ? x_low : x, x_high = x > x_high ? x : x_high) : 0
see_y(y) = y > 0 ? (low = low > 0 && low < y ? low : y, high = y > high ? y : high) : 0
do for [p = 1:P] {
    low = 0; high = 0
    do for [s = 1:S] { if (of(p, s) >= 0) {
        stats data index of(p, s) using (styles[s] eq "level" ? 0 : see_x($2), styles[s] eq "upright" ? 0 : see_y($3), curve(s) ? (see_y($4), see_y($5), any_bars = any_bars || $5 > $4) : 0, 1) nooutput
    } }
    y_low[p] = low; y_high[p] = high
}
if (!(x_high > 0)) { x_low = 1; x_high = 1 }
if (ticks) {
    narrow = paper && columns > 1 ? 2 : 1
    load "ticks.gp"
    x_scale = M > 1 && log_x ? 2 : 0
}
alone = ticks && M < 2
if (alone) { x_low = 0.5 * values[1]; x_high = 1.5 * values[1] }
margin = 0.03
if (ticks && !alone) { margin = margin + room_aside }
x_of(s) = ticks ? sprintf("at($2, %d)", s) : "$2"
hue(s) = styles[s] eq "faint" ? "#777777" : styles[s] eq "grey" ? "#b0b0b0" : colour(looks[s])
at_right(x) = x_scale > 0 ? log(x_high / x) <= 0.02 * log(x_high / x_low) : x_high - x <= 0.02 * (x_high - x_low)
if (upright ne "") { x_low = x_low < 1 ? x_low : 1; x_high = x_high > 1 ? x_high : 1 }
array last[P * S] # which point of a curve is its end, from 0; 0: it has no other
ends_shown = 0
do for [p = 1:P] { do for [s = 1:S] {
    last[(p - 1) * S + s] = 0
    if (end_text ne "" && curve(s) && of(p, s) >= 0) { stats data index of(p, s) using 2 nooutput; last[(p - 1) * S + s] = STATS_records - 1 }
    ends_shown = ends_shown + (last[(p - 1) * S + s] > 0)
} }
end_style = "pointsize 1.2"
end_of(p, s) = last[(p - 1) * S + s] < 1 ? '' : sprintf(', data index %d every ::%d::%d using 2:3 with points pointtype symbol(looks[%d]) %s linecolor rgb hue(%d)', of(p, s), last[(p - 1) * S + s], last[(p - 1) * S + s], s, end_style, s)
power(k) = sprintf(', low * (high / low) ** 0.12 * (x / x_low) ** %d with lines linewidth 0.7 dashtype %d linecolor rgb "#888888"', k, k + 1)
dash_of_level(s) = looks[s] < 1 ? 3 : 2
line_style(s) = sprintf('linewidth 2 dashtype %d linecolor rgb hue(%d)', styles[s] eq "line" ? 2 : 3, s)
style_text(s) = curve(s) ? sprintf('with linespoints linewidth 1.8 dashtype %d %s linecolor rgb hue(%d)', styles[s] eq "dashed" ? 2 : dash(looks[s]), points(looks[s], 0.5), s) \
              : styles[s] eq "mark" ? sprintf('with points linewidth 2.4 pointtype %d pointsize 1.8 linecolor rgb hue(%d)', open_of(symbol(looks[s])), s) \
              : black(s) ? 'with lines ' . line_style(s) \
              : styles[s] eq "level" ? sprintf('with lines linewidth 1.8 dashtype %d linecolor rgb hue(%d)', dash_of_level(s), s) \
              : styles[s] eq "ring" ? sprintf('with points linewidth 1 pointtype 6 pointsize 1.6 linecolor rgb hue(%d)', s) \
              : styles[s] eq "upright" ? sprintf('with lines linewidth 1.8 dashtype dash(looks[%d]) linecolor rgb hue(%d)', s, s) \
              : styles[s] eq "shadow" ? sprintf('with lines linewidth 1.8 dashtype 2 linecolor rgb hue(%d)', s) \
              : styles[s] eq "grey" ? sprintf('with points pointtype 7 pointsize %g linecolor rgb hue(%d)', 0.6 * size_of_clouds, s) \
              : sprintf('with points pointtype symbol(looks[%d]) pointsize %g linecolor rgb hue(%d)', s, size_of_clouds, s)
clause(p, s) = styles[s] eq "level" ? sprintf(', data index %d using (x_low):3:(x_high - x_low):(0) with vectors nohead linewidth 1.8 dashtype %d linecolor rgb hue(%d)', of(p, s), dash_of_level(s), s) \
             : styles[s] eq "upright" ? sprintf(', data index %d using 2:(low):(0):(high - low) with vectors nohead linewidth 1.8 dashtype dash(looks[%d]) linecolor rgb hue(%d)', of(p, s), s, s) \
             : black(s) && alone ? sprintf(', data index %d using (x_low):3:(x_high - x_low):(0) with vectors nohead %s', of(p, s), line_style(s)) \
             : sprintf(', data index %d using (%s):3 ', of(p, s), x_of(s)) . style_text(s)
bars(p, s) = !curve(s) ? '' : sprintf(', data index %d using (%s):4:(0):($5 - $4) with vectors nohead linewidth 0.8 linecolor rgb hue(%d)', of(p, s), x_of(s), s)

# What panels reach, and the ends of their curves.
array ends[P * S]; array there[P * S]
do for [p = 1:P] { do for [s = 1:S] { there[(p - 1) * S + s] = y_high[p] > 0 && (curve(s) || black(s)) && of(p, s) >= 0 } }
do for [p = 1:P] { if (y_high[p] > 0) {
    low = y_low[p]; high = y_high[p]
    if (level_text ne "") { low = low < 1 ? low : 1; high = high > 1 ? high : 1 }
    t = (high / low) ** 0.04; t = t < 1.02 ? 1.02 : t
    y_low[p] = low / t; y_high[p] = high * t
    do for [s = 1:S] {
        t = -1
        if (there[(p - 1) * S + s]) { stats data index of(p, s) using (at_right($2) ? (t = $3) : 0, 1) nooutput }
        ends[(p - 1) * S + s] = t > 0 ? plot_height * log(t / y_low[p]) / log(y_high[p] / y_low[p]) : -1
    }
} else { do for [s = 1:S] { ends[(p - 1) * S + s] = -1 } } }
load "direct.gp"
# What x reaches becomes wide enough for two ticks, also where there is one x; names would then be far from the ends.
least = x_low <= 0 ? 0 : x_scale == 10 && (x_low <= 2e-4 || x_high >= 5e3) ? 100 : x_low < x_high ? 1.02 : 4
if (alone) { direct = 0 }
if (!alone && x_high < least * x_low) { if (least > 2) { direct = 0 }; t = sqrt(least * x_low / x_high); x_low = x_low / t; x_high = x_high * t }
named(s) = direct > 0 && (curve(s) || black(s))

widest = 24; entries = powers > 0 ? 2 : 0
enter(text) = text eq "" ? 0 : (entries = entries + 1, widest = strlen(text) > widest ? strlen(text) : widest)
curves_there = bar_text eq "" || !any_bars ? 0 : sum [s = 1:S] (curve(s) && present[s])
t = enter(curves_there > 0 ? bar_text : "") + enter(ends_shown > 0 ? end_text : "")
t = enter(shadow) + enter(level_text) + enter(upright)
do for [s = 1:S] {
    present[s] = styles[s] eq "shadow" ? 0 : present[s]
    t = enter(present[s] && !named(s) ? series[s] : "")
}
load "page.gp"

do for [format in formats] {
    eval begin
    do for [p = 1:P] {
        load "panel.gp"
        low = y_low[p]; high = y_high[p]; drawn = ""; under = ""
        do for [s = 1:S] { if (of(p, s) >= 0) { drawn = drawn . clause(p, s) . end_of(p, s); under = under . bars(p, s) } }
        if (x_scale > 0) { set logscale x x_scale; set format x x_scale == 10 ? "1e%T" : "%g"; set xrange [x_low / (x_high / x_low) ** margin:x_high * (x_high / x_low) ** margin] } else {
            set format x "%g"; set xrange [x_low - margin * (x_high - x_low):x_high + margin * (x_high - x_low)]
        }
        if (ticks) {
            eval ticks_of_x
        } else { if (x_scale == 10) { set xtics 10 ** ceil(log10(x_high / x_low) / 6 + 1e-9) } else { set xtics autofreq } }
        if (upright ne "") { set arrow 1 from first 1, graph 0 to first 1, graph 1 nohead linewidth 1.5 linecolor rgb "#000000" }
        if (x_scale == 10 && x_high / x_low < 5000) {
            plain = x_low > 1e-4 && x_high < 1e4
            if (plain) { set format x "%g" }
            axis = "x"; from = x_low; to = x_high; beyond = (x_high / x_low) ** margin
            numbers = plain && x_high / x_low < 8 && panel_width - 60 - direct > 180 ? "1 1.5 2 3 5 7" : plain && 90 * log10(x_high / x_low) < panel_width - 60 - direct && x_high / x_low < 1000 ? "1 2 5" : "1"
            load "numbers.gp"
        }
        if (high > 0) {
            eval scale_y
            if (decades > 2.5 || plot_height < 50 * decades) { set ytics 10 ** ceil(decades / 7) } else {
                axis = "y"; from = low; to = high
                numbers = decades > 0.9 ? "1 2 5" : "1 1.2 1.4 1.6 1.8 2 2.5 3 4 5 6 7 8 9"
                load "numbers.gp"
            }
            if (powers > 0) { under = under . power(1) . power(2) }
            clauses = under . (level_text ne "" ? ', 1 with lines linewidth 1.5 linecolor rgb "#000000"' : "") . drawn
            eval "plot " . clauses[3:*]
        } else {
            unset ytics; unset grid; unset logscale; unset arrow; set xrange [0:1]; set yrange [0:1]
            set label 4 "no data" at graph 0.5, graph 0.5 center textcolor rgb "#777777"
            plot 2 notitle
        }
        unset label
    }
    set label 1 wrap(x_name, floor(width / 7.5)) at screen 0.5, screen (legend - 7 + 15.0 * x_lines) / height center noenhanced font normal
    eval legend_of(legend - 8, 4, across)
    clauses = ""
    do for [s = 1:S] { if (present[s] && !named(s)) { clauses = clauses . ', NaN ' . style_text(s) . sprintf(' title fits(series[%d])', s) } }
    if (shadow ne "") { clauses = clauses . ', NaN with lines linewidth 1.8 dashtype 2 linecolor rgb "#555555" title fits(shadow)' }
    if (ends_shown > 0) { clauses = clauses . ', NaN with points pointtype 7 ' . end_style . ' linecolor rgb "#555555" title fits(end_text)' }
    if (powers > 0) { do for [k = 1:2] { clauses = clauses . sprintf(', NaN with lines linewidth 0.7 dashtype %d linecolor rgb "#888888" title "slope %d"', k + 1, k) } }
    if (level_text ne "") { clauses = clauses . ', NaN with lines linewidth 1.5 linecolor rgb "#000000" title fits(level_text)' }
    if (upright ne "") { clauses = clauses . ', NaN with lines linewidth 1.5 linecolor rgb "#000000" title fits(upright)' }
    if (curves_there > 0) { clauses = clauses . ', NaN with lines linewidth 0.8 linecolor rgb "#555555" title fits(bar_text)' }
    eval "plot " . (strlen(clauses) ? clauses[3:*] : "NaN notitle")
    eval end
}
