# SPDX-License-Identifier: GPL-3.0-or-later
# Mistakes in a config: each is told with its place, all in one go, before anything runs.

load helpers

refuses() {
    run "$NYSBENCH" run "$WORK/c.yaml" --out "$WORK/out"
    expect_status 2
    [[ "${lines[0]}" == "nysbench: error: "* ]] || { echo "first line: ${lines[0]}"; return 1; }
    [ ! -e "$WORK/out" ]
}

@test "all mistakes of a file are told with line, column and the nearest name" {
    config <<'Y'
name: e
trails: 3
landmarks: [8, x, 0]
problems:
  - gausian(n=64)
  - gaussian(n=64, dd=3)
strategies: [uniform, "kmeans(restarts=0)"]
cores: [svd]
metrics: [eror]
pairing: sides
attentions: naive
Y
    refuses
    expect "c.yaml:2:1: key 'trails' is unknown; did you mean 'trials'?"
    expect "c.yaml:3:16: landmarks: expected an integer from 1 to 1000000, found 'x'"
    expect "c.yaml:3:19: landmarks: expected an integer from 1 to 1000000, found '0'"
    expect "c.yaml:5:5: no problem 'gausian'; did you mean 'gaussian'?"
    expect "c.yaml:6:20: gaussian has no option 'dd'; did you mean 'd'?"
    expect "c.yaml:7:40: kmeans: restarts = 0 is not an integer from 1 to 1000"
    expect "c.yaml:9:11: metrics: 'eror' is unknown; did you mean 'error'?"
    expect "c.yaml:10:10: pairing: 'sides' is unknown; allowed:" \
        "independent, queries, keys, joint, shared, shared_queries, shared_keys, both, default"
    expect "c.yaml:11:1: key 'attentions' is for study: effect or forward; the study here is error"
    [ "$(grep -c '^nysbench: error: ' <<<"$output")" -eq 9 ]
}

@test "a pairing that a strategy does not have" {
    config <<'Y'
problems: gaussian(n=64)
strategies: uniform
cores: svd
pairing: both
Y
    refuses
    expect "pairing: uniform cannot pick for both sides together"
}

@test "missing keys" {
    config <<<"name: e"
    refuses
    expect "key 'problems' is missing"
    expect "key 'strategies' is missing"
    expect "key 'cores' is missing"
}

@test "a missing head file" {
    config <<'Y'
problems: heads(file=no/such.safetensors)
strategies: uniform
cores: svd
Y
    refuses
    expect "c.yaml:1:11: no/such.safetensors: cannot be opened: No such file or directory"
}

@test "a head that the file does not have" {
    config <<'Y'
problems: heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=3)
strategies: uniform
cores: svd
Y
    refuses
    expect "head = 3 is not one of its heads 0 to 2"
}

@test "a head file that is none" {
    config <<'Y'
problems: heads(file=Makefile)
strategies: uniform
cores: svd
Y
    refuses
    expect "Makefile: header length"
}

@test "a tab" {
    printf 'problems:\n\t- gaussian\n' | config
    refuses
    expect "c.yaml:2:1: not YAML"
    expect "a tab"
}

@test "a key that stands twice" {
    config <<'Y'
problems: gaussian(n=8)
strategies: uniform
cores: svd
trials: 1
trials: 2
Y
    refuses
    expect "c.yaml:5:1: key 'trials' appears a second time; it is already on line 4"
}

@test "an empty file" {
    : | config
    refuses
    expect "c.yaml: is empty"
}

@test "a file that is not YAML" {
    config <<<'problems: [a, b'
    refuses
    expect "not YAML"
}

