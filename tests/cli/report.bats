# SPDX-License-Identifier: GPL-3.0-or-later
# nysbench report: what a report says of a run, that names stay text, and which mistakes are refused. How it looks and
# behaves in a browser is tested by tests/browser/report.py.

load helpers

# Eight draws of clusters, which k-means finds: a run that raises no caveat. experiment [STRATEGY...]
experiment() {
    config <<Y
question: Is k-means better than uniform tokens on clusters?
problems: ["clusters(n=64, d=8, count=4)"]
strategies: [${1:-uniform, kmeans}]
landmarks: [4, 8]
cores: [iterative(steps=6)]
trials: 8
metrics: error
plots: []
claims:
  - {id: better, says: k-means has less error, source: by construction,
     compare: {strategy: [kmeans, uniform], metric: error}, expect: {ratio: [0, 1]}}
Y
}

# Runs $WORK/c.yaml into a folder, which does not know what was predicted: a busy machine is slower than that.
unpredicted() { # FOLDER OPTION...
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$@"
    in_store "$1" "DELETE FROM meta WHERE key = 'predicted'"
}

# The run of experiment in $WORK/r, with further options; without any, a copy of one and the same.
measure() {
    experiment
    if [ $# -eq 0 ]; then cp -r "$BATS_FILE_TMPDIR/c" "$WORK/r"; else unpredicted "$WORK/r" "$@"; fi
}

setup_file() {
    setup
    experiment
    unpredicted "$BATS_FILE_TMPDIR/c" >&2
    teardown
}

# Changes a run's store: store 'SQL'
store() {
    in_store "$WORK/r" "$1"
}

# The caveats of $WORK/r, a line each.
caveats() {
    "$NYSBENCH" report "$WORK/r" --format markdown -o - |
        awk '/^## / { on = $0 == "## Caveats"; next } on && NF'
}

# caveat [COUNT]: the run $WORK/r has that many, by default one, and what they say is golden.
caveat() {
    run caveats
    expect_status 0
    [ "${#lines[@]}" -eq "${1:-1}" ] || { echo "expected: ${1:-1}"; echo "$output"; return 1; }
    tell caveats
}

no_caveat() {
    run caveats
    tell caveats
}

@test "a report has question, claims, caveats, comparison, tables and how it was measured; twice the same bytes" {
    measure
    run "$NYSBENCH" report "$WORK/r"
    expect_status 0
    [ "$output" = "$WORK/r/report.html"$'\n'"$WORK/r/report.md" ]
    cp "$WORK/r/report.html" "$WORK/first.html"
    cp "$WORK/r/report.md" "$WORK/first.md"
    "$NYSBENCH" report "$WORK/r" >/dev/null
    cmp "$WORK/r/report.html" "$WORK/first.html"
    cmp "$WORK/r/report.md" "$WORK/first.md"
    output=$(cat "$WORK/r/report.md")
    quoted '^##? .*' "$WORK/r/report.md"
    [ "$(head -1 "$WORK/r/report.md")" = "# c" ]
    grep -q "^$(date -u +%Y)-..-..: 32 rows " "$WORK/r/report.md"
    output=$(sed '/^## Compared/,$d' "$WORK/r/report.md") tell nysbench report "$WORK/r"
    grep -qxE "[a-z]* run /.*/c.yaml -q -o $BATS_FILE_TMPDIR/c" "$WORK/r/report.md"
    grep -q '^ *trials: 8$' "$WORK/r/report.md"
    grep -qE '\| 0\.[0-9]+ \| \[0\.[0-9]+, 0\.[0-9]+\] \| better \| 8 \|' "$WORK/r/report.md"
}

@test "the page needs nothing but itself: no address of another file, a policy that forbids it" {
    measure --set plots=error
    "$NYSBENCH" report "$WORK/r" >/dev/null
    py check_page "$WORK/r/report.html"
}

@test "what a config says stays text: tags, Markdown, quotes" {
    save_head "$WORK/<b>h|x" qk 30,3
    config <<Y
question: "<script>alert(1)</script> & \"a\" [x](javascript:1) ![y](http://z) \`c\` *d* | e"
problems: ["heads(file='$WORK/<b>h|x')"]
strategies: [uniform, segment_means]
cores: svd
landmarks: 4
metrics: error
plots: [error]
claims:
  - {id: other, says: "</td><script>2</script>|", source: "<img src=x onerror=3>", untested: "# <i>"}
Y
    sed -i "s/file='\(.*\)')/file=\\\\\"\1\\\\\")/" "$WORK/c.yaml"
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r<u>"
    "$NYSBENCH" report "$WORK/r<u>"
    local page="$WORK/r<u>/report.html"
    grep -qF '<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;a&quot; [x](javascript:1) ![y](http://z) `c` *d* |' \
        "$page"
    grep -qF '&lt;/td&gt;&lt;script&gt;2&lt;/script&gt;|' "$page"
    grep -qF '&lt;img src=x onerror=3&gt;' "$page"
    grep -qF '&lt;b&gt;h|x' "$page"
    [ "$(grep -o '<script' "$page" | wc -l)" -eq 1 ]
    [ "$(grep -oE '<(img src=x|b|i|u)[ >]' "$page" | wc -l)" -eq 0 ]
    [ "$(grep -c 'raw HTML omitted' "$page")" -eq 0 ] # NOLINT(wording): what cmark leaves behind
}

@test "figures that are missing are drawn; their captions and files are in the Markdown" {
    measure --set plots=error
    rm "$WORK"/r/plots/*.svg
    "$NYSBENCH" report "$WORK/r" >/dev/null
    [ -s "$WORK/r/plots/error_iterative.svg" ]
    grep -qF '](plots/error_iterative.svg)' "$WORK/r/report.md"
    grep -q '<img alt="error_iterative: ' "$WORK/r/report.html"
    mkdir "$WORK/a b"
    "$NYSBENCH" report "$WORK/r" -o "$WORK/a b/x.html" >/dev/null
    grep -qF '](../r/plots/error_iterative.svg)' "$WORK/a b/x.md"
}

# The figures of the report of $WORK/r, in its order.
figures() {
    "$NYSBENCH" report "$WORK/r" --format markdown -o - | sed -n 's|^!\[.*](.*/\([a-z_]*\)_[^/]*[.]svg)$|\1|p' | uniq |
        paste -sd ,
}

