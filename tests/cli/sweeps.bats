# SPDX-License-Identifier: GPL-3.0-or-later
# Ranges, blocks, exclusions and lists that advance together: what is planned,
# counted by hand, and what is wrong.

load helpers

plan() {
    run "$NYSBENCH" plan "$WORK/c.yaml" --out "$WORK/none" "$@"
}

planned() { # ROWS OPTION...
    expect_plan "rows=$1 done=0 to_run=$1" "$WORK/c.yaml" --out "$WORK/none" "${@:2}"
}

# The mistakes are all of the output.
mistakes() {
    plan
    expect_status 2
    tell nysbench plan c.yaml
}

# Runs it into $WORK/NAME; prints the columns of the rows.
rows() {
    "$NYSBENCH" run "$WORK/c.yaml" -q --out "$WORK/$1" >"$WORK/log"
    py print_columns "$WORK/$1/rows.csv" "${@:2}"
}

@test "ranges and powers: in lists, alone, and in an option" {
    config <<'Y'
problems: gaussian(n=65, d=4)
strategies: uniform
cores: svd
trials: 1
landmarks: [3, 8..24 step 8, 16, 2^5..2^6, 2^0, 20..22]
Y
    planned 10 # 3 8 16 24 32 64 1 20 21 22
    plan --origins
    expect "landmarks: [3, 8, 16, 24, 16, 32, 64, 1, 20, 21, 22]"
    planned 8 --set "landmarks=1..8"
    planned 3 --set "landmarks=2^2..2^4"
    planned 12 --set landmarks=4 --set 'strategies="kmeans(restarts=[1..3, 2^3], iterations=10..30 step 10)"'
    planned 5 --set landmarks=4 --set 'strategies=kmeans(restarts=1..9 step 2)'
    planned 2 --set landmarks=4 \
        --set 'problems="heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=1..2)"'
}

@test "ranges that are none" {
    config <<'Y'
problems: gaussian(n=64, d=8..4)
strategies: [uniform, "kmeans(restarts=1..9 step 0)"]
cores: "svd(rank=1..999999999)"
landmarks: [64..8, 8..64 step 0, 2^3..2^80, 0..4, 1..2000000, 2^3..64, x..3]
Y
    mistakes
}

@test "blocks unite, and a row that two of them hold is there once" {
    config <<'Y'
problems: ["gaussian(n=33, d=4)", "clusters(n=32, d=4)"]
strategies: [uniform, segment_means]
cores: [svd(rcond=0.1), iterative]
trials: 2
landmarks: 4..16 step 4
metrics: error
plots: []
blocks:
  - {}
  - {cores: "svd(rcond=[0.1, 0.01, 0.001])", landmarks: 8, problems: "gaussian(n=33, d=4)"}
  - {trials: 3, landmarks: 4, strategies: uniform, cores: iterative}
Y
    # 2 problems x 2 strategies x 4 m x 2 cores x 2 trials; 2 strategies x 2 new cores x 2 trials; trial 2 of 2 problems
    planned 74
    expect_plan 'scenes=2 trials=3 methods=20' "$WORK/c.yaml"
    rows r problem strategy landmarks core trial >"$WORK/rows.txt"
    [ "$(wc -l <"$WORK/rows.txt")" -eq 74 ]
    [ "$(sort -u "$WORK/rows.txt" | wc -l)" -eq 74 ]
    [ "$(grep -c 'rcond=0.01,' "$WORK/rows.txt")" -eq 4 ]
    [ "$(grep -c '2$' "$WORK/rows.txt")" -eq 2 ]
    expect_rows "$WORK/r" "74 ok"
    # what blocks share is measured as it would be without them
    "$NYSBENCH" run "$WORK/c.yaml" -q --set blocks=[] --out "$WORK/whole" >"$WORK/log"
    timeless "$WORK/whole/rows.csv" | sort >"$WORK/whole.txt"
    timeless "$WORK/r/rows.csv" | sort >"$WORK/blocks.txt"
    [ "$(wc -l <"$WORK/whole.txt")" -eq 64 ]
    [ "$(comm -12 "$WORK/whole.txt" "$WORK/blocks.txt" | wc -l)" -eq 64 ]
}

