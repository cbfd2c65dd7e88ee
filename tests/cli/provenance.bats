# SPDX-License-Identifier: GPL-3.0-or-later
# What made a row: manifests, digests of files, and what happens when a file changes
# under a store.

load helpers

# Head files of n tokens in $WORK/h: save SEED [N].
save() {
    save_head "$WORK/h" qk "${2:-30},3" "$1"
}

experiment() {
    config <<Y
problems: [heads(file=$WORK/h), "gaussian(n=20, d=3)"]
strategies: uniform
cores: svd
landmarks: 4
trials: ${1:-2}
metrics: error
plots: []
Y
}

manifests() {
    of_json 'print(", ".join("%d %d" % (m["rows"], m["rows_unused"]) for m in x))' "$NYSBENCH" info "$WORK/r"
}

@test "each run that adds rows leaves a manifest, each row is linked to its own, info RUN shows them" {
    save 1
    experiment
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 --set trials=5 -o "$WORK/r"
    py check_manifests "$NYSBENCH" "$WORK"
    local digest
    digest=$(sha256sum <"$WORK/h/k.npy" | cut -d ' ' -f 1)
    of_json "_, last = x
assert 'trials: 5' in last['config'], last
assert ','.join(last['arguments'][1:]) == '$WORK/c.yaml,-q,-j,1,--set,trials=5,-o,$WORK/r', last['arguments']
assert any('$WORK/h/k.npy' in str(file) and '$digest' in str(file) for file in last['files']), last['files']" \
        "$NYSBENCH" info "$WORK/r"
    [ "$("$NYSBENCH" info "$WORK/r" --format csv | grep -c '^[12],files,".*/h/[kq].npy, ')" -eq 4 ] # each has its key
}

@test "info of what is no run, or has measured nothing" {
    told info "$WORK"
    expect_status 2
    run "$NYSBENCH" info "$WORK" extra
    expect_status 2
    of_json 'assert x["flags"], x' "$NYSBENCH" info
}

@test "a head file of the same size with other contents is noticed: its rows are measured anew, the old ones stay" {
    save 1
    experiment
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    cp "$WORK/r/rows.csv" "$WORK/first.csv"
    was=$(sha256sum <"$WORK/h/k.npy" | cut -c 1-12)
    save 2
    is=$(sha256sum <"$WORK/h/k.npy" | cut -c 1-12)
    expect_plan 'rows=4 done=2 to_run=2' "$WORK/c.yaml" -o "$WORK/r"
    "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/r" >"$WORK/out" 2>"$WORK/told"
    output=$(cat "$WORK/told")
    expect "$is"
    expect "$was"
    status=0 tell nysbench run "$WORK/c.yaml"
    [ "$(manifests)" = "2 2, 2 0" ]
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/whole"
    cmp <(timeless "$WORK/r/rows.csv") <(timeless "$WORK/whole/rows.csv")
    status=0
    cmp <(timeless "$WORK/r/rows.csv") <(timeless "$WORK/first.csv") || status=$?
    [ "$status" -eq 1 ]
    # As it was: nothing is to run, and the rows are there to the last bit.
    save 1
    expect_plan 'rows=4 done=4 to_run=0' "$WORK/c.yaml" -o "$WORK/r"
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" 2>"$WORK/told"
    output=$(cat "$WORK/told") status=0 tell nysbench run "$WORK/c.yaml" -q
    cmp "$WORK/r/rows.csv" "$WORK/first.csv"
    [ "$(manifests)" = "4 0, 0 2" ]
}

@test "other contents of a .safetensors file are noticed; a touch, or a move to the same place, is not" {
    cp experiments/data/vit_astronaut_n257_L6.safetensors "$WORK/h.safetensors"
    experiment
    sed -i "s,heads(file=[^)]*),\"heads(file=$WORK/h.safetensors\, head=1)\"," "$WORK/c.yaml"
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    cp "$WORK/h.safetensors" "$WORK/copy"
    mv "$WORK/copy" "$WORK/h.safetensors"
    touch "$WORK/h.safetensors"
    expect_plan 'rows=4 done=4 to_run=0' "$WORK/c.yaml" -o "$WORK/r"
    # The first byte of q's head 1, which holds 257 x 64 numbers a head.
    py change_heads "$WORK/h.safetensors"
    expect_plan 'rows=4 done=2 to_run=2' "$WORK/c.yaml" -o "$WORK/r"
}

done_rows() {
    rows=$(of_json 'print(x[0]["done"])' "$NYSBENCH" plan "$WORK/c.yaml" -o "$WORK/r")
}

got_somewhere() {
    done_rows && [ "$rows" -gt 0 ]
}

@test "a file that changes while it is measured ends the run; no row of the new data passes for one of the old" {
    save 1 1500
    experiment 3000
    sed -i 's/, "gaussian.*/]/' "$WORK/c.yaml"
    cp -r "$WORK/h" "$WORK/old"
    "$NYSBENCH" run "$WORK/c.yaml" -q -j 2 -o "$WORK/r" >"$WORK/log" 2>&1 3>&- &
    pid=$!
    until_true got_somewhere
    save 2 1500
    status=0
    wait "$pid" || status=$?
    output=$(cat "$WORK/log")
    expect_status 1
    output=$(grep '^nysbench: error' <<<"$output" | sed 's|/[kq][.]npy|/#.npy|') tell nysbench run "$WORK/c.yaml"
    [ "$(manifests | tr ' ' '\n' | head -1)" -gt 0 ]
    # What is in the store is of the old data, to the last bit.
    cp "$WORK"/old/* "$WORK/h"
    done_rows
    [ "$rows" -gt 0 ] && [ "$rows" -lt 3000 ]
    "$NYSBENCH" export "$WORK/r" | grep -c ',ok,' | grep -qx "$rows"
    experiment 3
    sed -i 's/, "gaussian.*/]/' "$WORK/c.yaml"
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/whole"
    cmp <(timeless "$WORK/r/rows.csv") <(timeless "$WORK/whole/rows.csv")
}

