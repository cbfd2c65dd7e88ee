# SPDX-License-Identifier: GPL-3.0-or-later
# What cannot be right is refused before anything runs, by name.

load helpers

# Head files, in $WORK: name.safetensors or name/q.npy ..., each with one thing wrong.
heads() {
    py write_broken_heads "$WORK"
}

# refused PROBLEM MESSAGE: by run and by plan, which leave no folder.
refused() {
    local command
    printf '%s\n' "problems: [\"gaussian(n=20, d=2)\", \"$1\"]" 'strategies: uniform' 'cores: svd' 'landmarks: 3' \
        'trials: 1' 'plots: []' >"$WORK/c.yaml"
    for command in plan run; do
        run "$NYSBENCH" "$command" "$WORK/c.yaml" -o "$WORK/results"
        expect_status 2
        expect "$2"
        [ ! -e "$WORK/results" ]
    done
}

@test "NaN and Inf in a head: file, tensor, head, token and coordinate, before the first row" {
    heads
    refused "heads(file=$WORK/nan.safetensors)" \
        "$WORK/nan.safetensors: tensor 'v', head 1: token 7, coordinate 2 is NaN or Inf"
    refused "heads(file=$WORK/inf.safetensors)" \
        "$WORK/inf.safetensors: tensor 'k', head 2: token 19, coordinate 0 is NaN or Inf"
    refused "heads(file=$WORK/npy)" "$WORK/npy/k.npy: tensor 'k', head 0: token 0, coordinate 3 is NaN or Inf"
    printf 'problems: "heads(file=%s, head=0)"\nstrategies: uniform\ncores: svd\nlandmarks: 3\ntrials: 1\nplots: []\n' \
        "$WORK/nan.safetensors" >"$WORK/c.yaml"
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/results"
    expect_status 0
}

@test "shapes that are empty, or do not agree" {
    heads
    refused "heads(file=$WORK/empty.safetensors)" \
        "c.yaml:1:36: $WORK/empty.safetensors: tensor 'q', shape: dimension 1 is 0"
    refused "heads(file=$WORK/flat.safetensors)" \
        "c.yaml:1:36: $WORK/flat.safetensors: tensor 'q', shape: dimension 2 is 0"
    refused "heads(file=$WORK/empty_npy)" "c.yaml:1:36: $WORK/empty_npy/q.npy: tensor 'q', shape: dimension 0 is 0"
    refused "heads(file=$WORK/dimension.safetensors)" "dimension.safetensors: q has dimension d = 4, k has 5"
    refused "heads(file=$WORK/tokens.safetensors)" "tokens.safetensors: q has 20 tokens, k has 21"
    refused "heads(file=$WORK/values.safetensors)" "values.safetensors: q has 20 tokens, v has 19"
    refused "heads(file=$WORK/groups.safetensors)" "groups.safetensors: q has 3 heads, which is not a multiple of k's 2"
    refused "heads(file=$WORK/value_heads.safetensors)" "value_heads.safetensors: k has 2 heads, v has 4"
    refused "heads(file=$WORK/rank.safetensors)" \
        "rank.safetensors: tensor 'q' has 1 dimensions, expected (heads, n, d), (inputs, heads, n, d) or (n, d)"
    for command in "select --strategy uniform -o $WORK/p.npy" measure\ --strategy\ uniform "fit -o $WORK/w.npy"; do
        run "$NYSBENCH" $command --head "$WORK/dimension.safetensors:0" -m 2
        expect_status 2
        [[ "$command" = fit* ]] || expect "dimension.safetensors: q has dimension d = 4, k has 5"
    done
}

@test "n, d, m and their product beyond what can be" {
    refused "gaussian(n=0, d=2)" "c.yaml:1:47: gaussian: n = 0 is not an integer from 1 to 1048576"
    refused "gaussian(n=20, d=0)" "gaussian: d = 0 is not an integer from 1 to 16384"
    refused "gaussian(n=100000000, d=2)" "gaussian: n = 100000000 is not an integer from 1 to 1048576"
    refused "gaussian(n=1e3, d=2)" "gaussian: n = 1e3 is not an integer"
    printf '%s\n' 'problems: gaussian(n=1000000, d=2)' 'strategies: uniform' 'cores: svd' 'landmarks: [4, 1000000]' \
        'trials: 1' 'plots: []' >"$WORK/c.yaml"
    for command in plan run; do
        run "$NYSBENCH" "$command" "$WORK/c.yaml" -o "$WORK/results"
        expect_status 2
        expect "n = 1000000"
        expect "m = 1000000 landmarks"
        expect "GiB"
        [ ! -e "$WORK/results" ]
    done
    for m in 0 -1 1000001 99999999999999999999 4.5 ""; do
        run "$NYSBENCH" plan "$WORK/c.yaml" --set "landmarks=[4, '$m']"
        expect_status 2
        expect "landmarks: expected "
        expect "from 1 to 1000000"
    done
}