@test "blocks: a mapping stands for a list of one, --set holds in all, keys of all may be left to them" {
    config <<'Y'
strategies: uniform
trials: 2
blocks:
  - {problems: "gaussian(n=33, d=4)", cores: [svd, iterative], landmarks: [4, 8]}
  - {problems: "clusters(n=32, d=4)", cores: svd, landmarks: 8, trials: 1}
Y
    planned 9
    planned 5 --set trials=1
    planned 3 --set trials=1 --set landmarks=8
    planned 4 --set trials=2 --set cores=iterative --set landmarks=8
    planned 4 --set 'blocks={problems: "gaussian(n=33, d=4)", cores: svd, landmarks: [4, 8]}'
}

@test "blocks: heads of one file named in two ways, pairings that are the same" {
    config <<'Y'
trials: 1
cores: svd
landmarks: 8
strategies: [leverage, uniform]
blocks:
  - {problems: "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors)", pairing: joint}
  - {problems: "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=1..2)",
     pairing: [default, independent], landmarks: [8, 16]}
  - {problems: "gaussian(n=32, d=4)", kernels: gram, pairing: [joint, queries]}
Y
    # 3 heads x 2 joint; 2 heads x 2 strategies x 2 pairings x 2 m, of which joint at m = 8 is there
    # already; gram knows one pairing
    planned $((6 + 2 * 2 * 2 * 2 - 2 * 2 + 2))
    expect_plan 'scenes=4' "$WORK/c.yaml"
    # files of one name are not one file
    mkdir "$WORK/a" "$WORK/b"
    cp experiments/data/vit_astronaut_n257_L6.safetensors "$WORK/a/h.safetensors"
    cp experiments/data/vit_astronaut_n257_L6.safetensors "$WORK/b/h.safetensors"
    planned 2 --set "blocks=[{problems: \"heads(file=$WORK/a/h.safetensors, head=0)\"}, \
{problems: \"heads(file=$WORK/b/h.safetensors, head=0)\", landmarks: 16}]" \
        --set strategies=leverage
    # that of another core or of other factors is not the same
    planned 3 \
        --set 'blocks=[{pairing: joint}, {pairing: queries, cores: iterative}, {pairing: queries, factors: cur}]' \
        --set 'problems=gaussian(n=32, d=4)' --set kernels=gram --set strategies=uniform
}

@test "blocks that span far more than they hold are planned in the memory of their rows" {
    local problems kernels cores
    if sanitized; then skip "the sanitizers need more address space than any limit allows"; fi
    problems=$(seq -f '"gaussian(n=32, d=4, scale=%g)"' -s ', ' 0.5 0.5 999.5)
    kernels=$(seq -f 'gauss(bandwidth=%g)' -s ', ' 2000)
    cores=$(seq -f 'svd(rcond=%.4f)' -s ', ' 0.0001 0.0001 0.1)
    config <<Y
problems: "gaussian(n=32, d=4)"
kernels: softmax
strategies: uniform
trials: 1
landmarks: 8
cores: iterative
blocks: # 4 * 10^12 combinations
  - {problems: [$problems]}
  - {kernels: [$kernels]}
  - {landmarks: 1..1000}
  - {cores: [$cores]}
  - {} # what all of them have but that of kernels
Y
    OPENBLAS_NUM_THREADS=1 run bash -c 'ulimit -v 500000 && exec timeout 60 "$0" plan "$1" -o "$2" -f json' \
        "$NYSBENCH" "$WORK/c.yaml" "$WORK/none"
    expect_status 0
    facts numbers 'scenes=3999 rows=5998 done=0 to_run=5998' <<<"$output"
}

@test "a folder of 3,000 head files: memory in proportion to their number" {
    if sanitized; then skip "the sanitizers need more address space than any limit allows"; fi
    mkdir "$WORK/heads"
    py write_heads "$WORK/heads"
    config <<Y
problems: "heads(file=\"$WORK/heads/*.safetensors\", causal=false)"
strategies: uniform
trials: 1
landmarks: 3
cores: svd
Y
    OPENBLAS_NUM_THREADS=1 run bash -c 'ulimit -v 400000 && exec timeout 60 "$0" plan "$1" -o "$2" -f json' \
        "$NYSBENCH" "$WORK/c.yaml" "$WORK/none"
    expect_status 0
    facts numbers 'scenes=3000' <<<"$output"
}