@test "bytes that no YAML may have are named with their line and column" {
    printf 'problems: gaussian(n=8)\nstrategies: uniform # \xc3\xa9\b\ncores: svd\n' | config
    refuses
    expect "c.yaml:2:24: not YAML: control characters are not allowed: U+0008"
    printf 'problems: gaussian(n=8)\r\nstrategies: uniform\r\nname: caf\xe9 au lait\r\n' | config
    refuses
    expect "c.yaml:3:10: not YAML: invalid trailing UTF-8 octet: byte 0x20; save the file as UTF-8"
    printf '\xef\xbb\xbfname: a\x7fb\n' | config # a byte order mark, which is allowed, takes no column
    refuses
    expect "c.yaml:1:8: not YAML: control characters are not allowed: U+007F"
    printf 'name: a\n# \b\n' | iconv -t UTF-16 | config # whose offsets are not the text's
    refuses
    expect "c.yaml: not YAML: control characters are not allowed: U+0008"
}

@test "no-break spaces, curly quotes and the like are named where they make a config fail" {
    fails() { # LINE MESSAGE: with this line among the others
        printf 'problems: gaussian(n=32, d=4)\n%b\nlandmarks: 4\n' "$1" | config
        refuses
        expect "$2"
    }
    fails 'strategies:\xc2\xa0uniform\ncores: svd' 'line 2, column 12 has a no-break space (U+00A0): write a blank'
    fails '\xc2\xa0strategies: uniform\ncores: svd' \
        "did you mean 'strategies'? The text has a no-break space (U+00A0): write a blank"
    fails 'strategies: "kmeans(restarts=\xc2\xa04)"\ncores: svd' 'the text has a no-break space (U+00A0): write a blank'
    fails 'strategies: [“uniform”]\ncores: svd' 'the text has a curly quote (U+201C): write "'
    fails "strategies: 'kmeans(label=“my k-means”)'\ncores: svd" "c.yaml:2:31: expected ',' or ')', found 'k'"
    expect 'the text has a curly quote (U+201C): write "'
    fails 'strategies: kmeans（restarts=4）\ncores: svd' 'the text has a full-width parenthesis (U+FF08): write ('
    fails 'strategies: uniform\ncores: svd(rcond=1e−3)' 'the text has a minus sign of its own (U+2212): write -'
    fails 'strategies:\n  – uniform\n  – kmeans\ncores: svd' 'the text has a dash (U+2013): write -'
    run "$NYSBENCH" select --head experiments/data/vit_astronaut_n257_L6.safetensors:0 \
        --strategy 'kmeans(init=‘plusplus’)' -m 3 -o -
    expect 'the text has a curly quote (U+2018): write '"'"
    fails 'strategies: uniform(label=“my-tokens”)\ncores: svd(rcond=2)' 'svd: rcond = 2 is not'
    [[ $output != *curly* ]] # a label may have what it likes
}

@test "a file that is nested too deep, has too many anchors or is too large: refused at once" {
    expect_soon() {
        run timeout 10 "$NYSBENCH" run "$WORK/c.yaml"
        expect_status 2
        expect "$1"
    }
    { printf 'problems: '; printf '%200000s' | tr ' ' '['; } | config
    expect_soon "c.yaml:1:110: lists and mappings are nested more than 100 deep"
    { printf 'problems: ['; printf '&a%d x, ' {1..50000}; echo ']'; } | config
    expect_soon "c.yaml:1:8905: more than 1000 anchors (&NAME) and %TAG directives"
    head -c 17000000 /dev/zero | tr '\0' '#' | config
    expect_soon "c.yaml: has more than 16 MiB, the most that is read as YAML"
    { printf 'plots: '; printf '%99s' | tr ' ' '['; printf '%99s' | tr ' ' ']'; } | config
    expect_soon "c.yaml:1:9: plots: expected a value, found a list"
}

@test "a list where keys are expected, and two documents" {
    config <<<'- a'
    refuses
    expect "c.yaml:1:1: expected 'key: value' lines, found a list"
    printf 'name: a\n---\nname: b\n' | config
    refuses
    expect "more than one YAML document"
}

@test "lists in lists, an empty --set, a NUL byte" {
    config <<'Y'
problems: [[gaussian], gaussian(n=9)]
strategies: uniform
cores: svd
metrics: [[a], eror]
name: "a\0b"
Y
    refuses
    expect "c.yaml:1:12: problems: expected a problem, found a list"
    expect "c.yaml:4:11: metrics: expected a value, found a list"
    expect "c.yaml:4:16: metrics: 'eror' is unknown; did you mean 'error'?"
    expect "c.yaml:5:8: name: expected letters"
    run "$NYSBENCH" run experiments/00-smoke.yaml --set question=
    expect_status 2
    expect "--set question: expected a value, found nothing"
    run "$NYSBENCH" run experiments/00-smoke.yaml --out ""
    expect_status 2
    expect "a folder's name is empty"
}

