#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# README's two commands in a bare root of Debian 12 and 13 that has gcc, make and git: what they install and how large
# it is, and that they end well. Needs root, debootstrap and Debian's archive; a quarter of an hour for each release:
# tests/debian.sh [bookworm|trixie]...    (COMMANDS=demo: without make test; ROOTS: a folder in which the roots stay,
# with what was installed)
set -eu
cd "$(dirname "$0")/.."
work=${ROOTS:-$(mktemp -d)}
[ -n "${ROOTS:-}" ] || trap 'rm -rf --one-file-system "$work"' EXIT

fail() {
    echo "tests/debian.sh: $*" >&2
    exit 1
}

# inside ROOT COMMAND: in a clone of this repository, with no variable of ours.
inside() {
    unshare --mount sh -c 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" &&
        exec chroot "$1" /usr/bin/env -i \
        HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -c "cd /root/nysbench && $2"' sh "$1" "$2"
}

packages() { # ROOT
    chroot "$1" dpkg-query -W -f='${Package}\t${Installed-Size}\n' | sort
}

# measured ROOT COMMAND LABEL: runs it, and says what it has installed; the names are in ROOT.new.
measured() {
    local root=$1 command=$2 started=$SECONDS
    packages "$root" >"$root.before"
    inside "$root" "$command" >"$root.log" 2>&1 || { tail -50 "$root.log"; fail "$command in $root ends badly"; }
    packages "$root" | comm -13 "$root.before" - >"$root.new"
    awk -v what="$(basename "$root"): $command" -v took=$((SECONDS - started)) \
        '{ n++; mb += $2 / 1024 } END { printf "%s: %d packages, %.0f MB, %d s\n", what, n, mb, took }' "$root.new"
}

[ "$(id -u)" = 0 ] || fail "making a bare root needs root"
archive=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 'debian/$')
for release in "${@:-bookworm trixie}"; do
    for name in $release; do
        root=$work/$name
        [ -d "$root" ] || debootstrap --variant=minbase \
            --include=gcc,libc6-dev,make,git,ca-certificates "$name" "$root" "$archive" \
            >"$root.log" 2>&1 || { tail "$root.log"; fail "debootstrap of $name failed"; }
        rm -rf "$root/root/nysbench"
        git clone -q . "$root/root/nysbench"
        measured "$root" 'make demo'
        grep -E '^(python|chromium|firefox)' "$root.new" && fail "make demo has installed these"
        awk '{ mb += $2 / 1024 } END { exit mb > 210 }' "$root.new" || fail "make demo has installed more than 210 MB"
        [ ! -s "$root.new" ] || grep -q 'MB of additional disk space' "$root.log" ||
            fail "make demo has not said how much it installs"
        tail -25 "$root.log"
        [ "${COMMANDS:-}" = demo ] || { measured "$root" 'make test'; tail -1 "$root.log"; }
    done
done
