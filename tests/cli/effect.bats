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
attentions: [streamed, "nystrom(strategy=[segment_means, uniform], landmarks=[4, 6], core=tikhonov)", longformer(window=6)]
trials: 2
plots: []
$2
YAML
}

# The rows without the experiment's name and the column that holds a time.
rows_of() {
    $PYTHON - "$1" <<'PY'
import csv, sys
for row in csv.DictReader(open(sys.argv[1], newline="")):
    row.pop("effect_s"), row.pop("experiment")
    print(list(row.values()))
PY
}

# Rows by attention's name: "streamed 8 ok", sorted.
outcomes() {
    $PYTHON - "$1" <<'PY'
import collections, csv, sys
rows = csv.DictReader(open(sys.argv[1], newline=""))
counts = collections.Counter((r["attention"].split("(")[0], r["status"]) for r in rows if r["status"] != "planned")
for (name, status), count in sorted(counts.items()):
    print(name, count, status)
PY
}

@test "rows are the same whatever the workers, the part that is run first, shards, or a kill" {
    study "$(stub)"
    run "$NYSBENCH" plan "$WORK/e.yaml"
    expect_status 0
    expect "scenes: 4"
    expect "methods: 6 (attentions 6)"
    expect "rows: 32,"
    sed -i 's/source=\[0, 3\]/source=3/' "$WORK/e.yaml"
    run "$NYSBENCH" run "$WORK/e.yaml" -j 0 -o "$WORK/whole"
    expect_status 0
    expect "rows: 16, 16 ok"
    expect "model_error by attention, divided by that of nystrom(landmarks=4, core=tikhonov), on the same head in the same"
    expect "$WORK/whole: rows.csv, "
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --only "landmarks=4"
    expect_status 0
    expect "rows: 6, 6 ok"
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
    cat >"$WORK/counted.py" <<'PY'
import os, sys
import tiny_model as tiny
work, effects = os.path.dirname(os.path.abspath(__file__)), tiny.effects
print(os.getpid(), file=open(work + "/starts", "a"))
def counted(*arguments):
    pids = map(int, open(work + "/starts"))
    print(sum(os.path.exists(f"/proc/{pid}") for pid in pids), file=open(work + "/alive", "a"))
    return effects(*arguments)
tiny.effects = counted
tiny.main(*sys.argv[1:])
PY
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
    for _ in {1..100}; do pgrep -f "$WORK/stub_model.py" >"$WORK/left" || break; sleep 0.1; done
    [ ! -s "$WORK/left" ]
}

@test "a row has its model, layers, source and landmarks; exact attention has no effect" {
    study "$(tiny)"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --set trials=1
    expect_status 0
    $PYTHON - "$WORK/r/rows.csv" <<'PY'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
assert {r["model"] for r in rows} == {"tiny"} and {r["layer"] for r in rows} == {"1", "half"}
assert {r["source"] for r in rows} == {f"text {i}" for i in (0, 3)}
for r in rows:
    each = {"1": 2, "half": 4}[r["layer"]]
    assert int(r["heads"]) == each and int(r["head"]) == each * int(r["source"][-1]), r
    assert (r["n"], r["d"]) == ("24", "8") and r["perplexity_ratio"] == r["kl"] == ""
    name = r["attention"].split("(")[0]
    assert r["landmarks"] == {"streamed": "0", "longformer": "6"}.get(name, r["attention"].split("landmarks=")[-1][0]), r
    assert (r["error"] == "") == (name != "nystrom"), r
    if name == "streamed":
        # 3 layers of sums over at most 32 products in single precision
        assert 0 < float(r["model_error"]) < 2e-6 and float(r["rank_agreement"]) == 1, r
    elif name == "nystrom":
        error, parts = float(r["error"]), (float(r["error_subspace"]), float(r["error_core"]))
        assert max(parts) <= error <= sum(parts) and float(r["model_error"]) > 0.05, r
PY
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
    run "$NYSBENCH" claims "$WORK/r"
    expect_status 0
    expect "layer 1, landmarks 4, core tikhonov:"
    expect "layer half, landmarks 6, core tikhonov"
    run "$NYSBENCH" compare "$WORK/r" --by attention --baseline "longformer(window=6)" --metric model_error
    expect_status 0
    expect "2 sources"
    "$NYSBENCH" report "$WORK/r" -o "$WORK/r.html" >/dev/null # tables of claims and of the study side by side
    "$NYSBENCH" table "$WORK/r" predictors --format csv | cmp - "$WORK/r/predictors.csv"
    "$NYSBENCH" table "$WORK/r" effects --format csv | cmp - "$WORK/r/effects.csv"
    run "$NYSBENCH" table "$WORK/r" effects --where strategy=kmeans --format csv # a column that identifies no row
    expect_status 0
    expect "kmeans"
    [[ $output != *segment_means* ]]
    run "$NYSBENCH" plot "$WORK/r" effect
    expect_status 0
    [ -s "$WORK/r/plots/effect_output_error.svg" ]
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
    $PYTHON - "$WORK/r" <<'PY'
import csv, sys
lines = list(csv.DictReader(open(sys.argv[1] + "/effects.csv", newline="")))
assert [(l["n"], l["rows"]) for l in lines] in ([("24", "6")] * 2 + [("12", "6")] * 2, [("12", "6")] * 2 + [("24", "6")] * 2), lines
panels = {r["panel"] for r in csv.DictReader(open(sys.argv[1] + "/plots/effect.csv", newline=""))}
assert panels == {"tiny, layers: 1, n = 24", "tiny, layers: 1, n = 12"}, panels
PY
}

