# SPDX-License-Identifier: GPL-3.0-or-later
# The effect study, and the problem `live_model`: on a random transformer in NumPy (tiny_model.py), whose program
# computes
# replaced attention by `nysbench forward`, and where numbers do not matter on a program without a model
# (stub_model.py). tests/oracle/effect.py has the numbers.

load helpers

PYTHON=/usr/bin/python3

# A run of the program, for a config: tiny [ARGUMENT...]
tiny() {
    [ -e "$WORK/tiny_model.py" ] || cp tests/support/tiny_model.py "$WORK"
    printf '%s' "$PYTHON $WORK/tiny_model.py $(readlink -f "$NYSBENCH")${*:+ $*}"
}

# The same of the program that computes nothing: stub [ARGUMENT...]
stub() {
    [ -e "$WORK/stub_model.py" ] || cp tests/support/stub_model.py "$WORK"
    printf '%s' "$PYTHON $WORK/stub_model.py${*:+ $*}"
}

study() { # RUN MORE-LINES
    cat >"$WORK/e.yaml" <<YAML
study: effect
problems: ['live_model(run="$1", layers=[1, half], source=[0, 3])']
attentions: [streamed, "nystrom(strategy=[segment_means, uniform], landmarks=[4, 6], core=tikhonov)",
             longformer(window=6)]
trials: 2
plots: []
$2
YAML
}

# The rows without the experiment's name and the column that holds a time.
rows_of() {
    py rows_of_run "$1"
}

# Rows by attention's name: "streamed 8 ok", sorted.
outcomes() {
    py count_outcomes "$1" | tr " " , | paste -sd :
}

@test "rows are the same whatever the workers, the part that is run first, shards, or a kill" {
    study "$(stub)"
    expect_plan 'scenes=4 methods=6 rows=32' "$WORK/e.yaml"
    sed -i 's/source=\[0, 3\]/source=3/' "$WORK/e.yaml"
    run "$NYSBENCH" run "$WORK/e.yaml" -j 0 -o "$WORK/whole"
    expect_status 0
    expect_rows "$WORK/whole" "16 ok"
    of_json 'nystrom, *more = {r["baseline"] for r in x}
assert not more and "landmarks=4," in nystrom and "core=tikhonov" in nystrom, nystrom
assert {r["metric"] for r in x} == {"model_error"} and {r["by"] for r in x} == {"attention"}' \
        "$NYSBENCH" compare "$WORK/whole"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --only "landmarks=4"
    expect_status 0
    expect_rows "$WORK/r" "6 ok, 10 planned"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r"
    expect_status 0
    diff <(rows_of "$WORK/whole/rows.csv") <(rows_of "$WORK/r/rows.csv")
    for shard in 1/2 2/2; do "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/s" --shard $shard; done
    run "$NYSBENCH" merge "$WORK/s" -q --programs
    expect_status 0
    diff <(rows_of "$WORK/whole/rows.csv") <(rows_of "$WORK/s/rows.csv")
    "$NYSBENCH" run "$WORK/e.yaml" -q -j 1 --set trials=1000 -o "$WORK/k" >"$WORK/out" 2>&1 &
    until_true test -s "$WORK/k/results.sqlite"
    kill -KILL $!
    expect_end $! 137
    run "$NYSBENCH" run "$WORK/whole/resolved.yaml" -q -j 2 -o "$WORK/k"
    expect_status 0
    diff <(rows_of "$WORK/whole/rows.csv") <(rows_of "$WORK/k/rows.csv")
}

@test "the program that planning asks has ended when a worker asks its own" {
    cp tests/support/tiny_model.py "$WORK"
    cp "$REPOSITORY/tests/cli/plugins/counted.py" "$WORK/counted.py"
    study "$PYTHON $WORK/counted.py $(readlink -f "$NYSBENCH")"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 1 -o "$WORK/r" --only 'landmarks=0'
    expect_status 0
    [ "$(wc -l <"$WORK/starts")" -eq 2 ]
    [ "$(sort -u "$WORK/alive")" = 1 ]
}

