# SPDX-License-Identifier: GPL-3.0-or-later
# landmarks.gp - where the landmarks of each strategy lie: a lane a strategy along the
# sequence, and a panel a strategy in the plane of the first two principal components
# of the keys (or queries).
#
# A driver script sets output, n, side, explained_1, explained_2, title, lanes[], gaps[],
# none[] and looks[] (the numbers of the colours), and loads this file. Data, by numbers: output_lanes.csv has 1 lane (0: tokens
# of several strategies), 2 half (0 whole, 1 queries, 2 keys), 3 whether a token, 4 place,
# 5 and 6 first and last of a group, 7 strategies that have the token; output_plane.csv
# has 1 lane (0: the tokens), 2 and 3 the coordinates; output_received.csv has 1 token, 2 what its key receives.

along = output . "_lanes.csv"
plane = output . "_plane.csv"
received = output . "_received.csv"
L = |lanes|

load "looks.gp"

# Half h of lane i, from the bottom of the lane on.
floor_of(i, h) = L - i + (h == 1 ? 0.53 : 0.12)
height_of(h) = h == 0 ? 0.76 : 0.35
is(i, h, token) = $1 == i && $2 == h && $3 == token
tick(i, h, other) = is(i, h, 1) && (($7 > 1) == other) ? $4 : NaN
mean(i, h) = is(i, h, 0) ? $4 : NaN

narrow = paper && room < 600
most_columns = narrow ? 2 : 4
columns = L < most_columns ? L : most_columns
rows = (L + columns - 1) / columns
width = paper ? room : 1000; left = narrow ? 118 : 210; right = narrow ? 62 : 135
letters = floor((left - 8) / 6.9)
heading = titled ? 76 : 8; lane = 26; strip = 54; between = 92; panel = 245
lanes_end = heading + 2 * strip + L * lane
height = lanes_end + between + rows * panel + 30

most = 2
stats along using ($1 == 0 ? $7 : 0) nooutput name "SHARED"
if (exists("SHARED_max")) { most = SHARED_max > most ? SHARED_max : most }
stats plane using 2:3 nooutput name "PLANE"
stats received using ($2 > 0 ? $2 : NaN) nooutput name "RECEIVED"
share_of(x) = x > 0 && RECEIVED_max > RECEIVED_min ? log(x / RECEIVED_min) / log(RECEIVED_max / RECEIVED_min) : NaN
edge(low, high) = high > low ? 0.06 * (high - low) : 1

