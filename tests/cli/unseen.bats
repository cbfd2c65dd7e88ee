# SPDX-License-Identifier: GPL-3.0-or-later
# What cores do on rows of S that they have not looked at, rows that are kept, and what
# exact attention costs beside them.

load helpers

@test "rows unseen and rows kept are in CSV and JSON" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set trials=2 --set landmarks=4 --set strategies=uniform \
        --set metrics=error --set 'problems=["gaussian(n=60, d=8)"]' \
        --set 'cores=[iterative, fitted, "fitted(keep_rows=true)", exact_rows, "exact_rows(rows=60)", best]' \
        --set plots=[] -o "$WORK/r"
    "$NYSBENCH" export "$WORK/r" --format json >"$WORK/rows.json"
    py_tells check_described "$WORK"
}

@test "sampled rows: kept ones are exact, those unseen are told where any were drawn" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set trials=3 --set landmarks=4 --set strategies=uniform \
        --set metrics=error --set 'problems=["gaussian(n=200, d=8)"]' \
        --set 'cores=[iterative, fitted, exact_rows, "exact_rows(rows=199)", "exact_rows(rows=200)"]' \
        --set 'rows=sample(50)' --set plots=[] -o "$WORK/r"
    py check_sampled "$WORK/r/rows.csv"
}

@test "row sums tell how far X is from the inverse of A, but not for cur" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set trials=1 --set landmarks=16 --set strategies=uniform \
        --set metrics=error --set cores="svd(rcond=machine)" \
        --set 'problems=["heads(file=experiments/data/vit_astronaut_n257_L6.safetensors)"]' \
        --set draws=shared --set 'factors=[nystromformer, cur]' --set plots=[] -o "$WORK/r"
    py check_row_sums "$WORK/r/rows.csv"
}

@test "the table of cores has what keeps rows below 0, and exact attention under it" {
    undrawn
    "$NYSBENCH" run experiments/00-smoke.yaml --set trials=2 --set 'landmarks=[4, 16]' --set strategies=uniform \
        --set metrics=error --set factors=nystromformer \
        --set "problems=[\"gaussian(n=60, d=8)\", \"gaussian(n=64, d=8)\", heads(file=$ASTRONAUT)]" \
        --set 'cores=["svd(rcond=[0.3, 0.1, 0.01])", iterative, fitted, exact_rows(of=fitted), exact_rows(of=best),
            best]' \
        --set 'plots=[cores, cutoff]' -q -o "$WORK/r" >/dev/null
    "$NYSBENCH" table "$WORK/r" cores >"$WORK/out"
    py check_table "$WORK"
}

@test "the manual's tables of X come from runs of experiments 03 and 05" {
    "$NYSBENCH" run experiments/03-pinv.yaml -q --set trials=1 \
        --set 'problems=["heads(file=experiments/data/vit_astronaut_n257_L6.safetensors)"]' --set plots=[] -o "$WORK/r"
    of_json '(row,) = [r for r in x if r["by"] == "all" and r["core"].startswith("exact_rows(of=iterative(")]
assert row["choices"] == 48, row' "$NYSBENCH" table "$WORK/r" above
    output=$("$NYSBENCH" table "$WORK/r" above | grep -o 'over [0-9]* choices.*') \
        status=0 tell nysbench table "$WORK/r" above
    of_json 'assert (32, 64) in {(r["landmarks"], r["over_landmarks"]) for r in x}, x' \
        "$NYSBENCH" table "$WORK/r" equal_cost
    for name in above pairs; do
        of_json 'assert "best svd of 14 (oracle)" in {r["core"] for r in x}, x' \
            "$NYSBENCH" table "$WORK/r" $name # NOLINT(wording): a core's label
    done
    "$NYSBENCH" run experiments/05-fitted-limits.yaml -q --set trials=2 --set 'problems=["gaussian(n=200, d=8)"]' \
        --set plots=[] -o "$WORK/s"
    "$NYSBENCH" table "$WORK/s" rows -f csv --confounded rows_seen >"$WORK/out"
    py check_manual "$WORK"
}