@test "figures: ratio, error, forest first, or as the config names them; of cores where there are two, or by name" {
    # with two workers times have been disturbed, and are in no figure
    measure --jobs 2 --set plots=[]
    "$NYSBENCH" plot "$WORK/r" >"$WORK/out"
    [ "$(cut -d : -f 1 "$WORK/out" | paste -sd ,)" = cost,error,forest,ranks,ratio ]
    [ "$(figures)" = ratio,error,forest,cost_flops_with,ranks ]
    "$NYSBENCH" plot "$WORK/r" cores
    [ -s "$WORK/r/plots/cores_uniform.svg" ]
    rm -r "$WORK/r"
    measure --jobs 2 --set plots=[forest,cutoff]
    "$NYSBENCH" plot "$WORK/r" >"$WORK/out"
    [ "$(cut -d : -f 1 "$WORK/out" | paste -sd ,)" = cost,cutoff,error,forest,ranks,ratio ]
    [ "$(figures)" = forest,cutoff,ratio,error,cost_flops_with,ranks ]
    rm -r "$WORK/r"
    measure --jobs 2 --set 'cores=[iterative, svd]' --set plots=[]
    "$NYSBENCH" plot "$WORK/r" >"$WORK/out"
    [ "$(cut -d : -f 1 "$WORK/out" | paste -sd ,)" = \
        cores,cost,cutoff,error,forest,ranks,ratio,ratio_by_core,svd_vs_iterative ]
}

