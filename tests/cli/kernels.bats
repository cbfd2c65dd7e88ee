# SPDX-License-Identifier: GPL-3.0-or-later
# Several kernels, and the options that every problem has, through the whole chain.
load helpers

@test "softmax, gram, exp and gauss on one head: plan, rows, table and figure tell which" {
    config <<'Y'
problems: heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=0, max_n=100)
kernels: [softmax, "gram(of=queries)", gram(of=keys), exp, gauss]
strategies: [uniform, leverage]
pairing: [default, joint, keys, shared]
landmarks: [4, 9]
trials: 1
cores: svd(rcond=1e-8)
Y
    # at each m: 6 of softmax, exp, gauss (joint, keys, shared), 2 of each gram
    of_json 'assert x[0]["rows"] == 44 and [(d["kernel"], d["heads"], d["n"]) for d in x[0]["data"]] == [
        (kernel, [0, 0], 100) for kernel in ("softmax", "gram", "gram(of=keys)", "exp", "gauss")], x' \
        "$NYSBENCH" plan "$WORK/c.yaml"
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/r"
    expect_status 0
    "$NYSBENCH" table "$WORK/r" errors >"$WORK/errors"
    quoted '^heads.*|^  constant [^ ]+' "$WORK/errors"
    py check_rows "$WORK/r/rows.csv"
    grep -q 'gram(of=keys)' "$WORK/r/plots/error.csv"
    [ -s "$WORK/r/plots/error_svd_rcond_1e-08.svg" ]
    grep -q "constant mean(S)" "$WORK/r/plots/error_svd_rcond_1e-08.svg"
}

@test "gram has no causal mask: its rows are skipped with the reason, nothing is exported for them" {
    config <<'Y'
problems: heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=0, max_n=50, causal=true)
kernels: [gram, gauss]
strategies: uniform
factors: cur
landmarks: 4
trials: 1
cores: svd
plots: []
Y
    output=$(of_json 'for d in x[0]["data"]: print(d["kernel"], d["causal"], d["skipped"])' \
        "$NYSBENCH" plan "$WORK/c.yaml") tell nysbench plan "$WORK/c.yaml" --format json
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 0
    expect_rows "$WORK/r" "1 ok, 1 skipped"
    run "$NYSBENCH" export "$WORK/r" --landmarks "$WORK/l"
    expect_status 0
    [ "$(wc -l <"$WORK/l/index.csv")" -eq 2 ]
}

@test "scores that exp cannot hold fail their rows with the query and a way out" {
    config <<'Y'
problems: gaussian(n=40, d=4, scale=40)
kernels: exp
strategies: uniform
landmarks: 4
trials: 1
cores: svd
plots: []
Y
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 1
    output=$(grep '^nysbench: failed' <<<"$output" | sed -E 's/(query|score of) [0-9.e+]+/\1 #/g') \
        tell nysbench run "$WORK/c.yaml"
}

@test "engine direct and streamed give the same rows under gram" {
    config <<'Y'
problems: smooth(n=200, d=8)
kernels: gram
strategies: [uniform, kmeans]
landmarks: [3, 6]
trials: 2
cores: svd(rcond=1e-8)
plots: []
Y
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/a"
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/b" --set engine=direct
    py check_engines "$WORK/a/rows.csv" "$WORK/b/rows.csv"
}

@test "permuted tokens: every problem takes them, a causal head refuses them before anything runs" {
    config <<'Y'
problems:
  - gaussian(n=20, permute=true)
  - heads(file=experiments/data/smollm2_opticks_n1024_L15.safetensors, permute=true)
  - heads(file=experiments/data/smollm2_opticks_n1024_L15.safetensors, first=1024)
strategies: uniform
cores: svd
Y
    told run "$WORK/c.yaml" -o "$WORK/r"
    expect_status 2
    [ ! -e "$WORK/r" ]
    for name in $(components src/problems); do
        run "$NYSBENCH" describe "$name"
        expect "permute"
    done
}

@test "the table says from which m on the error under gram is zero by construction" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set metrics=error --set factors=nystromformer \
        --set trials=1 \
        --set 'kernels=[gram(of=queries), softmax]' --set 'problems="gaussian(n=40, d=6)"' --set cores=svd \
        --set landmarks=[4,6] \
        --set strategies=uniform -o "$WORK/r" >/dev/null
    run "$NYSBENCH" table "$WORK/r" errors
    output=$(grep -A 1 'S has rank' <<<"$output") tell nysbench table "$WORK/r" errors
    run "$NYSBENCH" table "$WORK/r" errors --where landmarks=4
    output=$(grep rank <<<"$output") tell nysbench table "$WORK/r" errors --where landmarks=4
}
