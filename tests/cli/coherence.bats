# SPDX-License-Identifier: GPL-3.0-or-later
# The coherence study, on files of queries alone with many inputs; its axis of real numbers; and what needs keys.

load helpers

DATA=experiments/data/queries

coherence() { # MORE-LINES
    cat >"$WORK/c.yaml" <<EOF
study: coherence
problems: ["heads(file=$DATA/vit_L6_q8.safetensors, head=[0, 3])",
           "heads(file=$DATA/smollm2_L15_q8.safetensors, head=1)", "clusters(n=60, d=8, spread=0.01)"]
clusters: [4, 8]
partitions: [kmeans, random, segments, none]
tau: [0.05, 0.2]
trials: 2
plots: []
$1
EOF
}

# The rows without the column that holds a time.
rows_of() {
    py print_rows "$1"
}

@test "the study runs, and its rows are the same whatever the workers, the part that is run first, shards, or a kill" {
    coherence
    expect_plan 'methods=16' "$WORK/c.yaml"
    run "$NYSBENCH" run "$WORK/c.yaml" -j 0 -o "$WORK/whole"
    expect_status 0
    expect_rows "$WORK/whole" "104 ok"
    of_csv "$WORK/whole/rows.csv" 'vit = {(r["d"], r["side"], r["head"]) for r in rows if r["n"] == "257"}
assert vit == {("64", "queries", "0"), ("64", "queries", "3")}, vit'
    run "$NYSBENCH" run "$WORK/c.yaml" -q -j 2 -o "$WORK/r" --only "partition=random, tau=0.2"
    expect_status 0
    expect_rows "$WORK/r" "16 ok, 88 planned"
    run "$NYSBENCH" run "$WORK/c.yaml" -q -j 2 -o "$WORK/r"
    expect_status 0
    diff <(rows_of "$WORK/whole/rows.csv") <(rows_of "$WORK/r/rows.csv")
    for shard in 1/3 2/3 3/3; do "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/s" --shard $shard; done
    run "$NYSBENCH" merge "$WORK/s" -q
    expect_status 0
    diff <(rows_of "$WORK/whole/rows.csv") <(rows_of "$WORK/s/rows.csv")
    "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 --set trials=200 -o "$WORK/k" >"$WORK/out" 2>&1 &
    until_true test -s "$WORK/k/results.sqlite"
    kill -KILL $!
    expect_end $! 137
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/k"
    expect_status 0
    diff <(rows_of "$WORK/whole/rows.csv") <(rows_of "$WORK/k/rows.csv")
    run "$NYSBENCH" run "$WORK/whole/resolved.yaml" -q -o "$WORK/again"
    expect_status 0
    diff <(rows_of "$WORK/whole/rows.csv" | sed "s/^\['[^']*'//") \
        <(rows_of "$WORK/again/rows.csv" | sed "s/^\['[^']*'//")
    run "$NYSBENCH" run "$WORK/whole/resolved.yaml" -q -o "$WORK/other" --set seed=1
    [ "$(diff <(rows_of "$WORK/whole/rows.csv") <(rows_of "$WORK/other/rows.csv") | grep -c "'mu_block\|random")" \
        -gt 0 ]
}

@test "infinite numbers are inf in CSV and tables, the text inf in JSON, and infinite in the store" {
    coherence "exclude: {problem: clusters}"
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" --set tau=0.4
    expect_status 0
    "$NYSBENCH" export "$WORK/r" --format json >"$WORK/rows.json"
    "$NYSBENCH" table "$WORK/r" coherence --format csv >"$WORK/table.csv"
    cmp "$WORK/table.csv" "$WORK/r/coherence.csv"
    "$NYSBENCH" table "$WORK/r" bounds --format csv | cmp - "$WORK/r/bounds.csv"
    py check_infinities "$WORK"
}

@test "a table and a figure show each partition by model; those of other studies are refused" {
    coherence
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" --set plots=coherence
    expect_status 0
    for name in partitions clusters tau; do [ -s "$WORK/r/plots/coherence_$name.png" ]; done
    py check_figure "$WORK/r/plots/coherence.csv"
    "$NYSBENCH" plot "$WORK/r" coherence --where partition=segments,partition=none >/dev/null
    grep -qx 'array looks\[2\] = \[3, 4\]' "$WORK/r/plots/selected/coherence_clusters.gp" # NOLINT(wording): gnuplot's
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/one" --set tau=0.1 --set clusters=4 --set plots=coherence
    expect_status 0
    [ -s "$WORK/one/plots/coherence_partitions.png" ] && ! [ -e "$WORK/one/plots/coherence_tau.png" ]
    of_json 'assert {r["table"] for r in x} == {"bounds", "coherence"}, x' "$NYSBENCH" table "$WORK/r"
    of_json 'assert len({r["model"] for r in x}) == 3, x
assert {(r["partition"], r["tau"], r["clusters"]) for r in x} == {("random", 0.2, 8)}, x' \
        "$NYSBENCH" table "$WORK/r" coherence --where partition=random --where tau=0.2 --where clusters=8
    of_json 'assert {r["partition"].split("(")[0] for r in x} == {"kmeans", "random", "segments", "none"}, x
assert all(r["error_geometric2"] > 0 and r["error_uniform2"] > 0 for r in x), x' \
        "$NYSBENCH" table "$WORK/r" bounds
    told table "$WORK/r" coherence --where tau=0.3
    expect_status 2
    told table "$WORK/r" coherence --where mu=1
    expect_status 2
    "$NYSBENCH" compare "$WORK/r" --by partition --metric mu_block_finite --format json >"$WORK/json"
    "$NYSBENCH" compare "$WORK/r" --by tau --metric mu_block_finite --format csv >"$WORK/csv"
    py check_json "$WORK/json" "$WORK/csv"
    told table "$WORK/r" errors
    expect_status 2
    told plot "$WORK/r" error
    expect_status 1
}

@test "an axis of real numbers: lists, rules, conditions, repetitions, and what is no number of its range" {
    coherence "exclude: [{tau: [0.2, 0.9], clusters: 4}, {tau: 0.7}]"
    warned plan "$WORK/c.yaml" --set tau=[5e-2,0.05,0.2,0.05]
    expect_status 0
    expect_plan 'methods=12' "$WORK/c.yaml" --set tau=[5e-2,0.05,0.2,0.05]
    expect_plan 'excluded=26' "$WORK/c.yaml"
    expect_plan 'excluded=0' "$WORK/c.yaml" --set 'exclude=[{tau: 0.7}]'
    told run "$WORK/c.yaml" -q -o "$WORK/r" --only tau=0.1
    expect_status 2
    told run "$WORK/c.yaml" -q -o "$WORK/r" --only tau=half
    expect_status 2
    run "$NYSBENCH" plan "$WORK/c.yaml" --origins
    expect "tau: [0.050000000000000003, 0.20000000000000001]"
    for wrong in 0 1 -0.1 1e-9 nan half "[0.1, x]" "{a: 1}" "[[0.1]]"; do
        told plan "$WORK/c.yaml" --set "tau=$wrong"
        expect_status 2
    done
    told plan "$WORK/c.yaml" --set tau=0.1,0.2
    expect_status 2
    told plan "$WORK/c.yaml" --set tau=[]
    expect_status 2
    told plan "$WORK/c.yaml" --set 'exclude=[{tau: high}]'
    expect_status 2
    coherence "zip: [clusters, tau]"
    expect_plan 'methods=8' "$WORK/c.yaml"
}

@test "what has no answer is skipped, and what is wrong is said" {
    coherence
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" \
        --set 'problems=["clusters(n=20, d=8)", "low_rank(n=60, d=16, rank=3, noise=0)"]' --set clusters=[2,5,9,21]
    expect_status 0
    py check_skipped "$WORK/r/rows.csv"
    reasons "$WORK/r"
    warned plan "$WORK/c.yaml" --set clusters=65
    expect_status 0
    local set
    while read -r set; do
        told plan "$WORK/c.yaml" --set "$set"
        expect_status 2
    done <<'EOF'
side=keys
side=both
clusters=0
partitions=kmean
partitions=kmeans(snap=nearest)
partitions=given
landmarks=8
metrics=error
plots=error
EOF
    sed -i '/^partitions/d' "$WORK/c.yaml"
    told plan "$WORK/c.yaml"
    expect_status 2
}

@test "clusters from a file: each token in one of k, each with a token" {
    coherence
    py write_clusters "$WORK"
    local name
    for name in good short many gap; do
        run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/$name" --set 'problems=clusters(n=60, d=8)' --set clusters=4 \
            --set "partitions=given(file=\"$WORK/$name.npy\")"
        expect_status "$([ "$name" = good ] && echo 0 || echo 1)"
        output=$(py reasons "$WORK/$name/rows.csv") tell nysbench run "$name"
    done
    for name in none real square; do
        told plan "$WORK/c.yaml" --set "partitions=given(file=\"$WORK/$name.npy\")"
        expect_status 2
    done
}

@test "on queries alone the error study has the kernels that need no keys, and nothing takes them for keys" {
    local file=$DATA/vit_L6_q8.safetensors
    printf '%s\n' "problems: \"heads(file=$file, head=[0, 3])\"" 'strategies: [uniform, kmeans(snap=nearest)]' \
        'cores: svd' 'landmarks: 8' 'trials: 2' 'plots: []' >"$WORK/e.yaml"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r" --set "kernels=gram(of=queries)"
    expect_status 0
    expect_rows "$WORK/r" "8 ok"
    [ "$(grep -c ',astronaut,\|,brick,\|,camera,\|,gravel,\|,grass,\|,cell,\|,coffee,\|,chelsea,' "$WORK/r/rows.csv")" \
        -eq 8 ]
    run "$NYSBENCH" export "$WORK/r" --landmarks "$WORK/l"
    expect_status 0
    [ -s "$WORK/l/instance-0/q.npy" ] && ! [ -e "$WORK/l/instance-0/k.npy" ]
    run "$NYSBENCH" plot "$WORK/r" --landmarks
    expect_status 0
    for kernel in softmax "gram(of=keys)" exp gauss; do
        told run "$WORK/e.yaml" -q -o "$WORK/no" --set "kernels=$kernel"
        expect_status 2
        [ ! -e "$WORK/no" ]
    done
    told measure --head $file:3 --strategy uniform -m 8
    expect_status 2
    run "$NYSBENCH" measure --head $file:3 --strategy uniform -m 8 --kernel gram --core svd
    expect_status 0
    run "$NYSBENCH" select --head $file:3 --strategy uniform -m 8 --kernel gram -o "$WORK/p.npy"
    expect_status 0
    told select --head $file:3 --strategy uniform -m 8 --kernel gram --side keys -o "$WORK/p.npy"
    expect_status 2
    told select --head $file:3 --strategy uniform -m 8 --side keys -o "$WORK/p.npy"
    expect_status 2
    told measure --head $file:8 --strategy uniform -m 8 --kernel gram
    expect_status 2
    told fit --head $file -o "$WORK/w.npy"
    expect_status 2
    printf '%s\n' "problems: \"heads(file=$file, head=2, permute=true, max_n=40, first=9)\"" 'strategies: uniform' \
        'cores: svd' 'kernels: gram' 'landmarks: 8' 'trials: 1' 'plots: []' >"$WORK/e.yaml"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/w"
    expect_status 0
}