@test "a spec whose commas the YAML list has taken" {
    config <<'Y'
problems: [gaussian(n=8, d=2)]
strategies: uniform
cores: svd
Y
    refuses
    expect "quote a problem whose options have commas"
}

@test "a missing config, and a folder instead of one" {
    run "$NYSBENCH" run "$WORK/none.yaml"
    expect_status 2
    expect "nysbench: error: $WORK/none.yaml: cannot be opened: No such file or directory"
    run "$NYSBENCH" run "$WORK"
    expect_status 2
    expect "$WORK: is a folder, expected an experiment's file"
}

@test "--set replaces a key and is checked like the file" {
    run "$NYSBENCH" run experiments/00-smoke.yaml --set trials=0 --set nme=x --set 'strategies=[unifrom]' --set broken
    expect_status 2
    expect "--set broken: expected KEY=VALUE"
    run "$NYSBENCH" run experiments/00-smoke.yaml --set trials=0 --set nme=x --set 'strategies=[unifrom]'
    expect_status 2
    expect "--set trials: trials: expected an integer from 1 to 1000000, found '0'"
    expect "--set nme: key 'nme' is unknown; did you mean 'name'?"
    expect "--set strategies: no strategy 'unifrom'; did you mean 'uniform'?"
    # 3 problems, 2 landmarks, 2 factors and 2 cores are left
    expect_plan 'trials=1 methods=8 rows=24' experiments/00-smoke.yaml --set trials=1 --set 'strategies=uniform' \
        --out "$WORK/r"
}

@test "a scalar stands for a list of one; a list in a spec sweeps" {
    config <<'Y'
problems: gaussian(n=[16, 32], d=2)
strategies: kmeans(restarts=[1, 2, 1])
cores: svd
landmarks: [4, 4]
pairing: [default, joint]
factors: [cur, cur]
trials: 1
Y
    expect_plan 'scenes=2 rows=4 done=0 to_run=4' "$WORK/c.yaml"
}

@test "what stands twice in a list is told, and counts once; in lists that advance together it is meant" {
    config <<'Y'
problems: gaussian(n=[16, 32], d=2)
strategies: [uniform, "kmeans(restarts=[1, 2])", kmeans]
cores: [svd, "svd(rcond=[0.03, 0.1])"]
landmarks: [4, 2..4, 3, 8]
factors: [cur, cur]
trials: 1
Y
    run "$NYSBENCH" plan "$WORK/c.yaml"
    expect_status 0
    expect "nysbench: warning: $WORK/c.yaml:2:13: strategies: kmeans appears in the list more than once," \
        "and counts once"
    expect "nysbench: warning: $WORK/c.yaml:3:8: cores: svd appears in the list more than once, and counts once"
    expect "nysbench: warning: $WORK/c.yaml:4:12: landmarks: 4 and 1 other appear in the list more than once," \
        "and count once"
    expect "nysbench: warning: $WORK/c.yaml:5:10: factors: cur appears in the list more than once, and counts once"
    [ "$(grep -c warning <<<"$output")" -eq 4 ]
    expect_plan 'rows=48' "$WORK/c.yaml"
    run "$NYSBENCH" plan "$WORK/c.yaml" --set landmarks=[8,8] --set strategies=uniform --set factors=cur --set cores=svd
    expect "nysbench: warning: --set landmarks: landmarks: 8 appears in the list more than once, and counts once"
    config <<'Y'
problems: gaussian(n=[16, 32, 16], d=2)
strategies: [uniform]
cores: [svd]
landmarks: [4, 4, 8]
zip: [problems, landmarks]
blocks: [{trials: 1}, {trials: 2, factors: [cur, cur]}, {trials: 3, factors: [cur, cur]}]
Y
    run "$NYSBENCH" plan "$WORK/c.yaml"
    expect_status 0
    [ "$(grep -c warning <<<"$output")" -eq 2 ]
}

