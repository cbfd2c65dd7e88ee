# SPDX-License-Identifier: GPL-3.0-or-later
# nysbench suite: results that are checked and measured again, what is refused, and the shipped list. That the number is
# that of docs/suite.md is tests/oracle/suite.py's.

load helpers

TINY=tests/support/suite/tiny.json

setup_file() {
    setup
    "$NYSBENCH" suite --list $TINY kmeans quest --tuned development --out "$BATS_FILE_TMPDIR" >/dev/null 2>&1
    cc -std=c11 -D_GNU_SOURCE -I. -Isrc -Istrategies -shared -fPIC tests/cli/plugins/idle.c \
        -o "$BATS_FILE_TMPDIR/idle.so"
    teardown
}

suite() {
    run "$NYSBENCH" suite --list $TINY "$@"
}

# What suite says of a method or a result that it refuses is golden, but for the numbers that it finds, and for the head
# that it draws to measure again.
refused() {
    suite "$@"
    [ "$status" -eq 2 ] || { echo "$*: exit status $status: $output"; return 1; }
    output=$(sed -E -e 's/(says|give|error of|again it is) -?[0-9][0-9.e+-]*/\1 #/g; /^rows: /d' \
        -e 's/[a-z0-9]+, [a-z0-9-]+, layer [0-9]+ at [0-9/]+: it says/HEAD: it says/' <<<"$output") \
        tell nysbench suite --list $TINY "$@"
}

@test "a method has its number, curve and reasons; a strategy stands in nystrom" {
    facts of '
(kmeans,) = (t for t in x["tracks"] if t["track"] == "encoders")
assert kmeans["low"] < kmeans["number"] < kmeans["high"] and len(kmeans["shares"]) == 4, kmeans
assert [t["absent"] for t in x["tracks"]] == [None, "it has no causal form"], x["tracks"]
assert {s["attention"].partition("(")[0] for s in x["settings"]} == {"nystrom"}, x["settings"]' \
        <"$BATS_FILE_TMPDIR/kmeans.json"
    facts of '
assert [t["number"] is None for t in x["tracks"]] == [True, False], x["tracks"]
assert [s["share"] for s in x["settings"] if s["refused"]] == [32], x["settings"]
assert len([i for i in x["inputs"] if i.get("refused")]) == 3, x["inputs"]
assert x["method"]["tuned"] == "development", x["method"]' <"$BATS_FILE_TMPDIR/quest.json"
}

@test "a result is checked: what it says is what its errors say" {
    suite --check "$BATS_FILE_TMPDIR/kmeans.json" --format csv
    expect_status 0
    expect "kmeans,encoders,"
    py halve_one "$BATS_FILE_TMPDIR/kmeans.json" "$WORK/one.json"
    refused --check "$WORK/one.json"
    py without_one "$BATS_FILE_TMPDIR/kmeans.json" "$WORK/less.json"
    refused --check "$WORK/less.json"
    told suite --small --check "$BATS_FILE_TMPDIR/kmeans.json"
    expect_status 2
}

@test "a share of a result is measured again: errors that nobody has measured are found" {
    suite --check "$BATS_FILE_TMPDIR/kmeans.json" --rerun 0.1
    expect_status 0
    py halve_all "$BATS_FILE_TMPDIR/kmeans.json" "$WORK/better.json"
    suite --check "$WORK/better.json"
    expect_status 0
    refused --check "$WORK/better.json" --rerun 0.1
}

@test "a result says whether the cost is linear and which tokens it needs; measuring it again finds other words" {
    local key value
    while read -r key value; do
        py check_method "$BATS_FILE_TMPDIR/kmeans.json" $key "$value"
    done <<EOF
linear true
trained false
sees "all"
declared []
EOF
    py check_method "$BATS_FILE_TMPDIR/quest.json" linear false
    py check_method "$BATS_FILE_TMPDIR/quest.json" sees '"earlier"'
    while read -r key value; do
        py change "$BATS_FILE_TMPDIR/quest.json" "$WORK/other.json" $key "$value"
        refused --check "$WORK/other.json" --rerun 0.1
    done <<EOF
linear true
linear null
linear 7
trained true
trained null
sees "all"
sees 1
oracle true
tuned "all"
EOF
}

@test "the growth of the cost is that of strategies too, however deep they stand" {
    local text name linear
    while IFS='|' read -r text name linear; do
        suite --plugin "$BATS_FILE_TMPDIR/idle.so" "$text" --out "$WORK/out"
        [ "$status" -eq 0 ] || { echo "$text: exit status $status: $output"; return 1; }
        py check_method "$WORK/out/$name.json" linear "$linear"
    done <<EOF
all_pairs|all_pairs|false
first|first|null
nystrom(strategy=all_pairs, core=fitted)|nystrom_strategy_all_pairs_core_fitted|false
nystrom(strategy=subsample(of=all_pairs, tokens=64))|nystrom_strategy_subsample_of_all_pairs_tokens_64|true
uniform|uniform|true
EOF
}

