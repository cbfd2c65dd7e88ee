# SPDX-License-Identifier: GPL-3.0-or-later
# What comes from somebody else: reading a folder of results runs no code of theirs.

load helpers

setup_file() {
    cat >"$BATS_FILE_TMPDIR/loud.c" <<'C'
#include "strategy.h"
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void begin(void)
{
    FILE *told = getenv("LOUD") ? fopen(getenv("LOUD"), "a") : NULL;
    if (told) fclose(told);
    if (told) fputs("it is loaded\n", stderr);
}
typedef struct { int by; } loud_options;
static const char *const references[] = {"none: a test", NULL};
static const nb_option options[] = {NB_INT(loud_options, by, "1", 1, 9, "steps"), NB_OPTION_END};
static nb_status pick(const nb_points *p, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    int *tokens;
    (void)ctx;
    NB_NEED(tokens, nb_picks_tokens(picks, m));
    for (int j = 0; j < m; j++) tokens[j] = j * ((const loud_options *)o)->by % p->n;
    return NB_OK;
}
static const nb_strategy loud = {.component = {"loud", "is heard when it is loaded", references, options,
                                               sizeof(loud_options)},
                                 .pairing = NB_JOINT,
                                 .pick = pick};
NB_PLUGIN({"strategy", &loud.component});
C
    build_plugin "$BATS_FILE_TMPDIR/loud.c" "$BATS_FILE_TMPDIR/loud.so"
}

# sent [LINE...]: a run with the plug-in in $WORK/r, whose config has these lines too.
sent() {
    cp "$BATS_FILE_TMPDIR/loud.so" "$WORK"
    {
        printf '%s\n' "plugins: $WORK/loud.so" "problems: gaussian(n=40, d=3)" \
            'strategies: [uniform, loud, "loud(by=3, label=\"my-own\")"]' \
            "cores: svd" "landmarks: [4, 8]" "trials: 2" "plots: []" "$@"
    } >"$WORK/c.yaml"
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >/dev/null
    export LOUD=$WORK/heard
    rm -f "$LOUD"
}

# reads STATUS COMMAND...: what only reads ends so, and has loaded nothing.
reads() {
    run timeout 60 "$NYSBENCH" "${@:2}"
    expect_status "$1"
    [ ! -e "$LOUD" ] || { echo "loaded by $*"; return 1; }
}

@test "results of a run with a plug-in are read without it, by the labels that the config gives" {
    undrawn
    sent
    reads 0 status "$WORK/r"
    reads 0 info "$WORK/r"
    reads 0 compare "$WORK/r"
    # the store has the label that the plug-in gave it
    output=$(grep -oE '^ +(my-own|loud)[^ ]*' <<<"$output" | sort | uniq -c) tell nysbench compare "$WORK/r"
    reads 0 table "$WORK/r" shares
    reads 0 export "$WORK/r"
    [ "$(grep -c ',my-own,' <<<"$output")" -eq 4 ]
    cmp <(printf '%s\n' "$output") "$WORK/r/rows.csv"
    reads 0 sql "$WORK/r" "SELECT DISTINCT strategy_label FROM run ORDER BY 1" --format csv
    printf '%s\n' strategy_label loud my-own uniform | diff - <(printf '%s\n' "$output")
    reads 0 plot "$WORK/r"
    reads 0 report "$WORK/r"
    grep -q "my-own" "$WORK/r/report.html"
    reads 0 claims "$WORK/r"
}

