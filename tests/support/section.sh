#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A file of sections, each below a line "=== NAME".
#     section.sh get FILE NAME        prints one, nothing if it is not there
#     section.sh put FILE NAME TEXT   replaces it by the file TEXT, or adds it at the end; an empty one goes
#     section.sh keep FILE <NAMES     drops those of other names than these, one a line
set -eu
export NAME="=== ${3:-}"
case $1 in
get) [ ! -e "$2" ] || awk '/^=== / { on = $0 == ENVIRON["NAME"]; next } on' "$2" ;;
put)
    [ -e "$2" ] || : >"$2"
    awk -v text="$4" '
        function put() {
            done = 1
            if ((getline line <text) <= 0) return
            print ENVIRON["NAME"]
            do print line; while ((getline line <text) > 0)
        }
        /^=== / { on = $0 == ENVIRON["NAME"]; if (on) put() }
        !on
        END { if (!done) put() }' "$2" >"$2.new"
    mv "$2.new" "$2"
    ;;
keep)
    awk 'NR == FNR { names["=== " $0] = 1; next } /^=== / { on = $0 in names } on' - "$2" >"$2.new"
    mv "$2.new" "$2"
    ;;
*) exit 2 ;;
esac