# What suite writes is of this method alone, which has a number of the encoders: numbered METHOD ARGUMENT...
numbered() {
    of_json "assert {r['method'] for r in x} == {'$1'} and x[0]['track'] == 'encoders' and x[0]['number'], x" \
        "$NYSBENCH" suite --list $TINY "${@:2}"
}

@test "a label stands for all sizes, and names the result" {
    numbered mine 'longformer(label=mine)' --out "$WORK/out"
    suite longformer --out "$WORK/out"
    py same_numbers "$WORK/out/mine.json" "$WORK/out/longformer.json"
}

@test "what the program cannot know is declared" {
    suite 'nystrom(core=fitted)' --out "$WORK/out"
    expect_status 0
    py check_method "$WORK/out/nystrom_core_fitted.json" linear null
    suite 'nystrom(core=fitted)' --declare linear=true --out "$WORK/out"
    expect_status 0
    py check_method "$WORK/out/nystrom_core_fitted.json" linear true
    py check_method "$WORK/out/nystrom_core_fitted.json" declared '["linear"]'
    suite --check "$WORK/out/nystrom_core_fitted.json" --rerun 0.1
    expect_status 0
}

@test "what cannot be believed is refused, with the head and the reason" {
    local name
    for name in later idle not_finite looks_ahead crashes changes; do
        refused --plugin "$BATS_FILE_TMPDIR/idle.so" "$name" --out "$WORK/out"
        [ ! -e "$WORK/out/$name.json" ] || { echo "$name: a result was written"; return 1; }
    done
    suite --plugin "$BATS_FILE_TMPDIR/idle.so" good --out "$WORK/out"
    expect_status 0
    py check_code "$WORK/out/good.json"
}

@test "a function in a Python file has its number, by its attribute cost; anybody can measure it again" {
    export NYSBENCH_PYTHON=/usr/bin/python3
    numbered first_keys tests/support/suite/functions.py:first_keys --tuned none --out "$WORK/out"
    py check_method "$WORK/out/first_keys.json" counted false
    py check_method "$WORK/out/first_keys.json" linear true
    py check_method "$WORK/out/first_keys.json" references '["none: an example"]'
    suite --check "$WORK/out/first_keys.json" --rerun 0.1
    expect_status 0
    py halve_all "$WORK/out/first_keys.json" "$WORK/better.json"
    refused --check "$WORK/better.json" --rerun 0.1
}

@test "a function in a Python file that cannot be believed is refused, with the head and the reason" {
    export NYSBENCH_PYTHON=/usr/bin/python3
    local name
    for name in not_finite changes looks_ahead idle dear no_cost picks nobody; do
        refused "tests/support/suite/functions.py:$name" --out "$WORK/out"
        [ ! -e "$WORK/out/$name.json" ] || { echo "$name: a result was written"; return 1; }
    done
    refused tests/support/suite/functions.py:idle kmeans
    refused kmeans --reference "a paper"
}

@test "bad input" {
    local words
    py other_digest $TINY "$WORK/other.json"
    echo '{"suite": "1"}' >"$WORK/none.json"
    echo '{"a": 1, "a": 2}' >"$WORK/twice.json"
    py tell "$WORK/many.json" 4000000000 minilm
    py tell "$WORK/few.json" 1000 minilm
    py tell "$WORK/unknown.json" 1000 gpt
    while read -r words; do
        # shellcheck disable=SC2086
        told suite $words --out "$WORK/out"
        [ "$status" -eq 2 ] || { echo "$words: exit status $status: $output"; return 1; }
    done <<EOF
kmeans
--small --rerun 0.1 kmeans
--small --check x.json kmeans
--small kmaens
--small longformer(window=3)
--small longformer(globl=3)
--small --declare linear=true kmeans
--small --declare trained=true kmeans
--small --declare linear kmeans
--small --declare linea=true kmeans
--small --tuned all kmeans
--small --check $WORK/no.json
--small --check $WORK/twice.json
--small command(run="true")
--small nystrom(strategy=subsample(of=command(run="true")))
--list $WORK/none.json kmeans
--list $TINY --sizes $WORK/none.json kmeans
--list $TINY --sizes $WORK/many.json longformer
--list $TINY --sizes $WORK/few.json longformer
--list $TINY --sizes $WORK/unknown.json longformer
EOF
    told suite --list "$WORK/other.json" kmeans --out "$WORK/out"
    expect_status 2
}

