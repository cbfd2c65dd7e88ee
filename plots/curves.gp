# curves.gp - curves, marks, levels and clouds over any x, a panel a problem.
#
# A driver script sets data, output, figure, title, x_name, y_name, x_scale (0 linear,
# else the logarithm's base), level (1: a line at y = 1), columns_wanted (0: as many as
# suit), panels[], series[] and styles[]: 0 curve with 10-90 % bars, 1 mark, 2 level,
# 3 cloud. Columns of the data: 1 figure, 2 panel, 3 series, 4 count, 5 x, 6 median,
# 7 and 8 the quantiles 0.1 and 0.9.

array landmarks[2] = [1, 2] # what common.gp asks for, and this does not
load "common.gp"

if (columns_wanted > 0) {
    columns = columns_wanted; rows = (P + columns - 1) / columns
    panel_width = columns == 1 ? 660 : columns == 2 ? 450 : 345
    width = left_space + columns * panel_width + 10
}
mine(p, s) = strcol(1) eq sprintf("%d", figure) && strcol(2) eq sprintf("%d", p) && strcol(3) eq sprintf("%d", s) && number(6) > 0
take(p, s, i) = mine(p, s) ? number(i) : NaN
x_high = 1; x_low = 1; some = 0
reach(x) = x > 0 ? (x_low = (some == 0 || x < x_low) ? x : x_low, x_high = (some == 0 || x > x_high) ? x : x_high, some = 1) : 0
see_x(s) = strcol(1) eq sprintf("%d", figure) && strcol(3) eq sprintf("%d", s) && styles[s] != 2 ? reach(number(5)) : 0
see(s) = strcol(1) eq sprintf("%d", figure) && strcol(3) eq sprintf("%d", s) ? (seen = seen + 1) : 0
see_y(p, s) = mine(p, s) ? (found = found + 1, note(number(6)), styles[s] == 0 ? (note(number(7)), note(number(8))) : 0) : 0
stats data using (1) nooutput name "FILE"
if (!exists("FILE_records")) { exit error "cannot read " . data }
array present[S]
do for [s = 1:S] {
    seen = 0
    stats data using (see_x(s), see(s)) nooutput
    present[s] = seen
}

line_colour(s) = styles[s] == 2 ? colours[1 + (s + 2) % 8] : colour(s)
style_text(s) = styles[s] == 0 ? sprintf('with linespoints linewidth 1.8 pointtype symbol(%d) pointsize 0.5 linecolor rgb colour(%d)', s, s) \
              : styles[s] == 1 ? sprintf('with points linewidth 1.8 pointtype %d pointsize 1.8 linecolor rgb "#000000"', s % 2 ? 10 : 8) \
              : styles[s] == 2 ? sprintf('with lines linewidth 1.8 dashtype %d linecolor rgb line_colour(%d)', 2 + s % 4, s) \
              : sprintf('with points pointtype symbol(%d) pointsize 0.35 linecolor rgb colour(%d)', s, s)
clause(s) = styles[s] == 2 ? sprintf(', data using (take(p, %d, 6) > 0 ? x_low : NaN):(take(p, %d, 6)):(x_high - x_low):(0) with vectors nohead linewidth 1.8 dashtype %d linecolor rgb line_colour(%d)', s, s, 2 + s % 4, s) \
          : sprintf(', data using (take(p, %d, 5)):(take(p, %d, 6)) ', s, s) . style_text(s)
bars(s) = styles[s] != 0 ? '' : sprintf(', data using (take(p, %d, 5)):(take(p, %d, 7)):(0):(take(p, %d, 8) - take(p, %d, 7)) with vectors nohead linewidth 0.8 linecolor rgb colour(%d)', s, s, s, s, s)

widest = 24; entries = 1
do for [s = 1:S] { if (present[s]) { entries = entries + 1; widest = strlen(series[s]) > widest ? strlen(series[s]) : widest } }
across = floor((width - 20) / (widest * 6.8 + 55))
across = across < 1 ? 1 : across > entries ? entries : across
legend = 20 + 19 * ceil(entries / real(across))
title_lines = strlen(title) > width / 8.5 ? 2 : 1
heading = 16 + 19 * title_lines
height = heading + rows * panel_height + 22 + legend

