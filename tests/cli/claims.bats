# SPDX-License-Identifier: GPL-3.0-or-later
# Claims: what an experiment says about its rows, whether they bear it out, and mistakes in what it says. The rank of A
# is
# m and the best error of rank m that of the data, whatever the strategy, so some ratios are known beforehand; a trial
# of generated data is a source.

load helpers

# An experiment of eight sources, below the claims of standard input.
experiment() {
    cat >"$WORK/c.yaml"
    cat >>"$WORK/c.yaml" <<'Y'
problems: ["gaussian(n=48, d=8)"]
strategies: [uniform, segment_means, kmeans]
landmarks: [4, 8, 16]
cores: [svd]
trials: 8
metrics: error
plots: []
Y
}

# A word of the claims' JSON: json RUN 'EXPRESSION of c, the list'
json() {
    of_json "c = x; print(($2))" "$NYSBENCH" claims "$1"
}

all_forms() {
    experiment <<'Y'
claims:
  - {id: twice, says: twice the landmarks have twice the rank, source: by construction,
     compare: {landmarks: [8, 4], metric: landmark_rank}, expect: {ratio: [1.99, 2.01]}}
  - {id: thrice, says: thrice, compare: {landmarks: [8, 4], metric: landmark_rank}, expect: {ratio: [2.5, null]}}
  - {id: same, says: the floor is that of the data, compare: {strategy: [kmeans, uniform], metric: floor_rank},
     expect: {equal: 1.001}}
  - {id: no-less, says: not even by nothing, compare: {strategy: [kmeans, uniform], metric: floor_rank},
     expect: {equal_difference: 1e-9}}
  - {id: always, says: A below B, compare: {landmarks: [4, 16], metric: landmark_rank}, expect: {wins: [0.5, 1]}}
  - {id: rank, says: the rank is m, measure: {metric: landmark_rank, where: {landmarks: 8}},
     expect: {value: 8, within: 0.1}}
  - {id: middle, says: the rank is m, measure: {metric: landmark_rank, statistic: median, where: {landmarks: 8..16}},
     expect: {value: [11.9, 12.1]}}
  - {id: geometric, says: the rank is m,
     measure: {metric: landmark_rank, statistic: geometric_mean, where: {landmarks: [4, 16]}},
     expect: {value: [7.9, 8.1]}}
  - {id: up, says: more landmarks have more rank, order: {landmarks: [4, 8, 16], metric: landmark_rank}}
  - {id: down, says: more landmarks have less rank, order: {landmarks: [16, 8, 4], metric: landmark_rank}}
  - {id: line, says: the rank goes with m, measure: {query: slope.sql, metric: landmark_rank, over: landmarks},
     expect: {value: [0.99, 1.01]}, each: strategy}
  - {id: alike, says: mse is a function of the error, correlate: {over: strategy, metrics: [error, mse]},
     expect: {correlation: [0.99, null]}}
  - {id: close, says: close to 2, compare: {strategy: [kmeans, uniform], metric: error},
     expect: {ratio: [1e-9, 1e9]}, confidence: 0.99}
  - {id: few, says: too few, compare: {landmarks: [8, 4], metric: landmark_rank, where: {trial: 0..4}},
     expect: {ratio: [0, 3]}}
  - {id: other, says: needs training, source: "p. 1", untested: nothing is trained here}
Y
}