@test "a method that is dear at its least sizes too has a size" {
    # a Monarch matrix with blocks of one token is S itself; 38 is the largest block of a quarter of its cost
    py few_inputs experiments/suite/small.json minilm 3 "$WORK/few.json"
    run "$NYSBENCH" suite --list "$WORK/few.json" monarch --out "$WORK"
    expect_status 0
    py check_settled "$WORK/monarch.json" 4 "monarch(block=38, steps=2)"
}

@test "multiplications may be told; the result says so" {
    py tell "$WORK/told.json" 8000000 minilm vit
    suite --sizes "$WORK/told.json" longformer --out "$WORK/out"
    expect_status 0
    py check_told "$WORK/out/longformer.json"
    suite --check "$WORK/out/longformer.json" --rerun 0.1
    expect_status 0
}

@test "a suite that was killed goes on, and has the result of one that was not" {
    local try=1
    until py kill_midway "$NYSBENCH" $TINY "$WORK/out$try" "$BATS_FILE_TMPDIR"; do
        [ $try -lt 8 ] || { echo "the suite ended before it was killed, $try times"; return 1; }
        try=$((try + 1))
    done
    suite kmeans --tuned development --out "$WORK/out$try"
    expect_status 0
    py same "$WORK/out$try/kmeans.json" "$BATS_FILE_TMPDIR/kmeans.json"
}

