# SPDX-License-Identifier: GPL-3.0-or-later
"""A model's program for the effect study that computes nothing: heads and effects are made from a hash of the question,
so the same question has the same answer. It starts without NumPy, in a tenth of the time of tiny_model.py, and
misbehaves when told.

usage: stub_model.py [length=N] [model=NAME] [PART=FAULT ...]

An attention with PART in its spec does what FAULT says in place of an answer: raise, die, hang, once, text,
list, unknown, word, empty, skip, diverge; a spec with `streamed` has no effect. `describe=FAULT` and `heads=FAULT` do
it for these questions; describe=twice names a source twice, heads=short writes a head too few, heads=none no file,
heads=nan a NaN; heads=told names the file in an error. length=N is the tokens of a source."""
import array
import json
import os
import struct
import sys
import time
import zlib

LAYERS, HEADS, D, SOURCES = 3, 2, 8, 6


def hashed(*words):
    """From 0 to 1."""
    return zlib.crc32(json.dumps(words).encode()) / 2**32


def misbehave(fault):
    if fault == "raise":
        raise RuntimeError("the attention was torn")
    if fault == "die":
        print("the weights are gone", file=sys.stderr)
        os._exit(3)
    if fault == "hang":
        time.sleep(1000)
    if fault == "once":  # hangs where it is asked first, and leaves a file
        hangs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hangs")
        if os.path.exists(hangs):
            return {"model_error": 1}
        open(hangs, "w", encoding="ascii").close()
        time.sleep(1000)
    if fault == "text":
        return "nonsense"
    return {"list": [1, 2], "unknown": {"colour": 1}, "word": {"model_error": "large"}, "empty": {},
            "skip": {"skipped": "it is not for this model"}, "diverge": {"diverged": "outputs are not finite"}}[fault]


def describe(n, model, fault):
    if fault and fault != "twice":
        return misbehave(fault)
    sources = ["a", "b", "a"] if fault else [f"text {i}" for i in range(SOURCES)]
    return {"model": model, "layers": LAYERS, "heads": HEADS, "key_heads": HEADS, "n": n, "d": D, "causal": False,
            "sources": sources, "seconds": 0.01}


def write_heads(n, question, fault):
    if fault == "told":
        raise RuntimeError("no room for " + question["file"])
    if fault == "none":
        return {}
    if fault and fault not in ("short", "nan"):
        return misbehave(fault)
    count = HEADS * len(question["layers"])
    header, data = {}, b""
    for name in "qkv":
        heads = count if fault != "short" else count - 1 if name == "q" else 1
        x = array.array("f")
        for head in range(heads):
            state = int(2**31 * hashed(name, question["source"], question["layers"][head // HEADS], head % HEADS))
            for _ in range(n * D):
                state = (1103515245 * state + 12345) % 2**31
                x.append(4 * state / 2**31 - 2)
        if fault == "nan" and name == "q":
            x[0] = float("nan")
        header[name] = {"dtype": "F32", "shape": [heads, n, D], "data_offsets": [len(data), len(data) + 4 * len(x)]}
        data += x.tobytes()
    text = json.dumps(header).encode()
    with open(question["file"], "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    return {}


def answer(n, model, faults, question):
    if question["do"] == "describe":
        return describe(n, model, faults.get("describe", ""))
    if question["do"] == "heads":
        return write_heads(n, question, faults.get("heads", ""))
    spec = question["attention"]
    for part, fault in faults.items():
        if part in spec:
            return misbehave(fault)
    asked = [question[key] for key in ("source", "layers", "attention", "seed", "trial")]
    exact = "streamed" in spec
    return {name: 0.0 if exact else hashed(name, *asked)
            for name in ("model_error", "layer_error", "embedding_distance")}


def main(*words):
    faults = dict(word.split("=", 1) for word in words)
    n, model = int(faults.pop("length", 24)), faults.pop("model", "tiny")
    print('{"ready": 1}', flush=True)
    for line in sys.stdin:
        try:
            said = answer(n, model, faults, json.loads(line))
        except Exception as error:
            said = {"error": f"{type(error).__name__}: {error}"}
        print(said if isinstance(said, str) else json.dumps(said), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