@test "blocks: of layers and of their heads, each has its own scenes alone" {
    config <<'Y'
study: forward
trials: 1
heads: [0, 1]
attentions: [naive, streamed]
blocks:
  - {problems: "heads(file=experiments/data/minilm_us-constitution_n512_L3.safetensors)", attentions: naive}
  - {problems: "heads(file=experiments/data/minilm_us-constitution_n512_L3.safetensors, head=[0, 2])"}
Y
    # the layer with all its heads and with one; head 0, of which there is one already, and head 2, with either
    # attention
    planned 5
    expect_plan 'scenes=3' "$WORK/c.yaml"
}

@test "what is wrong with blocks" {
    config <<'Y'
problems: gaussian(n=64)
strategies: uniform
trials: 3
blocks:
  - {seed: 3, trials: 1, cores: svd, landmark: 3}
  - uniform
  - {landmarks: [x, 3], landmarks: 3, trials: 1}
  - {trials: 1, cores: iteratve, blocks: []}
Y
    mistakes
    config <<'Y'
problems: gaussian(n=64)
strategies: uniform
trials: 3
blocks:
  - {trials: 1, cores: svd}
  - {trials: 2, cores: svd}
Y
    mistakes
    planned 16 --set 'blocks={trials: 2, cores: svd}' # the default: 8 m; --set cannot change what the file says for all
}

@test "the baseline is one of all blocks' strategies" {
    config <<'Y'
problems: gaussian(n=33, d=4)
cores: svd
landmarks: [4, 8]
trials: 2
baseline: segment_means
plots: []
blocks: [{strategies: uniform}, {strategies: [segment_means, leverage], landmarks: 8}]
Y
    run "$NYSBENCH" run "$WORK/c.yaml" --out "$WORK/r"
    expect_status 0
    output=$("$NYSBENCH" table "$WORK/r" shares | grep '^Relative') status=0 tell nysbench table "$WORK/r" shares
    told plan "$WORK/c.yaml" --set baseline=kmeans
    expect_status 2
}

@test "exclude: 3,000 rules on 200,000 rows take no time, and each counts its rows" {
    py write_rules >"$WORK/c.yaml" 3>"$WORK/counts"
    (ulimit -t 4 && of_json 'for rule in x[0]["excluded_by"]: print(rule["rows"], rule["line"])' \
        "$NYSBENCH" plan "$WORK/c.yaml") | diff <(tail -n +2 "$WORK/counts") -
    read -r left gone <"$WORK/counts"
    expect_plan "rows=$left excluded=$gone" "$WORK/c.yaml"
}

