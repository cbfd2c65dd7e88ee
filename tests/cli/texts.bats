# SPDX-License-Identifier: GPL-3.0-or-later
# Text from outside, whatever it is, is UTF-8 without control characters where it is stored or
# shown; and failures for one reason are one group.

load helpers

setup_file() {
    build_plugin tests/cli/plugins/strays.c "$BATS_FILE_TMPDIR/strays.so"
}

# experiment STRATEGIES [TRIALS]
experiment() {
    cat >"$WORK/c.yaml" <<EOF
problems: gaussian(n=20, d=2)
strategies: [$1]
cores: svd
landmarks: 3
trials: ${2:-1}
metrics: error
plots: []
EOF
}

# What is shown and stored of the run $WORK/r: the program's output, rows.csv, failures.txt, both exports; and JSON is
# whole.
expect_clean() {
    "$NYSBENCH" export "$WORK/r" --format json >"$WORK/x.json"
    "$NYSBENCH" export "$WORK/r" >"$WORK/x.csv"
    "$NYSBENCH" info "$WORK/r" >"$WORK/info"
    py check_clean "$1" "$WORK/x.json" "$WORK/x.csv" "$WORK/info" "$WORK/told" "$WORK/r/rows.csv" \
        $(ls "$WORK/r/failures.txt" 2>/dev/null)
}

@test "a command's standard error: a stray byte, escape sequences, half a character" {
    printf '%s\n' "printf 'caf\\351 \\033[31mred\\033]0;title\\007 \\302\\2335m \\342\\202' >&2; exit 3" >"$WORK/p.sh"
    experiment "uniform, 'command(run=\"sh $WORK/p.sh\")'"
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >"$WORK/told" 2>&1 && status=0 || status=$?
    output=$(cat "$WORK/told")
    expect_status 1
    expect 'caf\xe9 \x1b[31mred\x1b]0;title\x07 \xc2\x9b5m \xe2\x82'
    expect_clean 2
}

@test "a plug-in's message and note" {
    experiment "rude, rude_note"
    "$NYSBENCH" run "$WORK/c.yaml" --plugin "$BATS_FILE_TMPDIR/strays.so" -q -o "$WORK/r" >"$WORK/told" 2>&1 &&
        status=0 || status=$?
    [ "$status" -eq 1 ]
    grep -qF 'caf\xe9 \x1b[31mred\x1b]0;title\x07 \xc2\x9b5m\x0d\x0a' "$WORK/told"
    grep -qF 'na\xefve \x1b[2J' "$WORK/r/rows.csv"
    expect_clean 2
    "$NYSBENCH" run "$WORK/c.yaml" --plugin "$BATS_FILE_TMPDIR/strays.so" -q -j 0 --fresh \
        -o "$WORK/r" >"$WORK/told" 2>&1 && status=0 || status=$?
    [ "$status" -eq 1 ]
    expect_clean 2
}

@test "rows that an older program stored" {
    experiment uniform
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >"$WORK/told"
    in_store "$WORK/r" "UPDATE results SET reason = CAST(x'636166e9201b5b33316d' AS TEXT)" # caf\xe9 \x1b[31m
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >"$WORK/told" 2>&1
    grep -qF 'caf\xe9 \x1b[31m' "$WORK/r/rows.csv"
    expect_clean 1
}

@test "names: a head whose name is no UTF-8 as JSON and as text; control characters in a spec are refused" {
    local head="$WORK/"$'caf\351 \033[31m.safetensors'
    cp experiments/data/vit_astronaut_n257_L6.safetensors "$WORK/"$'caf\351.safetensors'
    "$NYSBENCH" measure --head "$WORK/"$'caf\351.safetensors:0' --strategy uniform -m 4 --core svd --json |
        facts of 'assert "caf\\xe9.safetensors" in x["problem"], x'
    run "$NYSBENCH" measure --head "$WORK/"$'caf\351.safetensors:0' --strategy uniform -m 4 --core svd
    expect_status 0
    expect 'caf\xe9.safetensors'
    run "$NYSBENCH" measure --head "$head:0" --strategy uniform -m 4
    expect_status 2
    tell nysbench select --strategy uniform -m 4
    [[ "$output" != *$'\033'* ]]
    printf 'problems: gaussian(n=9, d=2)\nstrategies: "command(run=\\"x \\e[31m\\")"\ncores: svd\nlandmarks: 2\n' \
        >"$WORK/c.yaml"
    told plan "$WORK/c.yaml" -o "$WORK/r"
    expect_status 2
    [[ "$output" != *$'\033'* ]]
}

@test "the name of a file that is not there is shown as it may be shown" {
    run "$NYSBENCH" run "$WORK/"$'caf\351\033[31m.yaml'
    expect_status 2
    expect 'caf\xe9\x1b[31m.yaml'
    [[ "$output" != *$'\033'* ]]
}

@test "failures for one reason are one group, whatever the folder, the process and its addresses are" {
    cp "$REPOSITORY/tests/cli/plugins/addresses.py" "$WORK/p.py"
    experiment "'command(run=\"/usr/bin/python3 $WORK/p.py\")'" 4
    "$NYSBENCH" run "$WORK/c.yaml" -q -j 2 -o "$WORK/r" >"$WORK/told" 2>&1 && status=0 || status=$?
    [ "$status" -eq 1 ]
    output=$(grep '^nysbench: failed' "$WORK/told") tell nysbench run "$WORK/c.yaml"
}