@test "the resolved config gives the same rows" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] -o "$WORK/a"
    "$NYSBENCH" run "$WORK/a/resolved.yaml" -q -o "$WORK/b"
    timeless "$WORK/a/rows.csv" >"$WORK/a.txt"
    timeless "$WORK/b/rows.csv" >"$WORK/b.txt"
    cmp "$WORK/a.txt" "$WORK/b.txt"
    cmp "$WORK/a/resolved.yaml" "$WORK/b/resolved.yaml"
}

@test "engine, precision and rows: what is allowed, and what goes together" {
    config <<'Y'
problems: gaussian(n=64)
strategies: uniform
cores: svd
engine: dirct
precision: [mixed, double]
rows: sample(1)
Y
    refuses
    expect "c.yaml:4:9: engine: 'dirct' is unknown; did you mean 'direct'?"
    expect "c.yaml:5:12: precision: expected a word, found a list"
    expect "c.yaml:6:7: rows: 'sample(1)' is unknown; allowed: all, or sample(k) for k = 2 to 999999999 random rows"
    config <<'Y'
problems: gaussian(n=64)
strategies: uniform
cores: svd
engine: direct
precision: mixed
rows: sample(10)
Y
    refuses
    expect "c.yaml: rows: sample(10) needs engine: streamed; direct measures all rows"
    expect "c.yaml: precision: mixed needs engine: streamed; direct measures in double"
    expect "c.yaml: precision: mixed needs rows: all; sampled rows are measured in double"
}

@test "--set: other rows get a folder of their own, other figures and names do not" {
    program=$(realpath "$NYSBENCH")
    cd "$WORK"
    printf '%s\n' 'problems: gaussian(n=20, d=3)' 'strategies: [uniform, segment_means]' 'cores: svd' \
        'landmarks: [2, 4]' 'trials: 2' >x.yaml
    folder() { "$program" plan x.yaml "$@" | sed -n 's/.*results in //p'; }
    [ "$(folder)" = results/x ]
    [ "$(folder --set plots=[] --set baseline=segment_means --set question=why --set name=x)" = results/x ]
    [ "$(folder --set name=y --set trials=3)" = results/y ]
    [ "$(folder --set trials=3 --out z)" = z ]
    [[ "$(folder --set trials=3)" =~ ^results/x-[0-9a-f]{8}$ ]]
    [ "$(folder --set trials=3 --set seed=7)" = "$(folder --set seed=8 --set seed=7 --set trials=3 --set plots=[])" ]
    [ "$(folder --set trials=3)" != "$(folder --set trials=4)" ]
    [ "$(folder --set trials=3 --shard 1/2)" = "$(folder --set trials=3)/shards/1-of-2" ]
    "$program" run x.yaml -q
    cp -r results/x before
    run "$program" run x.yaml --set landmarks=4 --set trials=3
    expect_status 0
    expect "nysbench: --set changes the rows: results in $(folder --set landmarks=4 \
        --set trials=3) (--out names another folder)"
    diff -r before results/x
    [ "$(grep -c . "$(folder --set landmarks=4 --set trials=3)/rows.csv")" -eq 7 ]
    run "$program" run x.yaml --set plots=[] -q
    expect_status 0
    [ "$(ls results | wc -l)" -eq 2 ]
}

