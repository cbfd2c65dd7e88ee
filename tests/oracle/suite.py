# SPDX-License-Identifier: GPL-3.0-or-later
"""Recomputes a result of `nysbench suite` from the rows that it kept, by the definition in docs/suite.md.

usage: suite.py NYSBENCH WORK_FOLDER

Prints TAP. The list is tests/support/suite/tiny.json. One method is drawn, one is of both tracks, and one has no size
for the smaller shares. Nothing is shared with the program but rows.csv and the list. Multiplications are half of
the column flops, and one landmark more than the baseline has would be too many.

Tolerance: 1e-6, of errors that a result has with nine digits.
"""
import csv
import glob
import json
import math
import os
import re
import subprocess
import sys

import numpy as np
from scipy import stats

from measures import Tap

LIST = "tests/support/suite/tiny.json"
METHODS = ["kmeans(restarts=2)", "longformer", "quest"]
SCHEMA = "experiments/suite/result.schema.json"
SHARES = (4, 8, 16, 32)
TOLERANCE = 1e-6
COUNTED = [("attention", "multiplications"), ("baseline", "baseline_multiplications")]


def call(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def near(a, b):
    return a is None and b is None if None in (a, b) else abs(a - b) <= TOLERANCE * max(1, abs(b))


def agrees(says, truth):
    return all(near(says[key], x) for key, x in zip(("number", "low", "high"), truth))


def shape_of(path):
    """heads, n, d + dv of a file of heads."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    heads, n, d = header["q"]["shape"]
    return heads, n, d + header["v"]["shape"][2]


def of_type(value, name):
    types = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int,
             "number": (int, float)}
    return isinstance(value, types[name]) and (name == "boolean" or not isinstance(value, bool))


def mistakes(value, schema, root, where="result"):
    """What is wrong by the keywords of JSON Schema that the schema has; an unknown keyword is an error."""
    known = {"$schema", "title", "description", "$defs", "$ref", "type", "enum", "pattern", "minimum",
             "exclusiveMinimum", "minItems", "maxItems", "items", "required", "properties", "additionalProperties"}
    assert set(schema) <= known, set(schema) - known
    if "$ref" in schema:
        yield from mistakes(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, where)
    kinds = schema.get("type", [])
    if kinds and not any(of_type(value, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)):
        yield f"{where}: {value!r} is no {kinds}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is none of {schema['enum']}"
    if "pattern" in schema and value is not None and not re.search(schema["pattern"], value):
        yield f"{where}: {value!r}"
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{where}: {value}"
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        yield f"{where}: {value}"
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", math.inf):
            yield f"{where}: {len(value)} items"
        for at, item in enumerate(value):
            yield from mistakes(item, schema.get("items", {}), root, f"{where}[{at}]")
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        yield from (f"{where}: {key} is not there" for key in schema.get("required", []) if key not in value)
        for key, item in value.items():
            if key in properties:
                yield from mistakes(item, properties[key], root, f"{where}.{key}")
            elif schema.get("additionalProperties") is False:
                yield f"{where}: {key} is too much"


def interval(groups):
    """The mean of the strata's means, and its t interval by Satterthwaite."""
    weight = 1 / len(groups)
    mean = weight * sum(group.mean() for group in groups)
    parts = [weight**2 * group.var(ddof=1) / len(group) for group in groups]
    variance = sum(parts)
    if variance == 0:
        return mean, mean, mean
    df = variance**2 / sum(part**2 / (len(group) - 1) for part, group in zip(parts, groups))
    half = stats.t.ppf(0.975, df) * math.sqrt(variance)
    return mean, mean - half, mean + half


class Result:
    def __init__(self, folder, name):
        with open(f"{folder}/{name}.json", encoding="utf-8") as file:
            self.json = json.load(file)
        with open(f"{folder}/{name}/rows/rows.csv", newline="", encoding="utf-8") as file:
            self.rows = list(csv.DictReader(file))
        self.settings = {(one["model"], one["share"]): one for one in self.json["settings"]}

    def rows_of(self, file, attention):
        return [row for row in self.rows if os.path.basename(file) in row["problem"] and row["attention"] == attention]

    def errors(self, file, model, share):
        """Those of the method and of the baseline."""
        setting = self.settings[model, share]
        baseline = self.rows_of(file, setting["baseline"])
        own = self.rows_of(file, setting["attention"]) if setting["attention"] else []

        def geometric(rows):
            return math.exp(np.mean([math.log(float(row["output_error"])) for row in rows]))

        refused = not own or any(row["status"] == "skipped" for row in own)
        return float(baseline[0]["baseline_mean"]) if refused else geometric(own), geometric(baseline)


def check_track(tap, result, track, says):
    """Errors, number, interval and shares of a track."""
    name, groups, all_values, inputs = says["track"], [], [], {one["file"]: one for one in result.json["inputs"]}
    if says["absent"]:
        tap.check(not any(one["file"] in inputs for model in track["models"] for one in model["inputs"])
                  and says["number"] is None, f"{result.json['method']['label']}: {name}: absent, without errors")
        return
    good = True
    for model in track["models"]:
        values = {}
        for one in model["inputs"]:
            found = [result.errors(one["file"], model["model"], share) for share in SHARES]
            item = inputs[one["file"]]
            good &= all(near(x, a) and near(y, b) for (a, b), x, y in zip(found, item["errors"], item["baseline"]))
            values.setdefault(one["source"], []).append([math.log2(b / a) for a, b in found])
            all_values.append(np.mean(values[one["source"]][-1]))
        groups.append(np.array([np.mean(layers, axis=0) for layers in values.values()]))
    tap.check(good, f"{result.json['method']['label']}: {name}: errors")
    truth = interval([group.mean(axis=1) for group in groups])
    tap.check(agrees(says, truth) and near(says["nine_in_ten"], np.quantile(all_values, 0.1))
              and says["sources"] == sum(map(len, groups)),
              f"{result.json['method']['label']}: {name}: number, interval, nine in ten", f"{says} {truth}")
    for at, share in enumerate(says["shares"]):
        truth = interval([group[:, at] for group in groups])
        good = share["share"] == SHARES[at] and agrees(share, truth)
        tap.check(good, f"{result.json['method']['label']}: {name}: at 1/{SHARES[at]}", f"{share} {truth}")


def check_settings(tap, result, listed):
    """No setting has more multiplications than its share; what a pass counts is what the rows have."""
    good, found = True, ""
    for track in listed["tracks"]:
        for model in track["models"]:
            first = model["inputs"][0]["file"]
            heads, n, width = shape_of(os.path.join(os.path.dirname(LIST), first))
            for share in SHARES:
                setting = result.settings.get((model["model"], share))
                for spec, count in COUNTED:
                    if setting is None or setting[spec] is None:
                        continue
                    rows = [row for row in result.rows_of(first, setting[spec]) if row["trial"] == "0"]
                    right = setting[count] * share <= heads * n * n * width
                    # Rows have a seed of each source, so k-means takes other steps; decoders count by token.
                    if not track["causal"] and "kmeans" not in setting[spec]:
                        right = right and float(rows[0]["flops"]) == 2 * setting[count]
                    good, found = good and right, found if right else f"{setting}"
    tap.check(good, f"{result.json['method']['label']}: settings within their shares", found)


def check_largest(tap, nysbench, work, result, listed):
    """One landmark more is too many for the baseline of the encoders."""
    model = listed["tracks"][0]["models"][0]
    first = os.path.join(os.path.dirname(LIST), model["inputs"][0]["file"])
    heads, n, width = shape_of(first)
    for share in SHARES:
        spec = result.settings[model["model"], share]["baseline"]
        spec = re.sub(r"landmarks=(\d+)", lambda m: f"landmarks={int(m[1]) + 1}", spec)
        experiment = os.path.join(work, f"larger{share}.yaml")
        with open(experiment, "w", encoding="utf-8") as file:
            file.write("study: forward\ntimed: false\nplots: []\n"
                       f"problems: 'heads(file={first}, causal=false)'\nattentions: '{spec}'\n")
        call(nysbench, "run", experiment, "--quiet", "--jobs", "0", "--out", f"{work}/larger{share}")
        with open(f"{work}/larger{share}/rows.csv", newline="", encoding="utf-8") as file:
            flops = float(next(csv.DictReader(file))["flops"])
        too_many = flops / 2 * share > heads * n * n * width
        tap.check(too_many, f"the baseline has the largest size at 1/{share}", f"{spec}: {flops}")


def main():
    nysbench, work = os.path.realpath(sys.argv[1]), sys.argv[2]
    os.makedirs(work, exist_ok=True)
    call(nysbench, "suite", "--list", LIST, "--out", f"{work}/suite", "--jobs", "1", *METHODS)
    with open(LIST, encoding="utf-8") as file:
        listed = json.load(file)
    with open(SCHEMA, encoding="utf-8") as file:
        schema = json.load(file)
    tap = Tap()
    results = [Result(f"{work}/suite", re.sub(r"\W+", "_", name).strip("_")) for name in METHODS]
    for result in results:
        wrong = list(mistakes(result.json, schema, schema))
        tap.check(not wrong, f"{result.json['method']['label']}: as its schema has it", "; ".join(wrong))
        check_settings(tap, result, listed)
        for track, says in zip(listed["tracks"], result.json["tracks"]):
            check_track(tap, result, track, says)
    check_largest(tap, nysbench, work, results[0], listed)
    for path in sorted(glob.glob("results/suite*/*.json")):
        with open(path, encoding="utf-8") as file:
            wrong = list(mistakes(json.load(file), schema, schema))
        tap.check(not wrong, f"{path}: as its schema has it", "; ".join(wrong))
    broken = {**results[0].json, "form": 1, "more": 2}
    tap.check(len(list(mistakes(broken, schema, schema))) == 2, "the schema refuses what it should")
    print(f"1..{tap.count}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