@test "claims call problems and strategies by their labels, and these stay whole" {
    cat >"$WORK/c.yaml" <<'Y'
name: claims
problems: ['gaussian(n=48, d=8, label="no-clusters")', "clusters(n=48, d=8)"]
strategies: ['kmeans(restarts=4, label="best of 4")', 'kmeans(restarts=2)', uniform]
landmarks: 8
cores: [svd]
trials: 8
metrics: error
plots: []
claims:
  - {id: order, says: in order,
     order: {strategy: ["kmeans(restarts=4)", kmeans(restarts=2), uniform], metric: error}, each: [problem]}
  - {id: pair, says: pair, compare: {strategy: ["kmeans(restarts=4)", uniform], metric: error}, expect: {ratio: [0, 1]}}
Y
    run "$NYSBENCH" run "$WORK/c.yaml" -j 2 -o "$WORK/r"
    expect_status 0
    output=$(of_json 'print(*(part["part"] for claim in x for part in claim["parts"]), sep="\n")' \
        "$NYSBENCH" claims "$WORK/r") tell nysbench claims "$WORK/r" --format json
    of_json 'models = {(m["model"], m["sources"]) for claim in x for m in claim["models"]}
assert models == {("no-clusters", 8), ("clusters(n=48, d=8)", 8)}, models' "$NYSBENCH" claims "$WORK/r"
    of_json 'assert "no-clusters" in {r["model"] for r in x}, x' "$NYSBENCH" compare "$WORK/r"
}

@test "claims of every form, true and false by construction, and a rerun that computes nothing" {
    all_forms
    run "$NYSBENCH" run "$WORK/c.yaml" -j 2 -o "$WORK/r"
    expect_status 0
    [ -s "$WORK/r/claims.csv" ]
    output=$(json "$WORK/r" '"\n".join(x["id"] + ": " + x["why"] for x in c if x["why"])') \
        tell nysbench claims "$WORK/r"
    [ "$(json "$WORK/r" '",".join(x["id"] for x in c if x["verdict"] == "refuted")')" = thrice,down ]
    [ "$(json "$WORK/r" '",".join(x["id"] for x in c if x["verdict"] == "reproduced")')" = \
        twice,same,no-less,always,rank,middle,geometric,up,line,alike,close ]
    [ "$(json "$WORK/r" '[[round(x[k], 9) for k in ("estimate", "low", "high")]
        for x in c if x["id"] in ("twice", "geometric", "line")]')" = \
        "[[2.0, 2.0, 2.0], [8.0, 8.0, 8.0], [1.0, 1.0, 1.0]]" ]
    [ "$(json "$WORK/r" '{p["part"].split()[1]: p["verdict"] for x in c if x["id"] == "line" for p in x["parts"]}')" = \
        "{'uniform': 'reproduced', 'segment_means': 'reproduced', 'kmeans': 'reproduced'}" ]
    cp "$WORK/r/rows.csv" "$WORK/before.csv"
    cp "$WORK/r/claims.csv" "$WORK/claims.csv"
    sed -i 's/\[2.5, null\]/[1.5, null]/; /id: alike/,+1d' "$WORK/c.yaml"
    run "$NYSBENCH" run "$WORK/c.yaml" -o "$WORK/r"
    expect_status 0
    [ "$(json "$WORK/r" '[x["id"] for x in c if x["verdict"] == "refuted"]')" = "['down']" ]
    cmp "$WORK/before.csv" "$WORK/r/rows.csv" # with the times of the first run
    [ "$(diff "$WORK/claims.csv" "$WORK/r/claims.csv" | grep -c '^[<>] c,[a-z]*,claim')" -eq 3 ]
    diff "$WORK/claims.csv" "$WORK/r/claims.csv" | grep '^> c,thrice,claim,,reproduced,.*expect: {ratio: \[1.5, null\]}'
}

