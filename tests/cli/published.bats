# SPDX-License-Identifier: GPL-3.0-or-later
# The numbers of README.md and docs/results.md are those of results/published.

load helpers

# check_numbers [FOLDER]: what is in no published file, a line each.
check_numbers() {
    /usr/bin/python3 tests/published/numbers.py "${1:-.}"
}

@test "the numbers of README.md and docs/results.md are in results/published" {
    run check_numbers
    expect_status 0
    [ -z "$output" ]
}

# A copy of what is checked, to break.
copy_texts() {
    mkdir -p "$WORK/docs" "$WORK/results/published"
    cp README.md "$WORK"
    cp docs/results.md "$WORK/docs"
    cp results/published/{LIST,*.csv} "$WORK/results/published"
}

@test "a number that is in no row of its published files is named, with its place" {
    copy_texts
    sed -i 's/0\.72 \[0\.69, 0\.74\]/0.72 [0.68, 0.74]/' "$WORK/README.md"
    sed -i 's/| 0\.65 \[0\.62, 0\.69\] |/| 0.66 [0.62, 0.69] |/; s/^## Speed$/## Velocity/' "$WORK/docs/results.md"
    run check_numbers "$WORK"
    expect_status 1
    expect "README.md#what-has-been-found: '0.72, 0.68, 0.74'"
    expect "docs/results.md#how-surely: '0.66, 0.62, 0.69'"
}

@test "a row is told from another one by the headings of a table" {
    copy_texts # the numbers of k-means at m = 8 in the row of farthest_point are there, but not in its row
    sed -i 's/^| `farthest_point` | 0\.87 \[0\.83, 0\.92\]/| `farthest_point` | 0.65 [0.62, 0.69]/' "$WORK/docs/results.md"
    run check_numbers "$WORK"
    expect_status 1
    expect "docs/results.md#how-surely: '0.65, 0.62, 0.69' (\`farthest_point\` | 0.65 [0.62, 0.69])"
    [ "${#lines[@]}" -eq 1 ]
}

@test "a text without a published file, a given number that is not there and a file that is missing are named" {
    copy_texts
    printf '\n## Another finding\n\nIt is 0.123 of that.\n' >>"$WORK/docs/results.md"
    sed -i 's/^    0\.03 -- /    0.03 77 -- /' "$WORK/results/published/LIST"
    rm "$WORK/results/published/sources.csv"
    run check_numbers "$WORK"
    expect_status 1
    expect "docs/results.md#another-finding: '0.123' (It is 0.123 of that.) is in no row of LIST, which has no CSV file for this section"
    expect "README.md#what-has-been-found: LIST gives 77, which is not there"
    expect "results/published/sources.csv: LIST has it, but it is not there"
}

@test "every file of results/published is in its LIST, and the other way round" {
    diff <(sed -n 's/^\[\([a-z].*\.[a-z]*\)\]$/\1/p' results/published/LIST | sort) <(cd results/published && ls | grep -v LIST | sort)
}

@test "what LIST says is checked" {
    copy_texts
    cat >>"$WORK/results/published/LIST" <<'EOF'
[more.csv]
run = 99-nothing
command = compare {run}
EOF
    run check_numbers "$WORK"
    expect_status 1
    expect "[more.csv] has run = 99-nothing, but there is no [run 99-nothing]"
}
