# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that stay alive and make all picks of a worker: command(run="...", serve=true). Most rows ask picker.c, a
# program in C that does as it is told and starts in 1 ms; a few start the real nysbench.serve. What nysbench.serve says
# of a wrong function is in tests/python/test_serve.py, what a program's end does to its questions in
# tests/unit/test_server.c.

load helpers

export PYTHONPATH=$PWD/python
SERVE="/usr/bin/python3 -m nysbench.serve"
HEAD=$PWD/experiments/data/vit_astronaut_n257_L6.safetensors

setup_file() {
    cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror tests/support/picker.c -o "$BATS_FILE_TMPDIR/picker"
}

# Goes to the test's folder, which stands in the command lines of its servers: ./picker becomes an absolute path.
enter() {
    cd "$WORK"
    mkdir tmp
    ln -s "$BATS_FILE_TMPDIR/picker" picker
}

# No process has the folder of this test in its command line, as servers of its files have.
none_runs() {
    ! pgrep -f "$WORK/" >/dev/null
}

# None of the programs that have said so in `hanging` is alive.
programs_ended() {
    local id
    while read -r id _; do ! kill -0 "$id" 2>/dev/null || return 1; done <hanging
}

# No process has that command line, to a letter.
none_is() {
    ! pgrep -xf "$1" >/dev/null
}

empty() { # FOLDER
    [ -z "$(ls -A "$1")" ] || { ls "$1"; return 1; }
}

has_lines() { # FILE COUNT
    [ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]
}

# served LANDMARKS: c.yaml with the strategies of the file `cases`, RUN|TIMEOUT|..., and uniform.
served() {
    local run limit reason
    printf '%s\n' 'problems: gaussian(n=20, d=2)' 'cores: svd' "landmarks: $1" 'trials: 1' 'plots: []' \
        'metrics: error' 'strategies:' '- uniform' >c.yaml
    while IFS='|' read -r run limit reason; do
        echo "- 'command(run=\"$run\", timeout=$limit, serve=true)'"
    done <cases >>c.yaml
}

# Each line "RUN|TIMEOUT|REASON" of the file `cases` gave failed rows alone, with that reason.
expect_reasons() {
    output=$(py reasons) tell nysbench run c.yaml
}

@test "serve: wrong picks, and any end of a program, are failed rows with the reason; the run goes on" {
    enter
    local s="./picker"
    cat >cases <<EOF
$s raises|60|
$s twice|60|
$s far|60|
$s nan|60|
$s wide|60|
$s few|60|
$s no_group|60|
$s groups|60|
$s short|60|
$s exits|60|
$s gone|60|
$s killed|60|
$s hangs|0.3|
$s deaf|0.3|
EOF
    served '[3, 5]'
    TMPDIR=$WORK/tmp run "$NYSBENCH" run c.yaml -q -j 2 -o r
    expect_status 1
    expect_rows r "2 ok, 28 failed"
    expect_reasons
    none_runs
    empty tmp
}

@test "serve: what a program writes that is no answer is told, and costs its own rows alone" {
    enter
    local s="./picker"
    cat >cases <<EOF
$s words|60|
$s binary|60|
$s empty|60|
$s else|60|
$s early|60|
$s vague|60|
$s double|60|
$s half|60|
$s told|60|
$s nothing|60|
$s loud|60|
$s where|60|
EOF
    served 3
    TMPDIR=$WORK/tmp run "$NYSBENCH" run c.yaml -q -j 2 -o r
    expect_status 1
    expect_rows r "1 ok, 12 failed"
    expect_reasons
    none_runs
    empty tmp
}

@test "serve: a program that does not start is refused before anything runs" {
    enter
    local how
    for how in silent refuses; do
        echo "./picker $how|60|" >cases
        served 3
        [ $how = refuses ] || sed -i 's/serve=true/serve=true, start=0.3/' c.yaml
        TMPDIR=$WORK/tmp told run c.yaml -q -j 2 -o r
        expect_status 2
    done
    echo "$SERVE mine.py nope|60|" >cases
    echo 'import nysbench' >mine.py
    served 3
    told run c.yaml -q -o r
    expect_status 2
    [ ! -e r ]
    none_runs
    empty tmp
}

