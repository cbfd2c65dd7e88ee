# error.gp - relative error against landmarks, a panel a problem: median and
# 10-90 % band of each strategy, the best rank-m matrix, the constant 1/n.

load "common.gp"

title = sprintf("%s: %s, median over heads and trials", experiment, core_name)
ylabel_text = "|S - FXB|_F / |S|_F"

# Each panel: how many rows have values; bands; lines; the floor and 1/n.
draw_panel = '\
set yrange [*:*]; set xrange [*:*]; unset logscale; stats data using (in_panel(6, core, p)) nooutput name "V"; \
set title short(panels[p]) noenhanced font ",10" offset 0,-0.4; \
if (V_records == 0) { \
    set label 1 "no data" at graph 0.5,0.5 center; unset logscale; set yrange [0:1]; set xrange [0:1]; plot NaN notitle; unset label 1; \
} else { \
    set logscale y; set offsets graph 0.03, graph 0.03, 0, 0; \
    plot for [s=1:|series|] data using 4:(entry(7, core, p, s)):(entry(8, core, p, s)) \
             with filledcurves linecolor rgb colour(s) notitle, \
         data using 4:(entry(6, 0, p, -1)) \
             with lines linewidth 2 dashtype 3 linecolor rgb "#777777" notitle, \
         data using 4:(entry(6, 0, p, 0)) \
             with lines linewidth 2 dashtype 2 linecolor rgb "#000000" notitle, \
         for [s=1:|series|] data using 4:(entry(6, core, p, s)) \
             with linespoints linewidth 2 pointtype symbol(s) pointsize 0.6 linecolor rgb colour(s) notitle; \
}'

# The legend is a plot of its own below the panels.
draw_legend = '\
plot for [s=1:|series|] NaN with linespoints linewidth 2 pointtype symbol(s) pointsize 0.8 linecolor rgb colour(s) title series[s] noenhanced, \
     NaN with lines linewidth 2 dashtype 2 linecolor rgb "#000000" title "best matrix of rank m", \
     NaN with lines linewidth 2 dashtype 3 linecolor rgb "#777777" title "constant matrix 1/n", \
     NaN with filledcurves linecolor rgb "#777777" title "10-90 % of heads and trials"'

load "figure.gp"
