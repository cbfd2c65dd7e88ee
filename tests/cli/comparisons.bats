# SPDX-License-Identifier: GPL-3.0-or-later
# What a run compares with what, in its tables and figures, against NumPy's own
# computation from the rows.

load helpers

small() { # OPTIONS...
    "$NYSBENCH" run experiments/00-smoke.yaml --set plots=[] --set metrics=[error] --set factors=nystromformer \
        --set "problems=[\"clusters(n=64, d=8, count=4)\", heads(file=$ASTRONAUT)]" -o "$WORK/r" "$@"
}

both="{pairing: both, strategies: exchange}" # a block

@test "the baseline has a strategy's pairing, or the line names both" {
    run small --set "blocks=[{strategies: [uniform, kmeans, segment_means], pairing: [joint, independent]}, $both]"
    expect_status 0
    "$NYSBENCH" table "$WORK/r" errors >"$WORK/errors"
    quoted '^    kmeans, [a-z]+|[0-9)]\*|^  The pairing .*' "$WORK/errors" # two trials are too few for a star
    "$NYSBENCH" table "$WORK/r" shares >"$WORK/shares"
    quoted '^    exchange, .* [a-z]+' "$WORK/shares" # once a core
    warned plot "$WORK/r" ratio
    "$NYSBENCH" table "$WORK/r" shares --format csv >"$WORK/r/shares.csv"
    py check_pairings "$WORK/r"
}

# The lines of the table of errors that have a star are golden, below the names of their problems: error_stars RUN
error_stars() {
    "$NYSBENCH" table "$1" errors >"$WORK/errors"
    quoted '^(clusters|heads)\(.*|^    .*[0-9)]\*.*' "$WORK/errors"
}

@test "a star is for what is surely below the next of its pairing, and never for the heads of one file" {
    run small -q --set trials=12 --set cores=iterative \
        --set "blocks=[{strategies: [uniform, kmeans], pairing: [joint, independent]}, $both]"
    expect_status 0
    error_stars "$WORK/r" # kmeans at each m, under joint and under independent; exchange has no other beside it
    # of five trials none
    small -q --set trials=5 --set cores=iterative --set strategies=[uniform,kmeans]
    error_stars "$WORK/r"
}

# Two problems, cores and sizes, an oracle, and a block whose strategy is refused, since it has another pairing. The
# package's is in tests/python/test_run.py, all others in tests/unit/test_one_answer.c.
@test "a run, compare and the report show one comparison; the report's is over all landmarks" {
    small --set "blocks=[{strategies: [uniform, kmeans, segment_means, leverage]}, $both]" \
        --set trials=8 >"$WORK/run" 2>/dev/null
    "$NYSBENCH" compare "$WORK/r" >"$WORK/compare"
    [ "$(wc -l <"$WORK/compare")" -gt 20 ]
    head -n "$(wc -l <"$WORK/compare")" "$WORK/run" | diff "$WORK/compare" -
    "$NYSBENCH" report "$WORK/r" >/dev/null
    "$NYSBENCH" compare "$WORK/r" --pool landmarks --by-model --format markdown |
        sed '/^## error/,/^nysbench compare/!d; /^Exploratory/,/^$/d; s/^##/###/' >"$WORK/pooled"
    [ "$(grep -c '^|' "$WORK/pooled")" -gt 10 ]
    sed '/^### error by/,/^nysbench compare/!d' "$WORK/r/report.md" | diff "$WORK/pooled" -
}

@test "where one of what is pooled draws nothing, it counts in each trial: compare, a claim and NumPy say the same" {
    config <<'Y'
problems: "heads(file=experiments/data/panel/minilm_*_n256_L3.safetensors)"
strategies: [uniform, segment_means]
cores: [svd(rcond=0.03), iterative(steps=6)]
trials: 5
draws: shared
landmarks: 8
metrics: error
plots: []
claims:
  - says: the cut at 0.03 has the error of six steps
    compare: {core: [svd(rcond=0.03), iterative(steps=6)], metric: error}
    expect: {ratio: [0.95, 1.05]}
Y
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >"$WORK/said" 2>&1
    "$NYSBENCH" compare "$WORK/r" --by core --baseline 'iterative(steps=6)' --pool strategy --format json \
        >"$WORK/compare.json"
    "$NYSBENCH" claims "$WORK/r" --format json >"$WORK/claims.json"
    py check_lasting "$WORK"
}

@test "one trial stands for others only where these have the same data and nothing draws" {
    local heads='heads(file=experiments/data/panel/minilm_*_n256_L3.safetensors)' problem
    for problem in 'gaussian(n=48, d=4)' "$heads"; do
        config <<Y
problems: "$problem"
blocks: [{strategies: uniform, trials: 7}, {strategies: [kmeans, segment_means], trials: 1}]
cores: iterative
draws: shared
landmarks: 8
metrics: error
plots: []
Y
        "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >"$WORK/said" 2>&1
        of_json 'for l in x: print(l["method"].split("(")[0], l["sources"], l["trials"], l["pairs"], l["verdict"])' \
            "$NYSBENCH" compare "$WORK/r"
        rm -r "$WORK/r"
    done >"$WORK/found"
    diff - "$WORK/found" <<'END'
kmeans 1 1 1 none
segment_means 1 1 1 none
kmeans 8 1 16 none
segment_means 8 7 112 better
END
}

