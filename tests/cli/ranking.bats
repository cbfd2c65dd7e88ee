# SPDX-License-Identifier: GPL-3.0-or-later
# The tables `ranks` and `wins` and the figures `ranks` and `ratio`: what they say where there is little to say. Their
# numbers are checked by tests/oracle/ranking.py.

load helpers

measure() { # a run of $WORK/c.yaml in $WORK/r: measure OPTION...
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" "$@" >/dev/null 2>&1 || [ "$?" -eq 1 ]
}

drawn() { # trials of two drawn problems: drawn TRIALS OPTION...
    config <<Y
problems: ["gaussian(n=48, d=4)", "smooth(n=48, d=4)"]
strategies: [uniform, segment_means, kmeans]
pairing: joint
cores: iterative
landmarks: [4, 8]
trials: $1
metrics: error
plots: []
Y
    measure "${@:2}"
}

# No table says NaN, and all lines of a CSV have as many fields.
check_tables() {
    for name in ranks wins; do
        "$NYSBENCH" table "$WORK/r" "$name" >"$WORK/$name.txt"
        "$NYSBENCH" table "$WORK/r" "$name" -f csv >"$WORK/$name.csv"
        [ "$(grep -ci 'nan' "$WORK/$name.txt")" -eq 0 ]
        py check_csv "$WORK/$name.csv"
    done
}

# What the table says beside its lines of strategies is golden: words NAME
words() {
    local of_strategy='^  +(?!landmarks \d+:)([0-9]+ +)?[a-z_]+([(].*[)])? +[-0-9]'
    output=$(grep -vP "$of_strategy" "$WORK/$1.txt") tell nysbench table "$WORK/r" "$1"
}

@test "ranks and wins by model and over models, with tests, for people and as CSV" {
    drawn 8
    check_tables
    words ranks
    sed -n 's/^  critical difference *//p' "$WORK/ranks.txt" | grep -qE '^0.83 +0.83$'
    [ "$(grep -c '^  sources  *16  *16$' "$WORK/ranks.txt")" -eq 1 ]
    [ "$(grep -c '^  sources  *8  *8$' "$WORK/ranks.txt")" -eq 2 ]
    words wins
    grep -qE '^  1  uniform  +- +[0-9]+/16\*? +[0-9]+/16\*? *$' "$WORK/wins.txt"
    # of every standing the mean ranks sum up to 1 + 2 + 3, and a/b stands across from (b - a)/b
    py check_tables "$WORK"
}

