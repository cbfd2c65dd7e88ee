# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/suite.bats asks in Python: for_suite.py FUNCTION ARGUMENT..."""
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import suite_results
from suite_results import read, write


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


def check_method(path, key, value):
    found = read(path)["method"][key]
    assert found == json.loads(value), (key, found)


def same(one, other):
    """Two results have the same errors, numbers and settings."""
    a, b = read(one), read(other)
    for key in ("inputs", "tracks", "settings", "method"):
        assert a[key] == b[key], (key, a[key], b[key])


def same_numbers(one, other):
    """Two results have the same errors and numbers, of more than one size."""
    a, b = read(one), read(other)
    assert (a["inputs"], a["tracks"]) == (b["inputs"], b["tracks"]), (a["tracks"], b["tracks"])
    assert len({setting["attention"] for setting in a["settings"]}) > 2, a["settings"]


def other_digest(path, out):
    """A list whose first file is another one; its files are found from elsewhere too."""
    listed = read(path)
    for track in listed["tracks"]:
        for model in track["models"]:
            for item in model["inputs"]:
                item["file"] = os.path.abspath(os.path.join(os.path.dirname(path), item["file"]))
    listed["tracks"][0]["models"][0]["inputs"][0]["sha256"] = "0" * 64
    write(out, listed)


def few_inputs(path, model, count, out):
    """A list of the first inputs of a model."""
    found = read(path)
    for track in found["tracks"]:
        for one in track["models"]:
            one["inputs"] = [{**item, "file": os.path.join(os.path.abspath(os.path.dirname(path)), item["file"])}
                             for item in one["inputs"][:int(count)]]
        track["models"] = [one for one in track["models"] if one["model"] == model]
    write(out, {**found, "tracks": [track for track in found["tracks"] if track["models"]]})


def check_settled(path, share, attention):
    """What stands for the method at a share, on a result's only model."""
    settings = {one["share"]: one["attention"] for one in read(path)["settings"]}
    assert settings[int(share)] == attention, settings


def count_rows(folder):
    """How many rows of k-means have been measured; 0 where there is no store yet."""
    try:
        with sqlite3.connect(f"file:{folder}/kmeans/rows/results.sqlite?mode=ro", uri=True) as database:
            return database.execute("SELECT count(manifest) FROM results").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def kill_midway(program, heads, folder, whole):
    """Starts a suite, kills it when it has rows, and fails unless it died of that, before the last row of `whole`."""
    words = [program, "suite", "--list", heads, "kmeans", "--jobs", "1", "--tuned", "development", "--out", folder]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and count_rows(folder) == 0:
            time.sleep(0.001)
        process.kill()
    midway = 0 < count_rows(folder) < count_rows(whole) and not os.path.exists(f"{folder}/kmeans.json")
    sys.exit(not (process.returncode == -signal.SIGKILL and midway))


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


{**vars(suite_results), **globals()}[sys.argv[1]](*sys.argv[2:])
