#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs tests of the Python package, tests/python/NAME.py. A wheel of python/ is built and installed into a virtual
# environment, VENV or build/tests/venv, which has Debian's NumPy and nothing from the network; it is made anew when the
# library, the program or a source of the package has changed, and no test uses it: each holds the lock, shared.
# From the repository's root, after make: tests/python.sh [NAME]...
set -eu
cd "$(dirname "$0")/.."
venv=${VENV:-build/tests/venv}
mkdir -p "$(dirname "$venv")"
exec 9>"$venv.lock"
flock 9

is_stale() {
    [ ! -e "$venv/made" ] || [ -n "$(find -L build/libnysbench.so build/nysbench python -type f ! -name '*.pyc' \
        -newer "$venv/made" -print -quit)" ]
}

if is_stale; then
    rm -rf "$venv"
    /usr/bin/python3 -m venv --system-site-packages "$venv" 9>&-
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --no-build-isolation \
        --no-deps ./python 9>&-
    touch "$venv/made"
fi
flock -s 9
used=$(./nysbench info | sed -n 's/^blas_kernels  *//p') # the program's kernels of OpenBLAS: the same bits
for name; do OPENBLAS_CORETYPE=$used "$venv/bin/python" "tests/python/$name.py" 9>&-; done
