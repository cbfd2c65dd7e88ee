#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The program's texts, a file each: help/COMMAND.txt, describe/KIND/NAME.txt; columns.txt, the columns of rows.csv
# in their order with what describe says of them; claims.txt and claims.md, the answers to the claims of claims.yaml.
# tests/cli/golden.bats compares them with tests/golden; who has
# changed one on purpose renews them and commits what git diff shows:
#     tests/golden.sh --renew
# Or into another folder: tests/golden.sh FOLDER. NYSBENCH is the program, ./nysbench if not said.
set -eu
cd "$(dirname "$0")/.."
program=$(realpath "${NYSBENCH:-nysbench}")
case ${1:-} in
--renew) folder=tests/golden ;;
-* | '') echo "usage: tests/golden.sh --renew, or tests/golden.sh FOLDER" >&2; exit 2 ;;
*) folder=$1 ;;
esac
unset COLUMNS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

rm -rf "$folder/help" "$folder/describe"
mkdir -p "$folder/help"
"$program" --help >"$folder/help/nysbench.txt"
for command in $(sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p' "$folder/help/nysbench.txt"); do
    "$program" "$command" --help >"$folder/help/$command.txt"
done

for kind in problems kernels strategies cores partitions attentions figures tables; do
    mkdir -p "$folder/describe/$kind"
    for name in $("$program" list "$kind" | sed -n 's/^  \([a-z_0-9]\{1,\}\) .*/\1/p'); do
        "$program" describe "$kind/$name" >"$folder/describe/$kind/$name.txt"
    done
done

printf '%s\n' 'problems: gaussian(n=8, d=2)' 'strategies: uniform' 'landmarks: 2' 'cores: svd' 'trials: 1' 'plots: []' \
    >"$work/e.yaml"
"$program" run "$work/e.yaml" --quiet --jobs 0 --out "$work/run" >/dev/null
for column in $(head -1 "$work/run/rows.csv" | tr , ' '); do
    "$program" describe "$column"
done >"$folder/columns.txt"

# What is told of claims, at the end of a run, by itself and for a document.
"$program" run tests/golden/claims.yaml --jobs 0 --out "$work/claims" >"$work/told" 2>"$work/progress"
sed -n '/^Claims:/,/^$/p' "$work/told" >"$folder/claims.txt"
"$program" claims "$work/claims" >>"$folder/claims.txt"
"$program" claims "$work/claims" --format markdown >"$folder/claims.md"
