# SPDX-License-Identifier: GPL-3.0-or-later
# panel.gp - the look of panel p, its place on the page (page.gp), its title, the names of curves at their ends
# (direct.gp), and what stands once: the title of the figure, and the name of y at the left of the page.
#
# Before it is loaded, y_beside: the units beside which the name of y stands once, those of a panel or of all rows; and
# hue(), the colour of a curve.

set border 3 linecolor rgb "#444444"
set grid xtics ytics linecolor rgb "#dddddd" linetype 1 linewidth 0.5
set xtics nomirror format "%g" font small
set ytics nomirror font small
if (titled && p == 1) { set label 1 wrap(title, floor(width / 8.5)) at screen 0.5, screen 1 - 20.0 / height center noenhanced font large }
column_of = (p - 1) % columns
row_of = (p - 1) / columns
set lmargin at screen real(left_space + column_of * panel_width + 48) / width
set rmargin at screen real(left_space + (column_of + 1) * panel_width - 8 - direct) / width
set tmargin at screen 1 - real(heading + row_of * panel_height + above) / height
set bmargin at screen 1 - real(heading + (row_of + 1) * panel_height - 26) / height
set title wrap(panels[p], letters_of_panel) offset 0, -0.5 noenhanced font small
if (column_of == 0 && (row_of == 0 || y_beside == panel_height)) {
    set label 3 name_of_y(y_name) at screen place_of_y(y_name) / width, screen 1 - (heading + row_of * panel_height + 0.5 * y_beside + 6) / height center rotate noenhanced font normal
}
do for [s = 1:S] { if (direct > 0 && ends[(p - 1) * S + s] >= 0) {
    set label 100 + s series[s] at graph 1.012, graph ends[(p - 1) * S + s] / plot_height left noenhanced font small textcolor rgb hue(s)
} }
unset logscale
