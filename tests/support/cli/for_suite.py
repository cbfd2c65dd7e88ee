# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/suite.bats asks in Python: for_suite.py FUNCTION ARGUMENT..."""
import json
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write(path, what):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(what, file)


def halve_one(path, out):
    """One error is another."""
    result = read(path)
    result["inputs"][3]["errors"][1] /= 2
    write(out, result)


def halve_all(path, out):
    """All errors are halved, and the numbers agree with them."""
    result = read(path)
    for item in result["inputs"]:
        item["errors"] = [error / 2 for error in item["errors"]]
    for track in result["tracks"]:
        if not track["absent"]:
            for one in [track, *track["shares"]]:
                for key in {"number", "low", "high", "nine_in_ten"} & set(one):
                    one[key] += 1
    write(out, result)


def change(path, out, key, value):
    """A property of the method is another."""
    result = read(path)
    result["method"][key] = json.loads(value)
    write(out, result)


def check_method(path, key, value):
    found = read(path)["method"][key]
    assert found == json.loads(value), (key, found)


def without_one(path, out):
    result = read(path)
    del result["inputs"][0]
    write(out, result)


def same(one, other):
    """Two results have the same errors, numbers and settings."""
    a, b = read(one), read(other)
    for key in ("inputs", "tracks", "settings", "method"):
        assert a[key] == b[key], (key, a[key], b[key])


def other_digest(path, out):
    """A list whose first file is another one; its files are found from elsewhere too."""
    import os
    listed = read(path)
    for track in listed["tracks"]:
        for model in track["models"]:
            for item in model["inputs"]:
                item["file"] = os.path.abspath(os.path.join(os.path.dirname(path), item["file"]))
    listed["tracks"][0]["models"][0]["inputs"][0]["sha256"] = "0" * 64
    write(out, listed)


def count_rows(store):
    """Prints how many rows of a run have been measured; 0 where it has no store yet."""
    import sqlite3
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
            print(database.execute("SELECT count(*) FROM results").fetchone()[0])
    except sqlite3.OperationalError:
        print(0)


def tell(out, multiplications, *models):
    """The settings of `longformer`, which somebody tells."""
    write(out, [{"model": model, "share": share, "attention": "longformer(window=2, global=1)",
                 "multiplications": int(multiplications) // share} for model in models for share in (4, 8, 16, 32)])


def check_told(path):
    result = read(path)
    assert result["method"]["counted"] is False and result["settings"][0]["bytes"] is None, result["method"]
    assert len({item["errors"][0] for item in result["inputs"]}) == len(result["inputs"]), result["inputs"]


def check_code(path):
    (code,) = read(path)["code"]
    assert code["file"] == "idle.so" and len(code["sha256"]) == 64, code


globals()[sys.argv[1]](*sys.argv[2:])
