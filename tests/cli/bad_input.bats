# SPDX-License-Identifier: GPL-3.0-or-later
# What cannot be right is refused before anything runs, by name.

load helpers

# Head files, in $WORK: name.safetensors or name/q.npy ..., each with one thing wrong.
heads() {
    py write_broken_heads "$WORK"
}

# refused PROBLEM: by plan and by run, in the same words, which leave no folder.
refused() {
    local planned
    printf '%s\n' "problems: [\"gaussian(n=20, d=2)\", \"$1\"]" 'strategies: uniform' 'cores: svd' 'landmarks: 3' \
        'trials: 1' 'plots: []' >"$WORK/c.yaml"
    told plan "$WORK/c.yaml" -o "$WORK/results"
    expect_status 2
    planned=$output
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/results"
    expect_status 2
    [ "$output" = "$planned" ]
    [ ! -e "$WORK/results" ]
}

@test "NaN and Inf in a head: file, tensor, head, token and coordinate, before the first row" {
    heads
    refused "heads(file=$WORK/nan.safetensors)"
    refused "heads(file=$WORK/inf.safetensors)"
    refused "heads(file=$WORK/npy)"
    printf 'problems: "heads(file=%s, head=0)"\nstrategies: uniform\ncores: svd\nlandmarks: 3\ntrials: 1\nplots: []\n' \
        "$WORK/nan.safetensors" >"$WORK/c.yaml"
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/results"
    expect_status 0
}

@test "shapes that are empty, or do not agree" {
    heads
    refused "heads(file=$WORK/empty.safetensors)"
    refused "heads(file=$WORK/flat.safetensors)"
    refused "heads(file=$WORK/empty_npy)"
    refused "heads(file=$WORK/dimension.safetensors)"
    refused "heads(file=$WORK/tokens.safetensors)"
    refused "heads(file=$WORK/values.safetensors)"
    refused "heads(file=$WORK/groups.safetensors)"
    refused "heads(file=$WORK/value_heads.safetensors)"
    refused "heads(file=$WORK/rank.safetensors)"
    for command in "select --strategy uniform -o $WORK/p.npy" measure\ --strategy\ uniform "fit -o $WORK/w.npy"; do
        told $command --head "$WORK/dimension.safetensors:0" -m 2
        expect_status 2
    done
}

@test "n, d, m and their product beyond what can be" {
    refused "gaussian(n=0, d=2)"
    refused "gaussian(n=20, d=0)"
    refused "gaussian(n=100000000, d=2)"
    refused "gaussian(n=1e3, d=2)"
    printf '%s\n' 'problems: gaussian(n=1000000, d=2)' 'strategies: uniform' 'cores: svd' 'landmarks: [4, 1000000]' \
        'trials: 1' 'plots: []' >"$WORK/c.yaml"
    for command in plan run; do
        told "$command" "$WORK/c.yaml" -o "$WORK/results"
        expect_status 2
        [ ! -e "$WORK/results" ]
    done
    for m in 0 -1 1000001 99999999999999999999 4.5 ""; do
        told plan "$WORK/c.yaml" --set "landmarks=[4, '$m']"
        expect_status 2
    done
}

@test "a pipe, a folder and a device are no head files, and nobody waits for them" {
    mkfifo "$WORK/pipe"
    mkdir "$WORK/folder"
    refused "heads(file=$WORK/pipe)"
    refused "heads(file=/dev/zero)"
    refused "heads(file=$WORK/folder)"
    refused "heads(file='')"
    printf '\223NUMPY\001\000\377\377' >"$WORK/short.npy"
    refused "heads(file=$WORK/short.npy)"
}

# lies N: a plugin with the N-th lie of plugins/lies.c.
lies() {
    cc -std=c11 -I. -Isrc -Istrategies -DLIE="$1" -Wno-missing-field-initializers -shared \
        -fPIC tests/cli/plugins/lies.c -o "$WORK/lies$1.so"
}

