#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the heads that experiments/21-kept-landmarks.yaml keeps landmarks of, from what fetch.sh brings: for each source
# of experiments/data/test the same layer and heads on the next source of its model by name (for the last, on the first),
# float16, of as many tokens. usage: [PYTHON=python3] experiments/models/kept.sh [FOLDER], build/kept by default
set -eu
here=$(dirname "$0")
folder=${1:-$here/../../build/kept}
for model in minilm smollm2 vit whisper; do
    sources=$(cd "$here/../data/test" && ls $model-test_* | cut -d_ -f2)
    first=256
    [ $model != vit ] || first=257
    like=$(tail -1 <<<"$sources")
    for source in $sources; do
        "${PYTHON:-python3}" "$here/heads.py" $model-test "$folder" --sources "$source" --draw 2 --like "$like" \
            --first $first --half
        like=$source
    done
done
