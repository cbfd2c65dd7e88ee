# SPDX-License-Identifier: GPL-3.0-or-later
# Labels of components, and how figures look: their formats, styles and widths.

load helpers

# A run with labels; $1: what k-means is called.
labelled() {
    cat >"$WORK/e.yaml" <<END
name: labelled
trials: 3
landmarks: [4, 8, 16]
problems: ['gaussian(n=48, d=4, label="Gauß, <n> & {d}_1^2 @ 5 %")', "clusters(n=48, d=4)"]
strategies: [uniform, 'kmeans(restarts=[1, 4], label="$1")']
cores: [iterative, 'svd(rcond=0.03, label="SVD, cut")']
metrics: error
plots: [error, ratio]
END
    "$NYSBENCH" run "$WORK/e.yaml" -o "$WORK/r" "${@:2}"
}

strategies() { # of a config
    printf 'problems: "gaussian(n=16, d=2)"\nlandmarks: 4\ncores: svd\nstrategies: [%s]\n' "$1" >"$WORK/bad.yaml"
    run "$NYSBENCH" plan "$WORK/bad.yaml"
    [ "$status" -eq "$2" ]
}

refused() { # STRATEGIES
    strategies "$1" 2
    tell nysbench plan "strategies: [$1]"
}

# The labels in what is printed are golden, each once: labels FILE...
labels() {
    output=$(grep -ohE '(k-?means|Lloyd)[^ ]*( [a-z=0-9]+)?|SVD[^ ]* [a-z]+|Gau.*' "$@" | LC_ALL=C sort -u) status=0 \
        tell labels "$@"
}

@test "labels: in tables, comparisons and figures, in rows in columns of their own; a new one needs no new rows" {
    labelled k-means >"$WORK/out" 2>"$WORK/err"
    labels "$WORK/out"
    for name in errors shares; do
        "$NYSBENCH" table "$WORK/r" $name >"$WORK/$name"
        labels "$WORK/$name"
    done
    grep -qF "<text>Gauß, &lt;n> &amp; {d}_1^2 @ 5 %</text>" "$WORK/r/plots/error_iterative.svg"
    [ -s "$WORK/r/plots/error_SVD__cut.svg" ]
    cp "$WORK/r/rows.csv" "$WORK/rows"
    sed -i 's/, label="[^"]*"//' "$WORK/e.yaml"
    "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/plain" >/dev/null 2>&1
    labelled Lloyd >"$WORK/out" 2>"$WORK/err"
    # The same rows, but for labels; those of another run have other times too.
    py check_labels "$WORK/rows" "$WORK/r/rows.csv" "$WORK/plain/rows.csv"
    labels "$WORK/out"
    grep -qF "Lloyd, restarts=4" "$WORK/r/plots/error_iterative.svg"
    sed -i 's/Lloyd/Forgy/' "$WORK/r/resolved.yaml"
    "$NYSBENCH" plot "$WORK/r" error
    grep -qF "Forgy, restarts=4" "$WORK/r/plots/error_iterative.svg"
}

@test "labels that say nothing, stand twice, or select are refused" {
    refused '"kmeans(label=x)", "uniform(label=x)"'
    refused '"kmeans(label=uniform)", uniform'
    refused '"kmeans(label=\"a b\")", "uniform(label=\"a_b\")"'
    refused '"kmeans(label=a)", "kmeans(label=b)"'
    refused '"kmeans(label=\"_ %\")"'
    refused "\"kmeans(label=$(printf '%0201d' 1))\""
    refused '"kmeans(label=f(x=1))"'
    refused '"exchange(start=kmeans(label=x))"'
    printf 'exclude: [{strategy: kmeans(label=x)}]\n' >>"$WORK/bad.yaml"
    sed -i 's/^strategies.*/strategies: [uniform, kmeans(label=x)]/' "$WORK/bad.yaml"
    told plan "$WORK/bad.yaml"
    expect_status 2
}

