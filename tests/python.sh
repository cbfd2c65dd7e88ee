#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds a wheel of python/ and installs it into a new virtual environment, FOLDER, which has Debian's NumPy and nothing from
# the network. From the repository's root, where the library is built: tests/python.sh FOLDER
set -eu
cd "$(dirname "$0")/.."
/usr/bin/python3 -m venv --system-site-packages "$1"
"$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --no-build-isolation --no-deps ./python
