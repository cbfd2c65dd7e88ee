# SPDX-License-Identifier: GPL-3.0-or-later
# nysbench fit, and learned(weights=FILE) in a run.

load helpers

VIT=experiments/data/vit_astronaut_n257_L6.safetensors

@test "weights from one head serve another, and every mistake is named" {
    run "$NYSBENCH" fit --head "$VIT:0" --head "$VIT:2" --rank 8 -o "$WORK/w.npy"
    expect_status 0
    run "$NYSBENCH" fit --head "$VIT:0" --ridge 0.1 -o "$WORK/one.npy"
    expect_status 0
    config <<YAML
problems: heads(file=$VIT, head=1)
strategies: [uniform, "learned(weights=$WORK/w.npy, take=[top, sample])"]
cores: svd
landmarks: [4, 8]
trials: 2
plots: []
YAML
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >/dev/null
    [ "$(grep -c learned "$WORK/r/rows.csv")" -eq 6 ] # top is run once, a draw twice
    told run "$WORK/c.yaml" -q -o "$WORK/d" --set "problems=gaussian(n=20, d=3)"
    expect_status 1
    told plan "$WORK/c.yaml" --set "strategies=learned(weights=$WORK/none.npy)"
    expect_status 2
    run "$NYSBENCH" plan "$WORK/c.yaml" --set "strategies=learned"
    expect_status 2
    expect "weights"
}

@test "fit: usage errors" {
    told fit -o "$WORK/w.npy"
    expect_status 2
    told fit --head "$VIT"
    expect_status 2
    told fit --head "$VIT:3" -o "$WORK/w.npy"
    expect_status 2
    told fit --head "$VIT:99999999999999999999" -o "$WORK/w.npy"
    expect_status 2
    run "$NYSBENCH" fit --head "$WORK/none.safetensors" -o "$WORK/w.npy"
    expect_status 2
    expect "$WORK/none.safetensors"
    told fit --head "$VIT" --rank 257 -o "$WORK/w.npy"
    expect_status 2
    told fit --head "$VIT" --rank 0 -o "$WORK/w.npy"
    expect_status 2
    for ridge in -1 nan 1x; do
        told fit --head "$VIT" --ridge "$ridge" -o "$WORK/w.npy"
        expect_status 2
    done
    told fit --head "$VIT:0" --head experiments/data/minilm_us-constitution_n512_L3.safetensors:0 \
        -o "$WORK/w.npy"
    expect_status 2
    [ ! -e "$WORK/w.npy" ]
    run "$NYSBENCH" fit --head "$VIT:0" -o "$WORK/none/w.npy"
    expect_status 2
    expect "$WORK/none"
}
