# SPDX-License-Identifier: GPL-3.0-or-later
# select and measure: what a run picks and measures, one at a time.

load helpers

HEAD=experiments/data/vit_astronaut_n257_L6.safetensors

@test "select gives the landmarks that export gives, measure the digits of the run's rows" {
    config <<EOF
problems: heads(file=$HEAD, head=[0, 2])
strategies: [uniform, kmeans, segment_means, "kmeans(snap=nearest)"]
factors: [nystromformer, cur]
cores: [iterative, svd]
landmarks: 7
seed: 41
trials: 2
plots: []
EOF
    "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 -o "$WORK/r" >/dev/null
    "$NYSBENCH" export "$WORK/r" --landmarks "$WORK/l"
    py check_same_landmarks "$NYSBENCH" "$WORK" $HEAD
}

@test "select to a pipe, measure from it; the tokens and the table are told" {
    run "$NYSBENCH" select --head $HEAD:1 --strategy uniform -m 5 --seed 3 -o "$WORK/a.npy"
    expect_status 0
    tokens=$(/usr/bin/python3 \
        -c 'import numpy, sys; a = numpy.load(sys.argv[1]); assert a.dtype == numpy.int64; print(*a)' "$WORK/a.npy")
    [ "${lines[1]}" = "$tokens" ]
    "$NYSBENCH" select --head $HEAD:1 --strategy uniform -m 5 --seed 3 -o - 2>"$WORK/told" | cmp - "$WORK/a.npy"
    [ -s "$WORK/told" ]
    "$NYSBENCH" select --head $HEAD:1 --strategy uniform -m 5 --seed 3 -o - 2>/dev/null |
        "$NYSBENCH" measure --head $HEAD:1 --key-landmarks - --core svd --metrics error --json >"$WORK/piped"
    "$NYSBENCH" measure --head $HEAD:1 --strategy uniform -m 5 --seed 3 --core svd --metrics error \
        --json >"$WORK/direct"
    [ "$(facts of 'print(x[0]["error"])' <"$WORK/piped")" = "$(facts of 'print(x[0]["error"])' <"$WORK/direct")" ]
    of_json 'assert {(c["head"], c["n"], c["strategy"], c["landmarks"], c["status"]) for c in x} == {
        (1, 257, "uniform(strided=false)", 5, "ok")}, x
assert {"svd", "iterative"} < {c["core"].split("(")[0] for c in x}, x' \
        "$NYSBENCH" measure --head $HEAD:1 --strategy uniform -m 5
    [ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 3 -path '*/nysbench-*/*/standard-input.npy' -user "$(id -un)" \
        -newer "$WORK/a.npy" -print 2>/dev/null)" ]
}

@test "mistakes name the option or file, what came and what is allowed" {
    py write_landmarks "$WORK"
    mistake() { # OPTION...
        told measure "$@"
        expect_status 2
    }
    mistake --strategy uniform -m 3
    mistake --head $HEAD --strategy uniform -m 3
    mistake --head $HEAD:3 --strategy uniform -m 3
    mistake --head nosuch:1 --strategy uniform -m 3
    mistake --head $HEAD:1 --strategy uniform -m 258
    mistake --head $HEAD:1 --strategy unifrm -m 3
    mistake --head $HEAD:1 --strategy uniform -m 3 --core sdv
    mistake --head $HEAD:1 --strategy uniform -m 3 --factors cru
    mistake --head $HEAD:1 --strategy uniform -m 3 --metrics eror
    mistake --head $HEAD:1 -s uniform -m 3 --trial 1000000
    mistake --head $HEAD:1 --strategy uniform -m 3 --pairing both
    mistake --head $HEAD:1 --strategy uniform -m 3 --key-landmarks "$WORK/few.npy"
    mistake --head $HEAD:1 \
        --key-landmarks "$WORK/huge.npy"
    mistake --head $HEAD:1 --key-landmarks "$WORK/points.npy"
    mistake --head $HEAD:1 --key-landmarks "$WORK/wide.npy" --query-landmarks "$WORK/points.npy"
    mistake --head $HEAD:1 --key-landmarks "$WORK/nan.npy" --query-landmarks "$WORK/points.npy"
    mistake --head $HEAD:1 --key-landmarks "$WORK/range.npy"
    mistake --head $HEAD:1 --key-landmarks "$WORK/twice.npy"
    (cd "$WORK" && cp twice.npy landmarks && mistake --head "$OLDPWD/$HEAD:1" --key-landmarks landmarks)
    mistake --head $HEAD:1 --key-landmarks "$WORK/none.npy"
    mistake --head $HEAD:1 --query-landmarks "$WORK/more.npy" \
        --key-landmarks "$WORK/few.npy"
    mistake --head $HEAD:1 --query-landmarks "$WORK/few.npy" \
        --key-landmarks "$WORK/points.npy"
    mistake --head $HEAD:1 --query-landmarks - --key-landmarks -
    told select --head $HEAD:1 --strategy uniform -m 3 --side values -o "$WORK/x.npy"
    expect_status 2
    told select --head $HEAD:1 --strategy uniform -m 3
    expect_status 2
}

@test "what a method refuses ends with 2, as a mistake in the call" {
    run "$NYSBENCH" measure --head $HEAD:1 --strategy uniform -m 5 --causal true
    output=$(grep '^skipped' <<<"$output") tell nysbench measure --head $HEAD:1 --strategy uniform -m 5 --causal true
    expect_status 2
    run "$NYSBENCH" measure --head $HEAD:1 --strategy uniform -m 5 --causal true --core svd --json
    expect_status 2
    facts of 'assert x["status"] == "skipped", x' <<<"$output"
    told select --head $HEAD:1 --strategy profile -m 5 --causal true -o "$WORK/p.npy"
    expect_status 2
    [ ! -e "$WORK/p.npy" ]
    told forward --head $HEAD --attention bigbird --causal true -o "$WORK/o.npy"
    expect_status 2
}

@test "measure tells why a row has no result below the table, once, and of which cores if not of all" {
    told measure --head $HEAD:1 --strategy 'command(run="sh -c \"echo why >&2; exit 3\"")' -m 4 --core svd \
        --core gcv
    expect_status 1
    told measure --head $HEAD:1 --strategy uniform -m 8 \
        --core 'iterative(steps=60, scale=0.01, start=given)' --core svd --metrics error
    expect_status 1
}

@test "measure tells once which cores are worse than the constant matrix; a bare svd is not" {
    warned measure --head experiments/data/smollm2_opticks_n1024_L15.safetensors:0 --causal false \
        --strategy uniform -m 32 --draws shared \
        --core 'svd(rcond=machine)' --core svd --core truncated_qr --core tikhonov --core iterative \
        --core 'svd(rcond=1e-9)' --metrics error
    expect_status 0
    [ "$(grep -c warning <<<"$output")" -eq 1 ]
}

@test "a spec that stands for several components is refused where one is taken" {
    told select --head $HEAD:1 --strategy 'kmeans(restarts=[1, 2])' -m 4 -o "$WORK/k.npy"
    expect_status 2
    [ ! -e "$WORK/k.npy" ]
}
