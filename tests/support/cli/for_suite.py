# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/suite.bats asks in Python: for_suite.py FUNCTION ARGUMENT..."""
import csv
import json
import math
import os
import signal
import sqlite3
import statistics
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


T_TWO = 4.302652729749464  # 0.975 quantile of Student's t, two degrees of freedom


def check_damage(path, rows, track, logarithm):
    """A block is the mean over trials, then over sources, of the rows, and of the attention that the settings have."""
    result = read(path)
    (block,) = [one for one in result["damage"]["tracks"] if one["track"] == track]
    with open(f"{rows}/rows.csv", newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    column = "perplexity_ratio" if logarithm == "true" else "model_error"
    assert [one["source"] for one in block["sources"]] == ["text 1", "text 4", "text 2"], block
    values = []
    for one in block["sources"]:
        told = [float(row[column]) for row in found if row["source"] == one["source"]]
        values.append(sum(map(math.log, told) if logarithm == "true" else told) / len(told))
        assert abs(one["value"] - values[-1]) < 1e-8 and told, (one, told)
    half = T_TWO * statistics.stdev(values) / math.sqrt(3)
    assert abs(block["value"] - sum(values) / 3) < 1e-8, block
    assert abs(block["high"] - block["value"] - half) < 1e-7 > abs(block["value"] - block["low"] - half), (block, half)
    settings = {(one["model"], one["share"]): one["attention"] for one in result["settings"]}
    assert block["attention"] == settings[block["model"], 8] and {row["layer"] for row in found} == {"all"}, block
    assert block["code"] and len(block["rows_sha256"]) == 64, block


def check_times(path, rows):
    """Seconds are those of the rows, and the ratio that of the pass at 1/8 over exact attention, over the models."""
    result = read(path)
    block = result["timed"]
    with open(f"{rows}/rows.csv", newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    inputs = {one["model"]: os.path.basename(one["file"]) for one in reversed(result["inputs"])}
    logs = []
    for model in block["models"]:
        own = {row["attention"]: float(row["amortized_s"]) for row in found if inputs[model["model"]] in row["problem"]}
        (exact,) = [seconds for text, seconds in own.items() if text.startswith("streamed")]
        assert abs(model["exact_s"] / exact - 1) < 1e-6, (model, exact)
        assert [one["share"] for one in model["times"]] == [4, 8, 16, 32], model
        for one in model["times"]:
            assert any(abs(one["seconds"] / seconds - 1) < 1e-6 for seconds in own.values()), (one, own)
        logs.append(math.log(model["times"][1]["seconds"] / model["exact_s"]))
    (track,) = block["tracks"]
    assert abs(track["ratio"] - math.exp(sum(logs) / len(logs))) < 1e-6, (track, logs)
    assert track["disturbed"] == any(model["load"] > 0.2 for model in block["models"]), block
    assert block["device"] == block["program"]["cpu"], block["device"]


def change_block(path, out, block, keys, value):
    """What stands at the end of the keys, separated by dots, is another value; not: the opposite."""
    result = read(path)
    at, keys = result[block], [int(key) if key.isdigit() else key for key in keys.split(".")]
    for key in keys[:-1]:
        at = at[key]
    at[keys[-1]] = not at[keys[-1]] if value == "not" else json.loads(value)
    write(out, result)


def check_untouched(path, other):
    """But for blocks, two results are the same file."""
    a, b = read(path), read(other)
    for block in "damage", "timed":
        a.pop(block, None), b.pop(block, None)
    assert a == b


def check_clean(path):
    """Neither the result nor a block of it is of a build with local changes."""
    result = read(path)
    for part in result, result.get("damage"), result.get("timed"):
        assert part is None or not part["program"]["build"].endswith("-dirty"), part["program"]["build"]


def check_uncounted(path, error):
    """A method without a count has a time on each model, at no share, and no number."""
    result = read(path)
    assert result["method"]["counted"] is False and result["inputs"] == [] and result["rows_sha256"] is None, result
    assert all(track["number"] is None and track["absent"] for track in result["tracks"]), result["tracks"]
    for model in result["timed"]["models"]:
        (one,) = model["times"]
        assert one["share"] is None and one["seconds"] > 0 and one["error"] > float(error), one
    assert {track["track"] for track in result["timed"]["tracks"]} == {"encoders"}, result["timed"]["tracks"]


{**vars(suite_results), **globals()}[sys.argv[1]](*sys.argv[2:])