@test "the results in the tree are what their errors say, of one version and clean builds, and small" {
    local file form count=0
    for form in small whole; do
        for file in $(echo "results/suite-$form/*.json" | sed s/-small//); do
            run "$NYSBENCH" suite --list experiments/suite/$form.json --check "$file"
            expect_status 0
            [ "$(stat -c %s "$file")" -lt 300000 ]
            py check_clean "$file"
            count=$((count + 1))
        done
    done
    [ $count -ge 70 ]
}

served() {
    printf '%s' "/usr/bin/python3 $PWD/tests/support/tiny_model.py $(readlink -f "$NYSBENCH")"
}

@test "the damage to a model of each track is added to a result, and computed again from its sources" {
    cp "$BATS_FILE_TMPDIR/kmeans.json" "$BATS_FILE_TMPDIR/quest.json" "$WORK"
    of_json '
damage = {(r["method"], r["track"]): r["damage"] for r in x if r["damage"] is not None}
assert {*damage} == {("kmeans", "encoders"), ("quest", "decoders")} and damage["kmeans", "encoders"] > 0, x
assert all(r["damage"] is None or r["damage_low"] < r["damage"] < r["damage_high"] for r in x), x' \
        "$NYSBENCH" suite --list $TINY --damage "$(served)" "$WORK/kmeans.json" "$WORK/quest.json"
    py check_damage "$WORK/kmeans.json" "$WORK/kmeans/damage-encoders" encoders false
    py check_damage "$WORK/quest.json" "$WORK/quest/damage-decoders" decoders true
    py check_untouched "$WORK/kmeans.json" "$BATS_FILE_TMPDIR/kmeans.json"
    suite --check "$WORK/kmeans.json" --rerun 0.1
    expect_status 0
    while IFS='|' read -r keys value; do
        py change_block "$WORK/kmeans.json" "$WORK/other.json" damage "$keys" "$value"
        refused --check "$WORK/other.json"
    done <<EOF
tracks.0.sources.1.value|0.1
tracks.0.high|9
tracks.0.value|null
tracks.0.sources.1.value|null
tracks.0.sources.0.source|"text 5"
tracks.0.sources|[]
tracks.0.attention|"kmeans"
tracks.0.track|"decoders"
EOF
}

@test "a program that does not serve the suite's model is refused" {
    cp "$BATS_FILE_TMPDIR/kmeans.json" "$WORK"
    refused --damage "$(served) causal" "$WORK/kmeans.json"
    sed 's/"text 4"/"text 9"/' $TINY | sed "s|\.\./\.\./\.\.|$PWD|" >"$WORK/list.json"
    told suite --list "$WORK/list.json" kmeans --damage "$(served)" --out "$WORK/out"
    expect_status 2
    sed 's/"model_error"/"error"/' $TINY | sed "s|\.\./\.\./\.\.|$PWD|" >"$WORK/list.json"
    told suite --list "$WORK/list.json" kmeans --damage "$(served)" --out "$WORK/out"
    expect_status 2
    told suite --list $TINY --damage "$(served) without=model_error" "$WORK/kmeans.json"
    expect_status 1
    suite --damage false "$WORK/kmeans.json"
    expect_status 1
    py check_untouched "$WORK/kmeans.json" "$BATS_FILE_TMPDIR/kmeans.json"
    refused --check "$WORK/kmeans.json" --timed
    refused "$WORK/kmeans.json"
}

@test "a method is timed beside exact attention on the same head in the same run" {
    of_json 'assert [(r["damage"], (r["time"] or 0) > 0) for r in x] == [(None, True), (None, False)], x' \
        "$NYSBENCH" suite --list $TINY kmeans --timed --out "$WORK/out"
    py check_times "$WORK/out/kmeans.json" "$WORK/out/kmeans/timed"
    while IFS='|' read -r keys value; do
        py change_block "$WORK/out/kmeans.json" "$WORK/other.json" timed "$keys" "$value"
        refused --check "$WORK/other.json"
    done <<EOF
models.0.exact_s|7
models.0.times.1.seconds|-1
models.0.times.1.share|5
models.0.times.1.attention|"kmeans"
tracks.0.disturbed|not
models.0.model|"gpt"
tracks|[]
device|null
EOF
}

@test "a method without a count is timed, and has no number" {
    export NYSBENCH_PYTHON=/usr/bin/python3
    suite tests/support/suite/functions.py:no_cost --timed --out "$WORK/out"
    expect_status 0
    output=$(grep ' is not among ' <<<"$output") tell nysbench suite no_cost --timed
    py check_uncounted "$WORK/out/no_cost.json" 0
    suite --check "$WORK/out/no_cost.json"
    expect_status 0
    refused tests/support/suite/functions.py:not_finite --timed --out "$WORK/out"
}

@test "what is handed in is checked by one script: components, functions, results" {
    printf \
        'import numpy as np\n\n\ndef mean(q, k, v):\n    return np.broadcast_to(v.mean(1, keepdims=True), v.shape)\n' \
        >"$WORK/mine.py"
    export NYSBENCH_PYTHON=/usr/bin/python3
    LIST=$TINY run tests/submission.sh strategies/uniform.c "$WORK/mine.py" "$BATS_FILE_TMPDIR/kmeans.json"
    expect_status 0
    expect "check uniform" # NOLINT(wording): a command
    expect "check $WORK/mine.py:mean"
    expect "--check $BATS_FILE_TMPDIR/kmeans.json --rerun 0.1"
    output=$(tail -n 1 <<<"$output") tell tests/submission.sh
    suite tests/support/suite/functions.py:first_keys --out "$WORK"
    LIST=$TINY run tests/submission.sh "$WORK/first_keys.json"
    expect_status 0
    expect "--check $WORK/first_keys.json --rerun 0.1"
    py halve_all "$BATS_FILE_TMPDIR/kmeans.json" "$WORK/better.json"
    LIST=$TINY run tests/submission.sh "$WORK/better.json"
    expect_status 1
    output=$(tail -n 1 <<<"$output") tell tests/submission.sh "$WORK/better.json"
    run tests/submission.sh
    expect_status 2
}

@test "what commits add or change is found, and nothing else is checked" {
    local repository="$WORK/repository" git=(git -C "$WORK/repository" -c user.name=a -c user.email=a@b)
    mkdir -p "$repository/tests" "$repository/results/suite"
    cp tests/submission.sh "$repository/tests"
    cp "$BATS_FILE_TMPDIR/quest.json" "$repository/results/suite"
    git init -q "$repository"
    "${git[@]}" add -A && "${git[@]}" commit -qm before
    cp "$BATS_FILE_TMPDIR/kmeans.json" "$repository/results/suite"
    rm "$repository/results/suite/quest.json"
    "${git[@]}" add -A && "${git[@]}" commit -qm after
    LIST=$PWD/$TINY NYSBENCH=$(realpath "$NYSBENCH") run "$repository/tests/submission.sh" --since HEAD~1
    expect_status 0
    expect "--check results/suite/kmeans.json --rerun 0.1"
    output=$(tail -n 1 <<<"$output") tell tests/submission.sh --since HEAD~1
    run "$repository/tests/submission.sh" --since HEAD
    expect_status 0
    output=$(tail -n 1 <<<"$output") tell tests/submission.sh --since HEAD
    run "$repository/tests/submission.sh" --since nothing
    expect_status 2
}

@test "git leaves alone what is written beside the results that come with the program" {
    local git=(git -C "$WORK/repository") folder
    git init -q "$WORK/repository"
    cp .gitignore "$WORK/repository"
    for folder in suite suite-whole; do
        mkdir -p "$WORK/repository/results/$folder/mine"
        touch "$WORK/repository/results/$folder"/{mine.json,mine/rows.csv}
    done
    [ "$("${git[@]}" status --porcelain --untracked-files=all)" = "?? .gitignore" ]
    "${git[@]}" add --force results/suite/mine.json # as docs/CONTRIBUTING.md says
    [ "$("${git[@]}" status --porcelain --untracked-files=no)" = "A  results/suite/mine.json" ]
}