@test "what needs the plug-in says so, and that --plugin loads it" {
    undrawn
    sent "claims: [{says: worse, compare: {strategy: [loud(by=3), uniform], metric: error}, \
expect: {ratio: [1, null]}}]"
    for command in "claims $WORK/r" "report $WORK/r"; do # they ask what is stored
        reads 0 $command
    done
    reads 0 claims "$WORK/r"
    of_json 'assert [r["sources"] for r in x] == [2] and x[0]["estimate"] > 0, x' "$NYSBENCH" claims "$WORK/r"
    for command in "export $WORK/r --landmarks $WORK/l" "plot $WORK/r --landmarks" "merge $WORK/out $WORK/r"; do
        told $command
        [ "$status" -ne 0 ] && [ ! -e "$LOUD" ]
        run "$NYSBENCH" $command --plugin "$WORK/loud.so"
        expect_status 0
        [ -e "$LOUD" ]
        rm "$LOUD"
    done
    for shard in 1/2 2/2; do "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/s" --shard $shard >/dev/null; done
    rm "$LOUD"
    for command in status merge; do
        told $command "$WORK/s"
        [ "$status" -ne 0 ] && [ ! -e "$LOUD" ]
        run "$NYSBENCH" $command "$WORK/s" --plugin "$WORK/loud.so"
        expect_status 0
        rm "$LOUD"
    done
}

@test "no command that reads loads what a folder names, whatever study and claims it names" {
    undrawn
    sent
    for study in zzz error; do
        printf '%s\n' "study: $study" "plugins: [$WORK/loud.so]" \
            "claims: [{says: a, compare: {strategy: [uniform, loud], metric: error}, expect: {ratio: [0, null]}}]" \
            >"$WORK/r/resolved.yaml"
        for command in status table compare info export "sql $WORK/r" claims report plot "merge $WORK/out"; do
            run timeout 60 "$NYSBENCH" $command "$WORK/r"
            [ ! -e "$LOUD" ] || { echo "loaded by $command"; return 1; }
        done
    done
}

@test "a query among the claims of a folder only reads the rows, and no file that it names is read" {
    undrawn
    printf '%s\n' "problems: gaussian(n=40, d=3)" "strategies: uniform" "cores: svd" "landmarks: 4" "trials: 8" \
        "plots: []" >"$WORK/c.yaml"
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" >/dev/null
    echo "SELECT 0 AS stratum, 0 AS source, 1 AS value" >"$WORK/secret.sql"
    before=$(sha256sum "$WORK/r/results.sqlite")
    for query in "DELETE FROM main.results" "UPDATE main.results SET error = 7" "DROP VIEW run" \
        "CREATE TEMP TABLE claim_point (a)" "ATTACH '$WORK/new.sqlite' AS new" "VACUUM INTO '$WORK/new.sqlite'" \
        "PRAGMA writable_schema = 1" "SELECT load_extension('$WORK/loud.so')" "SELECT 1; DELETE FROM claim_value" \
        "$WORK/secret.sql"; do
        printf '%s\n' "study: error" "claims: [{says: a, measure: {query: \"$query\"}, expect: {value: [0, null]}}]" \
            >"$WORK/r/resolved.yaml"
        for command in claims report; do
            run timeout 60 "$NYSBENCH" $command "$WORK/r"
            [ ! -e "$WORK/new.sqlite" ] && [ "$(sha256sum "$WORK/r/results.sqlite")" = "$before" ]
        done
        run "$NYSBENCH" claims "$WORK/r"
        [ "$status" -eq 2 ] || of_json 'assert [r["verdict"] for r in x] == ["void"], x' "$NYSBENCH" claims "$WORK/r"
    done
    tell nysbench claims "$WORK/r"
}

@test "no program that a folder names is started: what needs one says which, and --programs starts it" {
    undrawn
    cp tests/support/npy.py "$WORK"
    cp tests/cli/plugins/leaves_a_sign.py "$WORK/pick.py"
    chmod +x "$WORK/pick.py"
    printf '%s\n' "problems: gaussian(n=40, d=3)" \
        "strategies: [uniform, 'subsample(of=\"command(run=\\\"$WORK/pick.py\\\", deterministic=true)\")']" \
        "cores: svd" "landmarks: [4, 8]" "trials: 2" "plots: []" >"$WORK/c.yaml"
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r"
    [ -e "$WORK/started" ]
    rm "$WORK/started"
    for command in "export $WORK/r --landmarks $WORK/l" "plot $WORK/r --landmarks" "plot $WORK/r spectrum"; do
        told $command
        [ "$status" -ne 0 ] && [ ! -e "$WORK/started" ]
        run "$NYSBENCH" $command --programs
        expect_status 0
        [ -e "$WORK/started" ]
        rm "$WORK/started"
    done
    for shard in 1/2 2/2; do "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/s" --shard $shard; done
    rm "$WORK/started"
    for command in status merge; do # what they do starts none
        run "$NYSBENCH" $command "$WORK/s"
        expect_status 0
        [ ! -e "$WORK/started" ]
    done
}

