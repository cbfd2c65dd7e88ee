# SPDX-License-Identifier: GPL-3.0-or-later
# looks.gp - the look of all figures: colours, points and dashes, fonts, formats and widths.
#
# Figures are laid out in units. On a screen a unit is a pixel, and a figure as wide as its panels take; on paper it is
# 2/3 point, so that text of 12 units has 8 points, and a figure has the width that style.gp says.

load "style.gp"
set encoding utf8
set datafile separator comma
paper = style eq "paper"
room = 1.5 * page # units across; screen: 0
titled = !paper   # a paper has captions
key_size = paper ? 11 : 12
# Columns of a legend whose longest text has so many letters, and a text that fits into it: gnuplot takes a letter of an
# SVG for wider than it is.
columns_of_key(letters) = floor((width - 20) / (7.7 * (letters + 8)))
columns_of_legend(letters, entries) = (t = columns_of_key(letters), t = t > entries ? entries : t, t < 1 ? 1 : t)
fits(t) = dots(t, floor((width - 20) / (paper ? 7.7 : 8.4)) - 8)

# Number i is the same in all figures of a run: of a strategy its place in the run, of a core that of its kind. 0 is
# black: what is compared with. The first 8 differ in colour, point and dash, in grey and to those who see two colours
# alone (tests/oracle/colours.py measures it); all can be read on white and on black. After the tenth the colours come
# again, with other points and dashes. 1000 more is the same strategy another way, in another pairing or with other
# factors: in its colour, with its point open or filled, whichever it was not, dashed, or one of the two.
#
# The Python package reads these three lists, too, for matplotlib (python/nysbench/_figures.py has the same rule).
array colours[10] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F6028", "#882255", "#999933", "#5A4FCF"]
array symbols[8] = [7, 5, 9, 13, 11, 4, 6, 8]
array dashes[4] = [1, 4, 5, 3]
own(i) = i < 1 ? 0 : (i - 1) % 1000
way(i) = i < 1 ? 0 : (i - 1) / 1000
colour(i) = i < 1 ? "#000000" : colours[own(i) % |colours| + 1]
open_of(t) = t - t % 2
filled_or_open(t) = t % 2 ? t - 1 : t + 1
symbol(i) = way(i) % 2 ? filled_or_open(symbols[own(i) % |symbols| + 1]) : symbols[own(i) % |symbols| + 1]
# Of a line with points: open ones are larger, so that they stay open, and the line stops before them.
points(i, size) = symbol(i) % 2 ? sprintf("pointtype %d pointsize %g", symbol(i), size) \
                                : sprintf("pointtype %d pointsize %g pointinterval -1", symbol(i), 1.5 * size)
dash(i) = way(i) == 1 || way(i) == 2 ? 2 : dashes[own(i) % |dashes| + 1]

set pointintervalbox 0.6

# How large a unit is: in points (PDF), pixels of 1/96 in (SVG), and pixels of a PNG, of which there are two to a pixel
# of the screen, or 600 to the inch of paper.
scale(format) = format eq "pdf" ? (paper ? 2 / 3.0 : 0.75) : format eq "svg" ? (paper ? 8 / 9.0 : 1) : (paper ? 50 / 9.0 : 2)
# A font of so many units. What the cairo terminals call a point is 4/3 pixels or points; `fontscale` enlarges it.
face(size) = sprintf("sans-serif,%g", size * (format eq "png" ? 0.75 : format eq "pdf" ? 0.75 * scale("pdf") : scale("svg")))
thin = paper ? 0.75 : 1

# To be evaluated: the terminal of a figure of so many units.
terminal(format, width, height) = \
    format eq "svg" ? sprintf("set terminal svg size %g, %g font '%s' linewidth %g background 'white'", \
        scale("svg") * width, scale("svg") * height, face(12), thin * scale("svg")) \
  : format eq "pdf" ? sprintf("set terminal pdfcairo size %gin, %gin font '%s' fontscale 1 linewidth %g pointscale %g", \
        scale("pdf") * width / 72, scale("pdf") * height / 72, face(12), 2 * thin * scale("pdf"), 1.1 * scale("pdf")) \
  : sprintf("set terminal pngcairo size %g, %g font '%s' fontscale %g linewidth %g dashlength 0.6 pointscale %g", \
        ceil(scale("png") * width), ceil(scale("png") * height), face(12), scale("png"), thin * scale("png"), scale("png"))

# To be evaluated: what begins and ends a figure in a format, and what begins its legend, so many units up from its
# foot.
begin = 'small = face(11); normal = face(12); large = face(14); key_font = face(key_size); ' \
    . 'eval terminal(format, width, height); set output output . "." . format; set multiplot; set key off'
end = 'unset multiplot; unset output; unset label; set lmargin; set rmargin; set tmargin; set bmargin'
legend_of(units, sample, columns) = 'set lmargin at screen 0; set rmargin at screen 1; set bmargin at screen 0; ' \
    . 'unset title; unset border; unset tics; unset grid; unset logscale; unset arrow; ' \
    . 'set xrange [0:1]; set yrange [0:1]; ' \
    . sprintf('set tmargin at screen %.17g; set key center center horizontal Left reverse samplen %g maxcols %d ', \
              real(units) / height, sample, columns) . 'font key_font noenhanced'

# A text in at most two lines of n letters, broken behind a comma, else behind a blank or the like, a bracket or a hyphen.
last_of_marks(t, n, marks) = (best = 0, sum [k = n / 2:n] (strstrt(marks, t[k:k]) > 0 && t[k - 1:k] ne " (" ? (best = k, 0) : 0), best)
cut(t, n) = last_of_marks(t, n, ",;") > 0 ? best + (t[best + 1:best + 1] eq " ") : last_of_marks(t, n, " /:") > 0 ? best : last_of_marks(t, n, "(_-") > 0 ? best : n
dots(t, n) = strlen(t) <= n ? t : t[1:n - 3 - n / 3] . "..." . t[strlen(t) - n / 3 + 1:*] # of names, the ends differ most
wrap(t, n) = strlen(t) <= n ? t : (best = cut(t, n), t[1:best] . "\n" . dots(t[best + 1:*], n))

# The unit of two to five even steps from low to high.
step_of(low, high) = (t = 10.0 ** floor(log10((high - low) / 2.0)), t * ((high - low) / t > 10 ? 5 : (high - low) / t > 5 ? 2 : 1))
