# common.gp - what all figures share: text as it is, colours, the grid of panels.
#
# A driver script sets data, output, experiment, core, core_name, reference_name,
# landmarks[], panels[] and series[] and loads the script of its kind, which defines
# draw_panel and draw_legend as texts to eval, and loads figure.gp.

set encoding utf8
set datafile separator comma
set datafile missing NaN

# Okabe & Ito's colours, told apart with any kind of colour vision; then again with other points.
array colours[8] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#555555"]
array symbols[8] = [7, 5, 9, 13, 11, 4, 6, 8]
colour(i) = colours[(i - 1) % 8 + 1]
symbol(i) = symbols[(i - 1 + (i - 1) / 8) % 8 + 1]

# Columns of the data: 1 core, 2 panel, 3 series (0 best rank m, -1 constant 1/n),
# 4 landmarks, 5 count, 6 median, 7 and 8 the quantiles 0.1 and 0.9; then names.
entry(i, c, p, s) = $1 == c && $2 == p && $3 == s ? column(i) : NaN
in_panel(i, c, p) = $1 == c && $2 == p ? column(i) : NaN

P = |panels|
columns = P == 1 ? 1 : P <= 4 ? 2 : P <= 9 ? 3 : 4
rows = ceil(real(P) / columns)
width = columns == 1 ? 760 : 400 * columns
legend_lines = ceil((|series| + 3) / (columns == 1 ? 3.0 : 2.0 * columns))
legend_height = 34 + 20 * legend_lines
heading = 40
height = heading + 300 * rows + legend_height

# Long titles lose their middle rather than their ends.
limit = columns == 1 ? 90 : 50
short(t) = strlen(t) <= limit ? t : t[1:limit / 2 - 2] . " ... " . t[strlen(t) - limit / 2 + 3:*]

set style fill transparent solid 0.15 noborder
set border linecolor rgb "#444444"
set grid linecolor rgb "#dddddd" linetype 1 linewidth 0.5
set tics nomirror
set key off

# Where panel i (from 1) stands, as fractions of the figure.
left(i) = ((i - 1) % columns + 0.0) / columns
bottom(i) = 1 - (heading + 300.0 * (1 + (i - 1) / columns)) / height