@test "errors that are rounding noise are shown as such and not compared" {
    config <<'Y'
problems: gaussian(n=48, d=4)
kernels: gram
strategies: [uniform, segment_means, kmeans]
cores: [svd(rcond=1e-8), iterative(steps=30)]
trials: 3
landmarks: [2, 8, 16]
metrics: error
plots: [svd_vs_iterative]
Y
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/r"
    expect_status 0
    "$NYSBENCH" table "$WORK/r" errors >"$WORK/out"
    "$NYSBENCH" table "$WORK/r" shares --format csv >"$WORK/r/shares.csv"
    # at m = 8 and 16, beyond d, the matrix has the rank of A
    py check_noise "$WORK"
}

@test "a strategy has one colour in all figures of a run, and a core too" {
    undrawn
    config <<'Y'
problems: clusters(n=48, d=8, count=4)
strategies: [segment_means, uniform, kmeans]
factors: [nystromformer, cur]
pairing: joint
cores: [best, iterative, "svd(rcond=[0.1, 0.01, 0.001])", fitted, "fitted(rows=[8, 16, 32])"]
trials: 2
landmarks: [4, 8]
metrics: error
plots: [error, rows, spectrum, cores, cutoff]
Y
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >/dev/null
    "$NYSBENCH" plot "$WORK/r" --landmarks >/dev/null
    py check_colours "$WORK/r/plots"
}

@test "two scripts of one name are told apart" {
    mkdir "$WORK/a" "$WORK/b"
    cp experiments/plugins/farthest.py "$WORK/a/mine.py"
    cp experiments/plugins/farthest.py "$WORK/b/mine.py"
    config <<Y
problems: gaussian(n=30, d=4)
strategies: [uniform, 'command(run="/usr/bin/python3 $WORK/a/mine.py")',
             'command(run="/usr/bin/python3 $WORK/b/mine.py")']
pairing: joint
cores: [svd, iterative]
landmarks: 4
trials: 1
metrics: error
plots: cores
Y
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/r"
    expect_status 0
    of_json 'labels = {r["label"] for r in x}
assert labels == {"uniform", "command(run=a/mine.py)", "command(run=b/mine.py)"}, labels' \
        "$NYSBENCH" table "$WORK/r" errors
    [ -s "$WORK/r/plots/cores_command_run_a_mine.py.gp" ]
    [ -s "$WORK/r/plots/cores_command_run_b_mine.py.gp" ]
}

@test "the forest has geometric means over m and trials, intervals over six sources, and stands for many curves" {
    local swept='"kmeans(restarts=[1, 2, 3, 4, 5, 6])", "ridge_leverage(of=[gram, exp, gauss])"'
    run small --set "strategies=[uniform, segment_means, $swept, group_means, farthest_point, dsquared]" \
        --set pairing=joint --set 'plots=[error, svd_vs_iterative]' --set trials=6 \
        --set 'problems=["clusters(n=64, d=8)", "gaussian(n=64, d=8)"]'
    expect_status 0
    output=$(grep '^nysbench: note: plot' <<<"$output") tell nysbench run
    [ ! -e "$WORK/r/plots/error.csv" ]
    for f in forest_svd_rcond_1e-15 forest_iterative core_forest_iterative; do
        [ -s "$WORK/r/plots/$f.dat" ]
        if command -v gnuplot >/dev/null; then [ -s "$WORK/r/plots/$f.png" ]; fi
    done
    py check_forest "$WORK/r"
    rm "$WORK"/r/plots/forest_*
    "$NYSBENCH" plot "$WORK/r" forest >/dev/null
    [ "$(find "$WORK/r/plots" -name 'forest_*.gp' | wc -l)" -eq 2 ]
    # the config's baseline is plot's too
    small -q --set 'strategies=[uniform, segment_means, kmeans]' --set pairing=joint --set baseline=kmeans
    "$NYSBENCH" plot "$WORK/r" forest
    quoted "^title = .*" "$WORK/r/plots/forest_iterative.gp"
    grep -q '^iterative,kmeans,all,true,1.0000000000000000e+00,' "$WORK/r/plots/forest.csv"
}