@test "too few sources and too wide an interval leave it open, and how many would decide is told" {
    experiment <<'Y'
claims:
  - {id: narrow, says: x, compare: {strategy: [kmeans, uniform], metric: error, where: {landmarks: 16}},
     expect: {ratio: [0, 1]}}
Y
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    edge=$(json "$WORK/r" 'c[0]["estimate"] * 1.001')
    sed -i "s/\[0, 1\]/[0, $edge]/" "$WORK/c.yaml"
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    run "$NYSBENCH" claims "$WORK/r"
    expect_status 0
    output=$(tr -s ' \n' ' ' <<<"$output" | grep -o 'about [0-9]* .*' | sed 's/[0-9][0-9]*/#/g') \
        tell nysbench claims "$WORK/r"
    [ "$(json "$WORK/r" 'c[0]["verdict"] == "undecided" and c[0]["more_sources"] > 1000')" = True ]
    # What is too small to matter is another end, and here farther away: it takes fewer.
    smallest=$(json "$WORK/r" '(c[0]["high"] / c[0]["estimate"]) ** 0.5 / c[0]["estimate"]')
    sed -i "s/}}\$/}, smallest: $smallest}/" "$WORK/c.yaml"
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    json "$WORK/r" 'c[0]'
    [ "$(json "$WORK/r" 'c[0]["verdict"] == "undecided" and 1 < c[0]["more_sources"] < 300')" = True ]
    "$NYSBENCH" run "$WORK/c.yaml" -q --set trials=5 -o "$WORK/few"
    output=$(json "$WORK/few" 'c[0]["why"]') tell nysbench claims "$WORK/few"
}

@test "a claim over two models has a row of each in claims.csv, with the numbers of the JSON" {
    config <<'Y'
problems:
  - "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=[0, 1], max_n=64)"
  - "heads(file=experiments/data/panel/smollm2_go-sort_n256_L15.safetensors, causal=false, max_n=64)"
strategies: [uniform, segment_means]
cores: svd
landmarks: 8
trials: 2
metrics: error
plots: []
claims:
  - {says: a, compare: {strategy: [segment_means, uniform], metric: error}, expect: {ratio: [0, 9]}}
Y
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >/dev/null
    "$NYSBENCH" claims "$WORK/r" --format json >"$WORK/json"
    py check_rows_by_model "$WORK/r/claims.csv" "$WORK/json"
}

@test "--strict, formats, several runs" {
    all_forms
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    run "$NYSBENCH" claims "$WORK/r" --strict
    expect_status 1
    run "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r2" --set \
        'claims=[{says: a, measure: {metric: landmark_rank}, expect: {value: [1, 20]}}, {says: b, untested: c}]'
    expect_status 0
    run "$NYSBENCH" claims "$WORK/r2" --strict
    expect_status 0
    run "$NYSBENCH" claims "$WORK/r" "$WORK/r2" --format markdown # golden.bats has the words
    expect_status 0
    [ "$(grep '^|' <<<"$output" | sed 's/[^|]//g' | sort -u)" = "||||||||" ]
    [ "$(json "$WORK/r" 'len(c), sorted(c[0])')" = \
        "(15, ['claim', 'disturbed', 'estimate', 'expected_high', 'expected_low', 'experiment', 'family', 'form', \
'heads', 'high', 'id', 'low', 'models', 'more_sources', 'part', 'parts', 'quantity', 'says', 'slack', 'source', \
'sources', 'verdict', 'why'])" ]
    [ "$(json "$WORK/r" 'c[-1]["estimate"], c[-1]["sources"], c[-1]["models"], c[1]["expected_high"]')" = \
        "(None, 0, [], None)" ]
    "$NYSBENCH" claims "$WORK/r" -f csv | cmp - "$WORK/r/claims.csv"
    py check_fields "$WORK/r/claims.csv"
    told claims "$WORK/r"
    told claims "$WORK/r" --format xml
    expect_status 2
    told claims "$WORK"
    expect_status 2
}

@test "without claims there is nothing to tell, and --set claims=[] takes them away" {
    all_forms
    cd "$WORK"
    "$NYSBENCH" run c.yaml -q
    [ -s results/c/claims.csv ]
    "$NYSBENCH" run c.yaml -q --set claims=[] # makes no other rows, so no other folder
    [ "$(ls results)" = c ]
    [ ! -e results/c/claims.csv ]
    run "$NYSBENCH" claims results/c --strict
    expect_status 0
    [ "$("$NYSBENCH" claims results/c -f json 2>/dev/null)" = "[]" ]
}

