# SPDX-License-Identifier: GPL-3.0-or-later
# What a target of the Makefile needs: it names what is missing and installs nothing, unless installing is its job.

load helpers

# Programs of this machine without apt-get, and with one that only tells what it is asked for.
fake_apt() {
    mkdir "$WORK/bin"
    printf '#!/bin/sh\necho "$@" >>%s\n' "$WORK/asked" >"$WORK/bin/apt-get"
    chmod +x "$WORK/bin/apt-get"
    PATH=$WORK/bin:$PATH
}

@test "needs: a target names what it lacks, with the one command that brings it, exits 2 and installs nothing" {
    fake_apt
    local target list deps
    while read -r target list deps; do
        run make -s "$target" "$list=no-such-module=lib-one bin/no-such-program=two"
        expect_status 2
        expect " lib-one two"
        expect " $deps"
        output=$(grep -v '^make' <<<"$output") tell make -s "$target"
    done <<EOF
nysbench TO_BUILD deps
unit TO_TEST deps-test
asan TO_TEST deps-test
coverage TO_TEST deps-test
bench TO_TEST deps-test
lint TO_LINT deps-develop
fuzz TO_FUZZ deps-develop
dist TO_PACK deps-develop
deb TO_PACK_DEB deps-develop
EOF
    run make -s "TO_BUILD=no-such-module=lib-one" # the program, where no target is named
    expect_status 2
    expect ": lib-one"
    [ ! -e "$WORK/asked" ]
}

@test "needs: what another target needs is not asked for" {
    run make -s can-build TO_TEST=no-such-module=x TO_LINT=bin/no-such-program=y
    expect_status 0
    run make -s can-build TO_BUILD="bin/gnuplot=none bin/no-such-program=z"
    expect_status 2
    run make -s can-test TO_BUILD=bin/no-such-program=z
    expect_status 2
    expect ": z"
}

@test "needs: deps says what it installs and how large that is, and installs that alone" {
    fake_apt
    printf '%s\n' '#!/bin/sh' "echo \"\$*\" >>$WORK/asked" 'case "$*" in *--assume-no*) ;; *) exit 0 ;; esac' \
        'echo "0 upgraded, 2 newly installed."' 'echo "Need to get 1 MB."' 'echo "After this operation, 7 MB more."' \
        'exit 1' >"$WORK/bin/apt-get"
    run make -s deps TO_BUILD="no-such-module=lib-one bin/sh=none bin/no-such-program=two" \
        TO_TEST=bin/no-such-test=three
    expect_status 0
    tell make -s deps
    [ "$(tail -1 "$WORK/asked")" = "install -y -qq --no-install-recommends lib-one two" ]
    run make -s deps-test TO_BUILD="no-such-module=lib-one" TO_TEST=bin/no-such-test=three \
        TO_DEVELOP=bin/no-such-tool=four
    [ "$(tail -1 "$WORK/asked")" = "install -y -qq --no-install-recommends lib-one three" ]
    rm "$WORK/asked"
    run make -s deps TO_BUILD=bin/sh=none
    expect_status 0
    [ -z "$output" ]
    [ ! -e "$WORK/asked" ]
}

@test "needs: libraries are found by pkg-config in any prefix, compiled against and found again at run time" {
    local prefix=$WORK/a-prefix name
    mkdir -p "$prefix/lib/pkgconfig"
    for name in openblas lapacke gsl sqlite3 yaml-0.1 jansson popt nettle libcmark-gfm; do
        printf 'Name: %s\nDescription: here\nVersion: 9\nCflags: -I%s/include/%s\nLibs: -L%s/lib -lfrom-%s\n' \
            "$name" "$prefix" "$name" "$prefix" "$name" >"$prefix/lib/pkgconfig/$name.pc"
    done
    run env PKG_CONFIG_LIBDIR="$prefix/lib/pkgconfig" make -n V=1 B="$WORK/b" "$WORK/b/nysbench"
    expect_status 0
    for name in openblas nettle; do
        expect "-I$prefix/include/$name"
        expect "-lfrom-$name"
    done
    expect "-Wl,-rpath,$prefix/lib"
    rm "$prefix/lib/pkgconfig/gsl.pc"
    run env PKG_CONFIG_LIBDIR="$prefix/lib/pkgconfig" make -s can-build
    expect_status 2
    expect ": libgsl-dev"
}
