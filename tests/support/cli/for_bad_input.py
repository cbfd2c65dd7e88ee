# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/bad_input.bats asks in Python: for_bad_input.py FUNCTION ARGUMENT..."""
import json
import os
import resource
import struct
import subprocess
import sys


def write_broken_heads(work):
    import numpy as np
    rng = np.random.default_rng(1)

    def safetensors(name, **tensors):
        header, data = {}, b""
        for key, x in tensors.items():
            raw = x.astype("<f4").tobytes()
            header[key] = {"dtype": "F32", "shape": list(x.shape), "data_offsets": [len(data), len(data) + len(raw)]}
            data += raw
        text = json.dumps(header).encode()
        with open(f"{work}/{name}.safetensors", "wb") as f:
            f.write(struct.pack("<Q", len(text)) + text + data)

    def folder(name, **tensors):
        os.mkdir(f"{work}/{name}")
        for key, x in tensors.items():
            np.save(f"{work}/{name}/{key}.npy", x)

    def x(*shape):
        return rng.normal(size=shape)

    def spoilt(value, *place, shape=(3, 20, 4)):
        array = x(*shape)
        array[place] = value
        return array

    good = x(3, 20, 4)
    safetensors("good", q=good, k=good, v=good)
    safetensors("nan", q=good, k=good, v=spoilt(np.nan, 1, 7, 2))
    safetensors("inf", q=good, k=spoilt(-np.inf, 2, 19, 0), v=good)
    folder("npy", q=x(20, 4), k=spoilt(np.nan, 0, 3, shape=(20, 4)))
    safetensors("empty", q=x(3, 0, 4), k=x(3, 0, 4))
    safetensors("flat", q=x(3, 20, 0), k=x(3, 20, 0))
    folder("empty_npy", q=x(0, 4), k=x(0, 4))
    safetensors("dimension", q=x(3, 20, 4), k=x(3, 20, 5))
    safetensors("tokens", q=x(3, 20, 4), k=x(3, 21, 4))
    safetensors("values", q=x(3, 20, 4), k=x(3, 20, 4), v=x(3, 19, 4))
    safetensors("groups", q=x(3, 20, 4), k=x(2, 20, 4))
    safetensors("value_heads", q=x(4, 20, 4), k=x(2, 20, 4), v=x(4, 20, 4))
    safetensors("rank", q=x(20), k=x(20))


def write_long_headers(work):
    def write(name, text, size, data=b""):
        with open(f"{work}/{name}.safetensors", "wb") as f:
            f.write(struct.pack("<Q", size) + text.ljust(min(size, 100_000_000)) + data)
    tensors = {f"experts.{i}": {"dtype": "F16", "shape": [0, 64], "data_offsets": [0, 0]} for i in range(45_000)}
    for i, name in enumerate("qk"):
        tensors[name] = {"dtype": "F16", "shape": [1, 4, 1], "data_offsets": [8 * i, 8 * i + 8]}
    text = json.dumps(tensors).encode()
    assert len(text) > 3_000_000
    write("many", text, len(text), struct.pack("<8e", *range(8)))
    write("deep", b'{"q": {"shape": [' + b"{}," * 30_000_000 + b"0]}}", 100_000_000)
    write("flat", b'{"q": {"shape": [' + b"0," * 40_000_000 + b"0]}}", 100_000_000)
    write("longer", b"{", 100_000_001)
    with open(f"{work}/longer.safetensors", "r+b") as f:
        f.truncate(100_000_009)


def check_memory(program, config):
    assert subprocess.run([program, "plan", config], stderr=subprocess.DEVNULL).returncode == 2
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert peak < 256 * 1024, peak


def write_ambiguous_heads(work):
    import numpy as np
    x = np.random.default_rng(7).standard_normal((40, 3, 4))  # n, heads, d
    os.mkdir(work + "/f")
    for name in "qk":
        np.save(f"{work}/f/{name}.npy", x)
    def save(path, arrays, metadata):
        header, at = {"__metadata__": metadata} if metadata else {}, 0
        for name, a in arrays.items():
            header[name] = {"dtype": "F64", "shape": list(a.shape), "data_offsets": [at, at + a.nbytes]}
            at += a.nbytes
        text = json.dumps(header).encode()
        open(path, "wb").write(struct.pack("<Q", len(text)) + text + b"".join(a.tobytes() for a in arrays.values()))
    right = np.ascontiguousarray(x.transpose(1, 0, 2))
    save(work + "/right.safetensors", {"q": right, "k": right}, {"causal": "false"})
    save(work + "/said.safetensors", {"q": x, "k": x}, {"layout": "n,heads,d", "causal": "false"})
    save(work + "/sure.safetensors", {"q": x, "k": x}, {"layout": "heads,n,d", "causal": "false"})
    save(work + "/odd.safetensors", {"q": x, "k": x}, {"layout": "d,n,heads"})


globals()[sys.argv[1]](*sys.argv[2:])
