# SPDX-License-Identifier: GPL-3.0-or-later
# common.gp - what figures of curves share: reading the data, the grid of panels.
#
# A driver script sets data, output, experiment, constant, core, core_name, reference_name,
# pairing (of what is not labelled with one; "" where all have the same), landmarks[], panels[], series[], and heads (a
# file) with heads_first[], heads_count[] (its blocks by panel and series), heads_low[] and heads_high[] (what they
# reach), and loads the script of its kind. That one loads
# this file, sets what is its own, and loads figure.gp, which draws.

set encoding utf8
set datafile separator comma
set datafile missing NaN            # a line goes on across rows that are left out

load "looks.gp"

# Data, by numbers: 1 core, 2 panel, 3 series (0 best rank m, -1 constant matrix; both of
# core 0), 4 landmarks, 6 median, 7 and 8 the quantiles 0.1 and 0.9. The names that
# follow are for people: gnuplot 5.4 cuts a quoted text at its first comma.
# In these scripts the floor and the baseline are the series after the strategies.
P = |panels|
S = |series|
M = |landmarks|
FLOOR = S + 1
number(i) = strlen(strcol(i)) ? strcol(i) + 0.0 : NaN
is_row(p, s) = strcol(1) eq sprintf("%d", s > S ? 0 : core) && strcol(2) eq sprintf("%d", p) && strcol(3) eq sprintf("%d", s > S ? FLOOR - s : s)
drawn(p, s) = is_row(p, s) ? number(6) > 0 : 0
median(p, s) = drawn(p, s) ? number(6) : NaN
band(i, p, s) = drawn(p, s) ? (number(i) > low ? number(i) : low) : NaN

# A panel of up to 8 heads has a thin line for each, its median over trials, by blocks of
# another file; other panels have bands.
place_of(p, s) = (p - 1) * S + s
most_heads(p) = (t = 0, sum [i = 1:S] (t = heads_count[place_of(p, i)] > t ? heads_count[place_of(p, i)] : t, 0), t)
lines_of_heads(p) = most_heads(p) > 1 && most_heads(p) <= 8
faint(s) = "#99" . colour(s)[2:*]
heads_of(p, s) = (t = "", sum [i = 0:heads_count[place_of(p, s)] - 1] (t = t . head_of(heads_first[place_of(p, s)] + i, s), 0), t)
head_of(i, s) = M > 1 ? sprintf(', heads index %d using 1:2 with lines linewidth 0.8 linecolor rgb faint(%d)', i, s) \
                      : sprintf(', heads index %d using ($1 * aside(%d)):2 with points pointtype 2 pointsize 0.5 linecolor rgb faint(%d)', i, s, s)

# What one series adds to low and high of its panel; its clauses of the plot command.
note(y) = y > 0 ? (low = y < low ? y : low, high = y > high ? y : high) : 0
see(p, s) = drawn(p, s) ? (found = found + 1, note(number(6)), s <= S && !lines_of_heads(p) ? (note(number(7)), note(number(8))) : 0) : 0
band_of(s) = sprintf(', data using 4:(band(7, p, %d)):(band(8, p, %d)) with filledcurves linecolor rgb colour(%d)', s, s, s)
bar_of(s) = sprintf(', data using (beside(%d)):(median(p, %d)):(band(7, p, %d)):(band(8, p, %d)) with yerrorbars linewidth 1.5 pointtype 0 linecolor rgb colour(%d)', s, s, s, s, s)
median_of(s) = sprintf(', data using (beside(%d)):(median(p, %d)) with linespoints linewidth 2 dashtype %d pointtype symbol(%d) pointsize 0.6 linecolor rgb colour(%d)', s, s, dash(s), s, s)
line_of(s) = sprintf(', data using 4:(median(p, %d)) with lines ', s) . style_of(s)
dash_of(s) = sprintf(', data using (from($4)):(median(p, %d)):(2 * ($4 - from($4))):(0) with vectors nohead ', s) . style_of(s)
style_of(s) = s == FLOOR ? floor_style : baseline_style

# Landmarks on the scale, linear or logarithmic, that keeps the closest two further
# apart; a tic keeps its number where the last number is far enough.
linear = 1; logarithmic = 1
do for [i = 2:M] {
    t = (landmarks[i] - landmarks[i - 1]) / real(landmarks[M] - landmarks[1]); linear = t < linear ? t : linear
    t = log(real(landmarks[i]) / landmarks[i - 1]) / log(real(landmarks[M]) / landmarks[1]); logarithmic = t < logarithmic ? t : logarithmic
}
log_x = logarithmic > linear
# Where all have the same landmarks, the series stand side by side.
aside(s) = 1 + 0.6 * (s - 0.5 * (S + 1)) / S
beside(s) = M > 1 ? $4 : $4 * aside(s)
from(m) = M < 2 ? 0.5 * m : log_x ? m / (real(landmarks[M]) / landmarks[1]) ** 0.02 : m - 0.02 * (landmarks[M] - landmarks[1])
place(m) = M < 2 ? 0.5 : log_x ? log(real(m) / landmarks[1]) / log(real(landmarks[M]) / landmarks[1]) : (m - landmarks[1]) / real(landmarks[M] - landmarks[1])

# The figure in pixels: heading, rows of panels, legend.
left_space = paper ? 36 : 26 # of the name of y, in two lines on paper
name_of_y(t) = wrap(t, floor(panel_height / 7.0))
place_of_y(t) = strlen(t) > floor(panel_height / 7.0) ? 7.0 : 14.0
columns = P == 1 ? 1 : P <= 4 ? 2 : P <= 12 ? 3 : 4
fitting = floor(room / 240) < 1 ? 1 : floor(room / 240) # columns of panels, on paper
columns = !paper || columns <= fitting ? columns : P == 4 && fitting == 3 ? 2 : fitting
rows = (P + columns - 1) / columns
panel_width = paper ? (room - left_space - 10) / columns : columns == 1 ? 660 : columns == 2 ? 450 : columns == 3 ? 345 : 300
panel_height = columns == 1 ? 400 : columns == 2 ? 300 : 265
panel_height = paper && panel_height > 0.66 * panel_width ? 0.66 * panel_width : panel_height
panel_height = panel_height < 225 ? 225 : panel_height
width = left_space + columns * panel_width + 10
letters_of_panel = floor((panel_width - 20) / 6.6)
above = 31 # a panel: its title
do for [p = 1:P] { above = strlen(panels[p]) > letters_of_panel ? 42 : above }
plot_height = panel_height - above - 26