@test "nothing is left of the programs when the run ends, or is killed" {
    study "$(stub)"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --only "landmarks=0"
    expect_status 0
    ! pgrep -f "$WORK/stub_model.py" || return 1
    "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 --set trials=1000 -o "$WORK/r" >"$WORK/out" 2>&1 &
    local pid=$!
    until_true eval '[ "$(pgrep -cf "$WORK/stub_model.py")" -ge 2 ]'
    kill -KILL $pid
    expect_end $pid 137
    until_true eval '! pgrep -f "$WORK/stub_model.py" >/dev/null'
}

@test "a row has its model, layers, source and landmarks; exact attention has no effect" {
    study "$(tiny)"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --set trials=1
    expect_status 0
    py check_rows "$WORK/r/rows.csv"
}

@test "claims correlate errors with effects, each number of landmarks and layers; compare takes sources as units" {
    study "$(stub)" "claims:
  - says: errors tell effects
    id: tells
    correlate: {over: attention, metrics: [error, model_error], where: {attention: nystrom}}
    expect: {correlation: [-1, 1]}
    each: [model, layer, landmarks, core]
  - says: exact attention has no effect
    measure: {metric: model_error, where: {attention: streamed}}
    expect: {value: [0, 1e-5]}"
    sed -i 's/strategy=\[segment_means, uniform\]/strategy=[segment_means, uniform, kmeans]/' "$WORK/e.yaml"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --set trials=1
    expect_status 0
    output=$(of_json 'print(*(part["part"] for claim in x for part in claim["parts"]), sep="\n")' \
        "$NYSBENCH" claims "$WORK/r") tell nysbench claims "$WORK/r" --format json
    of_json 'assert {r["sources"] for r in x if r["model"] == "all" and r["ratio"]} == {2}, x' \
        "$NYSBENCH" compare "$WORK/r" --by attention --baseline "longformer(window=6)" --metric model_error
    "$NYSBENCH" report "$WORK/r" -o "$WORK/r.html" >/dev/null # tables of claims and of the study side by side
    "$NYSBENCH" table "$WORK/r" predictors --format csv | cmp - "$WORK/r/predictors.csv"
    "$NYSBENCH" table "$WORK/r" effects --format csv | cmp - "$WORK/r/effects.csv"
    # a column that identifies no row
    of_json 'assert x and all("kmeans" in str(r) and "segment_means" not in str(r) for r in x), x' \
        "$NYSBENCH" table "$WORK/r" effects --where strategy=kmeans
    run "$NYSBENCH" plot "$WORK/r" effect
    expect_status 0
    [ -s "$WORK/r/plots/effect_output_error.svg" ]
    looks() { sed -n 's/^array looks.* = //p' "$WORK/r/plots/$1/effect_output_error.gp"; }
    [ "$(looks .)" = "[1, 2, 3, 4, 5]" ]
    "$NYSBENCH" plot "$WORK/r" effect --where strategy=kmeans >/dev/null
    [ "$(looks selected)" = "[4]" ]
}

@test "an interrupt keeps the rows of the layer at hand that have been measured, and the same command goes on" {
    local pid args=("$WORK/e.yaml" -q -j 1 -o "$WORK/r" --set trials=1
        --set "problems=live_model(run=\"$(stub longformer=once)\", layers=1)"
        --set 'attentions=[streamed, performer, longformer(window=6)]')
    study "$(stub)"
    setsid "$NYSBENCH" run "${args[@]}" >"$WORK/log" 2>&1 3>&- &
    pid=$!
    until_true [ -e "$WORK/hangs" ]
    kill -INT "$pid"
    expect_end "$pid" 130
    [ "$(grep -c ',ok,' "$WORK/r/rows.csv")" -ge 1 ] # those that have waited for 10 ms or more
    "$NYSBENCH" run "${args[@]}"
    expect_rows "$WORK/r" "18 ok"
}