@test "plug-ins that lie about their size, or have not what they must" {
    local number checked
    for number in {1..25}; do
        lies "$number"
        told check "$WORK/lies$number.so"
        expect_status 2
        checked=$output
        run "$NYSBENCH" list --plugin "$WORK/lies$number.so"
        expect_status 2
        [ "$output" = "$(tail -n 1 <<<"$checked")" ] # without the note that code runs
    done
    lies 0
    cp "$WORK/lies0.so" "$WORK/"$'l\xff.so'
    told list --plugin "$WORK/"$'l\xff.so'
    expect_status 2
    # with the traits NB_SQUARE and NB_EIGEN, and NB_CORE_FILTER
    for kind in strategies cores; do
        of_json 'assert "lies" in {r["name"] for r in x}, x' "$NYSBENCH" list $kind --plugin "$WORK/lies0.so"
    done
}

@test "the message names the option that is wrong; help knows its topics; export says what it wrote" {
    told measure --head experiments/data/vit_astronaut_n257_L6.safetensors:0 --strategy uniform -m 3 \
        --causal maybe
    expect_status 2
    told help selct
    expect_status 2
    "$NYSBENCH" run experiments/00-smoke.yaml -q -j 1 -o "$WORK/r" --set trials=1 --set plots=[] >/dev/null
    run "$NYSBENCH" export "$WORK/r" --landmarks "$WORK/picks"
    expect_status 0
    [ -s "$WORK/picks/index.csv" ]
}

@test "a header of 3 MB is read; one that would take much memory is refused before, and takes little" {
    py write_long_headers "$WORK"
    run "$NYSBENCH" measure --head "$WORK/many.safetensors:0" --strategy uniform -m 2 --core svd
    expect_status 0
    refused "heads(file=$WORK/longer.safetensors)"
    refused "heads(file=$WORK/flat.safetensors)"
    refused "heads(file=$WORK/deep.safetensors)"
    case $NYSBENCH in */asan/*) return 0 ;; esac # which has memory of its own
    py check_memory "$NYSBENCH" "$WORK/c.yaml"
}

@test "a file that may be of shape (n, heads, d) is told once; metadata settles it" {
    py write_ambiguous_heads "$WORK"
    warned plan experiments/00-smoke.yaml \
        --set "problems=[\"heads(file=$WORK/f, head=0)\", \"heads(file=$WORK/f, head=1)\"]"
    expect_status 0
    warned measure --head "$WORK/f:2" --strategy uniform --landmarks 2 --core svd
    expect_status 0
    warned fit --head "$WORK/f:0" --head "$WORK/f:1" --rank 2 -o "$WORK/w.npy"
    for file in right said sure; do
        warned measure --head "$WORK/$file.safetensors:2" --strategy uniform --landmarks 2 --core svd --json \
            --metrics error --draws shared
        expect_status 0
        error[${#error[@]}]=$(grep -o '"error": [^,]*' <<<"$output")
    done
    [ "${error[0]}" = "${error[1]}" ]
    [ "${error[0]}" != "${error[2]}" ]
    told measure --head "$WORK/odd.safetensors:2" --strategy uniform --landmarks 2 --core svd
    expect_status 2
}

@test "plan and run tell that all landmarks are more than the tokens, of all heads or of some" {
    for command in plan "run -q"; do
        warned $command experiments/00-smoke.yaml \
            --set 'problems=["gaussian(n=20, d=3)", "gaussian(n=30, d=3)"]' --set landmarks=[31,64] --set plots=[] \
            -o "$WORK/r"
        expect_status 0
        warned $command experiments/00-smoke.yaml \
            --set 'problems=["gaussian(n=20, d=3)", "gaussian(n=30, d=3)"]' --set landmarks=[21,64] --set plots=[] \
            -o "$WORK/r"
        expect_status 0
    done
    warned plan experiments/00-smoke.yaml --set 'problems="gaussian(n=20, d=3)"' --set landmarks=[20,64]
    for shard in 1/2 2/2; do # which has rows of some problems alone
        warned plan experiments/00-smoke.yaml --shard $shard
        expect_status 0
    done
}
