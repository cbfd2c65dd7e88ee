# SPDX-License-Identifier: GPL-3.0-or-later
# What takes gigabytes.

load ../cli/helpers

@test "an X of more than 2^28 bytes, of a plug-in's core and of a program's" {
    (cd "$WORK" && "$NYSBENCH" new core wide >/dev/null)
    build_plugin "$WORK/wide.c" "$WORK/wide.so"
    cat >"$WORK/c.yaml" <<'EOF'
problems: gaussian(n=5800, d=64) # of full rank
strategies: uniform
cores: [wide, "command(run=\"sh -c 'cp A.npy X.npy'\", deterministic=true)"]
landmarks: 5800
rows: sample(16)
trials: 1
metrics: error
plots: []
EOF
    run "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 --plugin "$WORK/wide.so" -o "$WORK/r"
    expect_status 0
    expect_rows "$WORK/r" "2 ok"
}
