#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes what a build is made of as C: its commit, and from the environment the compiler's FLAGS, which may have quotes.
#     FLAGS=... src/make/build.sh COMMIT
set -eu
in_c() { # TEXT: within a string of C
    printf '%s\n' "$1" | sed 's/[\\"]/\\&/g'
}
echo '/* made by src/make/build.sh: do not edit */'
printf '#define NB_BUILD_ID "%s"\n#define NB_FLAGS "%s"\n' "$(in_c "$1")" "$(in_c "$FLAGS")"
