# SPDX-License-Identifier: GPL-3.0-or-later
# Texts that people read and scripts parse do not change unseen; and the version is the same wherever it stands.

load helpers

@test "help, descriptions, columns, answers to claims and what commands tell are those of tests/golden" {
    tests/golden.sh "$WORK/now"
    [ "$(find "$WORK/now/help" -name '*.txt' | wc -l)" -ge 16 ]
    [ "$(find "$WORK/now/describe" -name '*.txt' | wc -l)" -ge 40 ]
    local part changed=0
    for part in help describe told columns.txt claims.txt claims.md; do
        diff -ruN "tests/golden/$part" "$WORK/now/$part" || changed=1
    done
    [ "$changed" -eq 0 ] || { echo "if that is meant, tests/golden.sh --renew, and commit what it writes"; return 1; }
}

@test "messages are those of tests that there are" {
    local file tests=0
    for file in tests/golden/messages/*.txt; do
        diff <(sed -n 's/^=== //p' "$file" | sort) <(sed -n 's/^@test "\(.*\)" {$/\1/p' \
            tests/*/"$(basename "$file" .txt).bats" | sort) | grep '^<' && return 1
        tests=$((tests + 1))
    done
    [ "$tests" -gt 0 ]
}

@test "the changelog and the citation name the program's version" {
    local version
    version=$("$NYSBENCH" --version)
    version=${version#nysbench }
    grep -q "^version: ${version//./\\.}\$" CITATION.cff
    [ "$(grep -m 1 '^## ' CHANGELOG.md | cut -d ' ' -f 2)" = "[$version]" ]
}
