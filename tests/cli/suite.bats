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
    suite --check "$WORK/one.json"
    expect_status 2
    expect "nysbench: error: $WORK/one.json: encoders: number: it says "
    py without_one "$BATS_FILE_TMPDIR/kmeans.json" "$WORK/less.json"
    suite --check "$WORK/less.json"
    expect_status 2
    expect "inputs: ../../../experiments/data/test/minilm-test_bash-reference_n256_L4.safetensors is not there"
    run "$NYSBENCH" suite --small --check "$BATS_FILE_TMPDIR/kmeans.json"
    expect_status 2
    expect "it is of another list of heads than suite 1.0, small form"
}

@test "a share of a result is measured again: errors that nobody has measured are found" {
    suite --check "$BATS_FILE_TMPDIR/kmeans.json" --rerun 0.1
    expect_status 0
    py halve_all "$BATS_FILE_TMPDIR/kmeans.json" "$WORK/better.json"
    suite --check "$WORK/better.json"
    expect_status 0
    suite --check "$WORK/better.json" --rerun 0.1
    expect_status 2
    expect "it says an error of"
    expect "and again it is"
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
    while IFS='|' read -r key value text; do
        py change "$BATS_FILE_TMPDIR/quest.json" "$WORK/other.json" $key "$value"
        suite --check "$WORK/other.json" --rerun 0.1
        expect_status 2
        expect "$WORK/other.json: method: $key: $text"
    done <<EOF
linear|true|it says true, and this program finds: false
linear|null|it says not known, and this program finds: false
linear|7|expected true, false or null
trained|true|it says true, and this program finds: false
trained|null|expected true or false
sees|"all"|this program finds 'earlier'
sees|1|expected 'all' or 'earlier'
oracle|true|this program finds another
tuned|"all"|'all'; expected none, development, test or null
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

@test "a label stands for all sizes, and names the result" {
    suite 'longformer(label=mine)' --out "$WORK/out"
    expect_status 0
    grep -q '^  mine  *encoders ' <<<"$output"
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
    local name text
    while IFS='|' read -r name text; do
        suite --plugin "$BATS_FILE_TMPDIR/idle.so" "$name" --out "$WORK/out"
        [ "$status" -eq 2 ] || { echo "$name: exit status $status: $output"; return 1; }
        expect "$text"
        [ ! -e "$WORK/out/$name.json" ] || { echo "$name: a result was written"; return 1; }
    done <<EOF
later|later: minilm, clisp-notes, layer 0: 
idle|idle: minilm, bash-reference, layer 4: it has 
not_finite|not_finite: minilm, bash-reference, layer 4: output: outputs are not finite: \
head 0, token 0, coordinate 1 is nan
looks_ahead|looks_ahead: smollm2, bash-reference, layer 26: causal: it looks ahead under a causal mask: other \
tokens from number 1 on change the output of token 0
crashes|crashes: minilm, bash-reference, layer 4: a pass: killed by signal 6
changes|changes: minilm, bash-reference, layer 4: output: other outputs for the same seed
EOF
    suite --plugin "$BATS_FILE_TMPDIR/idle.so" good --out "$WORK/out"
    expect_status 0
    py check_code "$WORK/out/good.json"
}

@test "a function in a Python file has its number, by its attribute cost; anybody can measure it again" {
    export NYSBENCH_PYTHON=/usr/bin/python3
    suite tests/support/suite/functions.py:first_keys --tuned none --out "$WORK/out"
    expect_status 0
    grep -qE '^  first_keys +encoders ' <<<"$output"
    py check_method "$WORK/out/first_keys.json" counted false
    py check_method "$WORK/out/first_keys.json" linear true
    py check_method "$WORK/out/first_keys.json" references '["none: an example"]'
    suite --check "$WORK/out/first_keys.json" --rerun 0.1
    expect_status 0
    py halve_all "$WORK/out/first_keys.json" "$WORK/better.json"
    suite --check "$WORK/better.json" --rerun 0.1
    expect_status 2
    expect "it says an error of"
}

@test "a function in a Python file that cannot be believed is refused, with the head and the reason" {
    export NYSBENCH_PYTHON=/usr/bin/python3
    local name text
    while IFS='|' read -r name text; do
        suite "tests/support/suite/functions.py:$name" --out "$WORK/out"
        [ "$status" -eq 2 ] || { echo "$name: exit status $status: $output"; return 1; }
        expect "nysbench: error: $text"
        [ ! -e "$WORK/out/$name.json" ] || { echo "$name: a result was written"; return 1; }
    done <<EOF
not_finite|not_finite: minilm, bash-reference, layer 4: output: outputs are not finite: \
head 0, token 5, coordinate 3 is nan
changes|changes: minilm, bash-reference, layer 4: output: other outputs for the same seed
looks_ahead|looks_ahead: smollm2, bash-reference, layer 26: causal: it looks ahead under a causal mask: other \
tokens from number 1 on change the output of token 0
idle|idle: minilm, bash-reference, layer 4: it has 512 multiplications, fewer than one for each of the
dear|dear: by cost= no size has at most 1/4
no_cost|no_cost: the multiplications of a function are not counted, so without cost= it has no number
nobody|tests/support/suite/functions.py: has no function nobody
EOF
    suite tests/support/suite/functions.py:idle kmeans
    expect_status 2
    expect "expected it alone, and there are 2 methods"
    suite kmeans --reference "a paper"
    expect_status 2
    expect "kmeans has references of its own"
}

@test "bad input" {
    local words text
    py other_digest $TINY "$WORK/other.json"
    echo '{"suite": "1"}' >"$WORK/none.json"
    echo '{"a": 1, "a": 2}' >"$WORK/twice.json"
    py tell "$WORK/many.json" 4000000000 minilm
    py tell "$WORK/few.json" 1000 minilm
    py tell "$WORK/unknown.json" 1000 gpt
    while IFS='|' read -r words text; do
        # shellcheck disable=SC2086
        run "$NYSBENCH" suite $words --out "$WORK/out"
        [ "$status" -eq 2 ] || { echo "$words: exit status $status: $output"; return 1; }
        expect "$text"
    done <<EOF
kmeans|suite: --small takes the list that comes with the program, --list FILE another one: use one of them
--small --rerun 0.1 kmeans|suite: --rerun measures a result again: --check names it
--small --check x.json kmeans|suite: expected methods, or --check FILE, and not both
--small kmaens|no attention or strategy 'kmaens'
--small longformer(window=3)|longformer(window=3): the suite chooses window by the number of multiplications: \
leave it out
--small longformer(globl=3)|longformer has no option 'globl'
--small --declare linear=true kmeans|--declare linear=true: the program knows this of kmeans: leave it out
--small --declare trained=true kmeans|--declare trained=true: the program knows this of kmeans: leave it out
--small --declare linear kmeans|--declare linear: expected linear or trained, = and true or false
--small --declare linea=true kmeans|--declare linea=true: expected linear or trained, = and true or false
--small --tuned all kmeans|--tuned all is unknown; allowed: none, development, test
--small --check $WORK/no.json|error: $WORK/no.json: cannot be opened: No such file or directory
--small --check $WORK/twice.json|$WORK/twice.json:1: duplicate object key
--small command(run="true")|so its multiplications are not counted and it has no number
--list $WORK/none.json kmeans|$WORK/none.json: expected 'form', a text, in each object
--list $TINY --sizes $WORK/none.json kmeans|expected a list of objects with model, share, attention and multiplications
--list $TINY --sizes $WORK/many.json longformer|multiplications are more than 1/4 of exact attention's
--list $TINY --sizes $WORK/few.json longformer|fewer than one for each of the
--list $TINY --sizes $WORK/unknown.json longformer|the suite has no 'gpt'
EOF
    run "$NYSBENCH" suite --list "$WORK/other.json" kmeans --out "$WORK/out"
    expect_status 2
    expect "minilm-test_bash-reference_n256_L4.safetensors: its SHA-256 begins with"
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
    suite --damage "$(served)" "$WORK/kmeans.json" "$WORK/quest.json"
    expect_status 0
    grep -qE '^  kmeans +encoders +[0-9.]+ +\[[0-9.]+, [0-9.]+\] +- +-$' <<<"$output"
    grep -qE '^  quest +decoders +-?[0-9.]+ +\[' <<<"$output"
    py check_damage "$WORK/kmeans.json" "$WORK/kmeans/damage-encoders" encoders false
    py check_damage "$WORK/quest.json" "$WORK/quest/damage-decoders" decoders true
    py check_untouched "$WORK/kmeans.json" "$BATS_FILE_TMPDIR/kmeans.json"
    suite --check "$WORK/kmeans.json" --rerun 0.1
    expect_status 0
    while IFS='|' read -r keys value text; do
        py change_block "$WORK/kmeans.json" "$WORK/other.json" damage "$keys" "$value"
        suite --check "$WORK/other.json"
        expect_status 2
        expect "$WORK/other.json: damage$text"
    done <<EOF
tracks.0.sources.1.value|0.1|: encoders: value: it says
tracks.0.high|9|: encoders: high: it says 9, and its errors give
tracks.0.value|null|: encoders: value: it says nan
tracks.0.sources.1.value|null|: encoders: sources[1]: value: expected a number
tracks.0.sources.0.source|"text 5"|: encoders: sources[0]: source: expected 'text 1'
tracks.0.sources|[]|: encoders: sources: expected 3
tracks.0.attention|"kmeans"|: encoders: attention: it is not that of minilm at 1/8
tracks.0.track|"decoders"|[0]: track: expected one that the method is in
EOF
}

@test "a program that does not serve the suite's model is refused" {
    cp "$BATS_FILE_TMPDIR/kmeans.json" "$WORK"
    suite --damage "$(served) causal" "$WORK/kmeans.json"
    expect_status 2
    expect "it is causal, and the encoders are not"
    sed 's/"text 4"/"text 9"/' $TINY | sed "s|\.\./\.\./\.\.|$PWD|" >"$WORK/list.json"
    run "$NYSBENCH" suite --list "$WORK/list.json" kmeans --damage "$(served)" --out "$WORK/out"
    expect_status 2
    expect "it has no source 'text 9', on which the suite measures damage"
    sed 's/"model_error"/"error"/' $TINY | sed "s|\.\./\.\./\.\.|$PWD|" >"$WORK/list.json"
    run "$NYSBENCH" suite --list "$WORK/list.json" kmeans --damage "$(served)" --out "$WORK/out"
    expect_status 2
    expect "a program that serves models tells no 'error'"
    suite --damage "$(served) without=model_error" "$WORK/kmeans.json"
    expect_status 1
    expect "it tells no model_error"
    suite --damage false "$WORK/kmeans.json"
    expect_status 1
    py check_untouched "$WORK/kmeans.json" "$BATS_FILE_TMPDIR/kmeans.json"
    suite --check "$WORK/kmeans.json" --timed
    expect_status 2
    expect "--check FILE measures nothing"
    suite "$WORK/kmeans.json"
    expect_status 2
    expect "expected a method; to a result, --damage PROGRAM and --timed add what they measure"
}

@test "a method is timed beside exact attention on the same head in the same run" {
    suite kmeans --timed --out "$WORK/out"
    expect_status 0
    grep -qE '^  kmeans +encoders +- +- +[0-9.]+ ' <<<"$output"
    py check_times "$WORK/out/kmeans.json" "$WORK/out/kmeans/timed"
    while IFS='|' read -r keys value text; do
        py change_block "$WORK/out/kmeans.json" "$WORK/other.json" timed "$keys" "$value"
        suite --check "$WORK/other.json"
        expect_status 2
        expect "$WORK/other.json: timed: $text"
    done <<EOF
models.0.exact_s|7|ratio: it says
models.0.times.1.seconds|-1|minilm: seconds: expected a number above 0
models.0.times.1.share|5|minilm: share: expected 4, 8, 16, 32 or null
models.0.times.1.attention|"kmeans"|minilm: attention: it is not that of the settings at 1/8
tracks.0.disturbed|not|encoders: disturbed: its loads say otherwise
models.0.model|"gpt"|models[0]: model: the suite has no 'gpt'
tracks|[]|tracks[0]: track: expected 'encoders'
device|null|device: expected a text
EOF
}

@test "a method without a count is timed, and has no number" {
    export NYSBENCH_PYTHON=/usr/bin/python3
    suite tests/support/suite/functions.py:no_cost --timed --out "$WORK/out"
    expect_status 0
    expect "its multiplications are not counted"
    py check_uncounted "$WORK/out/no_cost.json" 0
    suite --check "$WORK/out/no_cost.json"
    expect_status 0
    suite tests/support/suite/functions.py:not_finite --timed --out "$WORK/out"
    expect_status 2
}

@test "what is handed in is checked by one script: components, functions, results" {
    printf \
        'import numpy as np\n\n\ndef mean(q, k, v):\n    return np.broadcast_to(v.mean(1, keepdims=True), v.shape)\n' \
        >"$WORK/mine.py"
    export NYSBENCH_PYTHON=/usr/bin/python3
    LIST=$TINY run tests/submission.sh strategies/uniform.c "$WORK/mine.py" "$BATS_FILE_TMPDIR/kmeans.json"
    expect_status 0
    expect "check uniform"
    expect "check $WORK/mine.py:mean"
    expect "--check $BATS_FILE_TMPDIR/kmeans.json --rerun 0.1"
    expect "4 checks, 0 wrong"
    suite tests/support/suite/functions.py:first_keys --out "$WORK"
    LIST=$TINY run tests/submission.sh "$WORK/first_keys.json"
    expect_status 0
    expect "--check $WORK/first_keys.json --rerun 0.1"
    py halve_all "$BATS_FILE_TMPDIR/kmeans.json" "$WORK/better.json"
    LIST=$TINY run tests/submission.sh "$WORK/better.json"
    expect_status 1
    expect "2 checks, 1 wrong"
    expect "it says an error of"
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
    expect "2 checks, 0 wrong"
    run "$repository/tests/submission.sh" --since HEAD
    expect_status 0
    expect "0 checks, 0 wrong"
    run "$repository/tests/submission.sh" --since nothing
    expect_status 2
}