@test "serve: one process makes all picks of a worker, each with a seed; the same rows for any workers and order" {
    enter
    cat >c.yaml <<EOF
problems: ["gaussian(n=30, d=3)", "gaussian(n=20, d=2)", "heads(file=$HEAD, head=1)"]
strategies: ['command(run="./picker drawn log", serve=true)']
pairing: [joint, independent, shared]
cores: svd
landmarks: [3, 5]
trials: 3
plots: []
metrics: error
EOF
    "$NYSBENCH" run c.yaml -q -j 1 -o one >/dev/null
    [ "$(wc -l <starts)" -eq 2 ] # to see that it starts, and to pick
    mv asked one.asked
    "$NYSBENCH" run c.yaml -q -j 2 -o two >/dev/null
    [ "$(wc -l <starts)" -le 5 ] # those before, one more, and one for each worker
    diff <(timeless one/rows.csv) <(timeless two/rows.csv)
    "$NYSBENCH" run c.yaml -q -j 1 -o three --set 'landmarks=[5]' >/dev/null
    "$NYSBENCH" run c.yaml -q -j 1 -o three >/dev/null
    diff <(timeless one/rows.csv | sort) <(timeless three/rows.csv | sort)
    py check_requests
}

@test "serve: a program that ends behind an answer, or says more than one, is started anew, and no row shows it" {
    enter
    local how jobs
    for how in drawn once more late; do
        cat >c.yaml <<EOF
problems: "gaussian(n=30, d=3)"
strategies: ['command(run="./picker $how log", serve=true)']
cores: svd
landmarks: [3, 5]
trials: 8
plots: []
metrics: error
EOF
        rm -f starts
        for jobs in 1 2; do
            run "$NYSBENCH" run c.yaml -q -j $jobs --fresh -o $how-$jobs
            expect_status 0
            expect_rows $how-$jobs "16 ok"
        done
        diff <(timeless $how-1/rows.csv) <(timeless $how-2/rows.csv)
        case $how in # one for each run, and one for each worker or for each row
        drawn) [ "$(wc -l <starts)" -le 5 ] ;;
        *) [ "$(wc -l <starts)" -eq 34 ] ;;
        esac
    done
}

@test "serve: nysbench.serve picks with every pairing what a program in C picks, whatever its function does" {
    enter
    cp "$REPOSITORY/tests/cli/plugins/every.py" mine.py
    cat >cases <<EOF
$SERVE mine.py quarrels|60|
$SERVE mine.py hangs|0.3|
EOF
    served 3
    TMPDIR=$WORK/tmp run "$NYSBENCH" run c.yaml -q -j 1 -o r
    expect_status 1
    expect_rows r "1 ok, 2 failed"
    output=$(py reasons | sed -E 's/line [0-9]+/line #/; s/: (b[|]c[|]a word|a word[|]b[|]c)$/: .../') \
        tell nysbench run c.yaml # standard output may be buffered
    rm starts
    cat >c.yaml <<EOF
problems: gaussian(n=40, d=3)
cores: svd
trials: 1
plots: []
metrics: error
blocks:
- landmarks: [4, 5, 6, 7, 8, 9]
  pairing: [joint, independent, queries, keys, shared, shared_queries, shared_keys, both]
  strategies:
  - 'command(run="$SERVE mine.py every scale=3 note=a=b flag=true", serve=true, deterministic=true)'
  - 'command(run="./picker one", serve=true, deterministic=true)'
  - 'command(run="./picker one", deterministic=true)'
  - 'command(run="./picker parts", serve=true, deterministic=true)'
- landmarks: [4, 5, 6, 7, 8, 9]
  pairing: both
  strategies:
$(printf "  - 'command(run=\"./picker %s\", serve=true, deterministic=true)'\n" two points other key)
$(printf "  - 'command(run=\"./picker %s\", deterministic=true)'\n" two points)
- landmarks: [4, 5, 8]
  pairing: joint
  strategies: segment_means
EOF
    TMPDIR=$WORK/tmp run "$NYSBENCH" run c.yaml -q -j 1 -o r --fresh
    expect_status 0
    expect_rows r "231 ok"
    [ "$(wc -l <starts)" -eq 2 ]
    py check_picks
    none_runs
    none_is 'sleep 35.1'
    empty tmp
}

