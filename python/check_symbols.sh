#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Says what the programs and libraries in FOLDER need that another machine may lack: symbols of glibc newer than
# 2.MINOR, and libraries that are neither in FOLDER nor part of glibc or of the compiler. Exit status 1 if there are
# any, or if FOLDER holds no program and no library: python/check_symbols.sh FOLDER MINOR
set -eu
folder=$1 minor=$2
everywhere=" ld-linux-x86-64.so.2 libc.so.6 libgcc_s.so.1 libm.so.6 libmvec.so.1 "
files=0 status=0

# Those symbols of a file, separated by blanks.
newer() {
    readelf -W --dyn-syms "$1" | grep -o '[^ ]*@GLIBC_2\.[0-9]*' | sort -u |
        awk -F '@GLIBC_2[.]' -v most="$minor" '$2 + 0 > most + 0 { printf " %s", $0 }'
}

# Those libraries.
missing() {
    local library
    readelf -W -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' | while read -r library; do
        [[ $everywhere == *" $library "* || -n $(find "$folder" -name "$library" -print -quit) ]] ||
            printf ' %s' "$library"
    done
}

while IFS= read -r -d '' file; do
    [ "$(head -c 4 "$file" | tr -d '\0')" = $'\x7fELF' ] || continue
    files=$((files + 1))
    symbols=$(newer "$file") libraries=$(missing "$file")
    [ -z "$symbols" ] || { status=1; echo "$file: newer than GLIBC_2.$minor:$symbols" >&2; }
    [ -z "$libraries" ] || { status=1; echo "$file: not every machine has:$libraries" >&2; }
done < <(find "$folder" -type f -print0)
[ "$files" -gt 0 ] || { echo "$folder: holds no program and no library" >&2; exit 1; }
exit "$status"
