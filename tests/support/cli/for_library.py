# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/library.bats asks in Python: for_library.py FUNCTION ARGUMENT..."""
import json
import subprocess
import sys


def check_same_bits(program, work, head):
    import numpy as np
    raw = open(head, "rb").read()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:8 + size])
    arrays = []
    for name in "qkv":
        begin, end = header[name]["data_offsets"]
        dtype = {"F32": np.float32, "F16": np.float16, "F64": np.float64}[header[name]["dtype"]]
        arrays.append(
            np.frombuffer(raw[8 + size + begin : 8 + size + end], dtype)
            .reshape(header[name]["shape"])
            .astype(np.float32)
        )
    heads, n, d = arrays[0].shape
    mine = subprocess.run(
        [work + "/mine", head + ":1", *map(str, (heads, n, d))],
        input=b"".join(a.tobytes() for a in arrays),
        capture_output=True,
    )
    assert mine.returncode == 0, mine.stderr[:300]
    tokens, *rows = mine.stdout.decode().splitlines()
    common = ["--head", head + ":1", "-s", "kmeans(snap=nearest)", "-m", "9", "--seed", "3", "--trial", "1"]
    ask = lambda *words: subprocess.run([program, *words], check=True, capture_output=True).stdout
    ask("select", *common, "--side", "keys", "-o", work + "/keys.npy")
    assert tokens == " ".join(map(str, np.load(work + "/keys.npy"))), tokens
    theirs = ask("measure", *common, "--json").decode().splitlines()
    assert len(rows) == len(theirs) > 5
    for a, b in zip(map(json.loads, rows), map(json.loads, theirs)):
        for time in ("select_s", "core_s", "forward_s", "exact_s"):
            a.pop(time), b.pop(time)
        assert a == b, (a, b)
    ask(
        "forward",
        "--head",
        head,
        "-a",
        "performer(features=32)",
        "--causal=false",
        "--seed",
        "3",
        "--trial",
        "1",
        "-o",
        work + "/out.npy",
    )
    assert np.load(work + "/out.npy").tobytes() == mine.stderr


globals()[sys.argv[1]](*sys.argv[2:])
