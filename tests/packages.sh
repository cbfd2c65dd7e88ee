#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What make dist and make deb give: the tarball builds and runs where there is no git, lintian finds nothing, and what
# the packages hold runs from an unpacked copy. Some minutes: tests/packages.sh [dist|deb]
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(sed -n 's/^#define NB_VERSION "\(.*\)"$/\1/p' src/base/version.h)

# smoke PROGRAM: it is that version, finds its documents, and runs an experiment.
smoke() {
    [ "$("$1" --version)" = "nysbench $version" ]
    "$1" help config | grep -q 'nysbench-config - '
    "$1" run experiments/00-smoke.yaml --quiet --jobs 1 --set 'plots=[]' --out "$work/run" >/dev/null
    "$1" status "$work/run" >/dev/null
    rm -rf "$work/run"
}

dist() {
    make -s dist >/dev/null
    tar -C "$work" -xf "build/nysbench-$version.tar.xz"
    mkdir "$work/bin"
    printf '#!/bin/sh\necho "git is called" >&2\nexit 1\n' >"$work/bin/git"
    chmod +x "$work/bin/git"
    PATH=$work/bin:$PATH make -s -C "$work/nysbench-$version" >"$work/log" 2>&1 || { tail "$work/log"; return 1; }
    ! grep 'git is called' "$work/log" || return 1
    smoke "$work/nysbench-$version/nysbench"
    "$work/nysbench-$version/nysbench" info | grep -qE "^build +$(cat "$work/nysbench-$version/.build-id")$"
}

deb() {
    local root=$work/root package
    make -s deb >"$work/log" 2>&1 || { tail "$work/log"; return 1; }
    lintian --fail-on error,warning --tag-display-limit 0 build/deb/*.changes
    for package in nysbench libnysbench1 libnysbench-dev python3-nysbench; do
        dpkg -x build/deb/"$package"_*.deb "$root"
    done
    smoke "$root/usr/bin/nysbench"
    MANPATH=$root/usr/share/man man nysbench-run | grep -q -- '--dry-run'
    [ ! -e "$root/usr/share/nysbench/installed" ]
    for package in nysbench libnysbench1; do
        ! dpkg -f build/deb/"$package"_*.deb Depends | grep cmark || return 1
    done
    ls "$root"/usr/lib/*/libnysbench.so "$root"/usr/lib/*/pkgconfig/libnysbench.pc \
        "$root/usr/include/nysbench.h" >/dev/null
    NYSBENCH_LIBRARY=$(ls "$root"/usr/lib/*/libnysbench.so.1) PYTHONPATH=$root/usr/lib/python3/dist-packages \
        NYSBENCH_PROGRAM=$root/usr/bin/nysbench /usr/bin/python3 -c '
import numpy, nysbench
q = numpy.random.default_rng(1).standard_normal((30, 4))
assert len(set(nysbench.select(q, 5, "uniform").tokens)) == 5
def last(keys, m):
    return range(len(keys) - m, len(keys))
run = nysbench.run(heads=(q, q), strategies=last, cores="svd", landmarks=5, progress=False)
assert list(nysbench.row_arrays(run.folder)["status"]) == ["ok"]'
    (cd python && find nysbench -type f ! -name '*.pyc' | sort) >"$work/sources"
    (cd "$root/usr/lib/python3/dist-packages" && find nysbench -type f | sort) | diff "$work/sources" -
}

for part in ${1:-dist deb}; do "$part"; done