@test "a pipe, a folder and a device are no head files, and nobody waits for them" {
    mkfifo "$WORK/pipe"
    mkdir "$WORK/folder"
    refused "heads(file=$WORK/pipe)" "$WORK/pipe: is not a regular file"
    refused "heads(file=/dev/zero)" "/dev/zero: is not a regular file"
    refused "heads(file=$WORK/folder)" "$WORK/folder/q.npy: cannot be opened: No such file or directory"
    refused "heads(file='')" "c.yaml:1:"
    printf '\223NUMPY\001\000\377\377' >"$WORK/short.npy"
    refused "heads(file=$WORK/short.npy)" "$WORK/short.npy: "
}

# lies N: a plugin with the N-th lie of plugins/lies.c.
lies() {
    cc -std=c11 -I. -Isrc -Istrategies -DLIE="$1" -Wno-missing-field-initializers -shared \
        -fPIC tests/cli/plugins/lies.c -o "$WORK/lies$1.so"
}

@test "plug-ins that lie about their size, or have not what they must" {
    local number=1 expected
    while IFS= read -r expected; do
        lies "$number"
        run "$NYSBENCH" check "$WORK/lies$number.so"
        expect_status 2
        expect "$WORK/lies$number.so: $expected"
        run "$NYSBENCH" list --plugin "$WORK/lies$number.so"
        expect_status 2
        expect "$WORK/lies$number.so: $expected"
        number=$((number + 1))
    done <<'EOT'
lies: row 1 of its options is a field of 8 bytes at byte 8, options_size is 8
lies: options_size is 1000000000000, allowed are at most 65536 bytes
lies: row 2 of its options is not an option: the table must end with NB_OPTION_END, after at most 64
lies: options 'm' and 'x' are the same bytes
lies: row 0 of its options is a field of 4 bytes at byte 2, options_size is 16
lies: option 'm' lacks help
lies: option 'm' lacks choices
lies: option 'm' lacks a registry
strategy 0 lacks a name of a-z, 0-9 and '_'
strategy 0 lacks a reference
strategy 0 lacks a summary
strategy 0 lacks an options table, which may be NB_OPTION_END alone
core 'lies' lacks traits out of NB_CORE_TRAITS
strategy 'lies' lacks the function pick for its pairing
strategy 'lies' lacks the function pick_both for its pairing
strategy 'lies' lacks a pairing out of nb_pairing
strategy 'lies' lacks traits out of NB_STRATEGY_TRAITS
there is no kind 'strategem' of component
was built for interface 
holds no component
core 'lies' lacks the function compute
problem 'lies' lacks the function shape
kernel 'lies' lacks the function fill
there is a strategy 'lies' already
lies: option 'y' lacks the value that it is for
EOT
    [ "$number" -eq 26 ]
    lies 0
    cp "$WORK/lies0.so" "$WORK/"$'l\xff.so'
    run "$NYSBENCH" list --plugin "$WORK/"$'l\xff.so'
    expect_status 2
    expect "the path of a plugin must be UTF-8"
    run "$NYSBENCH" list strategies --plugin "$WORK/lies0.so"
    expect_status 0 # with the traits NB_SQUARE and NB_EIGEN, and NB_CORE_FILTER
    grep -q '^  lies  ' <<<"$output"
    "$NYSBENCH" list cores --plugin "$WORK/lies0.so" | grep -q '^  lies  '
}

@test "the message names the option that is wrong; help knows its topics; export says what it wrote" {
    run "$NYSBENCH" measure --head experiments/data/vit_astronaut_n257_L6.safetensors:0 --strategy uniform -m 3 \
        --causal maybe
    expect_status 2
    expect "--causal maybe is unknown; allowed: true, false, auto"
    run "$NYSBENCH" help selct
    expect_status 2
    expect "did you mean 'select'?"
    "$NYSBENCH" run experiments/00-smoke.yaml -q -j 1 -o "$WORK/r" --set trials=1 --set plots=[] >/dev/null
    run "$NYSBENCH" export "$WORK/r" --landmarks "$WORK/picks"
    expect_status 0
    [ -s "$WORK/picks/index.csv" ]
}

