# SPDX-License-Identifier: GPL-3.0-or-later
# The experiments that come with the program, and their heads, from any folder: experiments/NAME is the program's own
# where
# there is none of that name.

load helpers

HEAD=experiments/data/vit_astronaut_n257_L6.safetensors

@test "an experiment of the program runs in any folder: its rows have the names and bits that they have in the tree" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q -j 1 -o "$WORK/tree" --set 'plots=[]' >/dev/null
    cd "$WORK"
    run "$NYSBENCH" run experiments/00-smoke.yaml -q -j 1 --set 'plots=[]'
    expect_status 0
    diff <(timeless tree/rows.csv) <(timeless results/00-smoke/rows.csv)
    [ -s results/00-smoke/rows.csv ]
    "$NYSBENCH" run results/00-smoke/resolved.yaml -q -j 1 -o again >/dev/null
    diff <(timeless tree/rows.csv) <(timeless again/rows.csv)
    "$NYSBENCH" plan experiments/01-error-vs-landmarks.yaml >/dev/null
    "$NYSBENCH" compare results/00-smoke >/dev/null
    run "$NYSBENCH" plot results/00-smoke --landmarks
    expect_status 0
}

@test "every experiment of the program is right in any folder; a model that it runs is asked from there" {
    cd "$WORK"
    local checked=0
    for path in "$OLDPWD"/experiments/*.yaml; do
        grep -qE 'live_model|build/' "$path" && continue # which needs a model's weights, or its heads
        "$NYSBENCH" plan "experiments/${path##*/}" --origins >named
        "$NYSBENCH" plan "$path" --origins >placed
        sed "s#$path#experiments/${path##*/}#" placed | cmp named -
        checked=$((checked + 1))
    done
    [ "$checked" -ge 20 ]
}

@test "heads of the program: select, measure, forward, fit; those that are picked do not depend on the folder" {
    "$NYSBENCH" select --head "$HEAD:1" --strategy profile -m 8 -o "$WORK/tree.npy" >/dev/null
    cd "$WORK"
    "$NYSBENCH" select --head "$HEAD:1" --strategy profile -m 8 -o here.npy >/dev/null
    cmp tree.npy here.npy
    "$NYSBENCH" measure --head "$HEAD:1" --strategy uniform -m 8 --core svd --json | grep -q '"status": *"ok"'
    "$NYSBENCH" forward --head "$HEAD" -o out.npy >/dev/null
    [ -s out.npy ]
    "$NYSBENCH" fit --head "$HEAD" --out weights.npy >/dev/null
    "$NYSBENCH" new experiment mine.yaml --heads "$HEAD" >/dev/null
    "$NYSBENCH" plan mine.yaml >/dev/null
}

@test "a file of one's own comes first; what neither has is reported as it was named" {
    mkdir -p "$WORK/experiments"
    sed 's/^trials:.*//; s/^question:.*/question: mine/' experiments/00-smoke.yaml >"$WORK/experiments/00-smoke.yaml"
    cd "$WORK"
    run "$NYSBENCH" run experiments/00-smoke.yaml -q -j 1 --set 'plots=[]' --set trials=1
    expect_status 0
    grep -q '^question: *"*mine' results/*/resolved.yaml
    told run experiments/99-none.yaml
    expect_status 2
    run "$NYSBENCH" plan experiments/37-all-layers.yaml
    expect_status 2
    output=$(sed 's/ and in .*//' <<<"$output" | grep -m 1 'vit-4097-test') \
        tell nysbench plan experiments/37-all-layers.yaml
    told measure --head experiments/data/none.safetensors:0 --strategy uniform -m 8 --core svd
    expect_status 2
    run "$NYSBENCH" plan "$WORK/experiments/../00-smoke.yaml"
    expect_status 2
}

@test "info says where they are" {
    folder=$(of_json 'print(x["experiments"])' "$NYSBENCH" info)
    cmp experiments/00-smoke.yaml "$folder/00-smoke.yaml"
    [ "${folder#/}" != "$folder" ]
    "$NYSBENCH" info --json | /usr/bin/python3 \
        -c 'import json, sys; assert json.load(sys.stdin)["experiments"] == sys.argv[1]' "$folder"
}

# attentions_of EXPERIMENT N: those of its block of N tokens that have a share of the multiplications, without the
# oracles.
attentions_of() {
    awk -v n="$2" '/problems:/ { on = $0 ~ "(max_n=|serve.py smollm2-)" n "[^0-9]" } /^claims:/ { on = 0 }
        on && /^ +- / && !/problems:|streamed|block_sparse|nystrom/' "experiments/$1.yaml" |
        sed 's/^ *- //; s/.*/"&"/' | paste -sd,
}

@test "attentions for decoders that are compared at equal multiplications have these within 5 %, by the column flops" {
    save_head "$WORK/heads" qkv 1,8192,64 0 float32
    while read -r name n shares; do
        cat >"$WORK/$name-$n.yaml" <<EOF
study: forward
seconds: 0.001
rounds: 1
trials: 1
metrics: flops
plots: []
problems: "heads(file=$WORK/heads, max_n=$n, causal=true)"
attentions: [streamed, $(attentions_of "$name" "$n")]
EOF
        "$NYSBENCH" run "$WORK/$name-$n.yaml" -q -o "$WORK/$name-$n" >/dev/null
        run "$NYSBENCH" sql "$WORK/$name-$n" \
            "WITH exact AS (SELECT flops AS f FROM run WHERE attention_label = 'streamed'),
            part AS (SELECT f / flops AS s FROM run, exact WHERE attention_label <> 'streamed'),
            share AS (SELECT s, CASE WHEN s < 6 THEN 4 WHEN s < 11 THEN 8 ELSE 16 END AS of FROM part)
            SELECT group_concat(of, ' ') AS shares FROM (
                SELECT of FROM share GROUP BY of HAVING min(s) > 0.95 * max(s) AND count(*) > 2 ORDER BY of)" \
            --format csv
        expect_status 0
        [ "$output" = "shares"$'\n'"$shares" ] || { echo "$name $n: $output"; return 1; }
    done <<'EOF'
29-causal 1024 4 8
29-causal 2048 4 8 16
29-causal 4096 4 8 16
29-causal 8192 4 8 16
33-causal-matrix 1024 8
33-causal-matrix 2048 8
34-head-classes 2048 8
35-decoder-tokens 1024 8
35-decoder-tokens 2048 8
EOF
}
