#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the heads of the replication (docs/appendix.md#repeated-on-other-sources) in build/replication, drawn as those of
# test sources are, from what `fetch.sh replication` brings; the runs of results/published/LIST read them.
# usage: [PYTHON=python3] experiments/models/replication.sh
set -eu
here=$(dirname "$0")
folder=$here/../../build/replication

heads() { # MODEL FOLDER OPTION...
    "${PYTHON:-python3}" "$here/heads.py" "$1-replication" "$folder/$2" --half "${@:3}"
}

for model in minilm smollm2 whisper; do heads $model panel --draw 2 --first 256; done
heads vit panel --draw 2 --first 257
for model in minilm-512 vit-1025 vit-4097 vit-8282; do heads $model drawn --draw 1,4; done
heads whisper drawn --draw 1
for model in vit-1025 vit-4097; do heads $model all --layers 0,1,2,3,4,5,6,7,8,9,10,11; done