@test "a script that a strategy runs is part of what its rows are" {
    script() {
        sed "s/^SHIFT = 0/SHIFT = $1/" "$REPOSITORY/tests/cli/plugins/shifted.py" >"$WORK/my script.py"
    }
    config <<Y
problems: "gaussian(n=20, d=3)"
strategies: [uniform, "command(run=\"/usr/bin/python3 '$WORK/my script.py'\", deterministic=true)"]
cores: svd
landmarks: 4
trials: 1
metrics: error
plots: []
Y
    script 0
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    script 1
    for command in "export $WORK/r --landmarks $WORK/l" "plot $WORK/r --landmarks"; do
        told $command --programs
        expect_status 1
    done
    warned run "$WORK/r/resolved.yaml" -q --out "$WORK/r"
    expect_status 0
    "$NYSBENCH" export "$WORK/r" --landmarks "$WORK/l" --programs
    [ "$(manifests)" = "1 1, 1 0" ]
}

@test "what a script imports from its folder is part of what its rows are" {
    mkdir -p "$WORK/pack/deep"
    cp "$REPOSITORY/tests/cli/plugins/imports.py" "$WORK/mine.py"
    echo "from pack import z" >"$WORK/helper.py"
    echo "x = 0" >>"$WORK/helper.py"
    echo "from . import middle; z = 0" >"$WORK/pack/__init__.py"
    echo "import helper" >"$WORK/pack/middle.py"
    echo "from ..middle import helper" >"$WORK/pack/deep/last.py"
    echo "y = 0" >>"$WORK/pack/deep/last.py"
    echo "x = 1" >"$WORK/unused.py"
    touch "$WORK/json" # a file, and no package
    config <<Y
problems: "gaussian(n=20, d=3)"
strategies: [uniform, "command(run=\"/usr/bin/python3 -B mine.py\", deterministic=true)"]
cores: svd
landmarks: 4
trials: 1
metrics: error
plots: []
Y
    local program=$NYSBENCH file
    cd "$WORK"
    "$program" run c.yaml -q -o r
    NYSBENCH=$program warned run c.yaml -q -o r
    expect_status 0
    for file in helper.py pack/__init__.py pack/middle.py pack/deep/last.py; do
        echo "# changed" >>"$file"
        run "$program" run c.yaml -q -o r
        expect_status 0
        output=$(grep '^nysbench: ' <<<"$output") tell nysbench run "$file"
    done
    echo "# changed" >>unused.py
    NYSBENCH=$program warned run c.yaml -q -o r
    expect_status 0
    sed -i 's/y = 0/y = 3/' pack/deep/last.py
    "$program" run c.yaml -q -o r
    "$program" run c.yaml -q -o fresh
    "$program" sql r "SELECT strategy_label, error FROM run ORDER BY strategy_label" >one
    "$program" sql fresh "SELECT strategy_label, error FROM run ORDER BY strategy_label" >other
    cmp one other
}

@test "a plugin that was built anew: its strategy's rows are measured again, the others are not" {
    mkdir "$WORK/include"
    build() {
        sed "s/summary of mine/& $1/" "$WORK/mine.c" >"$WORK/build.c"
        cc -I"$PWD" -Isrc -Istrategies -shared -fPIC "$WORK/build.c" -o "$WORK/mine.so"
    }
    "$NYSBENCH" new strategy mine --out "$WORK/new" >/dev/null
    sed 's/\.component = {"mine", "[^"]*"/.component = {"mine", "summary of mine"/' "$WORK/new/mine.c" >"$WORK/mine.c"
    ! cmp "$WORK/new/mine.c" "$WORK/mine.c" || return 1
    config <<Y
plugins: [$WORK/mine.so]
problems: "gaussian(n=20, d=3)"
strategies: [uniform, mine]
cores: svd
landmarks: 4
trials: 1
metrics: error
plots: []
Y
    build 1
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    [ "$(manifests)" = "2 0" ]
    build 2
    warned run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 0
    [ "$(manifests)" = "1 1, 1 0" ]
    py check_digests "$WORK"
}

# Two kinds of kernels that this CPU runs, in $one and $two, and what the manifest says of them.
two_kernels() {
    local names
    names=$(kernels_here)
    one=$(head -1 <<<"$names")
    two=$(sed -n 2p <<<"$names")
    [ -n "$two" ] || skip "this CPU or this OpenBLAS has one kind of kernels"
}

