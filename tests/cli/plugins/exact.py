# SPDX-License-Identifier: GPL-3.0-or-later
"""exact.py - exact attention, served or not; NAME=VALUE among its words is what it reports."""
import json
import sys
import numpy as np

def attend(folder, request):
    q, k, v = (np.load(f"{folder}/{name}.npy") for name in "qkv")
    k, v = (np.repeat(x, len(q) // len(x), 0) for x in (k, v))
    scores = np.exp(q @ k.transpose(0, 2, 1) * request["scale"])
    scores = np.tril(scores) if request["causal"] else scores
    np.save(f"{folder}/out.npy", (scores / scores.sum(-1, keepdims=True) @ v)[: None if "few" not in sys.argv else 1])

def value_of(text):
    try:
        return json.loads(text)
    except ValueError:
        return text

said = {name: value_of(text) for name, _, text in (word.partition("=") for word in sys.argv[1:] if "=" in word)}
if len(sys.argv) > 1 and sys.argv[-1].startswith("/"):
    attend(sys.argv[-1], json.load(open(sys.argv[-1] + "/request.json")))
    if said:
        json.dump(said, open(sys.argv[-1] + "/answer.json", "w"))
else:
    print('{"ready": 1}', flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        attend(request["folder"], request)
        print(json.dumps({"done": "attention", **said}), flush=True)
