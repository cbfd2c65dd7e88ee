# SPDX-License-Identifier: GPL-3.0-or-later
# page.gp - the height of a figure of panels with a legend at its foot.
#
# Before it is loaded: widest, the letters of the longest text of the legend, and entries, how many it has. Afterwards:
# across, the columns of the legend, and the units that it, the heading and the figure take: legend, heading, height.

across = columns_of_legend(widest, entries)
legend = 20 + 19 * ceil(entries / real(across))
title_lines = strlen(title) > width / 8.5 ? 2 : 1
heading = titled ? 16 + 19 * title_lines : 2
x_lines = strlen(x_name) > width / 7.5 ? 2 : 1
height = heading + rows * panel_height + 8 + 15 * x_lines + legend
