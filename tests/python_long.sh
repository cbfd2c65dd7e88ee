#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The part of the Python package that needs PyTorch and transformers, on small random models. From the repository's
# root, where the library is built: tests/python_long.sh. The first time it makes build/hf-venv, 6 GB from PyPI; where
# that cannot be, it says so and ends well. tests/python_long.sh NAME...: tests/python_long/NAME.py alone.
set -eu
cd "$(dirname "$0")/.."
venv=build/hf-venv
[ -x "$venv/bin/python" ] || /usr/bin/python3 -m venv "$venv"
if ! "$venv/bin/python" -c 'import PIL, soundfile, torch, transformers' 2>/dev/null &&
    ! "$venv/bin/pip" install -q torch transformers safetensors pillow soundfile; then
    echo "Hugging Face models: skipped, torch and transformers cannot be had from PyPI"
    exit 0
fi
"$venv/bin/pip" install -q --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall ./python
failed=0
for script in ${*:-$(cd tests/python_long && ls test_*.py)}; do
    HF_HUB_OFFLINE=1 PYTHONPATH=tests/python "$venv/bin/python" "tests/python_long/${script%.py}.py" ./nysbench ||
        failed=1
done
[ $# -eq 0 ] || exit $failed
# The oldest transformers that is taken, beside the torch of the other venv.
older=build/hf-older-venv
sites() { "$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }
[ -x "$older/bin/python" ] || /usr/bin/python3 -m venv "$older"
realpath "$(sites "$venv")" >"$(sites "$older")/other.pth"
if "$older/bin/pip" install -q 'transformers==4.53.*'; then
    HF_HUB_OFFLINE=1 PYTHONPATH=tests/python "$older/bin/python" tests/python_long/older_transformers.py ./nysbench ||
        failed=1
else
    echo "transformers 4: skipped, it cannot be had from PyPI"
fi
exit $failed
