# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: python3 experiments/models/suite.py sources MODEL | list FOLDER

sources: the test sources of the suite's small form, separated by commas: the first of the inputs that a model has. list:
writes FOLDER/small.json, the list of the heads that suite.sh has made in FOLDER, with their SHA-256."""
import hashlib
import json
import os
import re
import sys

VERSION, SOURCES = "0.1", 12
TRACKS = [("encoders", False, "nystrom(strategy=uniform, core=iterative)",
           [("minilm", "minilm-512"), ("vit", "vit-1025"), ("whisper", "whisper")]),
          ("decoders", True, "streamingllm", [("smollm2", "smollm2-1024")])]
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


def write_list(folder):
    tracks = [{"track": track, "causal": causal, "baseline": baseline,
               "models": [{"model": name, "inputs": list(inputs(folder, model))} for name, model in models]}
              for track, causal, baseline, models in TRACKS]
    with open(os.path.join(folder, "small.json"), "w", encoding="utf-8") as file:
        json.dump({"suite": VERSION, "form": "small", "tracks": tracks}, file, indent=1)
        file.write("\n")


def main(words):
    if len(words) != 2 or words[0] not in ("sources", "list"):
        sys.exit(__doc__)
    if words[0] == "sources":
        print(sources(words[1]))
    else:
        write_list(words[1])


if __name__ == "__main__":
    main(sys.argv[1:])