@test "exclude: by every key, by name, by option, by range; a scalar and a list" {
    config <<'Y'
problems: ["gaussian(n=65, d=4)", "clusters(n=64, d=4)",
           "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors)"]
kernels: [softmax, gram]
strategies: [uniform, segment_means, "kmeans(restarts=1..4)", leverage]
factors: [nystromformer, cur]
cores: ["svd(rcond=[1e-1, 1e-2])", iterative]
landmarks: [8..64 step 8]
trials: 2
Y
    # methods: 7 strategies x 8 m x 2 factors x 3 cores = 336 a scene; 5 heads x 2 kernels = 10 scenes.
    # Trials: 2; but 1 for segment means (48 methods) on the 6 scenes from the file.
    all=$((10 * 336 * 2 - 6 * 48))
    planned $all
    excludes() {
        expect_plan "rows=$((all - $1)) excluded=$1" "$WORK/c.yaml" --set "exclude=$2"
    }
    excludes $((10 * 48 * 2)) "{strategy: uniform}"
    excludes $((10 * 48 * 8)) "{strategy: kmeans}"
    excludes $((10 * 48 * 4)) "{strategy: \"kmeans(restarts=[2, 4])\"}"
    excludes $((10 * 48 * 4)) "[{strategy: \"kmeans(restarts=3..4, iterations=100)\"}]"
    excludes $((10 * 48 * 10)) "{strategy: [kmeans, uniform]}"
    excludes $((2 * 336 * 2)) "{problem: clusters}"
    excludes $((2 * 336 * 2)) "{problem: \"gaussian(n=65)\"}"
    excludes $((2 * 336 * 2)) "{n: 65}"
    excludes $((4 * 336 * 2)) "{d: 1..32}"
    excludes $((all / 2)) "{kernel: gram}"
    excludes $((all / 2)) "{factors: cur}"
    excludes $((all / 3)) "{core: svd(rcond=0.10)}"
    excludes $((all * 2 / 3)) "{core: svd}"
    excludes $((all * 3 / 8)) "{landmarks: [8, 2^5..2^9]}"
    excludes $((2 * (336 * 2 - 48))) "{head: 2}"
    excludes $((10 * 336 - 6 * 48)) "{trial: 1..5}"
    # under softmax all are joint, under gram queries
    excludes $((all / 2)) "{pairing: queries}"
    excludes $((all / 2)) "{pairing: joint}"
    excludes $((all / 2)) "{pairing: [joint, independent]}"
    excludes $((3 * 3 * 2)) "{strategy: leverage, problem: heads, kernel: softmax, factors: cur, landmarks: 57..64}"
}

@test "exclude: rules of all blocks and of one, counts by rule, and one that does nothing" {
    config <<'Y'
problems: gaussian(n=33, d=4)
strategies: [uniform, kmeans]
cores: [svd, iterative]
trials: 1
exclude:
  - {strategy: kmeans, landmarks: 8}
  - {trial: 7}
blocks:
  - {landmarks: [4, 8]}
  - landmarks: [8, 16]
    exclude: {core: svd}
Y
    # block 1: 8 less 2. Block 2: 8, less kmeans at 8 (2), less svd: uniform 8 (which block 1 has), uniform 16, kmeans
    # 16
    expect_plan 'rows=8 excluded=4' "$WORK/c.yaml"
    plan
    output=$(grep 'rule' <<<"$output") tell nysbench plan "$WORK/c.yaml"
    warned run "$WORK/c.yaml" -q --out "$WORK/r" --set plots=[]
    told plan "$WORK/c.yaml" --set 'exclude={n: 33}'
    expect_status 2
}

@test "what is wrong with rules" {
    config <<'Y'
problems: gaussian(n=64)
strategies: uniform
cores: svd
exclude:
  - {strategy: unifrom}
  - {strategi: uniform}
  - {}
  - uniform
  - {strategy: "kmeans(restart=3)"}
  - {strategy: "kmeans(restarts=0)"}
  - {landmarks: 9..3, pairing: default}
  - {core: [], core: svd}
  - {problem: "heads(head=3)"}
  - {landmarks: [[3]], strategy: [[uniform]]}
Y
    mistakes
}

@test "what draws nothing has one trial: a sample of all rows is none" {
    config <<'Y'
problems: heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=0)
strategies: segment_means
cores: svd
landmarks: 8
trials: 5
metrics: error
plots: []
Y
    planned 1
    planned 5 --set 'rows=sample(256)'
    planned 1 --set 'rows=sample(257)'
    planned 5 --set strategies=uniform
}

@test "zip: lists that advance together" {
    config <<'Y'
problems: ["gaussian(n=32, d=4)", "gaussian(n=48, d=4)", "gaussian(n=64, d=4)"]
strategies: kmeans(restarts=1..3)
cores: [svd, iterative]
landmarks: [4, 4, 16]
trials: 1
metrics: error
plots: []
zip: [landmarks, strategies]
Y
    planned 18
    planned 6 --set 'zip=[problems, landmarks, strategies]'
    planned 18 --set 'zip=[[problems, landmarks]]'
    planned 6 --set 'zip=[[problems, landmarks], [strategies, cores]]' --set 'strategies=kmeans(restarts=[1, 2])'
    run "$NYSBENCH" plan "$WORK/c.yaml" --origins --set 'zip=[[problems, landmarks], [strategies, cores]]' \
        --set 'strategies=kmeans(restarts=[1, 2])'
    planned 54 --set 'zip=[]' --set 'landmarks=[4, 8, 16]'
    [ "$(rows r landmarks strategy core | sort | uniq -c | wc -l)" -eq 4 ]
    py check_zip "$WORK/r/rows.csv"
}

