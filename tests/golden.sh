#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The program's texts, a file each: help/COMMAND.txt, describe/KIND/NAME.txt; columns.txt, the columns of rows.csv
# in their order with what describe says of them; claims.txt and claims.md, the answers to the claims of claims.yaml;
# told/COMMAND.txt, what commands tell; messages/FILE.txt, what they say in the tests of tests/cli/FILE.bats; and
# unit/FILE.txt and python/FILE.txt, what is said in those of tests/unit, and of tests/python, python_long and oracle.
# The tests compare them with tests/golden; who has changed one on purpose renews them and commits what git diff shows:
#     tests/golden.sh --renew            all of them, in some minutes
#     tests/golden.sh --renew FILE...    messages/FILE.txt, unit/FILE.txt and python/FILE.txt alone
# Or into another folder, but for these three: tests/golden.sh FOLDER. NYSBENCH is the program, ./nysbench if not said.
set -eu
cd "$(dirname "$0")/.."
program=$(realpath "${NYSBENCH:-nysbench}")
unset COLUMNS

# renew_tests NAME FILE ASKED: what the tests of a file say; ASKED is 0 where it is not named.
renew_tests() {
    case $2 in
    tests/unit/*.c)
        make -s "build/tests/$1"
        GOLDEN=renew "build/tests/$1"
        ;;
    tests/python/test_*) GOLDEN=renew tests/python.sh "$1" ;;
    tests/python_long/test_*)
        if [ "$3" -gt 0 ] || [ -x build/hf-venv/bin/python ]; then
            GOLDEN=renew tests/python_long.sh "$1"
        else
            echo "$1: left as it is, it needs what tests/python_long.sh installs" >&2
        fi
        ;;
    tests/oracle/*)
        [ ! -e "tests/golden/python/$1.txt" ] ||
            GOLDEN=renew OPENBLAS_NUM_THREADS=1 /usr/bin/python3 "$2" "$program" "$(mktemp -d)"
        ;;
    *.bats)
        GOLDEN=renew bats "$2"
        sed -n 's/^@test "\(.*\)" {$/\1/p' "$2" | tests/support/section.sh keep "tests/golden/messages/$1.txt"
        ;;
    esac
}

# renew_messages [FILE]...: those of all tests that have some, or of these.
renew_messages() {
    local name file asked=$#
    [ $# -gt 0 ] || set -- $(cd tests/golden && ls messages unit python | sed -n 's/[.]txt$//p' | sort -u)
    for name in "$@"; do
        for file in tests/*/"$name".{bats,c,py}; do
            [ ! -e "$file" ] || renew_tests "$name" "$file" "$asked"
        done
    done
}

case ${1:-} in
--renew)
    shift
    renew_messages "$@"
    [ $# -eq 0 ] || exit 0
    folder=tests/golden
    ;;
-* | '') echo "usage: tests/golden.sh --renew [FILE]..., or tests/golden.sh FOLDER" >&2; exit 2 ;;
*) folder=$1 ;;
esac
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

# tell COMMAND ARGUMENT...: adds what it writes to told/COMMAND.txt.
tell() {
    {
        printf '$ nysbench'
        printf ' %q' "$@"
        printf '\n'
        "$program" "$@" 2>&1 || echo "exit status $?"
        echo
    } | sed -e "s|$program|nysbench|g; s|$work|/WORK|g" |
        sed -E -f "$tree/tests/support/told.sed" >>"$folder/told/$1.txt"
}

# quiet ARGUMENT...: a run of which the rows are all that is wanted.
quiet() {
    "$program" run "$@" -q --jobs 2 >/dev/null 2>&1
}

# clocked RUN: gives it the claims of forward.yaml, and its rows invented times, those of trial 2 as if other programs
# had run beside them.
clocked() {
    /usr/bin/python3 -SE "$tree/tests/support/store.py" "$1/results.sqlite" "
        UPDATE results SET load = CASE trial WHEN 2 THEN 0.5 ELSE 0 END, clock = 'pass', latency_s = 1e-3 *
            (CASE WHEN attention LIKE '%landmarks=4,%' THEN 1 WHEN attention LIKE 'nystrom%' THEN 2
             WHEN attention LIKE 'longformer%' THEN 3 ELSE 4 END + 0.01 * trial) WHERE status = 'ok';
        UPDATE results SET amortized_s = latency_s;"
    sed -i 's/^timed: false/timed: true/; /^claims:/,$d' "$1/resolved.yaml"
    sed -n '/^claims:/,$p' forward.yaml >>"$1/resolved.yaml"
}

