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
    [ "$(grep -oE '"error": [0-9.e-]+' "$WORK/piped")" = "$(grep -oE '"error": [0-9.e-]+' "$WORK/direct")" ]
    of_json 'assert {(c["head"], c["n"], c["strategy"], c["landmarks"], c["status"]) for c in x} == {
        (1, 257, "uniform(strided=false)", 5, "ok")}, x
assert {"svd", "iterative"} < {c["core"].split("(")[0] for c in x}, x' \
        "$NYSBENCH" measure --head $HEAD:1 --strategy uniform -m 5
    [ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 3 -path '*/nysbench-*/*/standard-input.npy' -user "$(id -un)" \
        -newer "$WORK/a.npy" -print 2>/dev/null)" ]
}

@test "mistakes name the option or file, what came and what is allowed" {
    py write_landmarks "$WORK"
    mistake() { # TEXT OPTION...
        run "$NYSBENCH" measure "${@:2}"
        expect_status 2
        expect "$1"
    }
    mistake "--head is missing" --strategy uniform -m 3
    mistake "--head '$HEAD': there are 3 heads; name one" --head $HEAD --strategy uniform -m 3
    mistake "head = 3 is not one of its heads 0 to 2" --head $HEAD:3 --strategy uniform -m 3
    mistake "nosuch: cannot be opened" --head nosuch:1 --strategy uniform -m 3
    mistake "--landmarks '258': expected a whole number from 1 to 257" --head $HEAD:1 --strategy uniform -m 258
    mistake "--strategy: no strategy 'unifrm'; did you mean 'uniform'?" --head $HEAD:1 --strategy unifrm -m 3
    mistake "--core: no core 'sdv'" --head $HEAD:1 --strategy uniform -m 3 --core sdv
    mistake "--factors: 'cru' is unknown; did you mean 'cur'?" --head $HEAD:1 --strategy uniform -m 3 --factors cru
    mistake "--metrics: 'eror' is unknown; did you mean 'error'?" --head $HEAD:1 --strategy uniform -m 3 --metrics eror
    mistake "--trial '1000000': expected a whole number from 0 to 999999" --head $HEAD:1 -s uniform -m 3 --trial 1000000
    mistake "--pairing: uniform cannot pick for both sides" --head $HEAD:1 --strategy uniform -m 3 --pairing both
    mistake "not both" --head $HEAD:1 --strategy uniform -m 3 --key-landmarks "$WORK/few.npy"
    /usr/bin/python3 -c 'import numpy, sys; numpy.save(sys.argv[1], numpy.array([1, 2**63], numpy.uint64))' \
        "$WORK/huge.npy"
    mistake "nysbench: error: $WORK/huge.npy: 9223372036854775808 does not fit a signed 64-bit integer" --head $HEAD:1 \
        --key-landmarks "$WORK/huge.npy"
    local allowed="allowed are integers of shape (m,), tokens from 0 to 256"
    mistake "points.npy: floats of shape (3, 64); $allowed, with 1 <= m <= n; points need a file for each side" \
        --head $HEAD:1 --key-landmarks "$WORK/points.npy"
    mistake "wide.npy: floats of shape (3, 5); $allowed, or floats of shape (m, 64), points, with 1 <= m <= n" \
        --head $HEAD:1 --key-landmarks "$WORK/wide.npy" --query-landmarks "$WORK/points.npy"
    mistake "nan.npy: NaN or Inf" --head $HEAD:1 --key-landmarks "$WORK/nan.npy" --query-landmarks "$WORK/points.npy"
    mistake "range.npy: landmark 1 is token 257, allowed are 0 to 256" --head $HEAD:1 --key-landmarks "$WORK/range.npy"
    mistake "twice.npy: landmarks 0 and 1 are both token 5" --head $HEAD:1 --key-landmarks "$WORK/twice.npy"
    (cd "$WORK" && cp twice.npy landmarks && run "$NYSBENCH" measure --head "$OLDPWD/$HEAD:1" \
        --key-landmarks landmarks &&
        expect "nysbench: error: landmarks: landmarks 0 and 1 are both token 5")
    mistake "none.npy: integers of shape (0,)" --head $HEAD:1 --key-landmarks "$WORK/none.npy"
    mistake "more.npy: 4 landmarks, $WORK/few.npy: 3" --head $HEAD:1 --query-landmarks "$WORK/more.npy" \
        --key-landmarks "$WORK/few.npy"
    mistake "few.npy: tokens, $WORK/points.npy: points" --head $HEAD:1 --query-landmarks "$WORK/few.npy" \
        --key-landmarks "$WORK/points.npy"
    mistake "cannot both be standard input" --head $HEAD:1 --query-landmarks - --key-landmarks -
    run "$NYSBENCH" select --head $HEAD:1 --strategy uniform -m 3 --side values -o "$WORK/x.npy"
    expect_status 2
    expect "allowed: queries, keys"
    run "$NYSBENCH" select --head $HEAD:1 --strategy uniform -m 3
    expect_status 2
    expect "-o is missing"
}

