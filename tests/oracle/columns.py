# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares how many columns a terminal gives a character (src/base/columns.c) with Python's copy of Unicode's data.

usage: columns.py NYSBENCH WORK_FOLDER   prints TAP
       columns.py --tables               prints the tables anew, from the package unicodedata2 if it is installed

A newer Unicode adds characters: those that this Python does not know are not compared.
"""
import re
import sys

try:
    import unicodedata2 as unicodedata
except ImportError:
    import unicodedata

FILE = "src/base/columns.c"
SHOWN = {0xAD, *range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}  # formats that are drawn
JAMO = {*range(0x1160, 0x1200), *range(0xD7B0, 0xD7FC)}  # vowels and finals, which join the first of a syllable
# Blocks whose unassigned characters are wide, by the head of EastAsianWidth.txt.
IDEOGRAPHS = [(0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2FFFD), (0x30000, 0x3FFFD)]
# What newer versions give other columns than Unicode 14 does.
LATER_WIDE = {*range(0x2630, 0x2638), *range(0x268A, 0x2690), *range(0x4DC0, 0x4E00), *range(0x1D300, 0x1D357),
              *range(0x1D360, 0x1D377)}
LATER_SHOWN = {0x1171E}


def columns(code):
    char = chr(code)
    kind = unicodedata.category(char)
    if code in JAMO or (kind in ("Mn", "Me", "Cf") and code not in SHOWN | LATER_SHOWN):
        return 0
    wide = unicodedata.east_asian_width(char) in "WF" or code in LATER_WIDE
    if kind == "Cn":
        wide = any(first <= code <= last for first, last in IDEOGRAPHS)
    return 2 if wide else 1


def ranges(wanted):
    found = []
    for code in range(0x110000):
        if columns(code) != wanted:
            continue
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def read(text, name):
    body = re.search(rf"range {name}\[\] = \{{(.*?)\}};", text, re.DOTALL).group(1)
    return [(int(first, 16), int(last, 16)) for first, last in re.findall(r"\{(0x\w+), (0x\w+)\}", body)]


if sys.argv[1:] == ["--tables"]:
    print(f"/* Unicode {unicodedata.unidata_version}. */")
    for name, wanted in ("none", 0), ("two", 2):
        print(f"static const range {name}[] = {{" + ", ".join(f"{{{a:#x}, {b:#x}}}" for a, b in ranges(wanted)) + "};")
    sys.exit()

with open(FILE, encoding="utf-8") as source:
    listing = source.read()
tables = {0: read(listing, "none"), 2: read(listing, "two")}
said = dict.fromkeys(range(0x110000), 1)
sorted_well = True
for wanted, table in tables.items():
    flat = [code for pair in table for code in pair]
    sorted_well = sorted_well and flat == sorted(flat) and all(a[1] + 1 < b[0] for a, b in zip(table, table[1:]))
    for first, last in table:
        said.update(dict.fromkeys(range(first, last + 1), wanted))
known = [code for code in said if unicodedata.category(chr(code)) not in ("Cn", "Cs")]
wrong = [f"U+{code:04X}" for code in known if said[code] != columns(code)]
print("1..2")
print("ok" if sorted_well else "not ok", "1 - the tables are sorted, and no two ranges touch")
print("ok" if not wrong and len(known) > 140000 else "not ok",
      f"2 - {len(known)} characters have the columns of Unicode {unicodedata.unidata_version}", *wrong[:20])
sys.exit(not (sorted_well and not wrong))