@test "hints for what is nearly right: m, ranges of other programs, lists without brackets, no value" {
    config <<'Y'
m: 8
problems: gaussian(n=40, d=8-32)
strategies: uniform, kmeans(init=maximin, restarts=2), segment_means
cores: svd
landmarks: [8-64, '8:64', '8:64:8', '8:8:64', '64-8']
pairing: joint, keys
trials: ~
factors:
Y
    refuses
    expect "c.yaml:1:1: key 'm' is unknown; did you mean 'landmarks'?"
    expect "c.yaml:2:28: gaussian: d = 8-32 is not an integer from 1 to 16384; did you mean '8..32'?"
    expect "c.yaml:3:13: strategies: 'uniform, kmeans(init=maximin, restarts=2), segment_means' is not a strategy;" \
        "write a list in brackets: [uniform, \"kmeans(init=maximin, restarts=2)\", segment_means]"
    expect "found '8-64'; did you mean '8..64'?"
    expect "found '8:64'; did you mean '8..64'?"
    expect "found '8:64:8'; did you mean '8..64 step 8'?"
    expect "found '8:8:64'; did you mean '8..64 step 8'?"
    [[ "$output" != *"'64-8';"* ]]
    expect "pairing: 'joint, keys' is unknown; write a list in brackets: [joint, keys]"
    expect "c.yaml:7:1: key 'trials' has no value; leave the line out for its default, if it has one"
    expect "c.yaml:8:1: key 'factors' has no value"
    [ "$(grep -c '^nysbench: error: ' <<<"$output")" -eq 11 ]
    run "$NYSBENCH" plan experiments/00-smoke.yaml --set landmarks=8-64
    expect "found '8-64'; did you mean '8..64'?"
    run "$NYSBENCH" plan experiments/00-smoke.yaml --set landmarks='8, 16'
    expect "found '8, 16'; write a list in brackets: [8, 16]"
    run "$NYSBENCH" plan experiments/00-smoke.yaml --set 'strategies=uniform, kmeans'
    expect "--set strategies: strategies: 'uniform, kmeans' is not a strategy; write a list in brackets:" \
        "[uniform, kmeans]"
    run "$NYSBENCH" plan experiments/00-smoke.yaml --set 'seed=~'
    expect "--set seed: expected a value, found '~'"
    run "$NYSBENCH" plan experiments/00-smoke.yaml --set 'strategies=[uniform, kmeans(restarts=2)]' \
        --set baseline=kmeans
    expect "baseline: expected one of the strategies, found 'kmeans'; did you mean 'kmeans(restarts=2)'?"
    run "$NYSBENCH" plan experiments/00-smoke.yaml --set 'strategies=[uniform, kmeans(restarts=2)]' \
        --set baseline=context
    expect "baseline: expected one of the strategies, found 'context'; allowed: uniform, kmeans(restarts=2)"
    run "$NYSBENCH" run experiments/00-smoke.yaml --only m=32 -o "$WORK/r"
    expect "no column 'm' that rows can be selected by; did you mean 'landmarks'?"
    run "$NYSBENCH" run experiments/00-smoke.yaml --only landmarks=4-8 -o "$WORK/r"
    expect_status 2
    expect "landmarks=4-8: expected a whole number, or a range as 8..64 step 8; did you mean '4..8'?"
}

