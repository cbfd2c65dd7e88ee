# SPDX-License-Identifier: GPL-3.0-or-later
# nysbench compare: what it prints, refuses, and does not say. tests/oracle/compare.py recomputes its numbers.

load helpers

# Eight trials of drawn data are eight sources.
drawn() { # OPTIONS...
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set metrics=error --set factors=nystromformer \
        --set 'problems=gaussian(n=40, d=4)' --set 'strategies=[uniform, segment_means, kmeans]' --set trials=8 \
        --set 'cores=[iterative, svd(rcond=0.1)]' -o "$WORK/r" "$@" >/dev/null
}

lines() { # PYTHON, of the list `lines`
    "$NYSBENCH" compare "$WORK/r" --format json "${@:2}" >"$WORK/json"
    /usr/bin/python3 -c "import json, sys; lines = json.load(open(sys.argv[1])); assert lines; $1" "$WORK/json"
}

@test "a table, CSV and JSON of the same lines; no NaN in any" {
    drawn
    run "$NYSBENCH" compare "$WORK/r"
    expect_status 0
    [ "$(grep -ci '\bnan\b' <<<"$output")" -eq 0 ]
    lines 'assert len(lines) == 8 and all(x["trials"] == 0 for x in lines)'
    lines 'assert len(lines) == 8 and all(x["sources"] == x["heads"] == 8 for x in lines), lines'
    lines 'assert {"better"} <= {x["verdict"] for x in lines} <= {"better", "worse", "equivalent", "undecided"}'
    lines 'assert {(x["metric"], x["by"], x["baseline"][:8]) for x in lines} == {("error", "strategy", "uniform(")}'
    "$NYSBENCH" compare "$WORK/r" --format csv >"$WORK/csv"
    py check_rectangle "$WORK/csv" 9
}

@test "one interval decides a verdict, and is the one shown" { # golden.bats has what is called exploratory
    drawn
    lines 'assert len(lines) == 8'
    py check_verdicts "$WORK/json"
    lines 'assert len(lines) == 2' --where core=svd --pool landmarks
    py check_verdicts "$WORK/json"
    lines 'assert lines[0]["low"] == lines[0]["joint_low"]' --where core=svd --where landmarks=8 \
        --where 'strategy=[uniform, kmeans]'
    py check_verdicts "$WORK/json"
}

@test "the baseline is the run's, another, or all in turn" {
    drawn --set baseline=segment_means
    lines 'assert all(x["baseline"] == "segment_means" for x in lines)'
    lines 'assert all(x["baseline"].startswith("kmeans") for x in lines)' --baseline kmeans
    lines 'assert len(lines) == 12 and len({(x["method"], x["baseline"]) for x in lines}) == 3' --baseline all
    told compare "$WORK/r" --baseline leverage
    expect_status 2
    told compare "$WORK/r" --baseline kmeanz
    expect_status 2
}

@test "where the baseline is left out, compare, tables and figures take the same one: the first that is no oracle" {
    drawn --set 'strategies=[uniform, leverage, kmeans, segment_means]'
    chosen='strategy=[leverage, kmeans, segment_means]'
    lines 'assert all(x["baseline"].startswith("kmeans(") for x in lines)' --where "$chosen"
    "$NYSBENCH" table "$WORK/r" shares --format csv --where "$chosen" >"$WORK/shares"
    "$NYSBENCH" plot "$WORK/r" ratio --where "$chosen" >/dev/null
    py check_baseline "$WORK/json" "$WORK/shares" "$WORK/r/plots/selected/ratio.csv"
}

@test "labels select as specs do, and are what is offered where nothing matches" {
    drawn --set \
        'strategies=[uniform, kmeans, "kmeans(restarts=4, label=\"k-means, again\")", "leverage(label=by_rows)"]'
    lines 'assert all(x["baseline"].startswith("leverage") for x in lines)' --baseline by_rows
    # as tables have it
    lines 'assert all(x["baseline"].startswith("leverage") for x in lines)' --baseline 'by_rows, oracle'
    lines 'assert all(x["baseline"].startswith("leverage") for x in lines)' --baseline 'leverage(of=kernel), oracle'
    lines 'assert all("restarts=4" in x["baseline"] for x in lines)' --baseline 'k-means, again'
    lines 'assert {x["method"][:6] for x in lines} == {"levera", "kmeans"}' --where strategy=uniform \
        --where 'strategy=k-means, again' --where strategy=by_rows
    lines 'assert all("restarts=1" in x["baseline"] for x in lines)' --baseline kmeans # which is its label
    "$NYSBENCH" table "$WORK/r" errors --format csv --where strategy=by_rows >"$WORK/csv"
    [ "$(grep -c leverage "$WORK/csv")" -gt 0 ]
    [ "$(grep -c kmeans "$WORK/csv")" -eq 0 ]
    lines 'assert all("restarts=1" in x["method"] for x in lines)' --where strategy_label=uniform \
        --where strategy_label=kmeans # and no other of that name
    lines 'assert len({x["method"] for x in lines}) == 2' \
        --where 'strategy_label=[uniform, "k-means, again", "by_rows, oracle"]' \
        --where core_label=iterative
    while read -r options; do
        eval "told compare \"\$WORK/r\" $options"
        expect_status 2
    done <<CASES
--where strategy_label=k-mean
--where strategy_label=leverage
--where strategy_labels=uniform
--baseline by_row
--baseline cpqr
--where strategy=refined
--where strategy=uniform --where strategy=refined
--baseline 'kmeans(restart=4)'
--where layer=3
--baseline 'kmeans(init=plusplus)'
CASES
}