tree=$PWD
folder=$(realpath "$folder")
rm -rf "$folder/told"
mkdir "$folder/told"
cp tests/golden/*.yaml "$work"
ln -s "$tree/experiments" "$tree/tests" "$work"
cd "$work"

# A plan: of each study, of a part, of the config's origins, and with rows that have failed before.
for study in error coherence forward; do tell plan "$study.yaml" --jobs 2; done
tell plan error.yaml --jobs 2 --set trials=6 --set exclude=[] --shard 2/3
tell plan coherence.yaml --origins
printf 'sleep 0.5\nexit 1\n' >slow.sh
drawn=(error.yaml --set 'problems=gaussian(n=40, d=4)' --set blocks=[] --set exclude=[] --set trials=8)
slow=("${drawn[@]}" --set 'strategies=[uniform, command(run="sh slow.sh")]' --set landmarks=4 --set cores=svd --jobs 1)
tell run "${slow[@]}" --set trials=2 -q -o slow
tell plan "${slow[@]}" --set trials=3 -o slow

# A run of each study, and what it is compared with: all of it, by model, in what is chosen, with all numbers.
tell run error.yaml --jobs 2 -o error
tell compare error --by-model
tell compare error --where 'problem=gaussian(n=40, d=4)' --by-model
tell compare error --where core=svd --where landmarks=4 --full
for format in table markdown html latex; do
    tell compare error --where core=svd --pool landmarks --format $format
done
tell compare error --where core=svd --where landmarks=4 --where 'strategy=[uniform, kmeans]'
tell run "${drawn[@]}" --set metrics=all --jobs 2 -q -o part --only landmarks=4
tell compare part
tell compare part --metric cosine
tell compare part --metric cosine --full --where core=svd --where strategy=uniform,strategy=kmeans
# What is not to be compared, or with a word of caution alone; an oracle; a model that has no results; two windows.
quiet "${drawn[@]}" --set 'cores=[iterative, fitted(rows=8), best]' --set strategies=[uniform,profile] -o unlike
tell compare unlike
tell compare unlike --by core
tell compare unlike --by core --confounded rows_seen
vit=experiments/data/vit_astronaut_n257_L6.safetensors smollm2=experiments/data/smollm2_opticks_n1024_L15.safetensors
quiet "${drawn[@]}" --set cores=svd -o inputs --set "problems=[\"gaussian(n=40, d=4)\",
    \"heads(file=$smollm2, head=0, max_n=40)\", \"heads(file=$vit, head=0, max_n=[40, 50])\"]"
tell compare inputs

tell run coherence.yaml --set clusters=4 --set 'partitions=[segments, none]' --jobs 2 -o coherence

# Layers: errors alone, of exact attentions or others; times and errors, some disturbed; and what refuses a mask.
tell run forward.yaml --set timed=false --set claims=[] --set attentions=streamed --jobs 2 -o exact
tell run forward.yaml --set timed=false --set claims=[] --jobs 2 -o layers
clocked layers
tell compare layers
tell compare layers --by-model
tell compare layers --metric latency_s --where heads=1
tell compare layers --metric latency_s --where heads=1 --full
tell claims layers
quiet forward.yaml --set trials=1 --set claims=[] --set 'attentions=[naive, nystrom(landmarks=4)]' \
    --set "problems=\"heads(file=$vit, max_n=64, causal=true)\"" --set heads=3 -o causal
clocked causal

# Tables: which there are, holes and stars, cores on the same landmarks, bounds, and a line without times.
tell table error
tell table error errors
tell table unlike above pairs
tell table coherence bounds
tell table causal latency

# Shards: before, half way and after; the jobs that would be sent.
small=("${drawn[@]}" --set cores=svd --set landmarks=4 -o parts)
tell submit "${small[@]}" --jobs 2 --dry-run
quiet "${small[@]}" --shard 2/2
tell status parts
tell submit "${small[@]}" --jobs 2 --dry-run
quiet "${small[@]}" --shard 1/2
tell status parts
tell submit "${small[@]}" --jobs 2 --dry-run
tell merge parts -q
tell status parts
tell status error

# Rows of two builds, wherever they are shown.
/usr/bin/python3 -SE "$tree/tests/support/store.py" parts/results.sqlite "
    UPDATE manifests SET build = 'build-' || id, executable = 'program-' || id,
        text = json_set(text, '\$.arithmetic', 'some', '\$.build', 'build-' || id, '\$.executable', 'program-' || id)"
tell plot parts error

# One head: which tokens stand for the rest, how far that is from S, and weights of leverage scores.
tell select --head "$vit:1" --strategy uniform --landmarks 5 --seed 3 -o tokens.npy
tell measure --head "$vit:1" --strategy uniform --landmarks 5 --seed 3 --core svd --core iterative --metrics error
tell fit --head "$vit:0" --head "$vit:2" --rank 8 -o weights.npy
tell fit --head "$vit:0" --ridge 0.1 -o one.npy

# Methods on a list of heads, two of which have no number in a track.
tell suite --list tests/support/suite/tiny.json kmeans quest --tuned development --out numbers

# What check finds; what new and demo write, with what to do next.
tell check uniform
tell new strategy mine --out "a folder"
tell new core mine
tell new experiment
tell new experiment heads.yaml --heads "$vit"
tell demo