@test "of more than ten methods the figure effect names the eight best, before grey points of the others" {
    undrawn
    study "$(stub)"
    sed -i 's/\(strategy=\[segment_means, uniform\)\]/\1, kmeans, pilot, context, orthogonal, kdpp, dsquared, rplu]/' \
        "$WORK/e.yaml"
    "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --set trials=1 \
        --set 'problems=live_model(run="'"$(stub)"'", layers=1)' >/dev/null
    "$NYSBENCH" plot "$WORK/r" effect >/dev/null
    list() { sed -n "s/^array $1.* = \[\(.*\)\]/\1/p" "$WORK/r/plots/effect_output_error.gp"; }
    [ "$(list styles | tr -d "' " | tr , '\n' | uniq -c | xargs | tr ' ' ,)" = 1,grey,8,cloud ]
    quoted "[^']* others" "$WORK/r/plots/effect_output_error.gp"
    [ "$(list looks | cut -d, -f1)" = 0 ]
    [ "$(sed 's/.*",//' "$WORK/r/plots/effect.csv" | cut -d, -f1 | sort -u | wc -l)" -ge 11 ] # the file has them all
}

@test "a model with sources of two lengths: tables and figures tell them apart, and show n" {
    study "$(stub)"
    sed -i "s|^problems:.*|problems: ['live_model(run=\"$(stub)\", layers=1)', 'live_model(run=\"$(stub \
        length=12)\", layers=1)']|" "$WORK/e.yaml"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --set trials=1 \
        --set 'attentions=[streamed, longformer(window=6)]'
    expect_status 0
    run "$NYSBENCH" plot "$WORK/r" effect
    expect_status 0
    py_tells check_two_lengths "$WORK/r"
}

@test "a causal model with shared keys: perplexity and KL" {
    study "$(tiny causal shared)"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --set trials=1 \
        --set 'attentions=[streamed, "nystrom(strategy=uniform, landmarks=4, core=tikhonov, factors=cur)",
            longformer(window=6)]'
    expect_status 0
    [ "$(outcomes "$WORK/r/rows.csv")" = longformer,4,ok:nystrom,4,ok:streamed,4,ok ]
    py check_causal "$WORK/r/rows.csv"
}

@test "what no model can have is an error before anything runs; what another has is skipped" {
    local refused='nystrom(strategy=uniform, landmarks=4, core=tikhonov)'
    study "$(tiny causal)"
    told run "$WORK/e.yaml" -q -o "$WORK/r" --set trials=1 --set "attentions=[streamed, \"$refused\"]"
    expect_status 2
    [ ! -e "$WORK/r" ]
    told run "$WORK/e.yaml" -q -o "$WORK/r" --set 'attentions=["command(run=\"/bin/true\")"]'
    expect_status 2
    run "$NYSBENCH" plan "$WORK/e.yaml" --set 'attentions=["kernel_ridge(landmarks=25)"]'
    expect_status 2
    cat >"$WORK/e.yaml" <<YAML
study: effect
problems: ['live_model(run="$(tiny causal)", layers=1, source=0)', 'live_model(run="$(tiny)", layers=1, source=0)']
attentions: ["$refused"]
trials: 1
plots: []
YAML
    run "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r"
    expect_status 0
    [ "$(outcomes "$WORK/r/rows.csv")" = nystrom,1,ok:nystrom,1,skipped ]
}

@test "programs and plug-ins as attentions, and as strategies within nystrom, in a config" {
    "$NYSBENCH" new attention mine --out "$WORK/mine"
    build_plugin "$WORK/mine/mine.c" "$WORK/mine.so"
    "$NYSBENCH" new strategy picks --out "$WORK/picks"
    build_plugin "$WORK/picks/picks.c" "$WORK/picks.so"
    cp "$REPOSITORY/tests/cli/plugins/values.py" "$WORK/values.py"
    cp "$REPOSITORY/tests/cli/plugins/first_tokens.py" "$WORK/first.py"
    study "$(tiny)" "plugins: [$WORK/mine.so, $WORK/picks.so]"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --set trials=1 --only head=0 --set "attentions=[mine,
        'command(run=\"$PYTHON $WORK/values.py\", deterministic=true)',
        'nystrom(strategy=picks, landmarks=4, core=tikhonov)',
        'nystrom(strategy=command(run=\"$PYTHON $WORK/first.py\", deterministic=true), landmarks=4, core=tikhonov)']"
    expect_status 0
    [ "$(outcomes "$WORK/r/rows.csv")" = command,2,ok:mine,2,ok:nystrom,4,ok ]
    py check_programs "$WORK/r/rows.csv"
}