@test "by another column, another measure, over some rows, as differences, pooled" {
    drawn
    lines 'assert all(x["by"] == "core" and x["method"].startswith("svd") for x in lines)' --by core
    lines 'assert all(x["by"] == "landmarks" and x["method"] == 8 and x["baseline"] == 4 for x in lines)' --by landmarks
    lines 'assert all(x["metric"] == "error_subspace" for x in lines)' --metric error_subspace
    lines 'assert len(lines) == 2' --where core=svd --where landmarks=4
    lines 'assert {x["method"] for x in lines} == {"segment_means"}' --where strategy=uniform \
        --where strategy=segment_means
    lines 'assert all(-1 < x["difference"] < 1 for x in lines if "kmeans" in x["method"] and x["core"][0] == "i")' \
        --scale difference
    lines 'assert len(lines) == 4 and all((x["landmarks"], x["heads"], x["pairs"]) == ("all", 8, 16) for x in lines)' \
        --pool landmarks
    lines 'assert all(x["bootstrap_low"] < x["ratio"] < x["bootstrap_high"] for x in lines if x["ratio"])'
    lines 'assert all(x["bootstrap_low"] is None for x in lines)' --resamples 0
    lines 'assert all(x["verdict"] in ("better", "worse", "equivalent") for x in lines)' --margin 1000
}

@test "of a measure of which more is better, more is better and wins" {
    drawn --set metrics=all
    for metric in error cosine; do
        lines 'json.dump([(x["verdict"], x["wins"], x["wins_low"] <= x["wins"] <= x["wins_high"], x["sources_below"])
            for x in lines], open(sys.argv[1] + "'$metric'", "w"))' --metric $metric --pool landmarks
    done
    py check_wins "$WORK/json"
    # What has no result counts as the worst: 8 landmarks of 6 tokens.
    drawn --set 'strategies=[uniform, "subsample(of=kmeans, tokens=6)"]' --set cores=iterative
    for rest in "error x > drop" "cosine x < drop"; do
        lines 'print(lines[0]["ratio"])' --metric ${rest%% *} --pool landmarks >"$WORK/drop"
        lines 'x, drop = lines[0]["ratio"], float(open(sys.argv[1][:-4] + "drop").read())
assert '"${rest#* }, (x, drop)" \
            --metric ${rest%% *} --pool landmarks --failures worst
    done
}

@test "the answer fits a screen: lines, or of many a table with m across" {
    drawn --set landmarks=[2,3,4,5,6,7,8,10]
    COLUMNS=80 "$NYSBENCH" compare "$WORK/r" >"$WORK/out"
    [ "$(wc -l <"$WORK/out")" -le 24 ]
    [ "$(awk 'length > 80' "$WORK/out" | wc -l)" -eq 0 ]
    grep -qE '^  landmarks +2 +3 +4 +5 +6 +7 +8 +10$' "$WORK/out"
    "$NYSBENCH" compare "$WORK/r" --format json >"$WORK/json"
    py check_across "$WORK/out" "$WORK/json"
    run "$NYSBENCH" compare "$WORK/r" --where landmarks=4 --where core=svd
    [ "$(awk '$1 == "strategy" { print NF }' <<<"$output")" -eq 5 ] # a line each, with all columns
}

@test "models have lines of their own where these are asked for; why there are no verdicts stands above, once" {
    drawn --set 'problems=["gaussian(n=40, d=4)", "gaussian(n=42, d=4)"]' --set cores=iterative --set trials=5
    for options in "" --by-model; do
        run "$NYSBENCH" compare "$WORK/r" ${options:+"$options"}
        output=$(grep -E '^No verdict|gaussian|segment_means' <<<"$output") \
            tell nysbench compare "$WORK/r" ${options:+"$options"}
    done
    no_verdicts "$WORK/r"
    told compare "$WORK/r" --where 'problem=gaussian(n=40, d=4)' --by-model
    no_verdicts "$WORK/r" --where 'problem=gaussian(n=40, d=4)'
}

