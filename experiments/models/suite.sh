#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes a form of the suite (docs/suite.md) again, from what fetch.sh brings: heads in float16, layer and head drawn
# (docs/method.md#the-protocol), and the list of their digests. small: of each model the first twelve test sources of
# inputs.csv that are long enough, one head each; and the data card. whole: all of these sources, a head of each of four
# layers, 104 MB, in build/suite; then it compares the list with the one in experiments/suite. It takes one thread and
# one set of OpenBLAS's kernels (AVX2), since others round otherwise.
# usage: [PYTHON=python3] experiments/models/suite.sh [small|whole [FOLDER]]
set -eu
here=$(dirname "$0")
form=${1:-small}
python=${PYTHON:-python3}
export OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE=Haswell
case $form in
small) folder=${2:-$here/../suite} layers=1 ;;
whole) folder=${2:-$here/../../build/suite} layers=4 ;;
*) echo "suite.sh: '$form': expected small or whole" >&2; exit 2 ;;
esac
for model in minilm-512 vit-1025 whisper smollm2-1024; do
    which=(--draw 1,$layers --half)
    [ $model != whisper ] || which+=(--first 640)
    [ "$form" != small ] || which+=(--sources "$("$python" "$here/suite.py" sources $model-test)")
    "$python" "$here/heads.py" $model-test "$folder" "${which[@]}"
done
"$python" "$here/suite.py" list "$form" "$folder"
case $form in
small) "$python" "$here/suite.py" card "$folder" ;;
whole) cmp "$folder/whole.json" "$here/../suite/whole.json" ;;
esac