@test "of fewer than six sources there are ranks and no tests" {
    undrawn
    drawn 5
    check_tables
    words ranks
    grep -q '^  sources  *10  *10$' "$WORK/ranks.txt" # over problems there are enough
    [ "$(grep -c "Friedman's chi2" "$WORK/ranks.txt")" -eq 1 ]
    words wins
    config <<'Y'
problems: "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors)"
strategies: [uniform, segment_means, kmeans]
cores: iterative
landmarks: [4, 8]
trials: 2
metrics: error
plots: [ratio, ranks]
Y
    measure
    check_tables
    words ranks
    [ "$(grep -c 'Friedman\|Nemenyi' "$WORK/ranks.txt")" -eq 0 ]
    [ "$(grep -c '[0-9]\*' "$WORK/wins.txt")" -eq 0 ]
    output=$(grep -h "too few\|no test" "$WORK"/r/plots/{ratio,ranks}_iterative.gp) tell cat {ratio,ranks}_iterative.gp
    grep -qE '^iterative,ViT-S/14,kmeans,4,[0-9.e+-]+,,,1,3,0$' "$WORK/r/plots/ratio.csv"
}

@test "of a run that is not finished there are ranks and wins, and no tests or verdicts" {
    drawn 8 --only landmarks=4
    check_tables
    words ranks
    words wins
}

@test "where all errors are rounding noise all strategies are equal" {
    config <<'Y'
problems: gaussian(n=48, d=4)
kernels: gram
strategies: [uniform, segment_means, kmeans]
cores: svd(rcond=machine)
landmarks: [8, 16]
trials: 8
metrics: error
plots: []
Y
    measure
    check_tables
    [ "$(grep -cE '^  (uniform|segment_means|kmeans) +2.00 a +2.00 a$' "$WORK/ranks.txt")" -eq 3 ]
    grep -qE '^  its p +1 +1$' "$WORK/ranks.txt"
    [ "$(grep -c '0/8 ' "$WORK/wins.txt")" -eq 6 ]
    "$NYSBENCH" plot "$WORK/r" ranks
    quoted ".*Friedman.*" "$WORK/r/plots/ranks_svd_rcond_machine.gp"
}

@test "who has no result is not ranked, and a source where one has none is left out" {
    undrawn
    cp "$REPOSITORY/tests/cli/plugins/some_fail.py" "$WORK/some.py"
    config <<Y
problems: gaussian(n=48, d=4)
strategies: [uniform, "uniform(strided=true)", 'command(run="false")', 'command(run="/usr/bin/python3 $WORK/some.py")']
pairing: joint
cores: iterative
landmarks: 4
trials: 20
metrics: error
plots: [ratio, ranks]
Y
    measure
    check_tables
    grep -q '^  command(run=false)  *-$' "$WORK/ranks.txt"
    words ranks
    words wins
    py check_absent "$WORK"
    [ "$(grep -c 'run=false' "$WORK/r/plots/ranks.csv")" -eq 0 ]
    [ "$(grep -ci 'nan' "$WORK/r/plots/ranks.csv" "$WORK/r/plots/ratio.csv" | grep -vc ':0$')" -eq 0 ]
}

@test "tables and figures of a name that there is not, or in a form that there is not" {
    drawn 2
    told table "$WORK/r" rank
    expect_status 2
    told table "$WORK/r" wins --format xml
    expect_status 2
    told plot "$WORK/r" ratios
    expect_status 2
    told plot "$WORK/r" ranks -m 8
    expect_status 2
    warned table "$WORK/r" ranks --where strategy=kmeans # alone it has no rank
    expect_status 0
}

@test "a figure for each core and model, and none where there is one strategy" {
    config <<'Y'
problems: ["gaussian(n=48, d=4)", "smooth(n=48, d=4)"]
strategies: [uniform, segment_means, kmeans]
pairing: joint
cores: [iterative, "svd(rcond=0.1)"]
landmarks: [4, 8]
trials: 6
metrics: error
plots: [ratio, ranks]
Y
    measure
    cd "$WORK/r/plots"
    for name in ratio_iterative "ratio_svd_rcond_0.1" ranks_iterative__all_problems \
        "ranks_svd_rcond_0.1___smooth_n_48__d_4"; do
        [ -s "$name.gp" ] && [ -s "$name.dat" ]
        if command -v gnuplot >/dev/null; then [ -s "$name.png" ] && [ -s "$name.svg" ]; fi
    done
    [ "$(ls ratio_*.gp | wc -l)" -eq 2 ]
    [ "$(ls ranks_*.gp | wc -l)" -eq 6 ]
    quoted "^y_name = .*|'all problems[^']*'" ratio_iterative.gp
    quoted ".*Nemenyi.*" ranks_iterative__all_problems.gp
    if command -v gnuplot >/dev/null; then
        export LC_ALL=C.UTF-8
        run gnuplot ratio_iterative.gp
        expect_status 0
        [ -z "$output" ]
        run gnuplot ranks_iterative__all_problems.gp
        [ -z "$output" ]
    fi
    cd - >/dev/null
    sed -i 's/^strategies.*/strategies: [uniform]/' "$WORK/c.yaml"
    told run "$WORK/c.yaml" -q -o "$WORK/r"
    [ ! -e "$WORK/r/plots/ratio_iterative.gp" ] && [ ! -e "$WORK/r/plots/ranks.csv" ]
}

@test "many strategies are a forest" {
    undrawn
    config <<'Y'
problems: gaussian(n=48, d=4)
strategies: [uniform, "kmeans(restarts=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13])"]
pairing: joint
cores: iterative
landmarks: 4
trials: 2
metrics: error
plots: ratio
Y
    warned run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 0
    [ -s "$WORK/r/plots/forest_iterative.gp" ] && [ ! -e "$WORK/r/plots/ratio.csv" ]
}
