# SPDX-License-Identifier: GPL-3.0-or-later
# The manual: a page for each command with all of its options, pages that man(1) reads without complaint, and the pages
# in a terminal.

load helpers

commands() {
    "$NYSBENCH" --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p'
}

@test "each command has a page with its summary, all its options and examples" {
    local command option
    [ "$(commands | wc -l)" -ge 20 ]
    for command in $(commands); do
        run "$NYSBENCH" help "$command"
        expect_status 0
        for part in "NAME" "    nysbench-$command - " "    nysbench $command [OPTION]..." "OPTIONS" "EXAMPLES" \
            "EXIT STATUS"; do
            grep -qF -- "$part" <<<"$output" || { echo "$command: no '$part'"; return 1; }
        done
        for option in $("$NYSBENCH" "$command" --help | grep -oE '^ +(-[a-z], )?--[a-z-]+' | grep -oE '\-\-[a-z-]+'); do
            grep -qE -- "^    (-[a-z], )?$option( |\$)" <<<"$output" || { echo "$command: no $option"; return 1; }
        done
    done
}

@test "a section of docs/commands.md for each command, and none for another" {
    diff <(commands | sort) <(sed -n 's/^## \([a-z]*\)$/\1/p' docs/commands.md | sort)
}

@test "help lists its topics, shows documents, and knows the nearest topic" {
    run "$NYSBENCH" help
    expect_status 0
    for topic in nysbench run config columns comparing plugins claims.md; do
        expect $'\n'"  $topic "
    done
    run "$NYSBENCH" help config
    expect_status 0
    output=$(sed -n 2p <<<"$output") tell nysbench help config
    [ "$("$NYSBENCH" help config)" = "$("$NYSBENCH" help CONFIG.md)" ]
    [ "$("$NYSBENCH" help claims)" != "$("$NYSBENCH" help claims.md)" ]
    run "$NYSBENCH" help columns
    expect $'\n'"    head"$'\n'"        kind: "
    told help confg
    expect_status 2
}

@test "help explains each word of the glossary that is no topic" {
    told help scene
    expect_status 0
    told help B
    sed -n '/^## Glossary/,/^## The/s/^| \([^|]*\) |.*/\1/p' docs/method.md | grep -v '^word$' |
        tr ',' '\n' >"$WORK/words"
    [ "$(wc -l <"$WORK/words")" -gt 20 ]
    while read -r word; do "$NYSBENCH" help "$word" >/dev/null; done <"$WORK/words"
    run "$NYSBENCH" help word # the head of the table
    expect_status 2
}

@test "the steps of a list are numbered" {
    run "$NYSBENCH" help plugins
    output=$(grep -E '^ +[0-9]\.  ' <<<"$output") tell nysbench help plugins
}

@test "lines of an item stand below its first word, and code is as it is, however narrow the terminal" {
    COLUMNS=50 run "$NYSBENCH" help plugins
    output=$(grep -A 2 '^    1\.  ' <<<"$output") tell COLUMNS=50 nysbench help plugins
    COLUMNS=50 run "$NYSBENCH" help running
    output=$(grep -A 2 -E '^      - Padding|^        nysbench plan|^    These commands' <<<"$output") \
        tell COLUMNS=50 nysbench help running
}

@test "neither the program nor the library needs what renders the manual" {
    local program file
    program=$(realpath "$NYSBENCH")
    readelf -d "${program%/*}/make_manual" | grep -q 'NEEDED.*cmark'
    for file in "$program" build/libnysbench.so; do
        readelf -d "$file" >"$WORK/needed"
        grep -q 'NEEDED' "$WORK/needed"
        ! grep 'cmark' "$WORK/needed" || return 1
    done
}

@test "every topic is a page, and no line of words is wider than told" {
    local topic width
    for topic in $("$NYSBENCH" help | sed -n 's/^  \([a-z.]\{1,\}\) .*/\1/p'); do
        for width in 50 90; do
            # the accents that follow a letter, such as U+0303, take no column
            COLUMNS=$width "$NYSBENCH" help "$topic" | LC_ALL=C sed 's/\xcc[\x80-\xbf]//g' >"$WORK/page"
            [ "$(head -1 "$WORK/page")" = NAME ]
            # words are indented by four to seven columns, or stand in lists; code by eight
            if LC_ALL=C.UTF-8 grep -E "^ {4,7}[^ ].*[^ ] [^ ]" "$WORK/page" |
                LC_ALL=C.UTF-8 grep -E "^.{$((width + 1))}"; then
                echo "$topic at $width"
                return 1
            fi
        done
    done
}

@test "pages for man are what mandoc and groff accept, with the same options and the date that is told" {
    local make_manual
    make_manual=$(dirname "$(realpath "$NYSBENCH")")/make_manual
    SOURCE_DATE_EPOCH=86400 "$make_manual" "$WORK"
    [ "$(find "$WORK/man" -name '*.1' | wc -l)" = "$(($(commands | wc -l) + 1))" ]
    for page in man1/nysbench.1 man5/nysbench-config.5 man7/nysbench-columns.7 man7/nysbench-components.7; do
        grep -q '^\.TH .* 1970-01-02 "nysbench' "$WORK/man/$page"
    done
    if command -v mandoc >/dev/null; then
        run mandoc -T lint "$WORK"/man/man*/*
        expect_status 0
        [ -z "$output" ]
    fi
    command -v groff >/dev/null || skip "groff is not installed"
    for page in "$WORK"/man/man*/*; do
        run bash -c 'groff -ww -man -Tascii "$1" 2>&1 >/dev/null' groff "$page"
        [ -z "$output" ] || { echo "$page: $output"; return 1; }
    done
    groff -man -Tascii "$WORK/man/man1/nysbench-run.1" | sed "s/\x1b\[[0-9]*m//g; s/.\x08//g" >"$WORK/run"
    grep -q -- "-s, --set KEY=VALUE" "$WORK/run"
    run env SOURCE_DATE_EPOCH=yesterday "$make_manual" "$WORK"
    expect_status 1
    output=${output#*make_manual: } tell SOURCE_DATE_EPOCH=yesterday make_manual
}

@test "on a terminal the page goes through the pager" {
    run on_terminal 80 env PAGER="sed 's/^/PAGED /'" "$NYSBENCH" help run
    expect_status 0
    [[ "${lines[0]}" == "PAGED NAME"* ]] # NOLINT(wording): the pager's word, and a heading
    run on_terminal 80 env PAGER="head -1" "$NYSBENCH" help columns # ends before it has read all
    expect_status 0
    run on_terminal 80 env PAGER="nysbench-no-such-pager" "$NYSBENCH" help run
    expect_status 1
    output=$(grep -o 'nysbench: error: .*' <<<"$output" | tr -d '\r') \
        tell PAGER=nysbench-no-such-pager nysbench help run
    run env PAGER="sed 's/^/PAGED /'" "$NYSBENCH" help run
    [ "${lines[0]}" = NAME ]
}