@test "the resolved config reads back the same" {
    all_forms
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/a"
    [ "$(grep -c '^  - {id: ' "$WORK/a/resolved.yaml")" -eq 15 ]
    "$NYSBENCH" run "$WORK/a/resolved.yaml" -q -o "$WORK/b"
    cmp "$WORK/a/resolved.yaml" "$WORK/b/resolved.yaml"
    cmp "$WORK/a/claims.csv" "$WORK/b/claims.csv"
    run "$NYSBENCH" plan "$WORK/c.yaml" --origins
    expect "claims:  # $WORK/c.yaml:1"
}

@test "rows of a part are asked nothing; merged they are, and rows that are missing count" {
    experiment <<<"claims: {says: x, order: {landmarks: [4, 8, 16], metric: landmark_rank}}"
    "$NYSBENCH" run "$WORK/c.yaml" -q --set 'problems=gaussian(n=[48, 50], d=8)' -o "$WORK/whole"
    for i in 1 2; do
        run "$NYSBENCH" run "$WORK/c.yaml" --set 'problems=gaussian(n=[48, 50], d=8)' --shard "$i/2" -o "$WORK/r"
        expect_status 0
        [ ! -e "$WORK/r/shards/$i-of-2/claims.csv" ]
    done
    run "$NYSBENCH" merge "$WORK/r"
    expect_status 0
    [ "$(json "$WORK/r" '[x["verdict"] for x in c]')" = "['reproduced']" ]
    cmp "$WORK/whole/claims.csv" "$WORK/r/claims.csv"
    "$NYSBENCH" run "$WORK/c.yaml" -q --only trial=0 -o "$WORK/part"
    [ "$(json "$WORK/part" '[x["verdict"] for x in c]')" = "['void']" ]
    # of sources enough too: what has not been run may say something else
    "$NYSBENCH" run "$WORK/c.yaml" -q --only trial=1..6 -o "$WORK/part"
    [ "$(json "$WORK/part" '[(x["verdict"], x["why"], x["sources"]) for x in c]')" = \
        "[('void', 'only 63 of 72 rows have been run', 7)]" ]
    run "$NYSBENCH" claims "$WORK/part" --strict
    expect_status 1
}

@test "a file beside the config is found, also by a claim, and the folder is asked without it" {
    experiment <<'Y'
claims: {says: x,
         measure: {metric: landmark_rank, where: {problem: "heads(file=h.safetensors)", head: 0..1, n: 257}},
         expect: {value: [0, 99]}}
Y
    cp experiments/data/vit_astronaut_n257_L6.safetensors "$WORK/h.safetensors"
    "$NYSBENCH" run "$WORK/c.yaml" -q --set 'problems=heads(file=h.safetensors)' -o "$WORK/r" && return 1
    sed -i 's/^problems:.*/problems: heads(file=h.safetensors)/' "$WORK/c.yaml"
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    mv "$WORK/h.safetensors" "$WORK/gone.safetensors"
    [ "$(json "$WORK/r" '[(x["sources"], x["heads"], x["why"]) for x in c]')" = "[(1, 2, '1 source, fewer than 6')]" ]
}

@test "a query of one's own is read beside the config, stands in the run's folder, and answers there without its file" {
    experiment <<'Y'
claims:
  - {id: own, says: the mean of logs, measure: {query: own.sql, where: {strategy: kmeans}},
     expect: {value: [-9, 9]}, each: landmarks}
  - {id: same, says: in the config, expect: {value: [0, 2]}, measure: {metric: error,
     query: "SELECT stratum_id AS stratum, source_id AS source, x AS value FROM claim_point"}}
  - {id: mean, says: the same, measure: {metric: error}, expect: {value: [0, 2]}}
Y
    cat >"$WORK/own.sql" <<'Y'
-- The rows of kmeans, by their source.
SELECT stratum_id AS stratum, source_id AS source, avg(ln(error)) AS value
FROM claim_row GROUP BY source_id
Y
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    rm "$WORK/own.sql"
    "$NYSBENCH" claims "$WORK/r" -f csv | cmp - "$WORK/r/claims.csv"
    "$NYSBENCH" claims "$WORK/r" -f json >"$WORK/json"
    py check_own_query "$WORK/json"
    "$NYSBENCH" run "$WORK/r/resolved.yaml" -q -o "$WORK/again"
    cmp "$WORK/r/claims.csv" "$WORK/again/claims.csv"
    told run "$WORK/c.yaml" -q -o "$WORK/r"
    expect_status 2
}