@test "several runs: a table of all, a part for each, ids and colours that do not clash" {
    measure --set plots=error
    "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/s" --set name=second --set plots=error
    "$NYSBENCH" report "$WORK/r" "$WORK/s" -o "$WORK/both.html" >/dev/null
    quoted '^##? .*' "$WORK/both.md"
    [ "$(grep -o '<img ' "$WORK/both.html" | wc -l)" -eq 2 ]
    [ "$(grep -o ' id="[^"]*"' "$WORK/both.html" | sort | uniq -d | wc -l)" -eq 0 ]
    told report "$WORK/r" "$WORK/s"
    expect_status 2
}

@test "to standard output, in one format alone" {
    measure
    "$NYSBENCH" report "$WORK/r" -o - >"$WORK/x.html"
    head -1 "$WORK/x.html" | grep -qx '<!DOCTYPE html>' # NOLINT(wording): HTML
    "$NYSBENCH" report "$WORK/r" -o - --format markdown >"$WORK/x.md"
    head -1 "$WORK/x.md" | grep -qx '# c'
    [ ! -e "$WORK/r/report.md" ]
    "$NYSBENCH" report "$WORK/r" --format markdown
    [ -e "$WORK/r/report.md" ] && [ ! -e "$WORK/r/report.html" ]
}

@test "wrong arguments are refused" {
    measure
    run "$NYSBENCH" report
    expect_status 2
    run "$NYSBENCH" report "$WORK"
    expect_status 2
    run "$NYSBENCH" report "$WORK/nowhere"
    expect_status 2
    told report "$WORK/r" --format pdf
    expect_status 2
    told report "$WORK/r" -o "$WORK/x.md"
    expect_status 2
    told report "$WORK/r" -o "$WORK/nowhere/x.html"
    expect_status 2
    told report "$WORK/r" -o '~nobody/x.html'
    expect_status 2
}

@test "caveat: none" {
    measure
    no_caveat
}

@test "caveat: few sources" {
    measure --set trials=5
    caveat
}

# Two heads each of eight texts, and nothing else to say of them: texts TRIALS.
texts() {
    config <<Y
problems: [$(printf '"heads(file=%s)", ' experiments/data/panel/minilm_*.safetensors)]
strategies: [uniform, segment_means]
landmarks: 32
cores: iterative
trials: $1
draws: shared
metrics: error
plots: []
Y
    unpredicted "$WORK/r"
    store "UPDATE results SET baseline_mean = 2"
}

@test "caveats: few trials; what is good for one head and bad for another" {
    texts 5
    caveat
    "$NYSBENCH" report "$WORK/r" >/dev/null
    output=$(grep '^WARNING' "$WORK/r/report.md") status=0 tell nysbench report
    of_json 'pairs = {(r["method"], r["baseline"].split("(")[0]) for r in x if r["heads_differ"]}
assert ("segment_means", "uniform") in pairs, pairs' \
        "$NYSBENCH" compare "$WORK/r" --baseline all
    store "DELETE FROM results WHERE trial > 1 AND strategy LIKE 'uniform%'"
    caveat
    store "DELETE FROM results WHERE trial > 0"
    caveat
    store "DELETE FROM results WHERE strategy LIKE 'uniform%'"
    no_caveat # segment means draw nothing
}

@test "caveat: an unfinished run, which says so at the top too" {
    measure --only landmarks=4
    caveat
    "$NYSBENCH" report "$WORK/r" >/dev/null
    output=$(sed -n '/^# /,/^## /{/16/p}' "$WORK/r/report.md") status=0 tell nysbench report
}

@test "caveat: rows that went wrong, which are listed with their reasons" {
    measure
    store "UPDATE results SET status = 'failed', reason = 'no <good>', error = NULL
               WHERE trial = 1 AND strategy LIKE 'kmeans%';
           UPDATE results SET status = 'timeout', reason = 'late', error = NULL WHERE trial = 2 AND landmarks = 4;"
    caveat
    "$NYSBENCH" report "$WORK/r" >/dev/null
    grep -qE '^\| failed \| 2 \| no \\<good> \| clusters.*trial 1' "$WORK/r/report.md"
    [ "$(grep -c '| clusters.*permute' "$WORK/r/report.md")" -eq 0 ] # labels, not all options
    grep -qE '^\| timeout \| 2 \| late \| ' "$WORK/r/report.md"
}

@test "caveat: rows that ran out of memory" {
    measure
    store "UPDATE results SET status = 'failed', reason = 'kmeans: out of memory: 3 objects of 8 bytes', error = NULL
           WHERE trial = 1 AND strategy LIKE 'kmeans%'"
    caveat 2
}

@test "caveat: memory that the system did not tell, or of which there is little" {
    config <<Y
study: forward
problems: ["gaussian(n=60, d=8)"]
attentions: [naive, streamed]
trials: 6
rounds: 2
plots: []
Y
    unpredicted "$WORK/r"
    store "UPDATE results SET reason = NULL" # which other programs may give
    no_caveat
    store "UPDATE results SET peak_bytes = NULL WHERE trial < 2"
    caveat
    store "UPDATE results SET peak_bytes = 6e9;
           UPDATE manifests SET text = replace(text, '\"memory_mib\": ', '\"memory_mib\": 10000, \"was\": ')"
    caveat
    expect " 5722 MiB "
    store "UPDATE results SET peak_bytes = 5e9"
    no_caveat
}

@test "caveat: an oracle in the lead" {
    experiment "uniform, kmeans, leverage"
    unpredicted "$WORK/r"
    no_caveat
    store "UPDATE results SET error = 0.01 WHERE strategy LIKE 'leverage%'"
    caveat
}

@test "caveat: errors that are rounding noise" {
    measure
    store "UPDATE results SET error_noise = error WHERE trial = 3"
    caveat
}

@test "caveat: no better than equal weights" {
    measure
    store "UPDATE results SET baseline_mean = error WHERE strategy LIKE 'uniform%' AND trial < 5"
    caveat
    store "UPDATE results SET baseline_mean = 2"
    no_caveat
}

@test "caveat: no better than equal weights on one of the heads that a model has on all texts" {
    texts 5
    store "UPDATE results SET baseline_mean = CASE WHEN head = 1 AND strategy LIKE 'uniform%' AND trial < 3
                                                 THEN error ELSE 2 END"
    output=$(caveats | grep 'equal weights') tell caveats
    "$NYSBENCH" compare "$WORK/r" >"$WORK/told"
    output=$(grep 'equal weights' "$WORK/told") tell nysbench compare
    "$NYSBENCH" compare "$WORK/r" --where head=1 >"$WORK/told"
    output=$(grep 'equal weights' "$WORK/told") tell nysbench compare --where head=1
    "$NYSBENCH" compare "$WORK/r" --where head=0 >"$WORK/told"
    ! grep 'baseline_mean' "$WORK/told" || false
}

@test "caveat: rows with warnings, such as load while they were timed" {
    measure
    store "UPDATE results SET reason = 'other programs used 1.50 CPUs while it was timed' WHERE trial = 3"
    caveat
}

@test "caveat: a prediction that was off" {
    measure
    store "INSERT OR REPLACE INTO meta VALUES ('predicted', '1 2 3.9')"
    no_caveat
    store "INSERT OR REPLACE INTO meta VALUES ('predicted', '1 2 4.5')"
    caveat
    expect " 4.5 s "
    store "INSERT OR REPLACE INTO meta VALUES ('predicted', '3 4 1')"
    caveat
    store "INSERT OR REPLACE INTO meta VALUES ('predicted', 'soon')"
    told report "$WORK/r"
    expect_status 1
}

@test "a run keeps what was predicted and what it took" {
    measure
    store "UPDATE meta SET value = NULL WHERE key = 'predicted'"
    # A row that takes half a second on any machine.
    PYTHONPATH=tests/support PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 \
        -c 'import npy, sys; npy.save(sys.argv[1], "<i8", (3,), range(3))' "$WORK/picks.npy"
    config <<Y
problems: gaussian(n=20, d=2)
strategies: 'command(run="sh -c \"sleep 0.6; cp $WORK/picks.npy picks.npy\"")'
cores: svd
landmarks: 3
trials: 1
metrics: error
plots: []
Y
    "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 -o "$WORK/long"
    awk '{ exit !(0 < $1 && $1 <= $2 && $3 >= 0.5) }' \
        <<<"$(in_store "$WORK/long" "SELECT value FROM meta WHERE key = 'predicted'")"
}

@test "caveat: rows of several builds, and of several machines" {
    measure
    store "INSERT INTO manifests SELECT 2, 'other', build || executable,
               replace(text, '\"host\": \"', '\"host\": \"x') FROM manifests;
           UPDATE results SET manifest = 2 WHERE trial = 3"
    run caveats
    expect_status 0
    output=$(sed 's/on 2 machines: .*/on 2 machines: .../' <<<"$output") tell caveats
}

@test "how it was measured: the program's last five calls, with what info says; a word with a blank is quoted" {
    measure
    for trials in 9 10 11 12 13 14; do
        "$NYSBENCH" run "$WORK/c.yaml" -q -o "$WORK/r" --set "trials=$trials" --set 'question=a b'
    done >/dev/null
    "$NYSBENCH" report "$WORK/r" --format markdown -o - >"$WORK/r.md"
    py_tells check_calls "$WORK/r.md" <("$NYSBENCH" info "$WORK/r" --json)
}
