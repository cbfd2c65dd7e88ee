# figure.gp - title, all panels and the legend, once as SVG and once as PNG.

do for [format in "svg png"] {
    if (format eq "svg") {
        set terminal svg size width, height font "DejaVu Sans,12" background "white"
    } else {
        set terminal pngcairo size width, height font "DejaVu Sans,10"
    }
    set output output . "." . format
    set multiplot
    set label 10 title at screen 0.5, screen 1 - 20.0 / height center noenhanced font (strlen(title) > 34 * columns ? ",10" : ",13")
    do for [p = 1:P] {
        set size 1.0 / columns, 300.0 / height
        set origin left(p), bottom(p)
        set xlabel "landmarks m" offset 0,0.5
        set ylabel ylabel_text noenhanced offset 1,0
        set format y "%g"
        if (|landmarks| <= 10) {
            set xtics (landmarks[1])
            do for [i = 2:|landmarks|] { set xtics add (landmarks[i]) }
        } else {
            set xtics autofreq
        }
        eval draw_panel
        unset label 10
    }
    set origin 0, 0
    set size 1, real(legend_height) / height
    set key center center horizontal Left reverse noenhanced samplen 3
    unset title; unset xlabel; unset ylabel; unset border; unset tics; unset grid; unset logscale; unset offsets
    set xrange [0:1]; set yrange [0:1]
    set lmargin 0; set rmargin 0; set tmargin 0; set bmargin 0
    eval draw_legend
    unset lmargin; unset rmargin; unset tmargin; unset bmargin
    set key off; set border; set tics nomirror; set grid
    unset multiplot
    unset output
}
