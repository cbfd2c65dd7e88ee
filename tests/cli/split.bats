# SPDX-License-Identifier: GPL-3.0-or-later
# A split of the sources into development and test: an experiment has those of one part, or does not run.

load helpers

HEADS=experiments/data/minilm_us-constitution_n512_L3.safetensors
SOURCE="US Constitution (legal), Debian miscfiles; public domain"

experiment() { # "split and sources" lines
    config <<Y
name: e
trials: 1
landmarks: 8
problems: ["heads(file=$HEADS, head=1, max_n=64)", "gaussian(n=32)"]
strategies: segment_means
cores: svd
metrics: error
$1
Y
}

refuses() {
    experiment "$1"
    told run "$WORK/c.yaml" --out "$WORK/out"
    expect_status 2
    [ ! -e "$WORK/out" ]
}

split() { printf '%s\n' "$@" >"$WORK/split.yaml"; }

@test "an experiment with the sources of its part runs, and its folder names part and file" {
    split "development: [opticks]" "test: ['$SOURCE', astronaut]"
    experiment "split: split.yaml
sources: test"
    run "$NYSBENCH" run "$WORK/c.yaml" --out "$WORK/out" --quiet
    expect_status 0
    grep -qx "split: \"$WORK/split.yaml\"" "$WORK/out/resolved.yaml"
    grep -qx 'sources: "test"' "$WORK/out/resolved.yaml"
    grep -q "$(sha256sum <"$WORK/split.yaml" | cut -d' ' -f1)" "$WORK"/out/manifest*.json
    rm "$WORK/split.yaml" # what is read later needs no split
    run "$NYSBENCH" status "$WORK/out"
    expect_status 0
}

@test "the other part's source, and one of no part, are named" {
    split "development: '$SOURCE'" "test: [astronaut]"
    refuses "split: split.yaml
sources: test"
    split "development: [opticks]" "test: [astronaut]"
    refuses "split: split.yaml
sources: development"
}

@test "what is wrong with the two keys or the file is told with its place" {
    refuses "sources: test"
    refuses "split: split.yaml"
    split "development: [us-constitution, opticks]" "test: [astronaut, opticks, {}]"
    refuses "split: split.yaml
sources: tst"
    refuses "split: split.yaml"
    split "opticks"
    refuses "split: split.yaml
sources: test"
    refuses "split: [a, b]
sources: test"
}


@test "the experiments' own split has each input in one part, and what shipped heads come from in development" {
    local split=experiments/data/split.yaml
    py check_split $split
    config <<Y
trials: 1
landmarks: 2
problems: ["heads(file=experiments/data/*.safetensors, max_n=8)",
           "heads(file=experiments/data/panel/*.safetensors, max_n=8)"]
strategies: segment_means
cores: svd
plots: []
split: $PWD/$split
sources: development
Y
    run "$NYSBENCH" plan "$WORK/c.yaml"
    expect_status 0
    run "$NYSBENCH" plan "$WORK/c.yaml" --set sources=test
    output=$(grep picosdeeuropa <<<"$output") tell nysbench plan "$WORK/c.yaml" --set sources=test
    expect_status 2
    local part
    for part in 22-outputs=development 15-sources=test; do
        "$NYSBENCH" plan "experiments/${part%=*}.yaml" --origins >"$WORK/origins"
        grep -q "^sources: \"${part#*=}\" " "$WORK/origins"
        grep -q '^split: "experiments/data/split.yaml" ' "$WORK/origins"
    done
}
