#!/usr/bin/env python3
"""strategies.py CSV STEM - draws STEM.svg and STEM.png from strategies.csv with
gnuplot: each strategy's error relative to the baseline, the best on top."""
import collections, csv, math, os, statistics, subprocess, sys, tempfile

source, stem = sys.argv[1:]
rows = [r for r in csv.DictReader(open(source, newline=""))]
core = rows[0]["core"]  # the first of the experiment
rows = [r for r in rows if r["core"] == core and r["error_relative"]]
pooled = sorted((r for r in rows if r["panel"] == "all"), key=lambda r: -float(r["error_relative"]))
by_problem = collections.defaultdict(list)
for r in rows:
    if r["panel"] != "all":
        by_problem[r["label"], r["panel"]].append(float(r["error_relative"]))


def seconds(x):
    for unit, scale in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if x * scale >= 1:
            break
    return f"{x * scale:.{0 if x * scale >= 9.95 else 1}f} {unit}"


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


with tempfile.TemporaryDirectory() as work:
    data = os.path.join(work, "data.tsv")
    with open(data, "w") as out:  # place, kind, number
        for y, r in enumerate(pooled, 1):
            print(y, 1, float(r["error_relative"]), file=out)
            print(y, 2, float(r["subspace_relative"]), file=out)
            for (label, _), values in by_problem.items():
                if label == r["label"]:
                    print(y, 3, statistics.median(values), file=out)
    numbers = [float(line.split()[2]) for line in open(data)]
    count, height = len(pooled), 130 + 24 * len(pooled)
    labels = "\n".join(
        f"set label {quoted(r['label'])} at graph -0.01, first {y} right noenhanced textcolor rgb '{'#777777' if 'oracle' in r['label'] else '#000000'}'\n"
        f"set label '{float(r['error_share']):.2f}' at graph 1.10, first {y} right\nset label {quoted(seconds(float(r['select_s'])))} at graph 1.23, first {y} right"
        for y, r in enumerate(pooled, 1))
    script = f"""
set encoding utf8
do for [format in "svg png"] {{
if (format eq "svg") {{ set terminal svg size 900, {height} font "sans-serif,12" background "white" }}
if (format eq "png") {{ set terminal pngcairo size 1350, {1.5 * height} font "sans-serif,9" fontscale 1.5 linewidth 1.5 pointscale 1.5 }}
set output {quoted(stem)} . "." . format
set lmargin at screen 0.27; set rmargin at screen 0.79; set tmargin at screen 1 - 62.0 / {height}; set bmargin at screen 66.0 / {height}
set title {quoted('Error relative to uniformly drawn tokens, ' + core)} noenhanced offset 0, 1.2
set logscale x; set xrange [{min(numbers) / 1.1:.3g}:{max(numbers) * 1.1:.3g}]; set yrange [0.4:{count + 0.6}]
set xtics (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1, 1.2, 1.5, 2, 3, 4, 5, 10, 20, 50) nomirror; unset ytics
set grid xtics linecolor rgb "#dddddd"; set border 1 linecolor rgb "#444444"
set key at screen 0.53, screen 20.0 / {height} center center horizontal maxcols 3 samplen 1
set arrow from 1, graph 0 to 1, graph 1 nohead linecolor rgb "#444444"
set label "share of gap" at graph 1.10, first {count + 0.9} right; set label "to select" at graph 1.23, first {count + 0.9} right
{labels}
plot {quoted(data)} using ($2 == 3 ? $3 : NaN):1 with points pointtype 7 pointsize 0.5 linecolor rgb "#bbbbbb" title "error, one model", \\
     '' using ($2 == 2 ? $3 : NaN):1 with points pointtype 6 pointsize 1 linewidth 2 linecolor rgb "#D55E00" title "subspace part, median", \\
     '' using ($2 == 1 ? $3 : NaN):1 with points pointtype 7 pointsize 1 linecolor rgb "#0072B2" title "error, median over models and m"
unset output; unset label; unset arrow
}}
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
