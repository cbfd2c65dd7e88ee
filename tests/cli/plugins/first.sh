#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Picks tokens 0 to m - 1, m <= 512, as a program of the strategy `command`. A shell starts ten times faster than Python
# with numpy.
while read -r key value; do [ "$key" != '"m":' ] || m=${value%,}; done <request.json
{
    printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<i8', 'fortran_order': False, 'shape': ($m,), }"
    i=0
    while [ "$i" -lt "$m" ]; do
        printf "\\$((i / 64 % 4))$((i / 8 % 8))$((i % 8))\\00$((i / 256))\000\000\000\000\000\000"
        i=$((i + 1))
    done
} >picks.npy
