# SPDX-License-Identifier: GPL-3.0-or-later
# looks.gp - the colour, point and dash of number i, the same in all figures of a run: of a
# strategy its place in the run, of a core that of its kind. 0 is black: what is compared with.
#
# Okabe and Ito's colours without yellow, and four more; after the tenth they come again with
# other points and dashes.

array colours[10] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#882255", "#999933", "#332288"]
array symbols[8] = [7, 5, 9, 13, 11, 4, 6, 8]
array dashes[4] = [1, 4, 5, 3]
round(i) = i < 1 ? 0 : (i - 1) / 10
colour(i) = i < 1 ? "#000000" : colours[(i - 1) % 10 + 1]
symbol(i) = symbols[(i < 1 ? 0 : i - 1 + round(i)) % 8 + 1]
dash(i) = dashes[round(i) % 4 + 1]
