# SPDX-License-Identifier: GPL-3.0-or-later
# nysbench forward: what it refuses, and which outputs have to be the same. That they are what NumPy makes of the
# definitions
# is tests/oracle/attentions.py's, of which tests/long.sh runs a part under the sanitizers.

load helpers

HEADS=experiments/data/vit_astronaut_n257_L6.safetensors # 3 heads, n = 257, d = 64

@test "what has no answer is refused, and nothing is written" {
    local words text
    while IFS='|' read -r words text; do
        # shellcheck disable=SC2086
        run "$NYSBENCH" forward --head $words -o "$WORK/out.npy"
        [ "$status" -eq 2 ] || { echo "$words: exit status $status"; return 1; }
        [[ $output == "nysbench: error: "* ]] || { echo "$words: $output"; return 1; }
        expect "$text"
        [ ! -e "$WORK/out.npy" ] || { echo "$words: a file was written"; return 1; }
    done <<EOF
$HEADS -a nystrom(landmarks=300)|300 landmarks of 257 tokens
$HEADS -a nystrom --causal|no causal form
$HEADS -a nystron|did you mean 'nystrom'?
$HEADS -a streamed(tile=0)|tile = 0 is not an integer from 1 to 1048576
$HEADS -a nystrom(strategy=exchange,pairing=joint)|exchange has no pairing 'joint'
$HEADS -a nystrom(core=identity)|identity
$HEADS --seed=9223372036854775808|--seed '9223372036854775808': expected a whole number from 0 to 9223372036854775807
$HEADS -t 0|--threads '0': expected a whole number from 1 to 256
$HEADS --causal=maybe|--causal maybe is unknown; allowed: true, false, auto
$HEADS:9|head = 9 is not one of its heads 0 to 2
experiments/data/queries/vit_L6_q8.safetensors|there is no k
EOF
    # What is known only when the landmarks are.
    run "$NYSBENCH" forward --head $HEADS -a 'nystrom(strategy=segment_means, factors=cur)' -o "$WORK/out.npy"
    expect_status 2
    [[ $output == "nysbench: error: nystrom(factors=cur): "* ]]
    [ ! -e "$WORK/out.npy" ]
}

@test "what diverges is an error, and nothing is written" {
    run "$NYSBENCH" forward --head $HEADS -a 'nystrom(core=iterative(steps=200,start=given,scale=1e-200))' \
        -o "$WORK/out.npy"
    expect_status 1
    [[ $output == "nysbench: error: nystrom(core=iterative(steps=200, start=given, scale=1e-200)): "* ]]
    [ ! -e "$WORK/out.npy" ]
}

@test "a file that cannot be written is an error that says why" {
    run "$NYSBENCH" forward --head $HEADS -o "$WORK/none/out.npy"
    expect_status 2
    [ "$output" = "nysbench: error: forward: --out $WORK/none/out.npy: there is no folder $WORK/none" ]
    run "$NYSBENCH" forward --head $HEADS -o ''
    expect_status 2
    expect "forward: --out is empty: expected the name of a file, or -"
    run "$NYSBENCH" forward --head $HEADS -o "$WORK"
    expect_status 1
    [ "$output" = "nysbench: error: $WORK: cannot be written: Is a directory" ]
}

@test "one head of a file has the outputs that it has among the others, where the batch does not matter" {
    local a
    for a in streamed 'nystrom(strategy=kmeans)' gpa; do
        "$NYSBENCH" forward --head $HEADS -a "$a" -o "$WORK/all.npy"
        "$NYSBENCH" forward --head $HEADS:2 -a "$a" -o "$WORK/one.npy"
        "$NYSBENCH" forward --head $HEADS:2 -a "$a" -o - >"$WORK/out.npy" 2>/dev/null
        cmp "$WORK/one.npy" "$WORK/out.npy"
        py check_one_head "$WORK"
    done
}

@test "a seed has 63 bits, and all of them count" {
    local seed
    for seed in 2147483647 4294967295 9223372036854775807 9223372036854775806; do
        "$NYSBENCH" forward --head $HEADS:0 -a "nystrom(strategy=uniform, landmarks=8)" --seed $seed \
            -o "$WORK/$seed.npy"
    done
    [ "$(sha256sum "$WORK"/*.npy | cut -d' ' -f1 | sort -u | wc -l)" -eq 4 ]
}

@test "a strategy that begins with another, which looks at no points, is given them" {
    local s
    for s in 'exchange(rows=auto)' 'optimized(rows=auto, steps=2)' 'optimized(rows=auto, steps=2, start=segment_means)'
        do
        run "$NYSBENCH" forward --head $HEADS:0 -a "nystrom(strategy=$s, landmarks=8)" -o "$WORK/out.npy"
        expect_status 0
        run "$NYSBENCH" check "$s"
        expect_status 0
    done
}

@test "the seed and the trial decide what is drawn" {
    local other a='nystrom(strategy=uniform)'
    "$NYSBENCH" forward --head $HEADS -a "$a" -o "$WORK/a.npy"
    "$NYSBENCH" forward --head $HEADS -a "$a" --seed 20260101 --trial 0 -o "$WORK/b.npy"
    "$NYSBENCH" forward --head $HEADS -a "$a" --seed 7 -o "$WORK/c.npy"
    "$NYSBENCH" forward --head $HEADS -a "$a" --trial 1 -o "$WORK/d.npy"
    cmp "$WORK/a.npy" "$WORK/b.npy"
    for other in c d; do
        run cmp -s "$WORK/a.npy" "$WORK/$other.npy"
        expect_status 1
    done
}