@test "the error is drawn as medians with intervals over six sources or more; what has no rows is not in the legend" {
    command -v gnuplot >/dev/null || skip "gnuplot is missing"
    config <<'Y'
problems: ["gaussian(n=40, d=4)", "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors)"]
strategies: [uniform, segment_means, kmeans]
pairing: joint
cores: ["svd(rcond=[0.03, 0.1, 0.3])", iterative]
trials: 6
landmarks: [4, 8]
metrics: error
plots: [error, cutoff]
exclude: {strategy: segment_means, core: iterative}
Y
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >/dev/null 2>&1
    quoted '<text>[^<]*(10-90 %|interval|its median)[^<]*<' "$WORK"/r/plots/{cutoff_uniform,error_svd}.svg
    grep -q "segment_means" "$WORK/r/plots/error_svd.svg"
    if grep -q "segment_means" "$WORK/r/plots/error_iterative.svg"; then false; fi
    "$NYSBENCH" plot "$WORK/r" error --where 'problem=heads' --format svg >/dev/null # of one source
    [ "$(grep -c "interval" "$WORK/r/plots/selected/error_svd.svg")" -eq 0 ]
    py check_intervals "$WORK/r"
}

@test "a script that somebody has edited is kept, and told" {
    notes() { output=$(grep '^nysbench: .*edited' <<<"$output") tell nysbench run; }
    draw() { run small -q --set "strategies=[$1]" --set plots=error "${@:2}"; }
    draw uniform
    sed -i 's/#0072B2/#123456/' "$WORK/r/plots/looks.gp"
    echo "# mine" >>"$WORK/r/plots/error_svd_rcond_1e-15.gp"
    draw uniform
    expect_status 0
    notes
    grep -q "#123456" "$WORK/r/plots/looks.gp"
    if command -v gnuplot >/dev/null; then grep -q "18, *52, *86" "$WORK/r/plots/error_iterative.svg"; fi
    # other rows: the script for them is another one
    draw uniform,segment_means
    local script=$WORK/r/plots/error_svd_rcond_1e-15.gp
    notes
    grep -q "^# mine" "$script"
    grep -q "^array.*'segment_means'" "$script.new"
    if command -v gnuplot >/dev/null; then # by the script that names these rows
        grep -q segment_means "${script%.gp}.svg"
    fi
    # who has copied what he needs removes it, and has his own script used
    { cat "$script.new"; echo "# merged"; } >"$script"
    rm "$script.new"
    draw uniform,segment_means
    notes
    [[ "$output" != *"$script.new"* && ! -e "$script.new" ]]
    # an unedited one is as written, without a line for the program
    ! grep -l "SHA-256" "$WORK"/r/plots/*.gp || false
    run env -C "$WORK/r/plots" sha256sum -c .scripts.sha256
    expect_status 1
    [ "$(grep -c 'FAILED$' <<<"$output")" -eq 2 ] # looks.gp and the merged one
    # rows that are gone leave an edited figure where it is
    echo "# mine" >>"$WORK/r/plots/error_iterative.gp"
    draw uniform,segment_means --set 'cores=[svd]'
    notes
    [ -s "$WORK/r/plots/error_iterative.gp" ]
}

# The lines of the table of cores are golden, with stars and other marks, and why a core has no star: core_lines RUN
core_lines() {
    "$NYSBENCH" table "$1" cores >"$WORK/cores"
    quoted '^  [a-z]+\(.*' "$WORK/cores"
}

@test "the table of cores leaves blank what was not planned, and has no star for two sources" {
    config <<'Y'
problems: ["gaussian(n=48, d=4)", "clusters(n=48, d=4)"]
pairing: joint
trials: 2
metrics: error
plots: []
strategies: [uniform, segment_means]
landmarks: [4, 8]
cores: [svd, iterative]
blocks:
  - {}
  - {cores: fitted, landmarks: 8, strategies: uniform}
  - {cores: chosen, landmarks: 4}
Y
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/r"
    expect_status 0
    core_lines "$WORK/r"
    of_json 'assert [r["landmarks"] for r in x if r["core"].startswith(("chosen(", "fitted("))] == [4, 8], x' \
        "$NYSBENCH" table "$WORK/r" cores
}

core_verdicts() {
    of_json 'print(*(line["verdict"] for line in x), sep=",")' "$NYSBENCH" compare "$@" --by core
}

@test "the table of cores stars the nearest one where it is better by compare, and none that compare refuses" {
    config <<'Y'
problems: ["gaussian(n=48, d=4)"]
pairing: joint
trials: 8
metrics: error
plots: []
strategies: [uniform, segment_means]
landmarks: [4, 8]
cores: ["svd(rcond=0.9)", iterative]
Y
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/r"
    expect_status 0
    core_lines "$WORK/r"
    [ "$(core_verdicts "$WORK/r" --pool strategy)" = undecided,better ]
    # one that has looked at the rows that it is judged on
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/s" --set 'cores=["svd(rcond=0.9)", "fitted(rows=48)"]'
    expect_status 0
    core_lines "$WORK/s"
    [ "$(core_verdicts "$WORK/s")" = refused,refused,refused,refused ]
    # one that another build has measured
    in_store "$WORK/r" "INSERT INTO manifests SELECT id + 1, build, 'another', text FROM manifests;
        UPDATE results SET manifest = manifest + 1 WHERE core LIKE 'iterative(steps=6%'"
    core_lines "$WORK/r"
    [ "$(core_verdicts "$WORK/r")" = refused ]
}