@test "plot: formats and styles; a figure has the width that is asked for, and its text is text" {
    labelled k-means -q >/dev/null 2>&1
    cd "$WORK/r"
    "$NYSBENCH" plot . error --format pdf,svg 2>"$WORK/err"
    [ ! -s "$WORK/err" ]
    [ -s plots/error_iterative.pdf ]
    [ -s plots/error_iterative.svg ]
    [ ! -e plots/error_iterative.png ] # of other rows, one day
    pdftotext plots/error_iterative.pdf - | grep -q "k-means, restarts=4"
    pdffonts plots/error_iterative.pdf | tail -n +3 >"$WORK/fonts"
    [ -s "$WORK/fonts" ]
    # embedded, and mapped to Unicode
    [ "$(awk '{ print $(NF - 4), $(NF - 3), $(NF - 2) }' "$WORK/fonts" | sort -u | tr ' ' ,)" = yes,yes,yes ]
    grep -qF '<text>landmarks m</text>' plots/error_iterative.svg
    "$NYSBENCH" plot . error 2>"$WORK/err"
    [ ! -s "$WORK/err" ]
    [ ! -e plots/error_iterative.pdf ]
    width=$(sed -n 's/^ *width="\([0-9]*\)" height=.*/\1/p' plots/error_iterative.svg)
    [ "$(od -An -tu4 --endian=big -j16 -N4 plots/error_iterative.png)" -eq $((2 * width)) ]
    for paper in column:252:336 page:518:691 3.25in:234:312 10cm:283:377; do
        IFS=: read -r size points pixels <<<"$paper"
        "$NYSBENCH" plot . error --style paper --width "$size" 2>"$WORK/err"
        [ ! -s "$WORK/err" ]
        pdfinfo plots/paper/error_iterative.pdf | grep -q "^Page size: *$points[. ]" # NOLINT(wording): pdfinfo's
        grep -q " width=\"$pixels\" height=" plots/paper/error_iterative.svg
    done
    [ "$(pdftotext plots/paper/error_iterative.pdf - | grep -c '^labelled:')" -eq 0 ] # no title
    [ -s plots/error_iterative.png ] # that of the screen stays
    (cd plots/paper && rm error_iterative.pdf && gnuplot error_iterative.gp && [ -s error_iterative.pdf ])
}

@test "plot: styles, widths and formats that there are not" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set trials=1 -o "$WORK/r" >/dev/null 2>&1
    for wrong in "--style print" "--width 89mm" "--style paper --width 89" "--style paper --width 1in" \
        "--style paper --width nanmm" "--format jpg" "--format svg,"; do
        # shellcheck disable=SC2086 # several words
        told plot "$WORK/r" $wrong
        expect_status 2
        [ ! -e "$WORK/r/plots" ]
    done
}

@test "names stand beside the ends of few curves, else in the legend" {
    labelled k-means -q >/dev/null 2>&1
    script="$WORK/r/plots"
    "$NYSBENCH" plot "$WORK/r" error --format svg
    # Once in each of two panels, or once in the legend.
    count() { grep -o '<text>k-means, restarts=4<' "$script/error_iterative.svg" | wc -l; }
    [ "$(count)" -eq 2 ]
    [ "$(grep -o '<text>uniform<' "$script/error_iterative.svg" | wc -l)" -eq 2 ]
    sed -i "s/'k-means, restarts=1'/'a name that is far too long to stand beside a panel of this size'/" \
        "$script/error_iterative.gp"
    (cd "$script" && gnuplot error_iterative.gp)
    [ "$(count)" -eq 1 ]
}

# named FIGURE.svg NAME...: each name stands once in it.
named() {
    for name in "${@:2}"; do
        [ "$(grep -o "<text>$name<" "$1.svg" | wc -l)" -eq 1 ] ||
            { echo "$1: $name: $(grep -o '<text>[^<]*<' "$1.svg")"; return 1; }
    done
}

@test "a curve has its name, also if it is a single point, or ends before the others" {
    printf '%s\n' 'name: ends' 'problems: "gaussian(n=64, d=8)"' 'strategies: [uniform, kmeans, segment_means]' \
        'cores: [iterative, svd]' \
        'landmarks: [8, 16]' 'trials: 3' 'metrics: error' 'plots: []' >"$WORK/e.yaml"
    "$NYSBENCH" run "$WORK/e.yaml" -q --set landmarks=8 -o "$WORK/one" >/dev/null 2>&1
    "$NYSBENCH" run "$WORK/e.yaml" -q --set 'exclude=[{strategy: kmeans, landmarks: 16}]' \
        -o "$WORK/early" >/dev/null 2>&1
    # where no matrix of rank m errs
    "$NYSBENCH" run "$WORK/e.yaml" -q --set 'landmarks=[16, 64]' -o "$WORK/exact" >/dev/null 2>&1
    for run in one early exact; do
        for figure in error ratio svd_vs_iterative; do "$NYSBENCH" plot "$WORK/$run" $figure --format svg; done
        cd "$WORK/$run/plots"
        named error_svd uniform kmeans segment_means "best rank m (median)" "constant 1/n"
        named svd_vs_iterative_svd uniform kmeans segment_means
        named ratio_svd kmeans segment_means "1: uniform"
    done
    "$NYSBENCH" run "$WORK/e.yaml" -q --set rows='sample(16)' -o "$WORK/sampled" >/dev/null 2>&1
    "$NYSBENCH" plot "$WORK/sampled" error --format svg
    cd "$WORK/sampled/plots"
    named error_svd uniform kmeans segment_means "constant 1/n"
    ! grep '<text>best' error_svd.svg || return 1 # the best rank m, which is not known of sampled rows
}

