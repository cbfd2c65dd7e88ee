# SPDX-License-Identifier: GPL-3.0-or-later
# Mistakes in a config: each is told with its place, all in one go, before anything runs.

load helpers

refuses() {
    told run "$WORK/c.yaml" --out "$WORK/out"
    expect_status 2
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
}

@test "a pairing that a strategy does not have" {
    config <<'Y'
problems: gaussian(n=64)
strategies: uniform
cores: svd
pairing: both
Y
    refuses
}

@test "missing keys" {
    config <<<"name: e"
    refuses
}

@test "a missing head file" {
    config <<'Y'
problems: heads(file=no/such.safetensors)
strategies: uniform
cores: svd
Y
    refuses
}

@test "a head that the file does not have" {
    config <<'Y'
problems: heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=3)
strategies: uniform
cores: svd
Y
    refuses
}

@test "a head file that is none" {
    config <<'Y'
problems: heads(file=LICENSE)
strategies: uniform
cores: svd
Y
    refuses
}

@test "a tab" {
    printf 'problems:\n\t- gaussian\n' | config
    refuses
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
}

@test "an empty file" {
    : | config
    refuses
}

@test "a file that is not YAML" {
    config <<<'problems: [a, b'
    refuses
}

@test "bytes that no YAML may have are named with their line and column" {
    printf 'problems: gaussian(n=8)\nstrategies: uniform # \xc3\xa9\b\ncores: svd\n' | config
    refuses
    printf 'problems: gaussian(n=8)\r\nstrategies: uniform\r\nname: caf\xe9 au lait\r\n' | config
    refuses
    printf '\xef\xbb\xbfname: a\x7fb\n' | config # a byte order mark, which is allowed, takes no column
    refuses
    printf 'name: a\n# \b\n' | iconv -t UTF-16 | config # whose offsets are not the text's
    refuses
}

@test "no-break spaces, curly quotes and the like are named where they make a config fail" {
    fails() { # LINE: with this line among the others
        printf 'problems: gaussian(n=32, d=4)\n%b\nlandmarks: 4\n' "$1" | config
        refuses
    }
    fails 'strategies:\xc2\xa0uniform\ncores: svd'
    fails '\xc2\xa0strategies: uniform\ncores: svd'
    fails 'strategies: "kmeans(restarts=\xc2\xa04)"\ncores: svd'
    fails 'strategies: [“uniform”]\ncores: svd'
    fails "strategies: 'kmeans(label=“my k-means”)'\ncores: svd"
    fails 'strategies: kmeans（restarts=4）\ncores: svd'
    fails 'strategies: uniform\ncores: svd(rcond=1e−3)'
    fails 'strategies:\n  – uniform\n  – kmeans\ncores: svd'
    told select --head $ASTRONAUT:0 --strategy 'kmeans(init=‘plusplus’)' -m 3 -o -
    fails 'strategies: uniform(label=“my-tokens”)\ncores: svd(rcond=2)' # a label may have what it likes
}

@test "a file that is nested too deep, has too many anchors or is too large: refused at once" {
    refuses_soon() {
        run bash -c 'ulimit -t 10 && exec "$@"' - "$NYSBENCH" run "$WORK/c.yaml"
        expect_status 2
        tell nysbench run c.yaml
    }
    { printf 'problems: '; printf '%200000s' | tr ' ' '['; } | config
    refuses_soon
    { printf 'problems: ['; printf '&a%d x, ' {1..50000}; echo ']'; } | config
    refuses_soon
    head -c 17000000 /dev/zero | tr '\0' '#' | config
    refuses_soon
    { printf 'plots: '; printf '%99s' | tr ' ' '['; printf '%99s' | tr ' ' ']'; } | config
    refuses_soon
}

@test "a list where keys are expected, and two documents" {
    config <<<'- a'
    refuses
    printf 'name: a\n---\nname: b\n' | config
    refuses
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
    told run experiments/00-smoke.yaml --set question=
    expect_status 2
    told run experiments/00-smoke.yaml --out ""
    expect_status 2
}

@test "a spec whose commas the YAML list has taken" {
    config <<'Y'
problems: [gaussian(n=8, d=2)]
strategies: uniform
cores: svd
Y
    refuses
}

@test "a missing config, and a folder instead of one" {
    told run "$WORK/none.yaml"
    expect_status 2
    told run "$WORK"
    expect_status 2
}

