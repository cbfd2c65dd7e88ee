#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the small form of the suite (docs/suite.md) again, from what fetch.sh brings: of each model the first twelve test
# sources of inputs.csv that are long enough, one head each, layer and head drawn (docs/method.md#the-protocol), float16,
# the list of their digests, and the data card.
# usage: [PYTHON=python3] experiments/models/suite.sh [FOLDER]
set -eu
here=$(dirname "$0")
folder=${1:-$here/../suite}
python=${PYTHON:-python3}
for model in minilm-512 vit-1025 whisper smollm2-1024; do
    first=()
    [ $model != whisper ] || first=(--first 640)
    sources=$("$python" "$here/suite.py" sources $model-test)
    "$python" "$here/heads.py" $model-test "$folder" --sources "$sources" --draw 1 "${first[@]}" --half
done
"$python" "$here/suite.py" list "$folder"
"$python" "$here/suite.py" card "$folder"
