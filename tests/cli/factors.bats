# SPDX-License-Identifier: GPL-3.0-or-later
# Factors without a middle, and one set of points for both sides: what others build.
load helpers

planned() { # ROWS OPTION...
    expect_plan "rows=$1 done=0 to_run=$1" "$WORK/c.yaml" "${@:2}"
}

@test "nocore is planned once, with the identity, whatever the cores are; the others never have it" {
    config <<'Y'
problems: gaussian(n=40, d=4)
strategies: [uniform, kmeans]
landmarks: [3, 7]
trials: 2
pairing: [joint, shared]
factors: [nystromformer, cur, nocore]
cores: [svd, iterative, best]
metrics: error
plots: []
Y
    planned $((2 * 2 * 2 * 2 * (3 + 3 + 1)))
    planned $((2 * 2 * 2 * 2 * (3 + 3 + 1))) --set 'cores=[svd, identity, iterative, best]'
    planned $((2 * 2 * 2 * 2)) --set factors=nocore
    planned $((2 * 2 * 2 * 2)) --set factors=nocore --set cores=identity
    planned $((2 * 2 * 2 * 2)) --set 'exclude={factors: [nystromformer, cur]}'
    planned $((2 * 2 * 2 * 2 * 6)) --set 'exclude={core: identity}'
    planned $((2 * 2 * 2 * 2 * 5)) --set 'exclude={core: svd}'
    planned $((2 * 2 * 2 * 7)) --set 'exclude={pairing: shared}'
    planned $((2 * 2 * 2 * 2 * 2)) --set 'factors=[cur, nocore]' --set 'cores=[svd, iterative]' \
        --set 'zip=[factors, cores]'
    planned $((2 * 2 * 2 * 2 * 3)) \
        --set 'blocks=[{factors: nocore}, {factors: cur, cores: [svd, best]}, {factors: nocore, cores: svd}]'

    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/a" >/dev/null
    "$NYSBENCH" run "$WORK/a/resolved.yaml" -q -o "$WORK/b" >/dev/null
    diff <(timeless "$WORK/a/rows.csv" | sed "s/^\['c'/['resolved'/") \
        <(timeless "$WORK/b/rows.csv" | sed "s/^\['c'/['resolved'/")
    py check_nocore "$WORK/a/rows.csv"
}

@test "the identity where all factors have a middle is a mistake with its place" {
    config <<'Y'
problems: gaussian(n=40, d=4)
strategies: uniform
landmarks: 3
cores: [svd, identity]
Y
    told plan "$WORK/c.yaml"
    expect_status 2
    told plan "$WORK/c.yaml" --set 'factors=[nocore, cur]' --set 'zip=[factors, cores]'
    expect_status 2
    told measure --head experiments/data/vit_astronaut_n257_L6.safetensors:0 -s uniform -m 3 --core identity
    expect_status 2
}

@test "shared points and nocore: rows alone, sampled, formed whole, in mixed precision, and by measure" {
    config <<'Y'
problems: heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=1)
strategies: [orthogonal, context]
landmarks: [4, 9]
trials: 1
pairing: [shared, shared_queries, shared_keys]
factors: [nocore, nystromformer, kernel_ridge]
cores: iterative
metrics: error
plots: []
Y
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >/dev/null
    "$NYSBENCH" run "$WORK/c.yaml" -q --set engine=direct -o "$WORK/direct" >/dev/null
    "$NYSBENCH" run "$WORK/c.yaml" -q --set precision=mixed -o "$WORK/mixed" >/dev/null
    "$NYSBENCH" run "$WORK/c.yaml" -q --set 'rows=sample(200)' -o "$WORK/sampled" >/dev/null
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" \
        --only 'pairing=shared_keys, factors=kernel_ridge, landmarks=9, strategy=context'
    expect_status 0
    of_csv "$WORK/r/rows.csv" 'one = ("context", "shared_keys", "kernel_ridge", "9")
(row,) = [r for r in rows if (r["strategy"][:7], r["pairing"], r["factors"], r["landmarks"]) == one]
assert row["status"] == "ok", row'
    "$NYSBENCH" measure --head experiments/data/vit_astronaut_n257_L6.safetensors:1 -s orthogonal -m 9 \
        --pairing shared_queries --factors nocore \
        --core svd --metrics error --json >"$WORK/one.json"
    py check_ways "$WORK"
}