do for [format in "svg png"] {
    small = face(11); normal = face(12); large = face(14)
    if (format eq "svg") { set terminal svg size width, height font normal background "white" }
    if (format eq "png") { set terminal pngcairo size 1.5 * width, 1.5 * height font normal fontscale 1.5 linewidth 1.5 pointscale 1.5 }
    set output output . "." . format
    set multiplot
    set border 3 linecolor rgb "#444444"
    set grid xtics ytics linecolor rgb "#dddddd" linetype 1 linewidth 0.5
    set xtics nomirror font small
    set ytics nomirror font small
    set key off
    set label 1 wrap(title, floor(width / 8.5)) at screen 0.5, screen 1 - 20.0 / height center noenhanced font large
    do for [p = 1:P] {
        column_of = (p - 1) % columns
        row_of = (p - 1) / columns
        set lmargin at screen real(left_space + column_of * panel_width + 48) / width
        set rmargin at screen real(left_space + (column_of + 1) * panel_width - 8) / width
        set tmargin at screen 1 - real(heading + row_of * panel_height + 38) / height
        set bmargin at screen 1 - real(heading + (row_of + 1) * panel_height - 26) / height
        set title wrap(panels[p], floor((panel_width - 20) / 6.6)) offset 0, -0.5 noenhanced font small
        if (column_of == 0) {
            set label 3 y_name at screen 14.0 / width, screen 1 - (heading + (row_of + 0.5) * panel_height + 6) / height center rotate noenhanced font normal
        }
        unset logscale
        low = 1e300; high = 0; curves = ""; under = ""
        do for [s = 1:S] {
            found = 0
            stats data using (see_y(p, s), 1) nooutput
            if (found > 0) { curves = curves . clause(s); under = under . bars(s) }
        }
        if (x_scale > 0) { set logscale x x_scale; set format x x_scale == 10 ? "1e%T" : "%g"; set xrange [x_low / (x_high / x_low) ** 0.03:x_high * (x_high / x_low) ** 0.03] } else {
            set format x "%g"; set xrange [x_low - 0.03 * (x_high - x_low):x_high + 0.03 * (x_high - x_low)]
        }
        if (x_low >= x_high) { set xrange [x_low / 2:x_low * 2] }
        if (x_scale == 10) { set xtics 10 ** ceil(log10(x_high / x_low) / 6 + 1e-9) } else { set xtics autofreq }
        if (high > 0) {
            if (level > 0) { low = low < 1 ? low : 1; high = high > 1 ? high : 1 }
            t = (high / low) ** 0.04; t = t < 1.02 ? 1.02 : t
            low = low / t; high = high * t
            set logscale y
            set yrange [low:high]
            decades = log10(high / low)
            set format y (low < 1e-3 || high > 1e4) ? "1e%T" : "%g"
            if (decades > 2.5) { set ytics 10 ** ceil(decades / 7) } else {
                set ytics ()
                do for [e = floor(log10(low)):ceil(log10(high))] { do for [f in (decades > 0.9 ? "1 2 5" : "1 1.2 1.4 1.6 1.8 2 2.5 3 4 5 6 7 8 9")] {
                    t = real(f) * 10.0 ** e
                    if (t >= low && t <= high) { set ytics add (t) }
                } }
            }
            clauses = under . (level > 0 ? ', 1 with lines linewidth 1.5 linecolor rgb "#000000"' : "") . curves
            eval "plot " . clauses[3:*]
        } else {
            unset ytics; unset grid; unset logscale; set xrange [0:1]; set yrange [0:1]
            set label 4 "no data" at graph 0.5, graph 0.5 center textcolor rgb "#777777"
            plot 2 notitle
            unset label 4; set ytics nomirror font small; set grid xtics ytics
        }
        unset label 1; unset label 3
    }
    set label 1 x_name at screen 0.5, screen (legend + 8.0) / height center noenhanced font normal
    set lmargin at screen 0; set rmargin at screen 1
    set bmargin at screen 0; set tmargin at screen real(legend - 8) / height
    unset title; unset border; unset tics; unset grid; unset logscale
    set xrange [0:1]; set yrange [0:1]
    set key center center horizontal Left reverse samplen 4 maxcols across font normal noenhanced
    clauses = ""
    do for [s = 1:S] { if (present[s]) { clauses = clauses . ', NaN ' . style_text(s) . sprintf(' title series[%d]', s) } }
    eval "plot " . clauses[3:*] . ', NaN with lines linewidth 0.8 linecolor rgb "#555555" title "10-90 % of heads and trials"'
    unset multiplot
    unset output
    unset label 1
    set lmargin; set rmargin; set tmargin; set bmargin
}