@test "serve: any Python: a virtual environment's, one with its own prefix, paths with blanks; missing files are told" {
    mkdir -p "$WORK/bl ank/my env/bin" "$WORK/bl ank/prefix/bin" "$WORK/bl ank/prefix/lib"
    cd "$WORK/bl ank"
    local here real version
    here=$(pwd -P)
    real=$(readlink -f /usr/bin/python3)
    version=$(basename "$real")
    ln -s /usr/bin/python3 "my env/bin/python"
    printf 'home = /usr/bin\ninclude-system-site-packages = true\n' >"my env/pyvenv.cfg"
    cp "$real" "prefix/bin/$version" # as conda has it: no link, no pyvenv.cfg, a library beside it
    ln -s "$version" prefix/bin/python
    ln -s "/usr/lib/$version" "prefix/lib/$version"
    cp "$REPOSITORY/tests/cli/plugins/own_prefix.py" "my strategy.py"
    local python where spec
    while IFS='|' read -r python where; do
        spec="command(run=\"$python -m nysbench.serve 'my strategy.py' first\", serve=true)"
        run env PYTHONPATH="$PYTHONPATH:/usr/lib/python3/dist-packages" "$NYSBENCH" select --head "$HEAD:1" \
            --strategy "$spec" -m 3 -o k.npy
        expect_status 0
        [ "$(cat told)" = "$where" ] || { cat told; return 1; }
        rm told
    done <<EOF
'my env/bin/python'|$here/my env
'prefix/bin/python'|$here/prefix
/usr/bin/env 'my env/bin/python'|$here/my env
EOF
    local words
    while read -r words; do
        told select --head "$HEAD:1" --strategy "command(run=\"$words\", serve=true)" -m 3 -o k.npy
        expect_status 2
    done <<EOF
python3 -m nysbench.serve none.py first
'my env/bin/python' -m nysbench.serve none.py
'my env/bin/python3' -m nysbench.serve 'my strategy.py'
'./my strategy.py'
EOF
}

@test "serve: the file is part of what a row is, serve=false is what it was" {
    enter
    echo one >mine.txt
    echo two >other.txt
    cat >c.yaml <<EOF
problems: "gaussian(n=20, d=2)"
strategies: ['command(run="./picker drawn mine.txt", serve=true)', 'command(run="./picker drawn other.txt")']
cores: svd
landmarks: 3
trials: 1
plots: []
EOF
    "$NYSBENCH" run c.yaml -q -o r >/dev/null
    [ "$(grep -c 'serve=' r/rows.csv)" -eq 1 ]
    expect_plan 'rows=2 done=2 to_run=0' c.yaml -o r
    echo 1 >mine.txt
    expect_plan 'rows=2 done=1 to_run=1' c.yaml -o r
    echo 2 >other.txt
    expect_plan 'rows=2 done=0 to_run=2' c.yaml -o r
}

@test "serve: programs end with the run that started them, whoever is killed" {
    enter
    echo "./picker hangs|60|" >cases
    served '[3, 4]'
    local id
    for id in run worker; do
        rm -f hanging
        TMPDIR=$WORK/tmp "$NYSBENCH" run c.yaml -q -j 1 -o r --fresh >/dev/null 2>&1 3>&- &
        local run=$! victim=$!
        until_true has_lines hanging 1
        [ $id = run ] || victim=$(cut -d' ' -f2 hanging) # a worker is the parent of the program
        kill -9 "$victim"
        [ $id = run ] || { until_true has_lines hanging 2; kill "$run"; }
        local code=0
        wait "$run" || code=$?
        [ "$code" -gt 128 ] # by a signal
        if [ $id = run ]; then
            until_true programs_ended
            kill -9 -- "-$(cut -d' ' -f1 hanging)" # what the program has started, in its group, is nobody else's to end
        fi
        until_true none_runs
        [ $id = run ] || until_true empty tmp # the next run has removed what the first one left
    done
    echo "./picker leaves|60|" >cases
    served '[3, 4]'
    TMPDIR=$WORK/tmp run "$NYSBENCH" run c.yaml -q -j 1 -o r --fresh
    expect_rows r "4 ok"
    none_runs
    empty tmp
}

@test "serve: the examples pick as farthest.py does, and where a file is missing the one in Perl says so" {
    local run
    for run in "/usr/bin/python3 experiments/plugins/farthest.py\"" \
        "$SERVE experiments/plugins/farthest_served.py\", serve=true" \
        "perl experiments/plugins/farthest.pl\", serve=true"; do
        "$NYSBENCH" select --head "$HEAD:1" --strategy "command(run=\"$run, deterministic=true)" -m 6 --side keys \
            -o "$WORK/k.npy" >/dev/null
        tail -c 48 "$WORK/k.npy" | od -An -v -td8 -w48 >>"$WORK/tokens"
    done
    [ "$(wc -l <"$WORK/tokens")" -eq 3 ]
    [ "$(sort -u "$WORK/tokens" | wc -l)" -eq 1 ]
    [ "$(wc -w <"$WORK/tokens")" -eq 18 ]
    printf '{"folder":"%s","m":2,"seed":0,"n":4,"d":2}\n' "$WORK" >"$WORK/question"
    run perl experiments/plugins/farthest.pl <"$WORK/question"
    tell perl farthest.pl
}