@test "select writes the same points for both sides; what cannot be had so is told" {
    local head=experiments/data/vit_astronaut_n257_L6.safetensors:1 side
    for side in queries keys; do
        "$NYSBENCH" select --head $head -s kmeans -m 5 --pairing shared --side $side -o "$WORK/$side.npy" >"$WORK/out"
        output=$(cat "$WORK/out") status=0 tell nysbench select -s kmeans -m 5 --pairing shared --side $side
    done
    cmp "$WORK/queries.npy" "$WORK/keys.npy"
    told select --head $head -s uniform -m 5 --pairing both -o "$WORK/x.npy"
    expect_status 2
    told select --head $head -s uniform -m 5 --pairing shard -o "$WORK/x.npy"
    expect_status 2
    run "$NYSBENCH" measure --head $head --query-landmarks "$WORK/queries.npy" --key-landmarks "$WORK/keys.npy" \
        --pairing shared
    expect_status 2
}

@test "figures, tables and landmarks of shared points and of factors without a middle" {
    config <<'Y'
problems: heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=1)
strategies: [orthogonal, segment_means]
landmarks: [4, 9]
trials: 1
pairing: [shared, joint]
factors: [nystromformer, nocore]
cores: [svd(rcond=0.03), iterative]
metrics: error
plots: [error, svd_vs_iterative, cores, spectrum]
Y
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/r"
    expect_status 0
    run "$NYSBENCH" table "$WORK/r" errors
    output=$(grep -oE '^ +[a-z_]+(, [a-z]+)*|^  no core|.*identity.*' <<<"$output") tell nysbench table "$WORK/r" errors
    run "$NYSBENCH" table "$WORK/r" errors --where 'core=no core'
    expect_status 0
    "$NYSBENCH" table "$WORK/r" errors --where core=identity | cmp - <(printf '%s\n' "$output")
    [ "$(grep -c ',identity,' "$WORK/r/rows.csv")" -gt 0 ] # whose column keeps the component's name
    [ -s "$WORK/r/plots/error_no_core.svg" ]
    ls "$WORK"/r/plots/spectrum*.svg
    ! grep -q nocore "$WORK"/r/plots/spectrum*.csv || return 1
    "$NYSBENCH" plot "$WORK/r" --landmarks >/dev/null
    "$NYSBENCH" export "$WORK/r" --landmarks "$WORK/picks" >/dev/null
    [ "$(grep -c ',shared,' "$WORK/picks/index.csv")" -eq 4 ]
}

# floor_rank 0 and an error of rounding are construction, not a strategy's merit; six steps are no inverse.
@test "gram: as many landmarks as dimensions leave the pseudo-inverse no error, and six steps some" {
    config <<'Y'
problems: gaussian(n=200, d=16)
kernels: gram
strategies: [uniform, segment_means]
landmarks: [15, 16]
trials: 2
cores: [svd(rcond=machine), iterative]
metrics: error
plots: []
Y
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >/dev/null
    py check_gram "$WORK/r/rows.csv"
}

@test "the smoke experiment gives what it expects of its clusters" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set metrics=error --set factors=nystromformer \
        --set 'problems=clusters(n=64, d=8, count=4)' -o "$WORK/r" >/dev/null
    py check_smoke "$WORK/r/rows.csv"
}

@test "figures over cores when factors without a middle are listed first" {
    config <<'Y'
problems: gaussian(n=60, d=4)
strategies: [uniform, segment_means]
landmarks: [4, 9]
trials: 2
factors: [nocore, nystromformer]
cores: [svd, "svd(rcond=[0.1, 0.01])", iterative]
metrics: error
plots: [svd_vs_iterative, cutoff, cores]
Y
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 0
    [[ "$output" != *"gnuplot"* ]]
    [ -s "$WORK/r/plots/cutoff_uniform__nystromformer.svg" ] && ! ls "$WORK"/r/plots/cutoff*nocore*.svg
    py check_figure "$WORK/r/plots/svd_vs_iterative.csv"
}