@test "--set replaces a key and is checked like the file" {
    told run experiments/00-smoke.yaml --set trials=0 --set nme=x --set 'strategies=[unifrom]' --set broken
    expect_status 2
    told run experiments/00-smoke.yaml --set trials=0 --set nme=x --set 'strategies=[unifrom]'
    expect_status 2
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
    warned plan "$WORK/c.yaml"
    expect_status 0
    expect_plan 'rows=48' "$WORK/c.yaml"
    warned plan "$WORK/c.yaml" --set landmarks=[8,8] --set strategies=uniform --set factors=cur --set cores=svd
    config <<'Y'
problems: gaussian(n=[16, 32, 16], d=2)
strategies: [uniform]
cores: [svd]
landmarks: [4, 4, 8]
zip: [problems, landmarks]
blocks: [{trials: 1}, {trials: 2, factors: [cur, cur]}, {trials: 3, factors: [cur, cur]}]
Y
    warned plan "$WORK/c.yaml"
    expect_status 0
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
    config <<'Y'
problems: gaussian(n=64)
strategies: uniform
cores: svd
engine: direct
precision: mixed
rows: sample(10)
Y
    refuses
}

@test "--set: other rows get a folder of their own, other figures and names do not" {
    program=$(realpath "$NYSBENCH")
    cd "$WORK"
    printf '%s\n' 'problems: gaussian(n=20, d=3)' 'strategies: [uniform, segment_means]' 'cores: svd' \
        'landmarks: [2, 4]' 'trials: 2' >x.yaml
    folder() { of_json 'print(x[0]["results"])' "$program" plan x.yaml "$@"; }
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
    NYSBENCH=$program warned run x.yaml --set landmarks=4 --set trials=3
    expect_status 0
    expect " $(folder --set landmarks=4 --set trials=3) "
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
    told plan experiments/00-smoke.yaml --set landmarks=8-64
    told plan experiments/00-smoke.yaml --set landmarks='8, 16'
    told plan experiments/00-smoke.yaml --set 'strategies=uniform, kmeans'
    told plan experiments/00-smoke.yaml --set 'seed=~'
    told plan experiments/00-smoke.yaml --set 'strategies=[uniform, kmeans(restarts=2)]' \
        --set baseline=kmeans
    told plan experiments/00-smoke.yaml --set 'strategies=[uniform, kmeans(restarts=2)]' \
        --set baseline=context
    told run experiments/00-smoke.yaml --only m=32 -o "$WORK/r"
    told run experiments/00-smoke.yaml --only landmarks=4-8 -o "$WORK/r"
    expect_status 2
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
    told plan "$WORK/c.yaml" --origins # kmeans is of block 2 alone; the first of a list counts
    expect_status 0
    expect_plan 'rows=4 done=0 to_run=4' "$WORK/c.yaml"
    printf '%s\n' '<<: &a {cores: svd, <<: *a}' 'problems: gaussian' 'strategies: uniform' \
        'blocks: [{<<: [1]}, {x-a: 1}]' 'exclude: {<<: 3}' >"$WORK/c.yaml"
    told plan "$WORK/c.yaml"
    expect_status 2
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
    told plan c.yaml --origins
    expect_status 0
    [ "$(files)" = "$(echo h/npy h/vit_{camera,chelsea,cincinnati-bridge,citrus,coffee}_n257_L6.safetensors \
        h/vit_{camera,camera,cincinnati-bridge,cincinnati-bridge,citrus,citrus}_n257_L6.safetensors) " ]
    cd "$WORK"
    run "$NYSBENCH" plan set/c.yaml --origins
    [[ "$(files)" == "set/h/npy set/h/vit_camera_n257_L6.safetensors "* ]]
    run "$NYSBENCH" plan set/c.yaml --set 'problems="heads(file=experiments/data/panel/vit_ca*)"' --set exclude=[] \
        --set claims=[] --origins
    [ "$(files)" = "experiments/data/panel/vit_camera_n257_L6.safetensors " ]
    told plan set/c.yaml --set 'problems=heads(file=set/h/*.npz)'
    expect_status 2
    sed -i 's#c?t#x#' set/c.yaml
    told plan set/c.yaml
    expect_status 2
    told plan set/c.yaml --set 'problems=heads(file=set/h/none)'
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
    "$NYSBENCH" table "$WORK/r" errors --where 'model=mine' >"$WORK/table"
    quoted '^mine.*' "$WORK/table"
}
