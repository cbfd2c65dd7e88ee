# SPDX-License-Identifier: GPL-3.0-or-later
# What a build says: what is compiled is counted, in one line of a terminal. The compiler is a stub, which makes empty
# files.

load helpers

stub() {
    cat >"$WORK/cc" <<'SH'
#!/bin/sh
while [ $# -gt 1 ]; do
    [ "$1" != -o ] || [ "$2" = - ] || : >"$2"
    shift
done
SH
    chmod +x "$WORK/cc"
    build=(make --no-print-directory -j2 B="$WORK/b" CC="$WORK/cc" "$WORK/b/libnysbench.a" "$WORK/b/src/main.o")
}

@test "a build counts what it compiles: a line for each 50, the last with all; V=1 shows the commands" {
    stub
    "${build[@]}" >"$WORK/out" 2>"$WORK/err"
    [ ! -s "$WORK/err" ] || { cat "$WORK/err"; return 1; }
    local all
    all=$(find "$WORK/b" -name '*.o' | wc -l)
    [ "$all" -gt 300 ]
    { seq -f "  cc %g of $all" 50 50 "$all"; echo "  cc $all of $all"; } | uniq | diff - <(sort -V "$WORK/out")
    rm "$WORK"/b/src/base/*.o
    run "${build[@]}" V=1
    expect_status 0
    [ "$(grep -c " -c src/base/[a-z_]*.c -o $WORK/b/src/base/" <<<"$output")" -eq "$(ls src/base/*.c | wc -l)" ]
    [ "$(grep -c '^  cc' <<<"$output")" -eq 0 ]
    touch -d 2001-01-01 "$WORK/b/src/base/text.o"
    run "${build[@]}" # few, of which nobody knows how many there will be
    expect_status 0
    [ "$(grep -c '^  cc' <<<"$output")" -eq 0 ]
}

@test "on a terminal the count is one line, written anew, with the file that is compiled" {
    stub
    TERM=xterm on_terminal 80 "${build[@]}" >"$WORK/screen"
    py check_count "$WORK/screen"
}

@test "a directive that a file of SQL cannot have stops the build, with its line" {
    mkdir -p "$WORK/src/studies/error/tables" "$WORK/src/studies/error/figures"
    printf '%s\n' '-- summary: x' '-- belwo: y' 'SELECT 1' '-- nothing: z' 'FROM run;' '' '-- script: a.gp' \
        'SELECT 2;' \
        >"$WORK/src/studies/error/tables/a.sql"
    printf '%s\n' '-- summary: x' '-- heading: y' 'SELECT 1;' >"$WORK/src/studies/error/figures/b.sql"
    local awk=$PWD/src/make/sql.awk
    ! (cd "$WORK" && awk -f "$awk" src/studies/error/*/*.sql) >"$WORK/c" 2>"$WORK/err"
    output=$(cat "$WORK/err") status=1 tell awk -f src/make/sql.awk
    awk -f "$awk" src/studies/*/*/*.sql src/{rows,answers,show}/*.sql >/dev/null
}

@test "a word of a statement that does not end stops the build, as does an end without a beginning" {
    mkdir -p "$WORK/src/rows"
    printf '%s\n' '-- name: good' 'SELECT {a}, {b: x.@}' '' '-- name: open' 'SELECT {a' '' '-- name: closed' \
        'SELECT a}' '' '-- name: within' 'SELECT {a, {b}}' >"$WORK/src/rows/a.sql"
    local awk=$PWD/src/make/sql.awk
    ! (cd "$WORK" && awk -f "$awk" src/rows/a.sql) >"$WORK/c" 2>"$WORK/err"
    output=$(cat "$WORK/err") status=1 tell awk -f src/make/sql.awk
}
