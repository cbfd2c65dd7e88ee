#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes experiments/data/test again, from what fetch.sh brings: of each model twenty test sources, two heads each of one
# layer, drawn (docs/method.md#the-protocol), the first 256 tokens (257 of the ViT), float16.
# usage: [PYTHON=python3] experiments/models/test_panel.sh [FOLDER]
set -eu
here=$(dirname "$0")
folder=${1:-$here/../data/test}
for model in minilm smollm2 vit whisper; do
    sources=$(grep -E "^test-($(case $model in
    vit) echo 'image|photograph' ;;
    whisper) echo audio ;;
    *) echo text ;;
    esac))," "$here/inputs.csv" | cut -d, -f2 | head -20 | paste -sd,)
    first=256
    [ $model != vit ] || first=257
    "${PYTHON:-python3}" "$here/heads.py" "$model-test" "$folder" --sources "$sources" --draw 2 --first $first --half
done
