# SPDX-License-Identifier: GPL-3.0-or-later
# What a run says of its strategies: the comparison with a baseline, and the pictures
# of their landmarks, each against NumPy's own computation from the run's files.

load helpers

small() { # OPTIONS...
    "$NYSBENCH" run experiments/00-smoke.yaml --set plots=[] --set metrics=[error] --set factors=nystromformer \
        --set "problems=[\"clusters(n=64, d=8, count=4)\", heads(file=$ASTRONAUT)]" -o "$WORK/r" "$@"
}

# What the table of shares is relative to is golden.
relative() {
    output=$("$NYSBENCH" table "$WORK/r" shares | grep '^Relative') status=0 tell nysbench table "$WORK/r" shares
}

@test "the table of shares holds the paired ratios and the shares of the gap that the rows give" {
    run small --set 'strategies=[leverage, uniform, segment_means, kmeans]' --set pairing=joint --set trials=3
    expect_status 0
    [ ! -e "$WORK/r/shares.csv" ]
    relative # to the first that is no oracle
    "$NYSBENCH" table "$WORK/r" shares --format csv >"$WORK/r/shares.csv"
    py check_shares "$WORK/r"
}

@test "the baseline is one of the strategies" {
    run small --set 'strategies=[uniform, segment_means, kmeans(restarts=2)]' --set 'baseline=kmeans(restarts=2)'
    expect_status 0
    relative
    grep -q '^baseline: "kmeans(init=plusplus, metric=euclidean, restarts=2' "$WORK/r/resolved.yaml"
    run small --set 'strategies=[uniform, segment_means]' --set baseline=kmeans
    expect_status 2
    tell nysbench run --set 'strategies=[uniform, segment_means]' --set baseline=kmeans
    run small --set 'strategies=[uniform, kmeans(restarts=2), kmeans(restarts=3)]' --set 'baseline=kmeans(restarts=3)'
    expect_status 0
    relative
    run small --set 'strategies=[uniform, kmeans(restarts=2)]' --set baseline=kmeans
    expect_status 2
    tell nysbench run --set 'strategies=[uniform, kmeans(restarts=2)]' --set baseline=kmeans
    run small --set 'strategies=[uniform, segment_means]' --set baseline=unifrom
    expect_status 2
    tell nysbench run --set 'strategies=[uniform, segment_means]' --set baseline=unifrom
}

@test "plot --landmarks: the places are the exported landmarks, the plane is NumPy's" {
    small -q --set 'strategies=[uniform, segment_means, kmeans, "exchange", "optimized(steps=2)"]' >/dev/null
    run "$NYSBENCH" plot "$WORK/r" --landmarks -m 8 -t 1 --side queries
    expect_status 0
    for f in "$WORK"/r/plots/landmarks_*_m8.gp; do [ -s "${f%.gp}.svg" ] && [ -s "${f%.gp}.png" ]; done
    "$NYSBENCH" export "$WORK/r" --landmarks "$WORK/l" >/dev/null
    py check_places "$WORK"
}

@test "plot --landmarks: what the run does not have is refused" {
    small -q --set strategies=uniform >/dev/null
    told plot "$WORK/r" --landmarks --m 5
    expect_status 1
    told plot "$WORK/r" --landmarks --trial 2
    expect_status 1
    told plot "$WORK/r" --landmarks --head 99
    expect_status 1
    told plot "$WORK/r" --m 4
    expect_status 2
    run "$NYSBENCH" plot "$WORK/r" --landmarks --side values
    expect_status 2
    run "$NYSBENCH" plot "$WORK/r" error --landmarks
    expect_status 2
}

@test "export --landmarks goes on where picks fail, and lists those with their reason" {
    cat >"$WORK/c.yaml" <<Y
problems: gaussian(n=20, d=3)
strategies: ["command(run=\"sh $WORK/pick.sh\")", uniform]
cores: svd
landmarks: [2, 4]
trials: 2
plots: []
Y
    printf '%s\n' 'echo "no, and \"no\" again" >&2; exit 3' >"$WORK/pick.sh"
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 1
    told export "$WORK/r" --programs --landmarks "$WORK/l"
    expect_status 1
    py check_failures "$WORK/l"
}