@test "what is wrong with zip" {
    config <<'Y'
problems: gaussian(n=64)
strategies: [uniform, leverage]
cores: [svd, iterative]
landmarks: [8, 16, 24]
zip: [landmarks, strategies]
Y
    mistakes
    told plan "$WORK/c.yaml" --set landmarks=8
    expect_status 2
    sed -i 's/^zip.*/zip: [cores, landmark, trials]/' "$WORK/c.yaml"
    mistakes
    sed -i 's/^zip.*/zip: cores/' "$WORK/c.yaml"
    mistakes
    sed -i 's/^zip.*/zip: [[cores, strategies], [landmarks, cores]]/' "$WORK/c.yaml"
    mistakes
    # beside other mistakes, but for the keys that have some
    sed -i 's/^zip.*/zip: [landmarks, strategies]\npairing: [both, side]\ntrials: x/' "$WORK/c.yaml"
    mistakes
    sed -i '/^pairing/d; /^trials/d; s/leverage/leverag/' "$WORK/c.yaml"
    mistakes
    sed -i 's/leverag]/leverage]/; s/16, 24/x/' "$WORK/c.yaml"
    mistakes
    sed -i 's/x/16, 24/' "$WORK/c.yaml"
    # only the pairs that meet are looked at
    sed -i 's/^zip.*/zip: [pairing, strategies]\npairing: [joint, both]/' "$WORK/c.yaml"
    mistakes
}

everything() {
    config <<'Y'
question: everything # at once
trials: 2
problems: ["gaussian(n=33, d=4)", "clusters(n=32, d=4)"]
strategies: [uniform, segment_means, leverage]
cores: [svd(rcond=0.03), iterative]
metrics: error
plots: []
exclude:
  - {strategy: leverage, problem: clusters, landmarks: 12..16}
blocks:
  - landmarks: [16, 4..8 step 4]
  - landmarks: 2^2
    cores: "svd(rcond=[1e-1, 1e-2])"
    strategies: uniform
  - zip: [landmarks, strategies]
    landmarks: [4, 8, 8, 12]
    strategies: kmeans(restarts=1..4)
    trials: 1
    exclude: {core: iterative, strategy: "kmeans(restarts=3..4)"}
Y
}

@test "the resolved config of blocks, rules and zip gives the same rows in the same order, and itself" {
    everything
    # 2 x 3 x 3 x 2 x 2 less 4 (leverage, clusters, 16); 2 x 2 cores x 2 trials; 2 x 4 x 2 less 4
    planned $((68 + 8 + 12))
    "$NYSBENCH" run "$WORK/c.yaml" -q --out "$WORK/a"
    "$NYSBENCH" run "$WORK/a/resolved.yaml" -q --set name=c --out "$WORK/b"
    timeless "$WORK/a/rows.csv" >"$WORK/a.txt"
    timeless "$WORK/b/rows.csv" >"$WORK/b.txt"
    [ "$(wc -l <"$WORK/a.txt")" -eq 88 ]
    cmp "$WORK/a.txt" "$WORK/b.txt"
    cmp "$WORK/a/resolved.yaml" "$WORK/b/resolved.yaml"
    expect_plan 'rows=88 done=88 to_run=0' "$WORK/a/resolved.yaml" --out "$WORK/a"
}

@test "an option of a rule keeps all of its digits" {
    config <<'Y'
problems: gaussian(n=32, d=4)
strategies: uniform
cores: ["svd(rcond=[0.12345678, 0.2])"]
landmarks: [4, 8]
trials: 1
plots: []
exclude:
  - {core: svd(rcond=0.12345678), landmarks: 8}
Y
    planned 3
    "$NYSBENCH" plan "$WORK/c.yaml" --origins >"$WORK/d.yaml"
    mv "$WORK/d.yaml" "$WORK/c.yaml"
    planned 3
}

