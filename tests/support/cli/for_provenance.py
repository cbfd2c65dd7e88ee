# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/cli/provenance.bats asks in Python: for_provenance.py FUNCTION ARGUMENT..."""
import datetime
import hashlib
import json
import os
import platform
import sqlite3
import struct
import subprocess
import sys


def check_manifests(program, work):
    sha = lambda path: hashlib.sha256(open(path, "rb").read()).hexdigest()
    all = json.loads(
        subprocess.run([program, "info", work + "/r", "--json"], check=True, capture_output=True, text=True).stdout
    )
    assert [(m["manifest"], m["rows"], m["rows_unused"]) for m in all] == [(1, 4, 0), (2, 6, 0)]
    for m in all:
        assert m["nysbench"] == "0.2.0" and m["build"] and m["executable"] == sha(os.path.realpath(program))
        assert (
            "-std=c11" in m["flags"]
            and "-Wall" in m["flags"]
            and m["compiler"].split()[0] in ("gcc", "clang", "Debian", "Clang")
        )
        assert "OpenBLAS" in m["blas"] and m["blas_kernels"] and m["blas_threads"] == 1 and m["cpu"]
        assert m["host"] == platform.node()
        assert (
            0
            <= (
                datetime.datetime.utcnow() - datetime.datetime.strptime(m["started"], "%Y-%m-%dT%H:%M:%SZ")
            ).total_seconds()
            < 600
        )
        assert m["arguments"][0].split() == ["nysbench", "run"] and m["arguments"][1] == work + "/c.yaml"
        assert [f["path"] for f in m["files"]] == [f"{work}/h/{name}.npy" for name in "kq"]
        for f in m["files"]:
            assert (
                f["sha256"] == sha(f["path"])
                and f["bytes"] == os.path.getsize(f["path"])
                and f["place"] == os.path.realpath(f["path"])
            )
    assert "trials: 2\n" in all[0]["config"] and "trials: 5\n" in all[1]["config"] and all[1]["jobs"] == 1
    assert all[1]["config"] == open(work + "/r/resolved.yaml").read()
    last = json.load(open(work + "/r/manifest.json"))
    assert {**last, "manifest": 2, "rows": 6, "rows_unused": 0} == all[1]
    store = sqlite3.connect(work + "/r/results.sqlite")
    links = store.execute(
        "SELECT trial, manifest FROM results WHERE problem LIKE 'gaussian%' ORDER BY trial"
    ).fetchall()
    assert links == [(0, 1), (1, 1), (2, 2), (3, 2), (4, 2)], links


def change_heads(file):
    data = bytearray(open(file, "rb").read())
    size = struct.unpack("<Q", data[:8])[0]
    q = json.loads(data[8:8 + size])["q"]
    at = 8 + size + q["data_offsets"][0] + (q["data_offsets"][1] - q["data_offsets"][0]) // q["shape"][0]
    data[at] ^= 1
    open(file, "wb").write(data)


def check_digests(work):
    files = json.load(open(work + "/r/manifest.json"))["files"]
    assert [(f["path"], f["sha256"]) for f in files] == [
        (work + "/mine.so", hashlib.sha256(open(work + "/mine.so", "rb").read()).hexdigest())
    ]


globals()[sys.argv[1]](*sys.argv[2:])
