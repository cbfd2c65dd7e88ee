# SPDX-License-Identifier: GPL-3.0-or-later
# nysbench forward: what it refuses, and which outputs have to be the same. That they are what NumPy makes of the
# definitions
# is tests/oracle/attentions.py's, of which tests/long.sh runs a part under the sanitizers.

load helpers

HEADS=experiments/data/vit_astronaut_n257_L6.safetensors # 3 heads, n = 257, d = 64

@test "what has no answer is refused, and nothing is written" {
    local words
    while read -r words; do
        # shellcheck disable=SC2086
        told forward --head $words -o "$WORK/out.npy"
        [ "$status" -eq 2 ] || { echo "$words: exit status $status"; return 1; }
        [ ! -e "$WORK/out.npy" ] || { echo "$words: a file was written"; return 1; }
    done <<EOF
$HEADS -a nystrom(landmarks=300)
$HEADS -a nystrom --causal
$HEADS -a nystron
$HEADS -a streamed(tile=0)
$HEADS -a nystrom(strategy=exchange,pairing=joint)
$HEADS -a nystrom(core=identity)
$HEADS --seed=9223372036854775808
$HEADS -t 0
$HEADS --causal=maybe
$HEADS:9
experiments/data/queries/vit_L6_q8.safetensors
EOF
    # What is known only when the landmarks are.
    told forward --head $HEADS -a 'nystrom(strategy=segment_means, factors=cur)' -o "$WORK/out.npy"
    expect_status 2
    [ ! -e "$WORK/out.npy" ]
}

@test "what diverges is an error, and nothing is written" {
    told forward --head $HEADS -a 'nystrom(core=iterative(steps=200,start=given,scale=1e-200))' \
        -o "$WORK/out.npy"
    expect_status 1
    [ ! -e "$WORK/out.npy" ]
}

@test "a file that cannot be written is an error that says why" {
    told forward --head $HEADS -o "$WORK/none/out.npy"
    expect_status 2
    told forward --head $HEADS -o ''
    expect_status 2
    told forward --head $HEADS -o "$WORK"
    expect_status 1
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
