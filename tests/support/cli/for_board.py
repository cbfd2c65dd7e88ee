# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/board.bats asks in Python: for_board.py FUNCTION ARGUMENT..."""
import html.parser
import json
import re
import sys

import suite_results
from suite_results import read, write

TRACKS = ("encoders", "decoders")


def of_version(path, out, version):
    """The result of another version's list."""
    result = read(path)
    result.update(suite=version, list_sha256="0" * 64)
    write(out, result)


class Board(html.parser.HTMLParser):
    """entries: attributes of each, with the texts of its first row's cells, warnings apart, and its summary."""

    def __init__(self, path):
        super().__init__()
        self.entries, self.open, self.elements = [], None, []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "wbr":
            return
        if tag == "tbody" and "id" in attrs:
            self.open = {**attrs, "cells": [], "warnings": [], "summary": None, "rows": 0}
            self.entries.append(self.open)
        if self.open is None:
            return
        self.open["rows"] += tag == "tr"
        self.elements = [attrs.get("class", ""), tag]
        if self.open["rows"] == 1 and tag in ("th", "td"):
            self.open["cells"].append("")

    def handle_endtag(self, tag):
        self.elements = ["", ""]

    def handle_data(self, data):
        if self.open is None:
            return
        kind, tag = self.elements or ("", "")
        if kind == "warning":
            self.open["warnings"].append(data)
        elif tag == "summary" and self.open["summary"] is None:
            self.open["summary"] = data
        elif self.open["rows"] == 1 and tag in ("th", "td"):
            self.open["cells"][-1] += data.strip()

    def of(self, track):
        return [entry for entry in self.entries if entry["id"].startswith(track)]


def check_entry(entry, method, track):
    number, shares = track["number"], track["shares"]
    assert entry["cells"][:3] == [method["label"], f"{number:.2f}", f"[{track['low']:.2f}, {track['high']:.2f}]"], entry
    wanted = [f"{x:.2f}" for x in (track["nine_in_ten"], *(one["number"] for one in shares))]
    assert entry["cells"][4:9] == wanted, entry
    assert entry["data-linear"] == {True: "yes", False: "no", None: "unknown"}[method["linear"]], entry
    assert entry["data-trained"] == ("yes" if method["trained"] else "no"), entry
    assert entry["data-sees"] == method["sees"], entry
    assert (" author " in entry["summary"]) == bool(method["declared"]), entry


def check_blocks(entry, result, name):
    """Damage, time and a dash where one was not measured or has no size; times on a busy machine are marked."""
    damage = [one for one in result.get("damage", {"tracks": []})["tracks"] if one["track"] == name]
    timed = [one for one in result.get("timed", {"tracks": []})["tracks"] if one["track"] == name]

    def shown(found, value):
        return f"{found[0][value]:.2f}" + "*" * found[0].get("disturbed", 0) if found and found[0][value] else "-"

    wanted = [shown(damage, "value"), shown(timed, "ratio")]
    assert entry["cells"][9:] == wanted, (entry, wanted)


def check_uncounted(path, name, file):
    """The last entry has a time, no number, and no curve."""
    board, result = Board(path), read(file)
    entry = board.of("encoders")[-1]
    numbers = entry["cells"][1:3] + entry["cells"][4:10]
    assert entry["cells"][0] == name and numbers == ["-"] * 8, entry
    check_blocks(entry, result, "encoders")
    assert len(entry["warnings"]) == 1 and "-" != entry["cells"][10], entry
    with open(path, encoding="utf-8") as page:
        text = page.read()
    assert f'class="curve" data-entry="{entry["id"]}"' not in text and 'data-entry="encoders-1"' in text, entry
    assert f"<small>{result['timed']['device']}</small>" in text, result["timed"]["device"]


def check_board(path, *files):
    board = Board(path)
    results = [read(file) for file in files]
    for at, name in enumerate(TRACKS):
        there = [(r["tracks"][at]["number"], r) for r in results if r["tracks"][at]["absent"] is None]
        there.sort(key=lambda one: -one[0])
        assert len(board.of(name)) == len(there) > 0, name
        for entry, (_, result) in zip(board.of(name), there):
            check_entry(entry, result["method"], result["tracks"][at])
            check_blocks(entry, result, name)


def check_all_there(components, manual, *files):
    """Each of the components in a list is in a result's method, or in the manual's table of exceptions."""
    with open(manual, encoding="utf-8") as file:
        table = file.read().split("| not on it |")[1].split("\n\n")[0]
    excepted = {name for row in table.splitlines()[2:] for name in re.findall("`([a-z_]+)`", row.split("|")[1])}
    there = {word for file in files for word in re.findall("[a-z_0-9]+", read(file)["method"]["spec"])}
    with open(components, encoding="utf-8") as file:
        names = {one["name"] for one in json.load(file) if one["kind"] in ("attention", "strategy")}
    assert names - there == excepted, (sorted(names - there - excepted), sorted(excepted - (names - there)))


def print_warnings(path, *names):
    found = {entry["cells"][0]: entry["warnings"] for entry in Board(path).of("encoders")}
    for name in names:
        print(f"{name}: {', '.join(found[name])}")


{**vars(suite_results), **globals()}[sys.argv[1]](*sys.argv[2:])
