# SPDX-License-Identifier: GPL-3.0-or-later
# The sessions of README.md and docs/, run: the commands that are shown give the outputs that are shown.

load helpers

run_sessions() {
    PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 tests/support/sessions.py "$NYSBENCH" "${1:-.}"
}

@test "the sessions of the manual give what they show, and the commands of README run, but for six" {
    run run_sessions
    expect_status 0
    output=${output##*, } tell sessions.py
}

@test "the tutorial has ten commands" {
    [ "$(sed -n '/^```console$/,/^```$/p' docs/tutorial.md | grep -c '^\$ ')" -eq 10 ]
}

@test "a session that shows something else is found: a number, a word, a line too much, an exit status" {
    mkdir "$WORK/docs"
    printf '    ./nysbench run experiments/15-sources.yaml\n' >"$WORK/README.md"
    printf '    ./nysbench %s\n' "compare results/15-sources --pool landmarks   # no run" \
        "new experiment my.yaml --heads my-layer" "run my.yaml" "compare results/my" fly >>"$WORK/README.md"
    cat >"$WORK/docs/a.md" <<'EOF'
```console
$ git clone URL nysbench && cd nysbench && make deps && make
$ echo 'error 0.123 of 45 rows in 2.31 s with 4 workers'
error 0.124 of 45 rows in 17 s with 2 workers
$ echo 'error 0.123'
error 0.125
$ echo '45 rows'
46 rows
$ printf 'one\ntwo\nthree\n'
...
three
$ printf 'one\ntwo\n'
one
$ X=there; export X; cd docs 2>/dev/null || mkdir docs
$ echo $X
here
$ false
```

    $ nothing runs this
EOF
    run run_sessions "$WORK"
    expect_status 1
    [ "$(grep -c '^/.*: \$ ' <<<"$output")" -eq 6 ]
    tell sessions.py
    sed -i '/git clone/d' "$WORK/docs/a.md"
    run run_sessions "$WORK"
    output=$(grep 'git clone' <<<"$output") tell sessions.py
}