@test "an axis has two numbers or more, also where its values are close together or all the same" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set trials=3 --set 'landmarks=[4, 8]' --set metrics=error \
        --set 'problems=gaussian(n=60, d=8)' \
        --set 'strategies=["kmeans(restarts=4)", "kmeans(restarts=5)"]' --set cores=iterative \
        --set factors=nystromformer -o "$WORK/r" >/dev/null 2>&1
    numbers() { grep -A 1 "text-anchor=\"$1\"" "$2" | grep -c '>[0-9.e+-]*</tspan>'; } # of x: middle, of y: end
    for figure in cutoff ratio forest; do "$NYSBENCH" plot "$WORK/r" $figure --format svg >/dev/null; done
    cd "$WORK/r/plots"
    for name in cutoff_kmeans_restarts_4 ratio_iterative; do
        [ "$(numbers middle $name.svg)" -ge 2 ]
        [ "$(numbers end $name.svg)" -ge 2 ]
    done
    [ "$(numbers middle forest_iterative.svg)" -ge 2 ]
    # Close together, without a round number in between.
    reach() { # x or y from $2 to $3
        awk -F, -v OFS=, -v c="$1" -v low="$2" -v high="$3" \
            'NF > 1 && !/^#/ { $(c == "x" ? 2 : 3) = n++ ? high : low } 1' old.dat >cutoff_kmeans_restarts_4.dat
        gnuplot cutoff_kmeans_restarts_4.gp
    }
    cp cutoff_kmeans_restarts_4.dat old.dat
    reach y 0.622 0.635
    [ "$(numbers end cutoff_kmeans_restarts_4.svg)" -ge 2 ]
    for at in 3e-9 3e-4 2.9 700 7e5; do
        reach x $at "$(awk "BEGIN { print 1.001 * $at }")"
        [ "$(numbers middle cutoff_kmeans_restarts_4.svg)" -ge 2 ]
    done
    # Less than a decade, between round numbers.
    reach x 1.1 1.84
    [ "$(numbers middle cutoff_kmeans_restarts_4.svg)" -ge 3 ]
}

@test "ratio --by core has the ratios and intervals of compare --by core; what that refuses is left out and named" {
    cat >"$WORK/e.yaml" <<END
problems: ["heads(file=[$(printf '%s, ' experiments/data/panel/minilm_*.safetensors | sed 's/, $//')], head=[0, 1],
            max_n=40)", "gaussian(n=40, d=4)"]
strategies: [uniform, "uniform(strided=true)", profile]
cores: [iterative, svd, "fitted(rows=12)"]
landmarks: [4, 8]
trials: 7
metrics: error
plots: []
END
    "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r" >/dev/null
    undrawn
    warned plot "$WORK/r" ratio --by core
    expect_status 0
    "$NYSBENCH" compare "$WORK/r" --by core --resamples 0 --format json >"$WORK/json"
    py check_ratios "$WORK"
    told plot "$WORK/r" ratio --by strategies
    expect_status 2
    "$NYSBENCH" plot "$WORK/r" ratio # removes none of a figure whose name begins alike
    [ "$(find "$WORK/r/plots" -name 'ratio_by_core_*.gp' | wc -l)" -eq 1 ]
}

@test "a label that begins with apostrophes" {
    cat >"$WORK/c.yaml" <<'EOF'
problems: "gaussian(n=30, d=2)"
strategies: [uniform, "kmeans(label=\"'a\")", "kmeans(restarts=2, label=\"''b'c\")"]
cores: svd
landmarks: [3, 5]
trials: 6
metrics: error
plots: [ratio]
EOF
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 0
    grep -q "'a" "$WORK"/r/plots/ratio*.svg
    grep -q "''b'c" "$WORK"/r/plots/ratio*.svg
}

@test "names that are cut keep their ends, which tell them apart" {
    command -v gnuplot >/dev/null || skip "gnuplot is missing"
    local long="a name of a strategy that is far too long for what stands beside a figure, with"
    printf '%s\n' 'problems: "gaussian(n=24, d=4)"' 'landmarks: 4' 'trials: 6' 'metrics: error' 'plots: []' \
        'cores: svd' \
        "strategies: [uniform, 'kmeans(restarts=1, label=\"$long 1\")', 'kmeans(restarts=4, label=\"$long 4\")']" \
        >"$WORK/e.yaml"
    "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r" >/dev/null 2>&1
    for figure in forest ranks; do
        "$NYSBENCH" plot "$WORK/r" $figure --style paper >/dev/null
        cut=$(grep -o '<text>a n[^<]*\.\.\.[^<]*<' "$WORK"/r/plots/paper/${figure}_svd*.svg | sort -u)
        [ "$(wc -l <<<"$cut")" -eq 2 ] || { echo "$figure: $cut"; return 1; }
        grep -q " 1<" <<<"$cut" && grep -q " 4<" <<<"$cut"
    done
}

