#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Validates the suite's data card by mlcroissant, in an environment of its own, and reads the licences of all heads
# through it: tests/card.sh
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet mlcroissant
"$work/env/bin/mlcroissant" validate --jsonld experiments/suite/croissant.json
"$work/env/bin/python" - <<'EOF'
import mlcroissant

heads = list(mlcroissant.Dataset("experiments/suite/croissant.json").records("heads"))
assert len(heads) == 48 and all(head["heads/model_licence"] and head["heads/source_licence"] for head in heads), heads
print(f"{len(heads)} heads")
EOF