@test "the model of an effect study is not started to read its shards" {
    undrawn
    cp tests/support/stub_model.py "$WORK"
    printf '#!/bin/sh\n: >%s/started\nexec /usr/bin/python3 %s/stub_model.py\n' "$WORK" "$WORK" >"$WORK/model.sh"
    printf '%s\n' "study: effect" "problems: 'live_model(run=\"sh $WORK/model.sh\", source=[0, 1])'" \
        "attentions: nystrom(landmarks=4)" "trials: 1" "plots: []" >"$WORK/c.yaml"
    for shard in 1/2 2/2; do "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/s" --shard $shard; done
    rm "$WORK/started"
    for command in status merge; do
        told $command "$WORK/s"
        [ "$status" -ne 0 ] && [ ! -e "$WORK/started" ]
        run "$NYSBENCH" $command "$WORK/s" --programs
        expect_status 0
        [ -e "$WORK/started" ]
        rm "$WORK/started"
    done
    for command in status info compare table export; do
        run "$NYSBENCH" $command "$WORK/s"
        [ ! -e "$WORK/started" ] || { echo "started by $command"; return 1; }
    done
}

@test "plan, run --dry-run and check say which code they run before they do; run says nothing" {
    cp "$BATS_FILE_TMPDIR/loud.so" "$WORK"
    cd "$WORK"
    printf '%s\n' "plugins: loud.so" "problems: gaussian(n=40, d=3)" \
        "strategies: [loud, 'subsample(of=\"command(run=\\\"sh inner.sh\\\")\")'," \
        "    'command(run=\"sh mine.sh 1\", deterministic=true)']" \
        "cores: 'command(run=\"sh core.sh\")'" "landmarks: 4" >c.yaml
    touch inner.sh mine.sh core.sh
    export LOUD=$WORK/heard
    for command in plan "run --dry-run"; do
        run "$NYSBENCH" $command c.yaml
        expect_status 0
        output=$(head -n 2 <<<"$output") tell nysbench $command c.yaml
    done
    run "$NYSBENCH" plan c.yaml --set plugins=./loud.so --set "strategies=[uniform]"
    output=${lines[0]} tell nysbench plan c.yaml --set plugins=./loud.so --set "strategies=[uniform]"
    run "$NYSBENCH" check loud.so
    output=$(head -n 2 <<<"$output") status=0 tell nysbench check loud.so
    run "$NYSBENCH" check 'command(run="sh mine.sh", serve=true, start=1)'
    output=${lines[0]} tell nysbench check 'command(run="sh mine.sh", serve=true, start=1)'
    run "$NYSBENCH" run c.yaml -q --set "strategies=loud" --set cores=svd -o r
    expect_status 0
    [[ $output != *note:* ]]
    run "$NYSBENCH" plan "$OLDPWD/experiments/00-smoke.yaml"
    [[ $output != *note:* ]]
}

@test "what a store holds beside its rows is not run" {
    sent
    printf '%s\n' "problems: gaussian(n=40, d=3)" "strategies: uniform" "cores: svd" "landmarks: 4" "trials: 2" \
        "plots: []" >"$WORK/t.yaml"
    "$NYSBENCH" run "$WORK/t.yaml" -q -o "$WORK/t" >/dev/null
    py change_store "$WORK"
    "$NYSBENCH" run "$WORK/t.yaml" -q -o "$WORK/t" --set trials=3 >/dev/null
    [ "$("$NYSBENCH" sql "$WORK/t" "SELECT count(*) FROM run WHERE error = 7 OR error IS NULL" --format csv | tail \
        -1)" = 0 ]
    for command in status info compare export sql; do
        run timeout 300 "$NYSBENCH" $command "$WORK/r"
        [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
        tell nysbench $command "$WORK/r"
    done
}
