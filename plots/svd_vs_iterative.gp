# SPDX-License-Identifier: GPL-3.0-or-later
# svd_vs_iterative.gp - the error with one core over the error with another on the
# same landmarks, a panel a problem: median of each strategy, thin lines
# of its heads or a 10-90 % band.
# Variables: see common.gp.

load "common.gp"

title = sprintf("%s: error with %s / error with %s", experiment, core_name, reference_name)
subtitle = sprintf("above 1: %s is closer   |   below 1: %s is closer", reference_name, core_name)
y_name = "ratio of errors, same landmarks"
level = 1
level_style = 'linewidth 1.5 linecolor rgb "#000000"'
floor_name = ""; baseline_name = ""
legend_entries = 2 # beside the curves
legend_rest = ', NaN with lines ' . level_style . ' title "1: both as close"'

load "figure.gp"
