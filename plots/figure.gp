# SPDX-License-Identifier: GPL-3.0-or-later
# figure.gp - all panels, title and legend, in each format.

stats data using (1) nooutput name "FILE"
if (!exists("FILE_records")) { exit error "cannot read " . data }

band_text = "10-90 % of heads and trials" . (paper ? "" : ", not uncertainty")
widest = strlen(band_text)
with_lines = 0; do for [p = 1:P] { with_lines = with_lines + lines_of_heads(p) }

# What each panel holds: low and high of all it draws, and a clause of plot for each series that has rows. A band of
# one row has no width, so it becomes a bar. The series' ends are on the right, at the last number of landmarks.
C = S + 2
array lows[P]; array highs[P]; array clauses_of[P]
array ends[P * C]; array there[P * C]; array names[C]
do for [s = 1:C] { names[s] = s <= S ? series[s] : s == FLOOR ? floor_name : baseline_name }
do for [p = 1:P] {
    low = 1e300; high = 0; bands = ""; lines = ""; medians = ""
    do for [s = 1:C] {
        found = 0; t = -1
        stats data using (see(p, s), drawn(p, s) && $4 == landmarks[M] ? (t = number(6)) : 0, 1) nooutput
        there[(p - 1) * C + s] = found > 0
        ends[(p - 1) * C + s] = t
        if (found > 0 && s > S) { lines = lines . (found > 1 ? line_of(s) : dash_of(s)) }
        if (found > 0 && s <= S) { medians = medians . median_of(s); bands = bands . (lines_of_heads(p) ? heads_of(p, s) : found > 1 ? band_of(s) : bar_of(s)) }
        if (s <= S && lines_of_heads(p)) { t = note(heads_low[place_of(p, s)]) + note(heads_high[place_of(p, s)]) }
    }
    if (high > 0) {
        if (level > 0) { low = low < level ? low : level; high = high > level ? high : level }
        t = (high / low) ** 0.04; t = t < 1.02 ? 1.02 : t
        low = low / t; high = high * t
        do for [s = 1:C] { t = ends[(p - 1) * C + s]; ends[(p - 1) * C + s] = t > 0 && M > 1 ? plot_height * log(t / low) / log(high / low) : -1 }
    }
    lows[p] = low; highs[p] = high
    clauses_of[p] = bands . lines . (level > 0 ? ", level with lines " . level_style : "") . medians
}
load "direct.gp"

entries = legend_entries + (with_lines > 0 && with_lines < P)
do for [s = 1:C] { if (shown[s] && direct == 0) { entries = entries + 1; widest = strlen(names[s]) > widest ? strlen(names[s]) : widest } }
across = columns_of_key(widest)
across = across < 1 ? 1 : across > entries ? entries : across
legend = 16 + 19 * ceil(entries / real(across))
title_lines = strlen(title) > width / 8.5 ? 2 : 1
heading = titled ? 16 + 19 * title_lines + (strlen(subtitle) ? 18 : 0) : 2
height = heading + rows * panel_height + 22 + legend