@test "serve: the start, and what a question waits there, are no part of select_s" {
    enter
    local how before after
    for how in slow queued; do
        read -r before _ </proc/uptime
        "$NYSBENCH" measure --head "$HEAD:1" --strategy "command(run=\"./picker $how\", serve=true)" -m 4 --core svd \
            --metrics error --json >row.json
        read -r after _ </proc/uptime
        # that takes 2 s, so that a pick has the rest of the time at most: true on any machine, however busy
        py check_time "$before" "$after" row.json
    done
    # a program cannot have waited longer than its answer took: what is left is the files, which take some time
    "$NYSBENCH" measure --head "$HEAD:1" --strategy 'command(run="./picker patient", serve=true)' -m 4 --core svd \
        --metrics error --json >row.json
    facts of 'assert 0 < x["select_s"] < 10, x' <row.json
}

@test "serve: check makes all checks of a Python function for every pairing, with any allocation of nysbench failing" {
    cd "$WORK"
    cp "$REPOSITORY/tests/cli/plugins/drawn.py" mine.py
    run "$NYSBENCH" check "command(run=\"$SERVE mine.py drawn\", serve=true)" --timeout 600
    tell_verdicts nysbench check "command(run=\"$SERVE mine.py drawn\", serve=true)"
}

@test "serve: check tells a program that picks the same for every seed" {
    enter
    run "$NYSBENCH" check 'command(run="./picker constant", serve=true)'
    expect_status 1
    tell_verdicts nysbench check 'command(run="./picker constant", serve=true)'
}

@test "serve: check passes over the pairings that a program refuses, says why, and makes all checks of the others" {
    enter
    local run calls
    while IFS='|' read -r run calls; do
        run "$NYSBENCH" check "command(run=\"$run)" --timeout 600
        expect_status 0
        [[ "$output" == *", picks: "*"; $calls calls"* ]]
        tell_verdicts nysbench check "command(run=\"$run)"
    done <<EOF
./picker takes_points", serve=true|664
./picker takes_pairs", serve=true|112
./picker needs_points"|664
EOF
    run "$NYSBENCH" check 'command(run="./picker neither", serve=true)'
    expect_status 1
    tell_verdicts nysbench check 'command(run="./picker neither", serve=true)'
}

@test "serve: a function of keys is checked with pairings that have them, and compared with what sees keys too" {
    enter
    printf 'import nysbench\n\n\n@nysbench.strategy\ndef last(keys, m):\n    return keys[:, 0].argsort()[-m:]\n' \
        >mine.py
    run "$NYSBENCH" check "command(run=\"$SERVE mine.py last\", serve=true, deterministic=true)" --timeout 600
    expect_status 0
    output=$(grep '^SKIP' <<<"$output") tell nysbench check "command(run=\"$SERVE mine.py last\", serve=true)"
    cat >c.yaml <<Y
problems: gaussian(n=20, d=2)
strategies: [kmeans, 'command(run="$SERVE mine.py last", serve=true, deterministic=true)']
pairing: keys
cores: iterative
landmarks: 4
trials: 6
metrics: error
plots: []
Y
    "$NYSBENCH" run c.yaml -q -o r
    of_json '(line,) = x
found = line["pairing"], line["verdict"], line["sources"], round(line["joint_low"], 2), round(line["joint_high"], 2)
assert found == ("keys", "worse", 6, 1.3, 1.96), line' "$NYSBENCH" compare r
}

@test "serve: check finds a program that does not draw from its seed" {
    enter
    local how run
    for how in './picker unseeded", serve=true' './picker unseeded"'; do
        for run in "$how" "$how, deterministic=true"; do
            run "$NYSBENCH" check "command(run=\"$run)"
            expect_status 1
            output=$(grep '^FAIL' <<<"$output" |
                sed -E 's/picks: .*(the same seed gave other landmarks:).*/picks: ... \1 .../') \
                tell nysbench check "command(run=\"$run)"
        done
    done
}