@test "intervals are shifted apart where series meet, by the same in error as in ratio, and nowhere else" {
    undrawn
    printf '%s\n' 'problems: "gaussian(n=24, d=4)"' 'landmarks: [4, 8]' 'metrics: error' 'plots: []' 'cores: svd' \
        'trials: 6' \
        'strategies: [uniform, segment_means, kmeans]' >"$WORK/e.yaml"
    "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r" >/dev/null 2>&1
    "$NYSBENCH" run "$WORK/e.yaml" -q --set trials=2 -o "$WORK/few" >/dev/null 2>&1
    aside() { sed -n 's/^array aside\[[0-9]*\] = //p' "$1"; }
    for run in r few; do "$NYSBENCH" plot "$WORK/$run" error >/dev/null 2>&1; done
    "$NYSBENCH" plot "$WORK/r" ratio >/dev/null 2>&1
    [ "$(aside "$WORK/r/plots/error_svd.gp")" = "[-0.02, 0, 0.02, 0, 0]" ] # not the floor and the constant
    [ "$(aside "$WORK/r/plots/ratio_svd.gp")" = "[-0.01, 0.01]" ]
    [ "$(aside "$WORK/few/plots/error_svd.gp")" = "[0, 0, 0, 0, 0]" ]
}

# Draws a figure of all rows of the run $WORK/r, and of those selected, and compares methods' looks: where these lack
# it, their labels end in SUFFIX among all. same_looks FIGURE STEM STEM-OF-SELECTED SUFFIX CONDITIONS
same_looks() {
    "$NYSBENCH" plot "$WORK/r" "$1" >/dev/null 2>&1
    "$NYSBENCH" plot "$WORK/r" "$1" --where "$5" >/dev/null 2>&1
    py check_looks "$WORK/r/plots/$1_$2.gp" "$WORK/r/plots/selected/$1_$3.gp" "$4"
}

@test "a method has one look in all figures of a run, whichever rows they show" {
    undrawn
    printf '%s\n' 'problems: "gaussian(n=32, d=4)"' 'landmarks: [4, 8]' 'metrics: error' 'plots: []' 'trials: 2' \
        'kernels: [softmax, "gram(of=queries)"]' 'pairing: [joint, independent]' 'factors: [nystromformer, nocore]' \
        'cores: [tikhonov, "svd(rcond=[0.03, 0.01])", "iterative(steps=[4, 6, 8])"]' \
        'strategies: [uniform, segment_means, "kmeans(restarts=[1, 4])", leverage]' >"$WORK/e.yaml"
    "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r" >/dev/null
    local one=pairing=joint,factors=nystromformer other=pairing=independent,factors=nocore
    same_looks cost flops_with_svd flops_with_svd "" strategy=leverage,strategy=kmeans
    # NOLINT(wording): what the labels of lines end in
    same_looks cost flops_with_svd flops_with_svd ", joint, nystromformer" "strategy=leverage,strategy=kmeans,$one"
    # NOLINT(wording): the same
    same_looks cost flops_with_no_core flops_with_no_core ", independent, nocore" "strategy=segment_means,$other"
    same_looks spectrum svd_rcond_0.03 svd_rcond_0.03 "" strategy=segment_means
    # A sweep looks as its core of default options does. Two of its cores are no sweep, and differ.
    local cores='core=svd,core=svd(rcond=0.01),core=iterative(steps=6)'
    same_looks cores kmeans__joint__nystromformer kmeans "" "strategy=kmeans,$one,$cores"
    same_looks cutoff kmeans__joint__nystromformer kmeans "" "strategy=kmeans,$one,core=tikhonov"
    "$NYSBENCH" plot "$WORK/r" cores --where "$cores,core=iterative(steps=8)" >/dev/null 2>&1
    [ "$(sed -n 's/^array looks.* = //p' "$WORK/r/plots/selected/cores_kmeans__joint.gp")" = "[2, 3, 4, 7]" ]
}

@test "a method has one look in all figures of a run of another study, too" {
    undrawn
    printf '%s\n' 'study: forward' 'problems: "gaussian(n=32, d=4)"' 'plots: []' 'trials: 1' 'rounds: 1' \
        'attentions: [streamed, "nystrom(landmarks=[4, 8])", "longformer(window=4)", performer, linear]' >"$WORK/e.yaml"
    "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r" >/dev/null
    same_looks front 1_thread 1_thread "" attention=performer,attention=linear
}