@test "merge keys take the pairs that a mapping does not have itself; x- keys hold anchors; errors say where" {
    cat >"$WORK/c.yaml" <<'Y'
x-base: &base {strategies: [uniform, kmeans], cores: iterative}
x-one: &one
  <<: *base
  strategies: uniform
problems: gaussian(n=20, d=2)
trials: 1
blocks:
  - {<<: *one, landmarks: [2, 3]}
  - <<: [{cores: svd}, *base]
    landmarks: 4
Y
    run "$NYSBENCH" plan "$WORK/c.yaml" --origins
    expect_status 0
    expect "strategies:  # block 1 ($WORK/c.yaml:4)"
    expect "cores:  # block 1 ($WORK/c.yaml:1)"
    expect "landmarks: [4]  # block 2 ($WORK/c.yaml:10)"
    [ "$(grep -c 'kmeans(' <<<"$output")" -eq 1 ]   # of block 2 alone
    [ "$(grep -c ' "svd(' <<<"$output")" -eq 1 ]    # the first of a list counts
    expect_plan 'rows=4 done=0 to_run=4' "$WORK/c.yaml"
    printf '%s\n' '<<: &a {cores: svd, <<: *a}' 'problems: gaussian' 'strategies: uniform' \
        'blocks: [{<<: [1]}, {x-a: 1}]' 'exclude: {<<: 3}' >"$WORK/c.yaml"
    run "$NYSBENCH" plan "$WORK/c.yaml"
    expect_status 2
    expect "c.yaml:1:5: '<<': a mapping cannot be merged into itself"
    expect "c.yaml:4:16: '<<' takes a mapping or a list of mappings, as *anchor; found a value"
    expect "c.yaml:5:15: '<<' takes a mapping or a list of mappings, as *anchor; found a value"
    expect "c.yaml:4:22: key 'x-a' is unknown"
}

@test "a pattern or folder of heads stands for its files, in order: here, beside the config, in rules and claims" {
    mkdir -p "$WORK/set/h/none"
    cp experiments/data/panel/vit_c*_n257_L6.safetensors "$WORK/set/h"
    save_head "$WORK/set/h/npy" qk 2,9,4
    touch "$WORK/set/h/none/README"
    files() { sed -n '/^problems:/,/^[a-oq-z]/s/.*file=\([^,]*\), head.*/\1/p' <<<"$output" | tr '\n' ' '; }
    cat >"$WORK/set/c.yaml" <<'Y'
problems: [heads(file=h), 'heads(file="h/vit_c[ai]*", max_n=20, head=[0, 1])']
strategies: uniform
cores: iterative
landmarks: 4
trials: 1
plots: []
metrics: error
exclude: {problem: heads(file=h/*_c?t*)}
claims: [{says: it, measure: {metric: error, where: {problem: heads(file=h/*_c?f*)}}, expect: {value: [0, 1]}}]
Y
    cd "$WORK/set"
    run "$NYSBENCH" plan c.yaml --origins
    expect_status 0
    [ "$(files)" = "$(echo h/npy h/vit_{camera,chelsea,cincinnati-bridge,citrus,coffee}_n257_L6.safetensors \
        h/vit_{camera,camera,cincinnati-bridge,cincinnati-bridge,citrus,citrus}_n257_L6.safetensors) " ]
    expect '{problem: ["heads(file=h/vit_citrus_n257_L6.safetensors)"]}'
    expect 'where: {problem: ["heads(file=h/vit_coffee_n257_L6.safetensors)"]}'
    cd "$WORK"
    run "$NYSBENCH" plan set/c.yaml --origins
    [[ "$(files)" == "set/h/npy set/h/vit_camera_n257_L6.safetensors "* ]]
    run "$NYSBENCH" plan set/c.yaml --set 'problems="heads(file=experiments/data/panel/vit_ca*)"' --set exclude=[] \
        --set claims=[] --origins
    [ "$(files)" = "experiments/data/panel/vit_camera_n257_L6.safetensors " ]
    run "$NYSBENCH" plan set/c.yaml --set 'problems=heads(file=set/h/*.npz)'
    expect_status 2
    expect "set/h/*.npz: no file matches"
    sed -i 's#c?t#x#' set/c.yaml
    run "$NYSBENCH" plan set/c.yaml
    expect_status 2
    expect "set/c.yaml:8:20: h/*_x*: no file matches; looked for in "
    run "$NYSBENCH" plan set/c.yaml --set 'problems=heads(file=set/h/none)'
    expect "set/h/none/q.npy: cannot be opened"
    run "$NYSBENCH" new experiment n.yaml --heads set/h
    expect_status 0
    [ "$(grep -c '  - .*file="set/h/' n.yaml)" -eq 6 ]
}

@test "an option names the model of .npy heads; a file's metadata name its own, unless the option names another" {
    save_head "$WORK/h" qk 9,4
    save_head "$WORK/g" qk 9,4
    printf '%s\n' "problems: ['heads(file=[$WORK/h, $WORK/g], model=\"mine\")', heads(file=$WORK/h)," \
        "           heads(file=$ASTRONAUT)]" \
        'strategies: uniform' 'landmarks: 4' 'cores: svd' 'trials: 1' 'metrics: error' 'plots: []' >"$WORK/c.yaml"
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    py check_models "$WORK/r/rows.csv"
    "$NYSBENCH" table "$WORK/r" errors --where 'model=mine' | grep -q '^mine, 2 sources'
}
