#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs files below a folder, or removes what was installed there. LIST, a file below ROOT, has a line for each file,
# and for each folder that did not exist before.
#     src/make/install.sh install ROOT LIST    standard input has a line for each file: MODE FROM TO, or link TARGET TO
#     src/make/install.sh uninstall ROOT LIST
set -eu
export LC_ALL=C
root=$2
list=$2/$3
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT

make_folder() { # FOLDER, with those above it
    [ -d "$root/$1" ] || {
        case $1 in */*) make_folder "${1%/*}" ;; esac
        mkdir "$root/$1"
        echo "$1/" >>"$lines"
    }
}

install_files() {
    install -d "$root"
    while read -r mode from to; do
        [ -n "$mode" ] || continue
        make_folder "${to%/*}"
        if [ "$mode" = link ]; then ln -sfn "$from" "$root/$to"; else install -m "$mode" "$from" "$root/$to"; fi
        echo "$to" >>"$lines"
    done
    [ ! -f "$list" ] || cat "$list" >>"$lines"
    sort -u "$lines" >"$list"
    chmod 644 "$list"
    echo "installed into $root"
}

uninstall_files() { # files first, then the folders that are empty now, from the inside out
    [ -f "$list" ] || { echo "nothing to remove: $list is not there" >&2; exit 1; }
    mv "$list" "$lines"
    grep -v '/$' "$lines" | while read -r file; do rm -f "$root/$file"; done
    grep '/$' "$lines" | sort -r | while read -r folder; do
        rmdir --ignore-fail-on-non-empty "$root/$folder" 2>/dev/null || [ ! -d "$root/$folder" ]
    done
    echo "removed from $root"
}

"$1_files"