@test "a program that raises, dies, hangs, or answers nonsense: its rows fail with the reason, and the run goes on" {
    study "$(stub uniform=raise kmeans=die group_means=text farthest_point=list orthogonal=unknown dsquared=word \
        context=empty)"
    warned run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --set trials=1 --only head=0 \
        --set "attentions=[streamed, longformer(window=6),
        \"nystrom(strategy=[uniform, kmeans, group_means, farthest_point, orthogonal, dsquared, context, segment_means],
            landmarks=4, core=tikhonov)\"]"
    expect_status 1
    py check_faults "$WORK/r/rows.csv"
    reasons "$WORK/r"
}

@test "a program that hangs is ended after its time, and so are the rows of that attention" {
    study "$(stub uniform=hang)"
    sed -i 's/source=/timeout=2, source=/' "$WORK/e.yaml"
    warned run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --set trials=1 --only 'head=0, landmarks=4'
    expect_status 1
    [ "$(outcomes "$WORK/r/rows.csv")" = nystrom,2,failed:nystrom,2,ok ]
}

@test "skipped and diverged, as the program says; heads of other shapes, or none" {
    study "$(stub uniform=skip segment=diverge)"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --set trials=1 --only head=0
    expect_status 1
    output=$(grep -E '^skipped|^nysbench: diverged' <<<"$output") tell nysbench run --only head=0
    [ "$(outcomes "$WORK/r/rows.csv")" = longformer,2,ok:nystrom,4,diverged:nystrom,4,skipped:streamed,2,ok ]
    for fault in short raise die; do
        study "$(stub heads=$fault)"
        run "$NYSBENCH" run "$WORK/e.yaml" -q -j 1 -o "$WORK/$fault" --set trials=1 --only head=0
        expect_status 1
        [ "$(outcomes "$WORK/$fault/rows.csv")" = longformer,2,failed:nystrom,8,failed:streamed,2,failed ]
    done
    for fault in short raise die; do
        output=$(in_store "$WORK/$fault" "SELECT DISTINCT reason FROM results WHERE reason <> ''") tell heads=$fault
    done
}

@test "an attention whose outputs are not finite is named, with the first of these, and its rows alone diverge" {
    build_plugin tests/cli/plugins/fragile.c "$WORK/fragile.so"
    study "$(stub)" "plugins: [$WORK/fragile.so]"
    warned run "$WORK/e.yaml" -q -j 1 -o "$WORK/r" --set trials=1 --only head=0 \
        --set 'attentions=[streamed, fragile, "fragile(ends=nans, label=broken)"]'
    expect_status 1
    [ "$(outcomes "$WORK/r/rows.csv")" = fragile,2,diverged:fragile,2,ok:streamed,2,ok ]
}

@test "what metrics does not ask for is not measured, and without errors of heads the program is not asked for any" {
    study "$(stub heads=none)" "metrics: [model_error, kl]"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/none"
    expect_status 0
    expect_rows "$WORK/none" "32 ok"
    sed -i 's/ heads=none//' "$WORK/e.yaml"
    for asked in model_error error output_error all; do
        run "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r" --set "metrics=$asked"
        expect_status 0
        expect_rows "$WORK/r" "32 ok"
        py check_metrics "$WORK/r/rows.csv" $asked
    done
}

@test "heads that cannot be had: the reason does not name their file, which is another each time" {
    local fault reason
    while IFS='|' read -r fault reason; do
        study "$(stub heads=$fault)"
        "$NYSBENCH" run "$WORK/e.yaml" -q -j 1 -o "$WORK/$fault" --set trials=1 \
            --set attentions=streamed >"$WORK/out" 2>&1 || [ $? -eq 1 ]
        cat >"$WORK/s.yaml" <<YAML
problems: ['live_model(run="$(stub heads=$fault)", layers=[0, 1])']
strategies: uniform
landmarks: 4
cores: svd
trials: 1
plots: []
YAML
        "$NYSBENCH" run "$WORK/s.yaml" -q -j 1 -o "$WORK/$fault-heads" >"$WORK/out" 2>&1 || [ $? -eq 1 ]
        py check_reasons "$WORK/$fault" "$reason"
    done <<EOF
none|./heads.safetensors: 
told|RuntimeError: no room for ./heads.safetensors
nan|./heads.safetensors: 
EOF
}

