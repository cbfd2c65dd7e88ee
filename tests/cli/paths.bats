# SPDX-License-Identifier: GPL-3.0-or-later
# Names of files and folders are names, whatever is in them; and what is written is
# written whole, with the user's permissions.

load helpers

VIT=experiments/data/vit_astronaut_n257_L6.safetensors

# Blanks, quotes, what shells, gnuplot, printf, YAML and CSV would take for theirs, UTF-8, a line's end.
ODD=$'-o "a" \'b\' $(touch pwned) `touch pwned`; touch pwned | \xc3\xbc \xe2\x80\x93 \xe5\x90\x8d'
ODD+=$' %s%n \\ #{x}: [y], z\n^_{2} & !'

# The experiment c.yaml in folder $1, on the head file $2 of the folder $3.
experiment() {
    py write_experiment "$@"
}

@test "any name: config, heads, results, figures, plugin, landmarks; nothing in it is executed" {
    local folder="$WORK/$ODD" head="$ODD.safetensors" config="$WORK/$ODD/$ODD.yaml"
    mkdir "$folder"
    cp "$VIT" "$folder/$head"
    experiment "$folder" "$head" "$folder"
    mv "$folder/c.yaml" "$config"
    cc -std=c11 -I. -Isrc -Istrategies -DLIE=0 -w -shared -fPIC tests/cli/plugins/lies.c -o "$folder/$ODD.so"
    cd "$WORK"
    run "$NYSBENCH" run "$config" -j 1 -o "$folder/results" --plugin "$folder/$ODD.so"
    expect_status 0
    expect_rows "$folder/results" "16 ok"
    [ -s "$folder/results/plots/error_svd_rcond_1e-15.svg" ] && [ -s "$folder/results/plots/error_svd_rcond_1e-15.png" ]
    run "$NYSBENCH" run "$folder/results/resolved.yaml" -q -j 1 -o "$folder/again"
    expect_status 0
    diff <(timeless "$folder/results/rows.csv") <(timeless "$folder/again/rows.csv")
    py check_names "$folder/results" "$folder/$head"
    expect_plan 'done=16 to_run=0' "$config" -o "$folder/results"
    "$NYSBENCH" export "$folder/results" | cmp - "$folder/results/rows.csv"
    "$NYSBENCH" plot "$folder/results" >/dev/null
    "$NYSBENCH" plot "$folder/results" --landmarks >/dev/null
    [ -n "$(find "$folder/results/plots" -name 'landmarks*.svg')" ]
    "$NYSBENCH" export "$folder/results" --landmarks "$folder/picks" >/dev/null
    [ -s "$folder/picks/instance-0/0-keys.npy" ]
    "$NYSBENCH" select --head "$folder/$head:0" --strategy uniform -m 4 -o "$folder/$ODD.npy" >/dev/null
    "$NYSBENCH" measure --head "$folder/$head:0" --core svd --query-landmarks "$folder/$ODD.npy" --json |
        facts of 'assert x["status"] == "ok", x'
    [ -z "$(find "$WORK" -name pwned)" ]
    [ -z "$(find "$WORK" -name '*.tmp')" ]
}

@test "a folder whose path SQLite cannot open is refused before anything is made; the longest that it can is not" {
    export NYSBENCH
    cd "$WORK"
    printf 'problems: gaussian(n=9, d=2)\nstrategies: uniform\nlandmarks: [2]\ncores: svd\nplots: []\n' >c.yaml
    py check_long_paths
}