do for [format in formats] {
    small = face(11); normal = face(12); large = face(14); key_font = face(key_size)
    eval terminal(format, width, height)
    set output output . "." . format
    set multiplot
    set style fill transparent solid (S > 4 ? 0.6 / S : 0.15) noborder
    set border 3 linecolor rgb "#444444"
    set grid xtics ytics linecolor rgb "#dddddd" linetype 1 linewidth 0.5
    set xtics nomirror format "%g" font small
    set ytics nomirror font small
    set key off
    if (titled) { set label 1 wrap(title, floor(width / 8.5)) at screen 0.5, screen 1 - 20.0 / height center noenhanced font large }
    if (titled) { set label 2 subtitle at screen 0.5, screen 1 - (20.0 + 19 * title_lines) / height center noenhanced font small textcolor rgb "#444444" }
    do for [p = 1:P] {
        column_of = (p - 1) % columns
        row_of = (p - 1) / columns
        set lmargin at screen real(left_space + column_of * panel_width + 42) / width
        set rmargin at screen real(left_space + (column_of + 1) * panel_width - 8 - direct) / width
        set tmargin at screen 1 - real(heading + row_of * panel_height + above) / height
        set bmargin at screen 1 - real(heading + (row_of + 1) * panel_height - 26) / height
        set title wrap(panels[p], letters_of_panel) offset 0, -0.5 noenhanced font small
        unset xlabel
        if (p + columns > P) { set xlabel "landmarks m" offset 0, 0.4 font normal }
        if (column_of == 0) {
            set label 3 name_of_y(y_name) at screen place_of_y(y_name) / width, screen 1 - (heading + (row_of + 0.5) * panel_height + 6) / height center rotate noenhanced font normal
        }
        unset logscale; set xrange [*:*]; set yrange [*:*]
        low = lows[p]; high = highs[p]
        if (log_x) { set logscale x 2 }
        t = log_x ? (real(landmarks[M]) / landmarks[1]) ** 0.04 : 0.04 * (landmarks[M] - landmarks[1])
        if (M < 2) { set xrange [0.5 * landmarks[1]:1.5 * landmarks[1]] } else {
            if (log_x) { set xrange [landmarks[1] / t:landmarks[M] * t] } else { set xrange [landmarks[1] - t:landmarks[M] + t] }
        }
        set xtics ()
        last = -1
        do for [i = 1:M] {
            if (place(landmarks[i]) - last > 0.025 * (strlen("" . landmarks[i]) + 1)) {
                set xtics add (landmarks[i]); last = place(landmarks[i])
            } else { set xtics add ("" landmarks[i] 1) }
        }
        if (high > 0) {
            # y: powers of ten; 1, 2, 5 of each where there are few; even steps within one.
            set logscale y
            set yrange [low:high]
            decades = log10(high / low)
            set format y decades > 2.5 && (low < 1e-3 || high > 1e5) ? "1e%T" : "%g"
            if (decades > 2.5) { set ytics 10 ** ceil(decades / 7) } else {
                set ytics ()
                if (decades > 0.9) {
                    do for [e = floor(log10(low)):ceil(log10(high))] { do for [f in "1 2 5"] {
                        t = int(f) * 10.0 ** e
                        if (t >= low && t <= high) { set ytics add (t) }
                    } }
                } else {
                    t = step_of(low, high)
                    do for [e = ceil(low / t):floor(high / t)] { set ytics add (e * t) }
                }
            }
            clauses = clauses_of[p]
            do for [s = 1:C] { if (direct > 0 && ends[(p - 1) * C + s] >= 0) {
                set label 100 + s names[s] at graph 1.012, graph ends[(p - 1) * C + s] / plot_height left noenhanced font small textcolor rgb (s <= S ? colour(s) : "#000000")
            } }
            eval "plot " . clauses[3:*]
        } else {
            unset ytics; unset grid; set yrange [0:1]
            set label 4 "no data" at graph 0.5, graph 0.5 center textcolor rgb "#777777"
            plot 2 notitle
            unset label 4; set ytics nomirror font small; set grid xtics ytics
        }
        unset label
    }
    set lmargin at screen 0; set rmargin at screen 1
    set bmargin at screen 0; set tmargin at screen real(legend) / height
    unset title; unset xlabel; unset border; unset tics; unset grid; unset logscale
    set xrange [0:1]; set yrange [0:1]
    set key center center horizontal Left reverse samplen 4 maxcols across font key_font noenhanced
    clauses = ""
    do for [s = 1:C] { if (shown[s] && direct == 0) {
        clauses = clauses . (s > S ? ', NaN with lines ' . style_of(s) : sprintf(', NaN with linespoints linewidth 2 dashtype %d pointtype symbol(%d) pointsize 0.8 linecolor rgb colour(%d)', dash(s), s, s)) . sprintf(' title fits(names[%d])', s)
    } }
    clauses = clauses . legend_rest
    if (with_lines > 0) { clauses = clauses . ', NaN with ' . (M > 1 ? 'lines linewidth 0.8' : 'points pointtype 2 pointsize 0.5') . ' linecolor rgb "#99555555" title "a head, its median over trials"' }
    if (with_lines < P) { clauses = clauses . ', NaN with filledcurves linecolor rgb "#555555" title fits(band_text)' }
    eval "plot " . (strlen(clauses) ? clauses[3:*] : "NaN notitle")
    unset multiplot
    unset output
    set lmargin; set rmargin; set tmargin; set bmargin
}