@test "plan --origins: each value, where it comes from, and YAML that gives the same plan" {
    everything
    plan --origins --set seed=7
    expect_status 0
    c=$WORK/c.yaml
    for line in "name: \"c\"  # default" "question: \"everything\"  # $c:1" "seed: 7  # --set" \
        "  - trials: 2  # $c:2" "    problems:  # $c:3" "    kernels:  # default" \
        "    landmarks: [16, 4, 8]  # block 1 ($c:11)" \
        "    cores:  # block 2 ($c:13)" "  - trials: 1  # block 3 ($c:18)" \
        "    zip: [[strategies, landmarks]]  # block 3 ($c:15)" "engine: streamed  # default" \
        "  - {strategy: [\"leverage\"], problem: [\"clusters\"], landmarks: [\"12..16\"]}  # $c:9" \
        "      - {core: [\"iterative\"], strategy: [\"kmeans(restarts=3..4)\"]}  # $c:19"; do
        grep -qxF -- "$line" <<<"$output" || { echo "missing: $line"; echo "$output"; return 1; }
    done
    # every key has an origin, and nothing else is printed
    py check_origins "$output"
    "$NYSBENCH" plan "$WORK/c.yaml" --origins --set seed=7 >"$WORK/d.yaml"
    "$NYSBENCH" plan "$WORK/c.yaml" --out "$WORK/none" --set seed=7 >"$WORK/1.txt"
    "$NYSBENCH" plan "$WORK/d.yaml" --out "$WORK/none" >"$WORK/2.txt"
    # but for the lines of the rules, and a prediction, which the load changes
    sed -i '/ [^ ]*[cd][.]yaml:[0-9]*$/d; /^time: about /d' "$WORK/1.txt" "$WORK/2.txt"
    cmp "$WORK/1.txt" "$WORK/2.txt"
}

@test "the table and the figures of a plan with holes: blank, never zero" {
    everything
    run "$NYSBENCH" run "$WORK/c.yaml" --out "$WORK/r" --set plots=[error,svd_vs_iterative]
    expect_status 0
    "$NYSBENCH" table "$WORK/r" errors cores >"$WORK/table"
    # uniform has all m but 12; kmeans(restarts=4) has 12 alone, and no line under the iteration
    quoted '^    kmeans\(restarts=4\).*' "$WORK/table"
    ! grep ' 0  ' "$WORK/table" || return 1
    "$NYSBENCH" table "$WORK/r" shares --format csv >"$WORK/shares.csv"
    py check_holes "$WORK/r/plots/error.csv" "$WORK/shares.csv"
    for f in error_iterative.png svd_vs_iterative_iterative.png; do [ -s "$WORK/r/plots/$f" ]; done
    "$NYSBENCH" plot "$WORK/r" cores >/dev/null
    "$NYSBENCH" plot "$WORK/r" --landmarks >/dev/null
    "$NYSBENCH" export "$WORK/r" --landmarks "$WORK/npy" >/dev/null
}

@test "strategies are compared where the plan has them, and marked where one lacks what others have" {
    config <<'Y'
problems: gaussian(n=[32, 48], d=4)
cores: iterative
landmarks: [4, 8]
trials: 2
metrics: error
plots: []
strategies: [uniform, segment_means, kmeans]
pairing: joint
zip: [problems, landmarks]
blocks:
  - {cores: svd, strategies: uniform}
  - {exclude: {strategy: kmeans, landmarks: 8}}
Y
    run "$NYSBENCH" run "$WORK/c.yaml" --out "$WORK/r"
    expect_status 0
    "$NYSBENCH" table "$WORK/r" shares >"$WORK/shares"
    quoted '^    .* [0-9].*[0-9]$' "$WORK/shares"
    # the columns of each problem are its own
    "$NYSBENCH" table "$WORK/r" errors >"$WORK/errors"
    quoted '^gaussian.*|^  landmarks.*' "$WORK/errors"
}