@test "relative names, with a dash in front; a symbolic link as the folder of results, on another file system" {
    local other
    other=$(mktemp -d /dev/shm/nysbench-XXXXXX) || skip "no /dev/shm"
    [ "$(stat -c %d "$other")" != "$(stat -c %d "$WORK")" ] || { rmdir "$other"
        skip "/dev/shm is on the same file system"; }
    mkdir -p "$WORK/-here/tmp"
    cp "$VIT" "$WORK/-here/-head.safetensors"
    cd "$WORK/-here"
    ln -s "$other" -- -link
    experiment . -head.safetensors .
    mv c.yaml -- -c.yaml
    TMPDIR=$WORK/-here/tmp run "$NYSBENCH" run -q -j 1 -o -link/results -- -c.yaml
    local code=$status
    find "$other" >"$WORK/found"
    timeless "$other/results/rows.csv" >"$WORK/rows"
    "$NYSBENCH" select --head -head.safetensors:0 --strategy uniform -m 4 -o -link/picks.npy >/dev/null
    [ -s "$other/picks.npy" ] || code=99
    rm -rf "$other"
    [ "$code" -eq 0 ] || { echo "$output"; return 1; }
    [ "$(wc -l <"$WORK/rows")" -eq 16 ]
    grep -q 'error_svd.svg$' "$WORK/found"
    ! grep -q 'tmp$' "$WORK/found" || return 1
    [ -z "$(ls -A tmp)" ]
    sed -i 's/"name": "odd", //' ./-c.yaml
    told plan -- -c.yaml
    expect_status 2
}

@test "a name that is too long is told from its beginning to the reason" {
    local long
    long=$(printf 'd%.0s' $(seq 200)) long="$long/$long/$long/$long/$long/$long/$long/$long/$long/$long"
    long="$WORK/$long/$long/$long"
    short() { # COMMAND...: tells $output, with names cut
        output=$(sed -E 's|(ddd)[d/]{100,}|\1...|g; s/f{100,}/fff.../g' <<<"$output") tell nysbench "$@"
    }
    run "$NYSBENCH" run experiments/00-smoke.yaml -q -o "$long"
    expect_status 2
    short run experiments/00-smoke.yaml -q -o ddd
    run "$NYSBENCH" plan "$long/c.yaml"
    expect_status 2
    short plan ddd/c.yaml
    run "$NYSBENCH" plan experiments/00-smoke.yaml --set "problems=heads(file=$long)"
    expect_status 2
    short plan experiments/00-smoke.yaml --set 'problems=heads(file=ddd)'
    run "$NYSBENCH" list --plugin "$long.so"
    expect_status 2
    run "$NYSBENCH" select --head "$VIT:0" --strategy uniform -m 4 -o "$WORK/$(printf 'f%.0s' $(seq 255))"
    expect_status 0
    run "$NYSBENCH" select --head "$VIT:0" --strategy uniform -m 4 -o "$WORK/$(printf 'f%.0s' $(seq 256))"
    expect_status 1
    short select -o fff
}

