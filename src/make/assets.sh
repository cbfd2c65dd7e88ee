#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes files that a page has within itself as C, byte by byte: report.css becomes nb_asset_report_css.
#     src/make/assets.sh FILE...
set -eu
echo '/* made by src/make/assets.sh from the files of src/show: do not edit */'
echo '#include "show/html.h"'
for file; do
    echo "const char nb_asset_$(basename "$file" | tr . _)[] = {"
    od -An -v -tx1 "$file" | sed 's/ \(..\)/0x\1,/g'
    echo '0};'
done