@test "the short forms slope and correlate, as folders of older runs have them, are measures" {
    experiment <<'Y'
claims:
  - {id: slope, says: a, slope: {metric: error, against: landmarks, where: {strategy: kmeans}},
     expect: {slope: [null, 0]}}
  - {id: slope-sql, says: a, measure: {query: slope.sql, metric: error, over: landmarks, where: {strategy: kmeans}},
     expect: {value: [null, 0]}}
  - {id: correlate, says: b, correlate: {over: strategy, metrics: [error, mse]}, expect: {correlation: [0.8, null]}}
  - {id: correlation-sql, says: b, measure: {query: correlation.sql, over: strategy, metrics: [error, mse]},
     expect: {value: [0.8, null]}}
Y
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    "$NYSBENCH" claims "$WORK/r" -f json >"$WORK/json"
    py check_short_forms "$WORK/json"
    # A run's config as a version before wrote it.
    sed -n '/^claims:/,/^[a-z]/p' "$WORK/c.yaml" | sed '/^problems/d' >"$WORK/old"
    sed -i -e '/^  - {id: /d' -e "/^claims:/{r $WORK/old
        d}" "$WORK/r/resolved.yaml"
    grep -q "correlate: {over" "$WORK/r/resolved.yaml"
    "$NYSBENCH" claims "$WORK/r" -f csv | cmp - "$WORK/r/claims.csv"
}