@test "files have the user's permissions" {
    local mask modes
    for mask in 022:644:755 077:600:700 002:664:775; do
        modes=${mask#*:}
        (umask "${mask%%:*}"
         "$NYSBENCH" run experiments/00-smoke.yaml -q -j 1 --set 'problems=gaussian(n=40, d=4)' \
             --set strategies=uniform --set trials=1 \
             --set plots=error -o "$WORK/$mask" >/dev/null
         "$NYSBENCH" export "$WORK/$mask" --landmarks "$WORK/$mask/picks" >/dev/null)
        [ "$(find "$WORK/$mask" -type f | wc -l)" -gt 10 ]
        [ -z "$(find "$WORK/$mask" -type f -not -perm "${modes%:*}" -o -type d -not -perm "${modes#*:}")" ] ||
            { find "$WORK/$mask" -ls; return 1; }
    done
}

@test "a file that could not be written whole is not there; the old one stays; a pipe stays a pipe" {
    "$NYSBENCH" run experiments/00-smoke.yaml -q -j 1 --set 'problems=gaussian(n=65, d=8)' --set trials=1 \
        --set plots=error -o "$WORK/r" >/dev/null
    run bash -c 'ulimit -f 1; "$0" export "$1/r" --landmarks "$1/picks"' "$NYSBENCH" "$WORK"
    [ "$status" -ne 0 ]
    [ -d "$WORK/picks/instance-0" ]
    [ ! -e "$WORK/picks/instance-0/q.npy" ] && [ ! -e "$WORK/picks/index.csv" ]
    echo old >"$WORK/r/plots/error.csv"
    run bash -c 'ulimit -f 1; "$0" plot "$1/r" error' "$NYSBENCH" "$WORK"
    [ "$status" -ne 0 ]
    [ "$(cat "$WORK/r/plots/error.csv")" = old ]
    mkfifo "$WORK/pipe"
    cat "$WORK/pipe" >"$WORK/got" &
    "$NYSBENCH" select --head "$VIT:0" --strategy uniform -m 4 -o "$WORK/pipe" >/dev/null
    wait $!
    [ -p "$WORK/pipe" ]
    "$NYSBENCH" select --head "$VIT:0" --strategy uniform -m 4 -o "$WORK/file" >/dev/null
    cmp "$WORK/got" "$WORK/file"
}

@test "command: no shell sees its words, nor the name of its folder" {
    mkdir "$WORK/tmp $ODD"
    cp tests/support/npy.py "$WORK"
    cp "$REPOSITORY/tests/cli/plugins/words.py" "$WORK/p.py"
    experiment "$WORK" "$ODD.safetensors" "$WORK"
    cp "$VIT" "$WORK/$ODD.safetensors"
    py check_words "$WORK"
    TMPDIR="$WORK/tmp $ODD" run "$NYSBENCH" run "$WORK/c.yaml" -q -j 1 -o "$WORK/r"
    expect_status 0
    expect_rows "$WORK/r" "2 ok"
    [ -z "$(find "$WORK" -name pwned)" ]
    [ -z "$(ls -A "$WORK/tmp $ODD")" ]
}

# An experiment in $WORK/there/exp, with all that it names beside it: heads, a script, weights.
beside() {
    program=$(realpath "$NYSBENCH")
    mkdir -p "$WORK/there/exp" "$WORK/else"
    cp "$VIT" "$WORK/there/exp/h.safetensors"
    cp tests/support/npy.py "$WORK/there/exp"
    printf '%s\n' 'import json, npy' 'm = json.load(open("request.json"))["m"]' \
        'npy.save("picks.npy", "<i8", (m,), range(0, 3 * m, 3))' >"$WORK/there/exp/mine.py"
    "$program" fit --head "$WORK/there/exp/h.safetensors" -o "$WORK/there/exp/w.npy" >/dev/null
    cat >"$WORK/there/exp/c.yaml" <<'Y'
problems: ["heads(file=h.safetensors, head=[0, 1], permute=true)", "gaussian(n=40, d=8)"]
strategies: ["learned(weights=w.npy, take=sample)",
             'command(run="/usr/bin/python3 mine.py", deterministic=true)', uniform]
cores: [svd, fitted]
landmarks: [4, 8]
trials: 2
metrics: error
plots: []
baseline: learned(weights=w.npy, take=sample)
exclude:
  - {problem: gaussian, strategy: "learned(weights=w.npy)"}
  - {problem: "heads(file=h.safetensors)", landmarks: 8, strategy: command}
Y
}

@test "a file named within a part of an attention is looked for beside the config too, whatever part comes next" {
    mkdir "$WORK/exp"
    printf 'exit 1\n' >"$WORK/exp/pick.sh"
    printf '%s\n' 'study: forward' 'problems: gaussian(n=64, d=4)' \
        'attentions: ["nystrom(strategy=command(run=\"sh pick.sh\"), core=svd, landmarks=4)"]' >"$WORK/exp/c.yaml"
    run "$NYSBENCH" plan "$WORK/exp/c.yaml" --origins -o "$WORK/r"
    expect_status 0
    expect "strategy=command(run=\\\"sh $WORK/exp/pick.sh\\\""
}

@test "what is not in the current folder is looked for beside the config; resolved config and shards agree" {
    beside
    cd "$WORK/there"
    run "$program" run exp/c.yaml -q -o r
    expect_status 0
    grep -q 'heads(file=exp/h.safetensors' r/rows.csv
    [ "$(grep -c 'learned(weights=exp/w.npy' r/rows.csv)" -gt 0 ]
    [ "$(grep -c 'gaussian.*learned' r/rows.csv)" -eq 0 ]
    [ "$(grep -c 'heads.*command.*,8,' r/rows.csv)" -eq 0 ]
    "$program" run r/resolved.yaml -q -o again
    diff <(timeless r/rows.csv) <(timeless again/rows.csv)
    diff r/resolved.yaml again/resolved.yaml
    for i in 1 2 3; do "$program" run exp/c.yaml -q -o split --shard $i/3; done
    "$program" merge split -q
    diff <(timeless r/rows.csv) <(timeless split/rows.csv)
    cd exp # here they are h.safetensors, as the config says
    "$program" run c.yaml -q -o "$WORK/here"
    grep -q 'heads(file=h.safetensors' "$WORK/here/rows.csv"
}

@test "a run is picked again from any folder: by its manifest, where the files hold what they held" {
    undrawn
    beside
    cd "$WORK/there/exp"
    "$program" run c.yaml -q -o "$WORK/r"
    "$program" export "$WORK/r" --programs --landmarks "$WORK/a" >/dev/null
    "$program" plot "$WORK/r" --programs --landmarks -m 4 >/dev/null
    mv "$WORK/r/plots" "$WORK/plots"
    cd "$WORK/else"
    run "$program" export "$WORK/r" --programs --landmarks "$WORK/b"
    expect_status 0
    diff -r "$WORK/a" "$WORK/b"
    run "$program" plot "$WORK/r" --programs --landmarks -m 4
    expect_status 0
    for file in "$WORK"/plots/*.csv; do cmp "$file" "$WORK/r/plots/$(basename "$file")"; done
    run "$program" plot "$WORK/r" spectrum --programs
    expect_status 0
    run "$program" run "$WORK/r/resolved.yaml" -q -o "$WORK/again"
    expect_status 0
    diff <(timeless "$WORK/r/rows.csv") <(timeless "$WORK/again/rows.csv")
    run "$program" export "$WORK/again" --programs --landmarks "$WORK/c"
    expect_status 0
    diff -r "$WORK/a" "$WORK/c"
    cp "$WORK/there/exp/w.npy" "$WORK/w"
    "$program" fit --head "$WORK/there/exp/h.safetensors:0" -o "$WORK/there/exp/w.npy" >/dev/null
    for from in else there/exp; do
        cd "$WORK/$from"
        run "$program" export "$WORK/r" --programs --landmarks "$WORK/d"
        expect_status 1
        tell nysbench export "$WORK/r" --programs --landmarks "$WORK/d"
    done
    cp "$WORK/w" "$WORK/there/exp/w.npy"
    rm "$WORK/there/exp/h.safetensors"
    cd "$WORK/else"
    run "$program" export "$WORK/r" --programs --landmarks "$WORK/d"
    expect_status 1
    tell nysbench export "$WORK/r" --programs --landmarks "$WORK/d"
}

@test "where a file was looked for is told; '~' is a shell's" {
    beside
    rm "$WORK/there/exp/h.safetensors" "$WORK/there/exp/w.npy"
    cd "$WORK/else"
    run "$program" plan ../there/exp/c.yaml
    expect_status 2
    tell nysbench plan ../there/exp/c.yaml
    cd ../there/exp
    run "$program" plan c.yaml --set strategies=uniform --set baseline=uniform --set exclude=[]
    expect_status 2
    tell nysbench plan c.yaml
    run "$program" plan c.yaml --set 'problems=heads(file=~/h.safetensors)'
    expect_status 2
    tell nysbench plan c.yaml --set 'problems=heads(file=~/h.safetensors)'
    printf 'problems: gaussian\nstrategies: uniform\ncores: svd\nplugins: [mine.so, ~/mine.so]\n' >p.yaml
    cd "$WORK/else"
    run "$program" plan ../there/exp/p.yaml
    expect_status 2
    tell nysbench plan ../there/exp/p.yaml
}