with() { # KERNELS COMMAND...
    OPENBLAS_CORETYPE=$1 "$NYSBENCH" "${@:2}"
}

@test "rows of other BLAS kernels or threads are refused like another build's; --mixed goes on, and outputs tell" {
    save 1
    experiment
    two_kernels
    with "$one" run "$WORK/c.yaml" -q -o "$WORK/r"
    cp "$WORK/r/rows.csv" "$WORK/before"
    run with "$two" run "$WORK/c.yaml" --set trials=3 -o "$WORK/r"
    expect_status 2
    expect " $one "
    expect " $two "
    tell nysbench run "$WORK/c.yaml" --set trials=3
    cmp "$WORK/r/rows.csv" "$WORK/before"
    run with "$two" plan "$WORK/c.yaml" --set trials=3 -o "$WORK/r"
    output=$(grep 'arithmetic' <<<"$output") tell nysbench plan "$WORK/c.yaml"
    run with "$one" run "$WORK/c.yaml" --set trials=3 --blas-threads 2 -o "$WORK/r"
    expect_status 2
    tell nysbench run "$WORK/c.yaml" --blas-threads 2
    run with "$two" run "$WORK/c.yaml" -q -o "$WORK/r" # nothing is to run
    expect_status 0
    with "$one" run "$WORK/c.yaml" -q --set trials=3 -o "$WORK/r"
    [ "$(manifests)" = "4 0, 2 0" ]
    run with "$two" run "$WORK/c.yaml" --set trials=4 --mixed -o "$WORK/r"
    expect_status 0
    output=$(grep '2 builds' <<<"$output") tell nysbench run "$WORK/c.yaml" --mixed
    expect_builds "$WORK/r" arithmetic "6 $one, 2 $two"
    of_json 'assert {m["arithmetic"].split(", ")[-1][:2] for m in x} == {"1 "}, x # threads of BLAS' \
        "$NYSBENCH" info "$WORK/r"
    of_json 'assert len({m["executable"] for m in x}) == 1, x' "$NYSBENCH" info "$WORK/r"
    warned export "$WORK/r"
    grep -q "\"arithmetic\": \"$two kernels" "$WORK/r/manifest.json"
}

@test "where nothing is left to measure, rows of another build are told of" {
    save 1
    experiment
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    warned run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 0
    in_store "$WORK/r" "UPDATE manifests SET executable = 'other'"
    warned run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 0
    warned run "$WORK/c.yaml" -q -o "$WORK/r" --fresh
}

@test "shards of other BLAS kernels are not merged, unless mixed" {
    save 1
    experiment
    two_kernels
    with "$one" run "$WORK/c.yaml" -q --shard 1/2 -o "$WORK/r"
    with "$two" run "$WORK/c.yaml" -q --shard 2/2 -o "$WORK/r"
    run with "$one" merge "$WORK/r" -q
    expect_status 2
    expect " $one "
    expect " $two "
    tell nysbench merge "$WORK/r" -q
    run with "$one" merge "$WORK/r" --mixed
    expect_status 0
    of_json 'assert len({m["arithmetic"] for m in x}) == 2, x' "$NYSBENCH" info "$WORK/r"
}

@test "what a program's rows are taken to depend on is said once in a folder, by name" {
    cp "$REPOSITORY/tests/cli/plugins/helped.py" "$WORK/pick.py"
    cp "$REPOSITORY/tests/cli/plugins/inverse.py" "$WORK/invert.py"
    echo "x = 1" >"$WORK/helper.py"
    config <<Y
problems: "gaussian(n=20, d=3)"
strategies: [uniform, "command(run=\"/usr/bin/python3 -B pick.py\", deterministic=true)",
             "command(run=\"/usr/bin/python3 -B pick.py\", label=again)"]
cores: [svd, "command(run=\"/usr/bin/python3 -B invert.py\", deterministic=true)", "command(run=\"false\")"]
landmarks: 4
trials: 1
metrics: error
plots: []
Y
    local program=$NYSBENCH
    cd "$WORK"
    said() { grep 'nysbench: warning: .*--fresh' told; }
    "$program" run c.yaml -q -o r 2>told || [ $? -eq 1 ]
    said >first
    output=$(cat first) status=0 tell nysbench run c.yaml
    # Neither the second time, with more rows, nor of what is only planned; of another program, another folder, a fresh
    # run.
    "$program" run c.yaml -q -o r --set trials=2 2>told || [ $? -eq 1 ]
    run said
    [ -z "$output" ]
    "$program" plan c.yaml -o other >told 2>&1
    run said
    [ -z "$output" ]
    "$program" run c.yaml -q -o r --set 'strategies=[uniform, "command(run=\"/usr/bin/python3 pick.py\")"]' 2>told ||
        [ $? -eq 1 ]
    [ "$(said | cut -d : -f 3)" = " /usr/bin/python3 pick.py" ]
    "$program" run c.yaml -q -o r --fresh 2>told || [ $? -eq 1 ]
    said | diff first -
}