@test "a file system for temporary files without room for the heads of a model: no row is failed" {
    [ "$(id -u)" = 0 ] || skip "only root can mount a tmpfs"
    study "$(stub)" "metrics: [model_error, output_error]"
    mkdir "$WORK/tmp"
    mount -t tmpfs -o size=8k none "$WORK/tmp" || skip "no tmpfs can be mounted here"
    TMPDIR=$WORK/tmp "$NYSBENCH" run "$WORK/e.yaml" -q -j 1 -o "$WORK/r" >"$WORK/log" 2>&1 && status=0 || status=$?
    output=$(cat "$WORK/log")
    umount "$WORK/tmp"
    expect_status 1
    output=$(grep '^nysbench: ' <<<"$output") tell nysbench run
    run "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r"
    expect_status 0
}

@test "an error that is rounding is none: it is empty, with the reason, and the effect is there" {
    study "$(tiny flat)" # A has rank one: rounding doubles with each step, and leaves the region after some 66
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --only head=0 \
        --set 'attentions="nystrom(strategy=uniform, landmarks=8, core=iterative(steps=[6, 67, 68, 69]))"' \
        --set trials=1
    [ "$status" -le 1 ]
    py_tells check_rounding "$WORK/r/rows.csv"
}

@test "mistakes in a config, and in what the program says of its model, are found before the run" {
    local key
    study "$(stub)"
    told run "$WORK/e.yaml" -q -o "$WORK/r" --set 'problems=gaussian(n=32, d=4)'
    expect_status 2
    for layers in 3 -1 some; do
        told run "$WORK/e.yaml" -q -o "$WORK/r" --set "problems=live_model(run=\"$(stub)\", layers=$layers)"
        expect_status 2
    done
    told run "$WORK/e.yaml" -q -o "$WORK/r" --set "problems=live_model(run=\"$(stub)\", source=6)"
    expect_status 2
    # What describes the model need not be more than a shell.
    cat >"$WORK/describe" <<'SH'
#!/bin/sh
echo '{"ready": 1}'
while read -r question; do cat "${0%/*}/answer"; done
SH
    chmod +x "$WORK/describe"
    study "$WORK/describe"
    for key in model layers heads n d causal sources; do
        printf '"%s": %s\n' model '"tiny"' layers 3 heads 2 key_heads 2 n 24 d 8 causal false sources \
            '["a", "b", "c", "d"]' |
            grep -v "\"$key\"" | paste -sd , | sed 's/.*/{&}/' >"$WORK/answer"
        told run "$WORK/e.yaml" -q -o "$WORK/r"
        expect_status 2
    done
    study "$(stub describe=twice)"
    told run "$WORK/e.yaml" -q -o "$WORK/r"
    expect_status 2
    study "$(stub describe=die)"
    told run "$WORK/e.yaml" -q -o "$WORK/r"
    expect_status 2
    study "$WORK/none"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r"
    expect_status 2
    expect "$WORK/none"
}

@test "the heads of a model are a problem like any other" {
    cat >"$WORK/s.yaml" <<YAML
problems: ['live_model(run="$(tiny)", layers=[2, all], source=1)']
strategies: [segment_means, uniform]
landmarks: 4
cores: tikhonov
trials: 1
plots: []
YAML
    run "$NYSBENCH" run "$WORK/s.yaml" -q -j 2 -o "$WORK/s"
    expect_status 0
    study "$(tiny)"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --set trials=1 \
        --set "problems=live_model(run=\"$(tiny)\", layers=[2, all], source=1)" \
        --set 'attentions=nystrom(strategy=[segment_means, uniform], landmarks=4, core=tikhonov)'
    expect_status 0
    py check_heads "$WORK"
}

@test "the program draws what the harness draws: the outputs of the heads are those that it measures" {
    study "$(tiny)"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --set draws=shared \
        --only 'landmarks=6, attention=nystrom, trial=1'
    expect_status 0
    py check_draws "$WORK" "$NYSBENCH"
}
