#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Names the symbols of glibc newer than 2.MINOR that programs and libraries in FOLDER need; exit status 1 if there are any,
# or if there is no such file: python/check_symbols.sh FOLDER MINOR
set -eu
files=0 newer=0
while IFS= read -r -d '' file; do
    [ "$(head -c 4 "$file" | tr -d '\0')" = $'\x7fELF' ] || continue
    files=$((files + 1))
    symbols=$(readelf -W --dyn-syms "$file" | grep -o '[^ ]*@GLIBC_2\.[0-9]*' | sort -u |
        awk -F '@GLIBC_2[.]' -v most="$2" '$2 + 0 > most + 0 { printf " %s", $0 }')
    [ -z "$symbols" ] || { newer=1; echo "$file: newer than GLIBC_2.$2:$symbols" >&2; }
done < <(find "$1" -type f -print0)
[ "$files" -gt 0 ] || { echo "$1: holds no program and no library" >&2; exit 1; }
exit "$newer"