@test "windows and permutations of one head are settings, not heads" {
    config <<Y
problems: ["heads(file=[$(printf '%s, ' experiments/data/panel/minilm_*.safetensors | sed 's/, $//')], head=0,
            max_n=[20, 40], permute=[false, true])", "gaussian(n=20, d=4)"]
strategies: ["uniform(strided=true)", segment_means]
cores: svd
landmarks: 4
trials: 1
metrics: error
plots: []
Y
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >/dev/null
    "$NYSBENCH" compare "$WORK/r" --format json >"$WORK/json"
    "$NYSBENCH" table "$WORK/r" ranks --format json >"$WORK/ranks"
    py check_inputs "$WORK/json" "$WORK/ranks"
    # one way to read all of a model is no setting
    lines 'assert all(x["input"] is None for x in lines), lines' \
        --where 'problem=[heads(max_n=20, permute=false), gaussian]'
}

@test "what differs in more than it should is refused" {
    drawn --set 'cores=[iterative, fitted(rows=8)]'
    lines 'assert {x["verdict"] for x in lines} == {"refused"} and "error_unseen" in lines[0]["why"]' --by core
    lines 'assert "refused" not in {x["verdict"] for x in lines}' --by core --metric error_unseen
    lines 'assert "refused" not in {x["verdict"] for x in lines}' --by core --confounded rows_seen
    # one line for all that are refused, beside methods that are compared, also where m goes across
    drawn --set 'cores=[iterative, fitted(rows=8), svd, gcv, tikhonov]' --set landmarks=[2,3,4,5,6,7,8,10] \
        --set strategies=[uniform,kmeans]
    "$NYSBENCH" compare "$WORK/r" --by core --where landmarks=2..4 >"$WORK/out"
    "$NYSBENCH" compare "$WORK/r" --by core >>"$WORK/out"
    quoted '^ +fitted.*' "$WORK/out"
    # none, as golden.bats has it, where some lines are compared: profile has looked at rows itself
    drawn --set 'cores=[iterative, fitted(rows=8)]' --set strategies=[uniform,profile]
    lines 'assert {x["pairing"] for x in lines if x["verdict"] == "refused"} == {"joint"}, lines' --by core
    "$NYSBENCH" run experiments/00-smoke.yaml -q --set plots=[] --set metrics=error --set factors=nystromformer \
        --set 'problems=gaussian(n=40, d=4)' --set 'strategies=[uniform, profile]' --set trials=8 -o "$WORK/r" \
        --fresh >/dev/null
    lines 'assert {x["verdict"] for x in lines} == {"refused"} and "pairing" in lines[0]["why"], lines'
    lines 'assert {x["verdict"] for x in lines} == {"refused"} and "rows_seen" in lines[0]["why"]' --confounded pairing
    lines 'assert "refused" not in {x["verdict"] for x in lines}' --confounded pairing --confounded rows_seen
}

@test "few sources, one head, and ratios of zero have no verdict, in words" {
    drawn --set trials=5
    lines 'assert all(x["verdict"] == "none" for x in lines)'
    no_verdicts "$WORK/r"
    drawn --set trials=1
    lines 'assert all(x["low"] is None for x in lines)'
    no_verdicts "$WORK/r"
    run "$NYSBENCH" compare "$WORK/r"
    [ "$(grep -ci '\bnan\b\|\binf\b' <<<"$output")" -eq 0 ]
    # as many landmarks as dimensions: the Gram matrix is reconstructed but for rounding
    drawn --set 'kernels=gram(of=queries)' --set 'cores=best' --set landmarks=8
    lines 'assert all(x["ratio"] is None for x in lines)'
    no_verdicts "$WORK/r"
}

@test "a run that is not finished has ratios and no verdicts, which is said once, above; its finished part has them" {
    drawn --only landmarks=4
    run "$NYSBENCH" compare "$WORK/r"
    expect_status 0
    output=$(grep '^No verdict' <<<"$output") tell nysbench compare "$WORK/r"
    lines 'assert {x["verdict"] for x in lines} == {"none"}, lines'
    no_verdicts "$WORK/r"
    local part='[[x["method"], x["core"], x["ratio"], x["verdict"]] for x in lines]'
    lines "json.dump($part, open(sys.argv[1] + '.part', 'w'))" --where landmarks=4
    drawn
    lines 'assert "none" not in {x["verdict"] for x in lines}, lines'
    lines "assert $part == json.load(open(sys.argv[1] + '.part'))" --where landmarks=4
}