@test "a study out of the tree" {
    build_plugin tests/cli/plugins/norms.c "$WORK/norms.so"
    cat >"$WORK/c.yaml" <<Y
study: norms
plugins: $WORK/norms.so
problems: gaussian(n=40, d=4)
exponents: [1, 2, 4]
trials: 8
plots: []
claims:
  - {says: powers of one norm, order: {exponent: [1, 2, 4], metric: norm_most}, each: side}
  - {says: faster than a line, measure: {query: slope.sql, metric: norm_most, over: exponent},
     expect: {value: [1, null]}}
  - {says: much the same, compare: {side: [queries, keys], metric: norm_mean, where: {exponent: 1}},
     expect: {equal: 1.5}}
Y
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    run "$NYSBENCH" claims "$WORK/r" --strict --plugin "$WORK/norms.so"
    expect_status 0
    output=$(of_json 'parts = [part for claim in x for part in claim["parts"]]
print(*(part["part"] + " " + part["verdict"] for part in parts), sep="\n")' \
        "$NYSBENCH" claims "$WORK/r" --plugin "$WORK/norms.so") tell nysbench claims "$WORK/r" --format json
    sed -i -e 's/exponent: \[1, 2, 4\], metric/exponents: [1, 2, 4], metric/' \
        -e 's/over: exponent/over: side/; s/norm_mean/norm/' "$WORK/c.yaml"
    told plan "$WORK/c.yaml"
    expect_status 2
}

refuses() {
    told run "$WORK/c.yaml" --out "$WORK/out"
    expect_status 2
    [ ! -e "$WORK/out" ]
}

@test "mistakes in what claims say are told all at once, each with its place" {
    experiment <<'Y'
claims:
  - sais: x
    compare: {strategi: [uniform, kmeans], metric: eror}
    expect: {ratio: [0.9, 0.7]}
  - says: a
    measure: {metric: error, statistic: mode}
    slope: {metric: error}
  - says: b
    measure: {metric: strategy}
    expect: {value: 0.2}
    smallest: 1.02
    confidence: 2
    each: [landmarks, landmark]
    failures: worst
  - says: c
    expect: {ratio: [0, 1]}
  - says: d
    slope: {metric: error, against: strategy}
    expect: {slope: [steep, 1]}
  - says: e
    order: {strategy: [uniform], landmarks: [4, 8], metric: error}
    expect: {ratio: [0, 1]}
    each: [strategy]
  - says: f
    correlate: {over: strategy, metrics: [error], x: {metric: error}}
    expect: {correlation: [0, 2]}
  - just a text
  - says: ""
    untested:
  - says: g
    id: a b
    compare: {landmarks: [4, 8], metric: error, where: [a]}
    expect: {equal: 0.9, wins: [0, 1]}
    confounded: [problem]
  - {says: h, compare: {strategy: [uniform, kmeans], metric: error}, expect: {value: [0, 1]}}
  - {says: i, compare: {strategy: [uniform, kmeans], metric: error}, expect: {ratio: [null, null]}}
  - {says: j, compare: {strategy: [uniform, kmeans], metric: error}}
  - {says: k, id: same, untested: no}
  - {says: l, id: same, untested: no}
  - {says: m, measure: {metric: error, over: landmarks}, expect: {value: [0, 1]}}
  - {says: n, measure: {query: slope.sql, metrics: [error, mse]}, expect: {slope: [0, 1]}}
  - {says: o, measure: {query: gone.sql, metric: error, metrics: [error, mse]}, expect: {value: [0, 1]}}
  - {says: p, measure: {query: SELECT 1, statistic: geometric_mean}, expect: {value: [0, 1]}, failures: worst}
  - {says: q, slope: {query: slope.sql, metric: error, against: landmarks}, expect: {slope: [0, 1]}}
  - {says: r, measure: {query: [a]}, expect: {value: [0, 1]}}
  - {says: s, family: f, compare: {landmarks: [4, 8], metric: error}, expect: {ratio: [0, 1]}}
  - {says: t, family: f, confidence: 0.9, compare: {landmarks: [4, 8], metric: error}, expect: {ratio: [0, 1]}}
  - {says: u, family: [f], compare: {landmarks: [4, 8], metric: error}, expect: {ratio: [0, 1]}}
Y
    refuses
}

@test "what the experiment does not have or measure is told with what it has" {
    experiment <<'Y'
claims:
  - {says: a, compare: {strategy: [uniform, "uniform(strided=false)"], metric: error}, expect: {ratio: [0, 1]}}
  - {says: b, compare: {strategy: [uniform, leverage], metric: error}, expect: {ratio: [0, 1]}}
  - {says: c, compare: {strategy: [uniform, unform], metric: spectral_error}, expect: {ratio: [0, 1]}}
  - {says: d, measure: {metric: error, where: {landmarks: [4, 5], trial: 8, n: 64, head: 1, core: identity}},
     expect: {value: [0, 1]}}
  - {says: e, measure: {metric: error, where: {problem: "gaussian(d=9)", pairing: sides, rows: "sample(4)",
     kernel: gram}}, expect: {value: [0, 1]}}
  - {says: f, measure: {metric: error, where: {strategy: "uniform(stride=2)", landmarks: 17..20}},
     expect: {value: [0, 1]}}
Y
    refuses
    sed -i 's/uniform, unform/uniform, kmeans/' "$WORK/c.yaml"
    refuses
    told plan "$WORK/c.yaml" --set 'claims=[{says: x, measure: {metric: eror}, expect: {value: [0, 1]}}]'
    expect_status 2
}

@test "a text that means several values of the experiment names none" {
    experiment <<<"claims: {says: a, compare: {strategy: [kmeans(init=plusplus), uniform], metric: error}, \
expect: {ratio: [0, 1]}}"
    told plan "$WORK/c.yaml" --set 'strategies=[uniform, "kmeans(restarts=[1, 4])"]'
    expect_status 2
    sed -i 's/\[kmeans(init=plusplus), uniform\]/["kmeans(restarts=4)", uniform]/' "$WORK/c.yaml"
    run "$NYSBENCH" plan "$WORK/c.yaml" --set 'strategies=[uniform, "kmeans(restarts=[1, 4])"]'
    expect_status 0
}