do for [format in formats] {
    eval begin
    if (titled) { set label 1 dots(title, 115) at screen 0.5, screen 1 - 20.0 / height center noenhanced font large }
    if (titled) { set label 2 "upper half of a lane: query landmarks; lower half: key landmarks; full height: the same for both\nbar: a token, black where another strategy has it too; circle: a mean, at the mean place of its tokens, with their span where it has no hole" \
        at screen 0.5, screen 1 - 42.0 / height center font small textcolor rgb "#444444" }

    # The lanes.
    set lmargin at screen real(left) / width
    set rmargin at screen 1 - real(right) / width
    set tmargin at screen 1 - real(heading) / height
    set bmargin at screen 1 - real(lanes_end) / height
    set border 1 linecolor rgb "#444444"
    set xrange [-0.01 * n:1.01 * n]; set yrange [0:L + 2 * real(strip) / lane]
    set xtics nomirror font small; unset ytics
    set xlabel "token" offset 0, 0.4 font normal
    do for [i = 1:L] {
        set object i rectangle from graph 0, first L - i + 0.06 to graph 1, first L - i + 0.94 fillstyle solid noborder fillcolor rgb "#f4f4f4" behind
        set label 100 + i dots(lanes[i], letters) at graph -0.008, first L - i + 0.5 right noenhanced font normal textcolor rgb colour(looks[i])
        set label 200 + i gaps[i] at graph 1.008, first L - i + 0.5 left noenhanced font small
        if (strlen(none[i])) { set label 300 + i dots(none[i], floor((width - left - right) / 6.5)) at graph 0.5, first L - i + 0.5 center noenhanced font small textcolor rgb "#777777" }
    }
    set label 401 (narrow ? "strategies" : "strategies that have the token") at graph -0.008, first L + 0.5 * strip / lane right font small
    set label 402 sprintf("%d", most) at graph 1.008, first L + strip / lane - 0.4 left font small
    set label 404 (narrow ? "attention\nreceived (log)" : "attention that the key receives\n(mean over queries, log scale)") at graph -0.008, first L + 1.6 * strip / lane right font small
    set label 405 sprintf("%.2g", RECEIVED_max) at graph 1.008, first L + 2 * strip / real(lane) - 0.4 left font small
    set label 406 sprintf("%.2g", RECEIVED_min) at graph 1.008, first L + strip / real(lane) + 0.3 left font small
    set label 403 (narrow ? "gaps" : "gaps: median, largest") at graph 1.008, first L + 0.25 left font face(10)
    clauses = ", along using ($1 == 0 ? $4 : NaN):(L + 0.2):(0):(($7) * (strip / real(lane) - 0.4) / most) with vectors nohead linewidth 1.2 linecolor rgb '#000000'"
    if (RECEIVED_max > RECEIVED_min) { clauses = clauses . ", received using 1:(L + strip / real(lane) + 0.2):(0):(share_of($2) * (strip / real(lane) - 0.4)) with vectors nohead linewidth 1.2 linecolor rgb '#7f7f7f'" }
    do for [i = 1:L] { do for [h = 0:2] {
        clauses = clauses . sprintf(", along using (is(%d, %d, 0) ? $5 : NaN):(floor_of(%d, %d) + 0.5 * height_of(%d)):($6 - $5):(0) with vectors nohead linewidth 1.2 linecolor rgb colour(%d)", i, h, i, h, h, looks[i])
        clauses = clauses . sprintf(", along using (mean(%d, %d)):(floor_of(%d, %d) + 0.5 * height_of(%d)) with points pointtype 6 pointsize 0.55 linewidth 1.2 linecolor rgb colour(%d)", i, h, i, h, h, looks[i])
        clauses = clauses . sprintf(", along using (tick(%d, %d, 0)):(floor_of(%d, %d)):(0):(height_of(%d)) with vectors nohead linewidth 2 linecolor rgb colour(%d)", i, h, i, h, h, looks[i])
        clauses = clauses . sprintf(", along using (tick(%d, %d, 1)):(floor_of(%d, %d)):(0):(height_of(%d)) with vectors nohead linewidth 2 linecolor rgb '#000000'", i, h, i, h, h)
    } }
    eval "plot " . clauses[3:*]
    unset label; unset object

    # The plane, a panel a strategy.
    set border 15 linecolor rgb "#999999"
    set xrange [PLANE_min_x - edge(PLANE_min_x, PLANE_max_x):PLANE_max_x + edge(PLANE_min_x, PLANE_max_x)]
    set yrange [PLANE_min_y - edge(PLANE_min_y, PLANE_max_y):PLANE_max_y + edge(PLANE_min_y, PLANE_max_y)]
    unset xtics; unset ytics
    if (titled) { set label 1 sprintf("The %s (grey) and their landmarks in the plane of the first two principal components, which hold %.0f %% and %.0f %% of the variance", side, 100 * explained_1, 100 * explained_2) \
        at screen 0.5, screen 1 - (lanes_end + 62.0) / height center font normal }
    do for [i = 1:L] {
        column = (i - 1) % columns
        row = (i - 1) / columns
        set lmargin at screen (26 + column * (width - 30.0) / columns) / width
        set rmargin at screen (26 + (column + 1) * (width - 30.0) / columns - 16) / width
        set tmargin at screen 1 - real(lanes_end + between + row * panel + 16) / height
        set bmargin at screen 1 - real(lanes_end + between + (row + 1) * panel - 24) / height
        set title dots(lanes[i], floor(width / columns / 6.8)) offset 0, -0.7 noenhanced font small textcolor rgb colour(looks[i])
        unset xlabel; unset ylabel
        if (i + columns > L) { set xlabel sprintf("PC 1 (%.0f %%)", 100 * explained_1) offset 0, 0.1 font small }
        if (column == 0) { set ylabel sprintf("PC 2 (%.0f %%)", 100 * explained_2) offset 1.5, 0 font small }
        plot plane using ($1 == 0 ? $2 : NaN):3 with points pointtype 7 pointsize 0.25 linecolor rgb "#bbbbbb", \
             plane using ($1 == i ? $2 : NaN):3 with points pointtype 6 pointsize 0.7 linewidth 1.6 linecolor rgb colour(looks[i])
        unset label 1
    }
    unset title; unset xlabel; unset ylabel
    eval end
}