@test "a method without one result has no ratio, is in no family of tests, and is named with the reason" {
    drawn --set cores=iterative
    local two='[[x["landmarks"], x["ratio"], x["family"], x["joint_low"]] for x in lines if x["method"][0] == "k"]'
    lines "json.dump($two, open(sys.argv[1] + '.two', 'w'))" \
        --where 'strategy=[uniform, kmeans]'
    drawn --set cores=iterative --set 'strategies=[uniform, kmeans, "command(run=\"false\")"]' || [ $? -eq 1 ]
    for failures in drop worst; do
        lines 'assert {(x["ratio"], x["t_p"], x["joint_low"], x["verdict"], x["missing"])
            for x in lines if x["method"][0] == "c"} == {(None, None, None, "none", 8)}, lines' \
            --failures $failures
        lines "assert $two == json.load(open(sys.argv[1] + '.two'))" \
            --failures $failures
        run "$NYSBENCH" compare "$WORK/r" --failures $failures
        expect_status 0
        output=$(grep 'command(' <<<"$output") tell nysbench compare "$WORK/r" --failures $failures
    done
}

@test "a method that is refused everywhere has a line, in compare and in tables, and its reason stands below" {
    drawn --set factors=cur --set 'cores=[iterative, svd]' --set 'strategies=[uniform, leverage, kmeans]'
    for command in "compare" "compare --by-model --full" "table errors" "table shares" "table ranks"; do
        # shellcheck disable=SC2086 # words
        run "$NYSBENCH" ${command/ / "$WORK/r" } $([ "$command" != compare ] || echo "$WORK/r")
        expect_status 0
        # shellcheck disable=SC2086 # words
        output=$(grep kmeans <<<"$output") tell nysbench $command
    done
    "$NYSBENCH" report "$WORK/r" --format markdown -o "$WORK/report.md" >/dev/null
    quoted '^NO RESULT.*|^\|.* kmeans \|.*' "$WORK/report.md"
    # a core, beside cores that have results
    drawn --set 'cores=[iterative, svd, "command(run=\"false\")"]' || [ $? -eq 1 ]
    run "$NYSBENCH" table "$WORK/r" cores above
    output=$(grep 'command(' <<<"$output") tell nysbench table cores above
}

@test "what has no result stands in the line; --failures says how it counts" {
    local model=experiments/data/smollm2_opticks_n1024_L15.safetensors
    drawn --set "problems=[\"gaussian(n=40, d=4)\", \"heads(file=$model, max_n=40)\"]"
    lines 'assert all(x["neither"] == 24 for x in lines)' # a causal head: nobody may
    drawn --set 'strategies=[uniform, "command(run=\"false\")"]' --set cores=iterative || [ $? -eq 1 ]
    lines 'assert lines and all(x["verdict"] == "none" and x["missing"] == 8 and x["pairs"] == 0 for x in lines)'
    run "$NYSBENCH" compare "$WORK/r" --failures worst
    expect_status 0
    [ "$(grep -ci '\bnan\b' <<<"$output")" -eq 0 ]
}

@test "wrong arguments" {
    drawn
    while read -r options; do
        eval "told compare \"\$WORK/r\" $options"
        expect_status 2
    done <<'CASES'
--by pairin
--by error
--by trial
--by pairing
--metric eror
--metric strategy
--format xml
--scale log
--failures keep
--margin 0.9
--confidence 95
--resamples many
--confounded pairings
--pool error
--pool head
--where landmarks=5
--where strategy=kmeans
CASES
    run "$NYSBENCH" compare "$WORK/none"
    expect_status 2
    run "$NYSBENCH" compare
    expect_status 2
}

@test "rows of several programs are not compared with each other unless that is said" {
    drawn
    py change_build "$WORK/r/results.sqlite"
    lines 'assert {x["verdict"] for x in lines if "kmeans" in x["method"]} == {"refused"}'
    lines 'assert "build" in [x["why"] for x in lines if "kmeans" in x["method"]][0]'
    lines 'assert "refused" not in {x["verdict"] for x in lines}' --confounded build
}

@test "what is compared on some problems is not said to be compared on none: shares counts those that are refused" {
    drawn --set 'problems=["gaussian(n=40, d=4)", "clusters(n=40, d=4, count=4)"]' --set landmarks=8
    py change_build "$WORK/r/results.sqlite" 'clusters%'
    lines 'assert {x["pairs"] for x in lines if "kmeans" in x["method"]} == {8}'
    "$NYSBENCH" table "$WORK/r" shares 2>/dev/null >"$WORK/shares"
    quoted '^kmeans is .*' "$WORK/shares"
    warned plot "$WORK/r" forest
}

@test "a trial that failures or --where leave alone stands for itself, not for all" {
    drawn
    py fail_trials "$WORK/r/results.sqlite"
    lines 'assert {x["pairs"] for x in lines if "kmeans" in x["method"]} == {1}'
    lines 'assert {x["pairs"] for x in lines if "kmeans" in x["method"]} == {1}' --where status=ok
}
