# SPDX-License-Identifier: GPL-3.0-or-later
# common.gp - what figures of curves share: the grid of panels.
#
# Before it is loaded: panels[], series[].

load "looks.gp"
set datafile missing NaN # a line goes on across rows that are left out

P = |panels|
S = |series|

# The figure in pixels: heading, rows of panels, legend.
left_space = paper ? 36 : 26 # of the name of y, in two lines on paper
name_of_y(t) = wrap(t, floor(y_span / 7.0))
place_of_y(t) = strlen(t) > floor(y_span / 7.0) ? 7.0 : 14.0
# On paper two columns of panels at most, and no more than a page of 237 mm with the legend.
page_height = 1008
longest = 24
do for [s = 1:S] { longest = strlen(series[s]) > longest ? strlen(series[s]) : longest }
beside_panels = 60 + 19 * ceil((S + 3) / (t = floor((room - 20) / (7.7 * (longest + 8))), t < 1 ? 1.0 : real(t)))
one_column = room < 480 && P * 225 + beside_panels <= page_height
columns = P == 1 ? 1 : paper ? (one_column ? 1 : 2) : P <= 4 ? 2 : P <= 12 ? 3 : 4
rows = (P + columns - 1) / columns
panel_width = paper ? (room - left_space - 10) / columns : columns == 1 ? 660 : columns == 2 ? 450 : columns == 3 ? 345 : 300
panel_height = columns == 1 ? 400 : columns == 2 ? 300 : 265
panel_height = paper && panel_height > 0.66 * panel_width ? 0.66 * panel_width : panel_height
panel_height = panel_height < (columns == 1 || !paper ? 225 : 170) ? (columns == 1 || !paper ? 225 : 170) : panel_height
panel_height = paper && rows * panel_height + beside_panels > page_height ? (page_height - beside_panels) / rows : panel_height
y_span = panel_height < 200 ? rows * panel_height : panel_height # beside which the name of y fits
width = left_space + columns * panel_width + 10
letters_of_panel = floor((panel_width - 20) / 6.6)
above = 31 # a panel: its title
do for [p = 1:P] { above = strlen(panels[p]) > letters_of_panel ? 42 : above }
plot_height = panel_height - above - 26

# To be evaluated: y from low to high.
scale_y = 'set logscale y; set yrange [low:high]; decades = log10(high / low); ' \
    . 'set format y decades > 2.5 && (low < 1e-3 || high > 1e4) ? "1e%T" : "%g"'
