# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: python3 experiments/models/suite.py sources MODEL | list FORM FOLDER | card FOLDER

sources: the test sources of the suite's small form, separated by commas: the first of the inputs that a model has.
list: writes FOLDER/FORM.json, the list of the heads that suite.sh has made in FOLDER, with their SHA-256; FORM: small
or whole. card: writes FOLDER/croissant.json, what Croissant's readers want to know of those of the small form: files,
sources and licences."""
import csv
import hashlib
import json
import os
import re
import sys

VERSION, SOURCES, FORMS = "1.0", 12, ("small", "whole")
TRACKS = [("encoders", False, "nystrom(strategy=uniform, core=iterative)",
           [("minilm", "minilm-512"), ("vit", "vit-1025"), ("whisper", "whisper")]),
          ("decoders", True, "streamingllm", [("smollm2", "smollm2-1024")])]
# Of the model of each track that the damage is measured on: its name, what serve.py calls it, and the column of the
# study effect. The sources are the first four test texts of inputs.csv.
DAMAGED = {"encoders": ("minilm", "minilm-512-test", "model_error", False),
           "decoders": ("smollm2", "smollm2-1024-test", "perplexity_ratio", True)}
DAMAGED_SOURCES, DAMAGED_SHARE = ("bash-reference", "bind9-dnssec", "courier-install", "cvs-manual"), 8
NAME = re.compile(r"(.+)-test_(.+?)(?:_n\d+)?_L(\d+)\.safetensors")


def sources(model):
    from effect import Effects
    return ",".join(Effects(model).sources[:SOURCES])


def inputs(folder, model):
    for name in sorted(os.listdir(folder)):
        found = NAME.fullmatch(name)
        if found and found[1] == model:
            with open(os.path.join(folder, name), "rb") as file:
                yield {"source": found[2], "layer": int(found[3]), "file": name,
                       "sha256": hashlib.sha256(file.read()).hexdigest()}


def damage(track):
    model, served, column, logarithm = DAMAGED[track]
    return {"model": model, "served": served, "share": DAMAGED_SHARE, "column": column, "logarithm": logarithm,
            "sources": DAMAGED_SOURCES}


def write_list(form, folder):
    tracks = [{"track": track, "causal": causal, "baseline": baseline, "damage": damage(track),
               "models": [{"model": name, "inputs": list(inputs(folder, model))} for name, model in models]}
              for track, causal, baseline, models in TRACKS]
    with open(os.path.join(folder, f"{form}.json"), "w", encoding="utf-8") as file:
        json.dump({"suite": VERSION, "form": form, "tracks": tracks}, file, indent=1)
        file.write("\n")


# The terms of JSON-LD that Croissant 1.0 defines.
TERMS = {"@language": "en", "@vocab": "https://schema.org/", "cr": "http://mlcommons.org/croissant/",
         "sc": "https://schema.org/", "dct": "http://purl.org/dc/terms/", "rai": "http://mlcommons.org/croissant/RAI/",
         "citeAs": "cr:citeAs", "column": "cr:column", "conformsTo": "dct:conformsTo",
         "data": {"@id": "cr:data", "@type": "@json"}, "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
         "examples": {"@id": "cr:examples", "@type": "@json"}, "extract": "cr:extract", "field": "cr:field",
         "fileProperty": "cr:fileProperty", "fileObject": "cr:fileObject", "fileSet": "cr:fileSet",
         "format": "cr:format", "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset",
         "jsonPath": "cr:jsonPath", "key": "cr:key", "md5": "cr:md5", "parentField": "cr:parentField",
         "path": "cr:path", "recordSet": "cr:recordSet", "references": "cr:references", "regex": "cr:regex",
         "repeated": "cr:repeated", "replace": "cr:replace", "separator": "cr:separator", "source": "cr:source",
         "subField": "cr:subField", "transform": "cr:transform"}
FIELDS = [("file", "sc:Text", "a file of the distribution"), ("track", "sc:Text", "encoders or decoders"),
          ("model", "sc:Text", "whose head it is"), ("model_licence", "sc:Text", "licence of the model's weights"),
          ("source", "sc:Text", "the input"), ("source_licence", "sc:Text", "licence of the input"),
          ("package", "sc:Text", "Debian package of the input"), ("what", "sc:Text", "what the input is"),
          ("layer", "sc:Integer", "layer of the model, from 0")]


def table(path, *keys):
    """The rows of a CSV, by the values of some columns."""
    with open(path, newline="", encoding="utf-8") as file:
        return {tuple(row[key] for key in keys): row for row in csv.DictReader(file)}


def model_licences(readme):
    """Of each model, from the table below the heading Models."""
    with open(readme, encoding="utf-8") as file:
        text = file.read().split("## Models\n")[1].split("\n## ")[0]
    return {cells[0]: cells[3] for cells in (
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| "))}


def card(folder):
    """The data card of the files that FOLDER/small.json lists."""
    here = os.path.dirname(os.path.abspath(__file__))
    known = table(os.path.join(here, "inputs.csv"), "kind", "source")
    inputs = {source: row for (kind, source), row in known.items() if kind.startswith("test-")}
    licences = model_licences(os.path.join(here, "../data/README.md"))
    with open(os.path.join(folder, "small.json"), encoding="utf-8") as file:
        listed = json.load(file)
    files, heads = [], []
    for track in listed["tracks"]:
        for model in track["models"]:
            for one in model["inputs"]:
                name, row = one["file"], inputs[one["source"]]
                files.append({"@type": "cr:FileObject", "@id": name, "name": name, "contentUrl": name,
                              "encodingFormat": "application/octet-stream", "sha256": one["sha256"],
                              "contentSize": f"{os.path.getsize(os.path.join(folder, name))} B"})
                values = (name, track["track"], model["model"], licences[model["model"]], one["source"],
                          row["licence"], row["package"], row["what"], one["layer"])
                heads.append({f"heads/{field[0]}": value for field, value in zip(FIELDS, values)})
    all_licences = sorted({one[f"heads/{key}"] for one in heads for key in ("model_licence", "source_licence")})
    return {
        "@context": TERMS, "@type": "sc:Dataset", "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "nysbench-suite-small", "version": f"{listed['suite']}.0",
        "description": f"Queries, keys and values of {len(heads)} attention heads, in float16, on which nysbench "
                       "compares approximations of attention: one safetensors file each, with q, k and v of shape "
                       "(1, n, d). The input and the model of each head have licences of their own, which the record "
                       "set heads names.",
        "license": all_licences, "isLiveDataset": False, "distribution": files,
        "recordSet": [{"@type": "cr:RecordSet", "@id": "heads", "name": "heads",
                       "description": "What each file is of, and the licences of both.",
                       "key": {"@id": "heads/file"},
                       "field": [{"@type": "cr:Field", "@id": f"heads/{name}", "name": name, "dataType": kind,
                                  "description": says} for name, kind, says in FIELDS],
                       "data": heads}]}


def write_card(folder):
    with open(os.path.join(folder, "croissant.json"), "w", encoding="utf-8") as file:
        json.dump(card(folder), file, indent=1, ensure_ascii=False)
        file.write("\n")


def main(words):
    commands = {"sources": (1, lambda model: print(sources(model))), "list": (2, write_list), "card": (1, write_card)}
    count, command = commands.get(words[0] if words else "", (-1, None))
    if len(words) != 1 + count or words[0] == "list" and words[1] not in FORMS:
        sys.exit(__doc__)
    command(*words[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
