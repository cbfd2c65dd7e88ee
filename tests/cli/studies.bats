# SPDX-License-Identifier: GPL-3.0-or-later
# A study that the program has never heard of: what runs, resumes, shards, merges, excludes, exports
# and draws the error study does the same for it.

load helpers

# The rows without the column that holds a time; what is wrong with them by NumPy, which has the points from the file.
norms_rows() {
    py print_rows "$1"
}

study() {
    build_plugin tests/cli/plugins/norms.c "$WORK/norms.so"
    cat >"$WORK/c.yaml" <<EOF
study: norms
plugins: $WORK/norms.so
problems: ["gaussian(n=[40, 60], d=4)", "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=[0, 1])"]
exponents: [1..3, 5]
trials: 3
exclude:
  - {side: keys, exponent: 3..5}
$1
EOF
}

@test "a study out of the tree runs, its numbers are NumPy's, and its figure is drawn" {
    study
    expect_plan 'methods=6 excluded=16' "$WORK/c.yaml"
    run "$NYSBENCH" run "$WORK/c.yaml" -q -j 2 -o "$WORK/r"
    expect_status 0
    expect_rows "$WORK/r" "48 ok"
    py check_numbers "$WORK/r/rows.csv"
    [ -s "$WORK/r/plots/norms.csv" ] && [ -s "$WORK/r/plots/norms_all.png" ]
    rm -r "$WORK/r/plots"
    run "$NYSBENCH" plot "$WORK/r" --plugin "$WORK/norms.so"
    expect_status 0
    [ -s "$WORK/r/plots/norms_all.png" ]
    # figures and tables read the rows of their own study alone
    told plot "$WORK/r" error --plugin "$WORK/norms.so"
    expect_status 1
    told table "$WORK/r" shares --plugin "$WORK/norms.so"
    expect_status 2
    run "$NYSBENCH" table "$WORK/r" --plugin "$WORK/norms.so"
    expect_status 0
    [ -z "$output" ]
}

@test "a study out of the tree goes on after a kill, and where one of its components crashes" {
    undrawn
    study
    run "$NYSBENCH" run "$WORK/c.yaml" -q -j 2 -o "$WORK/whole"
    expect_status 0
    NORMS_CRASH=3 told run "$WORK/c.yaml" -q -j 2 -o "$WORK/r"
    expect_status 1
    expect_rows "$WORK/r" "40 ok, 8 crashed"
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" --retry crashed
    expect_status 0
    diff <(norms_rows "$WORK/whole/rows.csv") <(norms_rows "$WORK/r/rows.csv")
    "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 --set trials=8000 -o "$WORK/k" >"$WORK/out" 2>&1 &
    until_true test -s "$WORK/k/results.sqlite"
    kill -KILL $!
    expect_end $! 137
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/k"
    expect_status 0
    diff <(norms_rows "$WORK/whole/rows.csv") <(norms_rows "$WORK/k/rows.csv")
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/k" --only "exponent=2, side=keys, trial=1"
    expect_status 0
    expect_rows "$WORK/k" "48 ok"
}

@test "shards of a study out of the tree are united, and export tells them in CSV and JSON" {
    undrawn
    study
    run "$NYSBENCH" run "$WORK/c.yaml" -q -j 2 -o "$WORK/whole"
    expect_status 0
    for shard in 1/3 2/3 3/3; do "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" --shard $shard; done
    run "$NYSBENCH" merge "$WORK/r" -q --plugin "$WORK/norms.so"
    expect_status 0
    diff <(norms_rows "$WORK/whole/rows.csv") <(norms_rows "$WORK/r/rows.csv")
    "$NYSBENCH" export "$WORK/r" --plugin "$WORK/norms.so" >"$WORK/rows.csv"
    cmp "$WORK/rows.csv" "$WORK/r/rows.csv"
    of_json 'assert len(x) == 48 and all(r["norm_mean"] > 0 for r in x), x[0]' \
        "$NYSBENCH" export "$WORK/r" --plugin "$WORK/norms.so"
    run "$NYSBENCH" status "$WORK/r" --plugin "$WORK/norms.so"
    expect_status 0
}