@test "what a method refuses ends with 2, as a mistake in the call" {
    run "$NYSBENCH" measure --head $HEAD:1 --strategy uniform -m 5 --causal true
    expect_status 2
    expect "skipped: under a causal mask"
    run "$NYSBENCH" measure --head $HEAD:1 --strategy uniform -m 5 --causal true --core svd --json
    expect_status 2
    expect '"status": "skipped"'
    run "$NYSBENCH" select --head $HEAD:1 --strategy profile -m 5 --causal true -o "$WORK/p.npy"
    expect_status 2
    expect "nysbench: error: profile: only tokens have a place under a causal mask"
    [ ! -e "$WORK/p.npy" ]
    run "$NYSBENCH" forward --head $HEAD --attention bigbird --causal true -o "$WORK/o.npy"
    expect_status 2
    expect "nysbench: error: bigbird: it has no causal form"
}

@test "measure tells why a row has no result below the table, once, and of which cores if not of all" {
    local reason='sh -c "echo why >&2; exit 3": exit status 3: why'
    run "$NYSBENCH" measure --head $HEAD:1 --strategy 'command(run="sh -c \"echo why >&2; exit 3\"")' -m 4 --core svd \
        --core gcv
    expect_status 1
    [ "${lines[-1]}" = "failed: $reason" ]
    [ "$(grep -c "exit status 3" <<<"$output")" -eq 1 ]
    run "$NYSBENCH" measure --head $HEAD:1 --strategy uniform -m 8 \
        --core 'iterative(steps=60, scale=0.01, start=given)' --core svd --metrics error
    expect_status 1
    expect $'\niterative(steps=60, start=given, scale=0.01): diverged: X_0 lies outside'
}

@test "measure tells once which cores are worse than the constant matrix; a bare svd is not" {
    run "$NYSBENCH" measure --head experiments/data/smollm2_opticks_n1024_L15.safetensors:0 --causal false \
        --strategy uniform -m 32 --draws shared \
        --core 'svd(rcond=machine)' --core svd --core truncated_qr --core tikhonov --core iterative \
        --core 'svd(rcond=1e-9)' --metrics error
    expect_status 0
    expect "warning: error is not below that of the constant matrix (baseline_mean) with core svd(rcond=machine)," \
        "svd(rcond=1e-09)"
    [ "$(grep -c warning <<<"$output")" -eq 1 ]
}

@test "a spec that stands for several components is refused where one is taken" {
    run "$NYSBENCH" select --head $HEAD:1 --strategy 'kmeans(restarts=[1, 2])' -m 4 -o "$WORK/k.npy"
    expect_status 2
    expect "--strategy: 'kmeans(restarts=[1, 2])' stands for 2, expected one"
    [ ! -e "$WORK/k.npy" ]
}
