# SPDX-License-Identifier: GPL-3.0-or-later
# The manual: what is made from the program is as the program makes it, links lead somewhere, and what the text
# names is there: commands and their options, targets of make, keys, columns, components, files.

load helpers

@test "README.md has at most 120 lines, of at most 120 characters" {
    [ "$(wc -l <README.md)" -le 120 ]
    ! LC_ALL=C.UTF-8 grep -nE '.{121}' README.md || false
}

@test "docs/columns.md and docs/components.md are as make docs makes them" {
    for part in columns components; do
        "$NYSBENCH" describe --markdown "$part" >"$WORK/$part.md"
        diff "$WORK/$part.md" "docs/$part.md"
    done
    told describe --markdown colums
    expect_status 2
}

# check_manual [FOLDER]: what is wrong in the README.md and the docs/ of a folder, a line each; the program says what
# there is.
check_manual() {
    /usr/bin/python3 tests/checks/docs.py "$NYSBENCH" "${1:-.}"
}

@test "links, commands, options, targets, keys, columns, components and files that the manual names are there" {
    run check_manual
    expect_status 0
    [ -z "$output" ]
}

@test "each kind of mistake in the manual is found" {
    cp -a README.md docs "$WORK"
    ln -s "$PWD"/{experiments,results,LICENSE,CHANGELOG.md,CITATION.cff} "$WORK"
    run check_manual "$WORK"
    expect_status 0
    cat >>"$WORK/docs/method.md" <<'EOF'
[a file](nowhere.md), [a part](config.md#nowhere), [a part here](#nowhere), `nysbench rnu`, `make tset`,
`./nysbench run EXP.yaml --fresch`, `kmean(restarts=4)`, `kmeans(restart=4)`, `cores: svd(rcnd=1)`, `error_cor`,
`src/nowhere.c`

    nysbench staus results/NAME
EOF
    sed -i 's/^| `trials` |/| `trails` |/' "$WORK/docs/config.md"
    sed -i 's/`nb_plan_make`/`nb_plan_mkae`/' "$WORK/docs/developing.md"
    run check_manual "$WORK"
    expect_status 1
    for wrong in nowhere.md config.md#nowhere '#nowhere' "no command 'rnu'" "no target 'tset'" "'--fresch'" "'kmean'" \
        "'restart'" "'rcnd'" "'error_cor'" src/nowhere.c "no command 'staus'" "in a checkout it is ./nysbench" \
        "'trails'" "'trials'" "make_plan.c has no 'nb_plan_mkae'"; do
        expect "$wrong"
    done
    [ "${#lines[@]}" -eq 17 ]
}

# blocks_of FILE.md: its YAML blocks as files $WORK/1.yaml, $WORK/2.yaml ...
blocks_of() {
    awk -v folder="$WORK" \
        '/^```yaml$/ { out = folder "/" ++count ".yaml"; next } /^```$/ { out = ""; next } out { print >out }' "$1"
}

@test "the experiments of docs/config.md are valid" {
    mkdir "$WORK/my"
    cp experiments/data/vit_astronaut_n257_L6.safetensors "$WORK/my/heads.safetensors"
    blocks_of docs/config.md
    expect_plan "methods=$((4 * 9 * 3))" "$WORK/1.yaml" # strategies, landmarks and cores
    expect_plan "methods=$((4 * 8))" "$WORK/2.yaml" --set cores=svd --set name=labels
    cat "$WORK/1.yaml" "$WORK/3.yaml" >"$WORK/both.yaml"
    of_json 'assert x[0]["excluded"] > 0, x' "$NYSBENCH" plan "$WORK/both.yaml"
    cat "$WORK/1.yaml" "$WORK/4.yaml" >"$WORK/claims.yaml"
    run "$NYSBENCH" plan "$WORK/claims.yaml" --set 'cores=[svd(rcond=0.01), iterative(steps=6)]'
    expect_status 0
}

@test "sentences that readers stumble over are found: long ones, many intervals, riddles" {
    cat >"$WORK/text.md" <<'EOF'
# A heading of one two three four five six seven eight nine ten one two three four five six seven eight nine ten one two

It has 1.2 [1.1, 1.3], 1.4 [1.3, 1.5] and 1.6 [1.5, 1.7]. This one is short; so is `this one, which is code`.

* one two three four five six seven eight nine ten one two three four five six seven eight nine ten one two three four
  five six seven eight nine ten one two three four five six.
* Keys are told apart by these rows.

| a table | of one two three four five six seven eight nine ten one two three four five six seven eight nine ten words |
|---|---|
EOF
    run tests/checks/words.py "$WORK/text.md"
    expect_status 1
    tell words.py text.md
}

@test "docs/paper.md has at most 4,500 words: what is about the program, or a table more, belongs into its appendices" {
    local words
    words=$(wc -w <docs/paper.md)
    [ "$words" -ge 2000 ] # it is there
    [ "$words" -le 4500 ] || { echo "it has $words"; return 1; }
}