@test "a header of 3 MB is read; one that would take much memory is refused before, and takes little" {
    py write_long_headers "$WORK"
    run "$NYSBENCH" measure --head "$WORK/many.safetensors:0" --strategy uniform -m 2 --core svd
    expect_status 0
    refused "heads(file=$WORK/longer.safetensors)" \
        "longer.safetensors: header length 100000001, allowed are 2 to 100000000"
    refused "heads(file=$WORK/flat.safetensors)" "flat.safetensors: header: a list has more than 1000 items (byte 2016)"
    refused "heads(file=$WORK/deep.safetensors)" \
        "deep.safetensors: header: is nested deeper than a tensor's shape (byte 17)"
    case $NYSBENCH in */asan/*) return 0 ;; esac # which has memory of its own
    py check_memory "$NYSBENCH" "$WORK/c.yaml"
}

@test "a file that may be of shape (n, heads, d) is told once; metadata settles it" {
    py write_ambiguous_heads "$WORK"
    told="nysbench: warning: $WORK/f: q of shape (40, 3, 4) is read as (heads, n, d): 40 heads of n = 3 tokens, d = 4; \
if it is (n, heads, d), transpose it or give"
    run "$NYSBENCH" plan experiments/00-smoke.yaml \
        --set "problems=[\"heads(file=$WORK/f, head=0)\", \"heads(file=$WORK/f, head=1)\"]"
    expect_status 0
    [ "$(grep -cF "$told" <<<"$output")" -eq 1 ]
    run "$NYSBENCH" measure --head "$WORK/f:2" --strategy uniform --landmarks 2 --core svd
    expect_status 0
    [ "$(grep -cF "$told" <<<"$output")" -eq 1 ]
    run "$NYSBENCH" fit --head "$WORK/f:0" --head "$WORK/f:1" --rank 2 -o "$WORK/w.npy"
    expect "$told"
    for file in right said sure; do
        run "$NYSBENCH" measure --head "$WORK/$file.safetensors:2" --strategy uniform --landmarks 2 --core svd --json \
            --metrics error --draws shared
        expect_status 0
        [[ "$output" != *"is read as"* && "$output" != *"causal mask"* ]]
        error[${#error[@]}]=$(grep -o '"error": [^,]*' <<<"$output")
    done
    [ "${error[0]}" = "${error[1]}" ]
    [ "${error[0]}" != "${error[2]}" ]
    run "$NYSBENCH" measure --head "$WORK/odd.safetensors:2" --strategy uniform --landmarks 2 --core svd
    expect_status 2
    expect "layout: 'd,n,heads' is not 'heads,n,d' or 'n,heads,d'"
}

@test "plan and run tell that all landmarks are more than the tokens, of all heads or of some" {
    for command in plan "run -q"; do
        run "$NYSBENCH" $command experiments/00-smoke.yaml \
            --set 'problems=["gaussian(n=20, d=3)", "gaussian(n=30, d=3)"]' --set landmarks=[31,64] --set plots=[] \
            -o "$WORK/r"
        expect_status 0
        [[ "$output" =~ "warning: all "[0-9]+" rows will be skipped: the least m is 31, and no head has more than 30" ]]
        run "$NYSBENCH" $command experiments/00-smoke.yaml \
            --set 'problems=["gaussian(n=20, d=3)", "gaussian(n=30, d=3)"]' --set landmarks=[21,64] --set plots=[] \
            -o "$WORK/r"
        expect_status 0
        expect "nysbench: warning: gaussian(n=20, d=3): all its rows will be skipped: the least m is 21, n is 20"
        [ "$(grep -c warning <<<"$output")" -eq 1 ]
    done
    run "$NYSBENCH" plan experiments/00-smoke.yaml --set 'problems="gaussian(n=20, d=3)"' --set landmarks=[20,64]
    [[ "$output" != *warning* ]]
    for shard in 1/2 2/2; do # which has rows of some problems alone
        run "$NYSBENCH" plan experiments/00-smoke.yaml --shard $shard
        expect_status 0
        [[ "$output" != *warning* ]]
    done
}