@test "a causal model with shared keys: perplexity and KL" {
    study "$(tiny causal shared)"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --set trials=1 \
        --set 'attentions=[streamed, "nystrom(strategy=uniform, landmarks=4, core=tikhonov, factors=cur)", longformer(window=6)]'
    expect_status 0
    [ "$(outcomes "$WORK/r/rows.csv")" = "longformer 4 ok
nystrom 4 ok
streamed 4 ok" ]
    $PYTHON - "$WORK/r/rows.csv" <<'PY'
import csv, sys
for r in csv.DictReader(open(sys.argv[1], newline="")):
    if r["status"] == "ok":
        assert r["embedding_distance"] == r["rank_agreement"] == "" and float(r["kl"]) > -1e-12, r
        exact = r["attention"].startswith("streamed")
        assert (abs(float(r["perplexity_ratio"]) - 1) < 1e-5) == exact, r
PY
}

@test "what no model can have is an error before anything runs; what another has is skipped" {
    local refused='nystrom(strategy=uniform, landmarks=4, core=tikhonov)'
    study "$(tiny causal)"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r" --set trials=1 --set "attentions=[streamed, \"$refused\"]"
    expect_status 2
    expect "attentions: $refused cannot be had on tiny: it has no causal form"
    [ ! -e "$WORK/r" ]
    run "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r" --set 'attentions=["command(run=\"/bin/true\")"]'
    expect_status 2
    expect 'cannot be had on tiny: the layer is causal: causal=true says that the program keeps to the mask'
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
    [ "$(outcomes "$WORK/r/rows.csv")" = "nystrom 1 ok
nystrom 1 skipped" ]
}

@test "programs and plug-ins as attentions, and as strategies within nystrom, in a config" {
    "$NYSBENCH" new attention mine --out "$WORK/mine"
    build_plugin "$WORK/mine/mine.c" "$WORK/mine.so"
    "$NYSBENCH" new strategy picks --out "$WORK/picks"
    build_plugin "$WORK/picks/picks.c" "$WORK/picks.so"
    cat >"$WORK/values.py" <<'PY'
import sys
import numpy as np
np.save(sys.argv[-1] + "/out.npy", np.load(sys.argv[-1] + "/v.npy"))
PY
    cat >"$WORK/first.py" <<'PY'
import json, sys
import numpy as np
with open(sys.argv[-1] + "/request.json") as file:
    np.save(sys.argv[-1] + "/picks.npy", np.arange(json.load(file)["m"]))
PY
    study "$(tiny)" "plugins: [$WORK/mine.so, $WORK/picks.so]"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --set trials=1 --only head=0 --set "attentions=[mine,
        'command(run=\"$PYTHON $WORK/values.py\", deterministic=true)', 'nystrom(strategy=picks, landmarks=4, core=tikhonov)',
        'nystrom(strategy=command(run=\"$PYTHON $WORK/first.py\", deterministic=true), landmarks=4, core=tikhonov)']"
    expect_status 0
    [ "$(outcomes "$WORK/r/rows.csv")" = "command 2 ok
mine 2 ok
nystrom 4 ok" ]
    $PYTHON - "$WORK/r/rows.csv" <<'PY'
import csv, sys
rows = [r for r in csv.DictReader(open(sys.argv[1], newline="")) if r["status"] == "ok"]
for r in rows:
    assert float(r["model_error"]) > 1e-3 and float(r["output_error"]) > 1e-3, r
    assert (r["error"] == "") == (r["strategy"] == ""), r
PY
}

@test "a program that raises, dies, hangs, or answers nonsense: its rows fail with the reason, and the run goes on" {
    study "$(stub uniform=raise kmeans=die group_means=text farthest_point=list orthogonal=unknown dsquared=word \
        context=empty)"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --set trials=1 --only head=0 \
        --set "attentions=[streamed, longformer(window=6),
        \"nystrom(strategy=[uniform, kmeans, group_means, farthest_point, orthogonal, dsquared, context, segment_means], landmarks=4, core=tikhonov)\"]"
    expect_status 1
    expect "rows: 20, 6 ok, 14 failed"
    expect "exit status 3: the weights are gone"
    $PYTHON - "$WORK/r/rows.csv" <<'PY'
import csv, sys
wanted = {"uniform": "RuntimeError: the attention was torn", "kmeans": "exit status 3: the weights are gone",
          "group_means": "wrote 'nonsense'; expected a line of JSON, an object", "farthest_point": "wrote '[1, 2]'",
          "orthogonal": "effect: there is no column 'colour'", "dsquared": "effect: expected a number or null as 'model_error'",
          "context": "effect: the answer has no value"}
count = 0
for row in csv.DictReader(open(sys.argv[1], newline="")):
    if row["status"] == "planned":
        continue
    reason = wanted.get(row["strategy"].split("(")[0])
    assert row["status"] == ("failed" if reason else "ok") and (reason or "") in row["reason"], row
    count += 1
assert count == 20, count
PY
}

@test "a program that hangs is ended after its time, and so are the rows of that attention" {
    study "$(stub uniform=hang)"
    sed -i 's/source=/timeout=2, source=/' "$WORK/e.yaml"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --set trials=1 --only 'head=0, landmarks=4'
    expect_status 1
    expect "not done after 2 s"
    [ "$(outcomes "$WORK/r/rows.csv")" = "nystrom 2 failed
nystrom 2 ok" ]
}

@test "skipped and diverged, as the program says; heads of other shapes, or none" {
    study "$(stub uniform=skip segment=diverge)"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --set trials=1 --only head=0
    expect_status 1
    expect "it is not for this model"
    [ "$(outcomes "$WORK/r/rows.csv")" = "longformer 2 ok
nystrom 4 diverged
nystrom 4 skipped
streamed 2 ok" ]
    for fault in short raise die; do
        study "$(stub heads=$fault)"
        run "$NYSBENCH" run "$WORK/e.yaml" -q -j 1 -o "$WORK/$fault" --set trials=1 --only head=0
        expect_status 1
        [ "$(outcomes "$WORK/$fault/rows.csv" | tr '\n' ' ')" = \
            "longformer 2 failed nystrom 8 failed streamed 2 failed " ]
    done
    expect "exit status 3: the weights are gone"
    "$NYSBENCH" export "$WORK/short" | grep -q "heads: expected q of 2 heads and k, v of 2, found 1 and 1"
}

@test "what metrics does not ask for is not measured, and without errors of heads the program is not asked for any" {
    study "$(stub heads=none)" "metrics: [model_error, kl]"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/none"
    expect_status 0
    expect "rows: 32, 32 ok"
    sed -i 's/ heads=none//' "$WORK/e.yaml"
    for asked in model_error error output_error all; do
        run "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r" --set "metrics=$asked"
        expect_status 0
        expect "rows: 32, 32 ok"
        $PYTHON - "$WORK/r/rows.csv" $asked <<'PY'
import csv, sys
for r in csv.DictReader(open(sys.argv[1], newline="")):
    assert r["model_error"], r
    assert bool(r["output_error"]) == (sys.argv[2] in ("output_error", "all")), r
    error = sys.argv[2] in ("error", "all") and bool(r["core"])
    assert all(bool(r[name]) == error for name in ("error", "error_subspace", "error_core")), r
PY
    done
}

@test "heads that cannot be had: the reason does not name the file that they were to be in, which is another each time" {
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
        $PYTHON - "$WORK/$fault" "$reason" <<'PY'
import csv, sys
for folder in sys.argv[1], sys.argv[1] + "-heads":
    reasons = [r["reason"] for r in csv.DictReader(open(folder + "/rows.csv", newline="")) if r["status"] == "failed"]
    assert reasons and len(set(reasons)) == 1 and sys.argv[2] in reasons[0], set(reasons)
PY
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
    expect "nysbench: error: temporary files cannot be written, see TMPDIR: No space left on device; the same command continues when there is enough"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r"
    expect_status 0
}

@test "an error that is rounding is none: it is empty, with the reason, and the effect is there" {
    study "$(tiny flat)" # A has rank one: rounding doubles with each step, and leaves the region after some 66
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --only head=0 \
        --set 'attentions="nystrom(strategy=uniform, landmarks=8, core=iterative(steps=[6, 67, 68, 69]))"' \
        --set trials=1
    [ "$status" -le 1 ]
    $PYTHON - "$WORK/r/rows.csv" <<'PY'
import csv, sys
lost = 0
for r in csv.DictReader(open(sys.argv[1], newline="")):
    if r["status"] in ("planned", "diverged"):  # with so many steps the outputs may not be finite either
        assert "steps=6," not in r["attention"] or r["status"] == "planned", r
        continue
    bad = "steps=6," not in r["attention"]
    assert all((r[c] == "") == bad for c in ("error", "error_subspace", "error_core")), r
    assert ("the error of some head is rounding alone" in r["reason"]) == bad and r["model_error"] and r["output_error"], r
    lost += bad
assert lost > 0
PY
}

@test "mistakes in a config, and in what the program says of its model, are found before the run" {
    local key
    study "$(stub)"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r" --set 'problems=gaussian(n=32, d=4)'
    expect_status 2
    expect "gaussian(n=32, d=4): this study asks a model itself, so its problems are live_model(run=...)"
    for layers in 3 -1 some; do
        run "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r" --set "problems=live_model(run=\"$(stub)\", layers=$layers)"
        expect_status 2
        expect "layers = $layers: expected all, half (every other one from 0 on) or one of the layers 0 to 2"
    done
    run "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r" --set "problems=live_model(run=\"$(stub)\", source=6)"
    expect_status 2
    expect "source = 6 is not one of its sources 0 to 5"
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
        run "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r"
        expect_status 2
        expect "describe: expected '$key'"
    done
    study "$(stub describe=twice)"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r"
    expect_status 2
    expect "describe: the source 'a' is there twice"
    study "$(stub describe=die)"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -o "$WORK/r"
    expect_status 2
    expect "exit status 3: the weights are gone"
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
    $PYTHON - "$WORK" <<'PY'
import csv, sys
work = sys.argv[1]
heads = list(csv.DictReader(open(f"{work}/s/rows.csv", newline="")))
effects = list(csv.DictReader(open(f"{work}/r/rows.csv", newline="")))
assert len(heads) == 2 * (2 + 6) and len(effects) == 4
for e in effects:
    own = [h for h in heads if h["layer"] == e["layer"] and h["strategy"] in e["attention"]]
    assert len(own) == int(e["heads"]), (len(own), e)
    for column in ("error", "error_subspace", "error_core", "output_error"):
        mean = sum(float(h[column]) for h in own) / len(own)
        # the same numbers, but outputs are those of a pass in single precision
        assert abs(mean - float(e[column])) <= (1e-5 if column == "output_error" else 1e-12) * mean, (column, mean, e)
PY
}

@test "the program draws what the harness draws: the outputs of the heads are those that it measures" {
    study "$(tiny)"
    run "$NYSBENCH" run "$WORK/e.yaml" -q -j 2 -o "$WORK/r" --set draws=shared \
        --only 'landmarks=6, attention=nystrom, trial=1'
    expect_status 0
    $PYTHON - "$WORK" "$NYSBENCH" <<'PY'
import csv, os, sys
sys.path.insert(0, sys.argv[1])
import numpy as np, tiny_model as tiny
os.chdir(sys.argv[1])
model, compared = tiny.Model(), 0
for row in csv.DictReader(open("r/rows.csv", newline="")):
    if row["status"] != "ok":
        continue
    attention = tiny.by_nysbench(os.path.realpath(sys.argv[2]), False, row["attention"], 20260101, 1)
    found, layers, source = [], {"1": [1], "half": [0, 2]}[row["layer"]], int(row["source"][-1])
    for layer in layers:
        q, k, v = model.exact_pass(source)[1][layer]
        found += [tiny.relative(o, e) for o, e in zip(attention(q, k, v), tiny.softmax_attention(q, k, v, False))]
    # the same outputs; sums of 192 squares in another order
    assert abs(np.mean(found) - float(row["output_error"])) < 1e-12 * np.mean(found), (found, row)
    told = tiny.effects(model, source, layers, attention)
    assert all(abs(told[name] - float(row[name])) < 1e-12 for name in ("model_error", "layer_error")), (told, row)
    compared += 1
assert compared == 4, compared
PY
}
