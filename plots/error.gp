# SPDX-License-Identifier: GPL-3.0-or-later
# error.gp - relative error against landmarks, a panel a problem: median of each strategy,
# thin lines of its heads or a 10-90 % band, the best matrix of rank m (no method does better), and the
# constant matrix with the mean of S (1/n; any method should do better). Variables: see common.gp.

load "common.gp"

title = sprintf("%s: %s, median over heads and trials", experiment, core_name)
subtitle = strlen(pairing) ? "pairing " . pairing . " unless another is named" : ""
y_name = "relative error  |S - FXB|_F / |S|_F"
level = 0
floor_style = 'linewidth 2 dashtype 2 linecolor rgb "#000000"'
baseline_style = 'linewidth 2 dashtype 3 linecolor rgb "#777777"'
floor_name = "best rank m (median)" # which a head may be below
baseline_name = "constant " . constant
legend_entries = 1 # beside the curves
legend_rest = ""

load "figure.gp"
