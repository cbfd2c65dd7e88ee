#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Checks files that somebody hands in to the suite (docs/CONTRIBUTING.md). A component, and each function of q, k and
# v in a Python file, by `check`; a result by `suite --check`, with a tenth of its heads measured again but of what only
# another program or a session has.
#     tests/submission.sh FILE...
#     tests/submission.sh --since COMMIT    the files that were added or changed since a commit
# LIST is another list of heads than the small one; NYSBENCH the program, ./nysbench if not said. Exit status: 0; 1 if
# something is wrong; 2.
set -u
cd "$(dirname "$0")/.." || exit 2
program=${NYSBENCH:-./nysbench}
heads=(--small)
[ -z "${LIST:-}" ] || heads=(--list "$LIST")
case ${1:-} in
'' | -h | --help) sed -n '3,/^set/{/^set/!s/^# \{0,1\}//p}' "$0"; exit 2 ;;
--since)
    found=$(git diff --name-only --diff-filter=AM "${2:?--since needs a commit}...HEAD") || exit 2
    mapfile -t files <<<"$found"
    ;;
*) files=("$@") ;;
esac
most=300000 wrong=0 checked=0

try() { # COMMAND...
    echo "+ $*"
    checked=$((checked + 1))
    "$@" || { echo "WRONG: $*" >&2; wrong=$((wrong + 1)); }
}

is_small() { [ "$(stat -c %s "$1")" -le $most ]; }

can_come_again() {
    python3 - "$1" <<'EOF'
import json
import sys

method = json.load(open(sys.argv[1]))["method"]
sys.exit(not (method["counted"] or " -m nysbench.serve " in method["text"]))
EOF
}

functions_of() {
    python3 - "$1" <<'EOF'
import ast
import sys

for node in ast.parse(open(sys.argv[1], encoding="utf-8").read()).body:
    if isinstance(node, ast.FunctionDef) and [a.arg for a in node.args.args[:3]] == ["q", "k", "v"]:
        print(node.name)
EOF
}

check_result() {
    local again=()
    try is_small "$1"
    if can_come_again "$1" 2>/dev/null; then again=(--rerun 0.1); fi
    try "$program" suite "${heads[@]}" --check "$1" "${again[@]}"
}

for file in "${files[@]}"; do
    case $file in
    */TEMPLATE.c) ;;
    src/attentions/*.c | strategies/*.c) try "$program" check "$(basename "$file" .c)" ;;
    *.py)
        for name in $(functions_of "$file"); do try "$program" check "$file:$name"; done
        ;;
    *.json) check_result "$file" ;;
    esac
done
echo "$checked checks, $wrong wrong"
[ $wrong -eq 0 ]