@test "what is wrong with a study, or in the config of one" {
    study "kernels: softmax
scale: half
metrics: error
plots: [norms, error]"
    told plan "$WORK/c.yaml"
    expect_status 2
    study
    told plan "$WORK/c.yaml" --set study=norm
    expect_status 2
    run "$NYSBENCH" run experiments/00-smoke.yaml -q -o "$WORK/r"
    expect_status 0
    told run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 2
    sed 's/.row_size = sizeof(norms_row)/.row_size = 8/; s/study_norms/study_bad/; s/"norms", "how/"bad", "how/' \
        tests/cli/plugins/norms.c >"$WORK/bad.c"
    build_plugin "$WORK/bad.c" "$WORK/bad.so"
    told list --plugin "$WORK/bad.so"
    expect_status 2
}

@test "a column's name that SQL or the rows' tables would take for something else is refused" {
    local name column
    while read -r name; do
        column="{.name = \"$name\", .type = NB_COLUMN_REAL, .offset = offsetof(norms_row, result.norm_most)"
        sed -e 's/study_norms/study_bad/; s/"norms", "how/"bad", "how/' \
            -e "s/REAL(norm_most, \(.*\)),/$column, .measure = true, \1},/" \
            tests/cli/plugins/norms.c >"$WORK/bad.c"
        build_plugin "$WORK/bad.c" "$WORK/bad.so"
        told list --plugin "$WORK/bad.so"
        expect_status 2
    done <<'X'
order
current_date
position
mine_id
norm mean
2norm
Norm
norm_mean
X
}

@test "each part that a study must have is missed by name" {
    local edit
    while read -r edit; do
        sed "$edit; s/study_norms/study_bad/; s/\"norms\", \"how/\"bad\", \"how/" \
            tests/cli/plugins/norms.c >"$WORK/bad.c"
        build_plugin "$WORK/bad.c" "$WORK/bad.so"
        told list --plugin "$WORK/bad.so"
        expect_status 2
    done <<'X'
s/.result_size = sizeof(norms)/.result_size = sizeof(norms_row)/
s/.result_offset = .*/.result_offset = 0,/
s/exponent, .identity = true/exponent/
s/.column = "side"/.column = "exponent"/
s/.words = sides/.words = 0 ? sides : NULL/
s/.hi = 64/.hi = 1000001/
s/.words = sides/.resolved = true, .words = sides/
s/norm_most/most_label/g
s/.baseline = -1/.baseline = SIDE/
X
}

@test "a study that ends the program or never returns is told with its file; the program itself never loads it" {
    study
    local harm place command main
    while IFS='|' read -r place harm; do
        for command in plan "run -q -o $WORK/r"; do
            if [[ $harm == hang && $command == plan ]]; then continue; fi # it waits 20 s
            rm -f "$WORK/spared"
            NORMS_SPARED=$WORK/spared NORMS_AT=$place NORMS_HARM=$harm run timeout 300 "$NYSBENCH" $command \
                "$WORK/c.yaml" $([[ $command == plan ]] || echo "--timeout 1")
            expect_status 1
            [[ $harm != hang ]] || expect "after 1 s"
            tell PLACE="$place" HARM="$harm" nysbench $command
            [ ! -e "$WORK/r" ]
        done
    done <<'EOF'
constructors|abort
constructors|exit 0
constructors|hang
cost|abort
cost|exit 0
cost|_exit 0
cost|hang
EOF
    NORMS_LOADS=$WORK/loads "$NYSBENCH" run "$WORK/c.yaml" -q -j 2 -o "$WORK/r" >"$WORK/log" 2>&1 3>&- &
    main=$!
    wait "$main"
    grep -q . "$WORK/loads"
    ! grep -qx "$main" "$WORK/loads"
}

gone() {
    ! pgrep -f "$1" >/dev/null
}

@test "a run of a study out of the tree is interrupted, and killed, as any other" {
    study
    local signal
    for signal in INT TERM KILL; do
        rm -rf "$WORK/r"
        setsid env --default-signal=INT "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 --set trials=20000 \
            -o "$WORK/r" >"$WORK/log" 2>&1 3>&- &
        pid=$!
        until_true test -e "$WORK/r/manifest.json"
        sleep 0.5
        kill "-$signal" "$pid"
        if [ "$signal" = KILL ]; then
            expect_end "$pid" 137
        else
            expect_end "$pid" 130
            output=$(grep interrupted "$WORK/log") status=130 tell "SIG$signal" nysbench run
        fi
        until_true gone "$WORK/r"
    done
}
